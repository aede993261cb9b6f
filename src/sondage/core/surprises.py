r"""What a belief expects of labels: how often they surprise, and how far each would move an estimate.

The spread of a few labels knows nothing of rare, heavy surprises until one was seen. The belief, calibrated on the
labels, tells how often each surprise is expected in the sample and how far it would move the estimate. Those that
are expected often enough have a variance that can be computed. The heaviest, together expected twice, may well not be
in the sample at all: then the estimate is off by their whole effect on the pool. That effect is counted as an error,
not as a variance, of units that they move up and units that they move down each by itself, and corrected by how many
such surprises the sample showed, s:

.. math:: V_b = \sum_{often} k_u b_u^2 \, p_{uy} (\psi_u(y) - \bar\psi_u)^2
    + f^2 \sum_{\pm} \Big(\sum_u w_u b_u \Big[\sum_{rare} p_{uy} (\psi_u(y) - \bar\psi_u)\Big]_\pm\Big)^2 .

What may surprise in either direction, as a number does, misses no effect where neither is in the sample: that part of a
unit's rare surprises whose effects cancel is a variance, and counts as far as no more than twice are expected at all:
the others tell of it.

The median of a Poisson rate of which s were seen is near s + 2/3 (with all rates as likely), that of as many as were
expected near 2 + 2/3: :math:`f = \min\big(\tfrac{s + 2/3}{2 + 2/3}, 1.5\big)`, the whole effect at the rate that was
expected.

Of a difference in predictions nearly all that is drawn are items that two models predict differently. The beliefs
of these and of all others are judged by the labels of each kind: :math:`V_b` is its mean over what these leave
possible. They know the rate already, so that what is missing is the whole effect D of such items less W, that of the
surprises that the sample did show. Of items that models predict alike the number seen errs as a Poisson number does,
by the root of its rate, each by half of their effect E (Jeffreys' prior):

.. math:: \sum_{\pm} \Big( \big(D_\pm - W_\pm\big)_+^2 + \tfrac{s + 1/2}{4} E_\pm^2 \Big)
    \quad \text{in place of} \quad f^2 \sum_{\pm} (\ldots)^2 .

Calibrations learn how often a class is wrong and how far off numbers are, not all that labels show. Outcomes of systems
are believed to be independent, and without a judge any grade as likely as another; but two systems fail on the same
items, or one hardly ever. A regressor that is off by the same everywhere is believed to scatter as far. Of several
classes all that are wrong may lapse alike, though some cost more and never occur. With O and E the squares that the
sample showed, about their own mean, and that were expected of it, in units of the largest, the share
:math:`(1 + O) / (1 + E)` of :math:`V_b` is borne out, at most all: the belief counts as one surprise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, Distribution, is_limit, predicted_apart
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.measures.bases import Confusion
from sondage.core.predictions import Classes, Floats, Grades, Means
from sondage.core.samples import Sample

__all__ = ["Asked", "borne_out", "differs_in_predictions", "expected_square", "supposed_moves"]

RARE = 2.0
"""How often the heaviest surprises, whose effect counts as an error, are expected in the sample together."""
UNSEEN = 2.0 / 3.0
"""By how much the median of what a Poisson rate may be is above how often it was seen."""
UNSEEN_ON_AVERAGE = 0.5
"""By how much its mean is, with Jeffreys' prior."""
MOST_MORE = 1.5
"""Up to how much more of them there may be than expected: more are seen, and in the sampled variance."""
BORNE_OUT = 1.0
"""How many surprises the belief counts for where labels show what it has not learned."""
ROUNDING, DIGITS = 1e-9, 9
"""Sizes and chances that differ by less are equal: last bits, which follow the order of rows, decide nothing."""


def differs_in_predictions(contrast: Contrast) -> bool:
    """Return whether it is a difference of two functions of the confusion matrix."""
    return contrast.compares and isinstance(contrast.functional.basis, Confusion)


