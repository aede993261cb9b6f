r"""Beliefs that learn from labels what side information is worth: judges, other models, features.

Before any label they believe what they start from. `calibrated` then does three things, each of which costs little
where it finds nothing: it mixes the possible starts (the judges, one of them, the models) in proportion to how well
each, calibrated, predicts the labels; it calibrates the mixture; and it corrects that by a penalised regression on
sources and features (`sondage.core.learning`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from sondage.core.beliefs.classes import PLAUSIBLE, PLAUSIBLE_OF_SURE, ClassBelief, Reference
from sondage.core.beliefs.columns import SURE, doubted, log_odds
from sondage.core.beliefs.gaussian import GaussianBelief
from sondage.core.beliefs.lapses import Lapsing
from sondage.core.beliefs.outcomes import OutcomeBelief
from sondage.core.beliefs.protocol import Belief, Distribution
from sondage.core.calibration import LAPSES_OF_SURE, calibrate_events, variance_power
from sondage.core.learning import NONE, Correction, learn_events, learn_numbers, short
from sondage.core.predictions import Classes, Floats, Grades, Items, Means, class_probabilities

__all__ = [
    "LARGEST_ODDS",
    "LEAST_HEIGHT",
    "MOST_HEIGHT",
    "LearnedClassBelief",
    "LearnedGaussianBelief",
    "LearnedOutcomeBelief",
    "Start",
    "rests_on",
]

FIRST_PRIOR = 0.5
"""Prior of the first start where none is told; the others share the rest."""
FOLDS = 4
"""Parts of the labels; what others know is told to each by the labels of the other parts."""
LARGEST_ODDS = 8.0
"""Log odds of sources are taken up to this size."""
LEAST_SQUARE = 1e-12
"""Of the labels' variance: smaller residuals are last bits."""
FEWEST = 10
"""Labels that tell the variance of models that tell none, at least."""
LEAST_HEIGHT, MOST_HEIGHT = 0.2, 1e3
"""Of a predicted number above the lowest, in units of the mean: what is added, and the most."""

Start = tuple[tuple[tuple[int, float], ...], float, tuple[float, ...]]
"""A mixture to start from: models with their shares, the judges' share, the judges' shares among themselves."""


