"""Chapter 5's simulations: against plain loops and scipy."""

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

from experiments.chapter5 import (
    comparing,
    contests,
    figure_5_2,
    figure_5_3,
    figure_5_4,
    sequential,
    table_5_1,
)
from experiments.chapter5.contests import Contest
from experiments.simulation import Target


def numbers_contest(k=2, n=120, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=n)
    models = {
        f"m{j}": {"means": x * 0.3 * j + 0.1 * rng.normal(size=n), "variances": rng.uniform(0.5, 2, n)}
        for j in range(k)
    }
    return Contest(f"numbers-{seed}", "mse", models, 0.3 * x + y)


def classes_contest(k=2, n=150, seed=0, plain=False):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=n)
    labels = (rng.uniform(size=n) < p).astype(int)
    models = {}
    for j in range(k):
        own = np.clip(p + 0.15 * (j + 1) * rng.normal(size=n), 0.01, 0.99)
        models[f"m{j}"] = {"predictions": (own > 0.5).astype(int)} | ({} if plain else {"probabilities": own})
    return Contest(f"classes-{seed}", "error_rate", models, labels)


def test_losses_are_those_of_the_measure():
    found = numbers_contest()
    assert found.risks[0] == pytest.approx(np.mean((found.models["m0"]["means"] - found.labels) ** 2))
    found = classes_contest()
    assert found.risks[1] == pytest.approx(np.mean(found.models["m1"]["predictions"] != found.labels))


@pytest.mark.parametrize("models", [numbers_contest(), classes_contest()], ids=["mse", "error_rate"])
def test_swapped_models_are_equal(models):
    double = models.doubled()
    assert double.risks[0] == double.risks[1]
    assert len(double) == 2 * len(models)
    losses, own = double.losses, models.losses
    np.testing.assert_array_equal(losses[:, len(models) :], own[::-1])


def test_pvalues_are_scipys(rng):
    sample = rng.normal(0.2, 1, size=(5, 30))
    mean, error = sample.mean(axis=1), sample.std(axis=1) / np.sqrt(30)
    expected = stats.ttest_1samp(sample, 0, axis=1).pvalue
    np.testing.assert_allclose(comparing.student(mean, error, np.full(5, 30.0)), expected)
    np.testing.assert_allclose(comparing.wald(mean, error, np.full(5, 30.0)), 2 * stats.norm.sf(np.abs(mean) / error))
    assert comparing.wald(np.zeros(1), np.zeros(1), np.ones(1)) == 1
    assert comparing.wald(np.ones(1), np.zeros(1), np.ones(1)) == 0


def test_a_tie_is_half_an_error():
    duels = comparing.Duels(np.array([[0.1, -0.1, 0.0]]), np.ones((1, 3)), 0.3)
    assert duels.wrong.tolist() == [[0.0, 1.0, 0.5]]


def test_labels_on_all_disagreements_decide(rng):
    models = classes_contest()
    differ = int(np.sum(models.models["m0"]["predictions"] != models.models["m1"]["predictions"]))
    found = comparing.duel(models, "active_neq", [5, differ, 140], 20, rng)
    assert np.all(found.differences[:, 1:] == found.truth)
    assert np.all(found.pvalues[:, 1:] == 0)
    assert found.differences[:, 0].std() > 0


def test_passive_errors_are_those_of_plain_samples(rng):
    models = numbers_contest()
    found = comparing.duel(models, "passive", [20], 4000, rng).wrong.mean()
    delta = models.losses[0] - models.losses[1]
    # With replacement until 20 items are distinct: a plain loop.
    wrong = 0
    for _ in range(2000):
        drawn = []
        while len(set(drawn)) < 20:
            drawn.append(rng.integers(len(delta)))
        wrong += np.sign(delta[drawn].mean()) != np.sign(delta.mean())
    error = np.sqrt(0.25 / 4000 + 0.25 / 2000)
    assert abs(found - wrong / 2000) < 4 * error


@pytest.mark.parametrize("design", ["optimal", "active_0", "active_inf", "active_risk", "passive"])
def test_tournament_of_two_is_the_duel(design, rng):
    models = numbers_contest()
    wrong = comparing.tournament(models, design, [15, 60], 3000, rng).mean(axis=0)
    duel = comparing.duel(models, design, [15, 60], 3000, rng).wrong.mean(axis=0)
    assert np.all(np.abs(wrong - duel) < 4 * np.sqrt(0.5 / 3000))


