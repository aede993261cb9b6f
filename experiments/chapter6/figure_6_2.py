"""Figure 6.2: error of estimated ERR and DCG over the cost of judging."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import deviation
from experiments.chapter6.estimating import KEYS, METHODS, THESIS, VALUES, beside, run_cases, titled
from experiments.chapter6.search import Case
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.rows import Row, savings

CASES = (
    Case("forest", ("forest",), ("forest",)),
    Case("ordered logit", ("ordered logit",), ("ordered logit",)),
    Case("median system", ("median system",), ("forest",), ("mq2007",)),
)


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_cases(cells, settings, CASES, deviation)


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each ranker and measure."""
    return draw_curves(titled(rows), "ranking", METHODS, xlabel="cost of judging", columns=4)[0]


def claims(rows: list[Row]) -> str:
    """Return what cost brings the accuracy of passive with the most, and errors where there are sessions."""
    whole = titled(rows)
    return f"{table(*savings(whole, 'ranking', THESIS, unit='cost'))}\n\n{beside(whole)}"


EXPERIMENT = Experiment("figure_6_2", KEYS, VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
