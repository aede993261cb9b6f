"""Corrections learned from labels: against scikit-learn, finite differences, exact integrals, synthetic truth."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from sondage.core.learning import NONE, RANK, Correction, fit_events, fit_numbers, learn_events, learn_numbers


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, d))
    return design, rng.random(n) < expit(design @ np.linspace(-2.0, 2.0, d))


@pytest.mark.parametrize("shape", [(5, 2), (60, 4), (40, 80)])
def test_logistic_mode_is_scikit_learns(shape):
    linear_model = pytest.importorskip("sklearn.linear_model")
    design, events = data(*shape)
    expected = linear_model.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(design, events)
    found = fit_events(design, np.zeros(len(events)), events)
    np.testing.assert_allclose(found.coefficients, expected.coef_[0], atol=1e-4)


def test_logistic_mode_with_an_offset_has_gradient_zero():
    design, events = data(50, 3)
    offset = np.random.default_rng(1).normal(0, 5, size=50)
    offset[0] = 27.6 * (1 - 2 * events[0])  # believed impossible, and happened
    mode = fit_events(design, offset, events).coefficients

    def objective(w):
        return -stats.bernoulli.logpmf(events, expit(offset + design @ w)).sum() + 0.5 * w @ w

    for direction in np.eye(3):
        slope = (objective(mode + 1e-4 * direction) - objective(mode - 1e-4 * direction)) / 2e-4
        assert slope == pytest.approx(0.0, abs=2e-3)


def test_laplace_evidence_is_close_to_the_integral():
    design, events = data(40, 1)
    offset = np.full(40, 0.3)

    def likelihood(w):
        return np.exp(stats.bernoulli.logpmf(events, expit(offset + design[:, 0] * w)).sum() + stats.norm.logpdf(w))

    expected = np.log(integrate.quad(likelihood, -8, 8)[0])
    assert fit_events(design, offset, events).log_evidence == pytest.approx(expected, abs=0.1)


def test_linear_mean_is_scikit_learns_and_the_evidence_exact():
    linear_model = pytest.importorskip("sklearn.linear_model")
    design, _ = data(30, 4)
    residuals, variances = design @ [1.0, -1.0, 0.5, 0.0] + 0.1, np.linspace(0.5, 3.0, 30)
    found = fit_numbers(design, residuals, variances)
    ridge = linear_model.Ridge(alpha=1.0, fit_intercept=False).fit(design, residuals, sample_weight=1 / variances)
    np.testing.assert_allclose(found.coefficients, ridge.coef_, rtol=1e-9)
    covariance = design @ design.T + np.diag(variances)  # with the coefficients integrated out
    expected = stats.multivariate_normal.logpdf(residuals, np.zeros(30), covariance)
    assert found.log_evidence == pytest.approx(expected, rel=1e-10)


def test_informative_features_are_found_and_random_ones_left():
    rng = np.random.default_rng(3)
    features, beta = rng.normal(size=(300, 20)), np.zeros(20)
    beta[:2] = 2.0, -2.0
    events = rng.random(300) < expit(features @ beta)
    found = learn_events(np.zeros(300), events, np.zeros((300, 0)), features)
    np.testing.assert_allclose(found.features[:2], beta[:2], atol=0.7)
    assert np.abs(found.features[2:]).max() < 0.5
    noise = learn_events(np.zeros(300), rng.random(300) < 0.5, np.zeros((300, 0)), features)
    assert max(abs(noise.low), abs(noise.high)) < 1.0


@pytest.mark.parametrize("learn", [learn_events, learn_numbers])
def test_units_and_constants_of_features_do_not_matter(learn):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(100, 3))
    y = x[:, 0] > 0 if learn is learn_events else 3.0 * x[:, 0]
    other = np.column_stack([x * [1.0, 1e6, 1e-6] + [0.0, 1e7, 5.0], np.full(100, 7.0)])
    base = np.zeros(100) if learn is learn_events else y
    weights = () if learn is learn_events else (np.full(100, 9.0),)
    first, second = (learn(base, *(weights or (y,)), np.zeros((100, 0)), features) for features in (x, other))
    assert np.corrcoef(first.at([], x), second.at([], other))[0, 1] > 0.97


def test_a_better_source_is_followed_and_an_inverted_one_turned_round():
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 3, size=400)
    events = rng.random(400) < expit(truth)
    for sign in (1.0, -1.0):
        found = learn_events(np.zeros(400), events, sign * truth[:, None])
        assert sign * found.sources[0] == pytest.approx(1.0, abs=0.3)


def test_nothing_is_extrapolated():
    x = np.linspace(-1.0, 1.0, 50)[:, None]
    found = learn_events(np.zeros(50), x[:, 0] > 0, np.zeros((50, 0)), x)
    assert found.at([], np.array([[1e9], [-1e9]])).tolist() == [found.high, found.low]


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("features", [None, np.ones((2, 3)), np.eye(2)])
def test_few_labels_move_little(n, features):
    part = None if features is None else features[:n]
    found = learn_events(np.zeros(n), np.ones(n, dtype=bool), np.zeros((n, 1)), part)
    assert abs(found.low) + abs(found.high) < 1.5
    assert learn_numbers(np.zeros(n), np.ones(n), np.zeros((n, 0)), part) == NONE


def test_precision_is_kept_and_no_features_are_none():
    found = Correction(1.0, (), (2.0,), -10.0, 10.0)
    assert found.at([], np.array([[1.5]], dtype=np.float32)).tolist() == [4.0]
    assert Correction(1.0, (2.0,), (), -10.0, 10.0).at([np.array([3.0])], None).tolist() == [7.0]


def test_of_many_features_the_leading_directions_are_used():
    features = np.random.default_rng(6).normal(size=(300, 1000))
    found = learn_events(np.zeros(300), features[:, 0] > 0, np.zeros((300, 1)), features)
    assert len(found.features) == 1000 > RANK


def test_whether_anything_is_needed_is_told_by_evidence_alone():
    rng = np.random.default_rng(8)
    odds, source = rng.normal(size=(2, 60))
    events = rng.random(60) < expit(odds)
    block = np.column_stack([np.ones(60), source])
    evidence = [fit_events(scale * block, odds, events).log_evidence for scale in (0.3, 1.0)]
    plain = fit_events(np.zeros((60, 0)), odds, events).log_evidence
    expected = 0.5 * np.exp(plain) / (0.5 * np.exp(plain) + 0.25 * np.sum(np.exp(evidence)))
    assert learn_events(odds, events, source[:, None]).unneeded == pytest.approx(expected, rel=1e-8)


def test_what_helps_is_needed_and_what_does_not_is_hardly():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(300, 2))
    events = rng.random(300) < expit(2 * x[:, 0])
    assert learn_events(np.zeros(300), events, x[:, :1]).unneeded < 1e-6
    assert learn_events(2 * x[:, 0], events, x[:, 1:]).unneeded > 0.5
    assert learn_numbers(x[:, 0], np.ones(300), x[:, :1]).unneeded < 1e-6
