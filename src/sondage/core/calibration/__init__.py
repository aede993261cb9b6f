r"""Recalibration of a belief on the labels so far: a few numbers, found by their posterior mean.

A probability p of an event becomes :math:`\mathrm{logit}^{-1}(a + b \, \mathrm{logit}\, p)`, a predictive variance
:math:`v` becomes :math:`e^a v^b`. The prior trusts the model (a near 0, b near 1), doubts it, or mistrusts it, in
shares 65, 25 and 10 %. Of two classes a model may be sure and wrong of one and right of the other: there the slope is
:math:`b e^c` for log odds of 0 and more and :math:`b e^{-c}` below, alike or independent with a probability of a half
each. Of more than two, labels first tell how frequent each is and how sure the model is of all of them (`categories`).

The posterior *mean of (a, ln b, c)* is taken, not the mean probability: averaged probabilities would be ruled by the
heaviest tail that the labels do not exclude, and labels would be spent there. How far off an estimate may be does
depend on what labels do not exclude; for that there are points of the posterior of a and b. These have one more number:
the share :math:`\lambda` of lapses, events that happen by chance however sure the model is.
"""

from sondage.core.calibration.categories import ByClass, calibrate_classes, calibrate_grades, fit_categories
from sondage.core.calibration.events import bent, calibrate_events, calibrate_sides
from sondage.core.calibration.grid import (
    IDENTITY,
    LAPSES,
    LAPSES_OF_SURE,
    LAPSES_OF_UNSEEN,
    PRIOR,
    SHIFTS,
    SLOPES,
    Calibration,
    Lapses,
)
from sondage.core.calibration.lapses import plausible_events, plausible_lapses
from sondage.core.calibration.variances import another_unit, calibrate_variances, variance_power

__all__ = [
    "IDENTITY",
    "LAPSES",
    "LAPSES_OF_SURE",
    "LAPSES_OF_UNSEEN",
    "PRIOR",
    "SHIFTS",
    "SLOPES",
    "ByClass",
    "Calibration",
    "Lapses",
    "another_unit",
    "bent",
    "calibrate_classes",
    "calibrate_events",
    "calibrate_grades",
    "calibrate_sides",
    "calibrate_variances",
    "fit_categories",
    "plausible_events",
    "plausible_lapses",
    "variance_power",
]
