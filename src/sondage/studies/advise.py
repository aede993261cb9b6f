"""Advice before any label: what each method can be expected to achieve on this pool, and whether it will pay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sondage.core.beliefs import is_broad
from sondage.core.catalogue.beliefs import Expectation
from sondage.core.catalogue.designs import Setting
from sondage.core.checks import BOUNDED, LARGEST_NUMBER, is_listed, require, require_number, require_whole
from sondage.core.designs import Deviation, RootMeanSquare
from sondage.core.display import Shown
from sondage.core.measures import Measure, parse_measure
from sondage.core.planning import budget_for, poisson_variance, repeated_variance
from sondage.core.power import power
from sondage.errors import InputError
from sondage.pools import Pool
from sondage.studies.budgets import check_budget
from sondage.studies.drawing import DRAWS, WithReplacement
from sondage.studies.fitting import fitted_method
from sondage.studies.judging import as_asked
from sondage.studies.method import METHODS, Method, choose_method
from sondage.studies.planning import Plan, make_plan, settle
from sondage.studies.questions import make_question
from sondage.studies.requirements import check_width
from sondage.studies.simulated import simulated_budget

__all__ = ["Advice", "Expected", "advise"]

BUDGETS = (100, 300, 1000)
"""Looked at unless others are named."""
PAYS_BELOW = 0.9
"""Expected standard error, over that of uniform sampling, below which choosing pays."""

_UNTOLD = "all labels are equally probable (the pool has no probabilities)"
_JUDGED = "the {} as much belief as before any label"
_UNSCALED = "the root mean squared error is 1: without predictive variances it is not known, and only ratios tell"
"""Of a belief without a scale."""


@dataclass(frozen=True)
class Expected:
    """What a method can be expected to achieve.

    Attributes
    ----------
    method : str
        Name of the method.
    budget : float
        Labels, or cost.
    std_error : float
        Believed standard error.
    passive_budget : float
        Budget at which uniform sampling has the same standard error; infinite if the whole pool is not enough.
    power : float
        Probability that a test at alpha finds the difference asked about; NaN where none is, or no label can move it.
    """

    method: str
    budget: float
    std_error: float
    passive_budget: float
    power: float = float("nan")


@dataclass(frozen=True)
class Advice(Shown):
    """Expected standard errors, budgets needed, and a sentence.

    Attributes
    ----------
    measure : str
        The measure.
    value : float
        Its value (or the difference) if the belief were right.
    expected : tuple of Expected
        Each method at each budget.
    needed : dict of str to float
        Method -> budget for the width or the power asked for; empty if neither was.
    sentence : str
        Whether active evaluation can be expected to pay here.
    models : tuple of str
        The model, or the two whose difference it is.
    aim : str
        What the budgets in `needed` are for, in words; empty if there are none.
    condition : str
        What all of it supposes, in words.
    positive : object
        The positive class, where the measure has one.
    """

    measure: str
    value: float
    expected: tuple[Expected, ...]
    needed: dict[str, float]
    sentence: str
    models: tuple[str, ...]
    aim: str
    condition: str
    positive: Any = None

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class _Aim:
    """What labels are wanted for, beside the estimate: an interval of a width, or a power to find a difference."""

    width: float | None
    difference: float | None
    power: float
    alpha: float

    def __str__(self) -> str:
        if self.width is not None:
            return f"a {100 * (1 - self.alpha):g} % interval of width {self.width:g}"
        return f"finding a difference of {self.difference:g} with power {self.power:g}"

    def variance(self) -> float | None:
        """Return the variance of the estimate that reaches it; None where nothing is wanted."""
        from scipy.stats import norm

        z = float(norm.ppf(1 - self.alpha / 2))
        if self.width is not None:
            if not self.width > 0:
                raise InputError(f"width={self.width} must be positive")
            return (self.width / (2 * z)) ** 2
        if self.difference is None:
            return None
        if self.difference == 0 or not self.alpha < self.power < 1:
            raise InputError(
                f"difference={self.difference} must not be 0 and wanted_power={self.power} in ({self.alpha}, 1)"
            )
        return (self.difference / (z + float(norm.ppf(self.power)))) ** 2


def advise(
    pool: Pool,
    measure: str | Measure = "error_rate",
    *,
    compare: Sequence[str] | None = None,
    model: str | None = None,
    positive: Any = None,
    budgets: Sequence[float] | None = None,
    width: float | None = None,
    difference: float | None = None,
    wanted_power: float = 0.8,
    alpha: float = 0.05,
    belief: Any = None,
    simulations: int = 0,
) -> Advice:
    r"""Say from the pool alone what labels will buy.

    Parameters
    ----------
    pool, measure
        As for `evaluate`.
    compare : (str, str), optional
        Two models: the measure is then their difference.
    model, positive
        As for `evaluate`.
    budgets : sequence of float, optional
        Budgets to look at. By default 100, 300 and 1,000, as far as they pay the dearest label and are below the cost
        of labelling all; if none is, half of that cost, or the dearest label where it costs more.
    width : float, optional
        Wanted width of the interval at level 1 - alpha, in the units of the measure.
    difference : float, optional
        With `compare`: a difference worth finding, in the units of the measure.
    wanted_power : float
        Probability with which it is to be found, in (0, 1).
    alpha : float
        Level of the test, in (0, 1); the interval has level 1 - alpha.
    belief
        As for `evaluate`.
    simulations : int
        With `width`: evaluate so many times with labels that the belief supposes, at each of a few budgets, to find
        those at which the intervals are as wide, by default none. With 50 they were .87 to 1.11 times as wide as wanted
        (``python docs/evidence/advised_widths.py``).

    Returns
    -------
    Advice
        Expected standard errors of each method at each budget, the budgets needed, and a sentence.

    Raises
    ------
    InputError
        If an argument does not fit the pool, or another.

    Notes
    -----
    Without replacement the expected variance at a budget is :math:`\sum_i (1 / \pi_i - 1)\, b_i^2 r_i^2` with base
    weights :math:`b`, :math:`\pi_i = \min(1, k u_i)`, and :math:`r_i` the root mean square of an influence under
    the belief, or for an assisted estimate its deviation (docs/statistics.md, section 10).

    All numbers hold if the belief does. Wrong probabilities make uniform sampling look worse, or better, than it
    is; the floor of the default method bounds what that can cost.

    Without simulations a budget for a width is that at which 2 z expected standard errors are as wide, z the normal
    quantile. Intervals from few labels are wider, as they allow for what these do not exclude (docs/cookbook.md tells
    how much).

    Examples
    --------
    >>> import numpy as np
    >>> pool = Pool(probabilities=np.linspace(0.0, 1.0, 2000) ** 4)
    >>> advise(pool, budgets=[100]).sentence.split(":")[0]
    'Active evaluation should pay'
    """
    parsed = parse_measure(measure, positive)
    question = make_question(pool, parsed, model=model, compare=compare, positive=positive, alpha=alpha)
    _require_aims(width, difference, wanted_power, compares=compare is not None)
    _require_simulations(simulations, width, pool)
    question = settle(pool, question)
    pool = as_asked(pool, question)
    wanted = [] if budgets is None else budgets if is_listed(budgets) else [budgets]
    limit = _limit(pool)
    looked = [check_budget(pool, budget) for budget in [*wanted] or _usual_budgets(pool, limit)]
    methods = {name: fitted_method(pool, question, choose_method(name, belief=belief)) for name in METHODS}
    plans = {name: make_plan(pool, question, method) for name, method in methods.items()}
    variances = {name: _variance(pool, plan, methods[name]) for name, plan in plans.items()}
    aim = _Aim(width, difference, wanted_power, alpha)
    expected = tuple(
        _expected(name, budget, variances=variances, limit=limit, aim=aim) for budget in looked for name in variances
    )
    plan = plans["default"]
    scaled = not is_broad(plan.belief)
    if not scaled and (width is not None or difference is not None):
        raise InputError(
            "width= and difference= need predictive variances: without them the labels' spread is not known"
        )
    contrast, condition = plan.contrasts[0], _condition(pool, plan.setting, belief)
    if width is not None:
        check_width("width", width, contrast)
    middle = sorted(looked)[len(looked) // 2]
    value = contrast.value(plan.known.means_of(contrast))
    needed = _needed(variances, limit, aim.variance(), counted=pool.prices is None)
    if simulations and width is not None:
        search = partial(simulated_budget, width=width, level=1 - alpha, simulations=simulations, limit=limit)
        chosen = {name: choose_method(name, belief=belief) for name in needed}
        needed = {name: search(pool, question, chosen[name], first=first) for name, first in needed.items()}
    measure_name = contrast.functional.name
    sentence = _sentence(expected, middle, limit, condition, priced=pool.prices is not None)
    if plan.known.immovable:
        sentence = f"No label can change {measure_name} here: it follows from the predictions alone."
    return Advice(
        measure=measure_name,
        positive=contrast.functional.positive,
        value=value,
        expected=expected,
        needed=needed,
        sentence=sentence,
        models=question.models,
        aim=str(aim) if needed else "",
        condition=condition,
    )


def _condition(pool: Pool, setting: Setting, belief: Any) -> str:
    """Return what the numbers suppose, in words."""
    if is_broad(setting.belief):
        return _UNSCALED
    if pool.task.kind == "regression":
        return "the predictive variances are right"
    if belief is not None and (not isinstance(belief, str) or belief == "uniform"):
        return "the belief is right"
    if pool.judges and belief in (None, "judge"):
        return _JUDGED.format("judges deserve" if len(pool.judges) > 1 else "judge deserves")
    told = Expectation(pool.task, pool.outline, setting.models).informed or belief == "ensemble"
    return "the probabilities are right" if told else _UNTOLD


def _require_aims(width: Any, difference: Any, wanted_power: Any, *, compares: bool) -> None:
    """Refuse what cannot be wanted: a width, or of two models a difference to be found with this power."""
    for name, value in {"width": width, "difference": difference}.items():
        if value is not None:
            require_number(name, value)
            require(abs(value) <= LARGEST_NUMBER, f"{name}={value!r} must be {BOUNDED}")
    require_number("wanted_power", wanted_power)
    require(difference is None or compares, f"difference={difference!r} goes with compare=")


def _limit(pool: Pool) -> float:
    return float(pool.n_units if pool.prices is None else pool.prices.total)


def _usual_budgets(pool: Pool, limit: float) -> list[float]:
    """Return the usual budgets that the pool can spend and has more than, else half of all costs, or the dearest."""
    if pool.prices is None:
        return [budget for budget in BUDGETS if budget < limit] or [limit // 2 or 1]
    dearest = pool.prices.largest
    return [budget for budget in BUDGETS if dearest <= budget < limit] or [max(limit / 2, dearest)]


def _variance(pool: Pool, plan: Plan, method: Method) -> Callable[[float], float]:
    """Return the believed variance as a function of the budget."""
    contrast = plan.contrasts[0]
    influence = contrast.influence(plan.known.means_of(contrast))
    kind = Deviation if method.assisted else RootMeanSquare
    term = kind(influence=influence, belief=plan.belief, cost_exponent=0.0)
    seen = pool.profile(plan.urn, term)
    expected = repeated_variance if isinstance(DRAWS[method.draw], WithReplacement) else poisson_variance
    return lambda budget: expected(seen.sizes, seen.others, budget, seen.costs, seen.counts)


def _expected(
    name: str,
    budget: float,
    *,
    variances: dict[str, Callable[[float], float]],
    limit: float,
    aim: _Aim,
) -> Expected:
    variance, passive = variances[name](budget), variances["passive"]
    alike = name == "passive" or not passive(budget) > 0  # where no label can move the result all budgets are
    same = budget if alike else budget_for(passive, variance, limit)
    found = float("nan")
    if aim.difference is not None and passive(limit / 2.0) > 0:  # a difference that no label can move is not found
        found = float(power(aim.difference, float(np.sqrt(variance)), 1, alpha=aim.alpha))
    return Expected(name, budget, float(np.sqrt(variance)), same, found)


def _needed(
    variances: dict[str, Callable[[float], float]], limit: float, target: float | None, *, counted: bool
) -> dict[str, float]:
    """Return each method's budget for a variance, a whole one where it counts labels; none where none is wanted."""
    if target is None:
        return {}
    found = {name: budget_for(variance, target, limit) for name, variance in variances.items()}
    return {name: float(np.ceil(budget)) for name, budget in found.items()} if counted else found


