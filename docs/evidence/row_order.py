"""Print how often what is asked for, and what is said, depends on the order of a pool's rows: simulated pools.

Small pools of random make (probabilities that are right, far off or rounded, classes without probabilities, numbers,
systems with outcomes; weights, costs, features, groups of rows), a random measure, method, draw, budget and question,
one item in six skipped in half of them. Each is asked twice, the second time with its rows in another order: do both
times the same items come in the same order, and are all numbers the same (to 7 digits)?
Run: ``python docs/evidence/row_order.py`` (six minutes). Decision 0042 quotes it.
"""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
from random_pools import MEASURES, asking, made

from sondage.errors import SondageError, SondageWarning

POOLS = 4000
DIGITS = 1e-7


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
        try:
            first, other = (ask(columns, labels, rows) for rows in (np.arange(size), random.permutation(size)))
        except SondageError:  # a measure that is undefined, a budget below a label's cost: refused in either order
            continue
        asked[make, question] += 1
        other_items[make, question] += first[0] != other[0]
        other_numbers[make, question] += first[0] == other[0] and not np.allclose(
            first[1], other[1], rtol=DIGITS, atol=1e-9, equal_nan=True
        )
    print("| models | question | pools | other items | other numbers |\n|" + "---|" * 5)
    for make, question in sorted(asked):
        key = make, question
        print(f"| {make} | {question} | {asked[key]} | {other_items[key]} | {other_numbers[key]} |")
    print(f"| all | | {asked.total()} | {other_items.total()} | {other_numbers.total()} |")


if __name__ == "__main__":
    main()
