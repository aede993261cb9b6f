"""Print how often what is asked for, and what is said, depends on the units of a pool's numbers: simulated pools.

Pools and questions as in row_order.py. Each is asked twice, the second time with its labels and predictions, its
costs and budget, its base weights, or its features in another unit, a power of two times as large or as small: are
the same items asked for in the same order, and all numbers the same in the unit they then have (to 7 digits)?
Run: ``python docs/evidence/units.py`` (four minutes). Decision 0043 quotes it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from random_pools import MEASURES, asking, made

from sondage.errors import SondageError, SondageWarning

POOLS = 4000
DIGITS = 1e-7
UNITS = (2.0**-30, 2.0**-10, 2.0**10, 2.0**30)


def main() -> None:
    warnings.simplefilter("ignore", SondageWarning)
    asked: Counter[tuple[str, str]] = Counter()
    other_items: Counter[tuple[str, str]] = Counter()
    other_numbers: Counter[tuple[str, str]] = Counter()
    for seed in range(POOLS):
        random = np.random.default_rng(seed)
        make = random.choice(list(MEASURES))
        size = int(random.choice([5, 30, 200, 1000]))
        columns, labels = made(make, size, random)
        ask, question = asking(make, size, random)
        changed = [name for name in ("costs", "weights", "features") if name in columns]
        changed += ["labels"] if make == "numbers" else []
        if not changed:
            continue
        of, unit = str(random.choice(changed)), float(random.choice(UNITS))
        try:
            first = ask(columns, labels, np.arange(size))
            if of == "labels":
                other = ask(in_unit(columns, unit), labels * unit, np.arange(size), unit)
            else:
                other = ask(columns | {of: columns[of] * unit}, labels, np.arange(size))
        except SondageError:  # a measure that is undefined, a budget below a label's cost: refused in either unit
            continue
        asked[of, question] += 1
        other_items[of, question] += first[0] != other[0]
        other_numbers[of, question] += first[0] == other[0] and not np.allclose(
            first[1], other[1], rtol=DIGITS, atol=1e-9, equal_nan=True
        )
    print("| unit of | question | pools | other items | other numbers |\n|" + "---|" * 5)
    for of, question in sorted(asked):
        key = of, question
        print(f"| {of} | {question} | {asked[key]} | {other_items[key]} | {other_numbers[key]} |")
    print(f"| all | | {asked.total()} | {other_items.total()} | {other_numbers.total()} |")


def in_unit(columns: dict[str, Any], unit: float) -> dict[str, Any]:
    """Return the columns of regressors with predictions in this unit, and variances in its square."""
    told = {"variances": columns["variances"] * unit**2} if "variances" in columns else {}
    return columns | {"models": [means * unit for means in columns["models"]]} | told


if __name__ == "__main__":
    main()
