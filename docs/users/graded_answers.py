"""The answers of an assistant, a judge's scores of all, and grades that people gave to a hundred drawn at random.

The grades alone say how often the assistant is right, with a wide interval. The judge has read the answers that nobody
graded: with its scores the same grades say it more precisely, though the judge is lenient. What is still missing comes
from a few more grades, of the answers that tell most. Run: ``python docs/users/graded_answers.py``.
"""

from __future__ import annotations

import numpy as np

import sondage

ANSWERS, GRADED, FURTHER = 4_000, 100, 60


def simulate(seed: int = 5) -> tuple[sondage.Pool, np.ndarray, dict[str, int]]:
    """Return a pool with the judge's probabilities, whether each answer is right, and the grades that there are."""
    random = np.random.default_rng(seed)
    score = random.normal(1.2, 2.2, size=ANSWERS)
    right = (random.random(ANSWERS) < 1 / (1 + np.exp(-score))).astype(int)
    judge = 1 / (1 + np.exp(-(score + random.normal(0.0, 0.5, size=ANSWERS) + 0.6)))
    names = [f"answer {number}" for number in range(ANSWERS)]
    graded = {names[row]: int(right[row]) for row in random.choice(ANSWERS, GRADED, replace=False)}
    return sondage.Pool(models={"assistant": sondage.Outcome(judge=judge)}, ids=names), right, graded


def main() -> None:
    pool, right, graded = simulate()
    told = dict(zip(pool.ids.tolist(), right.tolist(), strict=True))  # in place of the people who grade
    sample = {"labels": list(graded.values()), "predictions": [1] * GRADED, "inclusion": [GRADED / ANSWERS] * GRADED}
    found = {
        "the grades alone": sondage.estimate_from("accuracy", **sample, classes=(0, 1), pool_size=ANSWERS),
        "with the judge's scores of all": sondage.evaluate(pool, "accuracy", start=graded),
        f"and {FURTHER} more grades": sondage.evaluate(pool, "accuracy", told, GRADED + FURTHER, start=graded),
    }
    print(f"{GRADED} of {ANSWERS:,} answers are graded, drawn at random.")
    for what, estimate in found.items():
        ends = estimate.interval(0.95)
        print(f"  {what:31} right {estimate.value:.3f} (95 %: {ends.low:.3f} to {ends.high:.3f})")
    print(f"In truth {right.mean():.3f} are right; the judge expects {pool.items.outcomes(0).judge.mean():.3f}.")


if __name__ == "__main__":
    main()
