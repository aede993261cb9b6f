"""Beliefs that learn: what they start from, what labels make of them, and that bad side information costs little."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from sondage import Classifier, Outcome, Pool, Regressor, evaluate
from sondage.core.beliefs import (
    ClassBelief,
    LearnedClassBelief,
    LearnedGaussianBelief,
    LearnedOutcomeBelief,
)
from sondage.core.beliefs.classes import PLAUSIBLE, PLAUSIBLE_OF_SURE
from sondage.core.beliefs.votes import count_votes, voted_column
from sondage.core.catalogue.beliefs import MOST_SOURCES, SHARES, Expectation, named_belief
from sondage.core.learning import NONE, Correction
from sondage.core.plausible import plausible
from sondage.errors import InputError
from sondage.studies.forms import belief_from_data, belief_to_data

TRUST = SHARES[0][0]


def believe(pool, belief=None, models=(0,)):
    return named_belief(belief, Expectation(pool.task, pool.items, models, pool.models))


def table(belief, items, models=(0,)):
    """Return the believed probabilities, shape (N, k)."""
    columns = [np.broadcast_to(weight, len(items)) for _, weight in belief.supposed(items, models)]
    found = np.column_stack(columns)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)
    return found


def log_loss(belief, pool, y):
    return -np.mean(np.log(table(belief, pool.items)[np.arange(len(y)), y].clip(1e-9)))


def two_classes(n=2000, seed=0):
    """Return a model's and a judge's probabilities of the second class, a feature they do not know, and labels."""
    rng = np.random.default_rng(seed)
    seen, unseen, x = rng.normal(0, 1.5, size=(3, n))
    return expit(seen), expit(2 * unseen), x, (rng.random(n) < expit(seen + unseen + x)).astype(int)


def fitted(pool, y, n=200, belief=None):
    """Return the belief calibrated on the first n labels, and its log loss on the others."""
    learned = believe(pool, belief).calibrated(pool.items.take(slice(n)), y[:n])
    rest = Pool(ids=np.arange(len(y) - n), **rows(pool, slice(n, None)))
    return learned, log_loss(learned, rest, y[n:])


def rows(pool, part):
    model = pool.items.models[0]
    judges = {name: judge[part] for name, judge in zip(pool.judges, pool.items.judges, strict=True)}
    features = pool.items.features
    return {
        "probabilities": None if model.probabilities is None else model.probabilities[part],
        "predictions": model.predictions[part],
        "classes": pool.task.classes,
        "judge": judges or None,
        "features": None if features is None else features[part],
    }


def test_before_labels_judges_and_models_are_mixed():
    p, judge, x, _ = two_classes(50)
    both = Pool(p, judge={"a": judge, "b": 1 - judge}, features=x)
    mixed = expit((1 - TRUST) * logit(p))  # the judges together say a half
    np.testing.assert_allclose(table(believe(both), both.items)[:, 1], mixed, rtol=1e-12)
    judged = Pool(predictions=p > 0.5, classes=[False, True], judge=judge)
    np.testing.assert_allclose(table(believe(judged), judged.items)[:, 1], judge, rtol=1e-12)
    featured = Pool(p, features=x)
    np.testing.assert_allclose(table(believe(featured), featured.items)[:, 1], p, rtol=1e-12)
    silent = Pool(predictions=p > 0.5, classes=[False, True], features=x)
    np.testing.assert_allclose(table(believe(silent), silent.items), 0.5, rtol=1e-12)


@pytest.mark.parametrize("judges", [1, 2, 5])
def test_labels_begin_with_the_trust_that_the_draw_had(judges):
    p, judge, *_ = two_classes(50)
    begun = believe(Pool(p, judge={str(name): judge for name in range(judges)}))
    assert begun.judge == TRUST
    assert sum(begun.priors) == pytest.approx(1)
    assert sum(prior * start[1] for prior, start in zip(begun.priors, begun.starts, strict=True)) == pytest.approx(
        TRUST
    )


def test_studies_begun_without_priors_go_on_with_theirs():
    p, judge, _, y = two_classes(200)
    pool = Pool(p, judge=judge)
    begun = believe(pool)
    data = belief_to_data(begun)
    assert belief_from_data(data) == begun
    del data["priors"]
    told = belief_from_data(data).calibrated(pool.items, y)
    named = replace(begun, priors=(1 / 2, 1 / 6, 1 / 6, 1 / 6)).calibrated(pool.items, y)
    assert replace(told, priors=named.priors) == named


def test_a_judge_hardly_moves_what_a_model_is_sure_of():
    p, judge = np.full(2, 1e-6), np.array([0.01, 0.99])
    pool = Pool(p, judge=judge)
    assert table(believe(pool), pool.items)[:, 1].max() < 1e-4


def test_without_side_information_nothing_is_learned():
    p, *_ = two_classes(50)
    assert believe(Pool(p)) == believe(Pool(p), "model") == ClassBelief(2, models=((0, 1.0),))


def test_good_side_information_helps():
    p, judge, x, y = two_classes()
    plain, judged, featured, all_of_it = (
        fitted(Pool(p, **side), y)[1]
        for side in ({}, {"judge": judge}, {"features": x}, {"judge": judge, "features": x})
    )
    assert plain - judged > 0.03
    assert plain - featured > 0.05
    assert all_of_it < min(judged, featured) - 0.02


@pytest.mark.parametrize("n", [60, 100, 200])
def test_bad_side_information_does_not_harm(n):
    p, judge, _, y = two_classes()
    rng = np.random.default_rng(1)
    plain = fitted(Pool(p), y, n)[1]
    for side in (
        {"features": rng.normal(size=(len(y), 100))},
        {"features": rng.standard_cauchy(size=(len(y), 3))},
        {"judge": rng.random(len(y))},
        {"judge": np.where(judge > 0.5, 0.001, 0.999)},
        {"judge": {"a": rng.random(len(y)), "b": 1 - judge}, "features": rng.normal(size=(len(y), 20))},
    ):
        assert fitted(Pool(p, **side), y, n)[1] < plain + 0.035


def test_an_inverted_judge_loses_its_share():
    p, judge, _, y = two_classes()
    for bad in (1 - judge, np.where(judge > 0.5, 0.01, 0.99)):
        assert fitted(Pool(p, judge=bad), y)[0].judge < 0.1
    assert fitted(Pool(p, judge=expit(3 * (y - 0.5))), y)[0].judge > 0.7


def test_fitting_again_forgets_the_first_fit():
    p, judge, x, y = two_classes(300)
    pool = Pool(p, judge=judge, features=x)
    first, second = pool.items.take(slice(100)), pool.items.take(slice(250))
    once = believe(pool).calibrated(second, y[:250])
    assert believe(pool).calibrated(first, y[:100]).calibrated(second, y[:250]) == once


def test_without_labels_nothing_changes():
    p, judge, x, _ = two_classes(40)
    for pool in (Pool(p, judge=judge, features=x), Pool(predictions=p > 0.5, classes=[False, True], features=x)):
        before, none = believe(pool), pool.items.take(slice(0))
        after = before.calibrated(none, np.zeros(0, dtype=int))
        np.testing.assert_allclose(table(after, pool.items), table(before, pool.items), rtol=1e-9)


def three_classes(n=1500):
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 1.5, size=(n, 3))
    hidden = rng.normal(0, 1.5, size=(n, 3))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = np.exp(scores + hidden)
    truth /= truth.sum(axis=1, keepdims=True)
    return p, truth, hidden, np.array([rng.choice(3, p=row) for row in truth])


def test_the_log_odds_of_a_source_count_up_to_eight():
    half, source = np.full(4, 0.5), expit([-12.0, -8.0, 8.0, 12.0])
    pool = Pool(models={"a": Classifier(probabilities=half), "b": Classifier(probabilities=source)})
    correction = Correction(sources=(0.0, 0.25), low=-9.0, high=9.0)
    belief = LearnedClassBelief(2, models=((0, 1.0),), source_models=(1,), correction=correction)
    assert table(belief, pool.items)[:, 1] == pytest.approx(expit([-2.0, -2.0, 2.0, 2.0]), rel=1e-9)


def test_three_classes():
    p, truth, hidden, y = three_classes()
    plain = fitted(Pool(p), y)[1]
    assert fitted(Pool(p, judge=truth), y)[1] < plain - 0.1
    assert fitted(Pool(p, judge=np.roll(truth, 1, axis=1)), y)[1] < plain + 0.05
    wrong = (p.argmax(axis=1) != y).astype(float)
    told = (wrong + np.random.default_rng(0).normal(0, 0.5, size=len(y)))[:, None]
    assert fitted(Pool(p, features=told), y)[1] < plain - 0.1
    assert fitted(Pool(p, features=hidden), y)[1] < plain + 0.02


def test_a_judge_that_names_classes_is_trusted_by_its_labels():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, size=900)
    named = np.where(rng.random(900) < 0.8, y, rng.integers(0, 3, size=900))
    names = np.array(["x", "y", "z"])
    pool = Pool(predictions=names[rng.integers(0, 3, size=900)], classes=names, judge=names[named])
    before = table(believe(pool), pool.items)
    assert before[0, named[0]] == pytest.approx(0.95, rel=1e-6)
    after = table(believe(pool).calibrated(pool.items.take(slice(300)), y[:300]), pool.items)
    assert after[np.arange(900), named].mean() == pytest.approx(np.mean(named == y), abs=0.05)


def test_ensemble_takes_every_model():
    p, other, _, y = two_classes()
    pool = Pool(models={"a": Classifier(p), "b": Classifier(other), "c": Classifier(predictions=other > 0.5)},
                classes=[0, 1])  # fmt: skip
    start = believe(pool, "ensemble")
    assert believe(pool) == start
    np.testing.assert_allclose(table(start, pool.items)[:, 1], p, rtol=1e-12)  # its own word, until labels tell more
    both = table(believe(pool, "ensemble", (0, 1)), pool.items, (0, 1))
    np.testing.assert_allclose(both[:, 1], (p + other) / 2, rtol=1e-12)
    assert isinstance(start, LearnedClassBelief)
    assert start.source_models == (0, 1, 2)
    few, labels = pool.items.take(slice(200)), y[:200]
    alone = believe(pool, "model").calibrated(few, labels)
    assert log_loss(start.calibrated(few, labels), pool, y) < log_loss(alone, pool, y) - 0.03


def test_of_many_models_only_those_in_question_are_asked():
    p, other, _, _ = two_classes()
    models = {f"m{number}": Classifier(p if number else other) for number in range(MOST_SOURCES + 1)}
    pool = Pool(models=models, classes=[0, 1])
    assert isinstance(believe(pool), ClassBelief)
    assert not isinstance(believe(pool), LearnedClassBelief)
    assert believe(pool, models=(0, 1)).source_models == (0, 1)
    assert len(believe(pool, "ensemble").source_models) == MOST_SOURCES + 1


def test_predictions_alone_learn_what_they_mean():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, size=600)
    right = rng.random(600) < np.array([0.95, 0.9, 0.4])[y]
    f = np.where(right, y, rng.integers(0, 3, size=600))
    pool = Pool(predictions=f)
    learned = believe(pool).calibrated(pool.items, y)
    share = np.array([[np.mean(y[f == c] == k) for k in range(3)] for c in range(3)])
    np.testing.assert_allclose(table(learned, pool.items), share[f], atol=0.02)


def test_table_of_predictions_by_hand():
    # Three labels under predictions 0, 0, 1, two of them right: accuracy (2 + 1)/(3 + 2) = .6, prior of 2 labels.
    pool = Pool(predictions=[0, 0, 1, 1])
    counts = count_votes([0], pool.items.take(slice(3)), np.array([0, 1, 1]))
    expected = [(1 + 2 * 0.4) / 4, (1 + 2 * 0.4) / 4, (1 + 2 * 0.6) / 3, (1 + 2 * 0.6) / 3]
    np.testing.assert_allclose(voted_column(counts, [0], 2, pool.items, 1), expected, rtol=1e-12)


def test_disagreements_have_a_table_of_their_own():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, size=800)
    a, b = (np.where(rng.random(800) < accuracy, y, 1 - y) for accuracy in (0.95, 0.7))
    pool = Pool(models={"a": Classifier(predictions=a), "b": Classifier(predictions=b)})
    learned = believe(pool, models=(0, 1)).calibrated(pool.items, y)
    second, apart = table(learned, pool.items, (0, 1))[:, 1], a != b
    assert second[apart & (a == 1)].mean() == pytest.approx(np.mean(y[apart & (a == 1)]), abs=0.05)
    assert second[~apart & (a == 1)].mean() == pytest.approx(np.mean(y[~apart & (a == 1)]), abs=0.03)


def numbers(n=600):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(n, 5))
    means = rng.normal(size=n)
    return means, x, means + x @ [2.0, -1.0, 0.0, 0.0, 0.0] + rng.normal(0, 0.5, size=n)


@pytest.mark.parametrize("variances", [None, np.full(600, 4.0, dtype=np.float32)])
def test_residuals_are_learned_and_variances_honest(variances):
    means, x, y = numbers()
    pool = Pool(means=means, variances=variances, features=x)
    start = believe(pool)
    assert isinstance(start, LearnedGaussianBelief)
    assert start.broad == (variances is None)
    learned = start.calibrated(pool.items.take(slice(150)), y[:150])
    labels, weights = zip(*learned.supposed(pool.items, (0,)), strict=True)
    mean = sum(w * label for label, w in zip(labels, weights, strict=True))
    variance = sum(w * (label - mean) ** 2 for label, w in zip(labels, weights, strict=True))
    error = (y - mean)[150:]
    assert np.mean(error**2) < 0.35 < np.mean((y - means)[150:] ** 2) / 10
    assert np.mean(variance) == pytest.approx(np.mean(error**2), rel=0.25)


def amounts(n=2000, seed=3):
    """Return predicted amounts and the true ones, which differ in proportion to them."""
    rng = np.random.default_rng(seed)
    means = np.exp(rng.normal(1.0, 0.8, n))
    return means, means * np.exp(rng.normal(-0.18, 0.6, n))


def test_variances_that_nobody_tells_grow_as_labels_do():
    means, y = amounts()
    pool = Pool(means=means)
    learned = believe(pool, "growing").calibrated(pool.items.take(slice(200)), y[:200])
    labels, weights = zip(*learned.supposed(pool.items, (0,)), strict=True)
    mean = sum(w * label for label, w in zip(labels, weights, strict=True))
    variance = sum(w * (label - mean) ** 2 for label, w in zip(labels, weights, strict=True))
    slope = np.polyfit(np.log(means), np.log(variance), 1)[0]
    assert 1.2 < slope < 2.2  # 2 is right; below the lowest labelled item they are alike
    ends = np.quantile(means, [0.25, 0.75])
    for rows in (means < ends[0], means > ends[1]):
        assert np.mean(variance[rows]) == pytest.approx(np.mean((y - means)[rows] ** 2), rel=0.5)


def test_variances_that_nobody_tells_are_alike_where_growth_is_not_asked_for():
    means, y = amounts()
    pool = Pool(means=means, features=np.ones((len(means), 1)))
    learned = believe(pool).calibrated(pool.items.take(slice(200)), y[:200])
    labels, weights = zip(*learned.supposed(pool.items, (0,)), strict=True)
    mean = sum(w * label for label, w in zip(labels, weights, strict=True))
    variance = sum(w * (label - mean) ** 2 for label, w in zip(labels, weights, strict=True))
    assert np.ptp(variance) < 1e-9 * variance[0]


@pytest.mark.parametrize(
    ("models", "kind"),
    [
        ({"a": Regressor([1.0, 2.0], [1.0, 1.0])}, "variances"),
        ({"a": Regressor([1.0, 2.0]), "b": Regressor([2.0, 1.0])}, "two"),
        ({"a": Classifier([0.2, 0.7])}, "classes"),
    ],
)
def test_what_cannot_grow_is_refused(models, kind):
    with pytest.raises(InputError, match="belief 'growing' is for one regressor without variances"):
        believe(Pool(models=models), "growing", models=tuple(range(len(models))))


def test_random_features_do_not_move_means():
    means, _, y = numbers()
    rng = np.random.default_rng(7)
    pool = Pool(means=means, variances=np.full(600, 4.0), features=rng.normal(size=(600, 200)))
    learned = believe(pool).calibrated(pool.items.take(slice(100)), y[:100])
    moved = learned.correction.at([], pool.items.features[100:])
    error = (y - means)[100:]
    assert np.mean((error - moved) ** 2) < 1.03 * np.mean(error**2)
    assert believe(pool).calibrated(pool.items.take(slice(0)), y[:0]) == believe(pool)


def test_ensemble_of_regressors():
    means, x, y = numbers()
    better = means + x @ [2.0, -1.0, 0.0, 0.0, 0.0]
    pool = Pool(models={"a": Regressor(means, np.full(600, 5.0)), "b": Regressor(better, np.full(600, 5.0))})
    learned = believe(pool, "ensemble").calibrated(pool.items.take(slice(100)), y[:100])
    mean = sum(weight * label for label, weight in learned.supposed(pool.items, (0,)))
    assert np.mean((y - mean) ** 2) < 0.3


def two_regressors(n=600, seed=5):
    """Return two models' means, of the second of which the truth is nearer, and labels: a third of the way from it."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0, 2, size=(2, n))
    return first, second, first / 3 + second * 2 / 3 + rng.normal(0, 0.5, n)


