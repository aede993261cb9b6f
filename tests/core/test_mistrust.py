"""How far labels speak against a model that is sure: for lapses, and for log odds that are too large."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp

from sondage.core.beliefs import ClassBelief, LearnedClassBelief
from sondage.core.calibration import LAPSES, PRIOR, lapse_probability
from sondage.core.learning import Correction
from sondage.core.predictions import Classes, Items

DOUBT = 0.02


def by_sampling(odds, events, k):
    """The same by calibrations drawn from the prior, over which the likelihood is averaged."""
    random, joint = np.random.default_rng(0), []
    for (share, of_shift, of_slope), without in zip(PRIOR, LAPSES.none, strict=True):
        shift, slope = random.normal(0, of_shift, 20_000), np.exp(random.normal(0, of_slope, 20_000))
        moved = shift[:, None] + slope[:, None] * odds
        right = np.exp(log_expit(np.where(events, moved, -moved)))
        chance = np.where(events, 1 / k, 1 - 1 / k)
        shares = np.array([0.0, *(rate * DOUBT / (1 - 1 / k) for rate in LAPSES.rates)])
        prior = np.array([without, *[(1 - without) / len(LAPSES.rates)] * len(LAPSES.rates)])
        with np.errstate(divide="ignore"):
            tables = [np.log((1 - lapse) * right + lapse * chance).sum(axis=1) for lapse in shares]
        joint.append(np.log(share * prior) + logsumexp(tables, axis=1))
    return 1 - np.exp(logsumexp([row[0] for row in joint]) - logsumexp(joint))


@pytest.mark.parametrize("wrong", [0, 1, 2, 4])
@pytest.mark.parametrize("k", [2, 10])
def test_the_probability_of_lapses_is_that_of_calibrations_drawn_from_the_prior(wrong, k):
    random = np.random.default_rng(5)
    odds = np.round(np.concatenate([random.normal(0, 2, 60), np.full(40, 6.0)]), 1)
    events = random.random(100) < expit(odds)
    events[60:] = np.arange(40) >= wrong
    found = lapse_probability(odds, events, DOUBT, chance=1 / k)
    assert found == pytest.approx(by_sampling(odds, events, k), abs=0.02)
    assert (found > 0.5) == (wrong > 1)


def told(odds, labels, **more):
    """A belief in one model, calibrated, and the rows and labels that it is calibrated on."""
    items = Items((Classes((odds > 0).astype(int), expit(odds)),), np.full(len(odds), 1 / len(odds)))
    belief = ClassBelief(2, models=((0, 1.0),), **more).calibrated(items, labels)
    return belief, items, labels


def test_a_model_that_is_much_too_sure_is_mistrusted_without_lapses():
    random = np.random.default_rng(6)
    odds = random.normal(0, 8, 400)
    for factor, least, most in ((1.0, 0.0, 0.05), (0.12, 0.9, 1.0)):
        belief, *rows = told(odds, (random.random(400) < expit(factor * odds)).astype(int))
        assert least <= belief.mistrust(*rows, DOUBT) <= most
        slope = replace(belief, slope=0.5)  # half of the way from .7 to .3
        assert slope.mistrust(*rows, DOUBT) == pytest.approx(max(0.5, lapses(belief, rows)))


def lapses(belief, rows):
    """Of the same labels what speaks for lapses alone."""
    return replace(belief, slope=1.0).mistrust(*rows, DOUBT)


def test_nobody_else_is_mistrusted():
    odds = np.random.default_rng(7).normal(0, 8, 200)
    labels = (np.random.default_rng(8).random(200) < 0.5).astype(int)
    belief, *rows = told(odds, labels)
    assert belief.mistrust(*rows, DOUBT) == 1
    for other in (replace(belief, judge=0.5), replace(belief, uniform=0.1), replace(belief, models=())):
        assert other.mistrust(*rows, DOUBT) == 0
    learned = LearnedClassBelief(2, models=((0, 1.0),), slope=belief.slope)
    assert learned.mistrust(*rows, DOUBT) == 1
    assert replace(learned, source_models=(0,)).mistrust(*rows, DOUBT) == 0
    assert replace(learned, correction=Correction(unneeded=0.25)).mistrust(*rows, DOUBT) == 0.25


def test_without_labels_nothing_speaks_against_it():
    _, items, labels = told(np.zeros(3), np.zeros(3, dtype=int))
    start = ClassBelief(2, models=((0, 1.0),))
    none = np.zeros(0, dtype=np.int64)
    assert start.mistrust(items.take(none), labels[none], DOUBT) == 0
