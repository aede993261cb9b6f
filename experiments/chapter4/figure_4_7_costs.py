"""Figure 4.7, right: distribution of the labelling costs of mails."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.chapter4.costs import lengths, unit_costs
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.problems import load
from experiments.rows import Row, number

PROBLEM = "enron-1-2"
EDGES = np.round(np.geomspace(0.05, 12.8, 17), 4)
SHOWN = 4


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Count costs in bins."""
    costs = unit_costs(lengths(load(PROBLEM)))
    shares = np.histogram(costs, EDGES)[0] / len(costs)
    fixed = {"repetitions": settings.repetitions, "seed": settings.seed}
    wanted = [{"from": float(a), "to": float(b)} | fixed for a, b in pairwise(EDGES)]
    cells.series(wanted, lambda: [{"share": float(share)} for share in shares], again=True)
    yield PROBLEM


def draw(rows: list[Row]) -> Figure:
    """Draw the shares."""
    figure, (axes,) = panels(1)
    low, high, share = ([number(row, key) for row in rows] for key in ("from", "to", "share"))
    axes.bar(low, share, np.subtract(high, low), align="edge", color="#1f63ad", edgecolor="white")
    axes.set(xscale="log", xlabel="cost (mean 1)", ylabel="share of the mails", title=PROBLEM)
    return figure


def shares(rows: list[Row]) -> str:
    """Return the shares in wider bins."""
    wide = [rows[k : k + SHOWN] for k in range(0, len(rows), SHOWN)]
    lines = [[f"{p[0]['from']} to {p[-1]['to']}", f"{sum(number(row, 'share') for row in p):.1%}"] for p in wide]
    return table(("cost", "share of the mails"), lines)


EXPERIMENT = Experiment("figure_4_7_costs", ("from", "to"), ("share",), run, draw, shares)

if __name__ == "__main__":
    main(EXPERIMENT)
