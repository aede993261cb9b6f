"""The default method on pools that one rule chose before any was run, so that none is picked.

    python benchmarks/unseen.py                        all, 200 seeds, then the tables (45 minutes of one core)
    python benchmarks/unseen.py --problem 'enron*'     some of them
    python benchmarks/unseen.py --table                the tables, from the file

The rule: what problems.py leaves of the same sources, and numbers made by scikit-learn. Every pair of Enron's
mailboxes, every Reuters topic with 20 documents or more, pairs of digits, all ten across collections, the torques of
sarcos; models in turn, so that each meets many pools, and measures in turn, error rate and F1 (squared loss of
regressions). "others" is the default where the pool has two other models besides, those whose turns are next. Finished
cells are kept in benchmarks/results/unseen.csv and not computed again unless --again is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import product

import numpy as np
from cells import Cell, Cells, options_of_cells, table
from problems import Problem
from scipy.stats import binom
from summary import BOUND, LEAST_RATIO, LOW
from unseen_pools import Unseen, all_unseen

import sondage
from sondage.core.predictions import Floats

METHODS = ("default", "thesis", "passive")
OTHERS = "others"
BUDGETS = (100, 300, 1000)
KEYS = ("problem", "method", "budget", "seeds")
VALUES = ("items", "truth", "error", "deviation", "covered", "width")


def main() -> None:
    cells = Cells("unseen", KEYS, VALUES)
    methods = (*METHODS, OTHERS)
    print(tables(cells_of_unseen(__doc__, cells, BUDGETS, lambda unseen: unseen.name, run, lambda unseen: methods)))


def cells_of_unseen(
    description: str | None,
    cells: Cells,
    budgets: Sequence[int],
    name_of: Callable[[Unseen], str],
    run: Callable[[Unseen, str, int], list[Cell]],
    methods: Callable[[Unseen], Sequence[str]],
    pools: Iterable[Unseen] | None = None,
    seeds: int = 200,
) -> list[Cell]:
    """Return the cells that the command line asks for, each pool's by every method, computed unless they are kept.

    Parameters
    ----------
    description : str, optional
        What the script says of itself.
    cells : Cells
        Where they are kept; its keys are a name, the method, the number of labels and that of seeds.
    budgets : sequence of int
        Numbers of labels.
    name_of : callable
        From a pool to the name of what is simulated on it.
    run : callable
        From a pool, a method and a number of seeds to one cell for each number of labels.
    methods : callable
        From a pool to the methods.
    pools : iterable of Unseen, optional
        What is simulated, by default `all_unseen`.
    seeds : int
        How many runs, unless the command line tells.
    """
    parser = options_of_cells(description, seeds=seeds)
    parser.add_argument("--problem", default="*", help="names or patterns, separated by commas (default: all)")
    parser.add_argument("--table", action="store_true", help="simulate nothing, print the tables")
    options, found = parser.parse_args(), []
    named = [(name_of(unseen), unseen) for unseen in pools or all_unseen()]
    chosen = [one for one in named if any(fnmatch(one[0], part) for part in options.problem.split(","))]
    if not chosen:
        sys.exit(f"no problem is like {options.problem!r}; there are {', '.join(name for name, _ in named)}")
    for name, unseen in chosen:
        for method in methods(unseen):
            wanted = [dict(zip(cells.keys, (name, method, b, options.seeds), strict=True)) for b in budgets]
            if not options.table or all(cell in cells for cell in wanted):
                found += cells.series(wanted, partial(run, unseen, method, options.seeds), again=options.again)
    return found


def run(unseen: Unseen, method: str, seeds: int) -> list[Cell]:
    """Return the cells of one pool by one method."""
    return simulated(unseen, unseen.problem(), method, seeds)


def simulated(unseen: Unseen, problem: Problem, method: str, seeds: int) -> list[Cell]:
    """Return the cells of a problem of one pool by one method; "others" is the default with two more models."""
    pool, named = (unseen.with_others((1, 2)), "default") if method == OTHERS else (problem.pool(), method)
    return [simulate(problem, pool, named, budget, seeds) for budget in BUDGETS]


def simulate(problem: Problem, pool: sondage.Pool, method: str, budget: int, seeds: int) -> Cell:
    """Return how far off the pool's first model is estimated, and how often and how wide its 95 % interval holds."""
    truth = problem.truth
    budget = min(budget, len(problem) // 2)
    value, low, high = np.empty((3, seeds))
    for seed in range(seeds):
        estimate = sondage.evaluate(
            pool,
            problem.measure,
            problem.labels,
            budget,
            seed,
            positive=problem.positive,
            method=method,
            model=pool.models[0],
        )
        interval = estimate.interval(0.95)
        value[seed], low[seed], high[seed] = estimate.value, interval.low, interval.high
    return summary_of(value - truth, low - truth, high - truth) | {"items": len(problem), "truth": truth}


def summary_of(error: Floats, low: Floats, high: Floats) -> Cell:
    """Return the size of errors, how often intervals hold and how wide they are; all less the truth, shape (seeds,)."""
    sizes = np.where(np.abs(error) < 1e-12, 0.0, np.abs(error))
    return {
        "error": np.nanmean(sizes),  # equal draws without a positive have no F1
        "deviation": np.nanstd(sizes),
        "covered": np.mean((low <= 1e-9) & (high >= -1e-9)),
        "width": np.mean(high - low),
    }


def tables(found: list[Cell]) -> str:
    """Return geometric means for each number of labels, and every problem."""
    by_key, names = by_problem(found, (*METHODS, OTHERS))
    rows = {name: [[by_key[name, method, budget] for method in METHODS] for budget in BUDGETS] for name in names}
    heads = ["labels", "/thesis", "/passive", "rel. width", "coverage", "lowest", "too low", "thesis's", "too low"]
    summary = [_summary(budget, [cells[at] for cells in rows.values()]) for at, budget in enumerate(BUDGETS)]
    both = [[(by_key[name, OTHERS, at], by_key[name, "default", at]) for name in names] for at in BUDGETS]
    helped = [[str(budget), *against_default(cells)] for budget, cells in zip(BUDGETS, both, strict=True)]
    every = [[name, f"{float(cells[0][0]['truth']):.3g}", *map(shown, cells)] for name, cells in rows.items()]
    return "\n\n".join(
        [
            table(heads, summary),
            table(["labels", *AGAINST_DEFAULT], helped),
            table(["problem", "truth", *map(str, BUDGETS)], every),
        ]
    )


def by_problem(found: list[Cell], methods: Sequence[str]) -> tuple[dict[tuple[str, str, int], Cell], list[str]]:
    """Return cells by problem, method and number of labels, and the problems that have them by all these methods."""
    by_key = {(cell["problem"], cell["method"], int(cell["budget"])): cell for cell in found}
    whole = list(product(methods, BUDGETS))
    names = dict.fromkeys(name for name, _, _ in by_key)
    return by_key, [name for name in names if all((name, *at) in by_key for at in whole)]


AGAINST_DEFAULT = ("/default", "largest", "rel. width", "coverage", "lowest", "too low")


def against_default(both: Sequence[tuple[Cell, Cell]]) -> list[str]:
    """Return error over the default's (mean, largest), width over its, and coverage, from cells of one and of it."""
    largest = max(ratio_of(own, default)[0] for own, default in both)
    return [error_over(both), f"{largest:.2f}", width_over(both), *coverage_of(own for own, _ in both)]


def _summary(budget: int, cells: list[list[Cell]]) -> list[str]:
    own, thesis, passive = zip(*cells, strict=True)
    over_thesis, over_passive = (list(zip(own, other, strict=True)) for other in (thesis, passive))
    mean, _, low = coverage_of(thesis)
    errors = [error_over(over_thesis), error_over(over_passive)]
    return [str(budget), *errors, width_over(over_passive), *coverage_of(own), mean, low]


def coverage_of(cells: Iterable[Cell]) -> list[str]:
    """Return how often intervals hold on average and at least, and in how many cells too seldom."""
    found = list(cells)
    covered = [float(cell["covered"]) for cell in found]
    return [f"{np.mean(covered):.3f}", f"{min(covered):.3f}", str(sum(map(too_low, found)))]


def error_over(pairs: Iterable[tuple[Cell, Cell]]) -> str:
    """Return the mean ratio of errors, the first cell's over the second's."""
    return mean_ratio([ratio_of(*pair)[0] for pair in pairs])


def width_over(pairs: Iterable[tuple[Cell, Cell]]) -> str:
    """Return the mean ratio of widths, the first cell's over the second's where that has any."""
    widths = [(float(own["width"]), float(other["width"])) for own, other in pairs]
    return mean_ratio([own / other for own, other in widths if other])


def mean_ratio(values: list[float]) -> str:
    """Return the geometric mean of ratios, each at least `LEAST_RATIO`."""
    return f"{np.exp(np.mean(np.log(np.maximum(values, LEAST_RATIO)))):.2f}"


def shown(cells: list[Cell]) -> str:
    """Return error over the thesis's and over passive's, marked where it is worse than 1.05 by more than chance."""
    own, *others = cells
    ratios = (ratio_of(own, other) for other in others)
    texts = [f"{ratio:.2f}{'!' if ratio - 3 * error > 1.05 else ''}" for ratio, error in ratios]
    return f"{', '.join(texts)}; {float(own['covered']):.3f}{' LOW' if too_low(own) else ''}"


def ratio_of(own: Cell, other: Cell) -> tuple[float, float]:
    """Return the ratio of mean absolute errors, 1 of two that are 0, and its standard error."""
    mine, its, seeds = float(own["error"]), float(other["error"]), int(own["seeds"])
    if its == 0:
        return (1.0 if mine == 0 else np.inf), 0.0
    ratio = mine / its
    return ratio, np.hypot(float(own["deviation"]), ratio * float(other["deviation"])) / its / seeds**0.5


def too_low(cell: Cell) -> bool:
    """Return whether the interval holds less often than .93 but for chance (1 in 1000)."""
    seeds = int(cell["seeds"])
    return bool(binom.cdf(round(float(cell["covered"]) * seeds), seeds, LOW) < BOUND)


if __name__ == "__main__":
    main()
