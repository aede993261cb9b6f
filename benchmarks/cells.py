"""Simulated cells kept in a CSV file as soon as each is done, so that a stopped run continues where it was."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

RESULTS = Path(__file__).resolve().parent / "results"

Cell = dict[str, Any]


class Cells:
    """One CSV file of cells; those of another number of seeds are computed again.

    Parameters
    ----------
    name : str
        File in benchmarks/results, without its ending.
    keys, values : sequence of str
        Columns that name a cell, and what is measured of it.
    """

    def __init__(self, name: str, keys: Sequence[str], values: Sequence[str]) -> None:
        self.path = RESULTS / f"{name}.csv"
        self.keys, self.columns = tuple(keys), (*keys, *values)
        self.rows: dict[tuple[str, ...], Cell] = {}
        if self.path.exists():
            with self.path.open(newline="") as file:
                for row in csv.DictReader(file):
                    self._keep(row)

    def __contains__(self, wanted: Cell) -> bool:
        return self._key(wanted) in self.rows

    def get(self, wanted: Cell, compute: Callable[[], Cell], *, again: bool = False) -> Cell:
        """Return the cell with these keys, computed unless the file has it."""
        found = self.rows.get(self._key(wanted))
        if found is None or again:
            found = self._keep(wanted | compute())
            self._write()
        return found

    def _key(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.keys)

    def _keep(self, row: Mapping[str, Any]) -> Cell:
        texts = {name: f"{v:.6g}" if isinstance(v, float) else str(v) for name, v in row.items()}
        self.rows[self._key(texts)] = {name: texts[name] for name in self.columns}
        return self.rows[self._key(texts)]

    def _write(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a markdown table."""
    lines = [list(heads), *map(list, rows)]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(lines[0]), *texts[1:]])


def marked(rate: float, runs: int, nominal: float, wrong: str) -> str:
    """Return a rate, in bold if it is on the wrong side of the nominal one by more than chance (1 in 1000)."""
    pvalue = binomtest(round(rate * runs), runs, nominal, alternative=wrong).pvalue
    text = f"{rate:.3f}".lstrip("0") if rate < 1 else "1"
    return f"**{text}**" if pvalue < 1e-3 else text
