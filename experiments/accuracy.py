"""From what all repetitions find to errors: of each, and their means with standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import Cell

__all__ = ["ERROR_VALUES", "average", "deviation", "summary", "wrong_sign"]

Floats = NDArray[np.float64]

ERROR_VALUES = ("error", "error_se", "bias", "variance", "undefined")
"""Columns of `summary`."""


def deviation(values: Floats, truth: float) -> Floats:
    """Return absolute deviations."""
    return np.abs(values - truth)


def wrong_sign(differences: Floats, truth: float) -> Floats:
    """Return whether each difference prefers the worse of two models, 0 or 1; no difference counts one half.

    Examples
    --------
    >>> wrong_sign(np.array([0.1, -0.1, 0.0]), 0.3).tolist()
    [0.0, 1.0, 0.5]
    """
    return np.where(differences == 0, 0.5, np.sign(differences) != np.sign(truth))


def summary(values: Floats, truth: float) -> Cell:
    """Return the mean absolute error with its standard error, bias, variance, and how many are undefined.

    As in the thesis there is no error where a single repetition is undefined.

    Examples
    --------
    >>> summary(np.array([0.1, 0.3]), 0.2)["error"]
    0.1
    """
    errors = deviation(values, truth)
    spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else float("nan")
    return {
        "error": round(float(np.mean(errors)), 15),
        "error_se": spread / np.sqrt(len(errors)),
        "bias": float(np.mean(values)) - truth,
        "variance": float(np.var(values)),
        "undefined": int(np.count_nonzero(np.isnan(values))),
    }


def average(parts: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return means and standard errors over repetitions and sets, of models or of queries, each of shape (B,).

    The sets are taken as given: the standard error is that of the simulation.

    Parameters
    ----------
    parts : sequence of ndarray, shape (R, B)
        One for each set.

    Examples
    --------
    >>> average([np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]])])[0].tolist()
    [0.75]
    """
    means = np.stack([part.mean(axis=0) for part in parts])
    squares = np.stack([part.var(axis=0, ddof=1) / len(part) if len(part) > 1 else part[0] * np.nan for part in parts])
    return means.mean(axis=0), np.sqrt(squares.sum(axis=0)) / len(parts)
