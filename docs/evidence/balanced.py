"""Print how often intervals of balanced accuracy hold where positives are rare, beside those of recall.

Pools of 4,000 simulated items with right probabilities, and with log odds that are .3 times what they should be. Every
row gives, over 200 draws, the coverage of the 95 % interval, how often the truth was above its upper end, and its mean
width. Run: ``python docs/evidence/balanced.py`` (a few minutes). Decision 0054 quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws
from scipy.special import expit

import sondage

SIZE, REPEATS = 4_000, 200
BUDGETS = (100, 300)
POOLS = {"2 %, right": (-5.5, 1.0), "2 %, flat": (-5.5, 0.3), "15 %, right": (-2.5, 1.0)}
"""Share of positives: mean of the log odds, whose standard deviation is 2.2, and by what those told are multiplied."""


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'positives':12} {'labels':>6}  {'measure':18} {'coverage':>8} {'above':>6} {'width':>6}")
    for name, (mean, factor) in POOLS.items():
        random = np.random.default_rng(2)
        score = random.normal(mean, 2.2, size=SIZE)
        labels = (random.random(SIZE) < expit(score)).astype(int)
        pool = sondage.Pool(probabilities=expit(factor * score))
        for budget in BUDGETS:
            for measure in ("balanced_accuracy", "recall"):
                truth = sondage.evaluate(pool, measure, labels, SIZE).value
                runs = draws(truth, pool, measure, labels, budget, REPEATS)
                above = np.mean([truth > interval.high for interval in runs.intervals])
                print(f"{name:12} {budget:6d}  {measure:18} {runs.coverage:8.3f} {above:6.3f} {runs.width:6.3f}")


if __name__ == "__main__":
    main()
