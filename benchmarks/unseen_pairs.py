"""Comparisons of two models on further pools: by the rule of unseen.py.

    python benchmarks/unseen_pairs.py                        all, 200 seeds, then the tables (three hours of one core)
    python benchmarks/unseen_pairs.py --problem 'enron*'     some of them
    python benchmarks/unseen_pairs.py --table                the tables, from the file

On each pool the model whose turn it is in unseen.py is compared with the second after it, by the measure whose turn it
is. Power is the share of runs that find the pool's own difference at the level .05, in its direction. By error rate
the default counts labels that are drawn uniformly where two models differ; "learned" names the belief, and is staged
as the default is by other measures. Models of two classes are compared with judges (helpers.py) too, that know
something and nothing. Finished cells are kept in benchmarks/results/unseen_pairs.csv and not computed again unless
--again is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from cells import Cell, Cells, table
from data import Arrays
from helpers import HELPS
from problems import Problem, problem_of
from unseen import (
    AGAINST_DEFAULT,
    METHODS,
    against_default,
    cells_of_unseen,
    coverage_of,
    error_over,
    shown,
    summary_of,
)
from unseen_pools import Unseen

import sondage

BUDGETS = (50, 100, 200, 400)
LEVEL = 0.05
APART = 2
"""How many turns later the other model has its own."""
STAGED = "learned"
JUDGES = ("judge", "noise")
KEYS = ("pair", "method", "budget", "seeds")
VALUES = ("items", "truth", "error", "deviation", "covered", "width", "power", "wrong")


def main() -> None:
    print(tables(cells_of_unseen(__doc__, Cells("unseen_pairs", KEYS, VALUES), BUDGETS, name_of, simulate, _methods)))


def _methods(unseen: Unseen) -> tuple[str, ...]:
    staged = (STAGED,) if unseen.measure == "error_rate" else ()
    return (*METHODS, *staged, *(JUDGES if unseen.two_classes else ()))


def name_of(unseen: Unseen) -> str:
    other = unseen.models[(unseen.models.index(unseen.model) + APART) % len(unseen.models)]
    return f"{unseen.pool}-{unseen.model}-{other}/{unseen.measure}"


def _problem(unseen: Unseen, arrays: Arrays) -> Problem:
    return problem_of(unseen.name, dict(arrays), unseen.measure, unseen.positive)


def simulate(
    unseen: Unseen,
    method: str,
    seeds: int,
    problem: Callable[[Unseen, Arrays], Problem] = _problem,
    budgets: Sequence[int] = BUDGETS,
) -> list[Cell]:
    """Return how far off the difference is, how often its interval holds, and how often a difference is found."""
    helped = HELPS[method][1](unseen.problem(), np.random.default_rng(20130513)) if method in JUDGES else {}
    pool = unseen.with_others((APART,), **helped)
    pair = {model: unseen.arrays(model) for model in pool.models}
    labels, positive = pair[unseen.model]["labels"], unseen.positive
    truths = [problem(unseen, arrays).truth for arrays in pair.values()]
    truth, cells = truths[0] - truths[1], []
    how = {"belief": STAGED} if method == STAGED else {"method": method if method in METHODS else "default"}
    for budget in (min(budget, len(labels) // 2) for budget in budgets):
        value, low, high, pvalue = np.empty((4, seeds))
        for seed in range(seeds):
            found = sondage.compare(
                pool, *pair, unseen.measure, labels=labels, budget=budget, seed=seed, positive=positive, **how
            )
            interval = found.interval(0.95)
            value[seed], low[seed], high[seed] = found.difference, interval.low, interval.high
            pvalue[seed] = found.pvalue
        claimed = pvalue <= LEVEL
        cell = summary_of(value - truth, low - truth, high - truth) | {
            "items": len(labels),
            "truth": truth,
            "power": np.mean(claimed & (value * truth > 0)),
            "wrong": np.mean(claimed & (value * truth < 0)),
        }
        cells.append(cell)
    return cells


def tables(found: list[Cell]) -> str:
    """Return means for each measure and number of labels, of the staged draw by error rate, of judges, every pair."""
    by_key = {(cell["pair"], cell["method"], int(cell["budget"])): cell for cell in found}
    names = dict.fromkeys(name for name, _, _ in by_key)
    rows = {name: [[by_key[name, method, budget] for method in METHODS] for budget in BUDGETS] for name in names}
    heads = ["measure, pairs", "labels", "/thesis", "/passive", "power", "thesis's", "passive's"]
    heads += ["wrong", "coverage", "lowest", "too low", "thesis's", "too low"]
    summary = [
        _summary(measure, budget, [cells[at] for name, cells in rows.items() if name.endswith(measure)])
        for measure in dict.fromkeys(name.split("/")[1] for name in rows)
        for at, budget in enumerate(BUDGETS)
    ]
    staged = _against(by_key, STAGED, "error_rate")
    judged = [
        [measure, HELPS[judge][0], *row]
        for measure in ("error_rate", "f1")
        for judge in JUDGES
        for row in _against(by_key, judge, measure)
    ]
    every = [[name, f"{float(cells[0][0]['truth']):.2g}", *map(_shown, cells)] for name, cells in rows.items()]
    return "\n\n".join(
        [
            table(heads, summary),
            table(["labels", *AGAINST_DEFAULT, "power", "default's"], staged),
            table(["measure", "judge", "labels", *AGAINST_DEFAULT, "power", "default's"], judged),
            table(["pair", "difference", *map(str, BUDGETS)], every),
        ]
    )


def _against(by_key: dict[tuple[str, str, int], Cell], method: str, measure: str) -> list[list[str]]:
    """Return a row for each number of labels: a method against the default on the pairs that it was run on."""
    rows = []
    for budget in BUDGETS:
        found = [(name, cell) for (name, own, at), cell in by_key.items() if (own, at) == (method, budget)]
        both = [(cell, by_key[name, "default", budget]) for name, cell in found if name.endswith(measure)]
        if both:
            power = [f"{np.mean([float(pair[at]['power']) for pair in both]):.2f}" for at in (0, 1)]
            rows.append([str(budget), *against_default(both), *power])
    return rows


def _summary(measure: str, budget: int, cells: list[list[Cell]]) -> list[str]:
    def means(column: str) -> list[str]:
        return [f"{np.mean([float(own[at][column]) for own in cells]):.2f}" for at in range(len(METHODS))]

    own, thesis, passive = zip(*cells, strict=True)
    errors = [error_over(zip(own, other, strict=True)) for other in (thesis, passive)]
    wrong, (mean, _, low) = max(float(cell["wrong"]) for cell in own), coverage_of(thesis)
    held = [f"{wrong:.3f}", *coverage_of(own), mean, low]
    return [f"{measure}, {len(cells)}", str(budget), *errors, *means("power"), *held]


def _shown(cells: list[Cell]) -> str:
    powers = ", ".join(f"{float(cell['power']):.2f}" for cell in cells[:2])
    return f"{shown(cells)}; {powers}"


if __name__ == "__main__":
    main()
