"""Figure 4.5: error of recall, F_0.5 and precision of a spam filter, over the number of labels."""

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

PROBLEMS = ("enron-time-5", "enron-time")
BUDGETS = (50, 100, 150, 200, 300, 400, 600, 800)
METHODS = ("passive", "active", "active_err", "package default")
MEASURES = {"recall": 0.0, "F_0.5": 0.5, "precision": 1.0}


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    for name in PROBLEMS:
        for measure, eta in MEASURES.items():
            names = {"problem": name, "measure": measure}
            yield from study(cells, settings, names, load(name), f_eta(eta), METHODS, BUDGETS)


def joined(rows: list[Row]) -> list[Row]:
    """Return rows with pool and measure in one column."""
    return [row | {"pool, measure": f"{row['problem']}, {row['measure']}"} for row in rows]


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each measure."""
    return draw_curves(joined(rows), "pool, measure", METHODS)[0]


def claims(rows: list[Row]) -> str:
    """Return how many labels reach the accuracy of passive with the most."""
    return table(*savings(joined(rows), "pool, measure", METHODS))


EXPERIMENT = Experiment("figure_4_5", ("problem", "measure", "method", "budget"), ERROR_VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
