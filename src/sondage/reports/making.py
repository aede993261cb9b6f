"""Make a report's content from a study, or from a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sondage.core.diagnostics import contributions, uniform_labels, unit_count
from sondage.core.domains import domain_estimate
from sondage.core.reliability import reliability
from sondage.core.results import Comparison, Estimate
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.errors import InputError
from sondage.reports.contents import Contributor, Figure, Part, Report, Standing, Uniform, Weights
from sondage.reports.text import answer, basis_lines, named_measure, pvalue_text
from sondage.reports.wording import (
    believed_sentence,
    chosen_sentences,
    percent,
    question_sentence,
    uniform_sentence,
    weights_sentence,
)
from sondage.studies.anytime import LabelCourse
from sondage.studies.labels import decode_label
from sondage.studies.records import method_to_data, question_to_data
from sondage.studies.session import Session
from sondage.studies.study import Study
from sondage.version import __version__

__all__ = ["make_report"]

MOST_CONTRIBUTORS = 10
ALIKE = 2.0
"""Labels none of which moves the result by more than this many times their mean are not told one by one."""
MOST_PARTS = 5
MOST_VALUES = 12
LEAST_IN_PART = 10

Row = dict[str, Any]


def make_report(subject: Any, level: float = 0.95) -> Report:
    """Report everything there is to say of a study or a result.

    Parameters
    ----------
    subject : Study, Estimate, mapping of str to Estimate, Comparison, Selection or Slices
        What the report is of. A study may be half-way, or have no label yet.
    level : float
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    Report
        With ``str()``, ``to_data()`` and ``to_html()``.

    Raises
    ------
    InputError
        If it is neither a study nor a result.

    Examples
    --------
    >>> import sondage
    >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> found = sondage.report(sondage.evaluate(pool, labels=[0, 1, 0, 0], budget=4))
    >>> found.question
    "What is the error rate of 'model'?"
    """
    if isinstance(subject, Study):
        session = subject.snapshot()
        ids = session.asked_ids
        fields = dict(zip(ids, subject.fields(ids), strict=True))
        facts = {"study": subject.name} | subject.facts
        return _report(session, subject.estimate() if session.n_labels else None, level, fields, facts)
    leading = _leading(subject)
    if leading is None:
        raise InputError(f"a report is made of a study or a result, not of {type(subject).__name__}")
    course = leading.course
    return _report(course.session if isinstance(course, LabelCourse) else None, subject, level, {}, {})


def _leading(result: Any) -> Estimate | None:
    """Return the estimate that a result is about: the first, the difference, the best model's from the second."""
    if isinstance(result, Comparison):
        return result.estimate
    if isinstance(result, Selection):
        return result.comparisons[result.ranking[0], result.ranking[1]].estimate
    if isinstance(result, Slices):
        return result.overall
    if isinstance(result, Mapping) and result:
        result = next(iter(result.values()))
    return result if isinstance(result, Estimate) else None


def _report(
    session: Session | None, result: Any, level: float, fields: Mapping[Any, Row], facts: Mapping[str, Any]
) -> Report:
    leading = _leading(result)
    evidence = None if leading is None else leading.evidence
    found = None
    if session is not None and evidence is not None:
        found = reliability(evidence, session.task, level)
    total = unit_count(evidence.sample) if evidence is not None else _pool_size(session)
    return Report(
        question=f"What is the {named_measure(leading.measure)}?"  # type: ignore[union-attr]
        if session is None
        else question_sentence(session.question),
        answers=_answers(result, level),
        basis=() if leading is None or isinstance(result, Selection) else tuple(basis_lines(leading)),
        level=level,
        result=result,
        figures=_figures(result, level),
        gaps=_gaps(result, level) if isinstance(result, Selection) else (),
        standing=None if session is None else _standing(session),
        chosen=() if session is None else chosen_sentences(session, total),
        uniform=None if leading is None else _uniform(leading, result),
        weights=None if leading is None else _weights(leading),
        reliability=found,
        believed="" if found is None or leading is None else believed_sentence(leading, found),
        contributors=() if session is None or leading is None else _contributors(session, leading, fields),
        moved="" if leading is None else _subject(leading),
        parts=() if session is None or leading is None else _parts(session, leading, fields, level),
        warnings=_warnings(result),
        settings=_settings(session, facts),
    )


def _pool_size(session: Session | None) -> float:
    return float("nan") if session is None else 1.0 / session.stages[0].known.squared


