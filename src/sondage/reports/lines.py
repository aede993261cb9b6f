"""A report line by line, for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sondage.core.display import label_count
from sondage.core.reliability import Reliability
from sondage.core.results import Interval
from sondage.reports.contents import Figure, Report, TeamStatus
from sondage.reports.text import figure_reach, figure_value, rounded, warned
from sondage.reports.wording import value_words

__all__ = ["report_lines"]

LONGEST_LABEL = 60
"""Characters of a label, as that of a query is a list of documents."""


def report_lines(report: Report) -> list[str]:
    """Return a report line by line: the answer, where the study stands, then all that the answer rests on."""
    figures = _figure_lines(report.figures) if len(report.figures) > 1 else []
    lines = [*report.answers, *figures, *report.basis, *warned(report.warnings), "", f"Question: {report.question}"]
    lines += [] if report.standing is None else _standing_lines(report.standing)
    if report.gaps:
        lines += _headed("Behind the best; these intervals hold together", _figure_lines(report.gaps))
    lines += _headed("How the items were chosen", report.chosen)
    if report.uniform is not None:
        lines += _headed("Uniform sampling", [report.uniform.sentence])
    if report.weights is not None:
        lines += _headed("Weights", [report.weights.sentence])
    if report.reliability is not None:
        lines += _headed("Predictions and labels", [report.believed, *_bin_lines(report.reliability)])
    if report.contributors:
        lines += _headed(f"Labels that moved {report.moved} most", _contributor_lines(report))
    for part in report.parts:
        lines += _headed(f"By {part.field}", [*_figure_lines(part.figures), *([part.note] if part.note else [])])
    return lines + (_headed("To do it again", _setting_lines(report.settings)) if "method" in report.settings else [])


def _standing_lines(at: TeamStatus) -> list[str]:
    return [
        f"{at.labelled} labelled, {at.pending} pending, {at.skipped} skipped, {at.remaining} to ask; "
        f"budget {at.budget:g}, spent {at.spent:g}",
        *at.team,
    ]


def _headed(heading: str, lines: Sequence[str]) -> list[str]:
    return ["", heading, *(f"  {line}" for line in lines)] if lines else []


def _figure_lines(figures: Sequence[Figure]) -> list[str]:
    width = max(len(figure.name) for figure in figures)
    return [
        f"{one.name:<{width}}  {figure_value(one)}  ({figure_reach(one)}; {label_count(one.n_labels)})"
        + (f"  {one.note}" if one.note else "")
        for one in figures
    ]


def _bin_lines(found: Reliability) -> list[str]:
    head = f"{'predicted':>9}  {'observed':>9}  {'interval':>18}  labels"
    rows = [
        f"{rounded(one.believed):>9}  {rounded(one.observed):>9}  {_reach(one.interval):>18}  {one.n_labels:>6}"
        for one in found.bins
    ]
    of = f"{'Probability that' if found.probability else 'Mean of'} {found.event}:"
    return [of, head, *rows]


def _reach(interval: Interval) -> str:
    if not math.isfinite(interval.width):  # of the mean of one label
        return "unbounded"
    return f"{rounded(interval.low)} to {rounded(interval.high)}"


def _contributor_lines(report: Report) -> list[str]:
    lines = []
    for one in report.contributors:
        label = one.label if len(one.label) <= LONGEST_LABEL else f"{one.label[:LONGEST_LABEL]} ..."
        expected = f", expected {one.expected}" if one.expected else ""
        told = f"{one.id!s}: label {label}{expected}; moved by {'+' * (one.moved >= 0)}{rounded(one.moved)}"
        lines.append(f"{told}, carries {100 * one.share:.2g} %")
    return lines


def _setting_lines(settings: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {value_words(value)}" for name, value in settings.items() if value not in (None, {})]
