"""How results show themselves in a notebook: the answer, the numbers, what to keep in mind; charts by `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from sondage.core.display import to_html
from sondage.core.results import Comparison, Estimate
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.reports.advice import describe_advice
from sondage.reports.contents import Report
from sondage.reports.making import make_report
from sondage.reports.text import figure_reach, figure_value
from sondage.studies.advise import Advice
from sondage.studies.study import Study

__all__ = ["report_html"]


@to_html.register(Estimate)
@to_html.register(Comparison)
@to_html.register(Selection)
@to_html.register(Slices)
@to_html.register(Study)
def _result_html(result: Any) -> str:
    """Return a result, or a study's result so far, as a table under its answer."""
    return report_html(make_report(result))


@to_html.register
def _advice_html(advice: Advice) -> str:
    """Return advice as its sentence, and the numbers under it."""
    sentence, *lines = describe_advice(advice)
    table = "\n".join(lines)
    return f"<p><strong>{escape(sentence)}</strong></p><pre>{escape(table)}</pre>"


def report_html(report: Report) -> str:
    """Return the head of a report: answer, numbers, warnings; without charts, so that it needs no other package.

    Parameters
    ----------
    report : Report
        The content; names and classes in it may hold anything, and are shown as text.
    """
    level = f"{100 * report.level:g} % interval"
    rows = [(one.name, figure_value(one), figure_reach(one), f"{one.n_labels:,}", one.note) for one in report.figures]
    body = "".join(_row(row) for row in rows)
    table = f"<table>{_row(('', 'value', level, 'labels', ''), 'th')}{body}</table>" if rows else ""
    warnings = "".join(f"<p><em>{escape(text)}</em></p>" for text in report.warnings)
    answers = "".join(f"<p><strong>{escape(text)}</strong></p>" for text in report.answers)
    basis = "".join(f"<p>{escape(text)}</p>" for text in report.basis)
    return answers + table + basis + warnings


def _row(cells: Sequence[str], kind: str = "td") -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"
