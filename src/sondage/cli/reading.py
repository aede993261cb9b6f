"""What commands that read a pool have in common: the options, and how far it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from rich.status import Status

from sondage.cli.printing import divided

__all__ = ["pool_options", "read"]


def pool_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --classes, --task, --lazy, --in-memory and --memory."""
    options = [
        click.option(
            "--classes",
            metavar="A,B,...",
            help="The classes in their order, or the grades, where the file does not tell.",
        ),
        click.option("--task", help="classification, regression, outcomes or ranking, where the file does not tell."),
        click.option(
            "--lazy/--in-memory",
            default=None,
            help="Leave the rows in their Parquet files, or read them; by default large files are left.",
        ),
        click.option("--memory", metavar="SIZE", help="Memory for rows left in their files, such as 2GB."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def read(
    pool: str, status: Status, *, classes: str | None, task: str | None, lazy: bool | None, memory: str | None
) -> Any:
    """Read a pool as the options say; while the status is shown, it says how far each pass is."""
    from sondage import read_pool

    def progress(step: str, share: float) -> None:
        status.update(f"{step}: {share:.0%}")

    settings = None if memory is None else {"memory_limit": memory}
    return read_pool(pool, classes=divided(classes), task=task, lazy=lazy, settings=settings, progress=progress)
