"""Print intervals of a regressor that tells no variances, where errors grow with the number and where they do not.

Four pools of 2,000 numbers of each kind. What is predicted is log-normal, exp(N(1, 0.8)). `growing`, as of prices,
amounts and durations: the truth is it times another log-normal, exp(N(-0.18, 0.6)), so that one item in a hundred has
half of the squared error. `equal`: the truth is it plus N(0, 1). `told`: with variances in proportion to the squared
number, or equal ones. Every row gives, over 100 draws of each pool, the mean absolute error in units of the truth and
the coverage of the 95 % interval. Run: ``python docs/evidence/proportional.py`` (a few minutes). docs/choosing.md
quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws

import sondage

REPEATS = 100
BUDGETS = (100, 300)
POOLS, SIZE = 4, 2_000


def growing(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the predicted numbers of a pool, the variances that may be told, and its labels."""
    random = np.random.default_rng(seed)
    predicted = np.exp(random.normal(1.0, 0.8, SIZE))
    return predicted, (0.6 * predicted) ** 2, predicted * np.exp(random.normal(-0.18, 0.6, SIZE))


def equal(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same of a pool where errors do not grow."""
    random = np.random.default_rng(seed)
    predicted = np.exp(random.normal(1.0, 0.8, SIZE))
    return predicted, np.ones(SIZE), predicted + random.normal(0.0, 1.0, SIZE)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'errors':7} {'measure':7} {'labels':>6}  {'variances':9} {'method':8} {'error':>6} {'coverage':>8}")
    for make in (growing, equal):
        pools = [make(seed) for seed in range(POOLS)]
        for measure in ("mse", "r2", "mae"):
            for budget in BUDGETS:
                for told, method in (("none", "passive"), ("none", "default"), ("told", "default")):
                    found = []
                    for predicted, variances, labels in pools:
                        pool = sondage.Pool(means=predicted, variances=variances if told == "told" else None)
                        truth = sondage.evaluate(pool, measure, labels, SIZE, method="passive").value
                        found.append(draws(truth, pool, measure, labels, budget, REPEATS, method=method))
                    error = np.mean([runs.error / runs.truth for runs in found])
                    numbers = f"{error:6.3f} {np.mean([runs.coverage for runs in found]):8.3f}"
                    print(f"{make.__name__:7} {measure:7} {budget:6d}  {told:9} {method:8} {numbers}", flush=True)


if __name__ == "__main__":
    main()
