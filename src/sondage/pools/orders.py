"""What a frame says of its own order: rows named by an index, columns named like classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError, warn

if TYPE_CHECKING:
    from sondage.pools.arrays import Pool

__all__ = [
    "by_index",
    "by_part",
    "column_names",
    "in_another_order",
    "named_in_another_order",
    "of_one_frame",
    "require_class_order",
    "require_one_order",
    "require_order_of",
    "require_pool_order",
    "tell_numbering",
]


def in_another_order(values: Any, ids: NDArray[Any]) -> bool:
    """Return whether a frame's index has the ids in another order: by their place its rows would be of other items.

    Where ids are row numbers an index in another order is left from elsewhere, as from a split of a table.
    """
    if not _named_rows(values) or len(values) != len(ids) or np.array_equal(values.index, ids) or _numbered(ids):
        return False
    names, wanted = list(map(str, values.index)), list(map(str, ids.tolist()))
    return names != wanted and set(names) == set(wanted)


def named_in_another_order(values: Any, ids: Any) -> bool:
    """Return whether rows are named by these ids, in another order; an index of row numbers is no name of a row.

    Examples
    --------
    >>> import pandas
    >>> named_in_another_order(pandas.Series([1, 0], index=["b", "a"]), ["a", "b"])
    True
    """
    named = _named_rows(values) and not _numbered(values.index)
    return named and in_another_order(values, np.asarray(ids, dtype=object))


def require_pool_order(
    ids: NDArray[Any] | None, models: Mapping[str, Any], columns: Mapping[str, Any]
) -> NDArray[Any] | None:
    """Refuse outputs of models, and other columns of a pool, whose index has the ids in another order.

    An index of row numbers is no name of a row: it is what frames have that were made of an array. Without ids the
    indexes are held against each other, and the one that names rows is returned.
    """
    told = [(f"{part} of {name!r}", given) for name, model in models.items() for part, given in vars(model).items()]
    for what, given in columns.items():
        told += by_part(what, given)
    if ids is None:
        return require_one_order({name: one for name, one in told if _named_rows(one) and not _numbered(one.index)})
    for name, values in told:
        if named_in_another_order(values, ids):
            raise InputError(f"the index of {name} has the ids in another order: put its rows in that of ids=")
    return None


def require_one_order(columns: Mapping[str, Any]) -> NDArray[Any] | None:
    """Refuse columns whose indexes have the same names in different orders; return the first index."""
    indexed = {name: values for name, values in columns.items() if _named_rows(values)}
    if not indexed:
        return None
    first = next(iter(indexed))
    index = np.asarray(indexed[first].index)
    for name, values in indexed.items():
        if in_another_order(values, index):
            raise InputError(f"the indexes of {first} and {name} have the same rows in two orders: put them in one")
    return index


def require_order_of(pool: Pool, values: Any, name: str) -> None:
    """Refuse what is given for the rows of a pool if its index has their ids, or names, in another order.

    Parameters
    ----------
    pool : Pool
        The pool.
    values : array-like, shape (N,)
        What is given, by place.
    name : str
        What it is called.

    Raises
    ------
    InputError
        If the index tells of another order.
    """
    if in_another_order(values, pool.ids):
        raise InputError(
            f"rows of {name} have the pool's ids as their index, in another order: give {name}.loc[pool.ids]"
        )
    if pool.row_names is not None and in_another_order(values, pool.row_names):
        rule = "put them in one order, or give ids= to the pool"
        raise InputError(f"rows of {name} have the index of the pool's outputs, in another order: {rule}")


def by_index(values: Any, pool: Pool, name: str) -> Any:
    """Return values as a mapping from their index, where they are not one for each row of the pool.

    An index of row numbers names no items, and what has it is returned as it is.

    Parameters
    ----------
    values : Series of pandas, or what `sondage.evaluate` takes
        Labels.
    pool : Pool
        The pool.
    name : str
        What they are called.

    Raises
    ------
    InputError
        If a name stands twice.

    Examples
    --------
    >>> import pandas
    >>> from sondage import Pool
    >>> by_index(pandas.Series([1], index=["b"]), Pool([0.1, 0.9], ids=["a", "b"]), "labels")
    {'b': 1}
    """
    if not _named_rows(values) or len(values) == len(pool) or _numbered(values.index) or hasattr(values, "columns"):
        return values
    names = values.index.tolist()
    found = dict(zip(names, values.tolist(), strict=True))
    if len(found) < len(names):
        twice = next(one for one in found if names.count(one) > 1)
        raise InputError(f"the index of {name} has {twice!r} twice; each item has one label")
    return found


def tell_numbering(pool: Pool) -> None:
    """Warn that items are called by their row numbers where the pool's outputs came with an index that names rows."""
    if pool.row_names is not None:
        last = len(pool.row_names) - 1
        warn(
            f"items are called by row number, 0 to {last}, and not by the index that the pool's outputs have: "
            "give ids= to the pool"
        )


def of_one_frame(one: Any, other: Any) -> bool:
    """Return whether two columns have the same index."""
    return _named_rows(one) and _named_rows(other) and np.array_equal(one.index, other.index)


def by_part(what: str, given: Any) -> list[tuple[str, Any]]:
    """Return what was handed over as one thing, or as several by name, with its name in messages."""
    return [(f"{what} {name!r}", one) for name, one in given.items()] if isinstance(given, Mapping) else [(what, given)]


def _named_rows(values: Any) -> bool:
    """Return whether rows have an index; of a list that is a method."""
    return not callable(getattr(values, "index", len))


def _numbered(names: Any) -> bool:
    return np.array_equal(names, np.arange(len(names)))


def column_names(table: Any) -> list[Any]:
    """Return the names of a frame's columns, or of an Arrow table's, which has the columns themselves as `columns`."""
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def require_class_order(given: Any, classes: Sequence[Any], name: str, what: str = "classes") -> None:
    """Refuse a frame or a table whose columns are named like the classes and stand in another order.

    Names are those of the classes or systems, p_<class>, and <system>.label as batches have them.
    """
    columns = [str(column) for column in column_names(given)]
    for form in ("{}", "p_{}", "{}.label"):
        texts = [form.format(one) for one in classes]
        if columns != texts and sorted(columns) == sorted(texts):
            raise InputError(f"{name} have the columns {columns}; {what} are {list(classes)}: put both in one order")
