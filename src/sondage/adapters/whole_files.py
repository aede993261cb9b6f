"""Files that are written as a whole, or stay as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield where to write what then takes this file's place; if it cannot be written, what stood there stays.

    Links are followed, and what is no file, a device or a pipe, is written itself.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    target = Path(os.path.realpath(target))
    beside = target.with_name(f"{target.name}.part")
    try:
        yield beside
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
