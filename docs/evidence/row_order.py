"""Print how often what is asked for, and what is said, depends on the order of a pool's rows: simulated pools.

Small pools of random make (probabilities that are right, far off or rounded, classes without probabilities, numbers,
systems with outcomes; weights, costs, features, groups of rows), a random measure, method, draw, budget and question,
one item in six skipped in half of them. Each is asked twice, the second time with its rows in another order: do both
times the same items come in the same order, and are all numbers the same (to 7 digits)?
Run: ``python docs/evidence/row_order.py`` (six minutes). Decision 0042 quotes it.
"""

from __future__ import annotations

import warnings
from collections import Counter
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


def main() -> None:
    warnings.simplefilter("ignore", SondageWarning)
    asked: Counter[tuple[str, str]] = Counter()
    other_items: Counter[tuple[str, str]] = Counter()
    other_numbers: Counter[tuple[str, str]] = Counter()
    for seed in range(POOLS):
        random = np.random.default_rng(seed)
        make = random.choice(list(MEASURES))
        size = int(random.choice([5, 30, 200, 1000]))
        columns, labels = made(make, size, random)
        ask, question = asking(make, size, random)
        try:
            first, other = (ask(columns, labels, rows) for rows in (np.arange(size), random.permutation(size)))
        except SondageError:  # a measure that is undefined, a budget below a label's cost: refused in either order
            continue
        asked[make, question] += 1
        other_items[make, question] += first[0] != other[0]
        other_numbers[make, question] += first[0] == other[0] and not np.allclose(
            first[1], other[1], rtol=DIGITS, atol=1e-9, equal_nan=True
        )
    print("| models | question | pools | other items | other numbers |\n|" + "---|" * 5)
    for make, question in sorted(asked):
        key = make, question
        print(f"| {make} | {question} | {asked[key]} | {other_items[key]} | {other_numbers[key]} |")
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
    """Return a function that asks a pool with its rows in some order, and what it asks."""
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

    def ask(columns: dict[str, Any], labels: np.ndarray, rows: np.ndarray) -> tuple[list[int], np.ndarray]:
        asked: list[int] = []

        def answer(ids: list[int]) -> list[Any]:
            asked.extend(ids)
            return [None if skips and one % 6 == seed % 6 else labelled(labels[one]) for one in ids]

        pool, costs = pool_of(make, columns, rows), columns.get("costs")
        spent = float(budget) if costs is None else min(5.0 * budget, float(costs.sum()))
        common = {"labels": answer, "budget": spent, "seed": seed, **options}
        if question == "select":
            return asked, of_selection(sondage.select(pool, measure, **common))
        if question == "compare":
            found = sondage.compare(pool, "a", "b", measure, **common)
            return asked, np.append(of_estimate(found.estimate), found.pvalue)
        estimate = sondage.evaluate(pool, measure, model="a", **common)
        if question == "evaluate" or costs is not None or options.get("method") == "thesis":  # these have no sequence
            return asked, of_estimate(estimate)
        ends = estimate.sequence(0.95)
        return asked, np.concatenate([of_estimate(estimate), ends.low, ends.high])

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
        models = [sondage.Regressor(own[rows]) for own in columns["models"]]
    elif make == "classes":
        models, others["classes"] = [sondage.Classifier(predictions=p[rows]) for p in columns["models"]], range(5)
    else:
        models = [sondage.Classifier(p[rows]) for p in columns["models"]]
    return sondage.Pool(models=dict(zip(NAMES, models, strict=True)), ids=rows, **others)


def of_estimate(estimate: sondage.Estimate) -> np.ndarray:
    """Return the numbers of an estimate."""
    interval = estimate.interval()
    named = (estimate.value, estimate.std_error, estimate.df, estimate.n_effective, estimate.exact)
    return np.array([*named, interval.low, interval.high], dtype=float)


def of_selection(found: sondage.Selection) -> np.ndarray:
    """Return the numbers of a selection, its order among them."""
    order = [float(NAMES.index(name)) for name in found.ranking]
    inside = [float(name in found.contenders()) for name in NAMES]
    gaps = [end for gap in found.gaps().values() for end in (gap.low, gap.high)]
    pairs = [number for pair in found.comparisons.values() for number in (pair.pvalue, pair.estimate.std_error)]
    return np.concatenate([order, inside, gaps, pairs, *map(of_estimate, found.estimates.values())])


if __name__ == "__main__":
    main()
