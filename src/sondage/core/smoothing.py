r"""Pool means of a mean over classes, smoothed by the belief where few labels tell of a class.

A mean of ratios, balanced accuracy or macro F, gives a class of one item in a hundred as much weight as any other. Such
a class may have two labels, or none. Its estimated share of the pool is then what remains of the belief's share after
residuals of other classes are taken off: it may be near 0 or below, and a ratio over it is anything. So the belief
counts as one label of each class (additive smoothing). With :math:`n_c` labelled units of class c its column becomes

.. math:: \tilde M_{\cdot c} = \frac{n_c \, \hat M_{\cdot c} + H_{\cdot c}}{n_c + 1},

where H are the pool means under the belief after all labels, with labelled items counted as they are (decisions 0039
and 0060). The pool was summed under the last stage's belief. By how much the last labels moved the belief is seen on
the labelled items, which stand for all others with the same predicted class. For predictions alone the last stage's
belief stands: it is a table of labels, and would count them twice. So it does for differences between models, whose
labels are few where these agree.

A belief may tell of a class that does not occur: most classifiers give every class some probability, everywhere. In the
mean over the classes that occur it would count for ever, and never be found. So a class of which the beliefs expected
three labels or more, stage by stage, and none came, is taken not to occur; by chance that has the probability
:math:`e^{-3}`. For this count beliefs have not learned how frequent classes are: of a class that does not come they
would soon expect no label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sondage.core.beliefs import Belief, ClassBelief
from sondage.core.comparisons import Contrast, Sums, believed_totals
from sondage.core.measures.bases import Basis
from sondage.core.predictions import Floats
from sondage.core.samples import Known, LabelledStage, Sample

__all__ = ["expected_labels", "labels_by_class", "occurring", "smoothed"]

REFUTED = 3.0
"""How many labels of a class were expected, where none came, so that it is taken not to occur."""


def smoothed(
    contrast: Contrast, sums: Sums, labelled: Sample, last: Sample, known: Known, belief: Belief | None
) -> dict[int, Floats]:
    """Return pool means, for a mean over classes with the belief as one label of each.

    Parameters
    ----------
    contrast : Contrast
        What is estimated; of other measures pool means are returned as they are.
    sums : mapping of int to ndarray, shape (k, k)
        Estimated pool means of each model, predictions in rows, labels in columns.
    labelled, last : Sample
        All that is labelled, and the last stage of it.
    known : Known
        The last stage's belief and its pool means, what was labelled before counted as it is; without one nothing is
        changed.
    belief : Belief, optional
        After all labels, of one model's value; without one, or of predictions alone, that of the last stage stands.

    Returns
    -------
    dict of int to ndarray, shape (k, k)

    Examples
    --------
    Three items, of which the last is labelled, a 1:

    >>> from sondage.core.beliefs import ClassBelief
    >>> from sondage.core.measures import BalancedAccuracy, Task
    >>> from sondage.core.predictions import Classes, Items
    >>> from sondage.core.samples import from_inclusion
    >>> items = Items((Classes(np.array([0, 1, 1]), np.array([0.2, 0.7, 0.9])),), np.full(3, 1 / 3))
    >>> labelled = Sample(items.take(np.array([2])), np.array([1]), from_inclusion(np.array([0.5])))
    >>> expected = {("confusion", 0): np.array([[0.8, 0.2], [0.4, 1.6]]) / 3}
    >>> belief = ClassBelief(2, models=((0, 1.0),))
    >>> known = Known(1.0, belief, expected, {}, 1 / 3)
    >>> contrast = Contrast(BalancedAccuracy().ready(Task("classification", (0, 1))), ((0, 1.0),))
    >>> sums = {0: np.array([[0.0, 0.0], [0.0, 1.0]])}
    >>> smoothed(contrast, sums, labelled, labelled, known, belief)[0].round(3).tolist()
    [[0.267, 0.033], [0.1, 0.783]]
    """
    functional, found = contrast.functional, dict(sums)
    if functional.class_ratios is None or not known.expected:
        return found
    classes = [np.asarray(labelled.labels == c, dtype=np.float64) for c in range(len(functional.class_ratios))]
    counts = np.array([np.count_nonzero(labelled.unit_sums(own)) for own in classes])
    for model, mu in sums.items():
        believed = _believed(functional.basis, model, labelled, last, known, belief)
        found[model] = (counts * mu + believed) / (counts + 1.0)
    return found


def occurring(contrast: Contrast, sums: Sums, labelled: Sample, stages: Sequence[LabelledStage]) -> dict[int, Floats]:
    """Return pool means without the classes that labels refute, for a mean over the classes that occur.

    Parameters
    ----------
    contrast, sums, labelled
        As for `smoothed`.
    stages : sequence of LabelledStage
        What was labelled in each stage, and what was believed before it.

    Returns
    -------
    dict of int to ndarray, shape (k, k)
        With columns of 0 for classes of which no label came and `REFUTED` or more were expected.

    Examples
    --------
    Thirty labels, none of them a 1, of which 2.7 were expected, and then 6:

    >>> from sondage.core.beliefs import ClassBelief
    >>> from sondage.core.measures import BalancedAccuracy, Task
    >>> from sondage.core.predictions import Classes, Items
    >>> from sondage.core.samples import LabelledStage, from_inclusion
    >>> contrast = Contrast(BalancedAccuracy().ready(Task("classification", (0, 1))), ((0, 1.0),))
    >>> sums = {0: np.array([[0.8, 0.2], [0.0, 0.0]])}
    >>> for believed in (0.09, 0.2):
    ...     items = Items((Classes(np.zeros(30, dtype=int), np.full(30, believed)),), np.full(30, 0.01))
    ...     sample = Sample(items, np.zeros(30, dtype=int), from_inclusion(np.full(30, 0.3)))
    ...     stage = LabelledStage(sample, Known(1.0, ClassBelief(2, models=((0, 1.0),)), {}, {}, 0.01))
    ...     print(occurring(contrast, sums, sample, [stage])[0].tolist())
    [[0.8, 0.2], [0.0, 0.0]]
    [[0.8, 0.0], [0.0, 0.0]]
    """
    class_ratios = contrast.functional.class_ratios
    if class_ratios is None or not class_ratios.occurring:
        return dict(sums)
    expected = np.zeros(len(class_ratios))
    for stage in stages:
        expected += expected_labels(contrast, stage.sample, _unshifted(stage.known.belief))
    absent = (np.bincount(labelled.labels, minlength=len(expected)) == 0) & (expected >= REFUTED)
    return {model: np.where(absent, 0.0, mu) for model, mu in sums.items()}


def _unshifted(belief: Belief | None) -> Belief | None:
    """Return the belief that did not learn how frequent classes are: one that did has hardly any of the absent."""
    if not isinstance(belief, ClassBelief) or not belief.class_shifts:
        return belief
    return replace(belief, class_shifts=(0.0,) * belief.n_classes)


def expected_labels(contrast: Contrast, sample: Sample, belief: Belief | None) -> Floats | float:
    """Return how many of a stage's labels a belief expects of each class, shape (k,); 0 without one."""
    if belief is None:
        return 0.0
    model, basis = contrast.models[0], contrast.functional.basis
    totals = believed_totals(basis, (model,), belief, sample.items, _each_unit_once(sample))
    return np.asarray(totals[model].sum(axis=0))


