"""Print intervals where labels show more than calibrations learn: a bias, and dear errors that do not occur.

`biased` has 4,000 numbers that a regressor tells 1 too high, 1.5 where they are large, and of which it tells the
variance .25 that they have about that; `ordinal` 4,000 items of five ordered classes with right probabilities. Every
row gives, over 200 draws, the coverage of the 95 % interval, its mean width and the mean standard error over the
estimates' spread. Run: ``python docs/evidence/borne_out.py`` (a few minutes). Decision 0052 quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws

import sondage

REPEATS = 200
BUDGETS = (100, 300)
SIZE = 4_000


def biased() -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of numbers, and its labels."""
    random = np.random.default_rng(5)
    x = random.normal(size=SIZE)
    labels = x + 0.5 * random.normal(size=SIZE)
    return sondage.Pool(means=x + 1.0 + 0.5 * (x > 1), variances=np.full(SIZE, 0.25)), labels


def ordinal() -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of ordered classes, and its labels."""
    random = np.random.default_rng(6)
    graded = random.normal(2.0, 1.2, SIZE)
    seen = graded + random.normal(0.0, 0.9, SIZE)
    p = np.exp(-0.5 * (np.arange(5) - seen[:, None]) ** 2 / 0.6)
    return sondage.Pool(probabilities=p / p.sum(axis=1, keepdims=True)), np.clip(np.round(graded), 0, 4).astype(int)


def costs(table: np.ndarray) -> str:
    """Return the expected cost by a table."""
    return "expected_cost:costs=" + "/".join(f"{cost:g}" for cost in table.ravel())


def main() -> None:
    warnings.simplefilter("ignore")
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    dear = apart**2
    dear[0, 3:] = 100, 200
    of_numbers = {name: name for name in ("bias", "mse", "mae", "r2")}
    of_classes = {"distance": costs(apart), "its square": costs(apart**2), "two dear": costs(dear)}
    print(f"{'pool':8} {'measure':11} {'labels':>6}  {'coverage':>8} {'width':>6} {'se/sd':>6}")
    for make, measures in ((biased, of_numbers), (ordinal, of_classes)):
        pool, labels = make()
        for name, measure in measures.items():
            truth = sondage.evaluate(pool, measure, labels, SIZE).value
            for budget in BUDGETS:
                runs = draws(truth, pool, measure, labels, budget, REPEATS)
                ratio = np.mean([run.std_error for run in runs.estimates]) / np.std(runs.values)
                numbers = f"{runs.coverage:8.3f} {runs.width:6.3f} {ratio:6.2f}"
                print(f"{make.__name__:8} {name:11} {budget:6d}  {numbers}")


if __name__ == "__main__":
    main()
