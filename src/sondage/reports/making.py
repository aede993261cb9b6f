"""Make a report's content from a study, or from a result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import singledispatch
from typing import Any

from sondage.core.diagnostics import unit_count
from sondage.core.evidence import Evidence
from sondage.core.reliability import reliability
from sondage.core.results import Comparison, Estimate
from sondage.core.selections import Selection
from sondage.core.slices import Slices, named_whole
from sondage.errors import InputError
from sondage.reports.contents import Figure, Report, TeamStatus
from sondage.reports.samples import (
    breakdowns,
    figure_of,
    find_contributors,
    subject_of,
    uniform_of,
    weights_of,
)
from sondage.reports.text import all_warnings, answers, basis_lines, leading_estimate, named_measure, pvalue_text
from sondage.reports.wording import (
    believed_sentence,
    chosen_sentences,
    question_sentence,
)
from sondage.studies.anytime import LabelCourse
from sondage.studies.forms import method_to_data, question_to_data
from sondage.studies.session import Session
from sondage.studies.start import begun_with
from sondage.studies.study import Study
from sondage.version import __version__

__all__ = ["make_report"]

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
        # Not the settings of an engine, which may have passwords.
        reading = {name: value for name, value in subject.reading.items() if name in ("classes", "task", "features")}
        facts = {"study": subject.name} | subject.facts | {"reading": reading} | asdict(subject.sharing)
        report = _report(
            session, subject.answer_of(session) if session.n_labels else None, level, fields=fields, facts=facts
        )
        return replace(report, standing=_standing(session, subject))
    leading = leading_estimate(subject)
    if leading is None:
        raise InputError(_no_result(subject))
    course = leading.course
    return _report(course.session if isinstance(course, LabelCourse) else None, subject, level, fields={}, facts={})


def _no_result(subject: Any) -> str:
    """Return why there is no report of something."""
    sliced = [name for name, one in subject.items() if isinstance(one, Slices)] if isinstance(subject, Mapping) else []
    if sliced:
        return f"reports and charts are made of one measure in slices, not of {len(sliced)}: take result[{sliced[0]!r}]"
    return f"reports and charts are made of a study or a result, not of {type(subject).__name__}"


def _question(session: Session | None, leading: Estimate | None) -> str:
    if session is not None:
        return question_sentence(session.question)
    return "What do the labels say?" if leading is None else f"What is the {named_measure(leading.measure)}?"


def _report(
    session: Session | None, result: Any, level: float, *, fields: Mapping[Any, Row], facts: Mapping[str, Any]
) -> Report:
    """Return the report of a result, where there is one, and of a session, where one is at hand."""
    leading, told = leading_estimate(result), Row()
    if leading is not None:
        told |= _of_result(result, leading, level)
    if session is not None:
        told |= _of_session(session, leading)
    if session is not None and leading is not None:
        told |= _of_both(session, leading, fields, level)
    settings = _settings(session, facts)
    return Report(question=_question(session, leading), level=level, result=result, settings=settings, **told)


def _of_result(result: Any, leading: Estimate, level: float) -> Row:
    return {
        "answers": tuple(answers(result, level)),
        "basis": tuple(basis_lines(result)),
        "figures": _figures(result, level),
        "gaps": _gaps(result, level) if isinstance(result, Selection) else (),
        "uniform": None if isinstance(result, Slices) else uniform_of(leading),
        "weights": weights_of(leading),
        "moved": subject_of(leading),
        "warnings": tuple(all_warnings(result)),
    }


def _of_session(session: Session, leading: Estimate | None) -> Row:
    items = _items(session, None if leading is None else leading.evidence)
    chosen = chosen_sentences(session, items, None if leading is None else leading.stopped)
    return {"standing": _standing(session), "chosen": chosen}


def _of_both(session: Session, leading: Estimate, fields: Mapping[Any, Row], level: float) -> Row:
    found = None if leading.evidence is None else reliability(leading.evidence, session.task, level)
    return {
        "reliability": found,
        "believed": "" if found is None else believed_sentence(leading, found),
        "contributors": find_contributors(session, leading, fields),
        "parts": breakdowns(session, leading, fields, level),
    }


def _items(session: Session, evidence: Evidence | None) -> str:
    """Return how many items a session draws from; where only the labels' weights tell, and are unequal, about."""
    first = session.stages[0]
    if first.known.all_drawable and "support" in first.drawn.settings:
        return f"{first.drawn.settings['support']:,} items"
    equal = 1.0 / first.known.squared  # their number if weights are equal, else a lower bound of it
    total = equal if evidence is None else unit_count(evidence.sample)
    return f"{'' if math.isclose(total, round(equal), rel_tol=1e-9) else 'about '}{total:,.0f} items"


@singledispatch
def _figures(result: Any, level: float) -> tuple[Figure, ...]:
    """Return the numbers of a result."""
    return (figure_of(named_measure(result.measure), result, level),)


@_figures.register(Mapping)
def _(result: Mapping[str, Estimate], level: float) -> tuple[Figure, ...]:
    return tuple(figure_of(named_measure(name), estimate, level) for name, estimate in result.items())


@_figures.register
def _(result: Slices, level: float) -> tuple[Figure, ...]:
    rows = (*result.items(), (named_whole("all", result), result.overall))
    return tuple(figure_of(str(name), estimate, level) for name, estimate in rows)


@_figures.register
def _(result: Comparison, level: float) -> tuple[Figure, ...]:
    first, second = result.estimate.models
    note = f"p {pvalue_text(result.pvalue)} ({result.significance.kind})"
    return (figure_of(f"{first} minus {second}", result.estimate, level, note),)


@_figures.register
def _(selection: Selection, level: float) -> tuple[Figure, ...]:
    rivals, figures = selection.contenders(), []
    standing = "may be the best" if len(rivals) > 1 else "the best"
    for name in selection.ranking:
        notes = [] if name == selection.best else [f"p {pvalue_text(selection.pvalues[name])}"]
        notes += [standing] if name in rivals else []
        figures.append(figure_of(name, selection.estimates[name], level, ", ".join(notes)))
    return tuple(figures)


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


def _standing(session: Session, study: Study | None = None) -> TeamStatus:
    if study is None:  # a result in memory: nothing more is asked for, though labelling may have stopped early
        return replace(TeamStatus.of(session), remaining=0)
    people, status = {who or "": done for who, done in study.progress().items()}, study.status
    of_team = {name: getattr(status, name) for name in ("claimed", "wanted", "disputed")}
    return TeamStatus.of(session, **of_team, people=people, sharing=study.sharing)


def _settings(session: Session | None, facts: Mapping[str, Any]) -> Row:
    """Return all that it takes to do it again."""
    if session is None:
        return {"version": __version__}
    question, task = question_to_data(session.question), session.task
    before = begun_with(session.stages)
    return {
        **({"version": __version__} | dict(facts)),
        "question": question | {"measures": [measure.name for measure in session.question.measures]},
        "method": method_to_data(session.method),
        "seed": session.seed,
        **({"start": before} if before else {}),
        "task": asdict(task) | {"classes": list(task.classes), "grades": list(task.grades)},
        "models": list(session.models),
    }
