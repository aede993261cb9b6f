r"""The variance that a difference of two ratios would have if it were another one (Fieller).

Where positives are rare, labels tell little of how many the models miss. F and recall have them in both denominators,
so that the difference, its standard error and all its slopes are large where few are thought to be missed and small
where many are. But a difference of ratios :math:`N_m / D_m` is :math:`\delta` where :math:`D (\Delta - \delta) = 0`,
with the geometric mean :math:`D = \sqrt{D_1 D_2}`, and this is nearly linear in what is not known. Its estimate errs,
in units of D, by

.. math:: \sum_i b_i \big( \psi_i(y_i) + (\hat\Delta - \delta) \, u_i(y_i) \big), \qquad
    u_i = \tfrac12 \sum_m \frac{d_{im}(y_i) - D_m}{D_m},

to first order, and :math:`\delta` is held against the variance V of that. Of no difference at all the denominators tell
nothing. Where they are known, as of precision, it is the variance as it is.

A difference may also be held true with a denominator that is less than what is labelled of it: with
:math:`e = \sum_i b_i \psi_i` and :math:`u = \sum_i b_i u_i` it is true where :math:`e + (\hat\Delta - \delta) u =
\hat\Delta - \delta`, and the most likely u of these may be above the greatest that labels allow, U. Then it is as far
off as the most likely of those that are allowed,

.. math:: \frac{(\hat\Delta - \delta)^2}{V} + \frac{(E[u] - U)^2}{\mathrm{Var}\,u} ,

with mean and variance of u given that sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.polynomial import polyval

from sondage.core.beliefs import Belief
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.estimators import Fit
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.residuals import of_population, paired_degrees
from sondage.core.samples import Sample
from sondage.core.stages import Estimation
from sondage.core.variances import larger_variance, plausible_variance

__all__ = ["Pivot", "pivot_of"]


@dataclass(frozen=True, eq=False)
class Pivot:
    r"""What a supposed difference is held against.

    Attributes
    ----------
    value : float
        The estimated difference.
    residuals, shifts : ndarray of float, shape (U,)
        Of each labelled unit that was not certain, and by how much they change with :math:`\hat\Delta - \delta`; times
        the root of its part in the variance.
    sampled, believed, drawn : ndarray of float, shape (3,)
        Both variances, and for a population as the target that of the pool's own difference: polynomials of
        :math:`\hat\Delta - \delta`, the constant first.
    labels : float
        Effective number of labels, which tell the last of these.
    others : float
        Variance that does not depend on the difference.
    most : float
        U: by which share the denominator is overestimated at most, since so much of it is labelled.
    """

    value: float
    residuals: Floats
    shifts: Floats
    sampled: Floats
    believed: Floats
    drawn: Floats
    labels: float
    others: float = 0.0
    most: float = np.inf

    def at(self, difference: Floats | float) -> tuple[Floats, Floats]:
        """Return the variance of the estimate and its degrees of freedom if these were the difference, any shape.

        Examples
        --------
        >>> none = np.zeros(3)
        >>> pivot = Pivot(0.1, np.ones(9), none[:1], np.array([0.04, 0.0, 1.0]), none, none, 9.0)
        >>> [round(float(found), 4) for found in pivot.at(0.0)]
        [0.05, 8.0]
        """
        gap = np.asarray(self.value - np.asarray(difference, dtype=np.float64))
        parts = (self.residuals + gap[..., None] * self.shifts) ** 2
        sampled, believed = (np.maximum(polyval(gap, part), 0.0) for part in (self.sampled, self.believed))
        variance, df = larger_variance(sampled, paired_degrees(parts), believed)
        _, half, square = (
            np.where(variance == sampled, *two) + drawn
            for *two, drawn in zip(self.sampled, self.believed, self.drawn, strict=True)
        )
        if self.drawn.any():
            variance, df = np.vectorize(of_population)(variance, df, polyval(gap, self.drawn), self.labels)
        return self._allowed(gap, variance + self.others, half / 2.0 + gap * square, square), df

    def _allowed(self, gap: Floats, variance: Floats, covariance: Floats, square: Floats) -> Floats:
        """Return the variance with which gaps are as unlikely as the denominators that are allowed make them.

        The covariance is that of u and e + gap u, of which the variance is given; the square is the variance of u.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.maximum(gap * covariance / variance - self.most, 0.0)
            left = np.maximum(square - covariance**2 / variance, ROUNDING * square)
            farther = np.where(beyond > 0, beyond**2 * variance / (gap**2 * left), 0.0)
        return np.asarray(variance / (1.0 + farther))

    def scaled(self, factor: float) -> Pivot:
        """Return it with variances that are so many times as large."""
        root = np.sqrt(factor)
        return replace(
            self,
            residuals=self.residuals * root,
            shifts=self.shifts * root,
            sampled=self.sampled * factor,
            believed=self.believed * factor,
            drawn=self.drawn * factor,
            others=self.others * factor,
        )