def _require_simulations(simulations: Any, width: float | None, pool: Pool) -> None:
    """Refuse simulations that are none, that nothing asks for, or of rankings."""
    require_whole("simulations", simulations)
    require(simulations >= 0, f"simulations={simulations} must be at least 0")
    require(simulations == 0 or width is not None, f"simulations={simulations} goes with width=")
    require(simulations == 0 or pool.task.kind != "ranking", "simulations= is not for rankings: leave it out")


def _sentence(expected: tuple[Expected, ...], budget: float, limit: float, condition: str, *, priced: bool) -> str:
    """Return what to do, judged at the middle budget."""
    at = {one.method: one for one in expected if one.budget == budget}
    default, passive = at["default"], at["passive"]
    if budget >= limit:
        return f"A {'cost' if priced else 'budget'} of {budget:g} labels the whole pool: nothing is left to estimate."
    if not passive.std_error > 0:
        return "By the predictions nothing is uncertain: label at random (method='passive'), and check the predictions."
    ratio = default.std_error / passive.std_error
    if ratio > PAYS_BELOW:
        return (
            f"Active evaluation will not pay here: at {budget:g} the expected standard error is "
            f"{default.std_error:.3g} against {passive.std_error:.3g} of uniform sampling, if {condition}. "
            f"Label at random (method='passive')."
        )
    same = "more than the whole pool" if np.isinf(default.passive_budget) else f"about {default.passive_budget:,.0f}"
    worth = (
        f"a cost of {budget:g} is worth {same} at random"
        if priced
        else f"{'1 label is' if budget == 1 else f'{budget:g} labels are'} worth {same} drawn at random"
    )
    return (
        f"Active evaluation should pay: {worth} "
        f"(standard error {default.std_error:.3g} against {passive.std_error:.3g}), if {condition}."
    )
