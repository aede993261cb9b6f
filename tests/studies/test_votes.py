"""Of ten neighbours none is positive: that is not to be certain."""

from dataclasses import replace

import numpy as np
import pytest

from sondage import Pool, Study, evaluate

SEEDS = 40


@pytest.fixture(scope="module")
def neighbours():
    """Return votes of ten, and labels: 4,000 items, of which most positives have no vote."""
    random = np.random.default_rng(4)
    chance = np.where(random.random(4000) < 0.95, 0.01, random.beta(1, 1, 4000))
    return random.binomial(10, chance) / 10, (random.random(4000) < chance).astype(int)


def simulated(votes, labels, **parts):
    """Return the mean absolute error of the error rate, and how often the interval by its standard error holds."""
    truth = np.mean((votes > 0.5) != labels)
    runs = [evaluate(Pool(votes), "error_rate", labels, 300, seed, **parts) for seed in range(SEEDS)]
    found = [replace(one, plausible=None) for one in runs]
    held = [one.interval().low <= truth <= one.interval().high for one in found]
    return np.mean([abs(one.value - truth) for one in found]), np.mean(held)


def test_intervals_hold_where_votes_are_few(neighbours):
    error, held = simulated(*neighbours)
    as_told, held_as_told = simulated(*neighbours, belief="model")
    assert held >= 0.9
    assert held_as_told < 0.8
    assert error < as_told


def test_a_study_keeps_its_doubts(neighbours, tmp_path):
    votes, labels = neighbours
    pool = Pool(votes)
    study = Study.create(tmp_path / "votes.db", pool, "error_rate", budget=60)
    while ids := study.ask(20):
        study.tell(ids, [int(labels[name]) for name in ids])
    again = Study.open(tmp_path / "votes.db", pool=pool)
    assert again.estimate().value == study.estimate().value == evaluate(pool, "error_rate", labels, 60).value
    assert [stage.known.belief.doubts for stage in again.snapshot().stages] == [(pytest.approx(1 / 11),)] * 3
