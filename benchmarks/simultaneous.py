"""How often what is said of several models at once holds: intervals, differences from the best, the set of best models.

    python benchmarks/simultaneous.py                                  all, 200 seeds, then the table
    python benchmarks/simultaneous.py --set "spam-1 f1" --seeds 500    one set of models, more seeds

The sets are models with probabilities, trained here (model_sets.py); the target is the pool. At 95 %: "intervals" is
the share of runs in which all models' simultaneous intervals hold their values, "gaps" that in which all differences
from the model named best hold, "best" that in which the set of contenders has the best one, "size" its mean number of
models, "pairs" the mean share of the pairs whose own interval holds, "named" how often the best is named. Finished
cells are kept in benchmarks/results/simultaneous.csv and not computed again unless --again is given.
"""

from __future__ import annotations

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table, whole_number
from model_sets import load_set
from problems import truth_of

import sondage

CASES = {
    f"{name} {measure}": (name, measure)
    for name, measures in {
        "spam-1": ("f1", "accuracy", "brier"),
        "spam-2": ("f1",),
        "filters": ("f1",),
        "topic-crude": ("f1", "accuracy"),
        "topic-ship": ("f1",),
        "images": ("accuracy",),
    }.items()
    for measure in measures
}
BUDGETS = (50, 100, 300)
KEYS = ("set", "budget", "seeds")
VALUES = ("models", "intervals", "gaps", "best", "size", "pairs", "named")
ROUNDING = 1e-9
MOST_PAIRS = 21
"""All pairs of seven models; of more models as many at equal steps of their list."""


def main() -> None:
    parser = options_of_cells(__doc__, seeds=200)
    parser.add_argument("--set", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--budget", nargs="+", type=whole_number, default=list(BUDGETS))
    options = parser.parse_args()
    cells = Cells("simultaneous", KEYS, VALUES)
    found = [
        cells.of(simulate, case, budget, options.seeds, again=options.again)
        for case in options.set
        for budget in options.budget
    ]
    print(shown(found))


def simulate(case: str, budget: int, seeds: int) -> Cell:
    """Return how often each statement held."""
    name, measure = CASES[case]
    models, labels = load_set(name)
    pool = sondage.Pool(models=models)
    values = {model: _truth(measure, output, labels) for model, output in models.items()}
    top = (min if measure == "brier" else max)(values.values())
    held = np.empty((seeds, len(VALUES) - 1))
    for seed in range(seeds):
        found = sondage.select(pool, measure, labels=labels, budget=budget, seed=seed)
        intervals, gaps, inside = found.intervals(), found.gaps(), found.contenders(0.95)
        some = list(found.comparisons)[:: -(-len(found.comparisons) // MOST_PAIRS)]
        pairs = [_holds(found.comparisons[a, b].interval(), values[a] - values[b]) for a, b in some]
        held[seed] = (
            all(_holds(interval, values[model]) for model, interval in intervals.items()),
            all(_holds(gap, values[model] - values[found.best]) for model, gap in gaps.items()),
            any(values[model] == top for model in inside),
            len(inside),
            np.mean(pairs),
            values[found.best] == top,
        )
    return {"models": len(models)} | dict(zip(VALUES[1:], held.mean(axis=0).tolist(), strict=True))


def _truth(measure: str, model: sondage.Classifier, labels: np.ndarray) -> float:
    if measure == "brier":
        return float(np.mean((np.asarray(model.probabilities) - labels) ** 2))
    return truth_of(measure, model.predictions, labels)


def _holds(interval: sondage.Interval, value: float) -> bool:
    return interval.low - ROUNDING <= value <= interval.high + ROUNDING


def shown(found: list[Cell]) -> str:
    """Return a table with one row for each set and number of labels."""
    heads = ["set", "models", "labels", "intervals", "gaps", "best in the set", "its size", "pairs", "best named"]
    return table(heads, (_line(cell) for cell in found))


def _line(cell: Cell) -> list[str]:
    shares = [marked(float(cell[name]), int(cell["seeds"]), 0.95, "less") for name in ("intervals", "gaps", "best")]
    alone = [f"{float(cell[name]):{form}}" for name, form in (("size", ".1f"), ("pairs", ".3f"), ("named", ".2f"))]
    return [cell["set"], cell["models"], cell["budget"], *shares, *(text.removeprefix("0") for text in alone)]


if __name__ == "__main__":
    main()
