"""What a budget may be, and how much of it a stage gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.core.catalogue.beliefs import MOST_SOURCES
from sondage.core.checks import is_number
from sondage.core.measures import Task
from sondage.errors import InputError
from sondage.pools import Pool

__all__ = [
    "LEAST_IN_SLICE",
    "check_amount",
    "check_budget",
    "labels_for",
    "least_in_stage",
    "next_end",
    "one_price",
    "stage_end",
]

LEAST_IN_SLICE = 10
"""Labels of a slice in a stage, at least."""
_FEW = 10
"""Least labels of a stage that learns probabilities, or shares."""
_SOME = 30
"""The same of variances, where other models help."""
_MANY = 60
"""The same of variances alone, and of grades."""


def check_budget(pool: Pool, budget: float) -> float:
    """Return the budget if the pool can spend it: labels, or cost where the pool has costs.

    Raises
    ------
    InputError
        If it is not positive, not whole where it counts labels, or more than the pool.
    """
    prices = pool.prices
    unit = "cost" if prices else "queries" if pool.task.kind == "ranking" else "labels"
    check_amount(budget, float(pool.n_units if prices is None else prices.total), unit)
    if prices is not None and budget < prices.largest:  # a draw stops at what does not fit: this would never be in it
        raise InputError(
            f"budget={budget:g} is below the dearest label, {prices.largest:g}: raise it, or leave those out"
        )
    return float(budget)


def one_price(pool: Pool) -> float | None:
    """Return what every label costs, 1 without costs; None where some cost more than others.

    Examples
    --------
    >>> [one_price(Pool(probabilities=[0.1, 0.9], costs=costs)) for costs in (None, [5.0, 5.0], [5.0, 1.0])]
    [1.0, 5.0, None]
    """
    prices = pool.prices
    if prices is None:
        return 1.0
    return prices.largest if prices.equal else None


def labels_for(budget: float, price: float) -> float:
    """Return how many labels of this price a budget pays; a whole number as one, whatever rounding leaves of it."""
    return round(budget / price, 9)


def check_amount(budget: float, limit: float, unit: str) -> None:
    """Refuse a budget that is not positive, above the limit, or not whole where it is no cost."""
    if isinstance(budget, int) and budget == 0:
        raise InputError("budget= is missing, or 0: give the number of labels, or their cost, that are at most spent")
    if not (is_number(budget) and budget > 0):
        raise InputError(f"budget={budget!r} must be positive and finite: give the number of labels, or their cost")
    if unit != "cost" and budget != int(budget):
        raise InputError(f"budget={budget} counts {unit} and must be whole")
    if budget > limit * (1 + 1e-12):
        raise InputError(f"budget={budget:g} is above what the pool can take: {limit:g} ({unit})")


def least_in_stage(task: Task, kind: str, models: int) -> int:
    """Return the fewest labels of a stage: errors of numbers and grades take more to learn from than classes.

    Among several models a stage learns first of all which are still in question, and of two regressors which share of
    the way from one to the other the truth lies, for which few labels do. One regressor's loss has a long tail, which
    stages of a few labels take too lightly.

    Parameters
    ----------
    task : Task
        The pool's.
    kind : str
        The question's: ``"evaluate"``, ``"compare"`` or ``"select"``.
    models : int
        How many the pool has; by default one that is evaluated learns from the others, where they are not too many.

    Examples
    --------
    >>> least_in_stage(Task("classification", ("ham", "spam")), "evaluate", 1)
    10
    >>> [least_in_stage(Task("regression"), "evaluate", models) for models in (1, 2)]
    [60, 30]
    """
    of_shares = kind == "select" or (kind == "compare" and task.kind == "regression")
    if of_shares or task.kind in ("classification", "outcomes"):
        return _FEW
    return _SOME if task.kind == "regression" and 1 < models <= MOST_SOURCES else _MANY


def next_end(pool: Pool, shares: Sequence[float], *, budget: float, spent: float, least: float) -> float:
    """Return up to which part of the budget, labels or cost, the pool's next stage goes.

    Where all labels cost the same it ends at the label at which it would without costs.

    Parameters
    ----------
    pool : Pool
        The pool.
    shares, budget, spent
        As for `stage_end`.
    least : float
        Least of a stage, in labels.

    Examples
    --------
    >>> p = [0.1] * 200
    >>> pools = Pool(probabilities=p), Pool(probabilities=p, costs=[2.0] * 200)
    >>> shares, budgets = (0.2, 0.3, 0.5), (100, 200.0)
    >>> [next_end(pool, shares, budget=end, spent=0.0, least=10) for pool, end in zip(pools, budgets)]
    [20.0, 40.0]
    """
    prices, price = pool.prices, one_price(pool)
    if prices is not None and price is None:
        least = max(least * prices.total / pool.n_units, prices.largest)
        return stage_end(shares, budget, spent, least, counted=False)
    price = price or 1.0
    return price * stage_end(shares, labels_for(budget, price), labels_for(spent, price), least)


def stage_end(shares: Sequence[float], budget: float, spent: float, least: float, *, counted: bool = True) -> float:
    """Return up to which part of the budget the next stage goes.

    Parameters
    ----------
    shares : sequence of float
        Shares of the budget, summing to 1.
    budget, spent : float
        Labels, or cost: in all, and asked for so far.
    least : float
        Least of a stage: smaller ones are joined with the next.
    counted : bool
        Whether the budget counts labels, which are whole; costs are not, whatever their unit.

    Examples
    --------
    >>> [stage_end((0.2, 0.3, 0.5), 300, spent, 10) for spent in (0, 60, 150)]
    [60.0, 150.0, 300.0]
    >>> stage_end((0.2, 0.3, 0.5), 30, 0, 10)
    15.0
    """
    for share in np.cumsum(shares)[:-1]:
        end = float(np.floor(share * budget + 1e-9)) if counted else float(share * budget)
        if end - spent >= least and budget - end >= least:
            return end
    return float(budget)
