"""Print intervals of a regressor whose errors grow with the number: prices, amounts, durations.

Four pools of 2,000 numbers. What is told is log-normal, exp(N(1, 0.8)), and the truth is it times another log-normal,
exp(N(-0.18, 0.6)), so that one item in a hundred has half of the squared error. `no variances`: none are told; `told`:
those in proportion to the squared number. Every row gives, over 100 draws of each pool, the mean absolute error in
units of the truth and the coverage of the 95 % interval. Run: ``python docs/evidence/proportional.py`` (a few minutes).
docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np

import sondage

REPEATS = 100
BUDGETS = (100, 300)
POOLS, SIZE = 4, 2_000


def amounts(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what is told of a pool, and its labels."""
    random = np.random.default_rng(seed)
    told = np.exp(random.normal(1.0, 0.8, SIZE))
    return told, told * np.exp(random.normal(-0.18, 0.6, SIZE))


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'measure':7} {'labels':>6}  {'variances':12} {'method':8} {'error':>6} {'coverage':>8}")
    pools = [amounts(seed) for seed in range(POOLS)]
    for measure in ("mse", "r2", "mae"):
        for budget in BUDGETS:
            for name, method in (("no variances", "passive"), ("no variances", "default"), ("told", "default")):
                errors, held = [], []
                for told, labels in pools:
                    pool = sondage.Pool(means=told, variances=(0.6 * told) ** 2 if name == "told" else None)
                    truth = sondage.evaluate(pool, measure, labels, SIZE).value
                    runs = [sondage.evaluate(pool, measure, labels, budget, s, method=method) for s in range(REPEATS)]
                    errors += [abs(run.value - truth) / truth for run in runs]
                    held += [truth in run.interval() for run in runs]
                error, coverage = np.mean(errors), np.mean(held)
                print(f"{measure:7} {budget:6d}  {name:12} {method:8} {error:6.3f} {coverage:8.3f}", flush=True)


if __name__ == "__main__":
    main()
