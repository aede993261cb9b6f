"""Print how estimates fare where a model is nearly perfect and sure of it, and labels are wrong by chance.

Pools of 10,000 items in two equal classes, told apart by a normal score whose means are eight standard deviations from
each other: the model is wrong of 3 items in 100,000, and its probabilities say so. A share of the labels is then wrong,
of any item alike. For the default, with ``floor=0.5`` and by equal draws, at 100, 300 and 1,000 labels: the mean
absolute error of the error rate, how many of the 95 % intervals hold, and their mean width, over 200 pools.

Run: ``python docs/evidence/wrong_labels.py`` (ten minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

import sondage

SIZE, APART, REPEATS = 10_000, 8.0, 200
WRONG, BUDGETS = (0.003, 0.01, 0.03), (100, 300, 1000)
WAYS = {"default": {}, "`floor=0.5`": {"floor": 0.5}, "equal draws": {"method": "passive"}}


def draw(wrong: float, seed: int) -> tuple[sondage.Pool, np.ndarray, float]:
    """Return a pool, its labels and the model's error rate."""
    random = np.random.default_rng(seed)
    side = random.random(SIZE) < 0.5
    chances = expit(APART * (np.where(side, 0.5, -0.5) * APART + random.normal(size=SIZE)))
    labels = np.where(random.random(SIZE) < wrong, ~side, side).astype(int)
    return sondage.Pool(probabilities=chances), labels, float(np.mean((chances > 0.5) != labels))


def simulate(wrong: float, options: dict[str, object], budget: int) -> tuple[float, float, float]:
    """Return the mean absolute error, the share of the intervals that hold, and their mean width."""
    found = []
    for seed in range(REPEATS):
        pool, labels, truth = draw(wrong, seed)
        estimate = sondage.evaluate(pool, "error_rate", labels, budget, seed, **options)
        interval = estimate.interval(0.95)
        found.append(
            (abs(estimate.value - truth), interval.low <= truth <= interval.high, interval.high - interval.low)
        )
    error, held, width = np.mean(found, axis=0)
    return float(error), float(held), float(width)


def main() -> None:
    print(f"| wrong labels | | {' | '.join(f'{budget:,} labels' for budget in BUDGETS)} |")
    print("|---" * (2 + len(BUDGETS)) + "|")
    for wrong in WRONG:
        for way, options in WAYS.items():
            cells = ["{:.4f}; {:.3f}; {:.3f}".format(*simulate(wrong, options, budget)) for budget in BUDGETS]
            print(f"| {wrong:.1%} | {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
