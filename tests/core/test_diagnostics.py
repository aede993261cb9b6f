"""What a labelled sample says of itself, against other ways to the same numbers."""

import numpy as np
import pytest
from scipy.stats import binom

from sondage import Classifier, Outcome, Pool, Regressor, compare, estimate_from, evaluate
from sondage.core.beliefs import ClassBelief
from sondage.core.diagnostics import believed_before, contributions, uniform_labels, unit_count
from sondage.core.domains import domain_estimate
from sondage.core.reliability import contradicted, log_chance, reliability
from sondage.errors import InputError
from sondage.studies.responses import labelled


def passive_sample(rng, size=2000, n=150):
    f, y = rng.integers(0, 2, size), rng.integers(0, 2, size)
    drawn = rng.permutation(size)[:n]
    found = estimate_from(
        "error_rate", predictions=f[drawn], labels=y[drawn], inclusion=np.full(n, n / size), pool_size=size
    )
    return found, f[drawn], y[drawn]


def test_a_uniform_sample_needs_itself(rng):
    # Its variance is (1/n - 1/N) s^2 with the sample's s^2 to the letter, so solving for n must give n back.
    found, _, _ = passive_sample(rng)
    assert unit_count(found.evidence.sample) == pytest.approx(2000, rel=1e-12)
    assert uniform_labels(found) == pytest.approx(150, rel=1e-12)


def test_uniform_labels_are_those_of_the_pools_own_variance(rng):
    # With all labels of the pool known, (1/n - 1/N) S^2 = se^2 gives n; the sample's estimate of it must be near.
    p = rng.beta(0.4, 1.2, 4000)
    y = (rng.random(4000) < p).astype(int)
    pool = Pool(probabilities=p)
    found = [evaluate(pool, "error_rate", labels=y, budget=400, seed=seed, interval="t") for seed in range(20)]
    square = np.var((p > 0.5) != y, ddof=1)
    ratios = [uniform_labels(one) / (1 / (one.std_error**2 / square + 1 / 4000)) for one in found]
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)
    assert np.mean([uniform_labels(one) for one in found]) > 1.2 * 400


def test_uniform_labels_with_unequal_weights_and_groups(rng):
    # One unit stands for its group's rows: the variance is over groups, of the sums of weighted influence.
    size, groups = 600, np.repeat(np.arange(200), 3)
    weights, p = rng.random(size) + 0.2, rng.random(size)
    y = (rng.random(200) < 0.5).astype(int)[groups]
    pool = Pool(probabilities=p, weights=weights, groups=groups)
    found = evaluate(pool, "error_rate", labels=y, budget=100, method="passive", interval="t", seed=1)
    assert unit_count(found.evidence.sample) == pytest.approx(200, rel=0.06)
    assert uniform_labels(found) == pytest.approx(100, rel=0.06)


def test_an_exact_result_needs_the_pool():
    found = evaluate(Pool(probabilities=[0.1, 0.9, 0.4, 0.7]), labels=[0, 1, 0, 0], budget=4)
    assert uniform_labels(found) == 4


def test_without_a_standard_error_nothing_is_said():
    found = estimate_from("recall", predictions=[0, 0], labels=[0, 0], inclusion=[0.5, 0.5])
    assert np.isnan(uniform_labels(found))


def test_a_contribution_is_what_leaving_the_label_out_changes(rng):
    # For the weighted mean the change is w e / (1 - w / sum w), exactly.
    f, y, pi = rng.integers(0, 2, 30), rng.integers(0, 2, 30), rng.uniform(0.1, 0.9, 30)
    found = estimate_from("error_rate", predictions=f, labels=y, inclusion=pi)
    moved, shares = contributions(found.evidence), (1 / pi) / np.sum(1 / pi)
    for unit in range(30):
        rest = np.arange(30) != unit
        without = estimate_from("error_rate", predictions=f[rest], labels=y[rest], inclusion=pi[rest])
        assert found.value - without.value == pytest.approx(moved[unit] / (1 - shares[unit]), rel=1e-9, abs=1e-12)


