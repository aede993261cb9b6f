"""What labels leave possible, against every labelling of the rest."""

from itertools import count, product

import numpy as np
import pytest

from sondage.core.measures import parse_measure
from sondage.core.measures.functionals import Task
from sondage.core.possible import all_outward, possible_values

LABELLED, REST = 4, 5
OF_TWO = (
    *("error_rate", "accuracy", "f1", "f_measure:beta=0.5", "f_measure:beta=2,positive=0"),
    *("precision", "recall", "specificity", "micro_f", "expected_cost:costs=0/1/5/0"),
)
OF_THREE = (
    *("error_rate", "f1:positive=1", "precision:positive=2", "recall:positive=0", "specificity:positive=1"),
    "expected_cost:costs=0/1/-2/0.5/0/3/1/1/0",
)


def measured(name, k):
    return parse_measure(name).ready(Task("classification", tuple(range(k))))


def every_labelling(functional, k, seed):
    """Return the least and the greatest value over all labels of the rest, what is labelled, and what is predicted."""
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(LABELLED + REST))
    predictions, labels = random.integers(0, k, (2, LABELLED + REST))

    def matrix(given):
        found = np.zeros((k, k))
        np.add.at(found, (predictions[: len(given)], given), weights[: len(given)])
        return found

    values = [functional.value(matrix([*labels[:LABELLED], *rest])) for rest in product(range(k), repeat=REST)]
    predicted = np.bincount(predictions, weights=weights, minlength=k)
    return np.nanmin(values), np.nanmax(values), matrix(labels[:LABELLED]), predicted


@pytest.mark.parametrize(("name", "k"), [*((name, 2) for name in OF_TWO), *((name, 3) for name in OF_THREE)])
@pytest.mark.parametrize("seed", range(8))
def test_the_ends_are_those_of_every_labelling(name, k, seed):
    functional = measured(name, k)
    low, high, labelled, predicted = every_labelling(functional, k, seed)
    found = possible_values(functional, labelled, predicted)
    if functional.ratio is not None and np.sum(functional.ratio[1] * labelled) == 0:
        assert found == functional.bounds
    else:
        assert found == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("name", ["balanced_accuracy", "macro_f"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(16))
def test_all_the_rest_right_is_the_most_that_a_mean_over_classes_can_be(name, k, seed):
    functional = measured(name, k)
    low, high, labelled, predicted = every_labelling(functional, k, seed)
    least, most = possible_values(functional, labelled, predicted)
    assert most == pytest.approx(high, abs=1e-12)
    told = np.all(functional.class_ratios.at(labelled)[1] > 0)
    if told and k == 2:  # all the rest wrong has both ratios as low as they can be
        assert least == pytest.approx(low, abs=1e-12)
    elif told:
        assert 0.0 <= least <= low + 1e-12
    else:
        assert least == 0.0


@pytest.mark.parametrize(("name", "part"), [("balanced_accuracy", "recall"), ("macro_f", "f1")])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(16))
def test_a_mean_over_classes_is_at_least_that_of_what_each_ratio_can_be(name, part, k, seed):
    functional = measured(name, k)
    for other in count(1_000 * seed):  # until labels tell of every class
        *_, labelled, predicted = every_labelling(functional, k, other)
        if np.all(functional.class_ratios.at(labelled)[1] > 0):
            break
    each = [every_labelling(measured(f"{part}:positive={c}", k), k, other)[0] for c in range(k)]
    found, _ = possible_values(functional, labelled, predicted)
    assert found == pytest.approx(np.mean(each), abs=1e-12)


def test_labels_prove_the_balanced_accuracy_of_who_calls_all_items_the_same():
    functional = measured("balanced_accuracy", 3)
    labelled = np.array([[0.1, 0.05, 0.02], [0, 0, 0], [0, 0, 0]])
    assert possible_values(functional, labelled, np.array([1.0, 0, 0])) == pytest.approx((1 / 3, 1 / 3), abs=1e-12)
    labelled[0, 2] = 0.0  # whether the third class occurs is not known
    assert possible_values(functional, labelled, np.array([1.0, 0, 0])) == pytest.approx((0, 1 / 2), abs=1e-12)


@pytest.mark.parametrize("name", ["mcc", "brier", "kappa"])
def test_of_other_measures_the_bounds_are_left(name):
    functional = measured(name, 2)
    assert possible_values(functional, np.diag([0.4, 0.4]), np.array([0.5, 0.5])) == functional.bounds


def test_ends_are_rounded_outward_but_not_beyond_the_measure_and_not_of_points():
    low, high = np.array([0.0, 0.3, 0.25, -np.inf]), np.array([0.5, 1.0, 0.25, np.inf])
    lows, highs = all_outward(low, high, (0.0, 1.0))
    assert lows.tolist() == [0.0, 0.3 - 1e-13, 0.25, 0.0]
    assert highs.tolist() == [0.5 + 1e-13, 1.0, 0.25, 1.0]
    lows, highs = all_outward(np.array([2e9]), np.array([4e9]), (0.0, np.inf))
    assert 0 < 2e9 - lows[0] < 1e-3
    assert 0 < highs[0] - 4e9 < 1e-3
