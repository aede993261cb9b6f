"""Errors over budgets, written down as soon as they are known."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sondage
from benchmarks.cells import Cell, Cells
from experiments.accuracy import summary
from experiments.problems import Problem
from experiments.simulation import Floats, plan_of, simulate, targets_of
from experiments.stratified import simulate_strata, strata_of
from sondage import Pool

__all__ = [
    "DESIGNS",
    "SESSION_BUDGETS",
    "Run",
    "Settings",
    "curve",
    "packaged",
    "stratified",
    "study",
    "thesis",
    "within",
]

DESIGNS = {
    "passive": "passive",
    "active": "optimal",
    "active_err": "active_err",
    "active_uniC": "uniform_cost",
    "active_uniD": "active_uniD",
    "active_lambda": "cost_only",
}
"""The thesis's methods, and the package's designs."""

SESSION_BUDGETS = (100, 200, 400, 800)
"""Budgets at which the package's sessions are run."""

Run = Callable[[int, np.random.Generator], Floats]
"""From a number of repetitions and a source of randomness to estimates, shape (R, B)."""


@dataclass(frozen=True)
class Settings:
    """What a run may be told.

    Attributes
    ----------
    repetitions : int
        Of each simulation.
    sessions : int
        Repetitions of the package's own sessions, which are slower.
    seed : int
        Of everything.
    """

    repetitions: int = 1000
    sessions: int = 200
    seed: int = 0

    def rng(self, *names: Any) -> np.random.Generator:
        """Return a source of randomness of its own for what these names name."""
        return np.random.default_rng([self.seed, zlib.crc32("/".join(map(str, names)).encode())])


def thesis(pool: Pool, labels: NDArray[Any], measure: Any, design: str, budgets: Sequence[float]) -> Run:
    """Return Algorithm 2 with one of the package's designs; costs are those of the pool.

    Parameters
    ----------
    pool : Pool
        One model's.
    labels : ndarray, shape (N,)
        Class codes or numbers.
    measure : str or Measure
        What is estimated.
    design : str
        ``"passive"``, ``"optimal"``, ``"active_err"``, ``"uniform_cost"``, ``"cost_only"``, ...
    budgets : sequence of float
        Ascending.
    """

    def run(repetitions: int, rng: np.random.Generator) -> Floats:
        plan = plan_of(pool, measure, design)
        targets = targets_of(pool, labels, plan)
        runs = simulate(plan.sizes, targets, budgets, repetitions, rng, costs=pool.unit_costs)
        return runs.values[:, :, 0]

    return run


def stratified(pool: Pool, labels: NDArray[Any], measure: Any, scores: Floats, budgets: Sequence[int]) -> Run:
    """Return online stratified sampling of a mean, with strata by score."""

    def run(repetitions: int, rng: np.random.Generator) -> Floats:
        (target,) = targets_of(pool, labels, plan_of(pool, measure, "passive"))
        return simulate_strata(strata_of(scores), target, budgets, repetitions, rng)

    return run


def packaged(pool: Pool, labels: NDArray[Any], measure: Any, budgets: Sequence[float], **parts: Any) -> Run:
    """Return the package's own sessions, by default those of its default method; a session for each budget."""

    def run(repetitions: int, rng: np.random.Generator) -> Floats:
        seeds = rng.integers(2**31, size=repetitions).tolist()
        values = [
            [sondage.evaluate(pool, measure, labels=labels, budget=b, seed=s, **parts).value for b in budgets]
            for s in seeds
        ]
        return np.array(values, dtype=np.float64)

    return run


def curve(
    cells: Cells,
    settings: Settings,
    names: Mapping[str, Any],
    budgets: Sequence[float],
    run: Run,
    truth: float,
    *,
    repetitions: int | None = None,
) -> list[Cell]:
    """Return a row as `summary` makes it for each budget, computed unless the file has them all.

    Parameters
    ----------
    cells : Cells
        The file; its keys are the names, budget, repetitions and seed.
    settings : Settings
        Repetitions and seed.
    names : mapping
        What the curve is of, such as problem and method.
    budgets : sequence of float
        As for `run`.
    run : Run
        How estimates are made.
    truth : float
        What they are estimates of.
    repetitions : int, optional
        If not those of the settings.
    """
    count = settings.repetitions if repetitions is None else repetitions
    wanted = [dict(names) | {"budget": b, "repetitions": count, "seed": settings.seed} for b in budgets]

    def compute() -> list[Cell]:
        estimates = run(count, settings.rng(*names.values()))
        return [summary(values, truth) for values in estimates.T]

    return cells.series(wanted, compute)


def within(budgets: Sequence[float], most: float) -> list[float]:
    """Return the budgets up to half of what the pool could take: the largest at least, if all are above."""
    return [b for b in budgets if b <= most / 2] or [int(most // 2)]


def study(
    cells: Cells,
    settings: Settings,
    names: Mapping[str, Any],
    problem: Problem,
    measure: Any,
    methods: Sequence[str],
    budgets: Sequence[float],
    *,
    costs: Floats | None = None,
) -> Iterator[str]:
    """Compute a curve for each method: ``"strat"``, ``"package default"`` or one of `DESIGNS`.

    Parameters
    ----------
    cells, settings
        As for `curve`.
    names : mapping
        Of the curves; the method is added.
    problem : Problem
        Pool and labels.
    measure : str or Measure
        What is estimated.
    methods : sequence of str
        By name.
    budgets : sequence of float
        Ascending; those above half the pool are left out.
    costs : ndarray of float, shape (N,), optional
        Of each label; budgets are then cost.

    Yields
    ------
    str
        A word on each curve when it is done.
    """
    pool, codes = problem.pool(costs), problem.labels
    (target,) = targets_of(pool, codes, plan_of(pool, measure, "passive"))
    kept = within(budgets, len(problem) if costs is None else float(costs.sum()))
    for method in methods:
        at, count = kept, settings.repetitions
        if method == "package default":
            at, count = [b for b in kept if b in SESSION_BUDGETS] or kept[-1:], settings.sessions
            how = packaged(pool, problem.told, measure, at)
        elif method == "strat":
            how = stratified(pool, codes, measure, 1.0 - problem.probabilities.max(axis=1), [int(b) for b in at])
        else:
            how = thesis(pool, codes, measure, DESIGNS[method], at)
        named = dict(names) | {"method": method}
        curve(cells, settings, named, at, how, target.truth(), repetitions=count)
        yield ", ".join(map(str, named.values()))
