"""How often tests of two models reject: without a difference (type I error), and with one (power).

    python benchmarks/tests.py                                    all, 1,000 seeds, then the tables
    python benchmarks/tests.py --pair regression --seeds 5000     one pair of models, more seeds
    python benchmarks/tests.py --table type_one --level 0.01      one table at another level

Under the null hypothesis each item's two outputs change places with probability 1/2 in every run (Sawade 2012,
section 5.4.2), so that the population's difference is 0; the target is therefore the population in all runs. Finished
cells are kept in benchmarks/results/tests.csv and not computed again unless --again is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from cells import Cell, Cells, marked, table
from known_problems import PAIRS, Pair
from scipy.stats import binom

import sondage
from sondage.core.catalogue.significance import named_test
from sondage.core.significance import bootstrap_test, permutation_test
from sondage.errors import InputError

BUDGETS = (50, 100, 200, 400)
LEVELS = (0.01, 0.05, 0.1)
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
}
KEYS = ("pair", "design", "budget", "null", "seeds")
VALUES = (
    *("truth", "mean", "spread", "std_error", "labels"),
    *(f"{test}_{level}" for test in TESTS for level in LEVELS),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--pair", nargs="+", choices=list(PAIRS), default=list(PAIRS))
    parser.add_argument("--budget", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--table", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--level", nargs="+", type=float, choices=LEVELS, default=[0.05])
    parser.add_argument("--again", action="store_true", help="compute cells again that the file has")
    options = parser.parse_args()
    cells = {null: simulated(options, null=null) for null in {name != "power" for name in options.table}}
    for name in options.table:
        found = cells[name != "power"]
        for level in options.level:
            print(f"\n{name}: {heading(name, level, options.seeds)}\n")
            print(errors(found, options.budget) if name == "errors" else pivot(found, options.budget, level))


def heading(name: str, level: float, seeds: int) -> str:
    if name != "type_one":
        return TABLES[name].format(level=level)
    low, high = binom.interval(0.95, seeds, level)
    return TABLES[name].format(level=level, low=low / seeds, high=high / seeds)


def simulated(options: argparse.Namespace, *, null: bool) -> list[Cell]:
    """Return all cells asked for, computing those that are missing."""
    cells, found = Cells("tests", KEYS, VALUES), []
    for name in options.pair:
        build = lru_cache(PAIRS[name])
        for design in designs(name):
            for budget in options.budget:
                keys = dict(zip(KEYS, (name, design, budget, null, options.seeds), strict=True))

                def run(build=build, design=design, budget=budget) -> Cell:
                    return simulate(build(), DESIGNS[design], budget, options.seeds, null=null)

                found.append(cells.get(keys, run, again=options.again))
    return found


def designs(pair: str) -> list[str]:
    """Return the designs that fit: limits of predictive variances are for regressors."""
    return [design for design in DESIGNS if pair == "regression" or not design.startswith("active_")]


def simulate(pair: Pair, parts: dict[str, Any], budget: int, seeds: int, *, null: bool) -> Cell:
    """Return how often each test rejects."""
    pool = pair.pool
    rejected = np.zeros((len(TESTS), len(LEVELS)))
    values, errors, labels = np.empty(seeds), np.empty(seeds), np.empty(seeds)
    for seed in range(seeds):
        generator = np.random.default_rng([seed, budget])
        if null:
            pool = pair.swapped(generator)
        comparison = sondage.compare(
            pool, "a", "b", pair.measure, labels=pair.labels, budget=budget, seed=seed, target="population", **parts
        )
        estimate = comparison.estimate
        values[seed], errors[seed], labels[seed] = estimate.value, estimate.std_error, estimate.n_labels
        for place, pvalue in enumerate(pvalues(comparison, generator, resampling=null)):
            rejected[place] += np.array(LEVELS) >= pvalue
    shares = rejected / seeds
    return {
        "truth": 0.0 if null else pair.truth,
        "mean": values.mean(),
        "spread": values.std(ddof=1),
        "std_error": errors.mean(),
        "labels": labels.mean(),
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


def pivot(found: list[Cell], budgets: list[int], level: float) -> str:
    """Return a table with one row for each pair, design and test, one column for each budget."""
    show: dict[tuple[str, str, str], list[str]] = {}
    for cell in found:
        null = cell["null"] == "True"
        for test in TESTS:
            rate, runs = float(cell[f"{test}_{level}"]), int(cell["seeds"])
            text = marked(rate, runs, level, "greater") if null else f"{rate:.2f}"
            if fits(cell, test):
                show.setdefault((cell["pair"], cell["design"], test), []).append(text)
    return table(["pair", "design", "test", *map(str, budgets)], ([*line, *cells] for line, cells in show.items()))


def errors(found: list[Cell], budgets: list[int]) -> str:
    """Return a table of the spread of the differences, and of the mean standard error over it."""
    show: dict[tuple[str, str], list[str]] = {}
    for cell in found:
        spread, error = float(cell["spread"]), float(cell["std_error"])
        show.setdefault((cell["pair"], cell["design"]), []).append(f"{spread:.4f} ({error / spread:.2f})")
    return table(["pair", "design", *map(str, budgets)], ([*line, *cells] for line, cells in show.items()))


def fits(cell: Cell, test: str) -> bool:
    """Return whether the cell has the test; McNemar's needs equal draws and losses of 0 and 1."""
    if test in RESAMPLED:
        return cell["null"] == "True"
    return test != "mcnemar" or (cell["pair"] != "regression" and cell["design"] in ("passive", "default"))


if __name__ == "__main__":
    main()