@dataclass(frozen=True)
class LearnedClassBelief(ClassBelief):
    r"""Class probabilities from judges and models, corrected by what labels tell of them and of features.

    .. math:: \mathrm{logit} \, P = a + b \, \mathrm{logit} \, p + \sum_j c_j \, \mathrm{logit} \, p_j + x^\top \beta

    for the second of two classes or the most probable of several, where p pools the models and judges.

    Parameters
    ----------
    starts : tuple of Start
        Mixtures among which labels choose; the first is believed before any label.
    priors : tuple of float
        How probable each is, adding up to 1; empty for a half for the first and equal parts for the others.
    source_judges, source_models : tuple of int
        Judges and models whose probabilities enter the correction each by itself.
    correction : Correction
        What was learned.

    Examples
    --------
    >>> p = np.linspace(0.1, 0.9, 100)
    >>> items = Items((Classes((p > 0.5).astype(int), p),), np.ones(100), features=np.cos(np.arange(100.0))[:, None])
    >>> start = LearnedClassBelief(2, models=((0, 1.0),))
    >>> learned = start.calibrated(items, (items.features[:, 0] > 0).astype(int))
    >>> bool(learned.correction.features[0] > 1)
    True
    """

    starts: tuple[Start, ...] = ()
    priors: tuple[float, ...] = ()
    source_judges: tuple[int, ...] = ()
    source_models: tuple[int, ...] = ()
    correction: Correction = NONE

    @property
    def as_given(self) -> bool:
        """Whether probabilities are left as they are."""
        return super().as_given and self.correction == NONE

    @property
    def sided(self) -> bool:
        """Whether each of two classes has a slope of its own: not where others tell what one model gets wrong."""
        return super().sided and not self.source_models and not self.source_judges

    @property
    def by_class(self) -> bool:
        """Whether all of several classes are calibrated: no, since it would explain what others and features tell."""
        return False

    def _moved(self, items: Items, reference: Reference) -> Floats:
        return super()._moved(items, reference) + self._corrected(items, reference)

    def _corrected(self, items: Items, reference: Reference) -> Floats:
        """Return the correction of every item, shape (n,): the same in all calibrations that are possible."""
        key = (Correction, self.correction, self._mixture, self.source_judges, self.source_models)
        return items.once(key, lambda: self.correction.at(self._sources(items, reference), items.features))

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these class codes, shape (n,), whatever it was fitted to before."""
        fitted = ClassBelief.calibrated(self._pooled(items, labels), items, labels)
        reference = fitted.reference(items)
        sources = self._sources(items, reference)
        offset = ClassBelief._moved(fitted, items, reference)
        learned = learn_events(offset, labels == reference.classes, _stacked(sources, len(items)), items.features)
        return replace(fitted, correction=learned)

    def plausible_of_sure(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return the same as of any belief, in part without the correction: in so far as labels may need none."""
        plain = 0 if self.votes else round(PLAUSIBLE_OF_SURE * self.correction.unneeded)
        if not 0 < plain < PLAUSIBLE_OF_SURE:
            return super().plausible_of_sure(items, labels, weights)
        one, told = replace(self, bend=0.0), (*self._odds_and_events(items, labels), weights)
        corrected = one._left_possible(*told, PLAUSIBLE_OF_SURE - plain, LAPSES_OF_SURE)
        uncorrected = replace(one, correction=NONE)._left_possible(*told, plain, LAPSES_OF_SURE)
        return sorted(corrected + uncorrected, key=lambda one: one.share if isinstance(one, Lapsing) else 0.0)

    def plausible_corrected(self, items: Items, labels: NDArray[Any], weights: Floats) -> Sequence[Distribution]:
        """Return what labels leave possible if the correction holds; nothing where none was learned.

        An item's label is held against the correction that the labels of other items ask for, fold by fold.
        """
        if self.votes or self.correction == NONE:
            return ()
        odds, events = self._odds_and_events(items, labels)
        offsets = self._told_by_others(items, labels)
        return self._bent_by(odds, events)._left_possible(odds, events, weights, PLAUSIBLE, offsets=offsets)

    def _told_by_others(self, items: Items, labels: NDArray[Any]) -> Floats | None:
        """Return the correction of every item, shape (n,), that the labels of the other folds ask for, if any is."""
        if self.correction == NONE:
            return None
        reference = self.reference(items)
        calibrated, events = ClassBelief._moved(self, items, reference), labels == reference.classes
        sources = _stacked(self._sources(items, reference), len(items))
        return _by_other_folds(learn_events, (calibrated, events), sources, items.features)

    def _sources(self, items: Items, reference: Reference) -> list[Floats]:
        """Return the log odds of the reference class by the mixture and by every source."""
        k = self.n_classes
        columns = [
            doubted(class_probabilities(items.judges[index], reference.classes), self.judge_doubts, index, k)
            for index in self.source_judges
        ]
        columns += [
            doubted(_model_says(items.classes(index), reference.classes, k), self.doubts, index, k)
            for index in self.source_models
        ]
        return [_bounded(odds) for odds in (reference.log_odds, *(log_odds(column) for column in columns))]

    def _pooled(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief with its starts mixed in proportion to how well each predicts the labels."""
        if len(self.starts) < 2 or not len(labels):
            return self
        plain = ClassBelief(self.n_classes, doubts=self.doubts, judge_doubts=self.judge_doubts)
        trials = [replace(plain, models=models, judge=judge, among=among) for models, judge, among in self.starts]
        others = len(trials) - 1
        priors = self.priors or (FIRST_PRIOR, *((1.0 - FIRST_PRIOR) / others,) * others)
        weights = softmax(np.log(priors) + [_log_evidence(trial, items, labels) for trial in trials])
        models: dict[int, float] = {}
        among = np.zeros(len(items.judges))
        for weight, (shares, judge, judges) in zip(weights.round(9).tolist(), self.starts, strict=True):
            for model, share in shares:
                models[model] = models.get(model, 0.0) + weight * share
            among += weight * judge * np.asarray(judges or np.zeros(len(among)))
        total = float(among.sum())
        return replace(
            self,
            models=tuple(sorted((model, share) for model, share in models.items() if share)),
            judge=total,
            among=tuple((among / total).tolist()) if total else (),
        )


def _log_evidence(belief: ClassBelief, items: Items, labels: NDArray[Any]) -> float:
    """Return the log probability of the labels under a belief whose calibration is integrated out."""
    reference = belief.reference(items)
    hit = labels == reference.classes
    evidence = calibrate_events(reference.log_odds, hit).log_evidence
    if belief.n_classes == 2:
        return evidence
    missed = np.flatnonzero(~hit)
    among_others = reference.columns[labels[missed], missed] / reference.others[missed]
    # A little of the uniform: one surprise must not decide.
    return evidence + float(np.sum(np.log(0.99 * among_others + 0.01 / (belief.n_classes - 1))))


def _model_says(output: Classes, classes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return a model's probability of these classes; without probabilities its prediction is taken for sure enough."""
    if output.probabilities is not None:
        return class_probabilities(output.probabilities, classes)
    return np.where(output.predictions == classes, SURE, (1.0 - SURE) / (n_classes - 1))


def _bounded(odds: Floats) -> Floats:
    return np.clip(odds, -LARGEST_ODDS, LARGEST_ODDS)


def _by_other_folds(
    learn: Callable[..., Correction], told: Sequence[NDArray[Any]], sources: Floats, features: NDArray[Any] | None
) -> Floats:
    """Return the correction of every item, shape (n,), that the labels of the other folds ask for."""
    moved, fold_of = np.zeros(len(sources)), np.arange(len(sources)) % FOLDS
    for fold in np.unique(fold_of):
        held, others = fold_of == fold, fold_of != fold
        of_held, of_others = (None if features is None else features[rows] for rows in (held, others))
        learned = learn(*(column[others] for column in told), sources[others], of_others)
        moved[held] = learned.at(list(sources[held].T), of_held)
    return moved


def _stacked(sources: Sequence[Floats], size: int) -> Floats:
    return np.column_stack([np.zeros((size, 0)), *sources])


@dataclass(frozen=True)
class LearnedGaussianBelief(GaussianBelief):
    r"""A mixture of Gaussians that labels turn into one mean, moved by what they tell of each model and of features.

    Before any label nobody knows which of several models is right. Labels tell what share of the way from one to the
    other the truth lies (stacking, Breiman 1996), and a mixture about each would expect their distance as noise.
    Without variances the belief is broad before ten labels, and has one variance for all items after, that of the
    labels about the mixture; or, of one model, one that grows or falls with the predicted number f as labels tell,
    :math:`\propto (.2 + (f - l)_+ / u)^k`.

    Parameters
    ----------
    source_models : tuple of int
        Models whose means enter the correction.
    correction : Correction
        What was learned.
    stacked : bool
        Whether all parts have one mean, the mixture's with the correction: after any label.
    square : float
        Mean squared residual of the labels, in their unit squared: the variance of models that tell none. Where that
        grows, what makes its mean so.
    sure : float
        Variance of items of which a model tells 0: that, where no labelled item had more.
    grows : bool
        Whether variances of one model that tells none are learned to grow.
    power, lowest, unit : float
        k, l and u: the least of the labelled items' predicted numbers, and their mean less it.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 60)[:, None]
    >>> items = Items((Means(np.zeros(60), np.full(60, 4.0)),), np.ones(60), features=x)
    >>> learned = LearnedGaussianBelief(((0, 1.0),)).calibrated(items, 2.0 * x[:, 0])
    >>> round(learned.correction.features[0], 1)
    2.0
    """

    source_models: tuple[int, ...] = ()
    correction: Correction = NONE
    stacked: bool = False
    square: float = 1.0
    sure: float = 0.0
    grows: bool = False
    power: float = 0.0
    lowest: float = 0.0
    unit: float = 1.0

    def parts(self, tells: Callable[[int], bool]) -> tuple[tuple[int, float], ...]:
        """Return the parts of the mixture, model and share: one where labels gave all of them one mean and variance."""
        alike = self.stacked and not any(tells(index) for index, _ in self.models)
        return ((self.models[0][0], 1.0),) if alike else self.models

    def _centre(self, items: Items, index: int) -> Floats:
        mean = self._mixed(items) if self.stacked else super()._centre(items, index)
        return mean + self.correction.at(self._sources(items), items.features)

    def _variances(self, output: Means) -> Floats:
        if output.variances is None:
            grown = self._heights(output.means) ** self.power if self.power else np.ones(len(output.means))
            return self.square * grown
        told = super()._variances(output)
        return np.where(told > 0, told, self.sure) if self.sure else told

    def _heights(self, means: NDArray[Any]) -> Floats:
        """Return how far predicted numbers are above the lowest, in their unit, and a little more: shape (n,)."""
        above = (np.asarray(means, dtype=np.float64) - self.lowest) / self.unit
        return np.clip(above, 0.0, MOST_HEIGHT) + LEAST_HEIGHT

    def _mixed(self, items: Items) -> Floats:
        """Return the mixture's mean before correction."""
        parts = [share * GaussianBelief._centre(self, items, index) for index, share in self.models]
        return np.asarray(sum(parts))

    def _sources(self, items: Items) -> list[Floats]:
        """Return the means of other models less the mixture's."""
        mixed = self._mixed(items)
        return [GaussianBelief._centre(self, items, index) - mixed for index in self.source_models]

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these numbers, shape (n,), all parts with one mean.

        Variances are calibrated on residuals from corrections that other labels have made.
        """
        if len(labels) < (FEWEST if self.broad else 1):
            return self
        residuals = labels - self._mixed(items)
        square = max(float(np.mean(np.square(residuals))), LEAST_SQUARE * float(np.var(labels)))
        plain = replace(self, broad=False, correction=NONE, stacked=True, square=short(square) or 1.0, sure=0.0)
        outputs = [items.means(index).variances for index, _ in plain._parts(items)]
        told = [variances for variances in outputs if variances is not None]
        if told and not np.any(told):
            plain = replace(plain, sure=plain.square)
        if self.grows:
            plain = plain._growing(items.means(self.models[0][0]).means, np.square(residuals))
        first = plain._fitted(items, [residuals**2 for _ in plain._parts(items)])
        variances = first._mean_variance(items)
        variances = np.where(variances > 0, variances, np.mean(np.square(residuals)))  # 0 tells nothing of errors
        sources = _stacked(self._sources(items), len(items))
        moved = _by_other_folds(learn_numbers, (residuals, variances), sources, items.features)
        fitted = plain._fitted(items, [(residuals - moved) ** 2 for _ in plain._parts(items)])
        return replace(fitted, correction=learn_numbers(residuals, variances, sources, items.features))

    def _growing(self, means: NDArray[Any], squares: Floats) -> Self:
        """Return the belief with variances that follow the predicted numbers, shape (n,), as squared residuals do."""
        lowest = float(np.min(means))
        unit = short(float(np.mean(np.asarray(means, dtype=np.float64) - lowest)))
        if not unit:
            return self
        placed = replace(self, lowest=lowest, unit=unit)
        heights = placed._heights(means)
        power = short(variance_power(heights, squares))
        return replace(placed, power=power, square=short(self.square / float(np.mean(heights**power))))

    def _mean_variance(self, items: Items) -> Floats:
        """Return the mixture's mean variance, shape (n,)."""
        parts = self._parts(items)
        deviations = [(share, self._deviation(items.means(index))) for index, share in parts]
        return np.asarray(sum(share * np.square(deviation) for share, deviation in deviations))


@dataclass(frozen=True)
class LearnedOutcomeBelief(OutcomeBelief):
    """Outcomes of the systems, each corrected by what labels tell of features and of the other systems' judges.

    Parameters
    ----------
    others : bool
        Whether the other systems' judges enter the corrections.
    corrections : tuple of Correction
        What was learned of each system with two outcomes.

    Examples
    --------
    >>> features = np.cos(np.arange(80.0))[:, None]
    >>> items = Items((Grades(np.array([0.0, 1.0]), None),), np.ones(80), features=features)
    >>> learned = LearnedOutcomeBelief().calibrated(items, (features > 0).astype(float))
    >>> bool(learned.corrections[0].features[0] > 1)
    True
    """

    others: bool = False
    corrections: tuple[Correction, ...] = ()

    def _probability(self, items: Items, index: int, grade: int) -> Any:
        if not items.outcomes(index).binary or not self.corrections:
            return super()._probability(items, index, grade)
        correction = self.corrections[index].at(self._sources(items, index), items.features)
        second = expit(self._offset(items, index) + correction)
        return second if grade == 1 else 1.0 - second

    def _offset(self, items: Items, index: int) -> Floats:
        """Return the log odds of a system's second outcome before correction."""
        return log_odds(np.broadcast_to(super()._probability(items, index, 1), len(items)))

    def _sources(self, items: Items, index: int) -> list[Floats]:
        """Return the log odds of the other judged systems with two outcomes."""
        outputs = enumerate(cast(tuple[Grades, ...], items.models if self.others else ()))
        return [
            _bounded(log_odds(self._judged(output, other, 1)))
            for other, output in outputs
            if other != index and output.judge is not None and output.binary
        ]

    def calibrated(self, items: Items, labels: NDArray[Any]) -> Self:
        """Return the belief fitted to these outcomes, shape (n, M)."""
        fitted = super().calibrated(items, labels)
        return replace(fitted, corrections=tuple(fitted._learned(items, labels, i) for i in range(len(items.models))))

    def _learned(self, items: Items, labels: NDArray[Any], index: int) -> Correction:
        """Return the correction of one system."""
        output = items.outcomes(index)
        given = np.isfinite(labels[:, index])
        if not output.binary or not given.any():
            return NONE
        rows = items.take(given)
        events = labels[given, index] == output.grades[1]
        sources = _stacked(self._sources(rows, index), len(rows))
        return learn_events(self._offset(rows, index), events, sources, rows.features)


def rests_on(belief: Belief, model: int) -> bool:
    """Return whether a belief follows one model: no judge is asked, and labels did not turn it to others or features.

    They did where another model has half of the mixture, or where they more likely than not ask for a correction.

    Examples
    --------
    >>> own = LearnedClassBelief(2, models=((0, 1.0),))
    >>> rests_on(own, 0), rests_on(replace(own, correction=Correction(unneeded=0.1)), 0)
    (True, False)
    """
    if not isinstance(belief, LearnedClassBelief):
        return True
    return not belief.judge and dict(belief.models).get(model, 0.0) > 0.5 and belief.correction.unneeded > 0.5