def _answers(result: Any, level: float) -> tuple[str, ...]:
    if result is None:
        return ("No labels yet: there is nothing to estimate from.",)
    if isinstance(result, Slices):
        return (answer(result.overall, level),)
    several = result.values() if isinstance(result, Mapping) else [result]
    return tuple(answer(one, level) for one in several)


def _warnings(result: Any) -> tuple[str, ...]:
    if result is None:
        return ()
    several = result.values() if isinstance(result, Mapping) and not isinstance(result, Slices) else [result]
    return tuple(dict.fromkeys(text for one in several for text in one.warnings))


def _subject(estimate: Estimate) -> str:
    """Return what an estimate is of."""
    measure = named_measure(estimate.measure)
    if len(estimate.models) == 1:
        return f"the {measure} of {estimate.models[0]!r}"
    first, second = map(repr, estimate.models)
    return f"the difference in {measure} between {first} and {second}"


def _figures(result: Any, level: float) -> tuple[Figure, ...]:
    if result is None:
        return ()
    if isinstance(result, Comparison):
        first, second = result.estimate.models
        note = f"p {pvalue_text(result.pvalue)} ({result.significance.kind})"
        return (_figure(f"{first} minus {second}", result.estimate, level, note),)
    if isinstance(result, Selection):
        return _ranked(result, level)
    if isinstance(result, Slices):
        rows = [(str(name), estimate) for name, estimate in (*result.items(), ("all", result.overall))]
    elif isinstance(result, Mapping):
        rows = [(named_measure(name), estimate) for name, estimate in result.items()]
    else:
        rows = [(named_measure(result.measure), result)]
    return tuple(_figure(name, estimate, level) for name, estimate in rows)


def _figure(name: str, estimate: Estimate, level: float, note: str = "") -> Figure:
    unit = " points" if len(estimate.models) > 1 else " %"
    numbers = (estimate.value, estimate.std_error, estimate.interval(level), estimate.n_labels)
    return Figure(name, estimate.measure, *numbers, unit, note)


def _gaps(selection: Selection, level: float) -> tuple[Figure, ...]:
    """Return the other models' differences from the best."""
    best = selection.estimates[selection.best]
    found = []
    for name, interval in selection.gaps(level).items():
        estimate = selection.estimates[name]
        error = selection.comparisons[selection.best, name].std_error
        value = estimate.value - best.value
        found.append(Figure(name, estimate.measure, value, error, interval, estimate.n_labels, " points"))
    return tuple(found)


def _ranked(selection: Selection, level: float) -> tuple[Figure, ...]:
    """Return a figure a model, best first."""
    rivals = selection.contenders()
    notes = {
        name: ("may be the best" if name in rivals else "")
        if name == selection.best
        else f"p {pvalue_text(selection.pvalues[name])}{', may be the best' if name in rivals else ''}"
        for name in selection.ranking
    }
    if len(rivals) == 1:
        notes[selection.best] = "the best"
    return tuple(_figure(name, selection.estimates[name], level, notes[name]) for name in selection.ranking)


def _standing(session: Session) -> Standing:
    skipped = sum(label is None for label in session.answers.values())
    counts = (len(session.asked), session.n_labels, skipped, len(session.pending), session.remaining)
    return Standing(session.budget, session.spent, *counts)


def _uniform(leading: Estimate, result: Any) -> Uniform | None:
    if leading.evidence is None or isinstance(result, Slices):
        return None
    if not _weights(leading).uneven and leading.evidence.estimation.parts[0].known.share > 1 - 1e-9:  # type: ignore[union-attr]
        return None  # it is a uniform sample
    labels, total = uniform_labels(leading), unit_count(leading.evidence.sample)
    if not math.isfinite(labels):
        return None
    sentence = uniform_sentence(labels, leading.n_labels, total, _subject(leading))
    return Uniform(_subject(leading), labels, float(leading.n_labels), total, sentence)


def _weights(leading: Estimate) -> Weights | None:
    if leading.evidence is None:
        return None
    sample = leading.evidence.sample
    shares = sample.unit_sums(np.asarray(sample.row_weights, dtype=np.float64))
    shares = shares / shares.sum()
    sentence = weights_sentence(len(shares), leading.n_effective, leading.largest_weight)
    return Weights(shares, leading.n_effective, leading.largest_weight, sentence)


def _labelled(session: Session) -> list[int]:
    """Return the positions of the labelled items, in the order of the estimate's units."""
    return [position for position in session.asked if session.answers.get(position) is not None]


