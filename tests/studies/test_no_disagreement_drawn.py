"""Comparisons whose labels say nothing of the difference: undecided, never an error."""

import numpy as np
import pytest
from scipy.special import stdtrit

import sondage


def test_a_sample_without_a_disagreement_leaves_the_models_undecided() -> None:
    # The models differ on one item of 1000, which five equal draws miss; they say nothing but classes.
    first = np.zeros(1000, dtype=int)
    second = np.where(np.arange(1000) == 0, 1, 0)
    models = {"a": sondage.Classifier(predictions=first), "b": sondage.Classifier(predictions=second)}
    pool = sondage.Pool(models=models)
    found = sondage.compare(pool, "a", "b", labels=first, budget=5, method="passive")
    assert (found.difference, found.pvalue, found.better) == (0.0, 1.0, None)
    interval = found.interval(0.95)  # two standard errors are 4 / (n + 4) of the items that are not labelled
    assert interval.low == -interval.high
    assert interval.high == pytest.approx(stdtrit(4, 0.975) * 2 / (5 + 4) * 995 / 1000)
