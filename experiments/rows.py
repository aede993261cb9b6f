"""Lines of a file of results."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

__all__ = ["Curve", "Row", "chosen", "curve_of", "labels_for", "number", "read_rows", "savings"]

Row = dict[str, str]
"""A line of the file of results."""

Curve = tuple[list[float], list[float], list[float]]
"""Budgets, or what else is on the axis; errors; their standard errors."""


def read_rows(path: Path) -> list[Row]:
    """Return the results kept in a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def number(row: Row, name: str) -> float:
    """Return an entry as a number; NaN where it is undefined."""
    return float(row[name])


def chosen(rows: Iterable[Row], **wanted: object) -> list[Row]:
    """Return the rows with these entries, in their order."""
    texts = {name: str(value) for name, value in wanted.items()}
    return [row for row in rows if all(row[name] == text for name, text in texts.items())]


def curve_of(rows: Iterable[Row], x: str = "budget", y: str = "error", **wanted: object) -> Curve:
    """Return the curve that the rows with these entries make."""
    part = chosen(rows, **wanted)
    return tuple([number(row, name) for row in part] for name in (x, y, f"{y}_se"))  # type: ignore[return-value]


def labels_for(budgets: Sequence[float], errors: Sequence[float], level: float) -> float:
    """Return at what budget a curve comes down to a level, between budgets on a line of logarithms.

    The smallest budget if it is below from the start; NaN if it never is.

    Examples
    --------
    >>> labels_for([100, 400], [0.2, 0.1], 0.1)
    400.0
    """
    least = 1e-12  # errors of exact results are 0
    b, e = np.log(np.asarray(budgets, dtype=float)), np.log(np.maximum(np.asarray(errors, dtype=float), least))
    goal = float(np.log(max(level, least)))
    below = np.flatnonzero(e <= goal + 1e-12)
    if len(below) == 0:
        return float("nan")
    k = int(below[0])
    if k == 0:
        return float(budgets[0])
    share = (e[k - 1] - goal) / (e[k - 1] - e[k])
    return round(float(np.exp(b[k - 1] + share * (b[k] - b[k - 1]))), 6)


def savings(
    rows: list[Row], key: str, methods: Sequence[str], unit: str = "labels"
) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table: with how many labels methods are as accurate as passive with the most.

    Parameters
    ----------
    rows : list of Row
        Results with the columns key, method, budget and error.
    key : str
        A line for each of its values.
    methods : sequence of str
        ``"passive"`` and others, ``"active"`` first.
    unit : str
        Of the budget.
    """
    lines = []
    for name in dict.fromkeys(row[key] for row in rows):
        budgets, errors, _ = curve_of(rows, **{key: name, "method": "passive"})
        line = [name, f"{budgets[-1]:.0f}", f"{errors[-1]:.4f}"]
        for method in methods[1:]:
            at, found, _ = curve_of(rows, **{key: name, "method": method})
            needed = labels_for(at, found, errors[-1])
            line.append("more" if np.isnan(needed) else f"at most {needed:.0f}" if needed == at[0] else f"{needed:.0f}")
            if method == methods[1]:
                saved = "nothing" if np.isnan(needed) else f"{1.0 - needed / budgets[-1]:.0%}"
        lines.append([*line, saved])
    heads = [
        key,
        f"passive, {unit}",
        "its error",
        *(f"{method} needs" for method in methods[1:]),
        f"{methods[1]} saves",
    ]
    return heads, lines
