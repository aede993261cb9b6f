"""What chapter 4's experiments compute by themselves is what the package, or arithmetic, says."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.chapter4.costs import correlation, resorted, unit_costs
from experiments.chapter4.f_measures import f_eta
from experiments.chapter4.figure_4_11_12 import judged, student, wald, wilson
from experiments.chapter4.training import _spread
from experiments.problems import Problem, _thinned, enron_rank
from experiments.simulation import plan_of, targets_of
from sondage import Pool
from sondage.core.intervals import wilson_interval
from sondage.core.intervals.wald import wald_interval


def test_intervals_are_those_of_the_package():
    low, high = wilson(np.array([0.1]), np.array([0.0]), np.array([40.0]))
    assert (low[0], high[0]) == pytest.approx((wilson_interval(0.1, 40).low, wilson_interval(0.1, 40).high), rel=1e-12)
    low, high = wald(np.array([0.3]), np.array([0.02]), np.array([40.0]))
    assert (low[0], high[0]) == pytest.approx((wald_interval(0.3, 0.02).low, wald_interval(0.3, 0.02).high), rel=1e-12)


def test_student_is_the_textbook_interval_of_a_mean(rng):
    from scipy import stats

    losses = rng.normal(size=12)
    low, high = student(losses.mean(), losses.std() / np.sqrt(12), 12)
    expected = stats.ttest_1samp(losses, 0.0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_a_single_undefined_interval_leaves_no_coverage():
    low, high = np.array([[0.1, np.nan], [0.3, 0.1]]), np.array([[0.4, np.nan], [0.5, 0.4]])
    first, second = judged(low, high, 0.2)
    assert (first["coverage"], first["width"]) == pytest.approx((0.5, 0.25))
    assert second["undefined"] == 1
    assert np.isnan(second["coverage"])


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_f_eta_is_the_formula(eta, rng):
    p = rng.uniform(size=300)
    f, y = (p > 0.5).astype(int), (rng.uniform(size=300) < p).astype(int)
    pool = Pool(probabilities=p)
    (target,) = targets_of(pool, y, plan_of(pool, f_eta(eta), "passive"))
    tp = np.sum(f * y)
    assert target.truth() == pytest.approx(tp / (eta * f.sum() + (1 - eta) * y.sum()), rel=1e-9)


def test_costs_are_given_as_the_correlation_wants(rng):
    u, costs = rng.uniform(0.1, 1.0, 50), unit_costs(rng.uniform(1.0, 9.0, 50))
    positive, negative = (resorted(costs, u, kind) for kind in ("positive", "negative"))
    assert costs.mean() == pytest.approx(1.0)
    assert sorted(positive) == sorted(negative) == sorted(costs)
    assert np.array_equal(np.argsort(positive), np.argsort(-u))
    assert correlation(u, positive) > correlation(u, costs) > correlation(u, negative)


def test_mail_is_ordered_within_class_and_mailbox():
    meta = {"corpus": [1, 1, 1, 1, 2, 2], "label": [0, 0, 1, 1, 0, 1], "num": [7, 3, 1, 2, 5, 5]}
    assert enron_rank(meta).tolist() == [0.75, 0.25, 0.25, 0.75, 0.5, 0.5]


@pytest.mark.parametrize("spam", [0.05, 0.2, 0.9])
def test_spam_is_thinned_to_its_share(spam):
    label = np.repeat([0, 1], [600, 400])
    rows = _thinned(np.arange(1000), label, spam)
    assert label[rows].mean() == pytest.approx(spam, abs=2e-3)
    assert len(np.unique(rows)) == len(rows)


def test_every_head_has_both_classes():
    label = np.repeat([0, 1], [90, 30])
    order = _spread(label)
    assert sorted(order) == list(range(120))
    assert [int(label[order[:n]].sum()) for n in (8, 16, 40)] == [2, 4, 10]


def test_label_likelihood_is_the_geometric_mean():
    arrays = {"probabilities": np.array([0.9, 0.2]), "predictions": np.array([1, 0])}
    problem = Problem("two", arrays, np.array([1, 1]))
    assert problem.label_likelihood == pytest.approx(np.sqrt(0.9 * 0.2))
