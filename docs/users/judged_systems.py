"""Four language-model systems, a cheap judge, and a few hours of an expert: find the best system.

The label of an item is every system's own outcome, right (1) or wrong (0), given by the expert. The judge says how
probable "right" is; it decides where to look and helps to predict, and is never taken for the truth. Run:
``python docs/users/judged_systems.py``.
"""

from __future__ import annotations

import numpy as np

import sondage

ACCURACY = {"base": 0.62, "tuned": 0.70, "retrieval": 0.78, "chained": 0.71}


def simulate(n: int = 3_000, seed: int = 3) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool with the judge's probabilities for each system, and the expert's verdicts, shape (n, 4)."""
    random = np.random.default_rng(seed)
    hardness = random.normal(0.0, 1.0, size=n)
    systems, verdicts = {}, []
    for name, accuracy in ACCURACY.items():
        score = 1.4 * (np.log(accuracy / (1 - accuracy)) - hardness + random.normal(0.0, 0.7, size=n))
        verdicts.append(random.random(n) < 1 / (1 + np.exp(-score)))
        # The judge is lenient: it believes more answers than it should.
        systems[name] = sondage.Outcome(judge=1 / (1 + np.exp(-(score + 0.5))))
    return sondage.Pool(models=systems), np.stack(verdicts, axis=1).astype(float)


def main() -> None:
    pool, verdicts = simulate()
    found = sondage.select(pool, measure="accuracy", labels=verdicts, budget=300, seed=1)
    print(f"{found.n_labels} items judged by the expert, of {len(pool):,}.")
    for name in found.ranking:
        estimate, ends = found.estimates[name], found.estimates[name].interval(0.95)
        versus = "" if name == found.best else f", p = {found.pvalues[name]:.2g} against the best"
        print(f"  {name:10} right {estimate.value:.3f} (95 %: {ends.low:.3f} to {ends.high:.3f}){versus}")
    beaten = [name for name in found.ranking[1:] if found.pvalues[name] <= 0.05]
    print(f"Best: {found.best}; significantly better than {', '.join(beaten) or 'none of the others'} at 5 %.")


if __name__ == "__main__":
    main()
