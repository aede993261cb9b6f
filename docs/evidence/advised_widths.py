"""Print how wide intervals are from the labels that `advise` names for a width.

Pools of 20,000 simulated items with right probabilities, half, 5 % and 1 % of them positive. Every row gives the width
asked for and, for the default and for labels drawn at random, the labels advised and the mean width of the 95 %
intervals from these, over 30 draws, divided by the width asked for; "-" where advised labels are more than 2,000.
Run: ``python docs/evidence/advised_widths.py`` (a minute). docs/cookbook.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import draws
from scipy.special import expit, logit

import sondage

SIZE, REPEATS, MOST = 20_000, 30, 2_000
POOLS = {"half": (0.5, 1.5), "5 %": (0.05, 1.5), "1 %": (0.01, 2.5)}
"""Positives: the chance of the middle item, and the standard deviation of the log odds."""
WIDTHS = (("error_rate", 0.05), ("error_rate", 0.1), ("f1", 0.2), ("f1", 0.3), ("recall", 0.2), ("recall", 0.3))


def main() -> None:
    warnings.simplefilter("ignore")
    print("| positives | measure | width | default: labels | width over it | at random: labels | width over it |")
    print("|" + "---|" * 7)
    for name, (middle, spread) in POOLS.items():
        random = np.random.default_rng(0)
        p = expit(logit(middle) + spread * random.normal(size=SIZE))
        labels = (random.random(SIZE) < p).astype(int)
        pool = sondage.Pool(probabilities=p)
        for measure, width in WIDTHS:
            needed = sondage.advise(pool, measure, width=width).needed
            told = [
                f"{needed[method]:.0f} | {over(pool, measure, labels, needed[method], width, method)}"
                for method in ("default", "passive")
            ]
            print(f"| {name} | {measure} | {width} | {' | '.join(told)} |", flush=True)


def over(pool: sondage.Pool, measure: str, labels: np.ndarray, budget: float, width: float, method: str) -> str:
    """Return the mean width of intervals from so many labels, over the width that was asked for."""
    if budget > MOST:
        return "-"
    runs = draws(np.nan, pool, measure, labels, int(budget), REPEATS, method=method)
    return f"{runs.width / width:.2f}"


if __name__ == "__main__":
    main()
