"""Comparisons of two models by other measures than error rate and F1, on the further pools of unseen.py.

    python benchmarks/unseen_pair_measures.py                     all, 200 seeds, then the tables (an hour of one core)
    python benchmarks/unseen_pair_measures.py --problem '*/auc'   some of them
    python benchmarks/unseen_pair_measures.py --table             the tables, from the file

The pairs of unseen_pairs.py, by the measures of unseen_measures.py in turn, of which every one meets six pairs.
Measures of one class are of the second (of ten digits, of 1). Finished cells are kept in
benchmarks/results/unseen_pair_measures.csv and not computed again unless --again is given.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from cells import Cell, Cells, table
from unseen import cells_of_unseen, coverage_of, error_over, width_over
from unseen_measures import TRUTHS, measured, problem_by, shown_beside
from unseen_pairs import KEYS, VALUES, name_of, simulate

METHODS = ("default", "passive")
BUDGETS = (100, 400)


def main() -> None:
    found = cells_of_unseen(
        __doc__,
        Cells("unseen_pair_measures", KEYS, VALUES),
        BUDGETS,
        name_of,
        partial(simulate, problem=problem_by, budgets=BUDGETS),
        lambda _: METHODS,
        pools=measured(turns=1),
    )
    print(tables(found))


def tables(found: list[Cell]) -> str:
    """Return means for each measure and number of labels, and every pair."""
    by_key = {(cell["pair"], cell["method"], int(cell["budget"])): cell for cell in found}
    names = [name for name in dict.fromkeys(name for name, _, _ in by_key) if (name, "passive", BUDGETS[-1]) in by_key]
    summary, every = [], []
    for measure in TRUTHS:
        own = [name for name in names if name.endswith(f"/{measure}")]
        pairs = {at: [(by_key[name, "default", at], by_key[name, "passive", at]) for name in own] for at in BUDGETS}
        summary += [[measure, str(at), *_summary(pairs[at])] for at in BUDGETS if own]
        every += [
            [
                name,
                f"{float(pairs[BUDGETS[0]][place][0]['truth']):.2g}",
                *(shown_beside(*pairs[at][place]) for at in BUDGETS),
            ]
            for place, name in enumerate(own)
        ]
    heads = ["measure", "labels", "/passive", "rel. width", "power", "passive's", "wrong"]
    heads += ["coverage", "lowest", "too low", "passive's", "too low"]
    return "\n\n".join([table(heads, summary), table(["pair", "difference", *map(str, BUDGETS)], every)])


def _summary(pairs: list[tuple[Cell, Cell]]) -> list[str]:
    own, passive = zip(*pairs, strict=True)
    power = [f"{np.mean([float(cell['power']) for cell in cells]):.2f}" for cells in (own, passive)]
    wrong, (mean, _, low) = max(float(cell["wrong"]) for cell in own), coverage_of(passive)
    return [error_over(pairs), width_over(pairs), *power, f"{wrong:.3f}", *coverage_of(own), mean, low]


if __name__ == "__main__":
    main()
