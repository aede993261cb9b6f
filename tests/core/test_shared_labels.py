"""What is believed of a label that several rows share: their log odds together, as far as labels bear it out."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sondage import Pool, evaluate
from sondage.core.predictions import Classes, Items, Means
from sondage.core.samples import Sample, from_inclusion

UNITS = np.array([0, 0, 1, 1, 1, 2])


def sample_of(probabilities, judge=None):
    items = Items(
        (Classes(np.array([1, 0, 0, 1, 1, 0]), probabilities),),
        np.full(6, 0.1),
        judges=() if judge is None else (judge,),
    )
    return Sample(items, np.array([1, 1, 0, 0, 0, 1]), from_inclusion(np.full(3, 0.5)), UNITS)


def test_two_classes_have_the_mean_of_their_rows_log_odds():
    p = np.array([0.9, 0.6, 0.2, 0.3, 0.5, 0.4])
    pooled = sample_of(p, judge=p[::-1].copy()).unit_items
    expected = expit([np.mean(logit(p[unit == UNITS])) for unit in range(3)])
    assert pooled.models[0].probabilities == pytest.approx(expected)
    assert pooled.models[0].predictions.tolist() == [1, 0, 0]  # of the first rows
    assert pooled.judges[0] == pytest.approx(expit([np.mean(logit(p[::-1][unit == UNITS])) for unit in range(3)]))


def test_several_classes_have_the_geometric_mean_over_its_sum():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    pooled = sample_of(p).unit_items.models[0].probabilities
    for unit in range(3):
        mean = np.prod(p[unit == UNITS], axis=0) ** (1 / np.sum(unit == UNITS))
        assert pooled[unit] == pytest.approx(mean / mean.sum())


def test_rows_that_say_the_same_and_numbers_stay_as_they_are():
    p = np.array([0.9, 0.2, 0.4])[UNITS]
    assert sample_of(p).unit_items.models[0].probabilities == pytest.approx([0.9, 0.2, 0.4])
    assert sample_of(None).unit_items.models[0].probabilities is None
    numbers = Items((Means(np.arange(6.0), None),), np.full(6, 0.1))
    sample = Sample(numbers, np.zeros(6), from_inclusion(np.full(3, 0.5)), UNITS)
    assert sample.unit_items.models[0].means.tolist() == [0.0, 2.0, 5.0]
    alone = Sample(numbers, np.zeros(6), from_inclusion(np.full(6, 0.5)))
    assert alone.unit_items is numbers


@pytest.mark.parametrize("measure", ["error_rate", "f1", "auc"])
@pytest.mark.parametrize("copies", [False, True])
def test_the_standard_error_is_the_spread_of_the_estimates(measure, copies):
    random = np.random.default_rng(1)
    group = np.repeat(np.arange(600), 4)
    positive = random.random(600) < 0.25
    noise = random.normal(0, 1.5, 600)[group] if copies else random.normal(0, 1.5, 2400)
    pool = Pool(expit(1.3 * (np.where(positive, 1.5, -1.5)[group] + noise)), groups=group)
    labels = positive[group].astype(int)
    truth = evaluate(pool, measure, labels=labels, budget=600).value
    runs = [evaluate(pool, measure, labels=labels, budget=120, seed=seed) for seed in range(60)]
    spread = np.std([run.value for run in runs])
    assert 0.75 * spread < np.mean([run.std_error for run in runs]) < 1.4 * spread
    assert np.mean([truth in run.interval() for run in runs]) > 0.88