def believed_mean_and_variance(belief, items):
    labels, weights = zip(*belief.supposed(items, (0, 1)), strict=True)
    mean = sum(w * label for label, w in zip(labels, weights, strict=True))
    return mean, sum(w * (label - mean) ** 2 for label, w in zip(labels, weights, strict=True))


@pytest.mark.parametrize("variances", [np.full(600, 4.0), None])
def test_labels_tell_where_between_two_regressors_the_truth_lies(variances):
    """As least squares on the same labels has it; before them it may be either."""
    first, second, y = two_regressors()
    pool = Pool(models={"a": Regressor(first, variances), "b": Regressor(second, variances)})
    start, few = believe(pool, models=(0, 1)), slice(200)
    assert start.broad == (variances is None)
    assert not start.stacked
    if variances is not None:
        mean, variance = believed_mean_and_variance(start, pool.items)
        np.testing.assert_allclose(mean, (first + second) / 2)
        np.testing.assert_allclose(variance, 4.0 + (first - second) ** 2 / 4)
    learned = start.calibrated(pool.items.take(few), y[few])
    apart = (second - first)[few]
    share = float(apart @ (y - first)[few] / (apart @ apart))
    mean, variance = believed_mean_and_variance(learned, pool.items)
    within = np.abs(second - first) < np.quantile(np.abs(apart), 0.9)  # beyond them the correction is bounded
    np.testing.assert_allclose(mean[within], (first + share * (second - first))[within], atol=0.15)
    assert np.mean(variance) == pytest.approx(0.25, rel=0.25)


