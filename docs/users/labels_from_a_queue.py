"""Labels that somebody else's review queue drew, with known probabilities: a number corrected for its choice.

The queue sent every item that the model flagged with probability 1/2, and one in fifty of the others. The plain share
among the labelled items is wrong, because the queue was not even; weighting by the probabilities repairs it. Run:
``python docs/users/labels_from_a_queue.py``.
"""

from __future__ import annotations

import numpy as np

import sondage

POOL_SIZE = 90_000


def simulate(seed: int = 4) -> dict[str, np.ndarray]:
    """Return predictions and labels of a pool, its queue's probabilities, and which items the queue drew."""
    random = np.random.default_rng(seed)
    score = random.normal(-3.2, 1.5, size=POOL_SIZE)
    labels = (random.random(POOL_SIZE) < 1 / (1 + np.exp(-score))).astype(int)
    predictions = (score + random.normal(0.0, 0.8, size=POOL_SIZE) > -1.5).astype(int)
    inclusion = np.where(predictions == 1, 0.5, 0.02)
    return {
        "predictions": predictions,
        "labels": labels,
        "inclusion": inclusion,
        "drawn": random.random(POOL_SIZE) < inclusion,
    }


def main() -> None:
    queue = simulate()
    drawn = queue["drawn"]
    f, y, pi = (queue[name][drawn] for name in ("predictions", "labels", "inclusion"))
    found = sondage.estimate_from(measure="recall", predictions=f, labels=y, inclusion=pi, pool_size=POOL_SIZE)
    ends = found.interval(0.95)
    naive = f[y == 1].mean()
    truth = queue["predictions"][queue["labels"] == 1].mean()
    print(f"{found.n_labels:,} labels that the queue drew from {POOL_SIZE:,} items.")
    print(f"Recall: {found.value:.3f}, 95 % interval {ends.low:.3f} to {ends.high:.3f}.")
    print(f"The plain share of the labelled positives is {naive:.3f}; the pool's true recall is {truth:.3f}.")


if __name__ == "__main__":
    main()
