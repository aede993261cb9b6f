r"""Algorithm 2 of the thesis, many times over: draws with replacement, labels looked up, self-normalised estimates.

Items are drawn with replacement with probabilities q until a budget of *distinct* items is labelled. The same draws
are had by letting item i arrive in continuous time as a Poisson process of rate :math:`q_i`: the arrivals, in order,
are independent draws from q. So one repetition needs one exponential number for each item, its first arrival
:math:`e_i`; the budget of n labels is spent at the n-th smallest, :math:`\tau`; and item i was drawn
:math:`1 + \mathrm{Poisson}(q_i (\tau - e_i))` times by then. Repeated draws of few heavy items cost nothing, however
many they are, and all budgets come from one repetition. The package's own draw is the same race with seeded numbers.

With :math:`c_i` draws of item i, :math:`w_i = b_i / q_i`, and a ratio of means of :math:`a_i` and :math:`d_i`
(a plain mean has :math:`d_i = 1`), the estimate and its variance are the thesis's 3.11, 3.31 and 3.14,

.. math:: \hat\theta = \frac{\sum c_i w_i a_i}{\sum c_i w_i d_i}, \quad
    \hat V = \frac{\sum c_i w_i^2 (a_i - \hat\theta d_i)^2}{(\sum c_i w_i d_i)^2},

where items that cannot be drawn enter with their known sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage import Pool
from sondage.core.comparisons import Contrast
from sondage.core.measures import Measure, parse_measure
from sondage.studies.method import Question, choose_method
from sondage.studies.planning import Plan, make_plan, settle

__all__ = ["Runs", "Target", "plan_of", "race", "simulate", "targets_of"]

Floats = NDArray[np.float64]
BLOCK = 4_000_000
"""Exponential numbers made at a time: 32 MB."""


@dataclass(frozen=True, eq=False)
class Target:
    """A ratio of pool means, or a mean.

    Attributes
    ----------
    numerator, denominator : ndarray of float, shape (N,)
        Of each item, its label looked up; the denominator of a mean is 1.
    outside : (float, float)
        Both sums, base weights applied, over the items that cannot be drawn.
    """

    numerator: Floats
    denominator: Floats
    outside: tuple[float, float] = (0.0, 0.0)

    def truth(self, weights: Floats | None = None) -> float:
        """Return the value on all labels; NaN where it is undefined."""
        over = float(np.average(self.denominator, weights=weights))
        return float(np.average(self.numerator, weights=weights)) / over if over else float("nan")


@dataclass(frozen=True, eq=False)
class Runs:
    """Estimates of all repetitions.

    Attributes
    ----------
    values, std_errors : ndarray of float, shape (R, B, J)
        Of each repetition, budget and target; NaN where undefined.
    draws, labels, spent : ndarray of float, shape (R, B)
        Draws made, distinct items among them, and their cost; with a budget for all of them each is drawn once.
    """

    values: Floats
    std_errors: Floats
    draws: Floats
    labels: Floats
    spent: Floats


def plan_of(
    pool: Pool,
    measure: str | Measure,
    design: str = "optimal",
    *,
    models: Sequence[str] | None = None,
    kind: str = "evaluate",
    **parts: Any,
) -> Plan:
    """Return the package's plan for this question by the thesis's method: sizes that sum to 1 are q.

    Parameters
    ----------
    pool : Pool
        What is asked.
    measure : str or Measure
        What the design serves.
    design : str
        One of the package's designs.
    models : sequence of str, optional
        Models concerned; by default all.
    kind : str
        ``"evaluate"``, ``"compare"`` or ``"select"``.
    **parts
        Other parts of the method, such as `floor` or `belief`.
    """
    names = tuple(models if models is not None else pool.models)
    question = settle(pool, Question(kind, names, (parse_measure(measure),)))
    return make_plan(pool, question, choose_method("thesis", design=design, **parts))


def targets_of(
    pool: Pool, labels: NDArray[Any], plan: Plan, contrasts: Sequence[Contrast] | None = None
) -> list[Target]:
    """Return the plan's contrasts (or others) as targets: single models of ratio measures, any contrast of means.

    Parameters
    ----------
    pool : Pool
        The items.
    labels : ndarray, shape (N,)
        Class codes or numbers.
    plan : Plan
        Made for this pool; what cannot be drawn under it enters with the believed sums.
    contrasts : sequence of Contrast, optional
        What to estimate; the plan's own by default.
    """
    return [_target(pool, labels, plan, contrast) for contrast in contrasts or plan.contrasts]


def _target(pool: Pool, labels: NDArray[Any], plan: Plan, contrast: Contrast) -> Target:
    functional, basis = contrast.functional, contrast.functional.basis
    if functional.ratio is not None:
        ((model, _),) = contrast.weights
        parts = [[(model, np.asarray(a))] for a in functional.ratio]
    elif functional.linear:
        parts = [
            [(m, w * functional.gradient(plan.setting.expect(contrast, plan.belief)[m])) for m, w in contrast.weights]
        ]
    else:
        raise ValueError(f"{functional.name} is neither a mean nor a ratio of means")
    sums, outside = [], []
    for terms in parts:
        of_items = np.zeros(len(pool))
        for m, a in terms:
            of_items += basis.project(pool.items, m, labels, a)
        sums.append(of_items)
        outside.append(float(sum(np.sum(a * plan.known.outside.get((basis.name, m), 0.0)) for m, a in terms)))
    if len(sums) == 1:
        sums.append(np.ones(len(pool)))
        outside.append(1.0 - plan.known.share)
    return Target(sums[0], sums[1], (outside[0], outside[1]))


@dataclass(frozen=True, eq=False)
class Race:
    """Draws of some repetitions.

    Attributes
    ----------
    items : ndarray of int, shape (r, n)
        Distinct items in the order in which they were first drawn; past the budget they are not labelled.
    counts : list of ndarray of float, shape (r, m)
        For each budget how often each of the first m was drawn, 0 if it was not.
    """

    items: NDArray[np.int64]
    counts: list[Floats]


def race(
    q: Floats, budgets: Sequence[float], repetitions: int, rng: np.random.Generator, costs: Floats | None = None
) -> Iterator[Race]:
    """Yield draws with replacement, in blocks of repetitions.

    Parameters
    ----------
    q : ndarray of float, shape (N,)
        Draw probabilities.
    budgets : sequence of float
        Distinct items, or their cost, in ascending order. A budget of labels is spent with the draw that brings its
        last item, a budget of cost before the first item that does not fit.
    repetitions : int
        How many in all.
    rng : numpy Generator
        Source of randomness.
    costs : ndarray of float, shape (N,), optional
        Of each label.
    """
    if list(budgets) != sorted(budgets):
        raise ValueError(f"budgets {list(budgets)} must ascend")
    support = np.flatnonzero(q > 0)
    rates = q[support] / q.sum()
    if costs is None and budgets[-1] > len(support):
        raise ValueError(f"budget {budgets[-1]} is above the {len(support)} items that can be drawn")
    rows = max(1, BLOCK // len(support))
    for start in range(0, repetitions, rows):
        first = rng.standard_exponential((min(rows, repetitions - start), len(support))) / rates
        order = _arrivals(first, int(budgets[-1]) if costs is None else len(support))
        times = np.take_along_axis(first, order, axis=1)
        if costs is None:
            ends = [(times[:, int(b) - 1], np.full(len(times), int(b))) for b in budgets]
        else:
            ends = [_within(np.cumsum(costs[support[order]], axis=1), times, b) for b in budgets]
        yield Race(support[order], _counts(rates[order], times, ends, rng))


def _arrivals(first: Floats, most: int) -> NDArray[np.int64]:
    """Return the columns of each row's earliest arrivals, in order."""
    if most < first.shape[1]:
        early = np.argpartition(first, most - 1, axis=1)[:, :most]
    else:
        early = np.broadcast_to(np.arange(first.shape[1]), first.shape)
    within = np.argsort(np.take_along_axis(first, early, axis=1), axis=1)
    return np.take_along_axis(early, within, axis=1)


