"""Pictures that items name: from one folder, or one address, of this machine and from nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from sondage.errors import InputError
from sondage.web.security import LOOPBACK

__all__ = ["Address", "Folder", "Images", "Nowhere", "named_images"]

TYPES: Mapping[str, str] = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
"""Kinds of pictures by the end of their name; none of them can carry a script."""

LONGEST_NAME = 1000  # characters


class Images(Protocol):
    """Where pictures are."""

    origin: str

    def link(self, name: str) -> str | None:
        """Return the address of a picture in the page; None where the text names no picture.

        Raises
        ------
        InputError
            If it names a picture that may not or cannot be shown.
        """
        ...

    def find(self, name: str) -> tuple[Path, str]:
        """Return the file of a picture, and its media type, or raise InputError."""
        ...


def named_images(place: str | None) -> Images:
    """Return the pictures of a folder or of an address of this machine; None is nowhere.

    Raises
    ------
    InputError
        If the folder is not there, or the address is of another machine.
    """
    if place is None:
        return Nowhere()
    return Address(place) if "://" in place else Folder(place)


def _is_picture(name: str, *, address: bool) -> bool:
    """Return whether a text may be a picture's name: of an address, what follows ``?`` or ``#`` is no part of it."""
    try:
        path = urlsplit(name).path
    except ValueError:  # brackets that would be an address's
        return False
    return len(name) <= LONGEST_NAME and "\n" not in name and Path(path if address else name).suffix.lower() in TYPES


class Nowhere:
    """No pictures: names of pictures are text."""

    origin = ""

    def link(self, name: str) -> str | None:
        return None

    def find(self, name: str) -> tuple[Path, str]:
        raise InputError("this page shows no pictures: start it with --images FOLDER")


class Folder:
    """Pictures below a folder.

    Parameters
    ----------
    root : str or Path
        The folder.

    Raises
    ------
    InputError
        If it is no folder.
    """

    origin = ""

    def __init__(self, root: str | Path) -> None:
        self._root = Path(os.path.realpath(root))
        if not os.path.isdir(self._root):
            raise InputError(f"--images {root}: is not a folder")

    def link(self, name: str) -> str | None:
        if not _is_picture(name, address=False):
            return None
        try:
            self.find(name)
        except InputError:
            if any(map(str.isspace, name)):  # words about a picture
                return None
            raise
        return f"/image/{quote(name)}"

    def find(self, name: str) -> tuple[Path, str]:
        media = TYPES.get(Path(name).suffix.lower())
        if media is None:
            raise InputError(f"{name!r} is no picture; their names end with {', '.join(TYPES)}")
        if Path(name).is_absolute() or "\\" in name or "\0" in name or "://" in name:
            raise InputError(f"{name!r} is not a path below the folder of pictures")
        path = Path(os.path.realpath(self._root / name))  # follows links
        if not path.is_relative_to(self._root):
            raise InputError(f"{name!r} leads out of the folder of pictures")
        if not os.path.isfile(path):  # unlike Path.is_file false, not an error, where a name is too long
            raise InputError(f"there is no picture {name!r} in the folder of pictures")
        return path, media


class Address:
    """Pictures below an address of this machine, such as ``http://127.0.0.1:9000/pictures/``.

    Parameters
    ----------
    root : str
        The address; names are relative to it, or begin with it.

    Raises
    ------
    InputError
        If it is no address of this machine, or has characters that an address cannot have.
    """

    def __init__(self, root: str) -> None:
        if not _is_here(root):
            raise InputError(f"--images {root}: is not an address of this machine, such as http://127.0.0.1:9000/")
        if not (root.isascii() and root.isprintable() and set(root).isdisjoint(" ;,'\"")):
            raise InputError(f"--images {root}: has characters that an address cannot have")
        self.origin = self._root = root.rstrip("/") + "/"

    def link(self, name: str) -> str | None:
        if not _is_picture(name, address=True):
            return None
        path = name.removeprefix(self._root)
        if "://" in path or path.startswith("/") or "\\" in path or ".." in unquote(unquote(path)).split("/"):
            raise InputError(f"{name!r} is not below {self._root}")
        return self._root + quote(path, safe="/%?=&")

    def find(self, name: str) -> tuple[Path, str]:
        raise InputError("this page keeps no pictures of its own")


def _is_here(address: str) -> bool:
    """Return whether an address is one of this machine, and nothing but that."""
    try:
        parts = urlsplit(address)
        known = parts.port != 0 and parts.hostname in LOOPBACK
    except ValueError:  # brackets or a port that cannot be
        return False
    return known and parts.scheme in ("http", "https") and not (parts.query or parts.fragment)
