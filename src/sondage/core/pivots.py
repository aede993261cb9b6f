r"""How far a difference of two ratios is from any other value, where labels tell little of the denominators.

Where positives are rare, few labels tell how many the models miss. F and recall have these in both denominators: the
difference, its standard error and all its slopes are large where few are thought to be missed, and small where many
are. But a difference of ratios :math:`N_m / D_m` is :math:`\delta` where :math:`M = \delta D`, with the geometric mean
:math:`D = \sqrt{D_1 D_2}` and :math:`M = \Delta D`, whose estimates are much less skewed. With the errors of the
estimates of :math:`\Delta` and of :math:`\ln D`, to first order

.. math:: e = \sum_i b_i \psi_i(y_i), \qquad u = \sum_i b_i u_i(y_i), \quad
    u_i = \tfrac12 \sum_m \frac{d_{im}(y_i) - D_m}{D_m},

:math:`M / \hat D = \hat\Delta (1 - u) - e` and :math:`D / \hat D = \exp(-u)`, the difference is :math:`\delta` for all
(e, u) on the line

.. math:: e = \hat\Delta (1 - u) - \delta \exp(-u) .

Its distance from the estimate is that of the nearest of these points from (0, 0), in standard errors of e and u
(Fieller's theorem has :math:`1 - u` for :math:`\exp(-u)`). D is at least what the labels leave possible, so that u has
a greatest value; where the nearest point is beyond that, the distance is at least that of e there, by its own standard
error. Whether there is a difference does not depend on D at all. Where D is known, as for precision on the pool, e
alone counts.

Labels that are wrong by chance are rare positives that both models miss, and none may be in the sample: then both
denominators are too small by their whole effect, and no spread shows it. They hardly move M, so that a difference
:math:`\delta` is as far off as :math:`\delta (1 + r)` would be without them, where r is the share by which D is larger.
With :math:`r_k` from beliefs that the labels leave possible, one as likely as another, the probability of a difference
beyond :math:`\delta` is at least the mean of theirs. At :math:`\delta = 0` nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.evidence import Evidence
from sondage.core.measures.bases import ROUNDING
from sondage.core.plausible import moved_by_lapses
from sondage.core.predictions import Floats
from sondage.core.resampling import block_sizes
from sondage.core.residuals import larger_variance, of_population, paired_degrees
from sondage.core.variances import plausible_variance

__all__ = ["Combined", "Pivot", "pivot_of"]

STEPS = 12
"""Of Gauss and Newton's."""
FURTHEST = 30.0
"""Logarithm of the largest ratio of two denominators that are told apart."""
NEARLY = 1e-6
"""By how much less than 1 a correlation is: of a few surprises e and u may have the same."""
GROUPS = 12
"""Of beliefs that lapse alike: as many as do where the model is trusted."""
LIKELY = 0.49
"""Probability from which on nothing speaks against a difference."""
KNOWN = 1e-9
"""Relative error of the denominators below which they are known, but for rounding."""


