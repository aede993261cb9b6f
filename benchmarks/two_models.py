"""Two classifiers: how often a true difference is found, and how often one is claimed where there is none.

    python benchmarks/two_models.py                  all pairs, 120 runs
    python benchmarks/two_models.py --runs 500       more of them

Ways: the thesis's comparison, the staged draw (``belief="learned"``) and the default, whose counts are exact. Power is
for the pool's own difference at the level .05. Under the null hypothesis each item's two outputs change places with
probability 1/2 in every run, and the population is the target. docs/statistics.md, section 9, quotes the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from cells import whole_number
from known_problems import PAIRS, Pair, classifiers
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sondage

BUDGETS = (50, 100, 200, 400)
LEVEL = 0.05
WAYS: dict[str, dict[str, Any]] = {"thesis": {"method": "thesis"}, "staged": {"belief": "learned"}, "default": {}}
TRAINED = 2000


def trained(models: list[Any], features: list[slice], *, classes: int = 2, separation: float = 1.0) -> Pair:
    """Return two models fitted to different features of one simulated problem."""
    x, y = make_classification(
        10_000,
        16,
        n_informative=10,
        n_redundant=0,
        n_classes=classes,
        flip_y=0.03,
        class_sep=separation,
        random_state=5,
    )
    fits = [
        model.fit(x[:TRAINED][:, part], y[:TRAINED]).predict_proba(x[TRAINED:][:, part])
        for model, part in zip(models, features, strict=True)
    ]
    return classifiers(fits, y[TRAINED:])


def regression() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(60, min_samples_leaf=3, random_state=0)


ALL = slice(0, 16)
CHOSEN: dict[str, Callable[[], Pair]] = {
    "regression and forest": lambda: trained([regression(), forest()], [ALL, ALL]),
    "two sets of features": lambda: trained([regression(), regression()], [slice(0, 14), slice(1, 15)]),
    "forest and boosting, 4 classes": lambda: trained(
        [forest(), HistGradientBoostingClassifier(max_iter=40, random_state=0)], [ALL, ALL], classes=4, separation=1.2
    ),
    "digits": PAIRS["digits"],
    "tweets_like": PAIRS["tweets_like"],
}


def rejections(pair: Pair, way: str, budget: int, runs: int, *, null: bool) -> float:
    """Return the share of runs that reject."""
    count = 0
    for seed in range(runs):
        pool = pair.swapped(np.random.default_rng([seed, budget])) if null else pair.pool
        found = sondage.compare(
            pool,
            *pool.models,
            pair.measure,
            labels=pair.labels,
            budget=budget,
            seed=seed,
            target="population" if null else "pool",
            **WAYS[way],
        )
        count += found.pvalue <= LEVEL
    return count / runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=whole_number, default=120)
    parser.add_argument("--pair", nargs="+", choices=list(CHOSEN), default=list(CHOSEN))
    options = parser.parse_args()
    made = {name: CHOSEN[name]() for name in options.pair}
    for title, null in (("power", False), ("type I error", True)):
        print(f"\n{title} at {', '.join(map(str, BUDGETS))} labels\n")
        print("| pair (items; they differ on) |", " | ".join(WAYS), "|")
        print("|---" * (1 + len(WAYS)) + "|")
        for name, pair in made.items():
            first, second = (output.predictions for output in pair.pool.items.models)
            cells = [
                " ".join(f"{rejections(pair, way, budget, options.runs, null=null):.2f}" for budget in BUDGETS)
                for way in WAYS
            ]
            size = f"{len(first):,}; {np.sum(first != second):,}"
            print(f"| {name} ({size}) |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