def test_contributions_of_stages_tell_what_another_label_would_change(rng):
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    found = evaluate(Pool(probabilities=p), "error_rate", labels=y, budget=100, estimator="hajek", seed=2)
    evidence, session, moved = found.evidence, found.course.session, contributions(found.evidence)
    ends = np.cumsum([stage.sample.size for stage in evidence.estimation.stages])
    for unit in (3, 40, 90):  # one of each stage
        stage = int(np.searchsorted(ends, unit, side="right"))
        rows = np.arange(ends[stage] - evidence.estimation.stages[stage].sample.size, ends[stage])
        weights = np.asarray(evidence.estimation.stages[stage].sample.row_weights)
        deviation = evidence.fit.influence[unit] - np.average(evidence.fit.influence[rows], weights=weights)
        other, position = session.copied(), session.asked[unit]
        was_wrong = (p[session.ids[position]] > 0.5) != session.answers[position]
        other.answers[position] = 1 - session.answers[position]
        # The same shares of the stages, so that the change is the label's alone; the error rate moves by 1 times that.
        again = labelled(other).estimation.fit(evidence.contrast, evidence.fit.shares)
        step = -1.0 if was_wrong else 1.0
        assert again.value - evidence.fit.value == pytest.approx(step * moved[unit] / deviation, rel=1e-9)


def test_contributions_of_stages_that_are_not_normalised(rng):
    # Each unit's own deviation, times a_k w_u and the shares of all later stages (docs/statistics.md, section 16).
    p = rng.random(500)
    y = (rng.random(500) < p**3).astype(int)
    evidence = evaluate(Pool(probabilities=p), "error_rate", labels=y, budget=100, seed=2).evidence
    fit, stages = evidence.fit, evidence.estimation.stages
    assert fit.stages[0].centre.scale == 1.0
    assert not np.isclose(np.sum(stages[0].sample.row_weights), stages[0].known.share, rtol=0.01)
    expected = (fit.shares[0] * stages[0].sample.expansion.weights + fit.shares[1:].sum()) * fit.stages[0].residuals
    assert contributions(evidence)[: stages[0].sample.size] == pytest.approx(expected, rel=1e-12)


def test_what_was_believed_before_is_the_intrinsic_value(rng):
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    found = evaluate(Pool(probabilities=p), "error_rate", labels=y, budget=50)
    assert believed_before(found) == pytest.approx(np.mean(np.minimum(p, 1 - p)), rel=1e-9)
    assert np.isnan(believed_before(estimate_from("error_rate", predictions=[0], labels=[0], inclusion=[0.5])))


@pytest.mark.parametrize("belief", [None, "broad"])
def test_limits_of_variances_tell_nothing_before_labels(belief, rng):
    means = rng.normal(size=300)
    found = evaluate(Pool(means=means), "mse", labels=means + rng.normal(size=300), budget=50, belief=belief)
    assert np.isnan(believed_before(found))


def test_reliability_of_groups_is_that_of_all_their_rows(rng):
    groups = np.concatenate([np.repeat(np.arange(10), 10), np.arange(10, 110)])  # ten of ten rows, a hundred of one
    y, p = (groups < 10).astype(int), rng.uniform(0.2, 0.8, len(groups))
    pool = Pool(probabilities=p, groups=groups)
    found = evaluate(pool, "error_rate", labels=y, budget=110)
    assert reliability(found.evidence, pool.task).overall.observed == pytest.approx(0.5, rel=1e-12)


def test_no_number_of_uniform_labels_follows_from_labels_that_do_not_differ():
    means = np.linspace(0.1, 0.9, 30)
    found = evaluate(Pool(means=means, variances=np.full(30, 0.04)), "mae", labels=means + 0.1, budget=8)
    assert found.std_error > 0
    assert np.isnan(uniform_labels(found))


def test_a_part_reckons_with_what_the_whole_does_of_a_measure_with_kinks(rng):
    p = rng.beta(0.5, 2.0, 400)
    y, part = (rng.random(400) < p).astype(int), rng.random(60) < 0.5
    for seed in range(3):
        found = evaluate(Pool(probabilities=p), "ece", labels=y, budget=60, seed=seed)
        of_part = domain_estimate(found, part)
        assert np.all(of_part.value + of_part.plausible.means >= 0)


def test_reliability_is_the_weighted_mean_of_each_bin(rng):
    p = rng.random(1000)
    y = (rng.random(1000) < p**4).astype(int)  # too sure of the second class
    pool = Pool(probabilities=p)
    found = evaluate(pool, "error_rate", labels=y, budget=300, method="passive")
    told = reliability(found.evidence, pool.task)
    assert sum(one.n_labels for one in told.bins) == 300
    assert told.event == "the label is 1"
    sample = found.evidence.sample
    believed = sample.items.models[0].probabilities
    assert told.overall.observed == pytest.approx(np.mean(sample.labels == 1))
    assert told.overall.believed == pytest.approx(np.mean(believed), rel=1e-6)
    assert told.overall.observed < told.overall.believed
    first = believed <= np.quantile(believed, 0.1)
    assert told.bins[0].n_labels == np.sum(first)
    assert told.bins[0].observed == pytest.approx(np.mean(sample.labels[first] == 1))
    assert sum(one.believed not in one.interval for one in told.bins) >= 3


