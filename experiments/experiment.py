"""What an experiment consists of: numbers, a picture, a table in docs/experiments.md, and its command.

    EXPERIMENT = Experiment("figure_4_3", ("problem", "method", "budget"), ERROR_VALUES, run, draw, table)

    if __name__ == "__main__":
        main(EXPERIMENT)

The command runs what is missing in experiments/results/NAME.csv, draws docs/figures/experiments/NAME.png, and writes
the table into the page between ``<!-- table: NAME -->`` and ``<!-- end -->``. With ``--out FOLDER`` numbers and picture
go there, and the page stays as it is.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks.cells import Cells
from benchmarks.data import data_folder
from experiments.curves import Settings
from experiments.figures import save
from experiments.rows import Row, read_rows

__all__ = ["FIGURES", "PAGE", "RESULTS", "Experiment", "main", "perform", "rewritten"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"
FIGURES = ROOT / "docs" / "figures" / "experiments"
PAGE = ROOT / "docs" / "experiments.md"
SETTINGS = ("repetitions", "seed")


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the thesis.

    Attributes
    ----------
    name : str
        Of the files.
    keys, values : sequence of str
        Columns of the results; repetitions and seed are added to the keys.
    run : callable
        ``run(cells, settings)`` computes what is missing, and yields a word on each part when it is done.
    draw : callable
        From rows to the picture.
    table : callable
        From rows to the table, in markdown.
    """

    name: str
    keys: Sequence[str]
    values: Sequence[str]
    run: Callable[[Cells, Settings], Iterable[str]]
    draw: Callable[[list[Row]], Figure]
    table: Callable[[list[Row]], str]

    def rows(self, folder: Path = RESULTS) -> list[Row]:
        """Return the results kept in a folder."""
        return read_rows(folder / f"{self.name}.csv")

    def cells(self, folder: Path = RESULTS) -> Cells:
        """Return the file of results."""
        return Cells(self.name, (*self.keys, *SETTINGS), self.values, folder)


def perform(experiment: Experiment, settings: Settings, folder: Path | None = None) -> list[Row]:
    """Run an experiment and draw it; without a folder, in the repository."""
    cells = experiment.cells(folder or RESULTS)
    begun = time.monotonic()
    with threadpool_limits(1):  # a second thread makes the thousands of small fits of table 4.1 up to 30 times slower
        for part in experiment.run(cells, settings):
            print(f"{experiment.name}: {part} ({time.monotonic() - begun:.0f} s)", flush=True)
    cells.finish()
    rows = experiment.rows(folder or RESULTS)
    save(experiment.draw(rows), (folder or FIGURES) / f"{experiment.name}.png")
    return rows


def rewritten(page: str, experiment: Experiment, rows: list[Row]) -> str:
    """Return the page with the experiment's command, and its table as these rows have it."""
    mark = re.compile(rf"(<!-- table: {experiment.name} -->\n).*?(<!-- end -->)", re.DOTALL)
    command = f"`python -m experiments {experiment.name}`"
    return mark.sub(lambda found: f"{found[1]}\n{command}\n\n{experiment.table(rows)}\n\n{found[2]}", page)


def main(*experiments: Experiment, by_name: bool = False) -> None:
    """Run the command of one experiment, or of several that can be chosen by name."""
    parser = argparse.ArgumentParser(description="Run experiments of the thesis; what is known already is kept.")
    parser.add_argument("--repetitions", type=int, default=Settings.repetitions, help="of each simulation")
    parser.add_argument("--sessions", type=int, default=Settings.sessions, help="repetitions of the package's sessions")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--out", type=Path, help="folder for numbers and pictures, if not the repository's")
    parser.add_argument("--table", action="store_true", help="run nothing; print the table of the results kept")
    known = {experiment.name: experiment for experiment in experiments}
    if by_name:
        parser.add_argument("names", nargs="*", choices=[[], *known], metavar="name", help="; ".join(known))
    options = parser.parse_args()
    if min(options.repetitions, options.sessions) < 2:
        parser.error("repetitions and sessions must be 2 or more")
    if not options.table and not data_folder().is_dir():
        parser.error(f"no data in {data_folder()}: set SONDAGE_DATA (docs/experiments.md names the sources)")
    settings = Settings(options.repetitions, min(options.sessions, options.repetitions), options.seed)
    for experiment in [known[name] for name in getattr(options, "names", None) or known]:
        if options.table:
            print(experiment.table(experiment.rows(options.out or RESULTS)))
            continue
        rows = perform(experiment, settings, options.out)
        print(experiment.table(rows), flush=True)
        if options.out is None and PAGE.exists():
            PAGE.write_text(rewritten(PAGE.read_text(), experiment, rows))
