r"""One estimate from several stages, each drawn from what the earlier ones had not asked for.

Given the past, every stage is a sample of its own with known probabilities: what was labelled before counts as it
is, the rest is estimated from the stage's draw. The stages' estimates of the pool means are averaged with weights

.. math:: a_k \propto n_k / e_k,

where :math:`e_k` is the variance of one label of stage k (`weighing`). It follows from the variance :math:`V_k` that
the belief, calibrated on all labels, expects of the stage, which was assisted by the belief before it. Each stage is
unbiased given the past; weights pooled over stages would not be, since later designs follow from earlier labels. Where
a single contrast rests on how sure the model is (`Contrast.rests_on_model`), :math:`V_k` says little, and :math:`a_k
\propto n_k`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sondage.core.assisted import Assisted
from sondage.core.beliefs import Belief
from sondage.core.biases import corrected_value
from sondage.core.centres import normalising
from sondage.core.comparisons import Contrast, Sums
from sondage.core.contenders import Focus, best_first
from sondage.core.estimators import Estimator, Fit, linearise, spread
from sondage.core.predictions import Floats
from sondage.core.residuals import bessel_factor, degrees, pool_roots, variance
from sondage.core.samples import Expansion, LabelledStage, Sample
from sondage.core.smoothing import occurring, smoothed
from sondage.core.weighing import levelled, may_contradict, stage_variance, tempered, uncontradicted

__all__ = ["Estimation", "Joint"]


@dataclass(frozen=True, eq=False)
class Joint:
    """Fits of several models by the same labels, which have the same values.

    Attributes
    ----------
    apart : list of Fit
        With the same coefficient and shares, which serve differences: what the models have in common cancels.
    own : list of Fit
        With the shares that serve the best one's value, and the residuals of each model's own.
    best : int
        Place of the best model.
    """

    apart: list[Fit]
    own: list[Fit]
    best: int


@dataclass(frozen=True, eq=False)
class Estimation:
    """How labelled samples become estimates of any contrast.

    Attributes
    ----------
    whole : Sample
        All labelled rows, stage by stage; each stage's expansion is its own.
    stages : tuple of LabelledStage
        The stages.
    estimator : callable
        Applied to each stage.
    belief : Belief, optional
        What the labels are expected to be after all of them; weighs the stages.
    """

    whole: Sample
    stages: tuple[LabelledStage, ...]
    estimator: Estimator
    belief: Belief | None = None

    def fit(self, contrast: Contrast, shares: Floats | None = None) -> Fit:
        """Return the estimate of a contrast with what its uncertainty follows from.

        Parameters
        ----------
        contrast : Contrast
            What is estimated.
        shares : ndarray of float, shape (K,), optional
            Weights of the stages, summing to 1; by default as believed variances have it.
        """
        fits = self._stage_fits(contrast)
        if len(fits) == 1:
            return fits[0]
        after = self._after(contrast)
        shares = self._shares([contrast], [fits], after) if shares is None else shares
        return self._joined(contrast, fits, shares, after)

    def joint(self, contrasts: Sequence[Contrast], focus: Callable[[Sequence[Fit]], Focus] | None = None) -> Joint:
        """Return fits of several models, of their differences and of each one's own value.

        The difference of two is that of a comparison, whose residuals have no centre; the best value is normalised
        (docs/statistics.md, section 6).

        Parameters
        ----------
        contrasts : sequence of Contrast
            Of one model each, two or more.
        focus : callable, optional
            Tells from fits that serve all models alike which differences are to be estimated best; stages are then
            weighed anew.
        """
        of_stages = self._joint_fits(contrasts)
        if len(self.stages) == 1:
            return self._levelled(contrasts, of_stages, [fit for (fit,) in of_stages])

        def weighed(focus: Focus | None) -> list[Fit]:
            shares, pairs = self._shares(contrasts, of_stages, None, focus), zip(contrasts, of_stages, strict=True)
            return [self._joined(one, fits, shares, None) for one, fits in pairs]

        fits = weighed(None)
        return self._levelled(contrasts, of_stages, fits if focus is None else weighed(focus(fits)))

    def _stage_fits(self, contrast: Contrast) -> list[Fit]:
        return [self.estimator(contrast, stage.sample, stage.known) for stage in self.stages]

    def _joint_fits(self, contrasts: Sequence[Contrast]) -> list[list[Fit]]:
        """Return each contrast's fits by stage, of which only differences must be possible."""
        estimator = self.estimator
        if not isinstance(estimator, Assisted):
            return [self._stage_fits(contrast) for contrast in contrasts]
        beyond, given = _span(contrasts), []
        for stage in self.stages:
            coefficient = estimator.coefficient(contrasts, stage.sample, stage.known, None)
            given.append((stage.sample, stage.known, coefficient, None, beyond))
        return [[estimator.by(contrast, *of_stage) for of_stage in given] for contrast in contrasts]

    def _levelled(self, contrasts: Sequence[Contrast], of_stages: Sequence[Sequence[Fit]], fits: list[Fit]) -> Joint:
        """Return fits with the same added to all, so that the best model's value is normalised, and possible.

        Items on which the models agree are hardly drawn: differences are better off without them, values are not. So
        what the models have in common weighs the stages by itself, as serves the best one's value.
        """
        estimator, values = self.estimator, np.array([fit.value for fit in fits])
        place = int(best_first(values, bool(contrasts[0].functional.higher_is_better))[0])
        contrast, best = contrasts[place], fits[place]
        if not isinstance(estimator, Assisted) or not np.isfinite(best.value):
            return Joint(fits, fits, place)
        coefficients = [fit.coefficient for fit in best.stages or (best,)]
        normalised = [
            estimator.by(contrast, stage.sample, stage.known, coefficient, normalising(stage.sample, stage.known))
            for stage, coefficient in zip(self.stages, coefficients, strict=True)
        ]
        if best.shares is None:
            (common,), own, scale = normalised, fits, np.ones(1)
        else:
            shares = self._shares([contrast], [normalised], None)
            common = self._joined(contrast, normalised, shares, None)
            own = [self._joined(one, each, shares, None) for one, each in zip(contrasts, of_stages, strict=True)]
            scale = np.divide(best.shares, shares, out=np.zeros(len(shares)), where=shares > 0)
        if not np.isfinite(common.value):  # normalised, a class may have no share
            common, own, scale = best, fits, np.ones(len(self.stages))
        scale = np.repeat(scale, [stage.sample.size for stage in self.stages])
        level, (low, high) = common.value - best.value, contrast.bounds

        def levelled(one: Contrast, apart: Fit, own: Fit) -> tuple[Fit, Fit]:
            value = float(np.clip(apart.value + level, low, high))
            residuals = common.residuals + scale * (apart.residuals - best.residuals)
            variance, df = self.variance(own, residuals), degrees(one, self.merged(own.shares), residuals)
            own = replace(own, value=value, residuals=residuals, variance=variance, df=df)
            return replace(apart, value=value), own

        pairs = [levelled(*fitted) for fitted in zip(contrasts, fits, own, strict=True)]
        return Joint([apart for apart, _ in pairs], [own for _, own in pairs], place)

    def _joined(self, contrast: Contrast, fits: Sequence[Fit], shares: Floats, after: Belief | None) -> Fit:
        sums = {
            model: np.sum([a * fit.sums[model] for a, fit in zip(shares, fits, strict=True)], axis=0)
            for model in contrast.models
        }
        return self._linearised(contrast, self._smoothed(contrast, sums, after), shares, fits)

    def _after(self, contrast: Contrast) -> Belief | None:
        """Return the belief after all labels where they serve one model's value, not its difference from others."""
        return None if contrast.compares else self.belief

    def _smoothed(self, contrast: Contrast, sums: Sums, after: Belief | None) -> dict[int, Floats]:
        last = self.stages[-1]
        found = smoothed(contrast, sums, self.whole, last.sample, last.known, after)
        return occurring(contrast, found, self.whole, self.stages)

    def around(self, contrast: Contrast, fit: Fit) -> Fit:
        """Return another contrast of the same basis at the pool means, shares, coefficients and centres of a fit."""
        if fit.shares is None:
            return _at(contrast, self.stages[0], fit, fit.sums)
        return self._linearised(contrast, fit.sums, fit.shares, fit.stages)

    def _linearised(self, contrast: Contrast, sums: dict[int, Floats], shares: Floats, of_stages: Sequence[Fit]) -> Fit:
        """Evaluate the contrast at these pool means and linearise every stage around them."""

        def at_sums(one: Contrast) -> list[Fit]:
            return [_at(one, stage, fit, sums) for stage, fit in zip(self.stages, of_stages, strict=True)]

        def joined_variance(fits: Sequence[Fit]) -> float:
            return float(sum(a**2 * fit.variance for a, fit in zip(shares.tolist(), fits, strict=True)))

        fits = at_sums(contrast)
        influence, residuals = (np.concatenate([getattr(fit, of) for fit in fits]) for of in ("influence", "residuals"))
        sample = self.merged(shares)
        value, bias = corrected_value(contrast, sums, lambda part: joined_variance(at_sums(part)))
        return Fit(
            value=value,
            residuals=residuals,
            variance=joined_variance(fits),
            df=degrees(contrast, sample, residuals),
            spread=_spread(influence, sample),
            coefficient=float(shares @ [fit.coefficient for fit in fits]),
            influence=influence,
            sums=sums,
            bias=bias,
            bessel=any(fit.bessel for fit in fits),
            shares=shares,
            stages=tuple(fits),
        )

    def _shares(
        self,
        contrasts: Sequence[Contrast],
        fits: Sequence[Sequence[Fit]],
        after: Belief | None,
        focus: Focus | None = None,
    ) -> Floats:
        """Return the stages' weights; a stage that left nothing unlabelled takes all."""
        complete = np.array([not (stage.unfinished or stage.sample.expansion.spread.any()) for stage in self.stages])
        if complete.any():
            return np.asarray(complete / complete.sum())
        sizes = np.array([stage.n_labels for stage in self.stages])
        if self.belief is None or (len(contrasts) == 1 and contrasts[0].rests_on_model(self.belief)):
            return np.asarray(sizes / sizes.sum())
        sums: dict[int, Floats] = {}
        for contrast, of_stages in zip(contrasts, fits, strict=True):
            means = {m: np.average([fit.sums[m] for fit in of_stages], axis=0, weights=sizes) for m in contrast.models}
            sums |= self._smoothed(contrast, means, after)
        own = [(1.0, contrast) for contrast in contrasts]
        expected = self._expected(own if focus is None else focus.differences(contrasts), fits[0], sums)
        if not expected.any():  # differences that follow from the predictions alone, as those of a bias do
            expected = self._expected(own, fits[0], sums)
        if len(fits) == 1 and may_contradict(contrasts[0], self.belief):  # else weights serve models' differences
            expected = uncontradicted(np.array([contrasts[0].value(fit.sums) for fit in fits[0]]), expected)
        errors = levelled(sizes * expected, sizes, np.array([stage.equal for stage in self.stages]))
        weights = sizes / tempered(errors, sizes) if expected.any() else sizes
        return np.asarray(weights / weights.sum())

    def _expected(
        self, served: Sequence[tuple[float, Contrast]], fits: Sequence[Fit], sums: dict[int, Floats]
    ) -> Floats:
        """Return the variance that the belief expects of each stage, of several contrasts their weighted sum."""
        expected = np.zeros(len(self.stages))
        if self.belief is not None:
            for weight, contrast in served:
                stages = zip(self.stages, fits, strict=True)
                expected += [weight * stage_variance(contrast, *stage, sums, self.belief) for stage in stages]
        return expected

    def variance(self, fit: Fit, residuals: Floats) -> float:
        """Return the variance that residuals have, shape (U,), of a contrast with the shares and centres of a fit."""
        if fit.shares is None:
            return variance(self.whole, residuals, bessel=fit.bessel)
        return float(np.sum(self.roots(fit) ** 2 * residuals**2))

    def roots(self, fit: Fit) -> Floats:
        r"""Return by what residuals are multiplied so that the variance is the sum of their squares, shape (U,).

        The root of :math:`a_k^2 \frac{n_k}{n_k - 1} k_u`, each stage with its own number of labels; of a sample by
        strata without their means.
        """
        spread = self.merged(fit.shares).expansion.spread
        factors = [
            bessel_factor(stage.sample) if one.bessel else 1.0
            for stage, one in zip(self.stages, fit.stages or (fit,), strict=True)
        ]
        return np.asarray(spread * np.repeat(factors, [stage.sample.size for stage in self.stages])) ** 0.5

    def spread(self, influence: Floats, shares: Floats | None) -> float:
        """Return the variance of an influence of the labelled rows over the pool, for stages of these shares."""
        if shares is None:
            return spread(influence, self.stages[0].sample, self.stages[0].known)
        return _spread(influence, self.merged(shares))

    def merged(self, shares: Floats | None) -> Sample:
        r"""Return all labelled rows as one sample: its spread is :math:`a_k^2` times that of each stage.

        A unit's weight is :math:`a_k w_u`, these made to sum to the pool, and, labelled as it is in all later stages,
        the sum of their :math:`a`. Of what no stage drew, stage k tells by :math:`w_u - 1` of its own units and -1 of
        those drawn later.
        """
        return self.whole if shares is None else _merged(self, tuple(shares.tolist()))

    @property
    def inclusion(self) -> Floats:
        """With what probability each labelled unit was drawn in its stage, stage by stage."""
        return np.concatenate([stage.sample.expansion.inclusion for stage in self.stages])

    def resampled(self, counts: NDArray[np.int64]) -> Estimation:
        """Return the estimation with each unit's expansion weight multiplied, as a bootstrap draw has it."""
        ends = np.cumsum([stage.sample.size for stage in self.stages])
        pieces = np.split(np.asarray(counts), ends[:-1])
        stages = tuple(
            replace(stage, sample=_reweighted(stage.sample, piece))
            for stage, piece in zip(self.stages, pieces, strict=True)
        )
        return replace(self, whole=_reweighted(self.whole, counts), stages=stages)


