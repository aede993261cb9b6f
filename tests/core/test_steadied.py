"""Means over classes where a class has few labels: the belief counts as one label of each."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.metrics import balanced_accuracy_score, f1_score

from sondage import Classifier, Pool, compare, evaluate
from sondage.core.beliefs import ClassBelief
from sondage.core.comparisons import Contrast
from sondage.core.measures import parse_measure
from sondage.core.predictions import Classes, Items
from sondage.core.samples import Known, Sample, from_inclusion
from sondage.core.steadied import steadied

Floats = NDArray[np.float64]
TRUTHS = {
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f": lambda labels, predicted: f1_score(labels, predicted, average="macro"),
}


def long_tail(size: int = 4000, classes: int = 15, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    """Return probabilities and labels of classes whose shares fall as 1 over their rank to the power 1.3."""
    random = np.random.default_rng(seed)
    share = np.arange(1, classes + 1) ** -1.3
    share /= share.sum()
    labels = random.choice(classes, size, p=share)
    seen = random.normal(size=(size, classes))
    seen[np.arange(size), labels] += 2.2
    return softmax(2.2 * seen + np.log(share), axis=1), labels


def test_each_column_is_the_estimate_and_the_belief_in_proportion_to_labels_and_one() -> None:
    p, labels = long_tail(size=12, classes=3)
    drawn, rest = np.arange(0, 12, 3), np.delete(np.arange(12), np.arange(0, 12, 3))
    items = Items((Classes(p.argmax(axis=1), p),), np.full(12, 1 / 12))
    belief = ClassBelief(3, models=((0, 1.0),))
    predicted = np.eye(3)[p.argmax(axis=1)]
    expected = predicted.T @ p / 12
    functional = parse_measure("balanced_accuracy").ready(Pool(p).task)
    last = Sample(items.take(drawn), labels[drawn], from_inclusion(np.full(len(drawn), 1 / 3)))
    known = Known(1.0, belief, {(functional.basis.name, 0): expected}, {}, 1 / 12)

    estimated = np.random.default_rng(1).random((3, 3))
    found = steadied(Contrast(functional, ((0, 1.0),)), {0: estimated}, last, last, known)[0]

    sure = np.eye(3)[labels[drawn]]  # the labelled items as they are, the others as believed
    believed = (predicted[drawn].T @ sure + predicted[rest].T @ p[rest]) / 12
    counts = sure.sum(axis=0)
    np.testing.assert_allclose(found, (counts * estimated + believed) / (counts + 1), rtol=1e-9)


@pytest.mark.parametrize("measure", ["mcc", "kappa", "f1"])
def test_other_measures_are_as_they_were(measure: str) -> None:
    p, _ = long_tail(size=12, classes=2)
    items = Items((Classes(p.argmax(axis=1), p[:, 1]),), np.full(12, 1 / 12))
    functional = parse_measure(measure).ready(Pool(p[:, 1]).task)
    sample = Sample(items, np.zeros(12, dtype=int), from_inclusion(np.full(12, 0.5)))
    sums = {0: np.array([[0.5, 0.1], [0.1, 0.3]])}
    known = Known(1.0, ClassBelief(2, models=((0, 1.0),)), {(functional.basis.name, 0): np.full((2, 2), 0.25)}, {}, 0.1)
    assert steadied(Contrast(functional, ((0, 1.0),)), sums, sample, sample, known) == sums
    mean = Contrast(parse_measure("macro_f").ready(Pool(p[:, 1]).task), ((0, 1.0),))
    assert not np.array_equal(steadied(mean, sums, sample, sample, known)[0], sums[0])
    assert steadied(mean, sums, sample, sample, Known(1.0, None, {}, {}, 0.1)) == sums


@pytest.mark.parametrize("measure", TRUTHS)
@pytest.mark.parametrize("weights", [None, np.random.default_rng(2).random(500) + 0.5], ids=["equal", "unequal"])
def test_with_all_labels_nothing_is_believed(measure: str, weights: Floats | None) -> None:
    p, labels = long_tail(500)
    truth = {
        "balanced_accuracy": balanced_accuracy_score(labels, p.argmax(axis=1), sample_weight=weights),
        "macro_f": f1_score(labels, p.argmax(axis=1), average="macro", sample_weight=weights),
    }
    estimate = evaluate(Pool(p, weights=weights), measure, labels=labels, budget=500)
    assert estimate.value == pytest.approx(truth[measure], abs=1e-9)
    assert estimate.std_error == 0


@pytest.mark.parametrize("measure", TRUTHS)
@pytest.mark.parametrize("told", ["probabilities", "predictions"])
def test_rare_classes_are_neither_far_off_nor_unheld(measure: str, told: str) -> None:
    p, labels = long_tail()
    predicted = p.argmax(axis=1)
    pool = Pool(p) if told == "probabilities" else Pool(predictions=predicted, classes=list(range(15)))
    truth = TRUTHS[measure](labels, predicted)
    runs = {
        method: [evaluate(pool, measure, labels=labels, budget=150, seed=seed, method=method) for seed in range(30)]
        for method in ("default", "passive")
    }
    error = {method: np.mean([abs(run.value - truth) for run in found]) for method, found in runs.items()}
    assert error["default"] < (0.95 if told == "probabilities" else 1.4) * error["passive"]
    assert np.mean([truth in run.interval() for run in runs["default"]]) > 0.8
    assert max(run.std_error for run in runs["default"]) < 0.5  # was hundreds where a class's share came near 0


def test_the_difference_of_two_models_is_steadied_alike() -> None:
    p, labels = long_tail()
    other = softmax(0.5 * np.log(p) + np.random.default_rng(3).normal(size=p.shape), axis=1)
    pool = Pool(models={"a": Classifier(p), "b": Classifier(other)})
    truth = balanced_accuracy_score(labels, p.argmax(axis=1)) - balanced_accuracy_score(labels, other.argmax(axis=1))
    runs = [
        compare(pool, "a", "b", "balanced_accuracy", labels=labels, budget=150, seed=seed).estimate
        for seed in range(20)
    ]
    assert np.mean([truth in run.interval() for run in runs]) > 0.8
    assert max(run.std_error for run in runs) < 0.5
