"""Sources that call classes impossible are doubted by one more vote, divided among the classes."""

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool
from sondage.core.beliefs import Doubts
from sondage.core.beliefs.columns import doubt_of, doubted
from sondage.core.catalogue.beliefs import Expectation, named_belief


def believed(pool: Pool, belief: object = None) -> np.ndarray:
    expectation = Expectation(pool.task, pool.items, (0,), pool.models, doubts=pool.doubts)
    return np.stack([p for _, p in named_belief(belief, expectation).supposed(pool.items, (0,))])


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("votes", [1, 3, 100])
def test_one_more_vote_divided_among_the_classes(k, votes, rng):
    counts = rng.multinomial(votes, rng.dirichlet(np.full(k, 0.3), 500))
    told = counts / votes
    pool = Pool(told if k > 2 else told[:, 1])
    np.testing.assert_allclose(believed(pool), (counts.T + 1 / k) / (votes + 1), rtol=1e-12)
    np.testing.assert_allclose(believed(pool, "model"), told.T, atol=1e-15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("told", "least"),
    [
        ([0.0, 0.25, 0.9], 0.1),  # 1 - 0.9 counts: a column stands for both classes
        ([0.25, 1.0, 0.5], 0.25),
        ([0.0, 1.0], 1.0),
        ([1e-4, 1.0, 0.5], 1e-4),
    ],
)
def test_the_smallest_probability_tells_the_number_of_votes(told, least, kind):
    ((doubt,), judges) = Pool(np.array(told, dtype=kind), classes=[0, 1]).doubts
    assert doubt == pytest.approx(least / (1 + least), rel=1e-5)
    assert judges == ()


@pytest.mark.parametrize("told", [[0.01, 0.99], [0.0, 1.0, 1e-30], [0.0, 0.5, 1 - 2e-16, 1e-13], [1.0, 0.0, 1e-300]])
def test_who_calls_nothing_impossible_or_comes_near_to_it_is_believed(told):
    assert Pool(np.array(told)).doubts == ((), ())


def test_rounding_is_no_vote():
    told = np.array([0.0, 0.3, 0.1 + 0.2, 1 - 1.1e-16, 0.7])
    assert Pool(told).doubts.models[0] == pytest.approx(0.3 / 1.3)


def test_every_source_by_itself():
    models = {
        "votes": Classifier([0.0, 0.5, 1.0]),
        "sure": Classifier([0.001, 0.5, 0.999]),
        "hard": Classifier(None, [0, 1, 1]),
    }
    pool = Pool(models=models, judge={"rater": [0, 1, 1], "five": np.array([0.0, 0.2, 1.0])})
    assert pool.doubts.models == pytest.approx((1 / 3, 0.0, 0.0))
    assert pool.doubts.judges == pytest.approx((0.0, 1 / 6))


def test_outcomes_of_a_judge_who_says_right_or_wrong():
    pool = Pool(models={"a": Outcome([0.0, 1.0, 1.0])})
    assert pool.doubts == Doubts((0.5,), ())
    np.testing.assert_allclose(believed(pool), [[0.75, 0.25, 0.25], [0.25, 0.75, 0.75]])


def test_nothing_to_doubt_copies_nothing():
    column = np.array([0.2, 0.7])
    assert doubted(column, (), 0, 2) is column
    assert doubted(column, (0.0,), 0, 2) is column
    assert doubt_of(0.0, 1e-13, 1e-13) == 0.0