@dataclass(eq=False)
class Asked:
    """What beliefs are asked of: how labels of a sample move a contrast; that of a class is computed once for all.

    Attributes
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows.
    sums : mapping of int to ndarray
        Pool means at which it is linearised, by model.
    known : dict of int to ndarray
        The influence of each class that was asked for, shape (n,).
    shown : dict of int to ndarray
        Which units have each class that was asked for, shape (U,).
    """

    contrast: Contrast
    sample: Sample
    sums: Sums
    known: dict[int, Floats] = field(default_factory=dict)
    shown: dict[int, NDArray[np.bool_]] = field(default_factory=dict)

    @cached_property
    def influence(self) -> Influence:
        """How far each label moves the contrast at these pool means."""
        return self.contrast.influence(self.sums)

    @cached_property
    def kinks(self) -> Sequence[Floats]:
        """The labels at which it is not smooth, shape (n,) each."""
        return self.influence.kinks(self.sample.items)

    @cached_property
    def told(self) -> Floats:
        """The influence of the labels, shape (n,)."""
        return self.influence.at(self.sample.items, self.sample.labels)

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Whether models predict a unit's rows differently, shape (U,)."""
        return self.units(predicted_apart(self.sample.items, self.contrast.models))

    @cached_property
    def labels_show_more(self) -> bool:
        """Whether squares follow from more than calibrations learn: outcomes, numbers, wrong classes that differ."""
        if isinstance(self.sample.items.models[0], Grades | Means):
            return True
        functional = self.contrast.functional
        if not (functional.linear and isinstance(functional.basis, Confusion)):
            return False
        return any(_wrong_differ(coefficients) for _, coefficients in self.influence.terms)

    def psi(self, label: Any) -> Floats:
        """Return the influence if these were the labels, shape (n,)."""
        if not isinstance(label, int):
            return self.influence.at(self.sample.items, label)
        if label not in self.known:
            self.known[label] = self.influence.at(self.sample.items, label)
        return self.known[label]

    def given(self, label: int) -> NDArray[np.bool_]:
        """Return whether a unit's label is this class, shape (U,)."""
        if label not in self.shown:
            self.shown[label] = self.units(self.sample.labels == label)
        return self.shown[label]

    def units(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether any row of each unit is one of these."""
        return np.asarray(self.sample.unit_sums(rows.astype(np.float64)) > 0)


def supposed_moves(asked: Asked, belief: Distribution) -> tuple[Floats, Floats, Floats]:
    r"""Return what a belief supposes of each labelled unit, and what its label showed.

    Parameters
    ----------
    asked : Asked
        The contrast and the sample.
    belief : Distribution
        What supposes the labels.

    Returns
    -------
    expected, moves : ndarray of float, shape (L, U)
        Of each of L supposed labels :math:`p_{uy}`, and by how much it moves the pool mean, the unit standing for
        itself alone: :math:`b_u (\psi_u(y) - \bar\psi_u)`.
    shown : ndarray of float, shape (U,)
        The latter of the labels that were given.
    """
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
        expected = np.stack([sample.unit_sums(weights * row) / sample.unit_base for row in expected])
    return expected, moves, shown


def _believed_once(asked: Asked) -> bool:
    """Return whether rows that share a label are believed of as one: of classes, but for differences in predictions."""
    classes = isinstance(asked.sample.items.models[0], Classes)
    return asked.sample.units is not None and classes and not differs_in_predictions(asked.contrast)


def expected_square(asked: Asked, belief: Distribution) -> float:
    """Return the squared error that one belief expects; 0 where it is a limit, which expects none."""
    if is_limit(belief):
        return 0.0
    expected, moves, shown = supposed_moves(asked, belief)
    found = _of_surprises(asked, expected, moves, shown)
    return found * _borne_out(asked, expected, moves, shown) if asked.labels_show_more else found


def _wrong_differ(costs: Floats) -> bool:
    """Return whether a prediction, a row of (k, k), costs more with one wrong label than with another.

    Examples
    --------
    >>> _wrong_differ(np.array([[0.0, 5.0], [1.0, 0.0]])), _wrong_differ(np.abs(np.subtract.outer(range(3), range(3))))
    (False, True)
    """
    wrong = costs[~np.eye(len(costs), dtype=np.bool_)].reshape(len(costs), -1)
    return bool(np.ptp(wrong, axis=1).max(initial=0.0) > ROUNDING * np.max(np.abs(costs)))


def borne_out(asked: Asked, belief: Belief) -> float:
    """Return the share of the expected variance that the labels bear out, at most all."""
    return _borne_out(asked, *supposed_moves(asked, belief))


def _borne_out(asked: Asked, expected: Floats, moves: Floats, shown: Floats) -> float:
    """Return the same from each label's probability and how far it moves the pool mean, and how far the given do."""
    sample, told = asked.sample, np.isfinite(shown)
    root, weights = np.sqrt(sample.expansion.spread), sample.expansion.weights
    base = sample.unit_base
    centred = shown - base * float(np.sum((weights * shown)[told]) / np.sum((weights * base)[told]))
    sizes = root * np.abs(moves)
    most = float(sizes.max(initial=0.0)) ** 2
    if most == 0:
        return 1.0
    believed, seen = float(np.sum(expected * sizes**2)) / most, float(np.sum(((root * centred) ** 2)[told])) / most
    return min((BORNE_OUT + seen) / (BORNE_OUT + believed), 1.0)


def _of_surprises(asked: Asked, expected: Floats, moves: Floats, shown: Floats) -> float:
    """Return the variance by surprises that are often, and the squared error by those that are rare."""
    sample = asked.sample
    root = np.sqrt(sample.expansion.spread)
    sizes = root * np.abs(moves)
    rare = _heaviest(expected, sizes)
    often = float(np.sum(np.where(rare, 0.0, expected * sizes**2)))
    if not rare.any():
        return often
    least = sizes[rare].min() * (1 - ROUNDING)
    effects = np.where(rare, expected * moves, 0.0) * sample.expansion.weights
    alone = RARE / max(float(np.sum(expected[_surprising(expected, sizes)])), RARE)
    often += alone * float(np.sum(_cancelled(effects) * np.where(rare, expected * sizes**2, 0.0)))
    effects = effects.sum(axis=0)
    if differs_in_predictions(asked.contrast):
        drawn = _drawn(asked, expected) & (sizes >= least)
        return often + _missing(asked, effects, np.where(drawn, moves, 0.0).sum(axis=0))
    seen = int(np.count_nonzero(root * np.abs(shown) >= least))
    up, down = (float(np.sum(np.maximum(sign * effects, 0.0))) for sign in (1.0, -1.0))
    return often + min((seen + UNSEEN) / (RARE + UNSEEN), MOST_MORE) ** 2 * (up**2 + down**2)


def _surprising(expected: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return which (label, unit) pairs are less likely than not, and move anything."""
    least = ROUNDING * float(sizes.max(initial=0.0))
    return np.asarray((expected < 0.5 * (1 - ROUNDING)) & (sizes > least))


def _cancelled(effects: Floats) -> Floats:
    """Return which share of each surprise's effect on a unit's total is made up for by those of the other direction.

    Examples
    --------
    >>> _cancelled(np.array([[1.0, 3.0, 2.0], [-1.0, -1.0, 0.0]])).round(3).tolist()
    [[1.0, 0.333, 0.0], [1.0, 1.0, 0.0]]
    """
    up, down = np.maximum(effects, 0.0).sum(axis=0), np.maximum(-effects, 0.0).sum(axis=0)
    own = np.where(effects > 0, up, down)
    return np.asarray(np.minimum(up, down) / np.where(own > 0, own, 1.0))


def _drawn(asked: Asked, expected: Floats) -> NDArray[np.bool_]:
    """Return which (class, unit) pairs, classes by their codes, labels showed and were less likely than not."""
    own = np.stack([asked.given(label) for label in range(len(expected))])
    return np.asarray(own & (expected < 0.5 * (1 - ROUNDING)))


def _missing(asked: Asked, effects: Floats, drawn: Floats) -> float:
    """Return the squared error by rare surprises: those that the sample did not show, and the Poisson rate of others.

    Parameters
    ----------
    asked : Asked
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


def _heaviest(expected: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return the largest (label, unit) pairs, each less likely than not, that are expected `RARE` times together."""
    surprises = np.flatnonzero(_surprising(expected, sizes))
    chances, large = expected.ravel(), sizes.ravel() / max(float(sizes.max(initial=0.0)), 1e-300)
    surprises = surprises[np.argsort(-np.round(large[surprises], DIGITS), kind="stable")]
    rare = np.zeros(expected.size, dtype=np.bool_)
    rare[surprises[np.cumsum(chances[surprises]) <= RARE * (1 + ROUNDING)]] = True
    return rare.reshape(expected.shape)
