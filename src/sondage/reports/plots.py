"""Charts of a report in matplotlib: for notebooks by `plot`, for pages by `html`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.checks import require_known
from sondage.errors import InputError
from sondage.reports.contents import Figure, Report
from sondage.reports.making import make_report
from sondage.reports.text import in_percent
from sondage.reports.wording import rough_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CHARTS", "MOST_ROWS", "Palette", "draw_figures", "height_of", "plot", "require_matplotlib", "rows_height"]


MOST_ROWS = 40
"""Of more models the nearest to the best are drawn, and the others' rows of a table folded."""


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for."""

    ink: str = "#1b2733"
    muted: str = "#64748b"
    grid: str = "#d5dbe3"
    accent: str = "#0f6b8f"
    second: str = "#b45309"


def plot(
    subject: Any, chart: str = "result", *, ax: Axes | None = None, level: float = 0.95, palette: Palette | None = None
) -> Axes:
    """Draw a chart of a study or a result.

    Parameters
    ----------
    subject : Study, Estimate, mapping of str to Estimate, Comparison, Selection, Slices or Report
        What the chart is of.
    chart : {"result", "reliability", "weights", "contributors", "uniform"}
        In this order: estimates with their intervals (for a selection the differences from the best, of many models the
        nearest 40); observed against believed; how evenly labels count; the labels that moved the result most; labels
        used and what uniform sampling would have needed.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default the current axes, or new ones with room for names beside them.
    level : float
        Confidence level of the intervals, in (0, 1).
    palette : Palette, optional
        Colours.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such chart, or nothing to draw in it; or matplotlib is not installed.

    Examples
    --------
    >>> import sondage
    >>> pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> ax = sondage.plot(sondage.evaluate(pool, labels=[0, 1, 0, 0], budget=4))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['error rate']
    """
    require_known("chart", chart, CHARTS)
    report = subject if isinstance(subject, Report) else make_report(subject, level)
    present, draw = CHARTS[chart]
    if not present(report):
        raise InputError(f"there is nothing to draw in chart {chart!r}")
    if ax is None:
        require_matplotlib()
        ax = _current_axes(height_of(chart, report))
    draw(ax, report, palette or Palette())
    return ax


def _current_axes(height: float) -> Axes:
    """Return the current axes; where there are none yet, their figure leaves its margins to the names of rows."""
    from matplotlib import pyplot

    if not pyplot.get_fignums():
        width, usual = pyplot.rcParams["figure.figsize"]
        pyplot.figure(figsize=(width, max(usual, height)))
    figure = pyplot.gcf()
    if not figure.axes and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return figure.gca()


def height_of(chart: str, report: Report) -> float:
    """Return the height, in inches, that a chart's rows need; of a chart without rows the least."""
    rows = {"result": len(report.gaps[:MOST_ROWS] or report.figures), "contributors": len(report.contributors)}
    return rows_height(rows.get(chart, 0))


def rows_height(count: int) -> float:
    """Return the height, in inches, of so many rows with names and all that is around them."""
    return 0.72 + 0.33 * count


def require_matplotlib() -> None:
    """Raise `InputError` without matplotlib."""
    try:
        import_module("matplotlib")
    except ModuleNotFoundError:
        raise InputError("charts need matplotlib: pip install 'sondage[reports]'") from None


def draw_figures(ax: Axes, figures: Sequence[Figure], palette: Palette) -> None:
    """Draw values with their intervals, the first on top; of differences a line where two models are equal."""
    places = np.arange(len(figures))[::-1]
    scale = _scale([one.measure for one in figures])
    for place, one in zip(places.tolist(), figures, strict=True):
        ends = (one.interval.low, one.interval.high)
        if one.interval.kind != "undefined" and all(map(math.isfinite, ends)):
            ax.plot([scale * end for end in ends], [place, place], color=palette.accent, lw=2.5, solid_capstyle="round")
        if math.isfinite(one.value):
            ax.plot([scale * one.value], [place], "o", color=palette.accent, ms=7)
    difference = figures[0].unit == " points"
    if difference:
        ax.axvline(0.0, color=palette.second, lw=1.2, ls=(0, (4, 3)))
    ax.set_yticks(places, [_short(one.name) for one in figures], parse_math=False)
    ax.set_ylim(-0.6, len(figures) - 0.4)
    ax.margins(x=0.08)
    unit = figures[0].unit.strip() if scale == 100.0 else ""
    plain = "difference" if difference else "value"
    ax.set_xlabel({"%": "per cent", "points": "percentage points"}.get(unit, plain))
    _few_numbers(ax)
    _quiet(ax, palette, "x")


def _scale(measures: Sequence[str]) -> float:
    """Return 100 where all are shares that one says in per cent."""
    return 100.0 if all(map(in_percent, measures)) else 1.0


