"""Figure 4.9: cost used and labels had with a budget of 200; error over the variance of costs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import summary
from experiments.chapter4.costs import CORRELATIONS, lengths, resorted, uncertainty, unit_costs
from experiments.curves import DESIGNS, Settings
from experiments.experiment import Experiment, main
from experiments.figures import STYLES, band, legend, panels
from experiments.problems import Problem, load
from experiments.rows import Row, chosen, curve_of, number
from experiments.simulation import Floats, plan_of, simulate, targets_of

PROBLEM = "enron-1-2"
BUDGET = 200
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
METHODS = ("passive", "active", "active_uniC", "active_lambda")
VALUES = ("cost_variance", "error", "error_se", "undefined", "spent", "spent_se", "labels", "labels_se", "draws")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all points."""
    problem = load(PROBLEM)
    u, read = uncertainty(problem), lengths(problem)
    settled = {kind: resorted(unit_costs(read), u, kind) for kind in CORRELATIONS}
    powers = {str(c): unit_costs(read.astype(np.float64) ** c) for c in EXPONENTS}
    for panel, costs in (("correlation", settled), ("exponent", powers)):
        for x, given in costs.items():
            for method in METHODS:
                names = {"panel": panel, "x": x, "method": method}
                wanted = names | {"budget": BUDGET, "repetitions": settings.repetitions, "seed": settings.seed}
                cells.get(wanted, partial(point, problem, given, settings, names))
                yield ", ".join(names.values())


def point(problem: Problem, costs: Floats, settings: Settings, names: dict[str, str]) -> Cell:
    """Return error, cost and labels of one method."""
    pool = problem.pool(costs)
    plan = plan_of(pool, "error_rate", DESIGNS[names["method"]])
    (target,) = targets_of(pool, problem.labels, plan)
    budget = min(float(BUDGET), float(costs.sum()) / 2)
    runs = simulate(plan.sizes, [target], [budget], settings.repetitions, settings.rng(*names.values()), costs=costs)
    found = summary(runs.values[:, 0, 0], target.truth())
    parts = {"error": found["error"], "error_se": found["error_se"], "undefined": found["undefined"]}
    for name, column in (("spent", runs.spent[:, 0]), ("labels", runs.labels[:, 0])):
        parts |= {name: float(column.mean()), f"{name}_se": float(column.std() / np.sqrt(len(column)))}
    return parts | {"draws": float(runs.draws[:, 0].mean()), "cost_variance": float(np.var(costs))}


def draw(rows: list[Row]) -> Figure:
    """Draw bars of cost and labels, and the errors."""
    figure, axes = panels(3)
    for place, name, label in zip(axes, ("spent", "labels"), ("cost used of 200", "labels"), strict=False):
        for shift, method in enumerate(METHODS):
            part = chosen(rows, panel="correlation", method=method)
            at = np.arange(len(part)) + 0.2 * shift
            height, error = ([number(row, key) for row in part] for key in (name, f"{name}_se"))
            place.bar(at, height, 0.18, yerr=error, color=STYLES[method]["color"], label=method)
        place.set_xticks(np.arange(len(CORRELATIONS)) + 0.3, CORRELATIONS)
        place.set(xlabel="correlation of uncertainty and 1/cost", ylabel=label)
    for method in METHODS:
        band(axes[2], method, curve_of(rows, "cost_variance", panel="exponent", method=method))
    axes[2].set(xlabel="variance of costs", ylabel="absolute error", ylim=(0, None))
    legend(figure, axes[2])
    return figure


def tables(rows: list[Row]) -> str:
    """Return cost and labels, and errors by variance."""
    used = [
        [kind, method, *(f"{number(row, name):.1f}" for name in ("spent", "labels", "draws"))]
        for kind in CORRELATIONS
        for method in METHODS
        for row in chosen(rows, panel="correlation", x=kind, method=method)
    ]
    errors = []
    for row in chosen(rows, panel="exponent", method="passive"):
        same = [number(chosen(rows, panel="exponent", x=row["x"], method=m)[0], "error") for m in METHODS]
        errors.append([row["x"], f"{number(row, 'cost_variance'):.2f}", *(f"{e:.4f}" for e in same)])
    return (
        f"What a budget of {BUDGET} buys:\n\n"
        + table(("correlation", "method", "cost used", "labels", "draws"), used)
        + "\n\nError by the variance of costs:\n\n"
        + table(("exponent", "variance", *METHODS), errors)
    )


EXPERIMENT = Experiment("figure_4_9", ("panel", "x", "method", "budget"), VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
