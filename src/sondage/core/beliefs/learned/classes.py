"""Beliefs in classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from sondage.core.beliefs.classes import PLAUSIBLE, PLAUSIBLE_OF_SURE, ClassBelief, Reference
from sondage.core.beliefs.columns import SURE, doubted, log_odds
from sondage.core.beliefs.lapses import Lapsing
from sondage.core.beliefs.learned.sources import bounded, by_other_folds, stacked
from sondage.core.beliefs.protocol import Belief, Distribution
from sondage.core.calibration import LAPSES_OF_SURE, calibrate_events
from sondage.core.learning import NONE, Correction, learn_events
from sondage.core.predictions import Classes, Floats, Items, class_probabilities

__all__ = ["LearnedClassBelief", "Start", "rests_on"]

FIRST_PRIOR = 0.5
"""Prior of the first start where none is told; the others share the rest."""

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
        learned = learn_events(offset, labels == reference.classes, stacked(sources, len(items)), items.features)
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
        sources = stacked(self._sources(items, reference), len(items))
        return by_other_folds(learn_events, (calibrated, events), sources, items.features)

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
        return [bounded(odds) for odds in (reference.log_odds, *(log_odds(column) for column in columns))]

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
    return evidence + float(np.sum(np.log(reference.among_others(labels, missed))))


def _model_says(output: Classes, classes: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return a model's probability of these classes; without probabilities its prediction is taken for sure enough."""
    if output.probabilities is not None:
        return class_probabilities(output.probabilities, classes)
    return np.where(output.predictions == classes, SURE, (1.0 - SURE) / (n_classes - 1))


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
