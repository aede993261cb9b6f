"""Champion and challenger before a release: find out whether the new model is better, and by how much.

Only items on which the two models disagree can move the difference, and the draw goes there. Run:
``python docs/users/champion_challenger.py``.
"""

from __future__ import annotations

import numpy as np

import sondage


def simulate(n: int = 20_000, seed: int = 2) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool of two spam filters' probabilities, and the labels that a person would give."""
    random = np.random.default_rng(seed)
    truth = random.normal(-1.5, 2.0, size=n)
    labels = np.where(random.random(n) < 1 / (1 + np.exp(-truth)), "spam", "ham")
    models = {
        name: sondage.Classifier(1 / (1 + np.exp(-(truth + noise * random.normal(size=n)))))
        for name, noise in (("champion", 1.2), ("challenger", 0.6))
    }
    return sondage.Pool(models=models, classes=["ham", "spam"]), labels


def main() -> None:
    pool, labels = simulate()
    found = sondage.compare(pool, "challenger", "champion", measure="error_rate", labels=labels, budget=400, seed=1)
    ends = found.interval(0.95)
    print(f"{found.n_labels} labels of {len(pool):,} items, asked only where the filters disagree.")
    print(
        f"Error rate, challenger minus champion: {found.difference:+.4f}, "
        f"95 % interval {ends.low:+.4f} to {ends.high:+.4f}, p = {found.pvalue:.2g}."
    )
    print(f"Release the {found.better}." if found.better else "The labels do not tell the two apart.")


if __name__ == "__main__":
    main()
