"""Where estimates, standard errors and intervals hold: simulations on problems with all labels known.

    python benchmarks/coverage.py                                 all problems, 250 seeds, then the tables
    python benchmarks/coverage.py --problem rare --seeds 2000     one problem, more seeds
    python benchmarks/coverage.py --table coverage ratio          these tables only

Each cell is one measure, method and budget on one problem; finished cells are kept in benchmarks/results/coverage.csv
and not computed again unless --again is given. `tweets` and `abt_buy` need the folder of real data that SONDAGE_DATA
names; without it, their cells are taken from the file or left out.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from itertools import product

import numpy as np
from cells import Cell, Cells, marked, options_of_cells, table, whole_number
from data import data_folder
from known_problems import PROBLEMS, STORED, Problem

import sondage

MEASURES = ("error_rate", "f1", "recall", "mse")
METHODS = ("passive", "thesis", "default")
BUDGETS = (25, 100, 300, 1000)
INTERVALS = ("wald", "t", "auto")
KEYS = ("problem", "measure", "method", "budget", "seeds")
VALUES = (
    *("truth", "undefined", "error", "bias", "spread", "std_error"),
    *(f"covered_{kind}" for kind in INTERVALS),
    *(f"width_{kind}" for kind in INTERVALS),
)


def main() -> None:
    parser = options_of_cells(__doc__, seeds=250)
    parser.add_argument("--problem", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--measure", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--budget", nargs="+", type=whole_number, default=list(BUDGETS))
    parser.add_argument("--table", nargs="+", choices=list(TABLES), default=list(TABLES))
    options = parser.parse_args()
    found = simulated(options)
    for name in options.table:
        print(f"\n{name}: {TABLES[name].__doc__}\n")
        print(pivot(found, options.budget, name))


def simulated(options: argparse.Namespace) -> list[Cell]:
    """Return all cells asked for, computing those that are missing."""
    cells, found = Cells("coverage", KEYS, VALUES), []
    for name in options.problem:
        missing = name in STORED and not data_folder().is_dir()
        for case in product(fitting(name, options.measure), METHODS, options.budget):
            values = (name, *case, options.seeds)
            if not missing or dict(zip(KEYS, values, strict=True)) in cells:
                found.append(cells.of(simulate, *values, again=options.again and not missing))
    return found


def fitting(problem: str, measures: list[str]) -> list[str]:
    return [measure for measure in measures if (measure == "mse") == problem.startswith("regression")]


@lru_cache(maxsize=1)
def built(name: str) -> Problem:
    return PROBLEMS[name]()


def simulate(name: str, measure: str, method: str, budget: int, seeds: int) -> Cell:
    """Return what many draws of one cell show."""
    problem = built(name)
    truth = problem.truth[measure]
    values, errors = np.empty(seeds), np.empty(seeds)
    ends = np.empty((seeds, len(INTERVALS), 2))
    for seed in range(seeds):
        estimate = sondage.evaluate(
            problem.pool, measure, labels=problem.labels, budget=budget, seed=seed, method=method
        )
        values[seed], errors[seed] = estimate.value, estimate.std_error
        for place, kind in enumerate(INTERVALS):
            interval = estimate.interval(0.95, kind)
            ends[seed, place] = interval.low, interval.high
    defined = np.isfinite(values)
    covered = ((ends[:, :, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, :, 1])).mean(axis=0)
    wide = (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0)
    away = values[defined] - truth
    return {
        "truth": truth,
        "undefined": 1 - defined.mean(),
        "error": np.abs(away).mean(),
        "bias": away.mean(),
        "spread": values[defined].std(ddof=1),
        "std_error": np.nanmean(errors[defined]),
        **{f"covered_{kind}": covered[place] for place, kind in enumerate(INTERVALS)},
        **{f"width_{kind}": wide[place] for place, kind in enumerate(INTERVALS)},
    }


def coverage(cell: Cell) -> str:
    """Coverage of the default 95 % interval; bold where it is below 0.95 by more than chance."""
    return marked(float(cell["covered_auto"]), int(cell["seeds"]), 0.95, "less")


def wald(cell: Cell) -> str:
    """Coverage of the 95 % Wald interval; bold where it is below 0.95 by more than chance."""
    return marked(float(cell["covered_wald"]), int(cell["seeds"]), 0.95, "less")


def t(cell: Cell) -> str:
    """Coverage of the 95 % t interval; bold where it is below 0.95 by more than chance."""
    return marked(float(cell["covered_t"]), int(cell["seeds"]), 0.95, "less")


def width(cell: Cell) -> str:
    """Mean width of the default 95 % interval."""
    return f"{float(cell['width_auto']):.3g}"


def error(cell: Cell) -> str:
    """Mean absolute error."""
    return f"{float(cell['error']):.2g}"


def bias(cell: Cell) -> str:
    """Bias in units of the spread of the estimates; chance alone gives up to 0.2 with 250 seeds."""
    spread = float(cell["spread"])
    return f"{float(cell['bias']) / spread:+.2f}" if spread else "-"


def ratio(cell: Cell) -> str:
    """Mean standard error over the spread of the estimates: below 1, the standard error promises too much."""
    spread = float(cell["spread"])
    return f"{float(cell['std_error']) / spread:.2f}" if spread else "-"


def undefined(cell: Cell) -> str:
    """Share of the draws whose labels left the measure undefined (no positive, say)."""
    return f"{float(cell['undefined']):.2f}"


TABLES = {
    "coverage": coverage,
    "wald": wald,
    "t": t,
    "width": width,
    "error": error,
    "bias": bias,
    "ratio": ratio,
    "undefined": undefined,
}


def pivot(found: list[Cell], budgets: list[int], name: str) -> str:
    """Return a table with one row for each problem and measure, one column for each method and budget."""
    show = {tuple(str(cell[key]) for key in KEYS[:4]): TABLES[name](cell) for cell in found}
    lines = dict.fromkeys((cell["problem"], cell["measure"]) for cell in found)
    columns = [(method, str(budget)) for method in METHODS for budget in budgets]
    heads = ["problem", "measure", *(f"{method} {budget}" for method, budget in columns)]
    return table(heads, ([*line, *(show[(*line, *column)] for column in columns)] for line in lines))


if __name__ == "__main__":
    main()
