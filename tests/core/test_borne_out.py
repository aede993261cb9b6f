"""Numbers, and wrong classes of several prices: what labels bear out of the variance that a belief expects."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from sondage import Classifier, Pool, Ranking, compare, evaluate
from sondage.core.surprises import Linearised, borne_out

SIZE = 3000


def share_of(estimate):
    evidence = estimate.evidence
    return borne_out(Linearised(evidence.contrast, evidence.sample, evidence.fit.sums), evidence.estimation.belief)


def biased():
    random = np.random.default_rng(5)
    x = random.normal(size=SIZE)
    return x + 1.0 + 0.5 * (x > 1), x + 0.5 * random.normal(size=SIZE)


def ordinal():
    random = np.random.default_rng(6)
    graded = random.normal(2.0, 1.2, SIZE)
    labels = np.clip(np.round(graded), 0, 4).astype(int)
    p = np.exp(-0.5 * (np.arange(5) - (graded + random.normal(0.0, 0.9, SIZE))[:, None]) ** 2 / 0.6)
    return p / p.sum(axis=1, keepdims=True), labels


def test_the_share_of_numbers_by_hand():
    # Labels are 3 above their means to within 1, and the variance that they are told to have about these is 10.
    labels = np.tile([2.0, 4.0], SIZE // 2)
    found = evaluate(Pool(means=np.zeros(SIZE), variances=np.full(SIZE, 10.0)), "bias", labels, 400, method="passive")
    belief, told = found.evidence.estimation.belief, found.evidence.sample.labels
    variance = np.exp(belief.shift) * 10.0**belief.slope
    largest = hermegauss(5)[0].max() ** 2  # what moves the bias most of the five labels that stand for the Gaussian
    seen = np.sum((told - told.mean()) ** 2) / (largest * variance)
    assert share_of(found) == pytest.approx((1.0 + seen) / (1.0 + 400 / largest))


def held_and_error(pool, measure, labels):
    """Return how often intervals from 200 labels hold, and the mean standard error over the root mean square error."""
    truth = evaluate(pool, measure, labels, SIZE).value
    runs = [evaluate(pool, measure, labels, 200, seed) for seed in range(20)]
    errors = np.array([run.value for run in runs]) - truth
    told = np.mean([run.std_error for run in runs])
    return np.mean([truth in run.interval() for run in runs]), told / np.sqrt(np.mean(errors**2))


@pytest.mark.parametrize("measure", ["bias", "mse", "mae"])
def test_a_bias_that_all_share_is_no_spread(measure):
    means, labels = biased()
    held, error = held_and_error(Pool(means=means, variances=np.full(SIZE, 0.25)), measure, labels)
    assert held > 0.85
    assert error < 1.5


@pytest.mark.parametrize(("power", "most"), [(1, 1.4), (2, 2.3)])
def test_wrong_labels_that_cost_more_and_do_not_occur_have_no_variance(power, most):
    p, labels = ordinal()
    costs = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** power
    measure = "expected_cost:costs=" + "/".join(map(str, costs.ravel()))
    held, error = held_and_error(Pool(probabilities=p), measure, labels)
    assert held > 0.85
    assert error < most


def test_costs_that_are_all_alike_are_the_error_rate():
    p, labels = ordinal()
    alike = "expected_cost:costs=" + "/".join(map(str, (1 - np.eye(5, dtype=int)).ravel()))
    pool = Pool(models={"m": Classifier(probabilities=p)})
    found = [evaluate(pool, measure, labels, 200, model="m").std_error for measure in ("error_rate", alike)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_a_grade_model_that_is_off_in_shape_does_not_widen_a_difference_of_rankings():
    random = np.random.default_rng(1)
    queries, limits = [f"q{number}" for number in range(600)], np.array([0.5, 1.5, 2.3])
    relevance = random.normal(size=(600, 6)) + random.normal(0.0, 0.7, (600, 1))
    lists = [np.argsort(random.normal(0.0, error, relevance.shape) - relevance).tolist() for error in (1.0, 1.3)]
    above = 1 / (1 + np.exp(-4.0 * (relevance[..., None] - limits + random.normal(0.0, 0.5, (600, 6, 3)))))
    above = np.pad(np.minimum.accumulate(above, axis=-1), [(0, 0), (0, 0), (1, 1)])
    above[..., 0] = 1.0
    p = 1e-6 - np.diff(above)
    p /= p.sum(axis=-1, keepdims=True)
    grades = {query: dict(enumerate(own)) for query, own in zip(queries, p, strict=True)}
    labels = {
        q: dict(enumerate(own)) for q, own in zip(queries, np.searchsorted(limits, relevance).tolist(), strict=True)
    }
    models = {name: Ranking(documents) for name, documents in zip("ab", lists, strict=True)}
    pool = Pool(models=models, classes=[0, 1, 2, 3], ids=queries, grades=grades)
    truth = compare(pool, "a", "b", "dcg@5", labels=labels, budget=600).difference
    runs = [compare(pool, "a", "b", "dcg@5", labels=labels, budget=150, seed=seed).estimate for seed in range(40)]
    assert np.mean([truth in run.interval() for run in runs]) > 0.9
    assert np.mean([run.std_error for run in runs]) < 1.35 * np.std([run.value for run in runs])  # 1.7 with all of it