def test_means_that_an_earlier_release_moved_stay_apart():
    """Its parts have a mean each, moved alike."""
    first, second, _ = two_regressors()
    pool = Pool(models={"a": Regressor(first, np.ones(600)), "b": Regressor(second, np.ones(600))})
    belief = LearnedGaussianBelief(((0, 0.5), (1, 0.5)), correction=Correction(constant=0.5, high=0.5))
    mean, variance = believed_mean_and_variance(belief, pool.items)
    np.testing.assert_allclose(mean, (first + second) / 2 + 0.5)
    np.testing.assert_allclose(variance, 1.0 + (first - second) ** 2 / 4)


def test_labels_tell_which_of_two_classifiers_is_right():
    """Where two sure models differ their mixture says a half; one of them is right nine times of ten."""
    rng = np.random.default_rng(11)
    y, sure = rng.integers(0, 2, 2000), 0.95
    good, bad = (np.where(rng.random(2000) < right, y, 1 - y) for right in (0.9, 0.6))
    models = {name: Classifier(np.where(codes == 1, sure, 1 - sure)) for name, codes in (("a", good), ("b", bad))}
    pool = Pool(models=models, classes=[0, 1])
    start, few = believe(pool, models=(0, 1)), slice(150)
    learned = start.calibrated(pool.items.take(few), y[few])
    apart = good != bad
    np.testing.assert_allclose(table(start, pool.items, (0, 1))[apart, 1], 0.5)
    of_good = table(learned, pool.items, (0, 1))[apart, good[apart]]
    assert np.mean(of_good) == pytest.approx(np.mean((good == y)[apart]), abs=0.08)


