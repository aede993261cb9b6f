r"""Algorithm 3 of the thesis, many times over: which model is better, and with what p-value.

Draws and estimates are those of `experiments.simulation`; here they are turned into decisions. A budget that is not
below the number of items that can be drawn labels them all: the decision is then exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

import sondage
from experiments.accuracy import wrong_sign
from experiments.chapter5.contests import Contest
from experiments.simulation import Floats, plan_of, simulate, targets_of
from sondage.core.comparisons import Contrast

__all__ = ["Duels", "chooses_wrongly", "duel", "iwal", "own_comparisons", "packaged_selection", "tournament"]

DELTA = 0.05
"""Of the bound with which IWAL leaves models out."""


@dataclass(frozen=True, eq=False)
class Duels:
    """Two models compared, in all repetitions.

    Attributes
    ----------
    differences, pvalues : ndarray of float, shape (R, B)
        Estimated difference of risks, first minus second, and two-sided p-value.
    truth : float
        The difference on the whole pool.
    """

    differences: Floats
    pvalues: Floats
    truth: float

    @property
    def wrong(self) -> Floats:
        """Whether the model of higher risk was preferred, shape (R, B); a tie counts one half."""
        return wrong_sign(self.differences, self.truth)


def duel(
    contest: Contest,
    design: str,
    budgets: Sequence[int],
    repetitions: int,
    rng: np.random.Generator,
    test: str = "wald",
) -> Duels:
    """Compare two models by Algorithm 3 with one of the package's designs.

    Parameters
    ----------
    contest : Contest
        Of two models.
    design : str
        ``"optimal"``, ``"active_0"``, ``"active_inf"``, ``"active_neq"``, ``"active_risk"`` or ``"passive"``.
    budgets : sequence of int
        Distinct labels, ascending.
    repetitions, rng
        As for `simulate`.
    test : {"wald", "t"}
        Thesis 3.24, or Student's t of equal weights, which the thesis uses for the passive draw.
    """
    pool = contest.pool
    plan = plan_of(pool, contest.measure, design, kind="compare")
    (target,) = targets_of(pool, contest.labels, plan)
    short = [b for b in budgets if b < np.count_nonzero(plan.sizes)]
    first, second = contest.risks
    differences = np.full((repetitions, len(budgets)), first - second)
    pvalues = np.full((repetitions, len(budgets)), float(first == second))
    if short:
        runs = simulate(plan.sizes, [target], short, repetitions, rng)
        differences[:, : len(short)] = runs.values[:, :, 0]
        pvalues[:, : len(short)] = TESTS[test](runs.values[:, :, 0], runs.std_errors[:, :, 0], runs.draws)
    return Duels(differences, pvalues, float(first - second))


def wald(differences: Floats, errors: Floats, draws: Floats) -> Floats:
    """Return the p-values of thesis 3.24, second line."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(differences) / errors
    return np.asarray(np.where(errors > 0, 2.0 * ndtr(-statistic), (differences == 0).astype(float)))


