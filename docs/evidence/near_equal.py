"""Print how often intervals of two nearly equal models hold that are selected from with a third: 100 simulated pools.

Two models differ on few of 3,000 items, at random among those that they are sure of or by a little noise of the score;
the third differs from both on many. Shares of `Selection.gaps` (simultaneous, of the two if one of them is named best)
and of their comparison's interval that hold the truth, at 95 %, and median widths.
Run: ``python docs/evidence/near_equal.py`` (ten minutes). Decision 0040 quotes it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

import sondage

RUNS, SIZE = 100, 3_000
DIFFER = {"3 sure items": 3, "10 sure items": 10, "30 sure items": 30, "noise": None}


def main() -> None:
    print("| the two differ by | measure | labels | simultaneous hold | width | pair's hold | width |")
    print("|" + "---|" * 7)
    for name, flips in DIFFER.items():
        for measure in ("accuracy", "f1", "log_loss"):
            for budget in (100, 300):
                gaps, pairs = intervals(flips, measure, budget)
                shown = [
                    f"{np.mean([h for h, _ in found]):.2f} | {np.median([w for _, w in found]):.4f}"
                    for found in (gaps, pairs)
                ]
                print(f"| {name} | {measure} | {budget} | {' | '.join(shown)} |", flush=True)


def drawn(flips: int | None, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the models' probabilities of the second class and the labels."""
    random = np.random.default_rng(seed)
    score = random.normal(size=SIZE)
    first = expit(score)
    labels = (random.random(SIZE) < first).astype(int)
    if flips is None:
        second = expit(score + random.normal(0, 0.03, SIZE))
    else:
        flipped = random.choice(np.flatnonzero(np.abs(first - 0.5) > 0.2), flips, replace=False)
        second = first.copy()
        second[flipped] = 1 - first[flipped]
    return {"a": first, "b": second, "c": expit(score + random.normal(0, 0.7, SIZE))}, labels


def intervals(
    flips: int | None, measure: str, budget: int
) -> tuple[list[tuple[bool, float]], list[tuple[bool, float]]]:
    """Return whether each interval holds the truth, and how wide it is: simultaneous ones, and the pair's."""
    gaps, pairs = [], []
    for seed in range(RUNS):
        models, labels = drawn(flips, seed)
        truth = {name: sondage.evaluate(sondage.Pool(p), measure, labels, SIZE).value for name, p in models.items()}
        pool = sondage.Pool(models={name: sondage.Classifier(p) for name, p in models.items()})
        found = sondage.select(pool, measure, labels=labels, budget=budget, seed=seed)
        (pair,) = (names for names in found.comparisons if "c" not in names)
        own = found.comparisons[pair].interval()
        pairs.append((truth[pair[0]] - truth[pair[1]] in own, own.width))
        if found.best in pair:
            (other,) = set(pair) - {found.best}
            own = found.gaps()[other]
            gaps.append((truth[other] - truth[found.best] in own, own.width))
    return gaps, pairs


if __name__ == "__main__":
    main()
