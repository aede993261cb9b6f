"""Errors of estimated ranking measures over the cost of judging, averaged over five folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sondage
from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import average
from experiments.chapter6.search import FOLDS, Case
from experiments.curves import DESIGNS, Settings, within
from experiments.rows import Row, chosen, number
from experiments.simulation import Floats, Runs, plan_of, simulate, targets_of
from sondage import Pool
from sondage.core.measures import parse_measure
from sondage.studies.judging import as_asked
from sondage.studies.method import Question

__all__ = [
    "BUDGETS",
    "KEYS",
    "MEASURES",
    "METHODS",
    "OWN",
    "THESIS",
    "VALUES",
    "Asked",
    "asked",
    "beside",
    "run_cases",
    "titled",
]

KEYS, VALUES = ("domain", "case", "measure", "method", "budget"), ("error", "error_se")
MEASURES = ("err", "dcg")
OWN = "package default"
METHODS = ("passive", "active", "active_uniC", "active_uniD", "active_lambda", OWN)
BUDGETS = {"mq2007": (10, 25, 50, 100, 200, 300), "mslr": (5, 10, 15, 20, 30)}
SESSION_BUDGETS = (20, 100)
SHOWN = ("passive", "active", OWN)
THESIS = METHODS[:-1]
"""Without the package's own sessions, which take longest."""

Error = Callable[[Floats, float], Floats]
"""From estimates and the truth to the error of each."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A pool as a question sees it: a query costs the documents in the lists concerned.

    Attributes
    ----------
    pool : Pool
        Of one fold.
    whole : Pool
        The same with the documents that no list concerned has.
    grades : ndarray of int, shape (D,)
        Of the long table's rows.
    kind, measure : str
        Of the question.
    """

    pool: Pool
    whole: Pool
    grades: NDArray[np.int64]
    kind: str
    measure: str

    @property
    def costs(self) -> Floats:
        """Cost of judging each query, shape (Q,)."""
        return np.asarray(self.pool.unit_costs)

    def sizes(self, method: str) -> Floats:
        """Return the draw probabilities of one of the thesis's methods."""
        sizes = plan_of(self.pool, self.measure, DESIGNS[method], kind=self.kind).sizes
        return np.asarray(sizes / sizes.sum())

    def expected(self) -> Floats:
        """Return what the grade model expects of each query by the first model, shape (Q,)."""
        plan = plan_of(self.pool, self.measure, "passive", kind=self.kind)
        return np.asarray(plan.contrasts[0].functional.basis.expected(self.pool.items, 0, plan.belief))  # type: ignore[attr-defined]

    def truth(self) -> float:
        """Return the value, or the first model's minus the second's, on all grades."""
        (target,) = self._targets()
        return float(target.truth())

    def draw(self, method: str, budgets: Sequence[float], repetitions: int, rng: np.random.Generator) -> Runs:
        """Run Algorithm 2, or 3; all repetitions."""
        return simulate(self.sizes(method), self._targets(), budgets, repetitions, rng, costs=self.costs)

    def own(self, budgets: Sequence[float], sessions: int, rng: np.random.Generator) -> Floats:
        """Return the values of the package's own sessions, shape (sessions, B)."""
        seeds = rng.integers(2**31, size=sessions).tolist()
        return np.array([[self._session(budget, seed) for budget in budgets] for seed in seeds])

    def _session(self, budget: float, seed: int) -> float:
        told: dict[str, Any] = {"labels": self.grades, "budget": budget, "seed": seed}
        if self.kind == "compare":
            first, second = self.whole.models
            return float(sondage.compare(self.whole, first, second, self.measure, **told).difference)
        return float(sondage.evaluate(self.whole, self.measure, **told).value)

    def _targets(self) -> Any:
        codes = self.grades[self.whole.listed.order]  # type: ignore[union-attr]
        return targets_of(self.whole, codes, plan_of(self.pool, self.measure, "passive", kind=self.kind))


@cache
def asked(case: Case, domain: str, fold: int, measure: str) -> Asked:
    """Return what is asked of one fold."""
    pool, grades = case.pool(domain, fold)
    kind = "evaluate" if len(case.models) == 1 else "compare"
    question = Question(kind, tuple(case.models), (parse_measure(measure),))
    return Asked(as_asked(pool, question), pool, grades, kind, measure)


def run_cases(
    cells: Cells,
    settings: Settings,
    cases: Sequence[Case],
    error: Error,
    *,
    methods: Sequence[str] = METHODS,
    budgets: Sequence[float] | None = None,
) -> Iterator[str]:
    """Compute all curves: every case in its domains, by both measures and all methods.

    Parameters
    ----------
    cells, settings
        As for `experiments.curves.curve`; repetitions and sessions are shared out among the folds.
    cases : sequence of Case
        What is asked.
    error : callable
        `deviation` or `wrong_sign`.
    methods : sequence of str
        By name.
    budgets : sequence of float, optional
        Ascending; by default the domain's.

    Yields
    ------
    str
        A word on each case and method when it is done.
    """
    for method in methods:
        for case in cases:
            for domain in case.domains:
                for measure in MEASURES:
                    _curve(cells, settings, case, domain, measure, method, budgets or BUDGETS[domain], error)
                yield f"{domain}, {case.name}, {method}"


def _curve(
    cells: Cells,
    settings: Settings,
    case: Case,
    domain: str,
    measure: str,
    method: str,
    budgets: Sequence[float],
    error: Error,
) -> None:
    """Compute one curve, unless the file has it."""
    most = min(len(asked(case, domain, fold, measure).pool) for fold in range(FOLDS))
    kept = within(budgets, most)
    each = max(2, settings.repetitions // FOLDS)
    if method == OWN:
        kept, each = [b for b in kept if b in SESSION_BUDGETS] or kept[-1:], max(2, settings.sessions // FOLDS)
    names = {"domain": domain, "case": case.name, "measure": measure, "method": method}
    wanted = [names | {"budget": b, "repetitions": each * FOLDS, "seed": settings.seed} for b in kept]

    def errors(fold: int) -> Floats:
        one, rng = asked(case, domain, fold, measure), settings.rng(*names.values(), fold)
        values = one.own(kept, each, rng) if method == OWN else one.draw(method, kept, each, rng).values[:, :, 0]
        return error(values, one.truth())

    def compute() -> list[Cell]:
        return [{"error": e, "error_se": se} for e, se in zip(*average(list(map(errors, range(FOLDS)))), strict=True)]

    cells.series(wanted, compute)


def beside(rows: list[Row], decimals: int = 4) -> str:
    """Return a table of errors where the package's own sessions were run, with those of passive and active there."""
    lines = []
    for name in dict.fromkeys(row["ranking"] for row in rows):
        cost = chosen(rows, ranking=name, method=OWN)[-1]["budget"]
        at = [chosen(rows, ranking=name, method=method, budget=cost) for method in SHOWN]
        errors = [[f"{number(row, key):.{decimals}f}" for key in ("error", "error_se")] for (row,) in at]
        lines.append([name, cost, *(f"{mean} ({se})" for mean, se in errors)])
    return table(["error (standard error)", "cost", *SHOWN], lines)


def titled(rows: list[Row]) -> list[Row]:
    """Return rows with domain, case and measure in one column, in the measures' order."""
    return [row | {"ranking": f"{row['domain']}, {row['case']}, {row['measure'].upper()}"} for row in rows]
