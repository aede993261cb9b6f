r"""The squared error that a belief expects of an estimate: from how often labels surprise, and how far each moves it.

A surprise is a label that is less likely than not. The spread of a few labels says nothing of rare, heavy surprises
until one was seen. The belief, calibrated on the labels, tells how often each surprise is expected in the sample and
how far it would move the estimate. Those that are expected often have a variance. The heaviest, together expected
twice, may well be missing from the sample: then the estimate is off by their whole effect on the pool. That effect is
counted as a squared error, upward and downward effects of units each by themselves, and corrected by s, the number of
such surprises that the sample showed:

.. math:: V_b = \sum_{often} k_u b_u^2 \, p_{uy} (\psi_u(y) - \bar\psi_u)^2
    + f^2 \sum_{\pm} \Big(\sum_u w_u b_u \Big[\sum_{rare} p_{uy} (\psi_u(y) - \bar\psi_u)\Big]_\pm\Big)^2 .

What may surprise in either direction, as a number does, misses no effect where neither is in the sample. The part of a
unit's rare surprises whose effects cancel is therefore a variance, times 2 over the number of surprises expected in
all, at most 1: the others tell of it.

The median of a Poisson rate of which s were seen is near s + 2/3 (with all rates as likely), and near 2 + 2/3 if the
expected two were seen: :math:`f = \min\big(\tfrac{s + 2/3}{2 + 2/3}, 1.5\big)` corrects the whole effect at the
expected rate.

For a difference of two functions of the confusion matrix nearly all drawn items are those that the models predict
differently. These and all others have beliefs of their own, judged by the labels of each kind, and :math:`V_b` is its
mean over what the labels leave possible. These beliefs know the rate already. So only the surprises that the sample did
not show are missing: the whole effect D on items predicted differently, less W, the effect of those that it showed. On
items that the models predict alike the number of surprises errs by the root of its Poisson rate, of mean s + 1/2 under
Jeffreys' prior, each surprise being half of their effect E:

.. math:: \sum_{\pm} \Big( \big(D_\pm - W_\pm\big)_+^2 + \tfrac{s + 1/2}{4} E_\pm^2 \Big)
    \quad \text{in place of} \quad f^2 \sum_{\pm} (\ldots)^2 .

While a stage is under way, the items that it is still to ask for count too. They have no label yet, and count as having
shown as many surprises as are expected of them.

Calibration learns how often a class is wrong and how far off numbers are; labels show more than that. Outcomes of
systems are believed to be independent, and without a judge any grade as likely as another, but two systems may fail on
the same items, or one hardly ever. A regressor that is off by the same everywhere is believed to scatter as far. Lapses
make all wrong classes equally likely, though some cost more and never occur. A model of documents' grades may be off in
more ways than a shift for each grade and two slopes mend. Let O be the squares that the sample showed, about their own
mean, and E those that were expected of it, in units of the largest. Then only the share :math:`(1+O)/(1+E)` of
:math:`V_b` counts, at most all: the belief counts as one surprise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, Distribution, Supposed, is_limit, predicted_apart
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.measures.bases import Confusion
from sondage.core.measures.functionals import Functional
from sondage.core.predictions import Classes, Floats, Grades, Items, Means, Ranks
from sondage.core.resampling import block_sizes
from sondage.core.samples import Sample

__all__ = [
    "Linearised",
    "borne_out",
    "differs_in_predictions",
    "expected_squares",
    "in_blocks",
    "supposed_moves",
    "wrong_classes_differ",
]

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
MOST_NUMBERS = 2**18
"""Of a block of beliefs, in one array."""
EQUAL, DIGITS = 1e-9, 9
"""Sizes and chances that differ by less are equal: last bits, which follow the order of rows, decide nothing."""


def differs_in_predictions(contrast: Contrast) -> bool:
    """Return whether it is a difference of two functions of the confusion matrix."""
    return contrast.compares and isinstance(contrast.functional.basis, Confusion)


def wrong_classes_differ(functional: Functional) -> bool:
    """Return whether it matters which wrong class a label is: one beside the prediction moves it more than another.

    Of expected costs, and of a ratio's numerator and denominator, that is whether two coefficients of one row, both
    beside the diagonal, differ by more than 1e-9 of the largest. Recall, specificity, F and their means over several
    classes are such, since they count items by their labels; precision counts them by their predictions.

    Parameters
    ----------
    functional : Functional
        The measure; one that is neither an expected cost nor a ratio of the confusion matrix, shape (k, k), nor a mean
        of such ratios is none.

    Examples
    --------
    >>> from sondage.core.measures import ErrorRate, ExpectedCost, Precision, Recall, Task
    >>> three, distance = Task("classification", ("a", "b", "c")), np.abs(np.subtract.outer(range(3), range(3)))
    >>> [wrong_classes_differ(measure.ready(three)) for measure in (ErrorRate(), ExpectedCost(distance))]
    [False, True]
    >>> [wrong_classes_differ(measure("c").ready(three)) for measure in (Precision, Recall)]
    [False, True]
    """
    if not isinstance(functional.basis, Confusion):
        return False
    if functional.class_ratios is not None:
        return functional.basis.n_classes > 2 and functional.class_ratios.labelled > 0
    if functional.ratio is not None:
        return any(map(_differ_beside_diagonal, functional.ratio))
    k = functional.basis.n_classes
    return functional.linear and _differ_beside_diagonal(functional.gradient(np.zeros((k, k))))


def _differ_beside_diagonal(coefficients: Floats) -> bool:
    """Return whether coefficients of one row, shape (k, k), both beside the diagonal, differ."""
    beside = coefficients[~np.eye(len(coefficients), dtype=np.bool_)].reshape(len(coefficients), -1)
    return bool(np.ptp(beside, axis=1).max(initial=0.0) > EQUAL * np.max(np.abs(coefficients)))


@dataclass(eq=False)
class Linearised:
    """A contrast linearised on a sample: how labels move it; that of a class is computed once for all beliefs.

    Attributes
    ----------
    contrast : Contrast
        What is estimated.
    sample : Sample
        The labelled rows; of a stage under way also those that are to be, whose labels are `NOT_YET`.
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
        """The influence of the labels, shape (n,); NaN where there is none yet."""
        sample, (there, answered) = self.sample, self.sample.answered
        found = np.full(len(sample.items), np.nan)
        found[there] = self.influence.at(answered, sample.labels[there])
        return found

    @cached_property
    def to_come(self) -> NDArray[np.bool_]:
        """Whether a unit has no label yet, shape (U,)."""
        return self.units(self.sample.to_come)

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Whether models predict a unit's rows differently, shape (U,)."""
        return self.units(predicted_apart(self.sample.items, self.contrast.models))

    @cached_property
    def labels_show_more(self) -> bool:
        """Whether squares follow from more than is calibrated: outcomes, numbers, lists, wrong classes' costs."""
        if isinstance(self.sample.items.models[0], Grades | Means | Ranks):
            return True
        return self.contrast.functional.linear and wrong_classes_differ(self.contrast.functional)

    def psi(self, label: Any) -> Floats:
        """Return the influence if these were the labels, shape (n,)."""
        if not isinstance(label, int):
            return self.influence.at(self.sample.items, label)
        if label not in self.known:
            self.known[label] = self.influence.at(self.sample.items, label)
        return self.known[label]

    def supposed(self, belief: Distribution, items: Items) -> Iterator[Supposed]:
        """Yield the labels that a belief supposes of these rows with their probabilities, shape (n,) each."""
        influence = self.influence
        return belief.supposed(items, influence.models, nodes=influence.basis.nodes + 2, kinks=self.kinks)

    def given(self, label: int) -> NDArray[np.bool_]:
        """Return whether a unit's label is this class, shape (U,)."""
        if label not in self.shown:
            self.shown[label] = self.units(self.sample.labels == label)
        return self.shown[label]

    def units(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether any row of each unit is one of these."""
        return np.asarray(self.sample.unit_sums(rows.astype(np.float64)) > 0)


def supposed_moves(linearised: Linearised, *beliefs: Distribution) -> tuple[Floats, Floats, Floats]:
    r"""Return what beliefs suppose of each labelled unit, and what its label showed.

    Parameters
    ----------
    linearised : Linearised
        The contrast and the sample.
    *beliefs : Distribution
        K beliefs that each suppose L labels; of many those `in_blocks`.

    Returns
    -------
    expected, moves : ndarray of float, shape (K, L, U)
        Of each supposed label :math:`p_{uy}`, and by how much it moves the pool mean, the unit standing for itself
        alone: :math:`b_u (\psi_u(y) - \bar\psi_u)`.
    shown : ndarray of float, shape (K, U)
        The latter of the labels that were given.
    """
    sample, shared = linearised.sample, _believed_once(linearised)
    items = sample.unit_items if shared else sample.items
    pairs = [list(linearised.supposed(belief, items)) for belief in beliefs]
    expected = np.empty((len(pairs), len(pairs[0]), len(items)))
    for place, told in enumerate(pairs):
        for row, (_, weight) in zip(expected[place], told, strict=True):
            row[:] = weight
    same = pairs[:1] if all(isinstance(label, int) for label, _ in pairs[0]) else pairs  # classes are the same for all
    psi = np.stack([np.stack([linearised.psi(label) for label, _ in told]) for told in same])
    of_rows = expected[:, :, sample.units] if shared else expected
    mean, weights = np.sum(of_rows * psi, axis=1), sample.items.weights
    shown = sample.unit_sums(weights * (linearised.told - mean))
    moves = sample.unit_sums(weights * (psi - mean[:, None]))
    if sample.units is not None and not shared:
        expected = sample.unit_sums(weights * expected) / sample.unit_base
    return expected, moves, shown


def _believed_once(linearised: Linearised) -> bool:
    """Return whether rows that share a label are believed of as one: of classes, but for differences in predictions."""
    classes = isinstance(linearised.sample.items.models[0], Classes)
    return linearised.sample.units is not None and classes and not differs_in_predictions(linearised.contrast)


def in_blocks(linearised: Linearised, beliefs: Sequence[Distribution]) -> Iterator[Sequence[Distribution]]:
    """Yield the beliefs, as many together as suppose `MOST_NUMBERS` probabilities, and one at least."""
    items, first = linearised.sample.items, 0
    labels = sum(1 for _ in linearised.supposed(beliefs[0], items)) if len(beliefs) > 1 else 1
    for size in block_sizes(len(beliefs), labels * len(items), MOST_NUMBERS):
        yield beliefs[first : first + size]
        first += size


def expected_squares(linearised: Linearised, beliefs: Sequence[Distribution]) -> Floats:
    """Return the squared error that each belief expects, shape (K,); 0 where they are limits, which expect none."""
    if any(map(is_limit, beliefs)):
        return np.zeros(len(beliefs))
    found = []
    for block in in_blocks(linearised, beliefs):
        supposed = supposed_moves(linearised, *block)
        found.append(_of_surprises(linearised, *supposed))
        if linearised.labels_show_more:
            found[-1] *= [_borne_out(linearised, *one) for one in zip(*supposed, strict=True)]
    return np.concatenate(found)


def borne_out(linearised: Linearised, belief: Belief) -> float:
    """Return the share of the expected variance that the labels bear out, at most all."""
    return _borne_out(linearised, *(of_all[0] for of_all in supposed_moves(linearised, belief)))


def _borne_out(linearised: Linearised, expected: Floats, moves: Floats, shown: Floats) -> float:
    """Return the same from each label's probability and how far it moves the pool mean, and how far the given do."""
    sample, told = linearised.sample, np.isfinite(shown)
    if not told.any():
        return 1.0
    root, weights = np.sqrt(sample.expansion.spread), sample.expansion.weights
    base = sample.unit_base
    centred = shown - base * float(np.sum((weights * shown)[told]) / np.sum((weights * base)[told]))
    sizes = root * np.abs(moves)
    most = float(sizes.max(initial=0.0)) ** 2
    if most == 0:
        return 1.0
    believed, seen = float(np.sum(expected * sizes**2)) / most, float(np.sum(((root * centred) ** 2)[told])) / most
    seen += float(np.sum((expected * sizes**2)[:, linearised.to_come])) / most
    return min((BORNE_OUT + seen) / (BORNE_OUT + believed), 1.0)


def _of_surprises(linearised: Linearised, expected: Floats, moves: Floats, shown: Floats) -> Floats:
    """Return of each belief the variance by surprises that are often, and the squared error by those that are rare."""
    sample = linearised.sample
    root = np.sqrt(sample.expansion.spread)
    sizes = root * np.abs(moves)
    squares, rare = expected * sizes**2, _heaviest(expected, sizes)
    effects = np.where(rare, expected * moves, 0.0) * sample.expansion.weights
    chances = [np.sum(chance[which]) for chance, which in zip(expected, _surprising(expected, sizes), strict=True)]
    often = _totals(np.where(rare, 0.0, squares))
    often += RARE / np.maximum(chances, RARE) * _totals(_cancelled(effects) * np.where(rare, squares, 0.0))
    least = np.min(np.where(rare, sizes, np.inf), axis=(1, 2)) * (1 - EQUAL)
    effects, to_come = effects.sum(axis=1), np.where(rare, expected, 0.0)[:, :, linearised.to_come].sum(axis=(1, 2))
    if differs_in_predictions(linearised.contrast):
        drawn = _drawn(linearised, expected) & (sizes >= least[:, None, None])
        return np.add(often, _missing(linearised, effects, np.where(drawn, moves, 0.0).sum(axis=1), to_come))
    seen = np.count_nonzero(root * np.abs(shown) >= least[:, None], axis=1) + to_come
    up, down = (np.sum(np.maximum(sign * effects, 0.0), axis=1) for sign in (1.0, -1.0))
    more = np.minimum((seen + UNSEEN) / (RARE + UNSEEN), MOST_MORE)
    parts = zip(more.tolist(), up.tolist(), down.tolist(), strict=True)
    return np.add(often, [factor**2 * (above**2 + below**2) for factor, above, below in parts])


def _totals(values: Floats) -> Floats:
    """Return the sums over labels and units, shape (K,) of shape (K, L, U)."""
    return np.asarray(values.reshape(len(values), -1).sum(axis=1))


def _surprising(expected: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return which (label, unit) pairs are less likely than not, and move anything, by belief."""
    least = EQUAL * sizes.max(axis=(1, 2), keepdims=True, initial=0.0)
    return np.asarray((expected < 0.5 * (1 - EQUAL)) & (sizes > least))


def _cancelled(effects: Floats) -> Floats:
    """Return which share of each surprise's effect on a unit's total is made up for by those of the other direction.

    Examples
    --------
    >>> _cancelled(np.array([[[1.0, 3.0, 2.0], [-1.0, -1.0, 0.0]]])).round(3).tolist()
    [[[1.0, 0.333, 0.0], [1.0, 1.0, 0.0]]]
    """
    up, down = (np.maximum(sign * effects, 0.0).sum(axis=1, keepdims=True) for sign in (1.0, -1.0))
    own = np.where(effects > 0, up, down)
    return np.asarray(np.minimum(up, down) / np.where(own > 0, own, 1.0))


def _drawn(linearised: Linearised, expected: Floats) -> NDArray[np.bool_]:
    """Return which (class, unit) pairs, classes by their codes, labels showed and were less likely than not."""
    own = np.stack([linearised.given(label) for label in range(expected.shape[1])])
    return np.asarray(own & (expected < 0.5 * (1 - EQUAL)))


def _missing(linearised: Linearised, effects: Floats, drawn: Floats, to_come: Floats) -> list[float]:
    """Return the squared errors by rare surprises: those that the sample did not show, and the Poisson rate of others.

    Parameters
    ----------
    linearised : Linearised
        A difference in predictions.
    effects : ndarray of float, shape (K, U)
        What the rare surprises of each unit are expected to do to the pool mean, the unit standing for others.
    drawn : ndarray of float, shape (K, U)
        How far those that the sample showed move it, each unit for itself.
    to_come : ndarray of float, shape (K,)
        How many are expected of units without a label yet.
    """
    apart, shown = linearised.apart, drawn * linearised.sample.expansion.weights
    parts = [np.count_nonzero(drawn, axis=1) + to_come + UNSEEN_ON_AVERAGE]
    for sign in (1.0, -1.0):
        believed, told = np.maximum(sign * effects, 0.0), np.maximum(sign * shown, 0.0)
        of_apart = np.compress(apart, believed, axis=1).sum(axis=1) - np.compress(apart, told, axis=1).sum(axis=1)
        parts += [of_apart, np.compress(~apart, believed, axis=1).sum(axis=1)]
    return [
        max(up, 0.0) ** 2 + rate * (alike_up / RARE) ** 2 + max(down, 0.0) ** 2 + rate * (alike_down / RARE) ** 2
        for rate, up, alike_up, down, alike_down in zip(*(part.tolist() for part in parts), strict=True)
    ]


def _heaviest(expected: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Return the largest (label, unit) pairs, each less likely than not, that are expected `RARE` times together."""
    surprises, flat = _surprising(expected, sizes), (len(sizes), -1)
    large = sizes / np.maximum(sizes.max(axis=(1, 2), keepdims=True, initial=0.0), 1e-300)
    order = np.argsort(np.where(surprises, -np.round(large, DIGITS), np.inf).reshape(flat), axis=1, kind="stable")
    chances = np.take_along_axis(np.where(surprises, expected, 0.0).reshape(flat), order, axis=1)
    rare = np.zeros_like(order, dtype=np.bool_)
    np.put_along_axis(rare, order, np.cumsum(chances, axis=1) <= RARE * (1 + EQUAL), axis=1)
    return np.asarray(rare.reshape(sizes.shape) & surprises)
