"""Small pools of random make and questions to them, which scripts ask twice in two ways that must not matter."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax

import sondage
from sondage.errors import SondageError, SondageWarning

POOLS = 4000
DIGITS = 1e-7

NAMES = ("a", "b", "c")
OF_CLASSES = ("error_rate", "f1", "recall", "specificity", "balanced_accuracy", "macro_f", "mcc", "kappa")
MEASURES = {
    "probabilities": (*OF_CLASSES, "log_loss", "brier", "auc", "average_precision", "ece"),
    "classes": OF_CLASSES,
    "numbers": ("mse", "rmse", "mae", "bias", "r2"),
    "outcomes": ("accuracy", "mean_outcome"),
}

DIMENSIONS = {"mse": 2, "rmse": 1, "mae": 1, "bias": 1}
"""To which power a measure's value goes with the unit of the labels."""


Answer = tuple[list[int], np.ndarray]
"""Which items were asked for, in their order, and the numbers of the result."""


def print_twice(
    way: str, twice: Callable[[str, int, np.random.Generator], tuple[str, str, Answer, Answer] | None]
) -> None:
    """Ask random pools twice and print how often other items were asked for, or other numbers said (to 7 digits).

    Parameters
    ----------
    way : str
        Heading of the first column.
    twice : callable
        From make, size and random numbers to the row's first two columns and both answers; None to pass a pool over.
    """
    warnings.simplefilter("ignore", SondageWarning)
    asked: Counter[tuple[str, str]] = Counter()
    other_items: Counter[tuple[str, str]] = Counter()
    other_numbers: Counter[tuple[str, str]] = Counter()
    for seed in range(POOLS):
        random = np.random.default_rng(seed)
        make = str(random.choice(list(MEASURES)))
        size = int(random.choice([5, 30, 200, 1000]))
        try:
            found = twice(make, size, random)
        except SondageError:  # a measure that is undefined, a budget below a label's cost: refused in either way
            continue
        if found is None:
            continue
        *key, (items, numbers), (same, alike) = found
        row = (key[0], key[1])
        asked[row] += 1
        other_items[row] += items != same
        close = np.allclose(numbers, alike, rtol=DIGITS, atol=1e-9, equal_nan=True)
        other_numbers[row] += items == same and not close
    print(f"| {way} | question | pools | other items | other numbers |\n|" + "---|" * 5)
    for row in sorted(asked):
        print(f"| {row[0]} | {row[1]} | {asked[row]} | {other_items[row]} | {other_numbers[row]} |")
    print(f"| all | | {asked.total()} | {other_items.total()} | {other_numbers.total()} |")


