"""Calibration of beliefs, and the variance that a belief expects."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sondage.core.beliefs import ClassBelief, GaussianBelief
from sondage.core.calibration import calibrate_events, calibrate_variances
from sondage.core.comparisons import Contrast
from sondage.core.measures import Task, parse_measure
from sondage.core.predictions import Classes, Items, Means
from sondage.core.samples import Sample, from_inclusion
from sondage.core.variances import BelievedVariance, averaged_variance, believed_variance


@pytest.mark.parametrize(("shift", "slope"), [(0.0, 1.0), (-2.0, 1.0), (0.0, 0.4), (1.0, 2.0)])
def test_calibration_finds_shift_and_slope(shift: float, slope: float, rng: np.random.Generator) -> None:
    logits = 2.0 * rng.normal(size=20_000)
    found = calibrate_events(logits, rng.random(20_000) < expit(shift + slope * logits))
    assert (found.shift, found.slope) == pytest.approx((shift, slope), abs=0.15)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_calibration_of_variances_knows_no_units(unit: float, rng: np.random.Generator) -> None:
    variances = np.exp(rng.normal(size=5_000))
    squares = 3.0 * variances**0.5 * rng.normal(size=5_000) ** 2
    found = calibrate_variances(unit * variances, unit * squares)
    assert np.exp(found.shift) * (unit * 2.0) ** found.slope == pytest.approx(unit * 3.0 * 2.0**0.5, rel=0.1)


def test_calibrated_classes_sum_to_one_and_keep_proportions() -> None:
    p = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    items = Items((Classes(p.argmax(axis=1), p),), np.full(3, 1 / 3))
    columns = np.stack([w for _, w in ClassBelief(3, models=((0, 1.0),), shift=-1.0, slope=0.5).supposed(items, (0,))])
    assert columns.sum(axis=0) == pytest.approx(np.ones(3))
    assert columns[0, 0] == pytest.approx(expit(-1.0 + 0.5 * logit(0.7)))
    assert columns[1, 0] / columns[2, 0] == pytest.approx(2.0)


def test_labels_move_the_belief_towards_them() -> None:
    items = Items((Classes(np.zeros(60, dtype=int), np.full(60, 0.3)),), np.full(60, 1 / 60))
    moved = ClassBelief(2, models=((0, 1.0),)).calibrated(items, np.zeros(60, dtype=int))
    assert moved.probability(items, 1)[0] == pytest.approx(0.3)  # before calibration
    assert next(iter(moved.supposed(items, (0,))))[1][0] > 0.9
    real = Items((Means(np.zeros(50), np.ones(50)),), np.full(50, 1 / 50))
    wide = GaussianBelief(((0, 1.0),)).calibrated(real, np.resize([3.0, -3.0], 50))
    assert np.exp(wide.shift) > 4


def test_believed_variance_is_that_of_labels_drawn_from_the_belief(rng: np.random.Generator) -> None:
    p, b, pi = np.array([0.1, 0.5, 0.8]), np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.5, 0.9])
    items = Items((Classes(np.array([0, 1, 1]), p),), b)
    contrast = Contrast(parse_measure("error_rate").ready(Task("classification", (0, 1))), ((0, 1.0),))
    sample = Sample(items, np.array([0, 1, 1]), from_inclusion(pi))
    found = believed_variance(contrast, sample, {0: np.full((2, 2), 0.25)}, ClassBelief(2, models=((0, 1.0),)))
    k, v = (1 - pi) / pi**2, p * (1 - p)  # the influence is an indicator less a constant
    assert found.variance == pytest.approx(np.sum(k * b**2 * v), rel=1e-12)
    squares = (k * b**2 * ((rng.random((200_000, 3)) < p) - p) ** 2).sum(axis=1)
    assert min(2 * squares.mean() ** 2 / squares.var(), 2.0) == pytest.approx(found.df, rel=0.05)


def test_the_larger_sampled_variance_stands() -> None:
    assert averaged_variance(2.0, 7.0, BelievedVariance(1.0, 3.0)) == (2.0, 7.0)
    assert averaged_variance(1.0, 7.0, BelievedVariance(4.0, 9.0)) == (21.0 / 12.0, 12.0)
