"""Figure A.3: error of estimated recall, F and precision of digits 5 to 9, each against the rest."""

from __future__ import annotations

from experiments.appendix.models import digits
from experiments.appendix.one_against_rest import of_classes
from experiments.experiment import main

EXPERIMENT = of_classes("figure_a_3", lambda: digits()[5:])

if __name__ == "__main__":
    main(EXPERIMENT)
