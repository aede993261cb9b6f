"""Print what labels buy for means over classes, where some are rare or all are many: simulated pools, 60 runs.

Classes have shares in proportion to 1 / rank to a power; the pool has probabilities, right, too sure, not sure enough
or of a model that takes all classes for equally frequent, or predictions alone. Mean absolute error by the default and
by equal draws, coverage and mean width of the 95 % interval.
Run: ``python docs/evidence/classes.py`` (six minutes), or with names of worlds. Decisions 0039, 0075 and 0076 quote it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from draws import draws
from scipy.special import softmax

import sondage

RUNS = 60
METHODS = ("default", "passive")


@dataclass(frozen=True)
class World:
    """Items in classes: how many, how unequal, how far apart; how much too sure a model is, and if it knows shares."""

    size: int
    classes: int
    power: float
    apart: float
    too_sure: float = 1.0
    knows_shares: bool = True

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities (size, classes) and labels."""
        random = np.random.default_rng(seed)
        share = np.arange(1, self.classes + 1) ** -self.power
        share /= share.sum()
        labels = random.choice(self.classes, self.size, p=share)
        seen = random.normal(size=(self.size, self.classes))
        seen[np.arange(self.size), labels] += self.apart
        return softmax(self.too_sure * self.apart * seen + self.knows_shares * np.log(share), axis=1), labels


WORLDS = {
    "six": World(3_000, 6, 1.5, 2.0),
    "twenty": World(10_000, 20, 1.2, 2.2),
    "twenty, too sure": World(10_000, 20, 1.2, 2.2, 1.6),
    "ten, equal": World(5_000, 10, 0.0, 2.2),
    "ten, shares not known": World(6_000, 10, 1.5, 2.5, knows_shares=False),
    "forty, shares not known": World(8_000, 40, 1.0, 2.8, knows_shares=False),
    "hundred, equal, not sure enough": World(8_000, 100, 0.0, 2.5, 0.7),
}


def main() -> None:
    print("| classes | told | measure | labels | error | equal draws | coverage | equal draws | width | equal draws |")
    print("|" + "---|" * 10)
    for seed, (name, world) in enumerate(WORLDS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        p, labels = world.draw(seed)
        codes = list(range(world.classes))
        pools = {
            "probabilities": sondage.Pool(p),
            "predictions": sondage.Pool(predictions=p.argmax(axis=1), classes=codes),
        }
        for told, pool in pools.items():
            for measure in ("macro_f", "balanced_accuracy"):
                for budget in (100, 300):
                    found = [simulate(pool, labels, measure, budget, method) for method in METHODS]
                    cells = " | ".join(f"{own:.3f} | {equal:.3f}" for own, equal in zip(*found, strict=True))
                    print(f"| {name} | {told} | {measure} | {budget} | {cells} |", flush=True)


def simulate(
    pool: sondage.Pool, labels: np.ndarray, measure: str, budget: int, method: str
) -> tuple[float, float, float]:
    """Return the mean absolute error, the coverage and the mean width of the intervals."""
    truth = sondage.evaluate(pool, measure, labels=labels, budget=len(labels)).value
    runs = draws(truth, pool, measure, labels, budget, RUNS, method=method)
    return runs.error, runs.coverage, runs.width


if __name__ == "__main__":
    main()
