"""Model selection errors over budgets, averaged over the sets of models of a domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.cells import Cell, Cells
from experiments.accuracy import average
from experiments.chapter5.comparing import duel, iwal, packaged_selection, tournament
from experiments.chapter5.contests import SETS, contest, numbers
from experiments.curves import Settings
from experiments.rows import Curve, Row, curve_of, labels_for
from experiments.simulation import Floats

__all__ = ["KEYS", "LEAST", "STYLES", "VALUES", "at_least", "needed", "run_domains"]

KEYS, VALUES = ("domain", "method", "budget"), ("error", "error_se")
BUDGETS = (10, 25, 50, 100, 200, 400, 800)
SESSION_BUDGETS = (25, 50, 100, 200, 400, 800)
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
OWN = "package default"
STYLES = {
    "active_neq": {"color": "#27855a", "marker": "v"},
    "active_0": {"color": "#7d6608", "marker": "^"},
    "active_inf": {"color": "#7d3c98", "marker": "v"},
    "active_risk": {"color": "#d68910", "marker": "P"},
    "IWAL": {"color": "#17867f", "marker": "X"},
}


LEAST = 5e-5
"""Errors below this, half a repetition of 10,000, are drawn and compared as this."""


def at_least(rows: list[Row], domain: str, method: str) -> Curve:
    """Return a curve whose errors are never 0."""
    budgets, errors, spread = curve_of(rows, domain=domain, method=method)
    return budgets, [max(error, LEAST) for error in errors], spread


def needed(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], method: str, most: int) -> str:
    """Return how many labels make as few errors as a passive draw of so many, and the share that is saved.

    Parameters
    ----------
    curves : mapping of str to (budgets, errors)
        Of all methods, errors above 0.
    method : str
        Whose labels.
    most : int
        Labels of the passive draw, one of its budgets.
    """
    if method == "passive" or len(curves[method][0]) < 2:
        return ""
    level = dict(zip(*curves["passive"], strict=True))[most]
    labels = labels_for(*curves[method], level)
    if labels != labels:
        return "more" if curves[method][0][-1] >= most else ""
    return f"{'at most ' if labels == curves[method][0][0] else ''}{labels:.0f} ({labels / most - 1:+.0%})"


def methods_of(domain: str) -> tuple[str, ...]:
    """Return the methods that are compared in a domain."""
    first = contest(domain)
    plain = REGRESSION if first.measure == "mse" else CLASSIFICATION
    several = ("IWAL",) if len(first.models) > 2 and first.measure == "error_rate" else ()
    return (*plain, *several, OWN)


def run_domains(cells: Cells, settings: Settings, domains: Sequence[str]) -> Iterator[str]:
    """Compute all curves; those of the package's own sessions, which take longest, at the end."""
    for own in (False, True):
        for domain in domains:
            for method in [method for method in methods_of(domain) if (method == OWN) == own]:
                for budgets in [(b,) for b in _session_budgets(domain)] if own else [BUDGETS]:
                    _curve(cells, settings, domain, method, budgets)
                yield f"{domain}, {method}"


def _session_budgets(domain: str) -> tuple[int, ...]:
    """Return the budgets of the package's sessions; among several regressors those with many labels take long."""
    first = contest(domain)
    return SESSION_BUDGETS[:-2] if first.measure == "mse" and len(first.models) > 2 else SESSION_BUDGETS


def _curve(cells: Cells, settings: Settings, domain: str, method: str, budgets: Sequence[int]) -> None:
    """Compute some budgets of one method, unless they are known."""
    own = method == OWN
    if own:
        count = settings.sessions
    else:
        count = settings.repetitions * (1 if method == "IWAL" else SETS // len(numbers(domain)))
    alone = budgets if own else ()
    names = {"domain": domain, "method": method}
    wanted = [names | {"budget": b, "repetitions": count, "seed": settings.seed} for b in budgets]

    def compute() -> list[Cell]:
        parts = [
            _wrong(domain, number, method, budgets, count, settings.rng(domain, number, method, *alone))
            for number in numbers(domain)
        ]
        return [{"error": mean, "error_se": se} for mean, se in zip(*average(parts), strict=True)]

    cells.series(wanted, compute)


def _wrong(
    domain: str, number: int, method: str, budgets: Sequence[int], count: int, rng: np.random.Generator
) -> Floats:
    """Return which repetitions chose a worse model, shape (R, B); sessions are shared out among the sets."""
    models = contest(domain, number)
    if method == OWN:
        return packaged_selection(models, budgets, max(2, count // len(numbers(domain))), rng)
    if method == "IWAL":
        return iwal(models, budgets, count, rng)
    if len(models.models) > 2:
        return tournament(models, DESIGNS[method], budgets, count, rng)
    return duel(models, DESIGNS[method], budgets, count, rng).wrong
