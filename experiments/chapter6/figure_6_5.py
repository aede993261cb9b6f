"""Figure 6.5: which queries are drawn, and how many: the sampling distribution by cost and expected DCG."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import average
from experiments.chapter6.estimating import MEASURES, THESIS, Asked, asked
from experiments.chapter6.figure_6_2 import CASES
from experiments.chapter6.search import DOMAINS, FOLDS
from experiments.curves import Settings, within
from experiments.experiment import Experiment, main
from experiments.figures import STYLES, panels
from experiments.rows import Row, chosen, number
from experiments.simulation import Floats

CASE, MEASURE = CASES[0], MEASURES[1]
BINS = 8
"""Of costs and of expectations, each with the same number of queries."""

DRAWN = {"mq2007": 100, "mslr": 20}
"""Costs of which the queries are counted."""


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute sizes on the first fold, and count what is drawn on all."""
    fixed: Cell = {"repetitions": settings.repetitions, "seed": settings.seed}
    for domain in DOMAINS:
        one = asked(CASE, domain, 0, MEASURE)
        names = [
            fixed | {"domain": domain, "kind": "size", "method": "active", "cost": c, "expected": e}
            for c in range(BINS)
            for e in range(BINS)
        ]
        cells.series(names, partial(sizes_by_bin, one))
        yield f"{domain}, sizes"
        for method in THESIS:
            names = [fixed | {"domain": domain, "kind": "drawn", "method": method, "cost": "", "expected": ""}]
            cells.series(names, partial(drawn, domain, method, settings))
            yield f"{domain}, {method}"


def sizes_by_bin(one: Asked) -> list[Cell]:
    """Return the mean size in each bin, 1 for the passive draw, and the bin's mean cost and expectation."""
    costs, expected, sizes = one.costs, one.expected(), one.sizes("active") * len(one.pool)
    rows, columns = quantile_bins(costs), quantile_bins(expected)
    cells = []
    for row in range(BINS):
        for column in range(BINS):
            here = (rows == row) & (columns == column)
            cells.append(
                {
                    "value": float(sizes[here].mean()) if here.any() else float("nan"),
                    "value_se": float("nan"),
                    "mean_cost": float(costs[rows == row].mean()),
                    "mean_expected": float(expected[columns == column].mean()),
                    "queries": int(here.sum()),
                }
            )
    return cells


def quantile_bins(values: Floats) -> NDArray[np.int64]:
    """Return the bin of each value, the bins holding the same number.

    Examples
    --------
    >>> quantile_bins(np.arange(16.0)).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    """
    return np.asarray(np.argsort(np.argsort(values, kind="stable")) * BINS // len(values))


def drawn(domain: str, method: str, settings: Settings) -> list[Cell]:
    """Return how many distinct queries are judged, mean over folds and repetitions."""
    counts, queries, each = [], [], max(2, settings.repetitions // FOLDS)
    for fold in range(FOLDS):
        one = asked(CASE, domain, fold, MEASURE)
        (budget,) = within([DRAWN[domain]], len(one.pool))
        runs = one.draw(method, [budget], each, settings.rng("drawn", domain, method, fold))
        counts.append(runs.labels)
        queries.append(len(one.pool))
    (mean,), (error,) = average(counts)
    found = {"value": float(mean), "value_se": float(error), "mean_cost": float(budget)}
    return [found | {"mean_expected": "", "queries": int(np.mean(queries))}]


def draw(rows: list[Row]) -> Figure:
    """Draw the sizes as a map, and the numbers of queries as bars."""
    figure, axes = panels(2 * len(DOMAINS), 2, width=4.0, height=3.0)
    for k, domain in enumerate(DOMAINS):
        part = chosen(rows, domain=domain, kind="size")
        grid = np.array([number(row, "value") for row in part]).reshape(BINS, BINS)
        costs = [number(row, "mean_cost") for row in part[::BINS]]
        expected = [number(row, "mean_expected") for row in part[:BINS]]
        image = axes[2 * k].imshow(grid.T, origin="lower", cmap="viridis", aspect="auto")
        axes[2 * k].set_xticks(range(BINS), [f"{c:.2f}" for c in costs])
        axes[2 * k].set_yticks(range(BINS), [f"{e:.1f}" for e in expected])
        axes[2 * k].set(title=f"{domain}: size of a query, passive = 1", xlabel="cost", ylabel="expected DCG")
        figure.colorbar(image, ax=axes[2 * k])
        bars = chosen(rows, domain=domain, kind="drawn")
        colors = [STYLES[row["method"]]["color"] for row in bars]
        heights, errors = ([number(row, key) for row in bars] for key in ("value", "value_se"))
        axes[2 * k + 1].bar([row["method"] for row in bars], heights, yerr=errors, color=colors)
        axes[2 * k + 1].tick_params(axis="x", labelrotation=30)
        cost = number(bars[0], "mean_cost")
        axes[2 * k + 1].set(title=f"{domain}: queries judged with cost {cost:g}", ylabel="queries")
    return figure


def counted(rows: list[Row]) -> str:
    """Return the number of queries each method judges."""
    lines = []
    for domain in DOMAINS:
        bars = chosen(rows, domain=domain, kind="drawn")
        cost = number(bars[0], "mean_cost")
        lines.append([domain, f"{cost:g}", *(f"{number(row, 'value'):.1f}" for row in bars)])
    return table(["queries judged", "cost", *THESIS], lines)


KEYS = ("domain", "kind", "method", "cost", "expected")
VALUES = ("value", "value_se", "mean_cost", "mean_expected", "queries")
EXPERIMENT = Experiment("figure_6_5", KEYS, VALUES, run, draw, counted)

if __name__ == "__main__":
    main(EXPERIMENT)
