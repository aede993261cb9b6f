"""Files that are written as a whole, or stay as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from sondage.errors import InputError
from sondage.pools.files import is_database, is_part

if TYPE_CHECKING:
    from sondage.studies.study import Study

__all__ = ["require_no_database", "require_no_pool", "whole_file"]


def require_no_database(path: str | os.PathLike[str]) -> None:
    """Refuse to write over a study, whose labels would be lost, or another database."""
    if is_database(path):
        raise InputError(f"{path} is a study, or another database, which is not written over: choose another name")


def require_no_pool(path: str | os.PathLike[str], study: Study) -> None:
    """Refuse to write over the pool of a study, which could then be neither continued nor made again."""
    source = study.facts["source"]
    if source is not None and is_part(path, source):
        raise InputError(f"{path} is the pool of the study {study.name}; it is not written over: choose another name")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, compressing: bool = False) -> Iterator[Path]:
    """Yield where to write what then takes this file's place; if it cannot be written, what stood there stays.

    Links are followed, and what is no file, a device or a pipe, is written itself. Until then it stands beside it under
    a name that nothing else has.

    Raises
    ------
    InputError
        If a database stands there: a study, whose labels would be lost. If the name is that of a compressed file,
        which could not be read as one unless the writer is `compressing` what it writes.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    target = Path(os.path.realpath(target))
    if target.suffix.lower() == ".gz" and not compressing:
        raise InputError(f"{path}: files are written as they are; leave .gz off, and compress it afterwards")
    require_no_database(path)
    beside = target.with_name(f"{target.name}.{token_hex(8)}.part")
    try:
        yield beside
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
