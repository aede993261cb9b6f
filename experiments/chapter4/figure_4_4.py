"""Figure 4.4: squared bias and variance of error rates; error of mean squared errors of regression."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import ERROR_VALUES
from experiments.curves import Settings, study
from experiments.experiment import Experiment, main
from experiments.figures import STYLES, band, legend, logarithmic, panels
from experiments.problems import load
from experiments.rows import Row, chosen, curve_of, number, savings

DECOMPOSED = ("enron-1-2", "enron-time-5")
REGRESSIONS = ("abalone", "sarcos")
BUDGETS = (10, 25, 50, 100, 150, 200, 300, 400, 600, 800)
METHODS = ("passive", "active", "package default")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    for name in DECOMPOSED:
        yield from study(cells, settings, {"problem": name}, load(name), "error_rate", METHODS[:2], BUDGETS)
    for name in REGRESSIONS:
        yield from study(cells, settings, {"problem": name}, load(name), "mse", METHODS, BUDGETS[2:])


def draw(rows: list[Row]) -> Figure:
    """Draw bias and variance of two pools, and curves of the others."""
    figure, axes = panels(4, 2, width=3.6)
    for place, name in zip(axes, DECOMPOSED, strict=False):
        for method in METHODS[:2]:
            part = chosen(rows, problem=name, method=method)
            budgets, colour = [number(row, "budget") for row in part], STYLES[method]["color"]
            variance = [number(row, "variance") for row in part]
            squared = [number(row, "bias") ** 2 for row in part]
            place.plot(budgets, variance, "o-", color=colour, markersize=3.5, label=f"{method}, variance")
            place.plot(budgets, squared, "x:", color=colour, markersize=3.5, label=f"{method}, squared bias")
        place.set(title=f"{name}, error rate", yscale="log", xlabel="labels", ylabel="mean squared error")
    for place, name in zip(axes[2:], REGRESSIONS, strict=True):
        for method in METHODS:
            band(place, method, curve_of(rows, problem=name, method=method))
        place.set(title=f"{name}, mean squared error", xlabel="labels", ylabel="absolute error")
        logarithmic(place)
    legend(figure, axes[0])
    axes[2].legend(frameon=False)
    return figure


def tables(rows: list[Row]) -> str:
    """Return the share of squared bias in the mean squared error, and labels needed for regression."""
    lines = []
    for name in DECOMPOSED:
        for method in METHODS[:2]:
            part = chosen(rows, problem=name, method=method)
            lines.append([name, method, *(_share(row) for row in part)])
    budgets = [row["budget"] for row in chosen(rows, problem=DECOMPOSED[0], method="passive")]
    regression = [row for row in rows if row["problem"] in REGRESSIONS]
    return (
        "Squared bias as a share of the mean squared error, by number of labels:\n\n"
        + table(("pool", "method", *budgets), lines)
        + "\n\nLabels for the accuracy of passive with the most:\n\n"
        + table(*savings(regression, "problem", METHODS))
    )


def _share(row: Row) -> str:
    squared = number(row, "bias") ** 2
    return f"{squared / (squared + number(row, 'variance')):.1%}"


EXPERIMENT = Experiment("figure_4_4", ("problem", "method", "budget"), ERROR_VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
