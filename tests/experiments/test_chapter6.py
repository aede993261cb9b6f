"""Chapter 6's simulations: rankers, pools, and errors against plain formulas."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

from experiments.chapter6 import estimating, graders, search
from experiments.chapter6.search import Case

FOREST = Case("forest", ("forest",), ("forest",))
UPDATE = Case("update", ("forest", "outdated forest"), ("forest",))


def test_dcg_is_its_formula(small_world):
    one, found = estimating.asked(FOREST, "mq2007", 1, "dcg"), search.learned("mq2007", 1)
    gains = (2.0 ** found["grades"] - 1.0) / np.log2(found["ranks of forest"] + 1.0)
    assert one.truth() == pytest.approx(gains.sum() / len(one.pool))


def test_err_of_a_difference_is_its_formula(small_world):
    one, found = estimating.asked(UPDATE, "mslr", 0, "err"), search.learned("mslr", 0)
    stops = (2.0 ** found["grades"] - 1.0) / 2.0 ** found["grades"].max()

    def err(name):
        total = 0.0
        for query in np.unique(found["queries"]):
            rows = np.flatnonzero((found["queries"] == query) & (found[name] > 0))
            left = 1.0
            for row in rows[np.argsort(found[name][rows])]:
                total += left * stops[row] / found[name][row]
                left *= 1.0 - stops[row]
        return total / len(one.pool)

    assert one.truth() == pytest.approx(err("ranks of forest") - err("ranks of outdated forest"))


@pytest.mark.parametrize(("domain", "measure"), [("mq2007", "dcg"), ("mslr", "err")])
def test_a_query_costs_one_on_average(small_world, domain, measure):
    assert estimating.asked(UPDATE, domain, 2, measure).pool.unit_costs.mean() == pytest.approx(1.0)


def test_pool_and_training_fold_share_no_query(small_world):
    pairs = search.query_pairs("mslr")
    assert not set(pairs.queries[pairs.folds == 3]) & set(search.learned("mslr", 3)["queries"])


def test_places_follow_the_scores_in_each_query(rng):
    queries, scores = np.array([4, 4, 4, 9, 9]), np.array([0.1, 0.9, 0.5, 2.0, 3.0])
    assert search._ranks(scores, queries, rng).tolist() == [3, 1, 2, 2, 1]


def test_an_outdated_index_keeps_the_order(rng):
    queries = np.repeat([0, 1], 20)
    ranks = search._ranks(rng.random(40), queries, rng)
    left = search._without(ranks, queries, rng)
    for query in (0, 1):
        kept = (queries == query) & (left > 0)
        assert kept.sum() == 18
        assert np.array_equal(np.argsort(ranks[kept]), np.argsort(left[kept]))
        assert sorted(left[kept]) == list(range(1, 19))


@pytest.mark.parametrize("learn", [graders.forest, graders.forest_classes, graders.ordered_logit])
def test_grade_models_learn_what_there_is(learn, rng, monkeypatch):
    monkeypatch.setattr(graders, "TREES", 10)
    x = rng.normal(size=(400, 4))
    y = np.digitize(x[:, 0] + 0.1 * rng.normal(size=400), [0.0, 1.0])
    scores, p = learn(x[:200], y[:200], x[200:], 4)  # nobody has the highest grade
    assert p.shape == (200, 4)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert np.all(p >= 0)
    assert np.all(p[:, 3] == 0)
    assert np.corrcoef(scores, y[200:])[0, 1] > 0.7
    assert np.corrcoef(p @ np.arange(4), scores)[0, 1] > 0.95


def test_ranking_svm_orders_within_queries(rng):
    x, queries = rng.normal(size=(300, 3)), np.repeat(np.arange(30), 10)
    y = (x[:, 1] + 5.0 * (queries % 2) > 0.5).astype(int)  # the query moves the grade, not the order
    assert np.corrcoef(graders.ranking_svm(x, y, queries, x), x[:, 1])[0, 1] > 0.9
