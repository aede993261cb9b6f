"""A number that was mistyped is told of by its item's id."""

import numpy as np
import pytest

import sondage

TOLD = "of the spread: see that it is right"


@pytest.fixture
def numbers():
    generator = np.random.default_rng(3)
    means = generator.normal(10.0, 2.0, size=2_000)
    return means, means + generator.normal(size=len(means))


def told(estimate):
    return [one for one in estimate.warnings if TOLD in one]


@pytest.mark.parametrize("measure", ["mse", "mae", "r2"])
def test_the_item_with_a_slipped_point_is_named(numbers, measure):
    means, labels = numbers
    pool = sondage.Pool(means=means, ids=[f"house {row}" for row in range(len(means))])
    asked = []

    def people(ids):
        answers = dict(zip(ids, (labels[int(name.split()[1])] for name in ids), strict=True))
        if not asked:
            answers[ids[4]] *= 1_000.0
        asked.extend(ids)
        return list(answers.values())

    (told_of,) = told(sondage.evaluate(pool, measure, labels=people, budget=60, seed=1))
    assert told_of.startswith(f"the label of item {asked[4]!r} makes up ")


@pytest.mark.parametrize("method", ["default", "passive", "thesis"])
def test_labels_as_they_are_say_nothing(numbers, method):
    means, labels = numbers
    assert not told(sondage.evaluate(sondage.Pool(means=means), "mse", labels=labels, budget=60, method=method))


def test_one_error_among_few_is_no_slip():
    labels = np.r_[1, np.zeros(199, dtype=int)]
    pool = sondage.Pool(predictions=np.zeros(200, dtype=int), classes=[0, 1])
    assert not told(sondage.evaluate(pool, "error_rate", labels=labels, budget=199))


def test_labels_drawn_elsewhere_are_named_by_row_and_id(numbers):
    means, labels = (column[:50] for column in numbers)
    ids = np.arange(100, 150)
    wrong = labels.copy()
    wrong[7] *= 1_000.0
    given = {"means": means, "inclusion": np.full(50, 0.1), "ids": ids}
    assert not told(sondage.estimate_from("mse", labels=labels, **given))
    (told_of,) = told(sondage.estimate_from("mse", labels=wrong, **given))
    assert told_of.startswith("the label of row 7 (id 107) makes up ")