def made(make: str, size: int, random: np.random.Generator) -> tuple[dict[str, Any], np.ndarray]:
    """Return what each model says of the rows, and whatever else a pool has; and the labels."""
    groups = random.integers(0, size // 3 + 1, size) if random.random() < 0.25 else np.arange(size)
    noise = random.choice([0.2, 1.0, 3.0])
    columns: dict[str, Any] = {"groups": groups} if len(np.unique(groups)) < size else {}
    if make == "probabilities":
        score = random.normal(random.choice([0.0, -3.0]), 2.0, size)[groups]
        labels = (random.random(size)[groups] < expit(score)).astype(int)
        said = [expit((score + random.normal(0.0, noise, size)) * random.choice([0.3, 1.0, 4.0])) for _ in NAMES]
        columns["models"] = [p.round(1) if random.random() < 0.15 else p for p in said]
    elif make == "classes":
        score = random.normal(0.0, 1.5, (size, 5))[groups] - 0.5 * np.arange(5)
        chances = np.cumsum(softmax(score, axis=1), axis=1)
        labels = np.sum(random.random(size)[groups][:, None] > chances[:, :-1], axis=1)
        columns["models"] = [np.argmax(score + random.normal(0.0, noise, score.shape), axis=1) for _ in NAMES]
    elif make == "numbers":
        score = random.normal(size=size)[groups]
        labels = score + random.normal(size=size)[groups]
        columns["models"] = [score + random.normal(0.0, noise, size) for _ in NAMES]
        if random.random() < 0.4:
            columns["variances"] = random.lognormal(0.0, 0.5, size) * random.choice([0.5, 1.5, 50.0])
    else:
        common = random.random(size)[groups] < 0.8
        labels = np.column_stack([common ^ (random.random(size)[groups] < 0.1) for _ in NAMES]).astype(float)
    if random.random() < 0.25:
        columns["weights"] = random.lognormal(size=size)
    if random.random() < 0.25:
        columns["costs"] = random.choice([1.0, 2.0, 5.0], size)
    if random.random() < 0.25 and make != "outcomes":
        columns["features"] = random.normal(size=(size, 3))
    return columns, labels


def asking(make: str, size: int, random: np.random.Generator) -> tuple[Any, str]:
    """Return a function that asks a pool, its rows in some order and its numbers in some unit; and what it asks."""
    question = str(random.choice(["evaluate", "sequence", "compare", "select"]))
    measure, seed = str(random.choice(MEASURES[make])), int(random.integers(1000))
    budget, skips = min(int(random.choice([3, 10, 30, 100])), size), random.random() < 0.5
    options: dict[str, Any] = {} if random.random() < 0.6 else {"method": str(random.choice(["passive", "thesis"]))}
    if random.random() < 0.1 and question != "sequence":
        options["target"] = "population"
    if random.random() < 0.1 and question == "evaluate":
        options["draw"] = str(random.choice(["strata", "successive", "with_replacement"]))
    if make == "classes" and measure in ("f1", "recall", "specificity"):
        options["positive"] = 4

    def ask(columns: dict[str, Any], labels: np.ndarray, rows: np.ndarray, unit: float = 1.0) -> Answer:
        asked: list[int] = []
        told = unit ** DIMENSIONS.get(measure, 0)

        def answer(ids: list[int]) -> list[Any]:
            asked.extend(ids)
            return [None if skips and one % 6 == seed % 6 else labelled(labels[one]) for one in ids]

        pool, costs = pool_of(make, columns, rows), columns.get("costs")
        spent = float(budget) if costs is None else min(5.0 * budget * float(costs.min()), float(costs.sum()))
        common = {"labels": answer, "budget": spent, "seed": seed, **options}
        if question == "select":
            return asked, of_selection(sondage.select(pool, measure, **common), told)
        if question == "compare":
            found = sondage.compare(pool, "a", "b", measure, **common)
            return asked, np.append(of_estimate(found.estimate, told), found.pvalue)
        estimate = sondage.evaluate(pool, measure, model="a", **common)
        if question == "evaluate" or costs is not None or options.get("method") == "thesis":  # these have no sequence
            return asked, of_estimate(estimate, told)
        ends = estimate.sequence(0.95)
        return asked, np.concatenate([of_estimate(estimate, told), ends.low / told, ends.high / told])

    return ask, question


def labelled(label: Any) -> Any:
    """Return a label as it is told: systems have one each."""
    return dict(zip(NAMES, label.tolist(), strict=True)) if np.ndim(label) else label.item()


def pool_of(make: str, columns: dict[str, Any], rows: np.ndarray) -> sondage.Pool:
    """Return a pool with its rows in this order."""
    others = {name: column[rows] for name, column in columns.items() if name != "models"}
    if make == "outcomes":
        models: Any = [sondage.Outcome() for _ in NAMES]
    elif make == "numbers":
        variances = others.pop("variances", None)
        models = [sondage.Regressor(own[rows], variances) for own in columns["models"]]
    elif make == "classes":
        models, others["classes"] = [sondage.Classifier(predictions=p[rows]) for p in columns["models"]], range(5)
    else:
        models = [sondage.Classifier(p[rows]) for p in columns["models"]]
    return sondage.Pool(models=dict(zip(NAMES, models, strict=True)), ids=rows, **others)


def of_estimate(estimate: sondage.Estimate, unit: float = 1.0) -> np.ndarray:
    """Return the numbers of an estimate, those that have one in this unit."""
    interval = estimate.interval()
    in_unit = np.array([estimate.value, estimate.std_error, interval.low, interval.high]) / unit
    return np.array([*in_unit, estimate.df, estimate.n_effective, estimate.exact], dtype=float)


def of_selection(found: sondage.Selection, unit: float = 1.0) -> np.ndarray:
    """Return the numbers of a selection, its order among them."""
    order = [float(NAMES.index(name)) for name in found.ranking]
    inside = [float(name in found.contenders()) for name in NAMES]
    gaps = [end / unit for gap in found.gaps().values() for end in (gap.low, gap.high)]
    pairs = [n for pair in found.comparisons.values() for n in (pair.pvalue, pair.estimate.std_error / unit)]
    return np.concatenate([order, inside, gaps, pairs, *(of_estimate(one, unit) for one in found.estimates.values())])
