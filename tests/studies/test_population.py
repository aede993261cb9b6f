"""The population as the target where labels leave nothing open of the pool: then the pool's size is all there is."""

import numpy as np
import pytest
from scipy import stats

from sondage import Classifier, Pool, Regressor, compare, estimate_from, evaluate, select
from sondage.core.residuals import joint_degrees

SIZE = 400


@pytest.fixture(scope="module")
def classifiers():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, SIZE)
    right = {"a": 0.85, "b": 0.78, "c": 0.75}
    return {name: np.where(random.random(SIZE) < p, labels, 1 - labels) for name, p in right.items()}, labels


def pool_of(predictions):
    return Pool(models={name: Classifier(predictions=one) for name, one in predictions.items()})


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_a_difference_of_all_labels_is_that_of_a_paired_sample(classifiers, measure):
    predictions, labels = classifiers
    found = compare(pool_of(predictions), "a", "b", measure, labels=labels, budget=SIZE, target="population")
    assert found.estimate.exact
    assert found.interval().kind == "t"
    if measure == "accuracy":
        gap = (predictions["a"] == labels).astype(float) - (predictions["b"] == labels)
        expected = stats.ttest_1samp(gap, 0.0).confidence_interval()
        assert found.interval().width == pytest.approx(expected.high - expected.low, rel=0.02)
    assert found.interval().width < 4.2 * found.std_error  # as many degrees of freedom as labels, not one


def test_one_model_with_all_labels_is_a_sample(classifiers):
    predictions, labels = classifiers
    pool = Pool(predictions=predictions["a"])
    found = evaluate(pool, "accuracy", labels=labels, budget=SIZE, target="population")
    assert found.std_error == pytest.approx(np.std(predictions["a"] == labels) / SIZE**0.5, rel=0.01)
    assert found.interval().width == pytest.approx(3.92 * found.std_error, rel=0.03)


def test_gaps_of_a_selection_are_as_wide_as_those_of_pairs(classifiers):
    predictions, labels = classifiers
    found = select(pool_of(predictions), "accuracy", labels=labels, budget=SIZE, target="population")
    pairs = {name: found.comparisons[found.best, name] for name in found.ranking[1:]}
    assert found.n_labels < SIZE  # items on which all agree are not asked for
    for name, gap in found.gaps().items():
        expected = (predictions[name] == labels).astype(float) - (predictions[found.best] == labels)
        assert pairs[name].std_error == pytest.approx(np.std(expected) / SIZE**0.5, rel=0.02)
        assert 3.9 * pairs[name].std_error < gap.width < 5.2 * pairs[name].std_error


def test_the_pool_s_and_the_population_s_degrees_of_freedom_join():
    random = np.random.default_rng(1)
    p = random.random(5000)
    labels = (random.random(5000) < p).astype(int)
    pool, population = (
        evaluate(Pool(p), "brier", labels=labels, budget=60, target=target, method="passive", seed=3)
        for target in ("pool", "population")
    )
    drawn = population.std_error**2 - pool.std_error**2
    assert population.df == pytest.approx(joint_degrees([pool.std_error**2, drawn], [pool.df, 59.0]))
    assert min(pool.df, 59.0) <= population.df <= pool.df + 59.0


def test_labels_drawn_elsewhere_have_them_too():
    random = np.random.default_rng(2)
    predictions, labels = random.integers(0, 2, (2, 50))
    found = estimate_from(
        "accuracy", predictions=predictions, labels=labels, inclusion=np.ones(50), target="population"
    )
    assert found.exact
    assert found.df == pytest.approx(49.0)


@pytest.mark.parametrize("size", [1, 5])
def test_labels_that_all_agree_tell_nothing_of_a_population(size):
    pool = Pool(models={"a": Regressor(np.full(size, 2.0)), "b": Regressor(np.full(size, 4.0))})
    labels = np.full(size, 3.5)
    found = compare(pool, "a", "b", "mse", labels=labels, budget=size, target="population")
    assert (found.pvalue, found.better, found.significance.kind) == (1.0, None, "undefined")
    assert found.interval().width == np.inf
    assert compare(pool, "a", "b", "mse", labels=labels, budget=size).better == "b"


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_rows_that_share_a_label_are_one_item_of_a_population(classifiers, measure):
    predictions, labels = classifiers
    rows = np.repeat(np.arange(SIZE), 4)
    models = {name: Classifier(predictions=one[rows]) for name, one in predictions.items()}
    options = {"budget": SIZE, "target": "population"}
    several, sliced = Pool(models=models, groups=rows), {"model": "a", "slices": rows % 2}
    one = evaluate(pool_of(predictions), measure, labels=labels, model="a", **options)
    assert evaluate(several, measure, labels=labels[rows], model="a", **options).std_error == pytest.approx(
        one.std_error
    )
    parts = evaluate(pool_of(predictions), measure, labels=labels, **options | sliced | {"slices": np.arange(SIZE) % 2})
    whole = evaluate(several, measure, labels=labels[rows], **options | sliced).overall
    assert whole.std_error == pytest.approx(parts.overall.std_error)
    found = compare(several, "a", "b", measure, labels=labels[rows], **options)
    alone = compare(pool_of(predictions), "a", "b", measure, labels=labels, **options)
    assert found.std_error == pytest.approx(alone.std_error)
