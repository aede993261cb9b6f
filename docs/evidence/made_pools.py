"""Print what the default gains on pools of random make, by how sure their models are and how many labels are wrong.

Twelve pools for each of nine cells. All else is drawn at random: how many items and positives there are, how the log
odds of the classes spread, by how much the model's are off, and whether they are all shifted. Error rate, F1, recall
and MCC in turn; a cell has three pools of each. A line gives the geometric mean of the mean absolute errors relative to
labels drawn at random and to the thesis's method, the largest of the former, and the mean and the lowest of how many of
the 95 % intervals hold. Run: ``python docs/evidence/made_pools.py`` (half an hour of one core). docs/choosing.md quotes
what it prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
from draws import Draws, draws
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import gmean

import sondage
from sondage.errors import SondageWarning

SURE = {"half as sure": 0.5, "as sure as right": 1.0, "twice as sure": 2.0}
WRONG = (0.0, 0.01, 0.03)
POOLS = 12
MEASURES = ("error_rate", "f1", "recall", "mcc")
BUDGETS = (100, 300)
DRAWS = 40


def made(slope: float, wrong: float, random: np.random.Generator) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool and its labels; one that the model has no or hardly any positives in is made again.

    Parameters
    ----------
    slope : float
        How many times the right ones the model's log odds are.
    wrong : float
        Share of the labels that are wrong by chance.
    random : numpy.random.Generator
        Of everything else.
    """
    while True:
        size = int(random.choice([1_000, 5_000, 20_000]))
        spreads = (random.normal, lambda size: random.standard_t(3, size), lambda size: random.logistic(size=size))
        score = random.choice([1.0, 2.0, 4.0]) * spreads[random.integers(3)](size=size)
        positive = random.choice([0.02, 0.1, 0.3, 0.5])
        score += brentq(partial(_more_positives, score, positive), -100.0, 100.0)
        labels = (random.random(size) < expit(score)) ^ (random.random(size) < wrong)
        off = random.choice([0.0, 0.5, 1.5]) * random.normal(size=size)
        said = expit(slope * (score + off) + random.choice([-1.0, 0.0, 0.0, 1.0]))
        if np.sum(said >= 0.5) >= 10 and np.sum(labels) >= 10:
            return sondage.Pool(said), labels.astype(int)


def _more_positives(score: np.ndarray, share: float, shift: float) -> float:
    """Return by how much more than this share of the items is positive if their log odds are shifted."""
    return float(np.mean(expit(score + shift))) - share


def simulated(slope: float, wrong: float, seed: int) -> list[tuple[Draws, Draws, Draws]]:
    """Return the draws of one pool by the default, by passive and by the thesis, for each number of labels."""
    pool, labels = made(slope, wrong, np.random.default_rng(seed))
    measure = MEASURES[seed % len(MEASURES)]
    truth = sondage.evaluate(pool, measure, labels=labels, budget=len(pool)).value
    found = []
    for budget in BUDGETS:
        by_default, by_chance, by_thesis = (
            draws(truth, pool, measure, labels, budget, DRAWS, method=method)
            for method in ("default", "passive", "thesis")
        )
        found.append((by_default, by_chance, by_thesis))
    return found


def line(name: str, wrong: float, runs: Sequence[tuple[Draws, Draws, Draws]]) -> str:
    """Return the line of one cell, from the draws of all its pools."""
    errors = np.maximum([[own.error for own in run] for run in runs], 1e-9)
    relative = errors[:, :1] / errors[:, 1:]
    to_chance, to_thesis = gmean(np.maximum(relative, 0.01), axis=0)
    holding = [run[0].coverage for run in runs]
    told = f"{to_chance:.2f} | {np.max(relative[:, 0]):.2f} | {to_thesis:.2f}"
    return f"| {name} | {wrong:.0%} | {told} | {np.mean(holding):.3f} | {np.min(holding):.3f} |"


def main() -> None:
    warnings.simplefilter("ignore", SondageWarning)
    print("| the model is | wrong labels | error, relative to passive | at most | to the thesis | coverage | lowest |")
    print("|" + "---|" * 7)
    for (name, slope), wrong in product(SURE.items(), WRONG):
        runs = [run for seed in range(POOLS) for run in simulated(slope, wrong, seed)]
        print(line(name, wrong, runs), flush=True)


if __name__ == "__main__":
    main()
