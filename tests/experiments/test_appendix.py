"""Appendix A.2: one class against the rest."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

from sklearn import metrics

from experiments.appendix import one_against_rest
from experiments.appendix.one_against_rest import _estimates, of_class
from experiments.problems import Problem


@pytest.fixture
def three_classes(rng):
    p = rng.dirichlet([1.0, 1.0, 1.0], 600)
    labels = np.array([rng.choice(3, p=row) for row in p])
    return Problem("three", {"probabilities": p, "predictions": p.argmax(axis=1)}, labels)


def test_quality_is_scikit_learns(three_classes):
    task = of_class(three_classes, 2, "third")
    f, y = three_classes.arrays["predictions"] == 2, three_classes.labels == 2
    expected = {
        "ratio": y.mean(),
        "accuracy": metrics.accuracy_score(y, f),
        "precision": metrics.precision_score(y, f),
        "recall": metrics.recall_score(y, f),
        "F": metrics.f1_score(y, f),
    }
    assert task.quality == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", one_against_rest.METHODS)
def test_estimates_are_of_the_quality(three_classes, rng, monkeypatch, method):
    monkeypatch.setattr(one_against_rest, "BUDGETS", (150, 400))
    task = of_class(three_classes, 1, "second")
    for measures in [(name,) for name in one_against_rest.MEASURES]:
        found = _estimates(task, method, measures, 400, rng)[:, :, 0]
        truth = task.quality[measures[0]]
        assert np.all(np.abs(found.mean(axis=0) - truth) < 5 * found.std(axis=0) / 20 + 0.01)
        assert found[:, 1].std() < found[:, 0].std()


def test_precision_is_exact_once_all_predicted_are_labelled(three_classes, rng, monkeypatch):
    task = of_class(three_classes, 0, "first")
    most = int(task.predictions.sum())
    monkeypatch.setattr(one_against_rest, "BUDGETS", (most - 50, most, most + 50))
    found = _estimates(task, "active", ("precision",), 20, rng)[:, :, 0]
    assert found[:, 0].std() > 0
    assert np.all(found[:, 1:] == task.quality["precision"])
