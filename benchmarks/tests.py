"""How often tests of two models reject: without a difference (type I error), and with one (power).

    python benchmarks/tests.py                                    made pairs, 1,000 seeds, then the tables
    python benchmarks/tests.py --pair real --seeds 500            pairs of real models
    python benchmarks/tests.py --pair regression --seeds 5000     one pair of models, more seeds
    python benchmarks/tests.py --design default --table type_one  one design, one table
    python benchmarks/tests.py --table type_one --level 0.01      one table at another level

Under the null hypothesis each item's two outputs change places with probability 1/2 in every run (Sawade 2012,
section 5.4.2), so that the population's difference is 0; the target is therefore the population, and of made pairs
that differ too. Of real pairs (model_sets.py) that differ it is the pool. Finished cells are kept in
benchmarks/results/tests.csv and not computed again unless --again is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table, whole_number
from known_problems import PAIRS, Pair
from model_sets import REAL_PAIRS
from scipy.stats import binom

import sondage
from sondage.core.catalogue.significance import named_test
from sondage.core.significance import bootstrap_test, permutation_test
from sondage.errors import InputError

BUDGETS = (50, 100, 200, 400)
LEVELS = (0.01, 0.05, 0.1)
ALL_PAIRS = PAIRS | REAL_PAIRS
GROUPS = {"made": tuple(PAIRS), "real": tuple(REAL_PAIRS)}
RESAMPLES = 199
RESAMPLED = ("permutation", "bootstrap")
TESTS = ("auto", "wald", "t", "permutation", "bootstrap", "mcnemar")
DESIGNS: dict[str, dict[str, Any]] = {
    "passive": {"method": "passive"},
    "optimal (thesis)": {"method": "thesis"},
    "default": {"method": "default"},
    "active_0 (thesis)": {"method": "thesis", "design": "active_0"},
    "active_inf (thesis)": {"method": "thesis", "design": "active_inf"},
}
TABLES = {
    "type_one": (
        "share of runs that reject at {level}; models are equal. 95 % of right tests fall within {low:.3f} to "
        "{high:.3f}; bold: too many by more than chance (1 in 1000)"
    ),
    "errors": "spread of the estimated differences of equal models, and the mean standard error over it",
    "power": "share of runs that reject at {level}; models differ",
    "covered": "share of the default's 95 % intervals that hold the difference; models differ",
}
KEYS = ("pair", "design", "budget", "null", "seeds")
VALUES = (
    *("truth", "mean", "spread", "std_error", "labels", "covered"),
    *(f"{test}_{level}" for test in TESTS for level in LEVELS),
)


def main() -> None:
    parser = options_of_cells(__doc__, seeds=1000)
    parser.add_argument("--pair", nargs="+", choices=[*ALL_PAIRS, *GROUPS], default=["made"])
    parser.add_argument("--design", nargs="+", choices=list(DESIGNS), default=list(DESIGNS))
    parser.add_argument("--budget", nargs="+", type=whole_number, default=list(BUDGETS))
    parser.add_argument("--table", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--test", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--level", nargs="+", type=float, choices=LEVELS, default=[0.05])
    options = parser.parse_args()
    cells = {null: simulated(options, null=null) for null in {name in EQUAL for name in options.table}}
    for name in options.table:
        found = cells[name in EQUAL]
        for level in options.level:
            print(f"\n{name}: {heading(name, level, options.seeds)}\n")
            if name in SHOWN:
                print(pivot(found, options.budget, SHOWN[name]))
            else:
                print(rejections(found, options.budget, level, options.test))


def heading(name: str, level: float, seeds: int) -> str:
    if name != "type_one":
        return TABLES[name].format(level=level)
    low, high = binom.interval(0.95, seeds, level)
    return TABLES[name].format(level=level, low=low / seeds, high=high / seeds)


def simulated(options: argparse.Namespace, *, null: bool) -> list[Cell]:
    """Return all cells asked for, computing those that are missing."""
    cells = Cells("tests", KEYS, VALUES)
    return [
        cells.of(simulate, name, design, budget, null, options.seeds, again=options.again)
        for name in dict.fromkeys(one for pair in options.pair for one in GROUPS.get(pair, (pair,)))
        for design in designs(name)
        if design in options.design
        for budget in options.budget
    ]


def designs(pair: str) -> list[str]:
    """Return the designs that fit: limits of predictive variances are for regressors."""
    return [design for design in DESIGNS if pair == "regression" or not design.startswith("active_")]


@lru_cache(maxsize=1)
def built(name: str) -> Pair:
    return ALL_PAIRS[name]()


def simulate(name: str, design: str, budget: int, null: bool, seeds: int) -> Cell:
    """Return how often each test rejects, and how often the interval holds the difference."""
    pair, made = built(name), name in PAIRS
    target = "population" if null or made else "pool"  # of real pairs that differ it is the pool's own
    pool, truth = pair.pool, 0.0 if null else pair.truth
    rejected, fitted = np.zeros((len(TESTS), len(LEVELS))), np.zeros(len(TESTS))
    values, errors, labels, covered = (np.empty(seeds) for _ in range(4))
    for seed in range(seeds):
        generator = np.random.default_rng([seed, budget])
        if null:
            pool = pair.swapped(generator)
        comparison = sondage.compare(
            pool, "a", "b", pair.measure, labels=pair.labels, budget=budget, seed=seed, target=target, **DESIGNS[design]
        )
        estimate, interval = comparison.estimate, comparison.interval(0.95)
        values[seed], errors[seed], labels[seed] = estimate.value, estimate.std_error, estimate.n_labels
        covered[seed] = interval.low - 1e-9 <= truth <= interval.high + 1e-9
        for place, pvalue in enumerate(pvalues(comparison, generator, resampling=null and made)):
            rejected[place] += np.array(LEVELS) >= pvalue
            fitted[place] += not np.isnan(pvalue)
    shares = np.where(fitted[:, None] > 0, rejected / seeds, np.nan)  # a run without a discordant label rejects nothing
    return {
        "truth": truth,
        "mean": values.mean(),
        "spread": values.std(ddof=1),
        "std_error": errors.mean(),
        "labels": labels.mean(),
        "covered": covered.mean(),
        **{f"{t}_{a}": shares[i, j] for i, t in enumerate(TESTS) for j, a in enumerate(LEVELS)},
    }


def pvalues(comparison: sondage.Comparison, generator: np.random.Generator, *, resampling: bool) -> Iterator[float]:
    """Yield the p-values of all tests; NaN where one does not fit the draw or is not wanted."""
    estimate, evidence = comparison.estimate, comparison.estimate.evidence
    assert evidence is not None
    given: dict[str, Any] = {"weights": evidence.sample.row_weights, "generator": generator, "resamples": RESAMPLES}
    for name in TESTS:
        if name in RESAMPLED and not resampling:
            yield float("nan")
        elif name in RESAMPLED:
            test = permutation_test if name == "permutation" else bootstrap_test
            yield test(evidence.fit.influence + estimate.value, **given).pvalue
        else:
            try:
                yield named_test(estimate, name).pvalue
            except InputError:
                yield float("nan")


def rejections(found: list[Cell], budgets: list[int], level: float, tests: list[str]) -> str:
    """Return a table with one row for each pair, design and test, one column for each budget."""
    show: dict[tuple[str, str, str], list[str]] = {}
    for cell in found:
        null = cell["null"] == "True"
        for test in tests:
            rate, runs = float(cell[f"{test}_{level}"]), int(cell["seeds"])
            if fits(cell, test):
                text = marked(rate, runs, level, "greater") if null else f"{rate:.2f}"
                show.setdefault((cell["pair"], cell["design"], test), []).append(text)
    return table(["pair", "design", "test", *map(str, budgets)], ([*line, *cells] for line, cells in show.items()))


def pivot(found: list[Cell], budgets: list[int], text: Callable[[Cell], str]) -> str:
    """Return a table with one row for each pair and design, one column for each budget."""
    show: dict[tuple[str, str], list[str]] = {}
    for cell in found:
        show.setdefault((cell["pair"], cell["design"]), []).append(text(cell))
    return table(["pair", "design", *map(str, budgets)], ([*line, *cells] for line, cells in show.items()))


def _errors(cell: Cell) -> str:
    """Return the spread of the differences, and the mean standard error over it."""
    spread = float(cell["spread"])
    return f"{spread:.4f} ({float(cell['std_error']) / spread:.2f})" if spread else "0"


def _covered(cell: Cell) -> str:
    return marked(float(cell["covered"]), int(cell["seeds"]), 0.95, "less")


EQUAL = ("type_one", "errors")
SHOWN: dict[str, Callable[[Cell], str]] = {"errors": _errors, "covered": _covered}


def fits(cell: Cell, test: str) -> bool:
    """Return whether the cell has the test: of real pairs nothing is resampled, McNemar's needs equal draws."""
    return not np.isnan(float(cell[f"{test}_{LEVELS[0]}"]))


if __name__ == "__main__":
    main()
