r"""Confidence intervals from a value and its error, from counts, and from the labels themselves.

Every function returns an `Interval`. ``bounds`` is the range that the true value cannot leave; both ends are moved
into it, which never loses a true value.
"""

from sondage.core.intervals.apart import mover_interval
from sondage.core.intervals.bootstrap import bootstrap_interval, percentile_interval
from sondage.core.intervals.inverted import inverted_interval
from sondage.core.intervals.proportions import (
    clopper_pearson_interval,
    hypergeometric_interval,
    wilson_effective_interval,
    wilson_interval,
)
from sondage.core.intervals.ratios import fieller_interval
from sondage.core.intervals.score import score_interval
from sondage.core.intervals.unseen import unseen_bound
from sondage.core.intervals.wald import t_interval, wald_interval

__all__ = [
    "bootstrap_interval",
    "clopper_pearson_interval",
    "fieller_interval",
    "hypergeometric_interval",
    "inverted_interval",
    "mover_interval",
    "percentile_interval",
    "score_interval",
    "t_interval",
    "unseen_bound",
    "wald_interval",
    "wilson_effective_interval",
    "wilson_interval",
]
