"""What a report draws from the labelled sample behind an estimate: uniform labels, weights, contributors, parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sondage.core.diagnostics import contributions, uniform_labels, unit_count
from sondage.core.domains import domain_estimate, is_known_of_parts
from sondage.core.evidence import Evidence
from sondage.core.predictions import Floats
from sondage.core.results import Estimate
from sondage.reports.contents import Breakdown, Contributor, Figure, Uniform, Weights
from sondage.reports.text import named_measure, rounded, unit_of
from sondage.reports.wording import label_words, percent, uniform_sentence, weights_sentence
from sondage.studies.labels import decode_label
from sondage.studies.session import Session

__all__ = ["breakdowns", "figure_of", "find_contributors", "subject_of", "uniform_of", "weights_of"]

MOST_CONTRIBUTORS = 10
ALIKE = 2.0
"""Labels none of which moves the result by more than this many times their mean are not told one by one."""
MOST_PARTS, MOST_VALUES, LEAST_IN_PART = 5, 12, 10
"""Fields by which the result is told, values of each, and labels with a value."""

Row = dict[str, Any]


def subject_of(estimate: Estimate) -> str:
    """Return what an estimate is of."""
    measure = named_measure(estimate.measure)
    if len(estimate.models) == 1:
        return f"the {measure} of {estimate.models[0]!r}"
    first, second = map(repr, estimate.models)
    return f"the difference in {measure} between {first} and {second}"


def figure_of(name: str, estimate: Estimate, level: float, note: str = "") -> Figure:
    """Return an estimate as a figure of this name."""
    numbers = (estimate.value, estimate.std_error, estimate.interval(level), estimate.n_labels)
    return Figure(name, estimate.measure, *numbers, unit_of(estimate), note)


def uniform_of(leading: Estimate) -> Uniform | None:
    """Return what a uniform sample would have needed; None if this is one, or it cannot be told."""
    evidence, weights = leading.evidence, weights_of(leading)
    if evidence is None or weights is None:
        return None
    if evidence.before.all_drawable and not weights.uneven:
        return None
    labels, total = uniform_labels(leading), unit_count(evidence.sample)
    if not math.isfinite(labels):
        return None
    sentence = uniform_sentence(labels, leading.n_labels, total, subject_of(leading))
    return Uniform(subject_of(leading), labels, float(leading.n_labels), total, sentence)


def weights_of(leading: Estimate) -> Weights | None:
    """Return how evenly an estimate rests on its labels."""
    if leading.evidence is None:
        return None
    shares = _shares(leading.evidence)
    sentence = weights_sentence(len(shares), leading.n_effective, leading.largest_weight)
    return Weights(shares, leading.n_effective, leading.largest_weight, sentence)


def _shares(evidence: Evidence) -> Floats:
    """Return each labelled unit's share in the estimate."""
    weights = evidence.sample.unit_expanded
    return np.asarray(weights / weights.sum())


def find_contributors(session: Session, leading: Estimate, fields: Mapping[Any, Row]) -> tuple[Contributor, ...]:
    """Return the labels that moved an estimate most; none where all moved it about alike."""
    evidence, positions = leading.evidence, session.labelled  # in the order of the estimate's units
    if evidence is None or not math.isfinite(leading.value) or len(positions) != evidence.sample.size:
        return ()
    moved, shares = contributions(evidence), _shares(evidence)
    if np.abs(moved).max() <= ALIKE * np.abs(moved).mean():
        return ()
    largest = np.argsort(-np.abs(moved), kind="stable")[:MOST_CONTRIBUTORS]
    told = _expectations(session, leading)
    found = []
    for unit in largest.tolist():
        name, label = session.ids[positions[unit]], session.answers[positions[unit]]
        said = decode_label(label, session.task)
        number = session.task.kind == "regression"
        text = rounded(said, 6) if number else label_words(said, session.models, leading.models)
        found.append(Contributor(name, text, told(unit), float(moved[unit]), float(shares[unit]), fields.get(name, {})))
    return tuple(found)


def _expectations(session: Session, leading: Estimate) -> Callable[[int], str]:
    """Return a function from a unit to what was believed of it before any label."""
    evidence = leading.evidence
    assert evidence is not None
    belief, sample = evidence.before.belief, evidence.sample
    if belief is None or session.task.kind == "ranking":
        return lambda unit: ""
    items, labels = sample.items.take(sample.first_rows), sample.unit_labels
    models = evidence.contrast.models
    if session.task.kind == "regression":
        mean = np.zeros(len(items))
        for label, weight in belief.supposed(items, models):
            mean = mean + weight * label
        return lambda unit: rounded(mean[unit], 4)
    chance = np.zeros(len(items))
    for label, weight in belief.supposed(items, models):
        same = labels == label if session.task.kind == "classification" else _same_outcomes(labels, label, models)
        chance = chance + weight * same
    return lambda unit: percent(chance[unit], 0)


def _same_outcomes(labels: Any, label: Any, models: Sequence[int]) -> Any:
    return np.all([labels[:, model] == label[model] for model in models], axis=0)


def breakdowns(session: Session, leading: Estimate, fields: Mapping[Any, Row], level: float) -> tuple[Breakdown, ...]:
    """Return the result by those fields that have few values."""
    positions = session.labelled
    if leading.evidence is None or not fields or len(positions) != leading.evidence.sample.size:
        return ()
    shown = [fields[session.ids[position]] for position in positions]
    found: list[Breakdown] = []
    for name in shown[0]:
        values = np.array(["" if row[name] is None else str(row[name]) for row in shown])
        kinds, counts = np.unique(values, return_counts=True)
        if len(found) < MOST_PARTS and 1 < len(kinds) <= MOST_VALUES and np.sum(counts >= LEAST_IN_PART) > 1:
            one = _breakdown(leading, name, values, _in_order(kinds.tolist()), level=level)
            found += [one] if one is not None else []
    return tuple(found)


def _in_order(kinds: list[str]) -> list[str]:
    """Return a field's values in their own order, as months have one; numbers by size."""
    try:
        return sorted(kinds, key=float)
    except ValueError:
        return sorted(kinds)


def _breakdown(leading: Estimate, name: str, values: Any, kinds: Sequence[str], *, level: float) -> Breakdown | None:
    """Return the result by one field; None where it is not known of a part."""
    evidence = leading.evidence
    assert evidence is not None
    drawable, note = not is_known_of_parts(evidence), ""
    if drawable:
        if not evidence.contrast.functional.linear:
            return None
        note = "Of the items whose label can change the result, that is where the models differ."
    figures = [
        figure_of(kind or "(empty)", domain_estimate(leading, values == kind, drawable=drawable), level)
        for kind in kinds
        if np.sum(values == kind) >= LEAST_IN_PART
    ]
    few = len(kinds) - len(figures)
    if few:
        note = f"{note} {few} more with fewer than {LEAST_IN_PART} labels are left out.".strip()
    return Breakdown(name, tuple(figures), note)