def pivot_of(
    contrast: Contrast,
    estimation: Estimation,
    fit: Fit,
    sample: Sample,
    belief: Belief,
    variance: float,
    drawn: tuple[float, float] = (0.0, np.inf),
) -> Pivot | None:
    """Return what differences are held against; None of what is no difference of two ratios.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    estimation, fit
        How, and the estimate.
    sample : Sample
        The labelled rows, with the weight that each has in the estimate.
    belief : Belief
        Calibrated on all labels.
    variance : float
        Of the estimate, from everything that makes it uncertain, above 0.
    drawn : tuple of float
        For a population as the target: how much of the spread over the pool counts, and the effective number of labels.
    """
    if contrast.functional.ratio is None or len(contrast.weights) != 2:
        return None
    step = max(abs(fit.value), float(np.sqrt(variance)))
    gaps = np.array([0.0, step, -step])
    supposed = [_Supposed(contrast.functional, contrast.weights, gap) for gap in gaps.tolist()]
    fits = [fit, *(estimation.around(one, fit) for one in supposed[1:])]
    believed = [plausible_variance(one, sample, fit.sums, belief) for one in supposed]
    root = np.sqrt(sample.expansion.spread)
    uncertain = root > 0
    residuals, up, down = ((root * one.residuals)[uncertain] for one in fits)
    to_powers = np.linalg.inv(np.vander(gaps, increasing=True))
    found = Pivot(
        fit.value,
        residuals,
        (up - down) / (2.0 * step),
        sampled=to_powers @ [one.variance for one in fits],
        believed=to_powers @ believed,
        drawn=to_powers @ [drawn[0] * one.spread for one in fits],
        labels=drawn[1],
    )
    others = max(variance - float(found.at(fit.value)[0]), 0.0)
    return replace(found, others=others, most=_most_overestimated(contrast, estimation, fit))


def _most_overestimated(contrast: Contrast, estimation: Estimation, fit: Fit) -> float:
    """Return by which share the denominators can at most be less than they are estimated, on average."""
    basis, ratio, whole = contrast.functional.basis, contrast.functional.ratio, estimation.whole
    assert ratio is not None
    below, shares = ratio[1], []
    for model in contrast.models:
        labelled = basis.totals(whole.items, model, whole.labels, whole.items.weights)
        predicted = estimation.parts[0].known.expected[basis.name, model].sum(axis=1)
        rest = np.maximum(predicted - labelled.sum(axis=1), 0.0)
        least = float(np.sum(below * labelled) + np.sum(below.min(axis=1) * rest))
        shares.append(1.0 - least / float(np.sum(below * fit.sums[model])))
    return max(float(np.mean(shares)), 0.0)


@dataclass(frozen=True, eq=False)
class _Supposed(Contrast):
    """A difference of ratios that is less by a gap: its influence is how far a label moves it off that."""

    gap: float = 0.0

    def influence(self, sums: Sums) -> Influence:
        found = super().influence(sums)
        assert self.functional.ratio is not None
        below, means = self.functional.ratio[1], self._means(sums)
        terms = tuple(
            (model, coefficients + 0.5 * self.gap / float(np.sum(below * means[model])) * below)
            for model, coefficients in found.terms
        )
        return Influence(found.basis, terms, found.constant + self.gap)
