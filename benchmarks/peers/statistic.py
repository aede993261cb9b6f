r"""A measure as a ratio of two means, for peers that estimate means.

Every measure of the benchmark is :math:`\theta = \sum n_i / \sum d_i`; F1 has :math:`n = y f` and
:math:`d = (y + f) / 2`, error rate and squared loss have :math:`d = 1`. A peer that estimates means gets F1 by
Newton's step: the mean of :math:`z = n - \theta d` divided by the mean of :math:`d` is what :math:`\theta` lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from problems import Problem

__all__ = ["Floats", "Statistic", "as_floats", "newton"]

Floats = NDArray[np.float64]
Mean = Callable[[Floats, Floats], tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Statistic:
    """True and believed terms of numerator and denominator, each of shape (N,).

    Attributes
    ----------
    numerators, denominators : ndarray
        By the true labels; a peer reads those of the items it has labelled.
    believed_numerators, believed_denominators : ndarray
        Expectations under the model's own probabilities or variances.
    p : ndarray
        Probability that y = 1 (that the prediction is wrong); for squared loss the predictive variance.
    slopes : pair of ndarray, or None
        What numerator and denominator gain when y goes from 0 to 1; None for squared loss.
    is_ratio : bool
        Whether the denominator varies.
    """

    numerators: Floats
    denominators: Floats
    believed_numerators: Floats
    believed_denominators: Floats
    p: Floats
    slopes: tuple[Floats, Floats] | None
    is_ratio: bool

    @classmethod
    def of(cls, problem: Problem) -> Statistic:
        """Return the terms of a problem's measure."""
        if problem.measure == "mse":
            return cls._squared(problem)
        if problem.measure == "f1":
            positive = problem.positive
            said, true = (problem.prediction == positive).astype(float), (problem.labels == positive).astype(float)
            p = np.asarray(problem.p_positive(), dtype=float)
            return cls(said * true, (said + true) / 2, said * p, (said + p) / 2, p, (said, np.full(len(p), 0.5)), True)
        p = 1.0 - np.asarray(problem.p_predicted(), dtype=float)
        wrong, one = (problem.prediction != problem.labels).astype(float), np.ones(len(p))
        return cls(wrong, one, p, one, p, (one, np.zeros(len(p))), False)

    @classmethod
    def _squared(cls, problem: Problem) -> Statistic:
        loss = (problem.prediction - problem.labels) ** 2
        variance = np.asarray(problem.pool_kwargs["variances"], dtype=float)
        return cls(loss, np.ones(len(loss)), variance, np.ones(len(loss)), variance, None, False)

    @property
    def intrinsic(self) -> float:
        """The measure if the model's own belief were true."""
        return float(self.believed_numerators.sum() / self.believed_denominators.sum())

    def terms(self, theta: float) -> Floats:
        """Return z by the true labels."""
        return self.numerators - theta * self.denominators

    def believed(self, theta: float) -> Floats:
        """Return the expectation of z."""
        return self.believed_numerators - theta * self.believed_denominators

    def variance(self, theta: float) -> Floats:
        """Return the variance of z under the belief."""
        if self.slopes is None:
            return np.asarray(2 * self.p**2)
        return np.asarray((self.slopes[0] - theta * self.slopes[1]) ** 2 * self.p * (1 - self.p))

    def thesis_sizes(self) -> Floats:
        """Return the thesis's instrumental distribution: q ~ sqrt(E z^2) at the intrinsic value (4.14, 4.18, 4.23)."""
        theta = self.intrinsic
        q = np.sqrt(self.believed(theta) ** 2 + self.variance(theta))
        return np.asarray(q / q.sum())


def newton(statistic: Statistic, mean: Mean, steps: int = 4) -> tuple[float, float, float]:
    """Return (estimate, low, high) of the ratio from a peer's way of estimating a mean.

    Parameters
    ----------
    statistic : Statistic
        Terms of the measure.
    mean : callable
        From (terms by true labels, believed terms), each (N,), to (estimate, low, high) of the pool mean.
    steps : int
        Newton steps for a ratio; a mean needs none.
    """
    if not statistic.is_ratio:
        return mean(statistic.numerators, statistic.believed_numerators)
    below = mean(statistic.denominators, statistic.believed_denominators)[0]
    if not below > 0:
        return (float("nan"),) * 3
    theta, low, high = statistic.intrinsic, float("nan"), float("nan")
    for _ in range(steps):
        found = mean(statistic.terms(theta), statistic.believed(theta))
        low, high = theta + found[1] / below, theta + found[2] / below
        theta = min(1.0, max(0.0, theta + found[0] / below))
    return theta, max(0.0, low), min(1.0, high)


def as_floats(*numbers: Any) -> tuple[float, ...]:
    """Return numbers or arrays of one number as floats."""
    return tuple(float(np.squeeze(number)) for number in numbers)