def _contributors(session: Session, leading: Estimate, fields: Mapping[Any, Row]) -> tuple[Contributor, ...]:
    evidence, positions = leading.evidence, _labelled(session)
    if evidence is None or not math.isfinite(leading.value) or len(positions) != evidence.sample.size:
        return ()
    moved, shares = contributions(evidence), _weights(leading).shares  # type: ignore[union-attr]
    if np.abs(moved).max() <= ALIKE * np.abs(moved).mean():
        return ()
    largest = np.argsort(-np.abs(moved), kind="stable")[:MOST_CONTRIBUTORS]
    told = _expectations(session, leading)
    found = []
    for unit in largest.tolist():
        name, label = session.ids[positions[unit]], session.answers[positions[unit]]
        said = decode_label(label, session.task)
        numbers = said if isinstance(said, tuple) else (said,) if session.task.kind == "regression" else ()
        text = ", ".join(f"{one:.6g}" for one in numbers) or f"{said}"
        found.append(Contributor(name, text, told(unit), float(moved[unit]), float(shares[unit]), fields.get(name, {})))
    return tuple(found)


def _expectations(session: Session, leading: Estimate) -> Callable[[int], str]:
    """Return a function from a unit to what was believed of it before any label."""
    evidence = leading.evidence
    assert evidence is not None
    belief, sample = evidence.estimation.parts[0].known.belief, evidence.sample
    if belief is None:
        return lambda unit: ""
    first = np.arange(len(sample.items)) if sample.units is None else np.unique(sample.units, return_index=True)[1]
    items, labels = sample.items.take(first), sample.labels[first]
    models = evidence.contrast.models
    if session.task.kind == "regression":
        mean = np.zeros(len(items))
        for label, weight in belief.supposed(items, models):
            mean = mean + weight * label
        return lambda unit: f"{mean[unit]:.4g}"
    chance = np.zeros(len(items))
    for label, weight in belief.supposed(items, models):
        same = labels == label if session.task.kind == "classification" else _same_outcomes(labels, label, models)
        chance = chance + weight * same
    return lambda unit: percent(chance[unit], 0)


def _same_outcomes(labels: Any, label: Any, models: Sequence[int]) -> Any:
    return np.all([labels[:, model] == label[model] for model in models], axis=0)


def _parts(session: Session, leading: Estimate, fields: Mapping[Any, Row], level: float) -> tuple[Part, ...]:
    """Return the result by those fields that have few values."""
    positions = _labelled(session)
    if leading.evidence is None or not fields or len(positions) != leading.evidence.sample.size:
        return ()
    shown = [fields[session.ids[position]] for position in positions]
    found: list[Part] = []
    for name in shown[0]:
        values = np.array(["" if row[name] is None else str(row[name]) for row in shown])
        kinds, counts = np.unique(values, return_counts=True)
        if len(found) < MOST_PARTS and 1 < len(kinds) <= MOST_VALUES and np.sum(counts >= LEAST_IN_PART) > 1:
            part = _part(leading, name, values, kinds[np.argsort(-counts, kind="stable")].tolist(), level)
            found += [part] if part is not None else []
    return tuple(found)


def _part(leading: Estimate, name: str, values: Any, kinds: Sequence[str], level: float) -> Part | None:
    evidence = leading.evidence
    assert evidence is not None
    drawable, note = False, ""
    try:
        domain_estimate(leading, values == kinds[0])
    except InputError:
        if not evidence.contrast.functional.linear:
            return None
        drawable, note = True, "Of the items whose label can change the result, that is where the models differ."
    figures = [
        _figure(kind or "(empty)", domain_estimate(leading, values == kind, drawable=drawable), level)
        for kind in kinds
        if np.sum(values == kind) >= LEAST_IN_PART
    ]
    few = len(kinds) - len(figures)
    if few:
        note = f"{note} {few} more with fewer than {LEAST_IN_PART} labels are left out.".strip()
    return Part(name, tuple(figures), note)


def _settings(session: Session | None, facts: Mapping[str, Any]) -> Row:
    """Return all that it takes to do it again."""
    if session is None:
        return {"version": __version__}
    question, task = question_to_data(session.question), session.task
    return {
        **({"version": __version__} | dict(facts)),
        "question": question | {"measures": [measure.name for measure in session.question.measures]},
        "method": method_to_data(session.method),
        "seed": session.seed,
        "task": asdict(task) | {"classes": list(task.classes), "grades": list(task.grades)},
        "models": list(session.models),
    }
