"""Comparisons of two models on pools that nobody looked at while they were made: by the rule of unseen.py.

    python benchmarks/unseen_pairs.py                        all, 200 seeds, then the tables (40 minutes of one core)
    python benchmarks/unseen_pairs.py --problem 'enron*'     some of them
    python benchmarks/unseen_pairs.py --table                the tables, from the file

On each pool the model whose turn it is in unseen.py is compared with the second after it, by the measure whose turn it
is. Power is the share of runs that find the pool's own difference at the level .05, in its direction. Finished cells
are kept in benchmarks/results/unseen_pairs.csv and not computed again unless --again is given.
"""

from __future__ import annotations

import numpy as np
from cells import Cell, Cells, table
from data import Arrays
from problems import problem_of
from unseen import METHODS, Unseen, cells_of_unseen, mean_ratio, ratio_of, shown, too_low

import sondage

BUDGETS = (50, 100, 200, 400)
LEVEL = 0.05
APART = 2
"""How many turns later the other model has its own."""
KEYS = ("pair", "method", "budget", "seeds")
VALUES = ("items", "truth", "error", "deviation", "covered", "width", "power", "wrong")


def main() -> None:
    print(tables(cells_of_unseen(__doc__, Cells("unseen_pairs", KEYS, VALUES), BUDGETS, _name, simulate)))


def _other(unseen: Unseen) -> str:
    """Return the model that a pool's own is compared with."""
    return unseen.models[(unseen.models.index(unseen.model) + APART) % len(unseen.models)]


def _name(unseen: Unseen) -> str:
    return f"{unseen.pool}-{unseen.model}-{_other(unseen)}/{unseen.measure}"


def simulate(unseen: Unseen, method: str, seeds: int) -> list[Cell]:
    """Return how far off the difference is, how often its interval holds, and how often a difference is found."""
    other = _other(unseen)
    pair = {model: unseen.arrays(model) for model in (unseen.model, other)}
    labels, positive = pair[other]["labels"], unseen.positive
    pool = sondage.Pool(models={name: _model(arrays) for name, arrays in pair.items()})
    truths = [problem_of(unseen.name, dict(arrays), unseen.measure, positive).truth for arrays in pair.values()]
    truth, cells = truths[0] - truths[1], []
    for budget in (min(budget, len(labels) // 2) for budget in BUDGETS):
        value, low, high, pvalue = np.empty((4, seeds))
        for seed in range(seeds):
            found = sondage.compare(
                pool, *pair, unseen.measure, labels=labels, budget=budget, seed=seed, positive=positive, method=method
            )
            interval = found.interval(0.95)
            value[seed], low[seed], high[seed] = found.difference, interval.low, interval.high
            pvalue[seed] = found.pvalue
        errors, claimed = np.abs(value - truth), pvalue <= LEVEL
        errors[errors < 1e-12] = 0.0
        cell = {
            "items": len(labels),
            "truth": truth,
            "error": np.nanmean(errors),  # equal draws without a positive have no F1
            "deviation": np.nanstd(errors),
            "covered": np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9)),
            "width": np.mean(high - low),
            "power": np.mean(claimed & (value * truth > 0)),
            "wrong": np.mean(claimed & (value * truth < 0)),
        }
        cells.append(cell)
    return cells


def _model(arrays: Arrays) -> sondage.Classifier | sondage.Regressor:
    told = {name: column for name, column in arrays.items() if name != "labels"}
    return sondage.Regressor(**told) if "means" in told else sondage.Classifier(**told)


def tables(found: list[Cell]) -> str:
    """Return means for each measure and number of labels, and every pair."""
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
    every = [[name, f"{float(cells[0][0]['truth']):.2g}", *map(_shown, cells)] for name, cells in rows.items()]
    return "\n\n".join([table(heads, summary), table(["pair", "difference", *map(str, BUDGETS)], every)])


def _summary(measure: str, budget: int, cells: list[list[Cell]]) -> list[str]:
    def means(column: str) -> list[str]:
        return [f"{np.mean([float(own[at][column]) for own in cells]):.2f}" for at in range(len(METHODS))]

    ratios = [mean_ratio([ratio_of(own[0], own[at])[0] for own in cells]) for at in (1, 2)]
    covered = [np.array([float(own[at]["covered"]) for own in cells]) for at in (0, 1)]
    low = [str(sum(too_low(own[at]) for own in cells)) for at in (0, 1)]
    wrong = f"{max(float(own[0]['wrong']) for own in cells):.3f}"
    held = [f"{covered[0].mean():.3f}", f"{covered[0].min():.3f}", low[0], f"{covered[1].mean():.3f}", low[1]]
    return [f"{measure}, {len(cells)}", str(budget), *ratios, *means("power"), wrong, *held]


def _shown(cells: list[Cell]) -> str:
    powers = ", ".join(f"{float(cell['power']):.2f}" for cell in cells[:2])
    return f"{shown(cells)}; {powers}"


if __name__ == "__main__":
    main()
