"""A class's probability, out of what a model or a judge says, and its log odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sondage.core.predictions import Floats
from sondage.errors import InputError

__all__ = ["class_column", "log_odds"]


def log_odds(probabilities: NDArray[Any]) -> Floats:
    """Return log odds, probabilities clipped to [1e-12, 1 - 1e-12]; in single precision that would be [1e-12, 1]."""
    return np.asarray(logit(np.clip(np.asarray(probabilities, dtype=np.float64), 1e-12, 1.0 - 1e-12)))


def class_column(probabilities: NDArray[Any] | None, label: int) -> NDArray[Any]:
    """Return a class's column; one-dimensional probabilities are those of the second class."""
    if probabilities is None:
        raise InputError("this belief needs class probabilities, and there are none")
    if probabilities.ndim == 2:
        return probabilities[:, label]
    return probabilities if label == 1 else 1.0 - probabilities
