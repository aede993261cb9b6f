"""Whether items that came with their labels are like the pool, by what models or judges say of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.core.beliefs import Belief
from sondage.core.comparisons import believed_totals
from sondage.core.measures.bases import Basis, Confusion, OutcomeValue
from sondage.core.measures.binned import Confidence
from sondage.core.predictions import Classes, Floats, Items
from sondage.core.reliability import log_chance
from sondage.pools import Pool

__all__ = ["unlike"]

BY_CHANCE = 1e-5
"""Probability below which a random sample is not taken to differ so much from its pool."""
PARTS = 10
"""Of the pool, from the items of which a model is least sure to those of which it is surest."""


def unlike(pool: Pool, belief: Belief, items: Items, models: Sequence[int]) -> str | None:
    """Return what to say where these items, which are to be a random sample of the pool, are beyond chance not like it.

    Of each model the shares of items that are predicted to be of each class, and the share of predictions that are
    expected to be wrong, are held against those of the pool; of systems the expected share of right answers. Where
    these are alike, the pool is divided into tenths by how sure a model is of the class that it predicts, and the
    shares of the items below and above the end of each tenth are held against what there is in the pool. The chance is
    bounded by Hoeffding's inequality for means of numbers in [0, 1] (`log_chance`), for all shares of a kind together.

    Parameters
    ----------
    pool : Pool
        The pool; of numbers and of rankings nothing is compared.
    belief : Belief
        What the labels are expected to be before any of them.
    items : Items
        What is said of the items.
    models : sequence of int
        Of which models.
    """
    shares = _in_shares(pool, belief, items, models) or _in_sureness(pool, items, models)
    if shares is None:
        return None
    rule = "if they were not drawn at random, this is biased"
    return f"the items that were labelled before are not like the pool: {shares}; {rule}"


def _in_shares(pool: Pool, belief: Belief, items: Items, models: Sequence[int]) -> str | None:
    """Return which expected share differs beyond chance, or None."""
    basis = _basis_of(pool)
    if basis is None:
        return None
    whole = pool.believed([(basis, models)], belief)
    part = believed_totals(basis, models, belief, items, np.full(len(items), 1.0 / len(items)))
    of_pool, of_items = (
        np.array([_shares(total, pool) for total in totals])
        for totals in ([whole[basis.name, model] for model in models], [part[model] for model in models])
    )
    logs = log_chance(of_items, of_pool, len(items))
    model, place = map(int, np.unravel_index(np.argmin(logs), logs.shape))
    if logs[model, place] > np.log(BY_CHANCE / logs.size):
        return None
    what = [f"predicted to be {name!r}" for name in pool.task.classes] if pool.task.classes else []
    what.append("expected to be wrong" if what else "expected to be right")
    shares = f"{of_items[model, place]:.1%} are {what[place]}, of the pool {of_pool[model, place]:.1%}"
    return shares + (f" by {pool.models[models[model]]!r}" if len(models) > 1 else "")


def _in_sureness(pool: Pool, items: Items, models: Sequence[int]) -> str | None:
    """Return of which part of the pool, by how sure a model is, there are too many items for chance, or None.

    Below the end of the j-th of k parts there is at most j / k of the pool, and above it at most 1 - j / k. Ends that
    ties make alike are one, whose j is from the number of ends up to it to k less the number of those above it.
    """
    found: list[tuple[float, str]] = []
    for model in models:
        output, name = items.models[model], repr(pool.models[model]) if len(models) > 1 else "the model"
        if not isinstance(output, Classes) or output.probabilities is None:
            continue
        sure, ends = Confidence().of(items, model), pool.values.ends(Confidence(), model, PARTS)
        number = np.arange(1, len(ends) + 1)
        most_below, most_above = (PARTS - len(ends) + number) / PARTS, 1.0 - number / PARTS
        for words, compared, most in (
            ("least sure", sure[:, None] < ends, most_below),
            ("surest", sure[:, None] > ends, most_above),
        ):
            shares = np.maximum(np.mean(compared, axis=0), most)
            logs = log_chance(shares, most, len(items))
            at = int(np.argmin(logs))
            found.append((float(logs[at]), f"{shares[at]:.1%} are among the {most[at]:.0%} of which {name} is {words}"))
    log, said = min(found, default=(0.0, ""))
    return said if log <= np.log(BY_CHANCE / (PARTS * max(len(found), 1))) else None


def _basis_of(pool: Pool) -> Basis | None:
    """Return the statistic whose means are shares of the pool; None where there are none."""
    if pool.task.kind == "classification":
        return Confusion(len(pool.task.classes))
    return OutcomeValue() if set(pool.task.grades) == {0.0, 1.0} else None


def _shares(total: Floats, pool: Pool) -> Floats:
    """Return the shares that are compared: of each predicted class and of what is wrong; of systems what is right."""
    if pool.task.kind != "classification":
        return total
    return np.append(total.sum(axis=1), total.sum() - np.trace(total))
