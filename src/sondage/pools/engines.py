"""What runs a pool's queries: an engine, and how it tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sondage.pools.schema import Column
from sondage.pools.sql.text import Tables

__all__ = ["Engine", "Join", "Kernel", "Progress", "Rows"]

Rows = Mapping[str, NDArray[Any]]
"""Columns of an answer by name."""

Result = TypeVar("Result")
Kernel = Callable[[Rows], Result]
"""What is done with the columns of some rows; it and its results may travel between processes."""

Join = Callable[[Result, Result], Result]
"""Makes one result of two."""

Progress = Callable[[str, float], None]
"""Hears what is being done, and which share of it is done, from 0 to 1."""


class Engine(Protocol):
    """Where a table is, and who reads it; the table is ``{source}`` in queries, its columns are c0, c1, ..."""

    @property
    def columns(self) -> list[Column]:
        """The table's columns."""
        ...

    def text_key(self, text: str) -> str:
        """Return the expression of the hash key of a text: the first 15 hexadecimal digits of its md5."""
        ...

    def query(self, text: str, tables: Tables, step: str) -> Rows:
        """Return the answer to a query, which is small; missing values are masked."""
        ...

    def mapped(
        self, text: str, tables: Tables, kernel: Kernel[Result], step: str, join: Join[Result] | None = None
    ) -> Iterator[Result]:
        """Yield what a function makes of the rows of a query, some thousands at a time.

        With `join` results may come joined, so that few of them travel.
        """
        ...


def plain(columns: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays, missing values masked only where there are some."""
    return {name: _unmasked(column) for name, column in columns.items()}


def _unmasked(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray) and not np.ma.getmaskarray(column).any():
        return np.asarray(column.data)
    return np.asanyarray(column)
