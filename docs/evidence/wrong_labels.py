"""Print how estimates fare where a model is nearly perfect and sure of it, and labels are wrong by chance.

Pools of 10,000 items in two equal classes, told apart by a normal score whose means are eight standard deviations from
each other: the model is wrong of 3 items in 100,000, and its probabilities say so. A share of the labels is then wrong,
of any item alike. For the default, with ``floor=0.5`` and by equal draws, at 100, 300 and 1,000 labels: the mean
absolute error of the error rate, how many of the 95 % intervals hold, and their mean width, over 200 pools.

Then the same of models that learned from such labels: boosted trees and forests of five classes, from 3,000 items that
scikit-learn makes and of which 2 in 100 have any class, on 8,000 others; 20 draws from each of ten pools.

Run: ``python docs/evidence/wrong_labels.py`` (twenty minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import sondage

SIZE, APART, REPEATS = 10_000, 8.0, 200
WRONG, BUDGETS = (0.003, 0.01, 0.03), (100, 300, 1000)
WAYS: dict[str, dict[str, Any]] = {"default": {}, "`floor=0.5`": {"floor": 0.5}, "equal draws": {"method": "passive"}}
LEARNT, TRAINED, POOLS = 0.02, 3_000, 10
MODELS = {
    "boosted trees": partial(HistGradientBoostingClassifier, max_iter=60, random_state=0),
    "forest": partial(RandomForestClassifier, random_state=0),
}

Drawn = tuple[sondage.Pool, np.ndarray, float]


def draw(wrong: float, seed: int) -> Drawn:
    """Return a pool, its labels and the model's error rate."""
    random = np.random.default_rng(seed)
    side = random.random(SIZE) < 0.5
    chances = expit(APART * (np.where(side, 0.5, -0.5) * APART + random.normal(size=SIZE)))
    labels = np.where(random.random(SIZE) < wrong, ~side, side).astype(int)
    return sondage.Pool(probabilities=chances), labels, float(np.mean((chances > 0.5) != labels))


def learned(model: Callable[[], Any], seed: int) -> Drawn:
    """Return the same of what a model that learned from wrong labels says of other items."""
    rows, labels = make_classification(
        n_samples=TRAINED + 8_000,
        n_features=20,
        n_informative=8,
        n_redundant=4,
        n_classes=5,
        n_clusters_per_class=1,
        class_sep=3.0,
        flip_y=LEARNT,
        random_state=seed,
    )
    chances = model().fit(rows[:TRAINED], labels[:TRAINED]).predict_proba(rows[TRAINED:])
    told = labels[TRAINED:]
    return sondage.Pool(probabilities=chances), told, float(np.mean(chances.argmax(axis=1) != told))


def simulate(pools: Iterable[Drawn], options: dict[str, Any], budget: int) -> tuple[float, float, float]:
    """Return the mean absolute error, the share of the intervals that hold, and their mean width, a draw a pool."""
    found = []
    for seed, (pool, labels, truth) in enumerate(pools):
        estimate = sondage.evaluate(pool, "error_rate", labels, budget, seed, **options)
        interval = estimate.interval(0.95)
        found.append(
            (abs(estimate.value - truth), interval.low <= truth <= interval.high, interval.high - interval.low)
        )
    error, held, width = np.mean(found, axis=0)
    return float(error), float(held), float(width)


def table(kind: str, pools: dict[str, Callable[[], Iterable[Drawn]]]) -> None:
    """Print a row for each kind of pool and way to draw."""
    print(f"| {kind} | | {' | '.join(f'{budget:,} labels' for budget in BUDGETS)} |")
    print("|---" * (2 + len(BUDGETS)) + "|")
    for name, made in pools.items():
        for way, options in WAYS.items():
            cells = ["{:.4f}; {:.3f}; {:.3f}".format(*simulate(made(), options, budget)) for budget in BUDGETS]
            print(f"| {name} | {way} | {' | '.join(cells)} |", flush=True)


def perfect(wrong: float) -> Iterable[Drawn]:
    """Return the pools of a nearly perfect model."""
    return (draw(wrong, seed) for seed in range(REPEATS))


def main() -> None:
    table("wrong labels", {f"{wrong:.1%}": partial(perfect, wrong) for wrong in WRONG})
    print()
    each = REPEATS // POOLS
    trained = {name: [learned(model, seed) for seed in range(POOLS)] for name, model in MODELS.items()}
    table("learned from wrong labels", {name: partial(list, pools * each) for name, pools in trained.items()})


if __name__ == "__main__":
    main()
