"""Values that are not there: a row without one is refused by name, whatever stands for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError

__all__ = [
    "as_array",
    "converted",
    "finite",
    "in_microseconds",
    "is_blank",
    "is_missing",
    "require_given",
    "require_listed",
]


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return what a user hands over as an array; lists, frames' columns and Arrow arrays are taken, masks are not.

    It is not copied, and cannot be written to here.

    Raises
    ------
    InputError
        If it is no list, a value is masked, or rows have different lengths.
    """
    if isinstance(values, np.ma.MaskedArray) and values.ndim and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise InputError(f"{name}: row {row} is masked; every row needs a value")
    try:
        array = np.asarray(converted(values))
    except ValueError as error:  # of NumPy, which says much
        raise InputError(f"{name} must be one column, or rows of one length: {str(error).split('. ')[0]}") from None
    if array.ndim == 0:
        raise _no_list(values, name)
    array = array.view()
    array.flags.writeable = False
    return array


def require_listed(values: Any, name: str) -> None:
    """Refuse what is neither a list nor an array: a generator, which can be read once, a set, a mapping, one value."""
    ordered = hasattr(values, "__getitem__") and not isinstance(values, str | bytes | Mapping)
    if not (ordered or hasattr(values, "__array__")) or getattr(values, "ndim", 1) == 0:
        raise _no_list(values, name)


def _no_list(values: Any, name: str) -> InputError:
    return InputError(f"{name} is of the type {type(values).__name__}; it must be a list or an array")


def converted(values: Any) -> Any:
    """Return a frame's column or an Arrow array as NumPy has it, anything else as it is."""
    if not hasattr(values, "to_numpy"):
        return values
    if str(getattr(values, "dtype", "")) in ("Int128", "UInt128"):  # of polars, which NumPy does not have
        return np.array(values.to_list())
    of_arrow = type(values).__module__.startswith("pyarrow")  # whose texts and missing values NumPy cannot share
    return values.to_numpy(zero_copy_only=False) if of_arrow else values.to_numpy()


def in_microseconds(times: NDArray[Any]) -> NDArray[Any]:
    """Return times that are in nanoseconds in microseconds: of the former NumPy's `tolist` makes numbers.

    Anything else is returned as it is.

    Examples
    --------
    >>> in_microseconds(np.array(["2024-01-05"], dtype="datetime64[ns]")).tolist()
    [datetime.datetime(2024, 1, 5, 0, 0)]
    """
    kind = times.dtype.kind
    if kind not in "mM" or np.datetime_data(times.dtype)[0] != "ns":
        return times
    return times.astype(f"{kind}8[us]")


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT, pandas' NA, which cannot be compared, or a masked one.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "nan")]
    [True, True, False, False]
    """
    several = hasattr(value, "__len__")  # a text, a list or an array, of which one may be missing but not all
    none = value is None or value is np.ma.masked or type(value).__name__ == "NAType"
    return none or (not several and bool(value != value))


def is_blank(value: Any) -> bool:
    """Return whether a value stands for none, or is a text of white space only, as empty cells of files are.

    Examples
    --------
    >>> [is_blank(value) for value in (None, " ", 0, "0")]
    [True, True, False, False]
    """
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def finite(value: Any) -> Any:
    """Return data in which numbers that JSON does not know are None.

    Examples
    --------
    >>> finite({"low": float("-inf"), "ends": [1.0, float("nan")]})
    {'low': None, 'ends': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def require_given(values: Any, array: NDArray[Any], name: str, where: Callable[[int], str]) -> None:
    """Refuse a column in which a row has no value, and name the first such row.

    Parameters
    ----------
    values : array-like, shape (N,)
        As they were handed over: NumPy makes text of a NaN that stands beside text in a list.
    array : ndarray, shape (N,)
        The same as an array.
    name : str
        What they are.
    where : callable
        Names a row.
    """
    if array.dtype.kind in "fcmM":
        missing = array != array
    elif array.dtype.kind == "O" or (array.dtype.kind == "U" and isinstance(values, Sequence)):
        told = values if isinstance(values, Sequence) else array.tolist()
        missing = np.fromiter((is_missing(value) for value in told), np.bool_, len(array))
    else:
        return
    if missing.any():
        row = int(np.argmax(missing))
        given = values[row] if isinstance(values, Sequence) else array[row]
        raise InputError(f"{name} of {where(row)} is {given}; every row needs one")
