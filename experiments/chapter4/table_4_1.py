"""Table 4.1: active learning with active evaluation, with passive evaluation, and passive learning; 220 labels each.

    (1) 20 items at random, 100 of smallest margin to learn from; 100 drawn by the active design to evaluate on
    (2) the same, but 100 drawn at random to evaluate on
    (3) 220 items at random; 10-fold cross-validation

Each learning is evaluated many times, which tells its estimation error; standard errors are over learnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.cells import Cell, Cells, table
from experiments.curves import DESIGNS, Settings
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.problems import digit_rows
from experiments.rows import Row, chosen, number
from experiments.simulation import plan_of, simulate, targets_of
from sondage import Pool

DOMAINS = ("enron mailbox 2", "mnist, 4 and 9", "usps, 4 and 9")
FIRST, ACTIVE, TEST, ALL = 20, 100, 100, 220
EVALUATIONS = 50
VALUES = ("passive learning", "cross-validation", "active learning", "active evaluation", "passive evaluation")
THESIS = {
    "passive learning": "(3) passive learning: model error",
    "cross-validation": "(3) estimation error of cross-validation",
    "active learning": "(1), (2) active learning: model error",
    "active evaluation": "(1) estimation error, active",
    "passive evaluation": "(2) estimation error, passive",
}


@dataclass(frozen=True, eq=False)
class Items:
    """Rows to learn from, dense or sparse, and labels 0 and 1."""

    rows: Any
    labels: NDArray[np.int64]


@cache
def domain_data(domain: str) -> Items:
    """Return all items of a domain."""
    if domain.startswith("enron"):
        words, meta = data.enron()
        inside = np.asarray(meta["corpus"]) == 2
        rows = words[inside]
        used = np.asarray(rows.sum(axis=0)).ravel() > 0  # words of other mailboxes have no weight here
        return Items(rows[:, used], np.asarray(meta["label"])[inside].astype(int))
    images, label = digit_rows((4, 9))[domain.split(",")[0]]
    return Items(images, label)


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all learnings, each of a hundred fits and more."""
    for k in range(settings.repetitions):
        for domain in DOMAINS:
            names = {"domain": domain, "learning": k, "repetitions": EVALUATIONS, "seed": settings.seed}
            cells.get(names, partial(learning, domain, settings.rng(domain, k)))
        yield f"learning {k + 1}"


def learning(domain: str, rng: np.random.Generator) -> Cell:
    """Return model errors and mean estimation errors of one learning by each protocol."""
    items = domain_data(domain)
    p = actively(items, rng)
    pool = Pool(probabilities=p)
    wrong = float(np.mean((p > 0.5) != items.labels))
    found: Cell = {"active learning": wrong}
    for name in ("active", "passive"):
        plan = plan_of(pool, "error_rate", DESIGNS[name])
        budget = min(TEST, len(p) // 2)
        runs = simulate(plan.sizes, targets_of(pool, items.labels, plan), [budget], EVALUATIONS, rng)
        found[f"{name} evaluation"] = float(np.mean(np.abs(runs.values[:, 0, 0] - wrong)))
    return found | passively(items, rng)


def actively(items: Items, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the probabilities of all items after learning from those of the smallest margin."""
    known = start(items, rng, FIRST)
    model = data.logistic(warm_start=True)
    for _ in range(min(ACTIVE, len(items.labels) // 2)):
        margin = np.abs(fitted(model, items, known).decision_function(items.rows))
        margin[known] = np.inf
        known.append(int(np.argmin(margin)))
    return np.asarray(fitted(model, items, known).predict_proba(items.rows)[:, 1])


def passively(items: Items, rng: np.random.Generator) -> Cell:
    """Return the model error of as many labels drawn at random, and the error of cross-validation."""
    from sklearn.model_selection import cross_val_score

    known = start(items, rng, min(ALL, len(items.labels) // 2))
    model = data.logistic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer of a class than folds
        scores = cross_val_score(model, items.rows[known], items.labels[known], cv=10)
    wrong = 1.0 - float(fitted(model, items, known).score(items.rows, items.labels))
    return {"passive learning": wrong, "cross-validation": abs(1.0 - float(scores.mean()) - wrong)}


def start(items: Items, rng: np.random.Generator, count: int) -> list[int]:
    """Return items at random; again, if they are all of one class."""
    while True:
        known = rng.choice(len(items.labels), count, replace=False).tolist()
        if len(np.unique(items.labels[known])) == 2:
            return [int(k) for k in known]


def fitted(model: Any, items: Items, known: list[int]) -> Any:
    """Return the model, trained on these items."""
    return model.fit(items.rows[known], items.labels[known])


def draw(rows: list[Row]) -> Figure:
    """Draw the errors as bars."""
    figure, axes = panels(len(DOMAINS))
    for place, domain in zip(axes, DOMAINS, strict=True):
        found = [summary(rows, domain, name) for name in VALUES]
        place.barh(range(len(VALUES)), [m for m, _ in found], xerr=[e for _, e in found], color="#1f63ad", capsize=2)
        place.set_yticks(range(len(VALUES)), VALUES if place is axes[0] else [])
        place.invert_yaxis()
        place.set(title=domain, xlabel="error")
    return figure


def summary(rows: list[Row], domain: str, name: str) -> tuple[float, float]:
    """Return the mean over learnings, and its standard error."""
    values = np.array([number(row, name) for row in chosen(rows, domain=domain)])
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def tables(rows: list[Row]) -> str:
    """Return the table as the thesis has it."""
    lines = [
        [title, *("{:.4f} ({:.5f})".format(*summary(rows, domain, name)) for domain in DOMAINS)]
        for name, title in THESIS.items()
    ]
    heads = [f"{domain}, {len(chosen(rows, domain=domain))} learnings" for domain in DOMAINS]
    return table(("protocol", *heads), lines)


EXPERIMENT = Experiment("table_4_1", ("domain", "learning"), VALUES, run, draw, tables)

if __name__ == "__main__":
    main(EXPERIMENT)
