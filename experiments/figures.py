"""Pictures: one look for all experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from experiments.rows import Curve, Row, curve_of

__all__ = ["STYLES", "Curve", "band", "draw_curves", "legend", "logarithmic", "panels", "save"]

mpl.rcParams.update({"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False})

STYLES: dict[str, dict[str, Any]] = {
    "passive": {"color": "#1f63ad", "marker": "o"},
    "active": {"color": "#c0392b", "marker": "s"},
    "strat": {"color": "#7d6608", "marker": "^"},
    "active_err": {"color": "#27855a", "marker": "v"},
    "active_uniC": {"color": "#27855a", "marker": "v"},
    "active_uniD": {"color": "#7d3c98", "marker": "P"},
    "active_lambda": {"color": "#7d6608", "marker": "^"},
    "package default": {"color": "0.25", "marker": "D", "linestyle": "--"},
}
"""Colour and marker of each method; the thesis draws passive blue and active red as well."""

EXACT = 1e-12
"""An error below it is rounding."""


def panels(count: int, columns: int = 3, *, width: float = 3.0, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels; those left over are hidden."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(width * columns, height * rows), squeeze=False, layout="constrained"
    )
    found = list(grid.flat)
    for axes in found[count:]:
        axes.set_visible(False)
    return figure, found[:count]


def band(axes: Axes, method: str, curve: Curve, **style: Any) -> None:
    """Draw one curve with its standard errors; what is undefined or exact is left out."""
    look: dict[str, Any] = (
        {"markersize": 3.5, "linewidth": 1.1, "capsize": 2, "label": method} | STYLES.get(method, {}) | style
    )
    shown = np.array([point for point in zip(*curve, strict=True) if point[1] > EXACT]).reshape(-1, 3)
    axes.errorbar(*shown.T, **look)


def logarithmic(axes: Axes) -> None:
    """Make the heights logarithmic, with plain numbers at 1, 2 and 5 times the powers of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def legend(figure: Figure, axes: Axes) -> None:
    """Put one legend for all panels above them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)


def draw_curves(
    rows: list[Row], panel: str, methods: Sequence[str], *, x: str = "budget", xlabel: str = "labels", columns: int = 3
) -> tuple[Figure, list[Axes]]:
    """Draw errors over budgets (or another key), a panel for each value of one key, a curve for each method."""
    names = list(dict.fromkeys(row[panel] for row in rows))
    figure, axes = panels(len(names), columns)
    for place, name in zip(axes, names, strict=True):
        for method in methods:
            band(place, method, curve_of(rows, x, **{panel: name, "method": method}))
        place.set(title=name, xlabel=xlabel, ylabel="absolute error")
        logarithmic(place)
    legend(figure, axes[0])
    return figure, axes


def save(figure: Figure, path: Path) -> None:
    """Write the picture; the same numbers make the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
