"""Evaluations with labels that a belief supposes: how wide the intervals are going to be if it is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sondage.core.beliefs import Belief
from sondage.core.predictions import Items, Means
from sondage.errors import unsaid
from sondage.pools import Pool
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.labels import Label
from sondage.studies.method import Method, Question
from sondage.studies.session import Session

__all__ = ["budget_as_wide", "drawn_labels", "simulated_budget", "simulated_width"]

SUPPOSED = 11
"""Stream of random numbers: of the labels that are supposed."""
MOST_LOOKS, NEAR_ENOUGH = 8, 0.03
"""At how many budgets widths are looked at, and how near to the one wanted ends it, in logarithms."""
TINY = 1e-12
"""Of 1/n - 1/N in units of 1/N, so that it has a logarithm where all is labelled."""
SLOPES = (1.0 / 3.0, 1.0)
"""Between which the powers of 1/n - 1/N are that widths are taken for."""


def simulated_width(
    pool: Pool, question: Question, method: Method, *, budget: float, level: float, simulations: int
) -> float:
    """Return the mean width of the interval over evaluations whose labels are drawn from the belief.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how; rankings are not.
    budget : float
        Of each evaluation.
    level : float
        Confidence level, in (0, 1).
    simulations : int
        How many evaluations, from 1; their seeds are 0, 1, ...

    Examples
    --------
    >>> from sondage.studies.method import choose_method
    >>> from sondage.studies.questions import make_question
    >>> pool = Pool(probabilities=np.linspace(0.0, 1.0, 2000))
    >>> asked = pool, make_question(pool, "error_rate"), choose_method("default")
    >>> one, four = (simulated_width(*asked, budget=n, level=0.95, simulations=5) for n in (50, 200))
    >>> 1.8 < one / four < 2.2
    True
    """
    return float(np.mean([_width(pool, question, method, budget, level, seed) for seed in range(simulations)]))


def _width(pool: Pool, question: Question, method: Method, budget: float, level: float, seed: int) -> float:
    """Return the width of one evaluation's interval."""
    with unsaid():  # of labels that nobody gave
        session = Session.start(pool, question, method, budget=budget, seed=seed)
        belief, random = session.stage.known.belief, session.random(SUPPOSED)()
        assert belief is not None
        while session.ask_stage(pool, 1 if session.online else len(pool)):
            new = np.array(session.pending, dtype=np.int64)
            items, _, units = session.rows(new)
            first = np.arange(len(new)) if units is None else np.unique(units, return_index=True)[1]
            labels = drawn_labels(belief, items.take(first), session.contrasts[0].models, random)
            session.answers.update(zip(new.tolist(), labels, strict=True))
        if question.kind == "compare":
            return compare_session(session).estimate.interval(level).width
        (estimate,) = estimate_session(session).values()
        return estimate.interval(level).width


def simulated_budget(
    pool: Pool,
    question: Question,
    method: Method,
    *,
    first: float,
    width: float,
    level: float,
    simulations: int,
    limit: float,
) -> float:
    """Return the budget at which intervals have a mean width, a whole one where it counts labels.

    Parameters
    ----------
    pool, question, method, level, simulations
        As for `simulated_width`, at each budget.
    first, limit : float
        The budget to begin with, and what labelling all takes: where it begins there or beyond, that is the answer.
    width : float
        The width that is wanted.

    Examples
    --------
    >>> from sondage import advise
    >>> pool = Pool(probabilities=np.linspace(0.0, 1.0, 2000))
    >>> wide, narrow = (advise(pool, width=width, simulations=3).needed["passive"] for width in (0.2, 0.1))
    >>> 3 < narrow / wide < 5
    True
    """
    counted, least = pool.prices is None, 1.0 if pool.prices is None else pool.prices.largest
    if first >= limit:
        return first

    def width_at(budget: float) -> float:
        spent = min(math.ceil(budget), limit) if counted else budget
        return simulated_width(pool, question, method, budget=spent, level=level, simulations=simulations)

    found = budget_as_wide(width_at, max(first, least), width, least, limit)
    return float(np.ceil(found)) if counted else found


def drawn_labels(belief: Belief, items: Items, models: Sequence[int], random: np.random.Generator) -> list[Label]:
    """Return a label of each item, coded, as a belief supposes it; a number is one of 32 quadrature nodes.

    Parameters
    ----------
    belief : Belief
        Of classes, numbers or outcomes.
    items : Items
        n rows.
    models : sequence of int
        The models asked about.
    random : numpy.random.Generator
        Of n uniform numbers.

    Returns
    -------
    list
        n classes by their codes, numbers, or outcomes of all systems.

    Examples
    --------
    >>> from sondage.core.beliefs import ClassBelief
    >>> pool = Pool(probabilities=[0.0, 1.0, 1.0])
    >>> drawn_labels(ClassBelief(2, models=((0, 1.0),)), pool.items, (0,), np.random.default_rng(0))
    [0, 1, 1]
    """
    supposed = list(belief.supposed(items, models, nodes=32))
    ends = np.cumsum([np.broadcast_to(weight, len(items)) for _, weight in supposed], axis=0)
    chosen = np.minimum((ends < random.random(len(items)) * ends[-1]).sum(axis=0), len(supposed) - 1)
    told: list[Any] = [label for label, _ in supposed]
    if isinstance(items.models[0], Means):
        numbers: list[Label] = np.stack(told)[chosen, np.arange(len(items))].tolist()
        return numbers
    each = [label if isinstance(label, int) else tuple(label.tolist()) for label in told]
    return [each[which] for which in chosen.tolist()]


def budget_as_wide(
    width_at: Callable[[float], float], first: float, wanted: float, least: float, limit: float
) -> float:
    r"""Return the budget at which intervals are as wide as wanted, if widths are about a power of :math:`1/n - 1/N`.

    Of :math:`n` of :math:`N` equal draws it is 1/2. From each budget the next follows from the line through the
    logarithms so far: of that slope until there are three, then of one from a third to one. The search ends within 3 %
    of the width.

    Parameters
    ----------
    width_at : callable
        From a budget to the width there, which may be by chance a little off.
    first, least, limit : float
        The budget to begin with, the least there is, and that of the whole pool, N, which is more.
    wanted : float
        The width.

    Examples
    --------
    >>> round(budget_as_wide(lambda budget: 3.0 * budget**-0.7, 10.0, 0.1, 1.0, 1e6))
    129
    """
    budgets, widths = [first], [width_at(first)]
    while widths[-1] > 0 and len(widths) < MOST_LOOKS and abs(math.log(widths[-1] / wanted)) > NEAR_ENOUGH:
        following = max(_on_line(budgets, widths, wanted, limit), least)
        if following == budgets[-1]:
            return following
        budgets.append(following)
        widths.append(width_at(following))
    return max(_on_line(budgets, widths, wanted, limit), least) if widths[-1] > 0 else budgets[-1]


def _on_line(budgets: list[float], widths: list[float], wanted: float, limit: float) -> float:
    """Return where the line through the logarithms has the wanted width, from the nearest of the points on."""
    x, y = np.log(np.maximum(1 / np.array(budgets) - 1 / limit, TINY / limit)), np.log(widths)
    slope = float(np.clip(np.polyfit(x, y, 1)[0], *SLOPES)) if len(budgets) > 2 else 0.5
    near = int(np.argmin(np.abs(y - math.log(wanted))))
    return float(1 / (np.exp(x[near] + (math.log(wanted) - y[near]) / slope) + 1 / limit))
