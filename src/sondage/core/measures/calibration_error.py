r"""Expected calibration error: how far confidence is from accuracy, bin by bin.

With :math:`\mu_b` the pool's sum over bin b of confidence less rightness, the error is :math:`\sum_b |\mu_b|`. A
sample's plug-in :math:`\sum_b |\hat\mu_b|` is too large: noise never cancels in an absolute value. With
:math:`\sigma_b` the standard error of :math:`\hat\mu_b`, the estimate is

.. math:: \sum_b 2 |\hat\mu_b| - m(\hat\mu_b, \sigma_b) - c \, \sigma_b e^{-\hat\mu_b^2 / 2 \sigma_b^2}, \qquad
    m(\mu, \sigma) = \sigma \sqrt{2/\pi} \, e^{-\mu^2 / 2 \sigma^2} + |\mu| (1 - 2 \Phi(-|\mu| / \sigma)).

The mean m of the folded normal distribution takes off the bias that a normal error of this size gives the plug-in
(Kumar et al. find it by simulation); where a bin is calibrated :math:`2 c \sigma_b` of it is left,
:math:`c = (\sqrt 2 - 1) / \sqrt\pi`, of which the last term takes off :math:`1 / (2 \sqrt 2)` on average, since its
own mean is :math:`c \, \sigma_b / \sqrt 2`. What then remains is between -.20 and .30 :math:`\sigma_b`, and next to
nothing where :math:`|\mu_b|` is above :math:`3 \sigma_b`; no unbiased estimate of an absolute value exists. Its size is
estimated by :math:`.30 \, \sigma_b e^{-\hat\mu_b^2 / 4 \sigma_b^2}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sondage.core.checks import is_whole, require_known
from sondage.core.measures.bases import ROUNDING
from sondage.core.measures.binned import Confidence, Edges, Gaps, Values, as_edges, edges_of
from sondage.core.measures.functionals import Functional, Task, require_kind
from sondage.core.normal import deviations_away, folded_mean
from sondage.core.predictions import Floats
from sondage.errors import MeasureError

__all__ = ["ECE"]

BINS, MOST_BINS = 15, 65_536
LAST_TERM = float((np.sqrt(2.0) - 1.0) / np.sqrt(np.pi))  # its size where a bin seems calibrated, c
LEFT = LAST_TERM * float(2.0 - np.sqrt(0.5))  # what is left at 0


def equal_mass(values: Values, model: int, count: int) -> Floats:
    """Return the upper ends of bins of equal shares of the pool."""
    return values.ends(Confidence(), model, count)


def equal_width(values: Values, model: int, count: int) -> Floats:
    """Return the upper ends of equal parts of [0, 1]."""
    return np.arange(1, count + 1) / count


SPACINGS: dict[str, Callable[[Values, int, int], Floats]] = {"mass": equal_mass, "width": equal_width}


@dataclass(frozen=True)
class ECE:
    r"""Expected calibration error of the predicted class's probability, less its estimated bias.

    Of the pool itself: with all labels known it is the plug-in :math:`\sum_b |\mu_b|` of Guo et al.

    Parameters
    ----------
    bins : int
        Number of bins; ties can make it fewer. With few labels take fewer: each bin adds its own noise.
    spacing : str
        ``"mass"``, bins of equal shares of the pool, or ``"width"``, equal parts of [0, 1].
    edges : tuple of ndarray of float
        Upper ends of the bins for each model, from `settled`.

    Raises
    ------
    MeasureError
        If bins is no whole number from 1 to 65,536, or there is no such spacing.

    Notes
    -----
    The standard error is the root of the variance plus the square of the bias that may be left. Intervals (``"auto"``)
    are wide where a model is calibrated, since few labels cannot tell small errors from none. Where a model is far too
    sure of items, hardly one of which is drawn that is wrong, they reach for what nobody has seen (docs/statistics.md,
    section 8). A bootstrap does not hold at the kink and is refused, and so is the population as the target: few items
    in a bin would bias its value as few labels do.
    The difference of two models comes out too near to 0 with few labels, and its intervals hold too seldom where
    positives are rare: which of two is better calibrated is better asked by the Brier score (docs/statistics.md,
    section 2).
    What `sondage.advise` expects is the root of the variance alone.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017, 1321-1330.
    Kumar, Liang and Ma, Verified uncertainty calibration, NeurIPS 2019, 3792-3803 (the bias and its estimate).

    Examples
    --------
    >>> round(ECE(bins=2).ready(Task("classification", (0, 1))).value(np.array([-0.02, 0.05])), 2)
    0.07
    """

    bins: int = BINS
    spacing: str = "mass"
    edges: Edges = field(default=(), repr=False, compare=False, metadata={"of_pool": True})

    def __post_init__(self) -> None:
        if not is_whole(self.bins) or not 1 <= self.bins <= MOST_BINS:
            raise MeasureError(f"bins={self.bins} must be a whole number, 1 to {MOST_BINS:,}")
        require_known("spacing", self.spacing, SPACINGS, MeasureError)
        object.__setattr__(self, "bins", int(self.bins))
        object.__setattr__(self, "edges", as_edges(self.edges))

    @property
    def name(self) -> str:
        """The measure's name, with what is not the default."""
        parts = [f"bins={self.bins}"] * (self.bins != BINS) + [f"spacing={self.spacing}"] * (self.spacing != "mass")
        return "ece" + ":" * bool(parts) + ",".join(parts)

    def settled(self, task: Task, values: Values, models: tuple[int, ...]) -> ECE:
        """Return the measure with the bins of this pool."""
        require_kind("classification", task, self.name)
        spaced = SPACINGS[self.spacing]
        return replace(self, edges=edges_of(models, lambda model: spaced(values, model, self.bins)))

    def ready(self, task: Task) -> Functional:
        """Return the measure for a classification task."""
        require_kind("classification", task, self.name)
        basis = Gaps(self.edges, self.name)
        return Functional(self.name, basis, _plug_in, _signs, (0.0, 1.0), corrected=_debiased, moments=_moments)


def _plug_in(mu: Floats) -> float:
    return float(np.sum(np.abs(mu)))


def _signs(mu: Floats) -> Floats:
    """Return the derivative; 1 at 0, where a belief that trusts the model stands, so that a design sees the spread."""
    return np.where(mu < -ROUNDING, -1.0, 1.0)


def _debiased(mu: Floats, variances: Floats) -> tuple[float, float]:
    """Return the value less its estimated bias, and the size of the bias left."""
    size, sigma = np.abs(mu), np.sqrt(variances)
    fade = np.exp(-0.25 * deviations_away(size, sigma) ** 2)
    value = np.sum(2.0 * size - folded_mean(size, sigma) - LAST_TERM * sigma * fade**2)
    return max(float(value), 0.0), float(np.sum(LEFT * sigma * fade))


def _moments(mu: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of the plug-in where the gaps are normal with these means and variances."""
    folded = folded_mean(np.abs(mu), np.sqrt(variances))
    return np.sum(folded, axis=1), np.sum(np.maximum(mu**2 + variances - folded**2, 0.0), axis=1)
