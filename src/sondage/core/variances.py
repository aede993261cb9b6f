r"""What the belief expects of an estimate's variance, where the labels' own spread says too little.

The spread of a few labels knows nothing of rare, heavy surprises until one was seen. The belief, calibrated on the
labels, tells how often each surprise is expected in the sample and how far it would move the estimate. Those that
are expected often enough have a variance that can be computed. The heaviest, together expected twice, may well not be
in the sample at all: then the estimate is off by their whole effect on the pool. That effect is counted as an error,
not as a variance, over units u that they move up and units that they move down each by itself, and corrected by how
many such surprises the sample showed, s:

.. math:: V_b = \sum_{often} k_u b_u^2 \, p_{uy} (\psi_u(y) - \bar\psi_u)^2
    + f^2 \sum_{\pm} \Big(\sum_u w_u b_u \Big[\sum_{rare} p_{uy} (\psi_u(y) - \bar\psi_u)\Big]_\pm\Big)^2 .

The median of a Poisson rate of which s were seen is near s + 2/3 (with all rates as likely), that of as many as were
expected near 2 + 2/3: :math:`f = \min\big(\tfrac{s + 2/3}{2 + 2/3}, 1.5\big)`, the whole effect at the rate that was
expected.

Where the belief is of classes, :math:`\sqrt{V_b}` is its mean over calibrations and lapses that the labels leave
possible (of losses of probabilities the root mean square, and in so far as the labels may need none without what was
learned from other models, judges and features).

Of a difference in predictions nearly all that is drawn are items that two models predict differently, and the belief
of these is judged by their own labels: :math:`V_b` is its mean over what these leave possible. They know the rate
already, so that what is missing is the whole effect D of such items less W, that of the surprises that the sample did
show. Of items that models predict alike the calibrated belief is relied on, and the number seen errs as a Poisson
number does, by the root of its rate, each by half of their effect E (Jeffreys' prior):

.. math:: \sum_{\pm} \Big( \big(D_\pm - W_\pm\big)_+^2 + \tfrac{s + 1/2}{4} E_\pm^2 \Big)
    \quad \text{in place of} \quad f^2 \sum_{\pm} (\ldots)^2 .

The larger of this and the sampled variance is used, the latter with Student's t, of 4.6 degrees of freedom at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import stdtrit

from sondage.core.beliefs import Belief, Disputed, LearnedClassBelief, disputed, is_limit
from sondage.core.comparisons import Contrast, Influence
from sondage.core.measures.bases import ClassLoss, Confusion
from sondage.core.predictions import Classes
from sondage.core.samples import Sample

__all__ = ["believed_variance", "larger_variance", "plausible", "variance_slope"]

LEAST_DF = 4.6
MOST_DF = 1e6
RARE = 2.0
"""How often the heaviest surprises, whose effect counts as an error, are expected in the sample together."""
UNSEEN = 2.0 / 3.0
"""By how much the median of what a Poisson rate may be is above how often it was seen."""
UNSEEN_ON_AVERAGE = 0.5
"""By how much its mean is, with Jeffreys' prior."""
MOST = 1.5
"""Up to how much more of them there may be than expected: more are seen, and in the sampled variance."""
MOST_SLOPE = 0.5
"""The largest slope of the variance, in standard errors."""
DOUBTED = 50.0
"""After how many labels half of the slope that the belief expects is believed."""
ROUNDING, DIGITS = 1e-9, 9
"""Sizes and chances that differ by less are equal: last bits, which follow the order of rows, decide nothing."""