def _span(contrasts: Sequence[Contrast]) -> float:
    """Return how far models' values may be apart; 0 where there is no limit."""
    low, high = contrasts[0].bounds
    return high - low if np.isfinite(high - low) else 0.0


def _at(contrast: Contrast, stage: LabelledStage, fit: Fit, sums: dict[int, Floats]) -> Fit:
    """Return a contrast at pool means, its residuals and variance as those of a stage's fit."""
    return linearise(
        contrast, stage.sample, stage.known, sums, centre=fit.centre, coefficient=fit.coefficient, bessel=fit.bessel
    )


@lru_cache(maxsize=2)
def _merged(estimation: Estimation, shares: tuple[float, ...]) -> Sample:
    """Return the merged sample; the last ones are kept, since all models of a selection ask for the same."""
    later = np.concatenate([np.cumsum(shares[::-1])[::-1][1:], [0.0]])
    weights, spread = [], []
    for stage, a, rest in zip(estimation.stages, shares, later, strict=True):
        expansion, total = stage.sample.expansion, float(np.sum(stage.sample.row_weights))
        scale = stage.known.share / total if total > 0 else 0.0
        weights.append(a * scale * expansion.weights + rest)
        spread.append(a**2 * expansion.spread)
    expansion = Expansion(np.concatenate(weights), np.concatenate(spread), left=_left(estimation.stages))
    return replace(estimation.whole, expansion=expansion)


def _left(stages: Sequence[LabelledStage]) -> Floats:
    """Return the weights by which each stage tells of the units that none of them drew, shape (K, n)."""
    places = np.arange(len(stages))
    own = np.repeat(places, [stage.sample.size for stage in stages])
    left = np.where(own >= places[:, None], -1.0, 0.0)
    left[own, np.arange(len(own))] += np.concatenate([stage.sample.expansion.weights for stage in stages])
    return left


def _spread(influence: Floats, sample: Sample) -> float:
    """Return the variance of an influence over the pool, where the weights say how much of it could be drawn."""
    return float(np.sum(pool_roots(influence[None], sample) ** 2))


def _reweighted(sample: Sample, counts: NDArray[np.int64]) -> Sample:
    return replace(sample, expansion=replace(sample.expansion, weights=sample.expansion.weights * counts))
