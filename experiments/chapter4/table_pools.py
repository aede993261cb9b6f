"""The pools of chapter 4: how large they are, what is to be estimated, and how good their probabilities are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, Cells, table
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.problems import POOLS, load
from experiments.rows import Row, number
from experiments.simulation import plan_of, targets_of

USED = [
    name for name in POOLS if not name.startswith("enron") or name.startswith(("enron-time", "enron-late", "enron-1-2"))
]
THESIS = {
    "enron-1-2": "EMAIL 0.0245",
    "enron-time": "EMAIL 0.0245",
    "enron-time-5": "EMAIL 0.0245",
    "mnist-usps-4v9": "USPS 0.0205",
    "usps-mnist-4v9": "MNIST 0.0280",
    "abalone": "5.00",
    "sarcos": "27.12",
}
ABOVE = ("enron-time-20",)
"""Pools whose names are written above their points though they lie below the line: another name is there."""


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Measure every pool."""
    for name in USED:
        names = {"problem": name, "repetitions": settings.repetitions, "seed": settings.seed}
        cells.get(names, partial(measured, name))
        yield name


def measured(name: str) -> Cell:
    """Return size, value and likelihood."""
    problem = load(name)
    measure = "mse" if "means" in problem.arrays else "error_rate"
    pool = problem.pool()
    (target,) = targets_of(pool, problem.labels, plan_of(pool, measure, "passive"))
    likelihood = float("nan") if measure == "mse" else problem.label_likelihood
    believed = plan_of(pool, measure)
    return {
        "items": len(problem),
        "measure": measure,
        "value": target.truth(),
        "believed": believed.contrasts[0].value(believed.setting.expect(believed.contrasts[0], believed.belief)),
        "likelihood": likelihood,
    }


def draw(rows: list[Row]) -> Figure:
    """Draw what models expect of their own errors against what they are."""
    figure, (axes,) = panels(1, width=7.0, height=4.5)
    part = [row for row in rows if row["measure"] == "error_rate"]
    x, y = [number(row, "believed") for row in part], [number(row, "value") for row in part]
    axes.loglog(x, y, "o", color="#1f63ad", markersize=4)
    for row, a, b in zip(part, x, y, strict=True):
        below = 3 if row["problem"] in ABOVE else -8
        shift, side = ((-3, 3), "right") if b > a else ((3, below), "left")
        axes.annotate(row["problem"], (a, b), fontsize=6, xytext=shift, textcoords="offset points", ha=side)
    ends = np.array([min(x + y), max(x + y)])
    axes.plot(ends, ends, color="0.6", linewidth=0.8)
    axes.margins(x=0.15)
    axes.set(xlabel="error rate that the model expects", ylabel="error rate on the pool")
    return figure


def tables(rows: list[Row]) -> str:
    """Return a line for each pool."""
    lines = []
    for row in rows:
        likelihood = "" if row["likelihood"] == "nan" else f"{number(row, 'likelihood'):.3f}"
        values = [f"{number(row, key):.4g}" for key in ("value", "believed")]
        lines.append(
            [row["problem"], row["items"], row["measure"], *values, likelihood, THESIS.get(row["problem"], "")]
        )
    return table(("pool", "items", "measure", "its value", "the model expects", "label likelihood", "thesis"), lines)


VALUES = ("items", "measure", "value", "believed", "likelihood")
EXPERIMENT = Experiment("table_pools", ("problem",), VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