def labels_by_class(sample: Sample, n_classes: int) -> Floats:
    """Return how many labels a stage has of each class, shape (k,), each unit counted once."""
    return np.asarray(np.bincount(sample.labels, _each_unit_once(sample), n_classes), dtype=np.float64)


def _each_unit_once(sample: Sample) -> Floats:
    return sample.of_rows(1.0 / sample.unit_sums(np.ones(len(sample.items))))


def _believed(basis: Basis, model: int, labelled: Sample, last: Sample, known: Known, belief: Belief | None) -> Floats:
    """Return the pool means as the belief has them, with labelled items counted as they are."""
    assert known.belief is not None
    key, own = (basis.name, model), last.items.weights
    rest = known.expected[key] - believed_totals(basis, (model,), known.belief, last.items, own)[model]
    found = rest + basis.totals(last.items, model, last.labels, own)
    if belief is None or (isinstance(belief, ClassBelief) and belief.counts):
        return np.asarray(found)
    weights = labelled.row_weights - labelled.items.weights
    before, after = (
        believed_totals(basis, (model,), one, labelled.items, weights)[model] for one in (known.belief, belief)
    )
    # Rows are predicted classes: how much of each is not labelled is known.
    size, told = (rest - known.outside.get(key, 0.0)).sum(axis=1), before.sum(axis=1)
    share = np.divide(size, told, out=np.zeros(len(told)), where=(told > 0) & (size > 0))
    return np.asarray(found + (after - before) * share[:, None])
