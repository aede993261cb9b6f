"""Figure A.1: error of estimated recall, F and precision of Reuters topics, each against the rest."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cells import Cells
from experiments.appendix.models import topics
from experiments.appendix.one_against_rest import KEYS, VALUES, draw_classes, run_classes, savings_of_classes
from experiments.curves import Settings
from experiments.experiment import Experiment, main


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_classes(cells, settings, topics())


EXPERIMENT = Experiment("figure_a_1", KEYS, VALUES, run, draw_classes, savings_of_classes)

if __name__ == "__main__":
    main(EXPERIMENT)