def test_reliability_of_several_classes_numbers_and_outcomes(rng):
    p = rng.dirichlet([1, 1, 1], 400)
    y = np.array([rng.choice(3, p=row) for row in p])
    pool = Pool(probabilities=p)
    told = reliability(evaluate(pool, labels=y, budget=200).evidence, pool.task)
    assert told.event == "the label is the most probable class"
    assert told.overall.believed == pytest.approx(p.max(axis=1).mean(), abs=0.05)
    numbers = Pool(models={"m": Regressor(p[:, 0], p[:, 1])})
    told = reliability(evaluate(numbers, "mae", labels=p[:, 0] + 1, budget=100).evidence, numbers.task)
    assert told.probability is False
    assert told.overall.observed - told.overall.believed == pytest.approx(1.0)
    systems = Pool(models={"a": Outcome(judge=p[:, 0]), "b": Outcome(judge=p[:, 1])})
    outcomes = (rng.random((400, 2)) < p[:, :2]).astype(float)
    found = compare(systems, "a", "b", "accuracy", labels=outcomes, budget=100)
    told = reliability(found.estimate.evidence, systems.task)
    assert sum(one.n_labels for one in told.bins) == 200
    elsewhere = estimate_from("error_rate", predictions=[0], labels=[0], inclusion=[0.5])
    assert reliability(elsewhere.evidence, pool.task) is None


@pytest.mark.parametrize("measure", ["error_rate", "f1", "recall", "log_loss"])
def test_a_part_is_the_estimate_of_its_labels_alone(rng, measure):
    p, pi = rng.random(200), rng.uniform(0.1, 0.9, 200)
    y = (rng.random(200) < p).astype(int)
    inside = rng.random(200) < 0.4
    whole = estimate_from(measure, probabilities=p, labels=y, inclusion=pi)
    part = estimate_from(measure, probabilities=p[inside], labels=y[inside], inclusion=pi[inside])
    found = domain_estimate(whole, inside)
    assert found.value == pytest.approx(part.value, rel=1e-12)
    assert found.std_error == pytest.approx(part.std_error, rel=1e-12)
    assert found.n_labels == inside.sum()
    assert found.interval().low == pytest.approx(part.interval().low, rel=1e-9)


def test_parts_cover_their_own_values(rng):
    p = rng.beta(0.5, 1.0, 3000)
    y = (rng.random(3000) < p).astype(int)
    kind = rng.random(3000) < 0.3
    pool = Pool(probabilities=p, ids=np.arange(3000))
    truth, hits = np.mean(((p > 0.5) != y)[kind]), 0
    for seed in range(60):
        found = evaluate(pool, "error_rate", labels=y, budget=200, seed=seed)
        session = found.course.session
        inside = kind[[session.ids[position] for position in session.asked]]
        hits += truth in domain_estimate(found, inside).interval()
    assert hits >= 52  # 95 % of 60 are 57; fewer than 52 has probability 0.01


def test_parts_with_groups(rng):
    groups = np.repeat(np.arange(100), 2)
    p = rng.random(200)
    y = (rng.random(100) < 0.5).astype(int)[groups]
    found = evaluate(Pool(probabilities=p, groups=groups), "error_rate", labels=y, budget=60, seed=1)
    inside = np.arange(60) % 2 == 0
    part = domain_estimate(found, inside)
    sample = found.evidence.sample
    rows = inside[sample.units]
    weights = np.asarray(sample.row_weights)[rows]
    wrong = sample.items.models[0].predictions[rows] != sample.labels[rows]
    assert part.value == pytest.approx(np.average(wrong, weights=weights))


def test_where_the_rest_of_a_part_is_not_known_it_is_refused(rng):
    p = rng.random(400)
    q = np.clip(p + rng.normal(0, 0.2, 400), 0, 1)
    y = (rng.random(400) < p).astype(int)

    pool = Pool(models={"a": Classifier(p), "b": Classifier(q)})
    found = compare(pool, "a", "b", labels=y, budget=40).estimate
    inside = np.arange(found.n_labels) % 2 == 0
    with pytest.raises(InputError, match="how many of them are in a part of the pool is not known"):
        domain_estimate(found, inside)
    assert abs(domain_estimate(found, inside, drawable=True).value) <= 1
    with pytest.raises(InputError, match="needs labelled items"):
        domain_estimate(found, np.zeros(found.n_labels, dtype=bool))


