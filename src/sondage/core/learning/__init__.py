r"""Corrections of a belief, learned from labels: penalised linear regressions, averaged over their scales.

What a belief says of an item is moved by a linear function of side information,

.. math:: f_i = a + \sum_j c_j z_{ij} + x_i^\top \beta,

of *sources* z (what other models and judges say) and *features* x. Coefficients have independent Gaussian priors of
mean 0, so that without labels, and where side information says nothing, the belief stays as it is. How large they may
be is not known: every pair of scales on a grid, 0 among them, is fitted and weighted by its evidence, the probability
of the labels with the coefficients integrated out (Laplace's approximation where that integral has no closed form).
The evidence is the product of predictions of each label from those before it, so a scale gains weight only by what it
predicts. The posterior mean of the coefficients is the correction. Nowhere is it larger or smaller than on the
labelled items: an item with features unlike all of theirs is not extrapolated to.

References
----------
D. J. C. MacKay, Bayesian interpolation, Neural Computation 1992, 415-447.
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section 3.4.
"""

from sondage.core.learning.corrections import (
    NONE,
    Correction,
    learn_events,
    learn_grades,
    learn_numbers,
    short,
)
from sondage.core.learning.directions import RANK
from sondage.core.learning.fits import Fitted, fit_events, fit_grades, fit_numbers, places

__all__ = [
    "NONE",
    "RANK",
    "Correction",
    "Fitted",
    "fit_events",
    "fit_grades",
    "fit_numbers",
    "learn_events",
    "learn_grades",
    "learn_numbers",
    "places",
    "short",
]
