"""Simulated cells kept in a CSV file as soon as each is done, so that a stopped run continues where it was."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
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
    folder : Path
        Where the file is, if not in benchmarks/results.
    """

    def __init__(self, name: str, keys: Sequence[str], values: Sequence[str], folder: Path = RESULTS) -> None:
        self.path = folder / f"{name}.csv"
        self.keys, self.columns = tuple(keys), (*keys, *values)
        self.asked: dict[tuple[str, ...], None] = {}
        self.rows: dict[tuple[str, ...], Cell] = {}
        if self.path.exists():
            with self.path.open(newline="") as file:
                reader = csv.DictReader(file)
                for row in reader if reader.fieldnames == list(self.columns) else ():  # else of an earlier form
                    self._keep(row)

    def __contains__(self, wanted: Cell) -> bool:
        return self._key(wanted) in self.rows

    def get(self, wanted: Cell, compute: Callable[[], Cell], *, again: bool = False) -> Cell:
        """Return the cell with these keys, computed unless the file has it."""
        return self.series([wanted], lambda: [compute()], again=again)[0]

    def of(self, compute: Callable[..., Cell], *values: Any, again: bool = False) -> Cell:
        """Return the cell whose keys have these values, computed from them unless the file has it."""
        return self.get(dict(zip(self.keys, values, strict=True)), partial(compute, *values), again=again)

    def series(
        self, wanted: Sequence[Cell], compute: Callable[[], Iterable[Cell]], *, again: bool = False
    ) -> list[Cell]:
        """Return cells that one computation brings together, computed unless the file has them all."""
        keys = [self._key(cell) for cell in wanted]
        if again or any(key not in self.rows for key in keys):
            for cell, found in zip(wanted, compute(), strict=True):
                self._keep(cell | found)
            self._write()
        self.asked |= dict.fromkeys(keys)
        return [self.rows[key] for key in keys]

    def finish(self) -> None:
        """Forget all cells that were not asked for: those of other settings."""
        self.rows = {key: self.rows[key] for key in self.asked}
        self._write()

    def _key(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(_text(row[name]) for name in self.keys)

    def _keep(self, row: Mapping[str, Any]) -> Cell:
        texts = {name: _text(value) for name, value in row.items()}
        self.rows[self._key(texts)] = {name: texts[name] for name in self.columns}
        return self.rows[self._key(texts)]

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        with unfinished.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())
        unfinished.replace(self.path)  # a stop in the middle of writing loses nothing


def options_of_cells(description: str | None, seeds: int) -> argparse.ArgumentParser:
    """Return a parser with what every script that keeps cells is asked for: --seeds and --again."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=whole_number, default=seeds)
    parser.add_argument("--again", action="store_true", help="compute cells again that the file has")
    return parser


def whole_number(text: str) -> int:
    """Return a number that an option is given, or refuse it."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
