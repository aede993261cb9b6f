"""Print how a regressor without variances fares by `belief="growing"`, where its errors grow with the number or not.

Four pools of 2,000 numbers of each kind, 300 labels, 50 draws of each pool:

- `proportional`, as prices and amounts: what is predicted is log-normal, exp(N(1, 0.8)), and the truth is it times
  another log-normal, exp(N(-0.18, 0.6)), so that one item in a hundred has half of the squared error;
- `equal`: the truth is the same prediction plus N(0, 1);
- `seldom`, as demand: of nine in ten items 0 is predicted, and one in fifty of these is as large as the others, which
  are off by a third. Small numbers are nearly always right, and seldom far off.

Every row gives the mean absolute error in units of the truth, and the coverage and mean width of the 95 % interval, by
the default, by `belief="growing"` and by the default with variances in proportion to the squared number. Run:
``python docs/evidence/proportional.py`` (five minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws

import sondage

REPEATS, BUDGET = 50, 300
POOLS, SIZE = 4, 2_000


def proportional(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted numbers of a pool, and its labels."""
    predicted = np.exp(random.normal(1.0, 0.8, SIZE))
    return predicted, predicted * np.exp(random.normal(-0.18, 0.6, SIZE))


def equal(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the same where errors do not grow."""
    predicted = np.exp(random.normal(1.0, 0.8, SIZE))
    return predicted, predicted + random.normal(0.0, 1.0, SIZE)


def seldom(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the same where small numbers are nearly always right."""
    large, size = random.random(SIZE) < 0.1, np.exp(random.normal(1.0, 0.7, SIZE))
    missed = ~large & (random.random(SIZE) < 0.02)
    return np.where(large, size, 0.0), np.where(large | missed, size + large * random.normal(0.0, 0.33 * size), 0.0)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'errors':12} {'measure':7} {'':13} {'error':>6} {'coverage':>8} {'width':>6}")
    for make in (proportional, equal, seldom):
        pools = [make(np.random.default_rng(seed)) for seed in range(POOLS)]
        for measure in ("mse", "r2", "mae"):
            for way in ("default", "growing", "variances"):
                found = []
                for predicted, labels in pools:
                    told = (0.6 * predicted) ** 2 if way == "variances" else None
                    pool = sondage.Pool(means=predicted, variances=told)
                    truth = sondage.evaluate(pool, measure, labels, SIZE, method="passive").value
                    belief = "growing" if way == "growing" else None
                    found.append(draws(truth, pool, measure, labels, BUDGET, REPEATS, belief=belief))
                error, width = (np.mean([getattr(one, of) / one.truth for one in found]) for of in ("error", "width"))
                coverage = np.mean([one.coverage for one in found])
                print(f"{make.__name__:12} {measure:7} {way:13} {error:6.3f} {coverage:8.3f} {width:6.3f}", flush=True)


if __name__ == "__main__":
    main()
