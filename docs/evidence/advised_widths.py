"""Print how wide intervals are from the labels that `advise` names for a width, with and without simulations.

Pools of 20,000 simulated items with right probabilities, half, 5 % and 1 % of them positive. Every row gives the width
asked for and, for the default and for labels drawn at random, the labels advised and the mean width of the 95 %
intervals from these, over 60 draws, divided by the width asked for; first as `advise` tells by itself, then with 50
simulations. Run: ``python docs/evidence/advised_widths.py`` (six minutes). docs/cookbook.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws
from scipy.special import expit, logit

import sondage

SIZE, REPEATS, SIMULATIONS = 20_000, 60, 50
POOLS = {"half": (0.5, 1.5), "5 %": (0.05, 1.5), "1 %": (0.01, 2.5)}
"""Positives: the chance of the middle item, and the standard deviation of the log odds."""
WIDTHS = (("error_rate", 0.05), ("error_rate", 0.1), ("f1", 0.2), ("f1", 0.3), ("recall", 0.2), ("recall", 0.3))


def main() -> None:
    warnings.simplefilter("ignore")
    print("| positives | measure | width | method | labels | width over it | simulated: labels | width over it |")
    print("|" + "---|" * 8)
    for name, (middle, spread) in POOLS.items():
        random = np.random.default_rng(0)
        p = expit(logit(middle) + spread * random.normal(size=SIZE))
        labels = (random.random(SIZE) < p).astype(int)
        pool = sondage.Pool(probabilities=p)
        for measure, width in WIDTHS:
            told = [sondage.advise(pool, measure, width=width, simulations=count).needed for count in (0, SIMULATIONS)]
            for method in ("default", "passive"):
                row = []
                for needed in (one[method] for one in told):
                    runs = draws(np.nan, pool, measure, labels, int(needed), REPEATS, method=method)
                    row.append(f"{needed:.0f} | {runs.width / width:.2f}")
                print(f"| {name} | {measure} | {width} | {method} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