def believed_variance(contrast: Contrast, sample: Sample, sums: dict[int, np.ndarray], *beliefs: Belief) -> float:
    """Return the squared error that beliefs expect of the estimate; 0 if they say nothing.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Estimated pool means, by model.
    *beliefs : Belief
        As the labels leave them possible, one as likely as another: the mean of their standard errors is squared. Of
        losses of probabilities, where one sure item that is wrong outweighs all others, and of differences in
        predictions it is the mean of their squares.
    """
    asked = _Asked(contrast, sample, sums)
    expected = np.array([_expected(asked, belief) for belief in beliefs])
    if isinstance(contrast.functional.basis, ClassLoss) or _differs_in_predictions(contrast):
        return float(np.mean(expected))
    return float(np.mean(np.sqrt(expected)) ** 2)


def plausible(contrast: Contrast, belief: Belief, sample: Sample) -> Sequence[Belief]:
    """Return the beliefs that labels leave possible; of a difference in predictions by labels of items that differ.

    What is wrong of items that models predict alike moves both models' counts alike, but not their losses of
    probabilities. Rows that share a label tell it once: what is said of it is pooled, or of the first that differs.

    Parameters
    ----------
    contrast : Contrast
        What is estimated.
    belief : Belief
        Calibrated on all labels.
    sample : Sample
        The labelled rows.

    Returns
    -------
    sequence of Belief
        One as likely as another: `Disputed` of a difference in predictions, the belief alone if none is disputed.
    """
    if not _differs_in_predictions(contrast):
        return _left_possible(belief, sample, losses=isinstance(contrast.functional.basis, ClassLoss))
    rows = np.flatnonzero(disputed(sample.items, contrast.models))
    if not len(rows):
        return (belief,)
    beliefs = _left_possible(belief, sample, tuple(rows.tolist()))
    return tuple(Disputed(belief, one, contrast.models) for one in beliefs)


def _differs_in_predictions(contrast: Contrast) -> bool:
    """Return whether it is a difference of two functions of the confusion matrix."""
    return contrast.compares and isinstance(contrast.functional.basis, Confusion)


@lru_cache(maxsize=1)
def _left_possible(
    belief: Belief, sample: Sample, rows: tuple[int, ...] | None = None, *, losses: bool = False
) -> Sequence[Belief]:
    """Return what labels, of these rows alone, leave possible; the last answer is kept: slices ask for it again.

    What was learned from others follows from uncertain items, and losses from sure ones: there it may be nothing.
    """
    weights = sample.unit_sums(sample.row_weights)
    if rows is None:
        items, labels = sample.unit_items, sample.labels[sample.first_rows]
    else:
        at = np.array(rows)
        if sample.units is not None:
            at, weights = at[np.unique(sample.units[at], return_index=True)[1]], weights[sample.units]
        items, labels, weights = sample.items.take(at), sample.labels[at], weights[at]
    if losses and isinstance(belief, LearnedClassBelief):
        return belief.unsettled(items, labels, weights)
    return belief.plausible(items, labels, weights)


def variance_slope(
    contrast: Contrast,
    sample: Sample,
    sums: dict[int, np.ndarray],
    belief: Belief | None,
    inclusion: np.ndarray,
    std_error: float,
) -> float:
    r"""Return how fast the estimate's variance grows with its value: its third cumulant over its variance.

    Where heavy surprises are drawn, the estimate and its variance are both large, and both small where they are not:
    over draws and labels the variance's regression on the estimate has the slope

    .. math:: c = \frac{\sum_u (1 - \pi_u) (1 - 2 \pi_u) \pi_u^{-3} \, E r_u^3}
        {\sum_u (1 - \pi_u) \pi_u^{-2} \, E r_u^2}, \qquad r_u = b_u (\psi_u(y) - \bar\psi_u),

    sums over labelled units; of several stages with the cube and the square of each one's weight. Of a proportion from
    equal draws it is :math:`(1 - 2 \theta) / n`, as Wilson has it (docs/statistics.md, section 8).

    Parameters
    ----------
    contrast, sample, sums
        As for `believed_variance`.
    belief : Belief, optional
        After the labels.
    inclusion : ndarray of float, shape (U,)
        With what probability each unit was drawn in its stage.
    std_error : float
        Of the estimate.

    Returns
    -------
    float
        In units of the estimate; 0 if the belief says nothing. It is at most half a standard error, since beyond that
        single surprises decide, and those that were not drawn are counted as an error. Of n labelled units
        :math:`n / (n + 50)` of it is believed, for so does the belief follow from the labels.
    """
    if belief is None or is_limit(belief):
        return 0.0
    expected, moves, _ = _supposed(_Asked(contrast, sample, sums), belief)
    steps = np.sqrt(sample.expansion.spread) * moves
    second, third = np.sum(expected * steps**2, axis=0), np.sum(expected * steps**3, axis=0)
    skew = (1.0 - 2.0 * inclusion) / np.sqrt(np.maximum(1.0 - inclusion, 1e-300))
    total = float(np.sum(second))
    slope = float(np.sum(np.where(inclusion < 1.0, skew, 0.0) * third)) / total if total > 0 else 0.0
    most = MOST_SLOPE * std_error
    return float(np.clip(slope, -most, most)) * sample.size / (sample.size + DOUBTED)


