"""Print intervals where a regressor is exactly right of most items: a forecast of demand, 0 on most days.

Pools of 4,000 numbers. `right`: three quarters are 0 and told so, with the variance .01; of the others four fifths are
log-normal about what is told, with its variance, and the rest 0. `missed`: 88 % are told to be 0, and one in fifty of
these is as large as the others. Every row gives, over 200 draws, the mean absolute error, the coverage of the 95 %
interval and its mean width, errors and widths in units of the truth. Run: ``python docs/evidence/zeros.py`` (a few
minutes). Decision 0053 quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws

import sondage

REPEATS = 200
BUDGETS = (60, 100, 300)
SIZE = 4_000


def demand(large: float, missed: float) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool of which this share is told to be above 0, and this share of the others is, with its labels."""
    random = np.random.default_rng(0)
    told, size = random.random(SIZE) < large, np.exp(random.normal(1.0, 0.7, SIZE))
    labels = np.where(told & (random.random(SIZE) < 0.8), size + random.normal(0.0, 0.3 * size), 0.0)
    labels = np.where(~told & (random.random(SIZE) < missed), size, labels)
    return sondage.Pool(means=np.where(told, 0.8 * size, 0.0), variances=np.where(told, 0.2 * size**2, 0.01)), labels


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'pool':7} {'measure':7} {'method':8} {'labels':>6}  {'error':>6} {'coverage':>8} {'width':>8}")
    for name, (pool, labels) in {"right": demand(0.25, 0.0), "missed": demand(0.12, 0.02)}.items():
        for measure in ("mse", "mae"):
            truth = sondage.evaluate(pool, measure, labels, SIZE).value
            for method in ("default", "passive"):
                for budget in BUDGETS:
                    runs = draws(truth, pool, measure, labels, budget, REPEATS, method=method)
                    numbers = f"{runs.error / truth:6.3f} {runs.coverage:8.3f} {runs.width / truth:8.3g}"
                    print(f"{name:7} {measure:7} {method:8} {budget:6d}  {numbers}")


if __name__ == "__main__":
    main()
