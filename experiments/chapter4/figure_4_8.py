"""Figure 4.8: error of the error rate over what labels cost, for three relations of cost and uncertainty."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import ERROR_VALUES
from experiments.chapter4.costs import CORRELATIONS, correlation, lengths, resorted, uncertainty, unit_costs
from experiments.curves import Settings, study
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.problems import load
from experiments.rows import Row, savings

PROBLEM = "enron-1-2"
BUDGETS = (50, 100, 150, 200, 300, 400, 600, 800)
METHODS = ("passive", "active", "active_uniC", "active_lambda", "package default")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    problem = load(PROBLEM)
    u, costs = uncertainty(problem), unit_costs(lengths(problem))
    for kind in CORRELATIONS:
        given = resorted(costs, u, kind)
        names = {"correlation": kind, "rho": round(correlation(u, given), 3)}
        yield from study(cells, settings, names, problem, "error_rate", METHODS, BUDGETS, costs=given)


def joined(rows: list[Row]) -> list[Row]:
    """Return rows with the correlation in one column."""
    return [row | {"costs": f"{row['correlation']}, rho = {row['rho']}"} for row in rows]


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each relation."""
    return draw_curves(joined(rows), "costs", METHODS, xlabel="cost of the labels")[0]


def claims(rows: list[Row]) -> str:
    """Return what cost brings the accuracy of passive with the most."""
    return table(*savings(joined(rows), "costs", METHODS, unit="cost"))


EXPERIMENT = Experiment("figure_4_8", ("correlation", "rho", "method", "budget"), ERROR_VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
