"""A pool read as the options of a command say, with how far it is."""

from __future__ import annotations

from typing import Any

from rich.status import Status

from sondage.cli.options import divided

__all__ = ["read"]


def read(
    pool: str, status: Status, *, classes: str | None, task: str | None, lazy: bool | None, memory: str | None
) -> Any:
    """Read a pool as the options say; while the status is shown, it says how far each pass is."""
    from sondage import read_pool

    def progress(step: str, share: float) -> None:
        status.update(f"{step}: {share:.0%}")

    settings = None if memory is None else {"memory_limit": memory}
    return read_pool(pool, classes=divided(classes), task=task, lazy=lazy, settings=settings, progress=progress)
