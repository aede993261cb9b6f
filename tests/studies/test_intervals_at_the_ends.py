"""Intervals of proportions that the labels put at 0 or 1: only labels in the denominator count."""

import numpy as np
import pytest
from scipy import stats

import sondage
from sondage.core.intervals import wilson_interval

from .noting import noting


@pytest.mark.parametrize("found", [True, False])
def test_recall_of_nought_or_one_counts_the_positives_only(found: bool) -> None:
    # 30 of 60 items are labelled, equally drawn; the model finds all positives, or none of them.
    labels = (np.arange(60) % 6 == 0).astype(int)
    predictions = labels if found else (np.arange(60) % 6 == 1).astype(int)
    pool, (label, asked) = sondage.Pool(predictions=predictions), noting(labels)
    estimate = sondage.evaluate(pool, "recall", labels=label, budget=30, method="passive")
    positives = int(labels[asked].sum())
    assert 0 < positives < 10
    assert estimate.value == float(found)
    shrink = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, estimate.df)) ** 2
    wanted = wilson_interval(estimate.value, shrink * positives)
    assert (estimate.interval(0.95).low, estimate.interval(0.95).high) == pytest.approx((wanted.low, wanted.high))
    # Fieller's: |t - value| (b^2 - z^2 V_b)^(1/2) = z b se, since the labels show no spread of a - value b.
    z, share = stats.norm.ppf(0.975), positives / 30
    off = z * share * estimate.std_error / np.sqrt(share**2 - z**2 * share * (1 - share) / 60)
    ends = estimate.interval(0.95, "fieller")
    assert (ends.low, ends.high) == pytest.approx((1 - off, 1) if found else (0, off), rel=1e-9)


@pytest.mark.parametrize("measure", ["error_rate", "f1", "mcc"])
def test_labels_that_agree_are_alike_however_they_are_drawn_again(measure: str) -> None:
    labels = (np.arange(60) % 3 == 0).astype(int)
    pool = sondage.Pool(predictions=labels)
    estimate = sondage.evaluate(pool, measure, labels=labels, budget=30, method="passive", interval="bootstrap")
    found, student = estimate.interval(0.95), estimate.interval(0.95, "t")
    assert (found.low, found.high, found.kind) == (student.low, student.high, "bootstrap")
    assert found.width > 0
