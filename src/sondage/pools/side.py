"""Side information, checked and coded: judges, and features of the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs.columns import SURE
from sondage.errors import InputError
from sondage.pools.classes import code_labels
from sondage.pools.coding import code_probabilities
from sondage.pools.missing import as_array
from sondage.pools.numeric import Where, as_column, numeric, require_each

__all__ = ["LARGEST_FEATURE", "check_judges", "code_features", "code_judges"]

LARGEST_FEATURE = 1e150
"""Of either sign: squares are summed over a pool."""


def check_judges(judge: Any, where: Where) -> dict[str, NDArray[Any]]:
    """Return the judges by name: probabilities, or one column of the classes that a judge names.

    Parameters
    ----------
    judge : array-like, mapping of str to array-like, or None
        One judge, which is called "judge", or several. A column of fractions is the probability of the second class;
        a column of text, whole numbers or truth values names classes.
    where : callable
        Names a row in messages.
    """
    if judge is None:
        return {}
    if not isinstance(judge, Mapping):
        return {"judge": _check_judge(judge, "judge", where)}
    if not judge:
        raise InputError("judge= is empty; leave it out, or name at least one judge")
    return {str(name): _check_judge(values, f"judge {name!r}", where) for name, values in judge.items()}


def _check_judge(values: Any, name: str, where: Where) -> NDArray[Any]:
    array = as_array(values, name)
    if array.ndim == 1 and array.dtype.kind != "f":
        return as_column(array, name, None)
    return code_probabilities(array, name, where)


def code_judges(
    judges: Mapping[str, NDArray[Any]], classes: Sequence[Any], size: int, where: Where
) -> tuple[NDArray[Any], ...]:
    """Return every judge's probabilities, shape (N, k) or (N,); a named class has the probability `SURE`.

    Raises
    ------
    InputError
        If a judge has another number of rows than the pool, or names a class that there is not.
    """
    wrong = next((name for name, values in judges.items() if len(values) != size), None)
    if wrong is not None:
        name = "judge" if wrong == "judge" else f"judge {wrong!r}"
        raise InputError(f"{name} has {len(judges[wrong])} rows; the pool has {size}")
    return tuple(_soft(values, tuple(classes), name, where) for name, values in judges.items())


def _soft(values: NDArray[Any], classes: tuple[Any, ...], name: str, where: Where) -> NDArray[Any]:
    if values.dtype.kind == "f":
        return values
    codes = code_labels(values, classes, f"judge {name!r}", where)
    if len(classes) == 2:
        return np.where(codes == 1, SURE, 1.0 - SURE)
    soft = np.full((len(codes), len(classes)), (1.0 - SURE) / (len(classes) - 1), dtype=np.float32)
    soft[np.arange(len(codes)), codes] = SURE
    return soft


def code_features(values: Any, size: int, where: Where) -> NDArray[Any] | None:
    """Return the features as an array of floats, shape (N, d); single precision stays single.

    Raises
    ------
    InputError
        If the shape is not that of a table with the pool's rows, or a value is not a finite number of at most
        `LARGEST_FEATURE`.
    """
    if values is None:
        return None
    array = as_array(values, "features")
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.shape[1]:
        raise InputError(f"features have shape {array.shape}; they must be (N, d), one row an item")
    if len(array) != size:
        raise InputError(f"features have {len(array)} rows; the pool has {size}")
    array = numeric(array, "features", where)
    if array.dtype == np.float64:  # others cannot be larger
        allowed = f"finite, at most {LARGEST_FEATURE:g} either way"
        require_each(array, lambda part: np.abs(part) <= LARGEST_FEATURE, name="features", where=where, allowed=allowed)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
