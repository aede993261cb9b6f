"""Log loss and Brier score through the whole flow; their values and influences are in test_influence.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from sondage import Pool, evaluate
from sondage.core.measures import bases
from sondage.core.predictions import Classes, Items


@pytest.mark.parametrize(
    ("name", "reference"),
    [("brier", metrics.brier_score_loss), ("log_loss", metrics.log_loss)],
    ids=["brier", "log_loss"],
)
@pytest.mark.parametrize("method", ["default", "thesis"])
def test_estimates_from_few_labels(
    name: str, reference: Callable[..., Any], method: str, agrees: Callable[[int, int, float], bool]
) -> None:
    rng = np.random.default_rng(1)
    odds = rng.normal(0, 1, 3000)
    p, labels = 1 / (1 + np.exp(-1.3 * odds)), (rng.uniform(size=3000) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    pool, truth = Pool(p), reference(labels, p)
    assert evaluate(pool, name, labels=labels, budget=3000).value == pytest.approx(truth, rel=1e-12)
    found = [evaluate(pool, name, labels=labels, budget=250, seed=seed, method=method) for seed in range(40)]
    values = np.array([one.value for one in found])
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(40))
    assert agrees(sum(one.interval(0.95).low <= truth <= one.interval(0.95).high for one in found), 40, 0.95)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_of_many_classes_are_summed_once_for_all_labels(dtype, monkeypatch):
    """Each of a thousand classes may be the label: minutes else."""
    p = np.random.default_rng(3).dirichlet(np.ones(6), 40).astype(dtype)
    summed = []
    monkeypatch.setattr(bases, "_sums_of_squares", lambda told: summed.append(told) or np.sum(np.float64(told) ** 2, 1))
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(40))
    for label in range(6):
        found = bases.ClassLoss("brier").project(items, 0, label, np.ones(1))
        np.testing.assert_allclose(found, np.sum((p - np.eye(6)[label]) ** 2, axis=1), rtol=1e-5)
    assert len(summed) == 1
    assert summed[0] is p  # and not copied
