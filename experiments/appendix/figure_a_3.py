"""Figure A.3: error of estimated recall, F and precision of digits 5 to 9, each against the rest."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cells import Cells
from experiments.appendix.models import digits
from experiments.appendix.one_against_rest import KEYS, VALUES, draw_classes, run_classes, savings_of_classes
from experiments.curves import Settings
from experiments.experiment import Experiment, main


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_classes(cells, settings, digits()[5:])


EXPERIMENT = Experiment("figure_a_3", KEYS, VALUES, run, draw_classes, savings_of_classes)

if __name__ == "__main__":
    main(EXPERIMENT)
