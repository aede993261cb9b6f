"""Print what a judge of grades saves, however sure or biased it is, and what features do.

A system's 3,000 answers are graded 1 to 5; the mean grade is asked for. The judges expect what is left when a grade is
predicted with a standard deviation of .7, and tell its probabilities: `right`; `sure`, cubed; `biased`, .7 grades
higher and a standard deviation of .3; `names`, the likeliest grade alone; `useless`, those of another answer.
`features`: twenty numbers, of which three tell grades, without a judge; `useless features`, those of another answer.
`lapses`: a judge that is sure of one grade, and of 3 in 100 answers by chance. Every row gives, over 200 draws, the
root mean square error, its ratio to that without a judge, and coverage and mean width of the 95 % interval. Run:
``python docs/evidence/graded.py`` (a few minutes). Decision 0091 quotes what it prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from draws import draws
from scipy.stats import norm

import sondage

REPEATS = 200
BUDGETS = (60, 150, 400)
SIZE = 3_000
GRADES = np.arange(1.0, 6.0)


def told(expected: np.ndarray, deviation: float) -> np.ndarray:
    """Return the probabilities of the grades that normal numbers are rounded to, none below 1 in 10,000."""
    ends = np.concatenate([[-np.inf], GRADES[:-1] + 0.5, [np.inf]])
    p = np.diff(norm.cdf((ends - expected[:, None]) / deviation), axis=1) + 1e-4
    return p / p.sum(axis=1, keepdims=True)


def pool_of(judge: np.ndarray | None, **options: Any) -> sondage.Pool:
    """Return the pool of one system with this judge."""
    return sondage.Pool(models={"a": sondage.Outcome(judge, GRADES)}, ids=np.arange(SIZE), **options)


def judges() -> Iterator[tuple[str, sondage.Pool, np.ndarray]]:
    """Yield pools of the same answers by name, with their grades, and those of the judge that lapses."""
    random = np.random.default_rng(0)
    features = random.normal(size=(SIZE, 20))
    expected = 3.3 + features @ np.array([0.8, 0.5, 0.3, *[0.0] * 17])
    grades = np.clip(np.round(expected + random.normal(0.0, 0.7, SIZE)), 1, 5)
    right, biased = told(expected, 0.7), told(expected + 0.7, 0.3)
    named = np.eye(5)[right.argmax(axis=1)]
    cubed = right**3 / np.sum(right**3, axis=1, keepdims=True)
    other = random.permutation(SIZE)
    for name, judge in {"none": None, "right": right, "sure": cubed, "biased": biased, "names": named}.items():
        yield name, pool_of(judge), grades
    yield "useless", pool_of(right[other]), grades
    yield "features", pool_of(None, features=features), grades
    yield "useless features", pool_of(None, features=features[other]), grades
    yield "right, features", pool_of(right, features=features), grades
    said = random.choice(5, SIZE, p=[0.05, 0.05, 0.1, 0.3, 0.5])
    by_chance = np.where(random.random(SIZE) < 0.03, random.integers(0, 5, SIZE), said)
    yield "lapses", pool_of(0.998 * np.eye(5)[said] + 0.0004), GRADES[by_chance]


def main() -> None:
    warnings.simplefilter("ignore")
    for name, pool, grades in judges():
        if name == "right":
            explained = np.corrcoef(pool.items.models[0].judge @ GRADES, grades)[0, 1] ** 2
            print(f"the judge that is right explains {explained:.2f} of the variance")
    print(f"{'judge':17} {'labels':>6} {'error':>7} {'ratio':>6} {'coverage':>9} {'width':>7}")
    alone: dict[int, float] = {}
    for name, pool, grades in judges():
        for budget in BUDGETS:
            runs = draws(float(np.mean(grades)), pool, "mean_outcome", grades, budget, REPEATS)
            error = runs.root_mean_square
            alone.setdefault(budget, error)
            ratio = "" if name == "lapses" else f"{error / alone[budget]:.2f}"
            print(f"{name:17} {budget:6d} {error:7.4f} {ratio:>6} {runs.coverage:9.3f} {runs.width:7.4f}", flush=True)


if __name__ == "__main__":
    main()
