"""A pool cut into slices: by a field, or by any column with a value for each row."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError
from sondage.pools.arrays import Pool
from sondage.pools.given import namer
from sondage.pools.missing import in_microseconds, is_missing, require_given
from sondage.pools.numeric import as_column
from sondage.pools.orders import require_order_of
from sondage.pools.scans import Scan
from sondage.pools.schema import Column
from sondage.pools.sql.canonical import raw_rows
from sondage.pools.sql.text import Select

__all__ = ["slice_rows", "slice_scans"]

SHARED = "rows of a group are in different slices: a label that they share would count in both"


def slice_rows(pool: Pool, slices: Any) -> dict[Any, NDArray[np.bool_]]:
    """Return the rows of every slice, by its name; names in order.

    Parameters
    ----------
    pool : Pool
        What is cut.
    slices : str or array-like, shape (N,)
        A field of the pool by name, or the name of each row's slice. Of rankings rows are queries, and a field of
        documents is the same in all of a query's.

    Raises
    ------
    InputError
        If there is no such field, a row has no slice, all have the same, or rows of different slices share a label.

    Examples
    --------
    >>> found = slice_rows(Pool(probabilities=[0.1, 0.9, 0.4]), ["spam", "inbox", "spam"])
    >>> {name: rows.tolist() for name, rows in found.items()}
    {'inbox': [False, True, False], 'spam': [True, False, True]}
    """
    if isinstance(slices, str):
        if slices not in pool.fields:
            raise InputError(f"no field {slices!r} to slice by; the pool has {list(pool.fields)}")
        slices = pool.fields[slices] if pool.task.kind != "ranking" else _of_queries(pool, slices)
    column = as_column(slices, "slices", len(pool))
    require_order_of(pool, slices, "slices")
    require_given(slices, column, "slice", namer(pool.ids))
    names = in_microseconds(column).tolist()
    odd = next((row for row, name in enumerate(names) if not isinstance(name, Hashable)), None)
    if odd is not None:
        raise InputError(f"slice of {namer(pool.ids)(odd)} is {names[odd]!r}; it must be a text or a number")
    ordered = ordered_names(set(names))
    check_slices(ordered)
    code = {name: number for number, name in enumerate(ordered)}
    codes = np.array([code[name] for name in names])
    units = pool.unit_of_row
    if units is not None and len(np.unique(np.stack([units, codes]), axis=1).T) > pool.n_units:
        raise InputError(SHARED)
    return {name: codes == number for name, number in code.items()}


def _of_queries(pool: Pool, field: str) -> list[Any]:
    """Return each query's value of a field: of one of documents what all of them have."""
    found = []
    for query, value in zip(pool.ids.tolist(), pool.fields[field].tolist(), strict=True):
        values = list(value.values()) if isinstance(value, Mapping) else [value]
        if len(set(map(str, values))) > 1:
            raise InputError(f"slices are of queries: {field} of query {query!r} differs from document to document")
        found.append(values[0] if values else None)
    return found


def slice_scans(scan: Scan, slices: Any) -> dict[Any, tuple[float, Scan]]:
    """Return the weight and the rows of every slice of a stored pool, by its name; names in order.

    Parameters
    ----------
    scan : Scan
        What is cut.
    slices : str
        A field.

    Raises
    ------
    InputError
        As for `slice_rows`.
    """
    names = [one.name for one in scan.schema.fields]
    if not isinstance(slices, str):
        raise InputError(f"rows of a pool that is not in memory have no order: slices= is one of its fields, {names}")
    column = next((one for one in scan.schema.fields if one.name == slices), None)
    if column is None:
        raise InputError(f"slices={slices!r} must be a field of a pool that is not in memory; it has {names}")
    if scan.schema.lists is not None:
        raise InputError("fields of rankings are those of documents, and slices are of queries: .load() the pool")
    if scan.schema.group is not None:
        _require_within(scan, scan.schema.group, column)
    _ = scan.survey  # how ids become keys is a fact of the whole pool
    weight = "1e0" if scan.schema.weight is None else f"CAST({scan.schema.weight.raw} AS DOUBLE)"
    select = raw_rows()
    text = select.aggregated({"mass": f"SUM({weight})"}, [column.raw])
    masses = {row[column.raw]: float(row["mass"]) for row in scan.ask(text, select, "slices")}
    check_slices(masses)
    parts = {name: Scan(scan.engine, scan.schema, (column.raw, name)) for name in ordered_names(masses)}
    return {name: (masses[name], part) for name, part in parts.items()}


def _require_within(scan: Scan, group: Column, column: Column) -> None:
    """Refuse slices where rows of one group are in different ones."""
    pairs = raw_rows()
    groups = Select(pairs.aggregated({"n_rows": "COUNT(*)"}, [group.raw, column.raw]))
    (found,) = scan.ask(groups.aggregated({"n": "COUNT(*)"}), groups, "slices")
    if int(found["n"]) > int(scan.units["n"]):
        raise InputError(SHARED)


def ordered_names(names: Iterable[Any]) -> list[Any]:
    """Return names of slices in order; those of several types by type."""
    return sorted(names, key=lambda name: (str(type(name)), name))


def check_slices(names: Collection[Any]) -> None:
    """Refuse slices that divide nothing, or rows without one."""
    if any(map(is_missing, names)):
        raise InputError("some rows have no slice")
    if len(names) < 2:
        raise InputError(f"all rows are in the slice {next(iter(names))!r}: nothing is divided; leave slices= out")
