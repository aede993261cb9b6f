"""Print how often what is asked for, and what is said, depends on the order of a pool's rows: simulated pools.

Small pools of random make (probabilities that are right, far off or rounded, classes without probabilities, numbers,
systems with outcomes; weights, costs, features, groups of rows), a random measure, method, draw, budget and question,
one item in six skipped in half of them. Each is asked twice, the second time with its rows in another order: do both
times the same items come in the same order, and are all numbers the same (to 7 digits)?
Run: ``python docs/evidence/row_order.py`` (six minutes). Decision 0042 quotes it.
"""

from __future__ import annotations

import numpy as np
from random_pools import Answer, asking, made, print_twice


def in_two_orders(make: str, size: int, random: np.random.Generator) -> tuple[str, str, Answer, Answer]:
    """Return make, question and the answers with the rows in two orders."""
    columns, labels = made(make, size, random)
    ask, question = asking(make, size, random)
    first, other = (ask(columns, labels, rows) for rows in (np.arange(size), random.permutation(size)))
    return make, question, first, other


if __name__ == "__main__":
    print_twice("models", in_two_orders)