@dataclass(eq=False)
class _Asked:
    """What beliefs are asked of: how labels of a sample move a contrast; that of a class is computed once for all."""

    contrast: Contrast
    sample: Sample
    sums: dict[int, np.ndarray]
    known: dict[int, np.ndarray] = field(default_factory=dict)

    @cached_property
    def influence(self) -> Influence:
        return self.contrast.influence(self.sums)

    @cached_property
    def kinks(self) -> Sequence[np.ndarray]:
        return self.influence.kinks(self.sample.items)

    @cached_property
    def told(self) -> np.ndarray:
        """The influence of the labels, shape (n,)."""
        return self.influence.at(self.sample.items, self.sample.labels)

    @cached_property
    def apart(self) -> np.ndarray:
        """Whether models predict a unit's rows differently, shape (U,)."""
        return self.units(disputed(self.sample.items, self.contrast.models))

    def psi(self, label: Any) -> np.ndarray:
        """Return the influence if these were the labels, shape (n,)."""
        if not isinstance(label, int):
            return self.influence.at(self.sample.items, label)
        if label not in self.known:
            self.known[label] = self.influence.at(self.sample.items, label)
        return self.known[label]

    def units(self, rows: np.ndarray) -> np.ndarray:
        """Return whether any row of each unit is one of these."""
        return np.asarray(self.sample.unit_sums(rows.astype(np.float64)) > 0)


def _supposed(asked: _Asked, belief: Belief) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each label's probability and how far it moves the pool mean, shapes (L, U), and how far the given do."""
    influence, sample, shared = asked.influence, asked.sample, _believed_once(asked)
    items = sample.unit_items if shared else sample.items
    supposed = belief.supposed(items, influence.models, nodes=influence.basis.nodes + 2, kinks=asked.kinks)
    pairs = [(weight + np.zeros(len(items)), asked.psi(label)) for label, weight in supposed]
    expected, psi = (np.stack(column) for column in zip(*pairs, strict=True))
    of_rows = expected[:, sample.units] if shared else expected
    mean, weights = np.sum(of_rows * psi, axis=0), sample.items.weights
    shown = sample.unit_sums(weights * (asked.told - mean))
    moves = np.stack([sample.unit_sums(weights * (row - mean)) for row in psi])
    if sample.units is not None and not shared:
        total = sample.unit_sums(weights + np.zeros(len(items)))
        expected = np.stack([sample.unit_sums(weights * row) / total for row in expected])
    return expected, moves, shown


def _believed_once(asked: _Asked) -> bool:
    """Return whether rows that share a label are believed of as one: of classes, but for items that models dispute."""
    classes = isinstance(asked.sample.items.models[0], Classes)
    return asked.sample.units is not None and classes and not _differs_in_predictions(asked.contrast)


