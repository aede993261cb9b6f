"""How often models that are equal are told apart by who looks after every label and stops when it is significant.

    python benchmarks/stopping.py               2,000 seeds, then the table
    python benchmarks/stopping.py --seeds 200

Two pairs of spam filters, one with naive Bayes (model_sets.py). Where they disagree their outputs change places in each
run so that each is right on half of the items of either class: error rates and F1 of the two are the same. Evidence at
any time is the largest over all numbers of labels so far, so that it does not matter how many are asked for at once.
Finished cells are kept in benchmarks/results/stopping.csv and not computed again unless --again is given.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table
from model_sets import load_set
from numpy.typing import NDArray

import sondage

PAIRS = {"spam": ("spam-1", "mailbox 2", "mailbox 3"), "bayes": ("spam-1", "C=1", "bayes")}
MEASURES = ("error_rate", "f1")
WAYS: dict[str, dict[str, Any]] = {
    "stop, after every label": {"stop": "significant"},
    "stop, at 5 looks": {"stop": "significant", "looks": 5},
}
BUDGET, ALPHA = 200, 0.05
KEYS = ("pair", "measure", "way", "seeds")
VALUES = ("rejected", "labels")


def main() -> None:
    parser = options_of_cells(__doc__, seeds=2000)
    options = parser.parse_args()
    cells, rows = Cells("stopping", KEYS, VALUES), []
    for name, measure, way in product(PAIRS, MEASURES, WAYS):
        found = cells.of(simulate, name, measure, way, options.seeds, again=options.again)
        rejected = marked(float(found["rejected"]), options.seeds, ALPHA, "greater")
        rows.append([name, measure, way, rejected, f"{float(found['labels']):.0f}"])
    print(f"share of {options.seeds} runs that tell equal models apart at {ALPHA}, budget {BUDGET}\n")
    print(table(["pair", "measure", "way", "told apart", "labels"], rows))


def simulate(name: str, measure: str, way: str, seeds: int) -> Cell:
    """Return how often equal models were told apart, and with how many labels on average."""
    rejected, labels = np.empty(seeds), np.empty(seeds)
    for seed in range(seeds):
        pool, y = equal(name, np.random.default_rng([20130513, seed]))
        found = sondage.compare(pool, "a", "b", measure, labels=y, budget=BUDGET, seed=seed, alpha=ALPHA, **WAYS[way])
        rejected[seed], labels[seed] = found.better is not None, found.n_labels
    return {"rejected": rejected.mean(), "labels": labels.mean()}


def equal(name: str, generator: np.random.Generator) -> tuple[sondage.Pool, NDArray[Any]]:
    """Return two models that are right equally often in either class, and the labels; odd ones are left out."""
    among, first, second = PAIRS[name]
    models, labels = load_set(among)
    (p, f), (q, g) = ((np.array(m.probabilities), np.array(m.predictions)) for m in (models[first], models[second]))
    kept, swap = np.ones(len(labels), dtype=np.bool_), np.zeros(len(labels), dtype=np.bool_)
    for label in (0, 1):
        apart = generator.permutation(np.flatnonzero((f != g) & (labels == label)))
        if len(apart) % 2:
            kept[apart[-1]], apart = False, apart[:-1]
        right = np.arange(len(apart)) < len(apart) // 2
        swap[apart] = (f[apart] == label) != right
    p[swap], q[swap] = q[swap], p[swap]
    f[swap], g[swap] = g[swap], f[swap]
    a, b = sondage.Classifier(p[kept], f[kept]), sondage.Classifier(q[kept], g[kept])
    return sondage.Pool(models={"a": a, "b": b}), labels[kept]


if __name__ == "__main__":
    main()