def test_outcomes_learn_from_features_and_other_judges():
    rng = np.random.default_rng(8)
    easy, x = rng.normal(0, 2, size=(2, 900))
    y = (rng.random((900, 2)) < expit(np.column_stack([easy + x, easy - x]))).astype(float)
    pool = Pool(models={"a": Outcome(expit(easy)), "b": Outcome()}, ids=np.arange(900), features=x)
    start = believe(pool)
    assert isinstance(start, LearnedOutcomeBelief)
    few = pool.items.take(slice(200))

    def loss(belief, model):
        p = np.zeros(900)
        for label, weight in belief.supposed(pool.items, (model,)):
            p += weight * (y[:, model] == label[model])
        return -np.mean(np.log(p))

    learned, ensemble = (believe(pool, name).calibrated(few, y[:200]) for name in (None, "ensemble"))
    plain = believe(pool, "model").calibrated(few, y[:200])
    assert loss(learned, 0) < loss(plain, 0) - 0.05
    assert loss(ensemble, 1) < loss(learned, 1) - 0.05 < loss(plain, 1) - 0.1
    missing = y[:200].copy()
    missing[:, 1] = np.nan
    only = start.calibrated(few, missing)
    assert isinstance(only, LearnedOutcomeBelief)
    assert only.corrections[1] == replace(only.corrections[1], sources=(), features=(), constant=0.0, low=0.0, high=0.0)


