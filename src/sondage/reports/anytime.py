"""What holds at any number of labels, in words and as data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sondage.core.results import Comparison, Estimate
from sondage.errors import SondageWarning
from sondage.pools.missing import finite
from sondage.reports.data import interval_data
from sondage.reports.text import named_measure, range_clause, unit_of

__all__ = ["anytime_data", "anytime_lines"]


def anytime_lines(result: Any, level: float = 0.95) -> list[str]:
    """Return the any-time interval of each estimate, the evidence of a comparison, and notes.

    Parameters
    ----------
    result : Estimate, mapping of str to Estimate, or Comparison
        The result.
    level : float
        Confidence level, in (0, 1), for all numbers of labels at once.
    """
    with _noted() as notes:
        found = _estimates(result)
        lines = [
            _interval_line(one, level, f"{named_measure(name)} " if len(found) > 1 else "")
            for name, one in found.items()
        ]
        if isinstance(result, Comparison):
            evalue = result.evalue
            lines.append(f"at any time: e-value {_evalue(evalue.log_evalue)}, p = {evalue.pvalue:.2g} ({evalue.kind})")
    return [*lines, *dict.fromkeys(f"note: {note.message}" for note in notes)]


def anytime_data(result: Any, level: float = 0.95) -> dict[str, Any]:
    """Return the same as data: ``sequence``, or ``sequences`` by measure, and ``evalue`` of a comparison.

    Notes, as where a sequence ends before the last label, are its ``warnings``.
    """
    found = {name: _sequence(one, level) for name, one in _estimates(result).items()}
    if isinstance(result, Mapping):
        return {"sequences": found}
    (only,) = found.values()
    if not isinstance(result, Comparison):
        return {"sequence": only}
    evidence = {name: getattr(result.evalue, name) for name in ("log_evalue", "pvalue", "kind")}
    return {"sequence": only, "evalue": finite(evidence)}


@contextmanager
def _noted() -> Iterator[list[warnings.WarningMessage]]:
    """Collect what a reader must know."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", SondageWarning)
        yield notes


def _sequence(estimate: Estimate, level: float) -> dict[str, Any]:
    with _noted() as notes:
        interval = estimate.in_order().interval(level)
    return interval_data(interval) | {"warnings": [str(note.message) for note in notes]}


def _estimates(result: Any) -> dict[str, Estimate]:
    if isinstance(result, Mapping):
        return dict(result)
    estimate = result.estimate if isinstance(result, Comparison) else result
    return {estimate.measure: estimate}


def _interval_line(estimate: Estimate, level: float, subject: str) -> str:
    interval = estimate.in_order().interval(level)
    reach = range_clause(interval, estimate.measure, unit_of(estimate))
    return f"at any time: {subject}{reach} with {100 * level:g} % confidence ({interval.kind})"


def _evalue(log_evalue: float) -> str:
    return f"{math.exp(log_evalue):.3g}" if log_evalue < 14 else "above a million"
