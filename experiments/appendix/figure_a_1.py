"""Figure A.1: error of estimated recall, F and precision of Reuters topics, each against the rest."""

from __future__ import annotations

from experiments.appendix.models import topics
from experiments.appendix.one_against_rest import of_classes
from experiments.experiment import main

EXPERIMENT = of_classes("figure_a_1", topics)

if __name__ == "__main__":
    main(EXPERIMENT)
