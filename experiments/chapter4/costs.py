"""Labelling costs of mails by their length, and their relation to what is uncertain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from experiments.problems import Problem
from experiments.simulation import Floats, plan_of

__all__ = ["CORRELATIONS", "correlation", "lengths", "resorted", "uncertainty", "unit_costs"]

SHORTEST, LONGEST = 100, 10_000
"""Characters: costs are bounded away from 0, and nobody reads more than the first ones."""

CORRELATIONS = ("positive", "original", "negative")


def lengths(problem: Problem) -> NDArray[np.int64]:
    """Return the number of characters that are read of each mail."""
    _, meta = data.enron()
    return np.asarray(np.clip(np.asarray(meta["n_chars"])[problem.rows], SHORTEST, LONGEST))


def unit_costs(amounts: Floats | NDArray[np.int64]) -> Floats:
    """Return costs whose mean is 1."""
    return np.asarray(amounts / np.mean(amounts), dtype=np.float64)


def uncertainty(problem: Problem) -> Floats:
    r"""Return the label uncertainty :math:`u(x) = E[(\ell - R)^2 | x]`, up to a factor: the squared size."""
    return np.asarray(plan_of(problem.pool(), "error_rate").sizes ** 2)


def resorted(costs: Floats, u: Floats, kind: str) -> Floats:
    """Return the costs given to other mails: uncertain mails the cheapest (positive), or the dearest (negative)."""
    if kind == "original":
        return costs
    ranked = np.sort(costs)
    moved = np.empty(len(costs))
    moved[np.argsort(u, kind="stable")] = ranked[::-1] if kind == "positive" else ranked
    return moved


def correlation(u: Floats, costs: Floats) -> float:
    r"""Return the correlation :math:`\rho` of uncertainty and one over cost."""
    return float(np.corrcoef(u, 1.0 / costs)[0, 1])
