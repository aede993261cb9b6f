"""Figure 4.10: how many times larger the error of passive is than that of active, by model and over time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from benchmarks import data
from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import summary
from experiments.chapter4.training import DOMAINS, batches, bayes, sizes, trained
from experiments.curves import DESIGNS, Run, Settings, packaged, thesis
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.problems import Problem, enron_rank, load
from experiments.rows import Row, chosen, number
from experiments.simulation import plan_of, targets_of

BUDGET = 200
METHODS = ("passive", "active", "package default")
MEASURES = {"error rate": "error_rate", "F_0.5": "f1"}
VALUES = ("likelihood", "truth", *(f"{m} {v}" for m in METHODS for v in ("error", "error_se")))
COLOURS = dict(zip(DOMAINS, ("#1f63ad", "#c0392b", "#7d6608"), strict=True))


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all points."""
    for domain in DOMAINS:
        for size in sizes(domain):
            yield point(cells, settings, domain, str(size), trained(domain, size), "error rate")
        yield point(cells, settings, domain, "naive Bayes", bayes(domain), "error rate")
    _, meta = data.enron()
    for k, part in enumerate(batches(load("enron-late"), enron_rank(meta))):
        for measure in MEASURES:
            yield point(cells, settings, "enron-late", str(k + 1), part, measure)


def point(cells: Cells, settings: Settings, domain: str, model: str, problem: Problem, measure: str) -> str:
    """Compute one point, all methods on one pool."""
    names = {"domain": domain, "model": model, "measure": measure}
    wanted = names | {
        "budget": BUDGET,
        "sessions": settings.sessions,
        "repetitions": settings.repetitions,
        "seed": settings.seed,
    }
    cells.get(wanted, partial(errors, problem, MEASURES[measure], settings, tuple(names.values())))
    return ", ".join(names.values())


def errors(problem: Problem, measure: str, settings: Settings, names: tuple[str, ...]) -> Cell:
    """Return the errors of all methods, and the likelihood of the labels."""
    pool, codes = problem.pool(), problem.labels
    (target,) = targets_of(pool, codes, plan_of(pool, measure, "passive"))
    budget = min(BUDGET, len(problem) // 2)
    found: Cell = {"likelihood": problem.label_likelihood, "truth": target.truth()}
    for method in METHODS:
        session = method == "package default"
        how: Run = (
            packaged(pool, codes, measure, [budget])
            if session
            else thesis(pool, codes, measure, DESIGNS[method], [budget])
        )
        count = settings.sessions if session else settings.repetitions
        part = summary(how(count, settings.rng(*names, method))[:, 0], target.truth())
        found |= {f"{method} {name}": part[name] for name in ("error", "error_se")}
    return found


def ratio(row: Row, method: str = "active") -> tuple[float, float]:
    """Return passive's mean error over the method's, and its standard error (delta method)."""
    ours, theirs = number(row, f"{method} error"), number(row, "passive error")
    if not (ours > 0 and theirs > 0):
        return float("nan"), float("nan")
    relative = np.hypot(number(row, f"{method} error_se") / ours, number(row, "passive error_se") / theirs)
    return theirs / ours, theirs / ours * float(relative)


def draw(rows: list[Row]) -> Figure:
    """Draw ratios over likelihoods, and over time with the likelihood beside them."""
    figure, axes = panels(3)
    for domain in DOMAINS:
        for plain, marker in ((True, "o"), (False, "x")):
            part = [row for row in chosen(rows, domain=domain) if (row["model"] != "naive Bayes") == plain]
            at, found = [number(row, "likelihood") for row in part], [ratio(row) for row in part]
            label = domain if plain else None
            value, error = zip(*found, strict=True)
            axes[0].errorbar(at, value, error, fmt=marker, color=COLOURS[domain], markersize=4, capsize=2, label=label)
    axes[0].plot([], [], "x", color="0.3", label="naive Bayes")
    axes[0].set(xlabel="label likelihood", ylabel="error of passive / error of active", title="models")
    for place, measure in zip(axes[1:], MEASURES, strict=True):
        part = chosen(rows, domain="enron-late", measure=measure)
        at, found = [number(row, "model") for row in part], [ratio(row) for row in part]
        value, error = zip(*found, strict=True)
        place.errorbar(at, value, error, fmt="o-", color="#1f63ad", markersize=4, capsize=2, label="ratio")
        place.plot(
            at, [number(row, "likelihood") for row in part], "s-", color="#c0392b", markersize=4, label="likelihood"
        )
        place.set(
            xlabel="part of the later mail", ylabel="ratio; likelihood", title=f"enron-late, {measure}", ylim=(0, None)
        )
        place.legend(frameon=False)
    for place in axes:
        place.axhline(1.0, color="0.5", linewidth=0.8)
    axes[0].legend(frameon=False, fontsize=7)
    return figure


def tables(rows: list[Row]) -> str:
    """Return every point."""
    lines = []
    for row in rows:
        shown = [f"{value:.2f} +- {error:.2f}" for value, error in (ratio(row), ratio(row, "package default"))]
        name = [row["domain"], row["model"], row["measure"]]
        lines.append([*name, f"{number(row, 'truth'):.4f}", f"{number(row, 'likelihood'):.3f}", *shown])
    heads = (
        "pool",
        "training rows, or part",
        "measure",
        "its value",
        "likelihood",
        "passive / active",
        "passive / default",
    )
    return table(heads, lines)


EXPERIMENT = Experiment("figure_4_10", ("domain", "model", "measure", "budget", "sessions"), VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