def test_probabilities_that_labels_contradict_are_warned_of(rng):
    score = rng.normal(-1.0, 2.0, 4000)
    right = 1 / (1 + np.exp(-score))
    y = (rng.random(4000) < right).astype(int)
    sure = Pool(1 / (1 + np.exp(-3 * score)))
    (warning,) = evaluate(sure, "f1", labels=y, budget=200, seed=0).warnings
    assert "not the most probable class" in warning
    assert warning.endswith(": with calibrated probabilities fewer labels would do")
    (warning,) = evaluate(Pool(1 - right), "f1", labels=y, budget=200, seed=0).warnings  # classes in another order
    assert warning.endswith(", worse than guesses: check that labels, classes and rows belong together")
    assert not any(evaluate(Pool(right), "f1", labels=y, budget=100, seed=seed).warnings for seed in range(30))
    assert not evaluate(Pool(predictions=(right > 0.5) * 1), "f1", labels=1 - y, budget=100).warnings


def test_probabilities_that_the_method_does_not_use_are_not_warned_of(rng):
    score = rng.normal(-1.0, 2.0, 4000)
    y = (rng.random(4000) < 1 / (1 + np.exp(-score))).astype(int)
    models = {name: Classifier(1 / (1 + np.exp(-5 * (score + rng.normal(0, 1, 4000))))) for name in "ab"}
    pool = Pool(models=models)
    assert not compare(pool, "a", "b", labels=y, budget=200).warnings
    assert not evaluate(pool, labels=y, budget=200, model="a", method="passive").warnings
    for parts in ({"estimator": "anchored"}, {"design": "optimal+passive"}, {"design": "strata"}):
        found = evaluate(pool, labels=y, budget=200, model="a", **{"method": "passive", "belief": "model"} | parts)
        assert any("with calibrated probabilities fewer labels would do" in warning for warning in found.warnings)


def test_what_is_unexpected_is_counted(rng):
    p = rng.dirichlet(np.ones(3), 300)
    y = rng.integers(0, 3, 300)
    sample = evaluate(Pool(p), "error_rate", labels=y, budget=300, method="passive").evidence.sample
    top = p.argmax(axis=1)
    found = contradicted(ClassBelief(3, models=((0, 1.0),)), sample, 3)
    assert found == pytest.approx((np.sum(1 - p.max(axis=1)), np.sum(y != top)), rel=1e-9)


@pytest.mark.parametrize(("scale", "warned"), [(1.0, False), (2.0, True), (0.5, True)])
def test_predictive_variances_that_labels_contradict_are_warned_of(rng, scale, warned):
    means, variances = rng.normal(size=2000), rng.uniform(0.2, 1.0, 2000)
    y = means + scale * np.sqrt(variances) * rng.normal(size=2000)
    found = evaluate(Pool(means=means, variances=variances), "mse", labels=y, budget=150, seed=1).warnings
    assert any(f"{scale:.0g}" in text and "predictive variances" in text for text in found) == warned


def test_a_result_is_shown_without_what_only_intervals_need():
    shown = repr(evaluate(Pool([0.1, 0.4, 0.7, 0.8]), "f1", labels=[0, 0, 1, 1], budget=3))
    assert shown.startswith("Estimate(measure='f1', models=('model',), value=")
    assert all(name in shown for name in ("std_error=", "n_labels=3", "exact=False", "n_effective=", "warnings="))
    assert not any(name in shown for name in ("slope", "unrefuted", "bounds", "counts", "evidence"))


def test_the_bound_of_a_chance_is_one() -> None:
    for count, share in ((5, 0.3), (40, 0.1), (200, 0.02)):
        means = np.arange(count + 1) / count
        bound = np.exp(log_chance(means, np.full(count + 1, share), count))
        below, above = binom.cdf(np.arange(count + 1), count, share), binom.sf(np.arange(count + 1) - 1, count, share)
        assert np.all(bound >= np.minimum(below, above))
        far = np.abs(means - share) > 3 * np.sqrt(share * (1 - share) / count)
        assert np.all(bound[far] < 0.2)
    assert log_chance(np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 0.0]), 9).tolist() == [0.0, 0.0, -np.inf]