def _within(spent: Floats, times: Floats, budget: float) -> tuple[Floats, NDArray[np.int64]]:
    """Return when the first item comes that does not fit, and how many came before."""
    fits = np.count_nonzero(spent <= budget * (1 + 1e-12), axis=1)
    if np.any(fits == spent.shape[1]):
        raise ValueError(f"budget {budget:g} buys the whole pool")
    return times[np.arange(len(times)), fits], fits


def _counts(
    rates: Floats, times: Floats, ends: list[tuple[Floats, NDArray[np.int64]]], rng: np.random.Generator
) -> list[Floats]:
    """Return how often each item was drawn by each end: the first time, and a Poisson number of times since."""
    counts: list[Floats] = []
    before = np.zeros(len(times))
    for end, labelled in ends:
        width = int(labelled.max())
        since = np.maximum(times[:, :width], before[:, None])
        there = np.arange(width) < labelled[:, None]
        now = rng.poisson(rates[:, :width] * np.where(there, np.maximum(end[:, None] - since, 0.0), 0.0)).astype(float)
        now += there
        if counts:
            old = counts[-1].shape[1]
            now[:, :old] += counts[-1] - (counts[-1] > 0)
        counts.append(now)
        before = end
    return counts


def simulate(
    q: Floats,
    targets: Sequence[Target],
    budgets: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
    *,
    costs: Floats | None = None,
    weights: Floats | None = None,
) -> Runs:
    """Run Algorithm 2 many times and return every estimate.

    Parameters
    ----------
    q : ndarray of float, shape (N,)
        Draw probabilities, as `plan_of(...).sizes`.
    targets : sequence of Target
        What is estimated from each sample.
    budgets, repetitions, rng, costs
        As for `race`.
    weights : ndarray of float, shape (N,), optional
        Base weights, summing to 1; equal by default.
    """
    q = q / q.sum()
    b = np.full(len(q), 1.0 / len(q)) if weights is None else weights
    share = float(b[q > 0].sum())
    w = np.divide(b, q, out=np.zeros(len(q)), where=q > 0)
    everything = float(np.count_nonzero(q) if costs is None else costs[q > 0].sum())
    below = [budget for budget in budgets if budget < everything]
    census = _census(q, b, targets, everything, (repetitions, len(budgets) - len(below)))
    if not below:
        return census
    blocks = []
    for drawn in race(q, below, repetitions, rng, costs):
        per_budget = []
        for counts in drawn.counts:
            items = drawn.items[:, : counts.shape[1]]
            first, second = counts * w[items], counts * w[items] ** 2
            total = first.sum(axis=1)
            scale = share / np.where(total > 0, total, np.nan)  # nothing was drawn where the first item does not fit
            found = [_estimate(target, items, first, second, scale) for target in targets]
            value, error = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
            labelled = counts > 0
            spent = labelled if costs is None else labelled * costs[items]
            per_budget.append((value, error, counts.sum(axis=1), labelled.sum(axis=1), spent.sum(axis=1)))
        blocks.append([np.stack(part, axis=1) for part in zip(*per_budget, strict=True)])
    drawn_runs = (np.concatenate(part).astype(np.float64) for part in zip(*blocks, strict=True))
    whole = (census.values, census.std_errors, census.draws, census.labels, census.spent)
    return Runs(*(np.concatenate(both, axis=1) for both in zip(drawn_runs, whole, strict=True)))