@dataclass(frozen=True, eq=False)
class Pivot:
    r"""What a difference is held against.

    Attributes
    ----------
    value : float
        The estimated difference.
    residuals : ndarray of float, shape (2, U)
        What each labelled unit that was not certain adds to e and u, times the root of its part in the variance.
    sampled, believed, drawn : ndarray of float, shape (3,)
        Var e, Cov(e, u) and Var u: from the spread of the labels, as the belief expects them, and of the pool's own
        values where the target is a population.
    labels : float
        Effective number of labels, which tell the last of these.
    others : float
        Variance of e from other sources.
    most : float
        The greatest value of u.
    lapses : tuple of tuple of float
        Shares r by which lapses that nobody has seen may make D larger, each with its probability.
    """

    value: float
    residuals: Floats
    sampled: Floats
    believed: Floats
    drawn: Floats
    labels: float
    others: float = 0.0
    most: float = np.inf
    lapses: tuple[tuple[float, float], ...] = ((0.0, 1.0),)

    def at(self, difference: Floats | float) -> tuple[Floats, Floats]:
        r"""Return the variance with which the estimate is as far off from these, any shape, and its degrees of freedom.

        The larger of that `without_lapses` and the one by which the difference is beyond these as likely as lapses have
        it (docs/statistics.md, section 8).

        Parameters
        ----------
        difference : float or ndarray of float
            Supposed differences :math:`\delta`.

        Examples
        --------
        >>> none = np.zeros(3)
        >>> pivot = Pivot(0.1, np.ones((2, 9)), np.array([0.0004, 0.0, 0.0]), none, none, 9.0, lapses=((1.0, 1.0),))
        >>> [round(float(pivot.at(delta)[0]), 4) for delta in (0.0, 0.2)], bool(pivot.at(0.05)[0] > 1)  # twice is 0.1
        ([0.0004, 0.0004], True)
        """
        supposed = np.asarray(difference, dtype=np.float64)
        variance, df = self.without_lapses(supposed)
        if not any(more for more, _ in self.lapses):
            return variance, df
        more, share = np.array(self.lapses).T
        without = supposed[..., None] * (1.0 + more)
        squares, degrees = self.without_lapses(without)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.sign(self.value - supposed)[..., None] * (without - self.value) / np.sqrt(squares)
            beyond = np.minimum(np.sum(share * stdtr(degrees, off), axis=-1), LIKELY)
            reached = ((self.value - supposed) / stdtrit(df, beyond)) ** 2
        further = (supposed != 0.0) & (supposed != self.value) & (reached > variance)
        return np.where(further, reached, variance), df

    def without_lapses(self, difference: Floats | float) -> tuple[Floats, Floats]:
        r"""Return the same where D is larger or smaller by chance alone.

        The sampled or the believed variance, whichever is larger, of :math:`e + (\hat\Delta - \delta) u`, which is
        :math:`\hat\Delta - \delta` to first order, made smaller or larger as the line is bent
        (docs/statistics.md, section 8).

        Parameters
        ----------
        difference : float or ndarray of float
            Supposed differences :math:`\delta`.

        References
        ----------
        E. C. Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B, 1954, 175-185:
        where D is normal.

        Examples
        --------
        >>> none = np.zeros(3)
        >>> pivot = Pivot(0.1, np.ones((2, 9)), np.array([0.04, 0.0, 0.0]), none, none, 9.0)
        >>> [round(float(found), 4) for found in pivot.without_lapses(0.0)]
        [0.04, 8.0]
        """
        gap = np.asarray(self.value - np.asarray(difference, dtype=np.float64))
        sampled, believed, drawn = (_of_sum(gap, part) for part in (self.sampled, self.believed, self.drawn))
        variance, df = larger_variance(sampled, self._degrees(gap), believed)
        own, both, square = (
            np.where(variance == sampled, *two) + more
            for *two, more in zip(self.sampled, self.believed, self.drawn, strict=True)
        )
        if self.drawn.any():
            variance, df = np.vectorize(of_population)(variance, df, drawn, self.labels)
        nearest = self._nearest(gap, variance + self.others, own + self.others, both=both, square=square)
        return nearest, df

    def _degrees(self, gap: Floats) -> Floats:
        """Return the degrees of freedom of the labels' own variance of e + gap u, in blocks of the gaps."""
        own, per_gap = self.residuals
        flat, found = gap.reshape(-1, 1), []
        for size in block_sizes(len(flat), len(own)):
            found.append(paired_degrees((own + flat[:size] * per_gap) ** 2))
            flat = flat[size:]
        return np.concatenate(found).reshape(gap.shape)

    def scaled(self, factor: float) -> Pivot:
        """Return it with variances that are so many times as large."""
        return replace(
            self,
            residuals=self.residuals * np.sqrt(factor),
            sampled=self.sampled * factor,
            believed=self.believed * factor,
            drawn=self.drawn * factor,
            others=self.others * factor,
            lapses=tuple(((1.0 + more) ** float(np.sqrt(factor)) - 1.0, share) for more, share in self.lapses),
        )

    def _nearest(self, gap: Floats, variance: Floats, own: Floats, *, both: Floats, square: Floats) -> Floats:
        """Return the variance for which gap^2 over it is the square of the distance of the nearest (e, u).

        Given are the variances of e + gap u and of e, the covariance of e and u, and the variance of u.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            left = square - both**2 / own
        difference = self.value - gap

        def whitened(e: Floats, u: Floats) -> tuple[Floats, Floats]:
            return e / np.sqrt(own), (u - both * e / own) / np.sqrt(left)

        def on_line(u: Floats) -> tuple[Floats, Floats]:
            return whitened(self.value * (1.0 - u) - difference * np.exp(-u), u)

        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.clip(gap * (both + gap * square) / variance, -FURTHEST, FURTHEST)  # where the line is straight
            for _ in range(STEPS):
                first, second = on_line(u)
                by_first, by_second = whitened(difference * np.exp(-u) - self.value, np.ones_like(u))
                step = (first * by_first + second * by_second) / (by_first**2 + by_second**2)
                u = u - np.clip(step, -1.0, 1.0)
            first, second = on_line(u)
            distance = first**2 + second**2
            if np.isfinite(self.most):
                at_most, _ = on_line(np.asarray(self.most))
                distance = np.where(u > self.most, np.maximum(distance, at_most**2), distance)
            found = gap**2 / distance
        straight = ~(left > ROUNDING * square) | ~(np.abs(gap) > ROUNDING**0.5 * np.sqrt(variance))
        return np.where(straight, variance, found)


def _of_sum(gap: Floats, part: Floats) -> Floats:
    """Return the variance of e + gap u."""
    own, both, square = part
    return np.asarray(own + 2.0 * gap * both + gap**2 * square)


def pivot_of(evidence: Evidence, variance: float, drawn: tuple[float, float] = (0.0, np.inf)) -> Pivot | None:
    """Return what differences are held against; None of what is no difference of two ratios, or without a belief.

    Parameters
    ----------
    evidence : Evidence
        What is estimated from which labels, and how.
    variance : float
        Of the estimate, from everything that makes it uncertain, above 0.
    drawn : tuple of float
        For a population as the target: how much of the spread over the pool counts, and the effective number of labels.

    Returns
    -------
    Pivot or None
        Its variance at the estimate is the one given.

    Examples
    --------
    >>> from sondage import Classifier, Pool, compare
    >>> pool = Pool(models={"a": Classifier([0.1, 0.6, 0.8] * 20), "b": Classifier([0.1, 0.3, 0.9] * 20)})
    >>> found = compare(pool, "a", "b", "f1", labels=[0, 1, 1, 0, 0, 1] * 10, budget=20).estimate
    >>> bool(np.isclose(found.pivot.at(found.value)[0], found.std_error**2))
    True
    """
    contrast, estimation, fit, sample = evidence.contrast, evidence.estimation, evidence.fit, evidence.sample
    belief = estimation.belief
    if belief is None or contrast.functional.ratio is None or len(contrast.weights) != 2:
        return None
    below = Combined(contrast.functional, contrast.weights, 0.0, 1.0)
    of_below, believed = estimation.around(below, fit), plausible_variance(below, sample, fit.sums, belief)
    square = max(of_below.variance, believed, drawn[0] * of_below.spread)
    scale = float(np.sqrt(variance / square)) if square > KNOWN**2 else 0.0
    both = [Combined(contrast.functional, contrast.weights, 1.0, sign * scale) for sign in (1.0, -1.0)]
    fits = [fit, of_below, *(estimation.around(one, fit) for one in both)]
    root = np.sqrt(sample.expansion.spread)
    found = Pivot(
        fit.value,
        np.stack([(root * one.residuals)[root > 0] for one in fits[:2]]),
        sampled=_covariance([one.variance for one in fits], scale),
        believed=_covariance(
            [
                plausible_variance(contrast, sample, fit.sums, belief),
                believed,
                *(plausible_variance(one, sample, fit.sums, belief) for one in both),
            ],
            scale,
        ),
        drawn=_covariance([drawn[0] * one.spread for one in fits], scale),
        labels=drawn[1],
    )
    others = max(variance - float(found.at(fit.value)[0]), 0.0)
    most = _most(evidence)
    moved = np.maximum(moved_by_lapses(below, belief, sample, fit.sums), np.expm1(-most)) if scale else np.zeros(1)
    return replace(found, others=others, most=most, lapses=_grouped(moved))


def _grouped(moved: Floats) -> tuple[tuple[float, float], ...]:
    """Return the means of those that are alike, with the share of all that they are; 0 by itself.

    Examples
    --------
    >>> _grouped(np.array([0.0, 0.0, 0.0, 0.25]))
    ((0.0, 0.75), (0.25, 0.25))
    """
    parts = [moved[moved == 0], *np.array_split(np.sort(moved[moved != 0]), GROUPS)]
    return tuple((float(np.mean(part)), len(part) / len(moved)) for part in parts if len(part))


def _covariance(variances: Sequence[float], scale: float) -> Floats:
    """Return Var e, Cov(e, u) and Var u from the variances of e, u, e + scale u and e - scale u; 0 if u is known."""
    own, square, of_sum, of_rest = variances
    if not scale:
        return np.array([own, 0.0, 0.0])
    limit = (1.0 - NEARLY) * float(np.sqrt(own * square))
    return np.array([own, np.clip((of_sum - of_rest) / (4.0 * scale), -limit, limit), square])


def _most(evidence: Evidence) -> float:
    """Return the logarithm of the denominator as it is estimated over the least that labels allow."""
    contrast, whole = evidence.contrast, evidence.estimation.whole
    basis, ratio = contrast.functional.basis, contrast.functional.ratio
    assert ratio is not None
    below, shares = ratio[1], []
    for model in contrast.models:
        labelled = basis.totals(whole.items, model, whole.labels, whole.items.weights)
        predicted = evidence.before.expected[basis.name, model].sum(axis=1)
        rest = np.maximum(predicted - labelled.sum(axis=1), 0.0)
        least = float(np.sum(below * labelled) + np.sum(below.min(axis=1) * rest))
        shares.append(np.log(float(np.sum(below * evidence.fit.sums[model])) / least) if least > 0 else np.inf)
    return max(float(np.mean(shares)), 0.0)


@dataclass(frozen=True, eq=False)
class Combined(Contrast):
    """The contrast whose influence is that of e, so many times its `own`, and of u, so many times `denominators`."""

    own: float = 1.0
    denominators: float = 0.0

    def influence(self, sums: Sums) -> Influence:
        found = super().influence(sums)
        assert self.functional.ratio is not None
        below, means = self.functional.ratio[1], self._means(sums)
        terms = tuple(
            (model, self.own * coefficients + 0.5 * self.denominators / float(np.sum(below * means[model])) * below)
            for model, coefficients in found.terms
        )
        return Influence(found.basis, terms, self.own * found.constant + self.denominators)
