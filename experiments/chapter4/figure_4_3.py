"""Figure 4.3: error of estimated error rates under distribution shift, over the number of labels."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.curves import ERROR_VALUES, Settings, curve, packaged, stratified, thesis, within
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.problems import load
from experiments.rows import Row, savings

PROBLEMS = ("enron-1-2", "enron-time", "mnist-usps-4v9", "usps-mnist-4v9", "mnist-usps", "usps-mnist")
BUDGETS = (50, 100, 150, 200, 300, 400, 600, 800)
SESSION_BUDGETS = (100, 200, 400, 800)
DESIGNS = {"passive": "passive", "active": "optimal"}
METHODS = (*DESIGNS, "strat", "package default")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    for name in PROBLEMS:
        problem = load(name)
        pool, labels = problem.pool(), problem.told
        codes = problem.labels
        truth = float((problem.arrays["predictions"] != codes).mean())
        budgets = [int(b) for b in within(BUDGETS, len(problem))]
        doubts = 1.0 - problem.probabilities.max(axis=1)
        for method in METHODS:
            names, count = {"problem": name, "method": method}, None
            if method in DESIGNS:
                how = thesis(pool, codes, "error_rate", DESIGNS[method], budgets)
            elif method == "strat":
                how = stratified(pool, codes, "error_rate", doubts, budgets)
            else:
                budgets = [b for b in budgets if b in SESSION_BUDGETS] or budgets[-1:]
                how, count = packaged(pool, labels, "error_rate", budgets), settings.sessions
            curve(cells, settings, names, budgets, how, truth, repetitions=count)
            yield f"{name}, {method}"


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each pool."""
    return draw_curves(rows, "problem", METHODS)[0]


def claims(rows: list[Row]) -> str:
    """Return how many labels reach the accuracy of passive with the most."""
    return table(*savings(rows, "problem", METHODS))


EXPERIMENT = Experiment("figure_4_3", ("problem", "method", "budget"), ERROR_VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
