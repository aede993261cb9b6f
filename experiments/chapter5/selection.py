"""Model selection errors over budgets, averaged over the sets of models of a domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.cells import Cells
from experiments.chapter5.comparing import average, duel, iwal, packaged_selection, tournament
from experiments.chapter5.contests import SETS, contest, numbers
from experiments.curves import Settings
from experiments.simulation import Floats

__all__ = ["KEYS", "STYLES", "VALUES", "run_domain"]

KEYS, VALUES = ("domain", "method", "budget"), ("error", "error_se")
BUDGETS = (10, 25, 50, 100, 200, 400, 800)
SESSION_BUDGETS = (50, 200, 800)
DESIGNS = {
    "passive": "passive",
    "active": "optimal",
    "active_neq": "active_neq",
    "active_0": "active_0",
    "active_inf": "active_inf",
    "active_risk": "active_risk",
}
CLASSIFICATION = ("passive", "active", "active_neq", "active_risk")
REGRESSION = ("passive", "active", "active_0", "active_inf", "active_risk")
STYLES = {
    "active_neq": {"color": "#27855a", "marker": "v"},
    "active_0": {"color": "#7d6608", "marker": "^"},
    "active_inf": {"color": "#7d3c98", "marker": "v"},
    "active_risk": {"color": "#d68910", "marker": "P"},
    "IWAL": {"color": "#17867f", "marker": "X"},
}


def methods_of(domain: str) -> tuple[str, ...]:
    """Return the methods that are compared in a domain."""
    first = contest(domain)
    plain = REGRESSION if first.measure == "mse" else CLASSIFICATION
    several = ("IWAL",) if len(first.models) > 2 and first.measure == "error_rate" else ()
    return (*plain, *several, "package default")


def run_domain(cells: Cells, settings: Settings, domain: str) -> Iterator[str]:
    """Compute the curves of one domain."""
    for method in methods_of(domain):
        own = method == "package default"
        budgets = SESSION_BUDGETS if own else BUDGETS
        count = settings.sessions if own else settings.repetitions * (SETS // len(numbers(domain)))
        wanted = [
            {"domain": domain, "method": method, "budget": b, "repetitions": count, "seed": settings.seed}
            for b in budgets
        ]

        def compute(
            method: str = method, budgets: Sequence[int] = budgets, count: int = count
        ) -> list[dict[str, float]]:
            parts = [
                _wrong(domain, number, method, budgets, count, settings.rng(domain, number, method))
                for number in numbers(domain)
            ]
            return [{"error": e, "error_se": s} for e, s in zip(*map(np.ndarray.tolist, average(parts)), strict=True)]

        cells.series(wanted, compute)
        yield f"{domain}, {method}"


def _wrong(
    domain: str, number: int, method: str, budgets: Sequence[int], count: int, rng: np.random.Generator
) -> Floats:
    """Return which repetitions chose a worse model, shape (R, B); sessions are shared out among the sets."""
    models = contest(domain, number)
    if method == "package default":
        return packaged_selection(models, budgets, max(2, count // len(numbers(domain))), rng)
    if method == "IWAL":
        return iwal(models, budgets, count, rng)
    if len(models.models) > 2:
        return tournament(models, DESIGNS[method], budgets, count, rng)
    return duel(models, DESIGNS[method], budgets, count, rng).wrong
