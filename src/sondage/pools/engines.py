"""What runs a pool's queries: an engine, and how it tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sondage.pools.schema import Column
from sondage.pools.sql.text import Tables

__all__ = ["Engine", "Join", "Kernel", "ProgressHook", "Result", "Rows", "column_of", "in_wholes", "of_arrow", "plain"]

Rows = Mapping[str, NDArray[Any]]
"""Columns of an answer by name."""

Result = TypeVar("Result")
Kernel = Callable[[Rows], Result]
"""What is done with the columns of some rows; it and its results may travel between processes."""

Join = Callable[[Result, Result], Result]
"""Makes one result of two."""

ProgressHook = Callable[[str, float], None]
"""Hears what is being done, and which share of it is done, from 0 to 1."""


class Engine(Protocol):
    """Where a table is, and who reads it; the table is ``{source}`` in queries, its columns are c0, c1, ..."""

    @property
    def name(self) -> str:
        """What messages call the table; empty where it has no name."""
        ...

    @property
    def columns(self) -> list[Column]:
        """The table's columns."""
        ...

    def text_key(self, text: str) -> str:
        """Return the expression of the hash key of a text: the first 15 hexadecimal digits of its md5."""
        ...

    def gathering(self, columns: Sequence[str], condition: str) -> str | None:
        """Return the aggregate of the rows that fulfil a condition, as mappings; None where it slows a pass down."""
        ...

    def kept(self, text: str, condition: str) -> str:
        """Return the query of those rows of a query that fulfil a condition on what it computes."""
        ...

    def query(self, text: str, tables: Tables, step: str) -> Rows:
        """Return the answer to a query, which is small; missing values are masked."""
        ...

    def mapped(
        self,
        text: str,
        tables: Tables,
        kernel: Kernel[Result],
        step: str,
        *,
        join: Join[Result] | None = None,
        whole: str | None = None,
    ) -> Iterator[Result]:
        """Yield what a function makes of the rows of a query, some thousands at a time.

        With `join` results may come joined, so that few of them travel. Rows of the same value in the column `whole`
        come together, one beside the other.
        """
        ...


def in_wholes(blocks: Iterable[Rows], column: str | None) -> Iterator[Rows]:
    """Yield blocks of sorted rows, cut where the value of a column changes; as they are if there is none.

    Examples
    --------
    >>> blocks = [{"g": np.array([1, 2])}, {"g": np.array([2, 2])}, {"g": np.array([2, 3])}]
    >>> [block["g"].tolist() for block in in_wholes(blocks, "g")]
    [[1], [2, 2, 2, 2], [3]]
    """
    held: list[Rows] = []
    for block in blocks:
        if column is None:
            yield block
            continue
        values = block[column]
        if not len(values):
            continue
        changes = np.flatnonzero(values[1:] != values[:-1]) + 1
        last = int(changes[-1]) if len(changes) else 0
        if held and held[-1][column][-1] != values[0]:
            yield _stacked(held)
            held = []
        if last:
            yield _stacked([*held, {name: values[:last] for name, values in block.items()}])
            held = []
        held.append({name: values[last:] for name, values in block.items()})
    if held:
        yield _stacked(held)


def _stacked(blocks: Sequence[Rows]) -> Rows:
    if len(blocks) == 1:
        return blocks[0]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def column_of(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as a column: text as objects, for arrays of characters end before a NUL; whole numbers stay whole.

    Examples
    --------
    >>> column_of([5, 2**63]).tolist(), column_of(["a", "b"]).dtype
    ([5, 9223372036854775808], dtype('O'))
    """
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    large = any(isinstance(value, int) and value >= 2**63 for value in values)
    return np.array(values, dtype=np.uint64 if large else None)


def of_arrow(table: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of an Arrow table or batch as arrays; missing numbers are NaN, other missing values None."""
    columns = zip(table.schema.names, table.columns, strict=True)
    return {name: np.asarray(column.to_numpy(zero_copy_only=False)) for name, column in columns}


def plain(columns: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays, missing values masked only where there are some."""
    return {name: _unmasked(column) for name, column in columns.items()}


def _unmasked(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray) and not np.ma.getmaskarray(column).any():
        return np.asarray(column.data)
    return np.asanyarray(column)