def student(differences: Floats, errors: Floats, draws: Floats) -> Floats:
    """Return the p-values of Student's t for equal weights; n draws have n - 1 degrees of freedom."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(differences) / (errors * np.sqrt(draws / (draws - 1.0)))
    return np.asarray(np.where(errors > 0, 2.0 * stdtr(draws - 1.0, -statistic), (differences == 0).astype(float)))


TESTS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {"wald": wald, "t": student}


def tournament(
    contest: Contest, design: str, budgets: Sequence[int], repetitions: int, rng: np.random.Generator
) -> Floats:
    """Return whether the model chosen among several is not the best, shape (R, B): thesis 5.16 with any design."""
    pool = contest.pool
    plan = plan_of(pool, contest.measure, design, kind="select", **_belief(contest))
    functional = plan.contrasts[0].functional
    single = [Contrast(functional, ((model, 1.0),)) for model in range(len(pool.models))]
    short = [b for b in budgets if b < np.count_nonzero(plan.sizes)]
    wrong = np.zeros((repetitions, len(budgets)))
    if short:
        runs = simulate(plan.sizes, targets_of(pool, contest.labels, plan, single), short, repetitions, rng)
        wrong[:, : len(short)] = chooses_wrongly(runs.values, contest.risks, rng)
    return wrong


def _belief(contest: Contest) -> dict[str, str]:
    """Return what stands for p(y | x) where models have no probabilities: the share of models that predict y."""
    plain = all(set(arrays) == {"predictions"} for arrays in contest.models.values())
    return {"belief": "vote"} if plain else {}


def chooses_wrongly(estimates: Floats, risks: Floats, rng: np.random.Generator) -> Floats:
    """Return whether the lowest estimate is not that of a model of lowest risk; ties are decided by chance.

    Parameters
    ----------
    estimates : ndarray of float, shape (..., k)
        Estimated risks.
    risks : ndarray of float, shape (k,)
        On the whole pool.
    rng : numpy Generator
        Decides ties.
    """
    lowest = np.round(estimates, 12) == np.round(estimates, 12).min(axis=-1, keepdims=True)
    chosen = np.argmax(lowest * (1.0 - rng.random(estimates.shape)), axis=-1)
    return np.asarray(risks[chosen] > risks.min(), dtype=np.float64)


def iwal(contest: Contest, budgets: Sequence[int], repetitions: int, rng: np.random.Generator) -> Floats:
    r"""Return whether importance-weighted active learning chooses a model that is not the best, shape (R, B).

    With zero-one loss and finitely many models (Beygelzimer, Dasgupta and Langford, 2009, algorithms 1 and 2): items
    come in random order, and one is labelled if the models still alive disagree on it. After t items a model is left
    out whose loss is above the lowest by more than :math:`\sqrt{8/t \, \ln(2 t (t + 1) k^2 / \delta)}`. Models that
    are alive agree on what is not labelled, so that their losses there do not tell them apart. A-squared differs in
    its bound only.
    """
    predictions = np.stack([arrays["predictions"] for arrays in contest.models.values()], axis=1)
    losses, risks = contest.losses.T, contest.risks
    items, k = predictions.shape
    t = np.arange(1, items + 1)
    slack = np.sqrt(8.0 / t * np.log(2.0 * t * (t + 1) * k**2 / DELTA))
    wrong = np.zeros((repetitions, len(budgets)))
    for run in range(repetitions):
        order = rng.permutation(items)
        total = np.cumsum(losses[order], axis=0)
        behind = (total - total.min(axis=1, keepdims=True)) / t[:, None] > slack[:, None]
        alive = ~np.logical_or.accumulate(behind, axis=0)
        before = np.vstack([np.ones((1, k), dtype=bool), alive[:-1]])
        said = predictions[order]
        least = np.where(before, said, said.max()).min(axis=1)
        asked = np.cumsum(np.where(before, said, said.min()).max(axis=1) > least)
        for column, budget in enumerate(budgets):
            at = min(int(np.searchsorted(asked, budget)), items - 1)
            estimates = np.where(alive[at], total[at] / t[at], np.inf)
            wrong[run, column] = chooses_wrongly(estimates, risks, rng)
    return wrong


def own_comparisons(
    contest: Contest, budget: int, sessions: int, rng: np.random.Generator, **options: Any
) -> list[sondage.Comparison]:
    """Return what the package's own `compare` finds in some sessions, by default with its default method."""
    pool, (first, second) = contest.pool, contest.models
    most = min(budget, len(contest))
    return [
        sondage.compare(
            pool, first, second, measure=contest.measure, labels=contest.labels, budget=most, seed=seed, **options
        )
        for seed in rng.integers(2**31, size=sessions).tolist()
    ]


def packaged_selection(contest: Contest, budgets: Sequence[int], sessions: int, rng: np.random.Generator) -> Floats:
    """Return whether the package's own `compare` or `select` names the wrong model, shape (sessions, B)."""
    return np.stack([_own_choices(contest, budget, sessions, rng) for budget in budgets], axis=1)


def _own_choices(contest: Contest, budget: int, sessions: int, rng: np.random.Generator) -> Floats:
    names, risks = list(contest.models), contest.risks
    if len(names) == 2:
        found = np.array([comparison.difference for comparison in own_comparisons(contest, budget, sessions, rng)])
        return wrong_sign(found, float(risks[0] - risks[1]))
    pool, most = contest.pool, min(budget, len(contest))
    best = [
        sondage.select(pool, contest.measure, labels=contest.labels, budget=most, seed=seed).best
        for seed in rng.integers(2**31, size=sessions).tolist()
    ]
    return np.array([risks[names.index(name)] > risks.min() for name in best], dtype=np.float64)
