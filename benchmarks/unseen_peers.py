"""The other packages on further pools, beside the default: by the rule of unseen.py.

    python benchmarks/unseen_peers.py                       all, 200 seeds, then the table (a quarter of an hour)
    python benchmarks/unseen_peers.py --problem 'enron*'    some of them
    python benchmarks/unseen_peers.py --table               the table, from the file

Packages and their settings are those of peers/environments.py, without oasis, which takes minutes a pool. The default's
errors are in unseen.csv. An undefined estimate counts as 0, an undefined interval as one that misses, and ratios as a
tenth at least and ten at most. Finished cells are kept in benchmarks/results/unseen_peers.csv and not computed again
unless --again is given.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
import unseen
from cells import Cell, Cells, table
from peers.environments import PEERS, run_peer
from peers.statistic import Floats
from summary import LEAST_RATIO
from unseen import BUDGETS, KEYS, by_problem, cells_of_unseen, coverage_of, mean_ratio, ratio_of
from unseen_pools import Unseen

VALUES = ("items", "truth", "error", "deviation", "covered")
PACKAGES = tuple(name for name in PEERS if name != "oasis")
BEYOND = 3.0
"""Standard errors by which one of two is nearer."""


def main() -> None:
    found = cells_of_unseen(__doc__, Cells("unseen_peers", KEYS, VALUES), BUDGETS, lambda one: one.name, run, peers_of)
    print(tables(found))


def peers_of(one: Unseen) -> list[str]:
    """Return the packages that estimate its measure."""
    return [name for name in PACKAGES if one.measure in PEERS[name].measures]


def run(one: Unseen, method: str, seeds: int) -> list[Cell]:
    """Return the cells of one pool by one package."""
    problem = one.problem()
    jobs = [(seed, min(budget, len(problem) // 2)) for budget in BUDGETS for seed in range(seeds)]
    answers = sorted(run_peer(method, one.name, jobs, "unseen_pools"), key=itemgetter(1))
    return [
        cell_of(np.array([answer[2:5] for answer in some]), problem.truth) | {"items": len(problem)}
        for _, some in groupby(answers, itemgetter(1))
    ]


def cell_of(answers: Floats, truth: float) -> Cell:
    """Return how far off estimates are and how often intervals hold, from both, shape (seeds, 3)."""
    value, low, high = answers.T
    sizes = np.abs(np.where(np.isfinite(value), value, 0.0) - truth)
    held = np.mean((low <= truth + 1e-9) & (high >= truth - 1e-9)) if np.isfinite(low).any() else np.nan
    return {"truth": truth, "error": sizes.mean(), "deviation": sizes.std(), "covered": held}


def tables(found: list[Cell]) -> str:
    """Return for each package and number of labels the default's errors over its own, and how often intervals hold."""
    kept = Cells("unseen", KEYS, unseen.VALUES).rows.values()
    default, _ = by_problem(sorted(kept, key=lambda cell: int(cell["seeds"])), ("default",))  # of the most seeds
    heads = ["package", "labels", "pools", "default's error", "default nearer", "package nearer", "coverage", "lowest"]
    rows = []
    for name in PACKAGES:
        for budget in BUDGETS:
            own = [cell for cell in found if cell["method"] == name and int(cell["budget"]) == budget]
            pairs = [(default[cell["problem"], "default", budget], cell) for cell in own]
            if pairs:
                rows.append([name, str(budget), str(len(pairs)), *compared(pairs)])
    return table([*heads, "too low"], rows)


def compared(pairs: list[tuple[Cell, Cell]]) -> list[str]:
    """Return the mean ratio of errors, how many are smaller by more than chance either way, and coverage."""
    ratios = [ratio_of(mine, its) for mine, its in pairs]
    nearer = sum(ratio + BEYOND * error < 1.0 for ratio, error in ratios)
    further = sum(ratio - BEYOND * error > 1.0 for ratio, error in ratios)
    theirs = [its for _, its in pairs]
    told = coverage_of(theirs) if all(np.isfinite(float(its["covered"])) for its in theirs) else ["none", "", ""]
    return [mean_ratio([min(ratio, 1.0 / LEAST_RATIO) for ratio, _ in ratios]), str(nearer), str(further), *told]


if __name__ == "__main__":
    main()
