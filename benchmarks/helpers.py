"""What judges and features change of the default method: those that know something, nothing, and less than nothing.

    python benchmarks/helpers.py                       all, 300 seeds, then the table
    python benchmarks/helpers.py --problem tweets/f1   one problem
    python benchmarks/helpers.py --seeds 1000          more seeds

Mean absolute error over that without any help, and how often the 95 % interval holds. Judges are made from the true
labels, or from nothing; features too. Finished cells are kept in benchmarks/results/helpers.csv and not computed again
unless --again is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table
from problems import Problem, load, names

import sondage

PROBLEMS = ("tweets/error_rate", "tweets/f1", "enron-1-2/error_rate", "reuters-crude/f1", "mnist-usps/error_rate")
BUDGETS = (50, 100, 300, 1000)
KEYS = ("problem", "help", "budget", "seeds")
VALUES = ("error", "error_se", "covered")
RIGHT, SURE, COLUMNS = 0.9, 0.99, 20


def main() -> None:
    parser = options_of_cells(__doc__, seeds=300)
    classified = [name for name in names() if not name.endswith("/mse")]  # judges and features here are of classes
    parser.add_argument("--problem", nargs="+", choices=classified, metavar="PROBLEM", default=list(PROBLEMS))
    parser.add_argument("--kind", nargs="+", choices=list(HELPS), default=list(HELPS))
    options = parser.parse_args()
    cells, rows = Cells("helpers", KEYS, VALUES), []
    for name in options.problem:
        found = {
            (kind, budget): cells.of(simulate, name, kind, budget, options.seeds, again=options.again)
            for kind in dict.fromkeys(["none", *options.kind])
            for budget in BUDGETS
        }
        rows += [
            [name, HELPS[kind][0], *(_shown(found[kind, budget], found["none", budget]) for budget in BUDGETS)]
            for kind in options.kind
        ]
    print(table(["problem", "help", *map(str, BUDGETS)], rows))


def simulate(name: str, kind: str, budget: int, seeds: int) -> Cell:
    """Return the mean absolute error, its standard error, and how often the 95 % interval holds."""
    problem = load(name)
    pool = sondage.Pool(**problem.pool_kwargs, **HELPS[kind][1](problem, np.random.default_rng(20130513)))
    off, held = np.empty(seeds), np.empty(seeds)
    for seed in range(seeds):
        estimate = sondage.evaluate(
            pool, problem.measure, problem.labels, budget, seed, positive=problem.positive, method="default"
        )
        interval = estimate.interval(0.95)
        off[seed], held[seed] = abs(estimate.value - problem.truth), interval.low <= problem.truth <= interval.high
    return {"error": off.mean(), "error_se": off.std(ddof=1) / np.sqrt(seeds), "covered": held.mean()}


def _said(problem: Problem, named: Any, sure: float) -> dict[str, Any]:
    """Return a judge that gives this probability to the class it names, the rest to the others alike."""
    k = _classes(problem)
    told = np.full((len(problem), k), (1.0 - sure) / (k - 1))
    told[np.arange(len(problem)), named] = sure
    return {"judge": told[:, 1] if k == 2 else told}


def _classes(problem: Problem) -> int:
    probabilities = np.asarray(problem.pool_kwargs["probabilities"])
    return 2 if probabilities.ndim == 1 else probabilities.shape[1]


def _other(problem: Problem, generator: np.random.Generator, share: float) -> Any:
    """Return the true labels, this share of them replaced by another class."""
    k, labels = _classes(problem), problem.labels
    moved = (labels + generator.integers(1, k, size=len(labels))) % k
    return np.where(generator.random(len(labels)) < share, moved, labels)


def _good(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, _other(problem, generator, 1.0 - RIGHT), RIGHT)


def _noise(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, generator.integers(_classes(problem), size=len(problem)), SURE)


def _certain(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, _other(problem, generator, 1.0 - RIGHT), 1.0)


def _certain_noise(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, generator.integers(_classes(problem), size=len(problem)), 1.0)


def _adverse(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, _other(problem, generator, RIGHT), SURE)


def _agreeing(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return _said(problem, problem.prediction, SURE)


def _telling(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    wrong = (problem.labels != problem.prediction).astype(np.float64)
    columns = generator.normal(size=(len(problem), COLUMNS))
    columns[:, 0] += 2.0 * wrong
    columns[:, 1] += 2.0 * (problem.labels == (problem.positive if problem.positive is not None else 1))
    return {"features": columns}


def _idle(problem: Problem, generator: np.random.Generator) -> dict[str, Any]:
    return {"features": generator.normal(size=(len(problem), COLUMNS))}


Help = Callable[[Problem, np.random.Generator], dict[str, Any]]
HELPS: dict[str, tuple[str, Help]] = {
    "none": ("none (MAE)", lambda problem, generator: {}),
    "judge": ("judge, right nine times in ten, says so", _good),
    "noise": ("judge, names a random class, 99 % sure", _noise),
    "certain": ("judge, right nine times in ten, says 0 or 1", _certain),
    "certain noise": ("judge, names a random class, says 0 or 1", _certain_noise),
    "adverse": ("judge, wrong nine times in ten, 99 % sure", _adverse),
    "agreeing": ("judge, agrees with the model, 99 % sure", _agreeing),
    "telling": ("20 features, two of which tell", _telling),
    "idle": ("20 features, none of which tells", _idle),
}
"""What a pool is given besides the model, in words and as its arguments."""


def _shown(cell: Cell, none: Cell) -> str:
    held = marked(float(cell["covered"]), int(cell["seeds"]), 0.95, "less")
    if cell is none:
        return f"{float(cell['error']):.4f}, {held}"
    return f"{float(cell['error']) / float(none['error']):.2f}, {held}"


if __name__ == "__main__":
    main()