@pytest.mark.parametrize("unneeded", [0.0, 0.01, 0.4, 1.0])
def test_losses_reckon_with_that_nothing_was_to_learn(unneeded):
    p, judge, _, y = two_classes(200)
    pool = Pool(p, judge=judge)
    learned = believe(pool).calibrated(pool.items, y)
    learned = replace(learned, correction=replace(learned.correction, unneeded=unneeded))
    found = learned.plausible_of_sure(pool.items, y, np.ones(200))
    plain = [one for one in found if getattr(one, "belief", one).correction == NONE]
    assert len(found) == PLAUSIBLE_OF_SURE
    expected = round(PLAUSIBLE_OF_SURE * unneeded) if unneeded < 1 else 0  # hardly any correction is left then
    assert len(plain) == expected
    assert len(learned.plausible(pool.items, y, np.ones(200))) == PLAUSIBLE


@pytest.mark.parametrize(("measure", "some"), [("log_loss", True), ("brier", True), ("error_rate", False)])
def test_the_doubt_is_that_of_losses_of_probabilities(measure, some):
    p, other, _, y = two_classes()
    pool = Pool(models={"a": Classifier(p), "b": Classifier(other)})
    evidence = evaluate(pool, measure, labels=y, budget=60, seed=1, model="a").evidence
    belief = evidence.estimation.belief
    assert 0.1 < belief.correction.unneeded < 0.9
    found = plausible(evidence.contrast, belief, evidence.sample)
    assert any(getattr(one, "belief", one).correction == NONE for one in found) == some
