"""Right and wrong predictions, supposed together, give the moments of all labels."""

import numpy as np
import pytest

from sondage.core.beliefs import ClassBelief
from sondage.core.comparisons import Influence, moments
from sondage.core.designs import MeanAbsolute, Range
from sondage.core.measures.bases import Confusion
from sondage.core.predictions import Classes, Items
from sondage.core.suppositions import right_or_wrong


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("alike", [True, False])
def test_moments_are_those_of_every_label(k, alike):
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.full(k, 0.05), 500)
    p[0] = np.eye(k)[1]
    predicted = rng.integers(0, k, 500)
    items = Items((Classes(predicted, p),), np.ones(500))
    table = rng.normal(size=(k, k))
    if alike:
        table[~np.eye(k, dtype=bool)] = np.repeat(rng.normal(size=k), k - 1)
    influence, belief = Influence(Confusion(k), ((0, table),), 0.3), ClassBelief(k, models=((0, 1.0),))
    assert (right_or_wrong(influence) is not None) is (alike or k == 2)
    psi = table[predicted] - 0.3
    mean, second = moments(influence, belief, items)
    np.testing.assert_allclose(mean, np.sum(p * psi, axis=1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(second, np.sum(p * psi**2, axis=1), rtol=1e-12, atol=1e-15)
    away = np.sum(p * np.abs(psi - mean[:, None]), axis=1)
    found = MeanAbsolute(influence=influence, belief=belief).relevance(items)
    np.testing.assert_allclose(found, away, rtol=1e-9, atol=1e-15)
    found = Range(influence=influence, belief=belief).relevance(items)
    np.testing.assert_allclose(found, np.ptp(psi, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"shift": 0.7, "slope": 0.6},
        {"shift": -3.0, "class_shifts": (1.0, -2.0, 0.5, 0.0), "class_slope": 1.4},
    ],
)
def test_the_predicted_class_is_as_probable_as_among_all(told):
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.full(4, 0.1), 300)
    p[:2] = np.eye(4)[:2]
    predicted = np.where(rng.random(300) < 0.7, p.argmax(axis=1), rng.integers(0, 4, 300))
    items, belief = Items((Classes(predicted, p),), np.ones(300)), ClassBelief(4, models=((0, 1.0),), **told)
    supposed = np.stack([weight for _, weight in belief.supposed(items, [0])])
    hit, miss = belief.right(items, predicted)
    np.testing.assert_allclose(hit, supposed[predicted, np.arange(300)], rtol=1e-13)
    np.testing.assert_allclose(hit + miss, 1.0, rtol=1e-13)
    supposed[predicted, np.arange(300)] = 0.0
    np.testing.assert_allclose(miss, supposed.sum(axis=0), rtol=1e-9, atol=1e-15)
