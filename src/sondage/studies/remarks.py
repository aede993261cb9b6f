"""What a reader of an estimate must know, in a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sondage.core.checks import first_of
from sondage.core.comparisons import Contrast
from sondage.core.evidence import Evidence
from sondage.core.predictions import Means
from sondage.core.ratios import untold
from sondage.core.samples import Sample
from sondage.studies.fitting import counts_of, meant_to_count
from sondage.studies.uncertainty import FittedContrast, Uncertainty

__all__ = ["ONLY_SURE", "of_interval", "of_one_label", "of_undefined", "of_untold", "remarks_on"]

MOST_NAMED = 5
"""Classes that a remark names."""
LARGE_SHARE, FEW_ITEMS = 0.2, 5
"""Share of the weight that one item may have without a remark, where there are more than so few."""
MOST_OF_SPREAD, ENOUGH = 0.9, 20
"""Share of the squared residuals that one label may have without a remark, where there are so many at least."""
NO_VARIANCES = "all labels agree and there are no predictive variances: nothing tells how far off the estimate may be"
ONLY_SURE = "only items that were sure to be drawn are labelled, which tells nothing about the others; label more"
COUNTING = ("wilson", "clopper_pearson")
"""Intervals to the letter of their sources: of a share of labels that were drawn with equal probabilities."""
NEARLY = 0.99
"""Effective number of labels, over their number, from which on their weights count as equal."""


def remarks_on(fitted: FittedContrast, uncertain: Uncertainty, *, told: bool) -> Iterator[str]:
    """Yield what a reader must know of an estimate; `told` where predictions alone tell it."""
    found, contrast = fitted.labelled, fitted.contrast
    yield from found.warnings
    if told:
        yield f"no label can change {contrast.functional.name} here: it follows from the predictions alone"
    yield from _of_draw(fitted)
    yield from _of_spread(fitted, uncertain)
    method = fitted.session.method
    if method.assisted and method.draws_by_belief and not method.floor and not found.exact:
        yield "floor=0: hardly a label checks the items of which the predictions are sure; floor=0.2 would"
    if not found.exact:
        yield from of_untold(contrast, found.estimation.whole)
        yield from of_interval(method.interval, contrast, uncertain.effective, fitted.sample.size)
    yield from _of_people(fitted, uncertain.doubt)
    yield from _of_counts(fitted, uncertain.doubt)
    if uncertain.largest > LARGE_SHARE and not found.exact and fitted.sample.size > FEW_ITEMS:
        yield f"one item carries {uncertain.largest:.0%} of the weight: the estimate rests on few labels"
    yield from of_one_label(fitted.evidence, lambda unit: f"item {fitted.session.labelled_ids[unit]!r}")


def _of_draw(fitted: FittedContrast) -> Iterator[str]:
    """Yield what could not be drawn."""
    found = fitted.labelled
    if found.settled is not None and not len(fitted.session.stage.drawn) and not found.exact:
        yield "a label was corrected after the draw had ended, as no other could change the result: raise the budget"
    if not found.covers:
        yield "items whose labels matter have no chance of being drawn: the predictions stand in for their labels"


def _of_spread(fitted: FittedContrast, uncertain: Uncertainty) -> Iterator[str]:
    """Yield why labels tell no value, or not how far off it is."""
    yield from of_undefined(fitted.contrast, fitted.fit.value, more=not fitted.labelled.exact)
    if not uncertain.agreed:
        return
    if np.isfinite(uncertain.expected):
        more = ", or so few labels leave open" if fitted.contrast.compares else ""
        yield f"all labels agree, so their spread tells nothing: the standard error is what predictions suggest{more}"
    elif fitted.sample.expansion.spread.any():
        outputs = [fitted.sample.items.models[model] for model in fitted.contrast.models]
        if all(isinstance(one, Means) and one.variances is None for one in outputs):
            yield NO_VARIANCES
        else:
            yield "all labels agree and the predictions are sure of each: nothing tells how far off the estimate may be"
    else:
        yield ONLY_SURE


def of_undefined(contrast: Contrast, value: float, *, more: bool) -> Iterator[str]:
    """Yield that these labels leave a value undefined, and whether to label more."""
    if not np.isfinite(value):
        advice = "; label more" if more else ""
        yield f"{contrast.functional.name} is undefined on these labels: its denominator is 0{advice}"


def of_untold(contrast: Contrast, sample: Sample) -> Iterator[str]:
    """Yield that a mean over classes knows nothing of some."""
    names = untold(contrast, sample)
    if names:
        many = "classes" if len(names) > 1 else "class"
        unknown = f"{many} {first_of(map(str, names), MOST_NAMED)}"
        yield f"no labelled item tells of {unknown}: their part of {contrast.functional.name} is not known"


def of_one_label(evidence: Evidence, name_of: Callable[[int], str]) -> Iterator[str]:
    """Yield that one label, of a measure without bounds, decides the value, and of which unit (`name_of`) it is."""
    if np.isfinite(evidence.contrast.bounds).all() or evidence.sample.size < ENOUGH:
        return
    squares = (evidence.sample.expansion.weights * evidence.fit.residuals) ** 2
    share = float(np.max(squares) / np.sum(squares)) if np.isfinite(squares).all() and squares.any() else 0.0
    if share > MOST_OF_SPREAD:
        name = name_of(int(np.argmax(squares)))
        yield f"the label of {name} makes up {share:.0%} of the spread: see that it is right"


def of_interval(kind: str, contrast: Contrast, effective: float, count: int) -> Iterator[str]:
    """Yield that an interval takes all labels for equal, where weights or the measure's denominator say otherwise."""
    if kind in COUNTING and not (contrast.functional.linear and effective > NEARLY * count):
        rule = "is for the error rate of labels drawn at random: here its coverage may be too low; use 'auto'"
        yield f"interval {kind!r} {rule}"


def _of_people(fitted: FittedContrast, doubt: float) -> Iterator[str]:
    """Yield what concerns the people who label."""
    session, found = fitted.session, fitted.labelled
    if found.exact and doubt:
        yield "everything that matters is labelled: all that is uncertain is whether other people would label alike"
    if doubt and session.method.interval == "anytime":
        yield "people disagree: the interval is valid at any time, but leaves out how far they differ"
    if session.labellers > 1 and found.opinions is None:
        unknown = "what two labelled is not resolved" if session.opinions else "no item was labelled by two"
        yield f"{session.labellers} people label and {unknown}: the interval leaves out how far they differ"


def _of_counts(fitted: FittedContrast, doubt: float) -> Iterator[str]:
    """Yield why answers that were meant to be counted are not."""
    session, found, contrast = fitted.session, fitted.labelled, fitted.contrast
    if not contrast.compares:
        return
    if doubt and counts_of(session, contrast.models) is not None:
        yield "the exact test and interval take labels as certain, but people disagree: Student's t is used instead"
    elif meant_to_count(session) and (found.n_pending or found.skipped):
        yield "the exact test and interval need a label of every item asked for: until then Student's t is used"
