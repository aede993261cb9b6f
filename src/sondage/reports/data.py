"""Results as plain data for JSON: everything a reader or another program needs; missing numbers are null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sondage.core.display import to_data
from sondage.core.results import Comparison, Estimate, Interval, Significance
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.pools.missing import finite
from sondage.reports.contents import Report

__all__ = ["interval_data", "report_data"]

ALL_PAIRS = 10
"""Of more models than this only the pairs with the best are written."""

Data = dict[str, Any]


@to_data.register
def _estimate_data(estimate: Estimate, level: float) -> Data:
    return {"kind": "estimate"} | _estimate(estimate, level)


@to_data.register(Mapping)
def _estimates_data(estimates: Mapping[str, Estimate], level: float) -> Data:
    return {"kind": "estimates", "estimates": {name: _estimate(one, level) for name, one in estimates.items()}}


@to_data.register
def _slices_data(slices: Slices, level: float) -> Data:
    of_each = {str(name): _estimate(one, level) for name, one in slices.items()}
    return {"kind": "slices", "slices": of_each, "overall": _estimate(slices.overall, level)}


def report_data(report: Report) -> Data:
    """Return a report as data: question, counts and settings, the result, and all that it rests on."""
    at, uniform, weights = report.standing, report.uniform, report.weights
    data: Data = {
        **report.settings,
        **({} if at is None else asdict(at) | {"complete": at.complete}),
        "asks": report.question,
        "answers": list(report.answers),
        "result": None if report.result is None else to_data(report.result, report.level),
        "chosen": list(report.chosen),
        "uniform": None if uniform is None else asdict(uniform),
        "weights": None
        if weights is None
        else {"n_effective": weights.n_effective, "largest": weights.largest, "shares": weights.shares.tolist()},
        "gaps": [asdict(one) for one in report.gaps],
        "reliability": None if report.reliability is None else asdict(report.reliability),
        "contributors": [asdict(one) for one in report.contributors],
        "parts": [asdict(part) for part in report.parts],
        "warnings": list(report.warnings),
    }
    found: Data = finite(data)
    return found


def _estimate(estimate: Estimate, level: float) -> Data:
    """Return an estimate as data."""
    names = ("value", "std_error", "n_labels", "target", "exact", "df", "n_effective", "largest_weight", "spent")
    facts = {name: getattr(estimate, name) for name in names}
    skipped = None if estimate.if_skipped is None else [estimate.if_skipped.low, estimate.if_skipped.high]
    data: Data = finite(
        {"measure": estimate.measure, "positive": estimate.positive, "models": list(estimate.models)}
        | facts
        | {
            "interval": interval_data(estimate.interval(level)),
            "possible": list(estimate.possible),
            "unrefuted": list(estimate.unrefuted),
            "n_pending": estimate.n_pending,
            "n_skipped": estimate.n_skipped,
            "if_skipped": skipped,
            "warnings": list(estimate.warnings),
        }
    )
    return data


def interval_data(interval: Interval) -> Data:
    """Return an interval as data."""
    found: Data = finite(asdict(interval))
    return found


@to_data.register(Comparison)
def _comparison(comparison: Comparison, level: float) -> Data:
    estimate = _estimate(comparison.estimate, level)
    decision = {name: getattr(comparison, name) for name in ("better", "alpha", "null")}
    decision["test"] = _significance(comparison.significance)
    estimate["difference"] = estimate.pop("value")
    return {"kind": "comparison"} | estimate | {"pvalue": finite(comparison.pvalue)} | decision


def _significance(significance: Significance | None) -> Data | None:
    if significance is None:
        return None
    names = ("kind", "statistic", "pvalue", "alternative", "df")
    found: Data = finite({name: getattr(significance, name) for name in names})
    return found


@to_data.register(Selection)
def _selection(selection: Selection, level: float) -> Data:
    """Return a selection as data."""
    every = len(selection.ranking) <= ALL_PAIRS
    pairs = [pair for pair in selection.comparisons if every or pair[0] == selection.best]
    return {
        "kind": "selection",
        "best": selection.best,
        "contenders": list(selection.contenders()),
        "ranking": list(selection.ranking),
        "pvalues": finite(dict(selection.pvalues)),
        "gaps": {name: interval_data(gap) for name, gap in selection.gaps(level).items()},
        "n_labels": selection.n_labels,
        "estimates": {name: _estimate(selection.estimates[name], level) for name in selection.ranking},
        "comparisons": [_comparison(selection.comparisons[pair], level) for pair in pairs],
        "overall": _significance(selection.overall),
        "warnings": list(selection.warnings),
    }