def test_ties_of_several_are_decided_by_chance(rng):
    wrong = comparing.chooses_wrongly(np.tile([0.2, 0.2, 0.5], (4000, 1)), np.array([0.1, 0.3, 0.2]), rng)
    assert wrong.mean() == pytest.approx(0.5, abs=0.04)
    assert not comparing.chooses_wrongly(np.array([0.2, 0.2, 0.5]), np.array([0.1, 0.1, 0.2]), rng).any()


def literal_iwal(models, order, budget, delta=0.05):
    """Return loss so far and which models are alive once the budget is spent: algorithms 1 and 2, item by item."""
    predictions = np.stack([arrays["predictions"] for arrays in models.models.values()], axis=1)
    k, asked = predictions.shape[1], 0
    alive, total = np.ones(k, dtype=bool), np.zeros(k)
    for t, item in enumerate(order, start=1):
        asked += len(set(predictions[item, alive])) > 1
        total += predictions[item] != models.labels[item]
        slack = np.sqrt(8 / t * np.log(2 * t * (t + 1) * k**2 / delta))
        alive &= total / t <= total.min() / t + slack
        if asked == budget:
            break
    return total, alive


def test_iwal_is_its_loop():
    models = classes_contest(4, 400, plain=True)
    rng = np.random.default_rng(5)
    found = comparing.iwal(models, [3, 40], 1, np.random.default_rng(5))
    order = rng.permutation(400)
    for column, budget in enumerate((3, 40)):
        total, alive = literal_iwal(models, order, budget)
        estimates = np.where(alive, total, np.inf)
        best = np.flatnonzero(estimates == estimates.min())
        assert found[0, column] in {float(models.risks[j] > models.risks.min()) for j in best}


def test_new_items_are_counted_once(rng):
    items = rng.integers(0, 9, size=(6, 40))
    found = sequential._labels(items)
    assert all(found[r, t] == len(set(items[r, : t + 1])) for r in range(6) for t in range(40))


def test_course_is_the_estimate_after_each_draw(rng):
    items, delta = rng.integers(0, 30, size=(3, 25)), rng.normal(size=30)
    weights = rng.uniform(0.5, 2, 30)
    values, pvalues = sequential._course(items, weights, delta, "wald")
    for row in range(3):
        for t in (1, 2, 24):
            w, d = weights[items[row, : t + 1]], delta[items[row, : t + 1]]
            value = np.sum(w * d) / w.sum()
            error = np.sqrt(np.sum(w**2 * (d - value) ** 2)) / w.sum()  # 3.11 and 3.14
            assert values[row, t] == pytest.approx(value)
            assert pvalues[row, t - 1] == pytest.approx(2 * stats.norm.sf(abs(value) / error), rel=1e-6, abs=1e-12)
    _, pvalues = sequential._course(items, np.ones(30), delta, "t")
    assert pvalues[0, 23] == pytest.approx(stats.ttest_1samp(delta[items[0]], 0).pvalue)


def test_labelling_stops_with_the_first_significant_test(rng):
    q = rng.uniform(0.5, 1.5, 200)
    found = sequential.label_until_significant(
        q / q.sum(), Target(rng.normal(0.3, 1, 200), np.ones(200)), 60, 300, rng, first=(5, 20, 60)
    )
    early, later, last = found
    assert np.all(early.labels <= later.labels)
    assert np.all(early.labels >= 5)
    assert np.all(later.labels >= 20)
    assert np.all(early.labels[~early.significant] == 60)
    assert early.significant.mean() > later.significant.mean() > last.significant.mean()


def test_one_test_at_the_end_is_the_duel(rng):
    models = numbers_contest(n=300).doubled()
    delta = models.losses[0] - models.losses[1]
    q = np.full(600, 1 / 600)
    (once,) = sequential.label_until_significant(q, Target(delta, np.ones(600)), 80, 3000, rng, test="t", first=(80,))
    rate = (comparing.duel(models, "passive", [80], 3000, rng, "t").pvalues <= 0.05).mean()
    assert abs(once.significant.mean() - rate) < 4 * np.sqrt(2 * 0.05 * 0.95 / 3000)
    assert rate == pytest.approx(0.05, abs=0.02)


def test_every_domain_has_its_builder():
    domains = {*figure_5_2.DOMAINS, figure_5_3.SEVERAL, *figure_5_3.DOMAINS, *figure_5_4.DOMAINS, *table_5_1.DOMAINS}
    assert domains == set(contests.CONTESTS)
