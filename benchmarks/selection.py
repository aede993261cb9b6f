"""How often selecting finds the best of several models, and how far the one it names is behind.

    python benchmarks/selection.py                                  all, 200 seeds, then the table
    python benchmarks/selection.py --set glue_mrpc_train --seeds 50 one set of models, fewer seeds

The sets are real predictions of many models without probabilities (data/many_models). "regret" is how much less
accurate the model named best is than the best one; "held" is the share of runs in which the confidence set at 95 %
holds the best, "size" its mean number of models. Finished cells are kept in benchmarks/results/selection.csv and not
computed again unless --again is given.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from cells import Cell, Cells, options_of_cells, table, whole_number
from data import read as read_file

import sondage

SETS = ("emotion_detection", "glue_mrpc_train", "glue_sst2")
BUDGETS = (50, 100, 200, 400)
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "uniform": {"method": "passive"},
    "thesis (5.16)": {"method": "thesis"},
    "one stage": {"stages": 1},
}
KEYS = ("set", "method", "budget", "seeds")
VALUES = ("best", "regret", "held", "size")


def main() -> None:
    parser = options_of_cells(__doc__, seeds=200)
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--budget", nargs="+", type=whole_number, default=list(BUDGETS))
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    options = parser.parse_args()
    cells = Cells("selection", KEYS, VALUES)
    found = [
        cells.of(simulate, *case, options.seeds, again=options.again)
        for case in product(options.set, options.method, options.budget)
    ]
    print(shown(found, options.budget))


@lru_cache
def read(name: str) -> tuple[sondage.Pool, np.ndarray, dict[str, float]]:
    """Return pool, labels and the accuracy of every model."""
    data = read_file(f"many_models/{name}.npz")
    labels, predictions = data["labels"].astype(int), data["predictions"].astype(int)
    models = {f"m{i}": sondage.Classifier(predictions=column) for i, column in enumerate(predictions.T)}
    accuracy = {model: float(np.mean(column == labels)) for model, column in zip(models, predictions.T, strict=True)}
    return sondage.Pool(models=models), labels, accuracy


def simulate(name: str, method: str, budget: int, seeds: int) -> Cell:
    """Return how well the selections of all seeds did."""
    pool, labels, accuracy = read(name)
    top = max(accuracy.values())
    best, regret, held, size = (np.empty(seeds) for _ in range(4))
    for seed in range(seeds):
        selection = sondage.select(pool, "accuracy", labels=labels, budget=budget, seed=seed, **METHODS[method])
        inside = selection.contenders(0.95)
        regret[seed] = top - accuracy[selection.best]
        best[seed] = accuracy[selection.best] == top
        held[seed] = any(accuracy[model] == top for model in inside)
        size[seed] = len(inside)
    return {"best": best.mean(), "regret": regret.mean(), "held": held.mean(), "size": size.mean()}


def shown(found: list[Cell], budgets: list[int]) -> str:
    """Return a table with one row for each set and method, one column for each budget."""
    rows: dict[tuple[str, str], list[str]] = {}
    for cell in found:
        best, regret, held, size = (float(cell[name]) for name in VALUES)
        text = f"{best:.2f}, {100 * regret:.2f} ({held:.2f}, {size:.1f})"
        rows.setdefault((cell["set"], cell["method"]), []).append(text)
    heads = ["set", "best named, regret in points (best held, size of the set) at", *map(str, budgets)]
    return table(heads, ([*line, *cells] for line, cells in rows.items()))


if __name__ == "__main__":
    main()
