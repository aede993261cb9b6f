"""The value of a measure with kinks: less its estimated bias, with a bound of the bias that is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.core.comparisons import Contrast, Sums
from sondage.core.measures.functionals import linear

__all__ = ["corrected_value"]


def corrected_value(contrast: Contrast, sums: Sums, variance_of: Callable[[Contrast], float]) -> tuple[float, float]:
    """Return a contrast's value and the bound of its bias.

    Parameters
    ----------
    contrast : Contrast
        Of a measure with `corrected`, or of any other, whose value is as it is and whose bound is 0.
    sums : mapping of int to ndarray
        Estimated pool means of each model.
    variance_of : callable
        Returns the variance of the estimate of a linear contrast of the same pool means.
    """
    functional = contrast.functional
    if functional.corrected is None:
        return contrast.value(sums), 0.0
    value = bias = 0.0
    for model, weight in contrast.weights:
        entries = np.eye(len(sums[model]))
        parts = [Contrast(linear("part", functional.basis, entry), ((model, 1.0),)) for entry in entries]
        found, left = functional.corrected(sums[model], np.array([variance_of(part) for part in parts]))
        value, bias = value + weight * found, bias + abs(weight) * left
    return value, bias
