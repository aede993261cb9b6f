"""Figure 4.7, left and centre: error of F_0.5 for a rare and a frequent topic, over the number of labels."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import ERROR_VALUES
from experiments.chapter4.f_measures import f_eta
from experiments.curves import Settings, study
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.problems import load
from experiments.rows import Row, savings

CLASSES = ("money-fx", "earn")
BUDGETS = (50, 100, 150, 200, 300, 400, 600, 800)
METHODS = ("passive", "active", "active_err", "package default")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    for topic in CLASSES:
        yield from study(cells, settings, {"topic": topic}, load("reuters"), f_eta(0.5, topic), METHODS, BUDGETS)


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each topic."""
    return draw_curves(rows, "topic", METHODS, columns=2)[0]


def claims(rows: list[Row]) -> str:
    """Return how many labels reach the accuracy of passive with the most."""
    return table(*savings(rows, "topic", METHODS))


EXPERIMENT = Experiment("figure_4_7", ("topic", "method", "budget"), ERROR_VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
