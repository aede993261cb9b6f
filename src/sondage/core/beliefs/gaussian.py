"""Beliefs about numbers: mixtures of Gaussians, as quadrature nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sondage.core.beliefs.protocol import Belief, Distribution, Supposed
from sondage.core.calibration import another_unit, calibrate_variances
from sondage.core.normal import FAR, density, folded_mean
from sondage.core.predictions import Floats, Items, Means
from sondage.errors import InputError

__all__ = ["GaussianBelief", "is_broad", "is_limit", "tells_nothing"]

NARROW = 0.004
"""Half a width, in standard deviations, below which the moments of a truncated normal cancel."""


@dataclass(frozen=True)
class GaussianBelief:
    r"""A mixture of Gaussians :math:`N(f_j, \tau_j^2)` (thesis 5.13).

    Parameters
    ----------
    models : tuple of (int, float)
        Model index and share.
    peaked : bool
        Variances taken as 0 (the limit :math:`\tau \to 0` of section 5.2.2).
    broad : bool
        Variances infinitely large and equal (:math:`\tau \to \infty`). Designs and the weights of stages use the
        leading coefficient of the influence; expectations are taken at unit variance, which nothing may hang on.
    shift, slope : float
        Calibration: a variance v becomes :math:`e^a v^b`.
    """

    models: tuple[tuple[int, float], ...]
    peaked: bool = False
    broad: bool = False
    shift: float = 0.0
    slope: float = 1.0

    @property
    def limit(self) -> bool:
        """Whether it is a limit, which has no variance to expect."""
        return self.peaked or self.broad

    def supposed(
        self, items: Items, models: Sequence[int], *, nodes: int = 3, kinks: Sequence[NDArray[Any]] = ()
    ) -> Iterator[Supposed]:
        """Yield quadrature nodes (n,) and weights; exact for polynomials of degree 2 nodes - 1 between kinks."""
        for index, share in self._parts(items):
            mean = self._centre(items, index)
            deviation = self._deviation(items.means(index))
            if self.peaked:
                yield mean, share
            elif kinks:
                for label, weight in _split_nodes(mean, deviation, kinks):
                    yield label, share * weight
            else:
                for point, weight in _normal_nodes(nodes):
                    yield mean + point * deviation, share * weight

    def parts(self, tells: Callable[[int], bool]) -> tuple[tuple[int, float], ...]:
        """Return the parts of the mixture, model and share; `tells` says whether a model has variances."""
        return self.models

    def residual_totals(self, items: Items, model: int, weights: Floats, centre: float) -> Floats:
        r"""Return the weighted sums of what is believed of (r^2, r, |r|, y - c, (y - c)^2), with r = f - y, shape (5,).

        With d = f - m and z = |d| / s these are :math:`d^2 + s^2`, d, the folded normal's
        :math:`|d| + 2 s (\varphi(z) - z (1 - \Phi(z)))`, m - c and :math:`(m - c)^2 + s^2`.

        Parameters
        ----------
        items : Items
            Rows.
        model : int
            Whose predictions f are.
        weights : ndarray of float, shape (n,)
            Of the rows.
        centre : float
            c.
        """
        totals = np.zeros(5)
        for index, share in self._parts(items):
            mean = self._centre(items, index)
            deviation = 0.0 if self.peaked else self._deviation(items.means(index))
            gap = items.means(model).means - mean
            folded = folded_mean(np.abs(gap), deviation)
            mean = mean - centre
            columns = (gap**2 + deviation**2, gap, folded, mean, mean**2 + deviation**2)
            totals += share * np.array([np.sum(weights * column) for column in columns])
        return totals

    def folded_moments(
        self, items: Items, intercept: Floats | float, slope: float, folds: Sequence[tuple[float, NDArray[Any]]]
    ) -> tuple[Floats, Floats]:
        r"""Return the believed mean and mean square of :math:`a + b y + \sum_j c_j |y - f_j|`, shape (n,) each.

        Between folds it is linear: with A at the middle m of an interval, in standard deviations of a Gaussian, and B
        for each of these, the interval adds :math:`A J_0 + B J_1` and :math:`A^2 J_0 + 2 A B J_1 + B^2 J_2`, where
        :math:`J_p = \int (z - m)^p \varphi(z) dz`; m is 0 where an end is infinite.

        Parameters
        ----------
        items : Items
            Rows.
        intercept : ndarray of float, shape (n,), or float
            a.
        slope : float
            b.
        folds : sequence of (float, ndarray of float, shape (n,))
            :math:`c_j, f_j`.
        """
        places = np.stack([np.asarray(place, dtype=np.float64) for _, place in folds])
        order = np.argsort(places, axis=0, kind="stable")
        places, steps = np.take_along_axis(places, order, axis=0), np.array([c for c, _ in folds])[order]
        first, second, least = np.zeros(len(items)), np.zeros(len(items)), slope - np.sum(steps, axis=0)
        for index, share in self._parts(items):
            mean, deviation = self._centre(items, index), 0.0 if self.peaked else self._deviation(items.means(index))
            value = intercept + slope * mean + np.sum(steps * (places - mean), axis=0)
            rise = deviation * least
            ends = [None, *(_Bound(_standardised(place, mean, deviation)) for place in places), None]  # infinite ones
            for (low, high), step, place in zip(pairwise(ends), [*steps, 0.0], [*places, mean], strict=True):
                middle, mass, linear, square = _integrals(low, high)
                there = value + rise * middle
                first += share * (there * mass + rise * linear)
                second += share * (there**2 * mass + 2.0 * there * rise * linear + rise**2 * square)
                value, rise = value + 2.0 * step * (mean - place), rise + 2.0 * step * deviation
        return first, second

    def allowed(self, items: Items, models: Sequence[int]) -> Iterator[Any]:
        """Yield three points, which tell any quadratic from a constant, and the models' means."""
        yield from (-1.0, 0.0, 1.0)
        yield from (items.means(model).means for model in models)

    def _parts(self, items: Items) -> tuple[tuple[int, float], ...]:
        return self.parts(lambda model: items.means(model).variances is not None)

    def _deviation(self, output: Means) -> Floats | float:
        if self.limit:
            return 1.0
        variances = self._variances(output)
        if (self.shift, self.slope) == (0.0, 1.0):
            return np.sqrt(variances)
        return np.asarray(np.exp(0.5 * self.shift) * np.maximum(variances, 1e-300) ** (0.5 * self.slope))

    def _centre(self, items: Items, index: int) -> Floats:
        """Return the mean that is believed of one model of the mixture, shape (n,)."""
        return np.asarray(items.means(index).means, dtype=np.float64)

    def _variances(self, output: Means) -> Floats:
        """Return the variances before calibration, shape (n,)."""
        if output.variances is None:
            raise InputError("this belief needs predictive variances, and there are none")
        return np.asarray(output.variances, dtype=np.float64)

    def plausible(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return this belief alone."""
        return (self,)

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief with variances calibrated on these numbers, shape (n,); a limit stays as it is."""
        if self.limit:
            return self
        return self._fitted(items, [(labels - self._centre(items, index)) ** 2 for index, _ in self.models])

    def _fitted(self, items: Items, squares: Sequence[Floats]) -> Self:
        """Return the belief with variances calibrated on these squared residuals of each part.

        A variance of 0 says that the label is known, and no factor makes it anything else.
        """
        outputs = [items.means(index) for index, _ in self._parts(items)]
        variances = np.concatenate([self._variances(output) for output in outputs])
        told = variances > 0
        fitted = calibrate_variances(variances[told], np.concatenate(squares)[told])
        return replace(self, shift=fitted.shift, slope=fitted.slope)

    def of_another_unit(self, items: Items, labels: NDArray[Any]) -> bool:
        """Return whether variances are not in the unit of these numbers, shape (n,): no model is that far off."""
        models = [index for index, _ in self._parts(items)]
        variances = [np.square(self._deviation(items.means(index))) for index in models]
        squares = [np.square(labels - self._centre(items, index)) for index in models]
        return another_unit(np.concatenate(variances), np.concatenate(squares)) != 0


def is_broad(belief: Distribution) -> TypeGuard[GaussianBelief]:
    """Return whether a belief is the limit of infinitely large variances."""
    return isinstance(belief, GaussianBelief) and belief.broad


def is_limit(belief: Distribution) -> bool:
    """Return whether a belief is a limit of Gaussians, which has no variance to expect."""
    return isinstance(belief, GaussianBelief) and belief.limit


def tells_nothing(belief: Belief, items: Items, labels: NDArray[Any]) -> bool:
    """Return whether what a belief expects of losses is no help: a limit, and variances of another unit than labels."""
    return isinstance(belief, GaussianBelief) and (belief.limit or belief.of_another_unit(items, labels))


@cache
def _normal_nodes(nodes: int) -> tuple[tuple[Any, Any], ...]:
    """Return the points of a standard normal's Gauss-Hermite rule, each with its weight: they are asked for often."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return tuple(zip(points, weights / weights.sum(), strict=True))


def _standardised(place: Floats, mean: Floats, deviation: Floats | float) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((place - mean) / np.maximum(deviation, 1e-300), -FAR, FAR))


class _Bound:
    """Ends of intervals of a standard normal, shape (n,), with its density there and its mass on either side."""

    def __init__(self, end: Floats) -> None:
        self.end, self.density, self.below, self.above = end, density(end), ndtr(end), ndtr(-end)


def _integrals(low: _Bound | None, high: _Bound | None) -> tuple[Any, Any, Any, Any]:
    """Return the middle of an interval and the integrals of 1, z and z^2 about it times the standard normal density.

    With an infinite end the middle is 0. Integrals over a narrow interval cancel; there they are those of a parabola.
    """
    if low is None:
        assert high is not None
        return 0.0, high.below, -high.density, high.below - high.end * high.density
    if high is None:
        return 0.0, low.above, low.density, low.above + low.end * low.density
    middle, half = (low.end + high.end) / 2, (high.end - low.end) / 2
    mass = np.where(middle > 0, low.above - high.above, high.below - low.below)
    linear = low.density - high.density
    square = mass + low.end * low.density - high.end * high.density
    square, linear = square - 2.0 * middle * linear + middle**2 * mass, linear - middle * mass
    narrow = half < NARROW
    if narrow.any():
        cubic = 2.0 / 3.0 * half**3 * density(middle)
        mass = np.where(narrow, 2.0 * half * density(middle) + 0.5 * (middle**2 - 1.0) * cubic, mass)
        linear, square = np.where(narrow, -middle * cubic, linear), np.where(narrow, cubic, square)
    return middle, mass, linear, square


def _split_nodes(mean: Floats, deviation: Floats | float, kinks: Sequence[NDArray[Any]]) -> Iterator[Supposed]:
    """Yield two nodes for each interval between kinks, exact for polynomials of degree 3 on every interval."""
    ends = np.sort(np.stack([_standardised(kink, mean, deviation) for kink in kinks]), axis=0)
    edge = np.full(len(mean), FAR)
    bounds = [_Bound(end) for end in (-edge, *ends, edge)]
    for low, high in pairwise(bounds):
        for point, weight in _truncated_pair(low, high):
            yield mean + point * deviation, weight


def _truncated_pair(low: _Bound, high: _Bound) -> Iterator[Supposed]:
    """Yield the two-node Gauss rule of a standard normal truncated to [low, high], from its first four moments.

    Moments of a narrow interval cancel; there the Gauss-Legendre nodes have the density as their weight.
    """
    mass = np.where(low.end > 0, low.above - high.above, high.below - low.below)
    safe = np.maximum(mass, 1e-300)
    first = (low.density - high.density) / safe
    second = 1.0 + (low.end * low.density - high.end * high.density) / safe
    third = ((low.end**2 + 2) * low.density - (high.end**2 + 2) * high.density) / safe
    usable = mass > 1e-12
    mean = np.where(usable, first, np.clip(0.0, low.end, high.end))
    variance = np.where(usable, np.maximum(second - mean**2, 1e-12), 1e-12)
    deviation = np.sqrt(variance)
    skew = np.where(usable, (third - 3 * mean * second + 2 * mean**3) / (variance * deviation), 0.0)
    root = np.sqrt(1.0 + skew**2 / 4)
    half = (high.end - low.end) / 2
    narrow = half < NARROW
    for sign in (-1.0, 1.0):
        point = mean + deviation * (skew / 2 + sign * root)
        weight = mass * 0.5 * (1.0 - sign * skew / 2 / root)
        if narrow.any():
            legendre = low.end + half * (1.0 + sign / np.sqrt(3.0))
            point, weight = np.where(narrow, legendre, point), np.where(narrow, half * density(legendre), weight)
        yield point, weight
