"""Refusals of bad arguments."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError


def require(condition: bool, message: str) -> None:
    """Raise `InputError` unless the condition holds."""
    if not condition:
        raise InputError(message)


def is_number(value: Any) -> bool:
    """Return whether a value is one finite number, of whatever type."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is one whole number, of whatever type."""
    return is_number(value) and value == int(value)


def require_error(std_error: float) -> None:
    """Raise `InputError` unless a standard error is 0 or more."""
    require(std_error >= 0, f"std_error {std_error} is not 0 or more")


def require_weights(weights: NDArray[np.float64]) -> None:
    """Raise `InputError` unless all weights are above 0 and finite."""
    wrong = ~(np.isfinite(weights) & (weights > 0))
    require(not wrong.any(), f"weight {weights[wrong][:1]} is not above 0 and finite")