def _expected(asked: _Asked, belief: Belief) -> float:
    if is_limit(belief):
        return 0.0
    sample, (expected, moves, shown) = asked.sample, _supposed(asked, belief)
    root = np.sqrt(sample.expansion.spread)
    sizes = root * np.abs(moves)
    rare = _heaviest(expected, sizes)
    often = float(np.sum(np.where(rare, 0.0, expected * sizes**2)))
    if not rare.any():
        return often
    least = sizes[rare].min() * (1 - ROUNDING)
    effects = np.sum(np.where(rare, expected * moves, 0.0), axis=0) * sample.expansion.weights
    if _differs_in_predictions(asked.contrast):
        drawn = _drawn(asked, expected) & (sizes >= least)
        return often + _missing(asked, effects, np.where(drawn, moves, 0.0).sum(axis=0))
    seen = int(np.count_nonzero(root * np.abs(shown) >= least))
    up, down = (float(np.sum(np.maximum(sign * effects, 0.0))) for sign in (1.0, -1.0))
    return often + min((seen + UNSEEN) / (RARE + UNSEEN), MOST) ** 2 * (up**2 + down**2)


def _drawn(asked: _Asked, expected: np.ndarray) -> np.ndarray:
    """Return which (class, unit) pairs, classes by their codes, labels showed and were less likely than not."""
    own = np.stack([asked.units(asked.sample.labels == label) for label in range(len(expected))])
    return np.asarray(own & (expected < 0.5 * (1 - ROUNDING)))


def _missing(asked: _Asked, effects: np.ndarray, drawn: np.ndarray) -> float:
    """Return the squared error by rare surprises: those that the sample did not show, and the Poisson rate of others.

    Parameters
    ----------
    asked : _Asked
        Of a difference in predictions.
    effects : ndarray of float, shape (U,)
        What the rare surprises of each unit are expected to do to the pool mean, the unit standing for others.
    drawn : ndarray of float, shape (U,)
        How far those that the sample showed move it, each unit for itself.
    """
    apart, shown = asked.apart, drawn * asked.sample.expansion.weights
    rate, total = np.count_nonzero(drawn) + UNSEEN_ON_AVERAGE, 0.0
    for sign in (1.0, -1.0):
        believed, told = np.maximum(sign * effects, 0.0), np.maximum(sign * shown, 0.0)
        total += max(float(np.sum(believed[apart]) - np.sum(told[apart])), 0.0) ** 2
        total += rate * (float(np.sum(believed[~apart])) / RARE) ** 2
    return total


def _heaviest(expected: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the largest (label, unit) pairs, each less likely than not, that are expected `RARE` times together."""
    chances, large = expected.ravel(), sizes.ravel() / max(float(sizes.max(initial=0.0)), 1e-300)
    surprises = np.flatnonzero((chances < 0.5 * (1 - ROUNDING)) & (large > ROUNDING))
    surprises = surprises[np.argsort(-np.round(large[surprises], DIGITS), kind="stable")]
    rare = np.zeros(expected.size, dtype=np.bool_)
    rare[surprises[np.cumsum(chances[surprises]) <= RARE * (1 + ROUNDING)]] = True
    return rare.reshape(expected.shape)


def larger_variance(sampled: float, df: float, believed: float) -> tuple[float, float]:
    """Return the variance to rely on and its degrees of freedom.

    Parameters
    ----------
    sampled : float
        Variance estimated from the labels' spread.
    df : float
        Its degrees of freedom as the labels show them.
    believed : float
        What the calibrated belief expects.

    Examples
    --------
    >>> larger_variance(0.0, 99.0, 0.04)
    (0.04, 1000000.0)
    >>> larger_variance(0.05, 1.0, 0.04)
    (0.05, 4.6)
    """
    df = max(df, LEAST_DF)
    normal, t = stdtrit(np.array([MOST_DF, df]), 0.975)
    return (sampled, df) if sampled * t**2 >= believed * normal**2 else (believed, MOST_DF)
