"""Figures 4.11 and 4.12: width of intervals, and how often they cover, over the number of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

import sondage
from benchmarks.cells import Cell, Cells, table
from experiments.curves import DESIGNS, SESSION_BUDGETS, Settings
from experiments.experiment import Experiment, main
from experiments.figures import STYLES, band, legend, logarithmic, panels
from experiments.problems import Problem, load
from experiments.rows import Row, chosen, curve_of, number
from experiments.simulation import Floats, plan_of, simulate, targets_of

PROBLEMS = ("enron-1-2", "enron-time-5")
MEASURES = {"error rate": "error_rate", "F_0.5": "f1"}
BUDGETS = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800)
LEVEL = 0.95
METHODS = ("active_Wald", "passive_t", "passive_Wilson", "package default")
VALUES = ("width", "width_se", "coverage", "coverage_se", "undefined")
LOOKS = dict(zip(METHODS, ("active", "passive", "strat", "package default"), strict=True))

Ends = tuple[Floats, Floats]
"""Lower and upper ends of intervals, each shape (R, B); they are not cut off at 0 and 1."""


def wald(values: Floats, errors: Floats, draws: Floats) -> Ends:
    """Return thesis 3.16: standard errors times a normal quantile."""
    half = stats.norm.ppf(0.5 + LEVEL / 2) * errors
    return values - half, values + half


def student(values: Floats, errors: Floats, draws: Floats) -> Ends:
    """Return the interval of the two-sided t test: n - 1 degrees of freedom, and n - 1 in the variance."""
    half = stats.t.ppf(0.5 + LEVEL / 2, draws - 1) * errors * np.sqrt(draws / (draws - 1))
    return values - half, values + half


def wilson(values: Floats, errors: Floats, draws: Floats) -> Ends:
    """Return thesis 3.19 and 3.20, of an error rate from equal draws."""
    z = stats.norm.ppf(0.5 + LEVEL / 2)
    centre = (values + z**2 / (2 * draws)) / (1 + z**2 / draws)
    half = z / (1 + z**2 / draws) * np.sqrt(values * (1 - values) / draws + z**2 / (4 * draws**2))
    return centre - half, centre + half


KINDS = {"active_Wald": ("active", wald), "passive_t": ("passive", student), "passive_Wilson": ("passive", wilson)}


def methods_for(measure: str) -> list[str]:
    """Return the methods that fit a measure: Wilson's interval is of error rates."""
    return [method for method in METHODS if measure == "error rate" or method != "passive_Wilson"]


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all intervals."""
    for name in PROBLEMS:
        problem = load(name)
        budgets = [b for b in BUDGETS if b <= len(problem) / 2]
        for measure in MEASURES:
            for method in methods_for(measure):
                session = method == "package default"
                at = [b for b in budgets if b in (25, *SESSION_BUDGETS)] if session else budgets
                count = settings.sessions if session else settings.repetitions
                names = {"problem": name, "measure": measure, "method": method}
                for group in [[b] for b in at] if session else [at]:  # sessions take long: each budget is written down
                    wanted = [names | {"budget": b, "repetitions": count, "seed": settings.seed} for b in group]
                    made = partial(sessions if session else simulated, problem, measure, method, group, settings)
                    cells.series(wanted, made)
                yield ", ".join(names.values())


def simulated(problem: Problem, measure: str, method: str, budgets: Sequence[int], settings: Settings) -> list[Cell]:
    """Return widths and coverage of intervals from Algorithm 2; those of passive are of the same draws."""
    design, interval = KINDS[method]
    plan = plan_of(problem.pool(), MEASURES[measure], DESIGNS[design])
    (target,) = targets_of(problem.pool(), problem.labels, plan)
    rng = settings.rng(problem.name, measure, design)
    runs = simulate(plan.sizes, [target], budgets, settings.repetitions, rng)
    return judged(*interval(runs.values[:, :, 0], runs.std_errors[:, :, 0], runs.draws), target.truth())


def sessions(problem: Problem, measure: str, method: str, budgets: Sequence[int], settings: Settings) -> list[Cell]:
    """Return widths and coverage of the package's default."""
    pool, codes = problem.pool(), problem.labels
    (target,) = targets_of(pool, codes, plan_of(pool, MEASURES[measure], "passive"))
    seeds = settings.rng(problem.name, measure, method).integers(2**31, size=settings.sessions).tolist()
    ends = [
        [sondage.evaluate(pool, MEASURES[measure], labels=codes, budget=b, seed=s).interval(LEVEL) for b in budgets]
        for s in seeds
    ]
    low, high = (np.array([[getattr(end, name) for end in row] for row in ends]) for name in ("low", "high"))
    return judged(low, high, target.truth())


def judged(low: Floats, high: Floats, truth: float) -> list[Cell]:
    """Return a row for each budget; as in the thesis none where a single interval is undefined."""
    rows = []
    for width, inside in zip((high - low).T, ((low <= truth) & (truth <= high)).T, strict=True):
        undefined = int(np.count_nonzero(np.isnan(width)))
        rate = float("nan") if undefined else float(inside.mean())
        rows.append(
            {
                "width": float(width.mean()),
                "width_se": float(width.std() / np.sqrt(len(width))),
                "coverage": rate,
                "coverage_se": float(np.sqrt(rate * (1 - rate) / len(width))),
                "undefined": undefined,
            }
        )
    return rows


def draw(rows: list[Row]) -> Figure:
    """Draw widths above coverage."""
    places = [(name, measure) for name in PROBLEMS for measure in MEASURES]
    figure, axes = panels(2 * len(places), len(places), width=2.8)
    for k, (name, measure) in enumerate(places):
        for axis, value in ((axes[k], "width"), (axes[k + len(places)], "coverage")):
            for method in methods_for(measure):
                look = STYLES[LOOKS[method]]
                band(axis, method, curve_of(rows, y=value, problem=name, measure=measure, method=method), **look)
            axis.set(xlabel="labels", ylabel=value)
        axes[k].set_title(f"{name}, {measure}")
        logarithmic(axes[k])
        axes[k + len(places)].axhline(LEVEL, color="0.5", linewidth=0.8)
    legend(figure, axes[0])
    return figure


SHOWN = (25, 50, 100, 200, 400, 800)


def tables(rows: list[Row]) -> str:
    """Return widths and coverage."""
    lines: list[list[str]] = []
    for name in PROBLEMS:
        for measure in MEASURES:
            for method in methods_for(measure):
                found = [chosen(rows, problem=name, measure=measure, method=method, budget=b) for b in SHOWN]
                lines.append([name, measure, method, *(entry(row) for row in found)])
    return table(("pool", "measure", "interval", *(f"{b} labels" for b in SHOWN)), lines)


def entry(rows: list[Row]) -> str:
    """Return width and coverage."""
    if not rows:
        return ""
    (row,) = rows
    return "undefined" if row["undefined"] != "0" else f"{number(row, 'width'):.3f}, {number(row, 'coverage'):.3f}"


EXPERIMENT = Experiment("figure_4_11_12", ("problem", "measure", "method", "budget"), VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
