"""Print how often what is asked for, and what is said, depends on the units of a pool's numbers: simulated pools.

Pools and questions as in row_order.py. Each is asked twice, the second time with its labels and predictions, its
costs and budget, its base weights, or its features in another unit, a power of two times as large or as small: are
the same items asked for in the same order, and all numbers the same in the unit they then have (to 7 digits)?
Run: ``python docs/evidence/units.py`` (four minutes). Decision 0043 quotes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from random_pools import Answer, asking, made, print_twice

UNITS = (2.0**-30, 2.0**-10, 2.0**10, 2.0**30)


def in_two_units(make: str, size: int, random: np.random.Generator) -> tuple[str, str, Answer, Answer] | None:
    """Return what has another unit, the question and the answers in both units; None where nothing has a unit."""
    columns, labels = made(make, size, random)
    ask, question = asking(make, size, random)
    changed = [name for name in ("costs", "weights", "features") if name in columns]
    changed += ["labels"] if make == "numbers" else []
    if not changed:
        return None
    of, unit, rows = str(random.choice(changed)), float(random.choice(UNITS)), np.arange(size)
    first = ask(columns, labels, rows)
    if of == "labels":
        return of, question, first, ask(in_unit(columns, unit), labels * unit, rows, unit)
    return of, question, first, ask(columns | {of: columns[of] * unit}, labels, rows)


def in_unit(columns: dict[str, Any], unit: float) -> dict[str, Any]:
    """Return the columns of regressors with predictions in this unit, and variances in its square."""
    told = {"variances": columns["variances"] * unit**2} if "variances" in columns else {}
    return columns | {"models": [means * unit for means in columns["models"]]} | told


if __name__ == "__main__":
    print_twice("unit of", in_two_units)
