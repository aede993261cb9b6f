"""How far estimates of log loss and Brier score are off, and how often their intervals hold, for models of three sorts.

    python benchmarks/losses.py               all, 200 seeds, then the table
    python benchmarks/losses.py --seeds 1000  more seeds

A spam filter that is too sure, naive Bayes of the same mailbox, and a classifier of a topic that is as good as it says
(model_sets.py). Finished cells are kept in benchmarks/results/losses.csv and not computed again unless --again is
given.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table
from model_sets import load_set

import sondage

MODELS = (("spam-1", "C=10"), ("spam-1", "bayes"), ("topic-crude", "C=10"))
MEASURES = ("log_loss", "brier")
METHODS = ("default", "passive", "thesis")
BUDGETS = (50, 100, 300, 1000)
KEYS = ("set", "model", "measure", "method", "budget", "seeds")
VALUES = ("truth", "error", "covered")


def main() -> None:
    parser = options_of_cells(__doc__, seeds=200)
    options = parser.parse_args()
    cells, rows = Cells("losses", KEYS, VALUES), []
    for (name, model), measure, method in product(MODELS, MEASURES, METHODS):
        found = [
            cells.of(simulate, name, model, measure, method, budget, options.seeds, again=options.again)
            for budget in BUDGETS
        ]
        truth = f"{float(found[0]['truth']):.3g}"
        rows.append([f"{name}, {model}", measure, truth, method, *map(_shown, found)])
    print(table(["model", "measure", "truth", "method", *map(str, BUDGETS)], rows))


def simulate(name: str, model: str, measure: str, method: str, budget: int, seeds: int) -> Cell:
    """Return the root mean square error over the truth, and how often the 95 % interval holds."""
    models, labels = load_set(name)
    output = models[model]
    pool = sondage.Pool(probabilities=output.probabilities, predictions=output.predictions)
    truth = true_loss(measure, np.asarray(output.probabilities), labels)
    values, held = np.empty(seeds), np.empty(seeds)
    for seed in range(seeds):
        estimate = sondage.evaluate(pool, measure, labels=labels, budget=budget, seed=seed, method=method)
        interval = estimate.interval(0.95)
        values[seed], held[seed] = estimate.value, interval.low <= truth <= interval.high
    return {"truth": truth, "error": np.sqrt(np.mean((values / truth - 1.0) ** 2)), "covered": held.mean()}


def true_loss(measure: str, probability: np.ndarray, labels: np.ndarray) -> float:
    """Return the loss on all labels; written here so that it does not rest on the package under test."""
    told = np.where(labels == 1, probability, 1.0 - probability)
    losses = -np.log(np.maximum(told, 1e-15)) if measure == "log_loss" else (1.0 - told) ** 2
    return float(np.mean(losses))


def _shown(cell: Cell) -> str:
    return f"{float(cell['error']):.2f}, {marked(float(cell['covered']), int(cell['seeds']), 0.95, 'less')}"


if __name__ == "__main__":
    main()
