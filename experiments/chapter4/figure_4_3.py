"""Figure 4.3: error of estimated error rates under distribution shift, over the number of labels."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import ERROR_VALUES
from experiments.curves import Settings, study
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.problems import load
from experiments.rows import Row, savings

PROBLEMS = ("enron-1-2", "enron-time", "mnist-usps-4v9", "usps-mnist-4v9", "mnist-usps", "usps-mnist")
BUDGETS = (50, 100, 150, 200, 300, 400, 600, 800)
METHODS = ("passive", "active", "strat", "package default")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    for name in PROBLEMS:
        yield from study(cells, settings, {"problem": name}, load(name), "error_rate", METHODS, BUDGETS)


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each pool."""
    return draw_curves(rows, "problem", METHODS)[0]


def claims(rows: list[Row]) -> str:
    """Return how many labels reach the accuracy of passive with the most."""
    return table(*savings(rows, "problem", METHODS))


EXPERIMENT = Experiment("figure_4_3", ("problem", "method", "budget"), ERROR_VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