def _census(q: Floats, b: Floats, targets: Sequence[Target], spent: float, shape: tuple[int, int]) -> Runs:
    """Return exact results, of budgets with which all that can be drawn is labelled."""
    sums = [
        [t.outside[k] + np.sum((b * part)[q > 0]) for k, part in enumerate((t.numerator, t.denominator))]
        for t in targets
    ]
    values = np.array([a / d if d > 0 else np.nan for a, d in sums])
    count = np.full(shape, float(np.count_nonzero(q)))
    ones = np.ones((*shape, len(targets)))
    return Runs(ones * values, 0.0 * ones, count, count, np.full(shape, spent))


def _estimate(
    target: Target, items: NDArray[np.int64], first: Floats, second: Floats, scale: Floats
) -> tuple[Floats, Floats]:
    """Return estimates and standard errors, each shape (r,); `scale` makes the weights sum to the support's share."""
    a, d = target.numerator[items], target.denominator[items]
    over = target.outside[1] + scale * np.sum(first * d, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(over > 0, (target.outside[0] + scale * np.sum(first * a, axis=1)) / over, np.nan)
        residuals = a - value[:, None] * d
        if any(target.outside):  # the residuals' mean over the support is then not 0
            residuals -= (np.sum(first * residuals, axis=1) / np.sum(first, axis=1))[:, None]
        error = scale * np.sqrt(np.sum(second * residuals**2, axis=1)) / over
    return value, error