def _short(text: str, most: int = 26) -> str:
    """Return a name that fits beside an axis, with its end, by which names differ; of a difference both models' lines.

    Examples
    --------
    >>> _short("a_model_of_many_words_number_1"), _short("a minus b")
    ('a_model_of_m…rds_number_1', 'a minus b')
    """
    if len(text) <= most:
        return text
    first, minus, second = text.partition(" minus ")
    if minus:
        return f"{_short(first)}\nminus {_short(second)}"
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _few_numbers(ax: Axes) -> None:
    """Let so few numbers stand below an axis that they have room there, whatever the names beside it leave."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))


def _quiet(ax: Axes, palette: Palette, grid: Any) -> None:
    """Take away what does not tell anything."""
    ax.set_facecolor("none")
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(palette.grid)
    ax.grid(visible=True, axis=grid, color=palette.grid, lw=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(length=0, colors=palette.muted, labelsize=9)
    ax.xaxis.label.set_color(palette.muted)
    ax.yaxis.label.set_color(palette.muted)
    for label in ax.get_yticklabels():
        label.set_color(palette.ink)


def _draw_result(ax: Axes, report: Report, palette: Palette) -> None:
    draw_figures(ax, report.gaps[:MOST_ROWS] or report.figures, palette)
    if report.gaps:  # the best, of which there is no row
        title = [f"{ax.get_xlabel()} from", _short(report.figures[0].name)]
        if len(report.gaps) > MOST_ROWS:
            title.append(f"(the {MOST_ROWS} nearest of {len(report.gaps)})")
        ax.set_xlabel("\n".join(title), parse_math=False, loc="right")  # there is room to the left, below the names


def _draw_reliability(ax: Axes, report: Report, palette: Palette) -> None:
    found = report.reliability
    assert found is not None
    believed = np.array([one.believed for one in found.bins])
    observed = np.array([one.observed for one in found.bins])
    ends = np.array([[one.interval.low, one.interval.high] for one in found.bins])
    finite = np.isfinite(ends).all(axis=1)
    shown = np.concatenate([believed, observed, ends[finite].ravel()])
    low, high = (0.0, 1.0) if found.probability else (float(shown.min()), float(shown.max()))
    margin = 0.03 * (high - low or 1.0)
    ax.plot([low, high], [low, high], color=palette.muted, lw=1.2, ls=(0, (4, 3)), label="as predicted")
    ax.vlines(believed[finite], ends[finite, 0], ends[finite, 1], color=palette.accent, lw=1.8, alpha=0.75)
    ax.plot(believed, observed, "o", color=palette.accent, ms=6, label="labels")
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(low - margin, high + margin)
    what = "probability" if found.probability else "mean"
    ax.set_xlabel(f"predicted {what} before labelling")
    ax.set_ylabel("observed, with interval")
    if not found.probability:
        _few_numbers(ax)
    _quiet(ax, palette, "both")


def _draw_weights(ax: Axes, report: Report, palette: Palette) -> None:
    assert report.weights is not None
    shares = np.sort(report.weights.shares)[::-1]
    count = len(shares)
    x = np.concatenate([[0.0], np.arange(1, count + 1) / count]) * 100
    y = np.concatenate([[0.0], np.cumsum(shares)]) * 100
    ax.fill_between(x, y, x, color=palette.accent, alpha=0.16, lw=0)
    ax.plot(x, y, color=palette.accent, lw=2)
    ax.plot([0, 100], [0, 100], color=palette.muted, lw=1.2, ls=(0, (4, 3)))
    ax.set_xlim(0, 100)
    ax.set_ylim(0, 102)
    ax.set_xlabel("heaviest labels, % of all")
    ax.set_ylabel("% of the weight")
    _quiet(ax, palette, "both")


def _draw_contributors(ax: Axes, report: Report, palette: Palette) -> None:
    moved = np.array([one.moved for one in report.contributors])
    scale = _scale([report.figures[0].measure])
    places = np.arange(len(moved))[::-1]
    colours = [palette.accent if value >= 0 else palette.second for value in moved]
    ax.barh(places, scale * moved, color=colours, height=0.62)
    ax.axvline(0.0, color=palette.muted, lw=1)
    ax.set_yticks(places, [_short(str(one.id), 16) for one in report.contributors], parse_math=False)
    ax.set_xlabel("moved the result by" + (", percentage points" if scale == 100.0 else ""))
    _few_numbers(ax)
    _quiet(ax, palette, "x")


def _draw_uniform(ax: Axes, report: Report, palette: Palette) -> None:
    uniform = report.uniform
    assert uniform is not None
    counts = [uniform.used, uniform.labels]
    ax.barh([1, 0], counts, color=[palette.accent, palette.muted], height=0.55)
    for place, count, told in zip((1, 0), counts, (f"{uniform.used:,.0f}", rough_count(uniform.labels)), strict=True):
        ax.annotate(told, (count, place), (4, 0), textcoords="offset points", va="center", color=palette.ink, size=9)
    ax.set_yticks([1, 0], ["labels used", "uniform sample"])
    ax.set_xlim(0, max(counts) * 1.18)
    ax.set_xlabel("labels for the same precision")
    _few_numbers(ax)
    _quiet(ax, palette, "x")


CHARTS: dict[str, tuple[Callable[[Report], bool], Callable[[Axes, Report, Palette], None]]] = {
    "result": (lambda report: any(math.isfinite(one.value) for one in report.figures), _draw_result),
    "reliability": (lambda report: report.reliability is not None, _draw_reliability),
    "weights": (lambda report: report.weights is not None and report.weights.uneven, _draw_weights),
    "contributors": (lambda report: bool(report.contributors), _draw_contributors),
    "uniform": (lambda report: report.uniform is not None, _draw_uniform),
}
