r"""Confidence sequences: intervals that hold at every number of labels at once.

An interval of `sondage.core.intervals` holds at one number of labels, fixed beforehand. A confidence sequence holds
with its level at all of them together, so that one may look after every label and stop when one likes.

`draw_steps` turns a draw into unbiased steps, `betting_sequence` these into a sequence for a pool mean or a ratio of
pool means, exact for any belief and any sizes; `log_evalues` gives the evidence against one value. `fraction_of` tells
which measures are such, `units_of` what is known of a pool's units under them. Others have `asymptotic_sequence`, and
results the intervals of the estimate at the levels that `asymptotic_critical` asks for.
"""

from sondage.core.sequences.asymptotic import asymptotic_critical, asymptotic_log_evalues, asymptotic_sequence
from sondage.core.sequences.confidence import ConfidenceSequence, betting_sequence, intersected
from sondage.core.sequences.evidence import anytime_pvalues, log_evalues
from sondage.core.sequences.fractions import Fraction, at_nodes, fraction_of, parts_of, units_of
from sondage.core.sequences.steps import Stage, Steps, draw_steps
from sondage.core.sequences.units import NeverDrawn, Rest, Units, joined, nothing_left, rest_of

__all__ = [
    "ConfidenceSequence",
    "Fraction",
    "NeverDrawn",
    "Rest",
    "Stage",
    "Steps",
    "Units",
    "anytime_pvalues",
    "asymptotic_critical",
    "asymptotic_log_evalues",
    "asymptotic_sequence",
    "at_nodes",
    "betting_sequence",
    "draw_steps",
    "fraction_of",
    "intersected",
    "joined",
    "log_evalues",
    "nothing_left",
    "parts_of",
    "rest_of",
    "units_of",
]
