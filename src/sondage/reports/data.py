"""Results as plain data for JSON: everything a reader or another program needs; missing numbers are null."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sondage.core.results import Comparison, Estimate, Interval, Significance
from sondage.core.selections import Selection
from sondage.studies.forms import method_to_data, question_to_data
from sondage.studies.study import Study

__all__ = ["result_data", "study_data"]

ALL_PAIRS = 10
"""Of more models than this only the pairs with the best are written."""

Data = dict[str, Any]


def result_data(result: Any, level: float = 0.95) -> Data:
    """Return any result as data.

    Parameters
    ----------
    result : Estimate, mapping of str to Estimate, Comparison or Selection
        The result.
    level : float
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    dict
        With ``kind``: ``"estimate"``, ``"estimates"``, ``"comparison"`` or ``"selection"``.
    """
    if isinstance(result, Comparison):
        return _comparison(result, level)
    if isinstance(result, Selection):
        return _selection(result, level)
    if isinstance(result, Estimate):
        return {"kind": "estimate"} | _estimate(result, level)
    return {"kind": "estimates", "estimates": {name: _estimate(one, level) for name, one in result.items()}}


def study_data(study: Study, level: float = 0.95) -> Data:
    """Return a study as data: where it stands, what it asks and how, and the result if there are labels."""
    status = study.status
    counts = {name: getattr(status, name) for name in ("asked", "labelled", "skipped", "pending", "remaining")}
    question = question_to_data(study.question)
    return {
        "study": study.name,
        **study.facts,
        "question": question | {"measures": [measure.name for measure in study.question.measures]},
        "method": _finite(method_to_data(study.method)),
        "seed": study.seed,
        "task": {"kind": study.task.kind, "classes": list(study.task.classes), "grades": list(study.task.grades)},
        "models": list(study.models),
        "budget": status.budget,
        "spent": status.spent,
        **counts,
        "complete": status.complete,
        "result": result_data(study.estimate(), level) if status.labelled else None,
    }


def _estimate(estimate: Estimate, level: float) -> Data:
    names = ("value", "std_error", "n_labels", "target", "exact", "df", "n_effective", "largest_weight", "spent")
    facts = {name: getattr(estimate, name) for name in names}
    skipped = None if estimate.if_skipped is None else [estimate.if_skipped.low, estimate.if_skipped.high]
    data: Data = _finite(
        {"measure": estimate.measure, "models": list(estimate.models)}
        | facts
        | {
            "interval": _interval(estimate.interval(level)),
            "n_pending": estimate.n_pending,
            "n_skipped": estimate.n_skipped,
            "if_skipped": skipped,
            "warnings": list(estimate.warnings),
        }
    )
    return data


def _interval(interval: Interval) -> Data:
    return {"low": interval.low, "high": interval.high, "level": interval.level, "kind": interval.kind}


def _comparison(comparison: Comparison, level: float) -> Data:
    estimate = _estimate(comparison.estimate, level)
    decision = {"better": comparison.better, "alpha": comparison.alpha, "test": _significance(comparison.significance)}
    estimate["difference"] = estimate.pop("value")
    return {"kind": "comparison"} | estimate | {"pvalue": _finite(comparison.pvalue)} | decision


def _significance(significance: Significance | None) -> Data | None:
    if significance is None:
        return None
    names = ("kind", "statistic", "pvalue", "alternative", "df")
    found: Data = _finite({name: getattr(significance, name) for name in names})
    return found


def _selection(selection: Selection, level: float) -> Data:
    every = len(selection.ranking) <= ALL_PAIRS
    pairs = [pair for pair in selection.comparisons if every or pair[0] == selection.best]
    return {
        "kind": "selection",
        "best": selection.best,
        "contenders": list(selection.contenders()),
        "ranking": list(selection.ranking),
        "pvalues": _finite(dict(selection.pvalues)),
        "gaps": {name: _interval(gap) for name, gap in selection.gaps(level).items()},
        "n_labels": selection.n_labels,
        "estimates": {name: _estimate(selection.estimates[name], level) for name in selection.ranking},
        "comparisons": [_comparison(selection.comparisons[pair], level) for pair in pairs],
        "overall": _significance(selection.overall),
        "warnings": list(selection.warnings),
    }


def _finite(value: Any) -> Any:
    """Return data in which numbers that JSON does not know are null."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
