"""A report as one page of HTML: no script, no other file, nothing from a network; charts are SVG in its colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import PurePath
from typing import Any

from sondage.errors import InputError
from sondage.reports.contents import Figure, Report
from sondage.reports.plots import CHARTS, MOST_ROWS, Palette, draw_figures, height_of, require_matplotlib, rows_height
from sondage.reports.text import figure_reach, figure_value, quantity, rounded
from sondage.reports.wording import percent, value_words
from sondage.version import __version__

__all__ = ["report_page"]

WIDTH = 4.3
"""Inches of a chart: narrow enough for a telephone, so that its letters are as large there."""
HEIGHTS = {"reliability": 3.3, "weights": 2.7, "uniform": 1.35}

# Colours that stand for the page's own, so that a chart follows it into the dark.
_STAND_INS = {field.name: f"#{0xA1B2C0 + place:06x}" for place, field in enumerate(fields(Palette))}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sondage",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.parse_math": False,
    "axes.titlesize": 10,
    "axes.unicode_minus": False,  # as in the words of the page
}


def report_page(report: Report) -> str:
    """Return a report as one page of HTML.

    Parameters
    ----------
    report : Report
        The content. Ids, classes, names and fields may hold anything; they are shown as text.

    Raises
    ------
    InputError
        If matplotlib or Jinja2 is not installed.
    """
    template = _template()
    charts = {name: _chart(name, report) for name, (present, _) in CHARTS.items() if present(report)}
    parts = [(part, _part_chart(part.figures)) for part in report.parts]
    return str(
        template.render(
            report=report,
            charts=charts,
            parts=parts,
            title=PurePath(report.settings["study"]).name if "study" in report.settings else "",
            version=__version__,
            share=percent,
            value=figure_value,
            reach=figure_reach,
            moved=lambda one: _moved(report, one.moved),
            rounded=rounded,
            snippet=_snippet(report),
            most=MOST_ROWS,
        )
    )


def _part_chart(figures: tuple[Figure, ...]) -> str:
    return _svg(rows_height(len(figures)), lambda ax, palette: draw_figures(ax, figures, palette))


def _moved(report: Report, value: float) -> str:
    """Return by how much a label moved the result, with its sign."""
    text = quantity(abs(value), report.figures[0].measure, abs(value) or 1.0, " points") if report.figures else ""
    return f"{'-' if value < 0 else '+'}{text}"


@cache
def _template() -> Any:
    require_matplotlib()
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise InputError("a page needs Jinja2: pip install 'sondage[reports]'") from None
    environment = Environment(
        loader=PackageLoader("sondage.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = lambda text: str(text).replace(" %", "\N{NO-BREAK SPACE}%")
    environment.filters["words"] = value_words
    return environment.get_template("report.html")


def _chart(name: str, report: Report) -> str:
    height = HEIGHTS.get(name) or height_of(name, report)
    return _svg(height, lambda ax, palette: CHARTS[name][1](ax, report, palette), name)


def _svg(height: float, draw: Callable[[Any, Palette], None], name: str = "part") -> str:
    """Return a chart as SVG whose colours are the page's; safe, since matplotlib escapes its texts."""
    import matplotlib
    from markupsafe import Markup
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # Names stay text, in a font of whoever reads the page, which has what this one lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        canvas = Canvas(figsize=(WIDTH, height), layout="constrained")
        draw(canvas.subplots(), Palette(**_STAND_INS))
        stream = io.StringIO()
        canvas.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Markup(_inlined(stream.getvalue(), name))


def _inlined(svg: str, name: str) -> str:
    """Return what stands inside <svg>: scaled by its page, in its colours, with ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for colour, stand_in in _STAND_INS.items():
        svg = svg.replace(stand_in, f"var(--{colour})")
    ((width, height),) = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    svg = re.sub(
        r"<svg [^>]*>", f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="chart: {name}">', svg, count=1
    )
    own = f"{name}-{len(svg)}-"
    svg = re.sub(r'(\sid="|url\(#|xlink:href="#)', lambda found: f"{found[1]}{own}", svg)
    svg = svg.replace("xlink:href", "href")
    return re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)


def _snippet(report: Report) -> str:
    """Return the lines of Python that make the same study again; empty where labels were drawn elsewhere."""
    settings = report.settings
    if "method" not in settings or report.standing is None:
        return ""
    asked, method = settings["question"], settings["method"]
    models = {
        "evaluate": {"model": asked["models"][0]},
        "compare": {"compare": tuple(asked["models"])},
        "select": {"select": True} if asked["models"] == settings["models"] else {"models": asked["models"]},
    }[asked["kind"]]
    budget = report.standing.budget
    whole = int(budget) if budget.is_integer() else budget
    plan = {"measure": asked["measures"], "budget": whole, "seed": settings["seed"]}
    tests = {} if asked["kind"] == "evaluate" else {name: asked[name] for name in ("alpha", "alternative", "margin")}
    shared = settings.get("raters", 1) > 1  # a result in memory has neither people nor a file
    people = {name: settings[name] for name in ("raters", "overlap", "lease")} if shared else {}
    options = plan | models | tests | people
    told = "".join(f"    {name}={value!r},\n" for name, value in options.items())
    if "start" in settings:
        told += f"    start=labels,  # the {settings['start']:,} that there were already\n"
    parts = "".join(f"        {name}={value!r},\n" for name, value in method.items())
    reading = "".join(f", {name}={value!r}" for name, value in settings.get("reading", {}).items())
    pool = f"sondage.read_pool({settings['source']!r}{reading})" if settings.get("source") else "pool"
    return (
        "import sondage\nfrom sondage.studies.method import Method\n\n"
        f'study = sondage.Study.create(\n    "again.db",\n    {pool},\n{told}    method=Method(\n{parts}    ),\n)\n'
    )
