"""The bias-corrected value of a measure that is biased on few labels, and a bound of the bias that is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.core.comparisons import Contrast, Sums
from sondage.core.predictions import Floats

__all__ = ["corrected_value"]


def corrected_value(contrast: Contrast, sums: Sums, variance_of: Callable[[Contrast], float]) -> tuple[float, float]:
    """Return a contrast's value and the bound of its bias.

    Parameters
    ----------
    contrast : Contrast
        Of a measure with `corrected`, whose bias has a bound; of one with `curvature`, less its bias to second order;
        of any other, whose value is as it is.
    sums : mapping of int to ndarray
        Estimated pool means of each model.
    variance_of : callable
        Returns the variance of the estimate of a linear contrast of the same pool means.
    """
    functional = contrast.functional

    def variance_along(model: int, coefficients: Floats) -> float:
        return variance_of(contrast.part(model, coefficients))

    if functional.corrected is None:
        value = contrast.value(sums)
        if functional.curvature is not None:
            for model, weight in contrast.weights:
                terms = functional.curvature(functional.basis.without_rounding(sums[model]))
                value -= weight * 0.5 * sum(sign * variance_along(model, along) for sign, along in terms)
        return value, 0.0
    value = bias = 0.0
    for model, weight in contrast.weights:
        variances = np.array([variance_along(model, entry) for entry in np.eye(len(sums[model]))])
        found, left = functional.corrected(sums[model], variances)
        value, bias = value + weight * found, bias + abs(weight) * left
    return value, bias
