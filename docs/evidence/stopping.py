"""Print what stopping early costs and saves: two classifiers, and one, on simulated pools of 10,000.

The first table stops at a significant difference, the second at an interval narrow enough; each beside what a budget
fixed beforehand gives. Run: ``python docs/evidence/stopping.py`` (a few minutes). docs/choosing.md quotes what it
prints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

import sondage

RUNS, BUDGET, SIZE = 30, 600, 10_000
WAYS: dict[str, dict[str, Any]] = {"after every batch": {}, "at 5 looks": {"looks": 5}}
FIXED = (100, 150, 200, 300)
WIDTHS = {"error_rate": (0.05, (400, 600, 800, 1000)), "f1": (0.1, (300, 400, 600, 800))}


def problem(seed: int, noise: float) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool of two classifiers, the second with more noise in its log odds, and the labels."""
    random = np.random.default_rng(seed)
    score = random.normal(-1.0, 2.0, SIZE)
    first, second = (expit(score + random.normal(0.0, sd, SIZE)) for sd in (0.5, noise))
    labels = (random.random(SIZE) < expit(score)).astype(int)
    return sondage.Pool(models={"a": sondage.Classifier(first), "b": sondage.Classifier(second)}), labels


def main() -> None:
    for noise in (1.2, 1.8):
        made = [problem(seed, noise) for seed in range(RUNS)]
        gap = np.mean([sondage.compare(pool, "b", "a", labels=y, budget=SIZE).difference for pool, y in made])
        print(f"error rates differ by {100 * gap:.1f} points, budget {BUDGET}")
        for name, options in WAYS.items():
            found = [
                sondage.compare(pool, "a", "b", labels=y, budget=BUDGET, seed=seed, stop="significant", **options)
                for seed, (pool, y) in enumerate(made)
            ]
            labels, decided = (
                np.mean(x) for x in zip(*[(c.n_labels, c.better is not None) for c in found], strict=True)
            )
            print(f"  {name:20}{labels:6.0f} labels on average, a winner in {decided:.2f} of the runs", flush=True)
        for budget in FIXED:
            found = [
                sondage.compare(pool, "a", "b", labels=y, budget=budget, seed=s) for s, (pool, y) in enumerate(made)
            ]
            print(f"  {'once':20}{budget:6} labels, a winner in {np.mean([c.better is not None for c in found]):.2f}")
    made = [problem(seed, 1.2) for seed in range(RUNS)]
    for measure, (width, budgets) in WIDTHS.items():
        print(f"{measure} to a width of {width}")
        for floor in (0.5, 0.2):
            found = [
                sondage.evaluate(pool, measure, y, 3_000, seed, model="a", stop=width, floor=floor).n_labels
                for seed, (pool, y) in enumerate(made)
            ]
            print(f"  stop={width}, floor={floor}: {np.mean(found):.0f} labels", flush=True)
        for budget in budgets:
            widths = [
                sondage.evaluate(pool, measure, y, budget, seed, model="a").interval().width
                for seed, (pool, y) in enumerate(made)
            ]
            print(f"  {budget} labels: width {np.mean(widths):.3f}", flush=True)


if __name__ == "__main__":
    main()
