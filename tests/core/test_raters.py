"""What labellers add to the variance, against enumeration of who is drawn and what each person says."""

from itertools import product

import numpy as np
import pytest

from sondage.core.comparisons import Contrast
from sondage.core.measures import Task, parse_measure
from sondage.core.predictions import Classes, Items, Means
from sondage.core.raters import Opinions, rater_roots, rater_variance
from sondage.core.samples import Expansion, Sample, from_inclusion


def sample_of(predictions, labels, weights, expansion, units=None):
    return Sample(Items((Classes(np.array(predictions), None),), np.array(weights)), np.array(labels), expansion, units)


def opinions_of(given):
    """Return opinions from unit -> labels."""
    owner = np.repeat(np.arange(len(given)), [len(labels) for labels in given.values()])
    return Opinions(np.array(list(given)), owner, np.array([label for labels in given.values() for label in labels]))


CLASSES = Task("classification", (0, 1))
ERRORS = Contrast(parse_measure("error_rate").ready(CLASSES), ((0, 1.0),))


def test_with_the_labels_own_spread_it_is_the_whole_variance():
    """Every draw of three items, everything that three people could say of each: the mean of k t^2 + V_r is Var."""
    share, inclusion, weights = np.array([0.1, 0.5, 0.7]), np.array([0.4, 1.0, 0.6]), np.array([0.2, 0.3, 0.5])
    moments, estimated = np.zeros(3), 0.0
    said = list(product(range(2), repeat=3))
    for drawn in product((0, 1), repeat=3):
        here = np.flatnonzero(drawn)
        chance = np.prod(np.where(drawn, inclusion, 1 - inclusion))
        for people in product(said, repeat=len(here)):
            table = np.array(people, dtype=np.int64).reshape(len(here), 3)
            p = share[here][:, None]
            q = chance * np.prod(np.where(table == 1, p, 1 - p))
            expansion = from_inclusion(inclusion[here])
            sample = sample_of(np.zeros(len(here), dtype=np.int64), table[:, 0], weights[here], expansion)
            t = weights[here] * table[:, 0]
            value = float(expansion.weights @ t)
            moments += q * np.array([1.0, value, value**2])
            opinions = {unit: tuple(row[1:].tolist()) for unit, row in enumerate(table)}
            added = rater_variance(ERRORS, sample, {0: np.zeros((2, 2))}, opinions_of(opinions)) if len(here) else 0.0
            estimated += q * (float(expansion.spread @ t**2) + added)
    assert moments[0] == pytest.approx(1.0)
    assert moments[1] == pytest.approx(float(weights @ share))
    assert estimated == pytest.approx(moments[2] - moments[1] ** 2, rel=1e-12)


def test_units_with_several_labels_stand_for_the_others_by_size():
    weights, expansion = (
        np.array([0.1, 0.2, 0.3, 0.4]),
        Expansion(np.array([2.0, 1.0, 4.0, 1.0]), np.array([2.0, 0, 12, 0])),
    )
    sample = sample_of([0, 0, 0, 0], [0, 1, 1, 0], weights, expansion)
    missing = np.array([2.0, 1.0, 4.0, 1.0])
    found = rater_variance(ERRORS, sample, {0: np.zeros((2, 2))}, opinions_of({1: (0, 1), 3: (0, 0, 0)}))
    own = missing[1] * 0.2**2 * 0.5
    others = (missing * weights**2)[[0, 2]].sum() / (missing * weights**2)[[1, 3]].sum() * own
    assert found == pytest.approx(own + others)


def test_nobody_disagrees_or_nobody_was_asked_twice():
    sample = sample_of([0, 1], [0, 1], [0.5, 0.5], Expansion(np.ones(2), np.zeros(2)))
    assert rater_variance(ERRORS, sample, {0: np.zeros((2, 2))}, opinions_of({0: (1, 1)})) == 0.0


def test_a_mean_of_labels_varies_less():
    loss = Contrast(parse_measure("mse").ready(Task("regression", ())), ((0, 1.0),))
    items = Items((Means(np.array([0.0, 1.0]), None),), np.array([0.5, 0.5]))
    sample = Sample(items, np.array([2.0, 1.0]), Expansion(np.ones(2), np.zeros(2)))
    one = rater_variance(loss, sample, {0: np.zeros(1)}, opinions_of({0: (1.0, 3.0), 1: (1.0, 1.0)}))
    assert one == pytest.approx(np.var([0.5 * 1, 0.5 * 9], ddof=1))
    assert (
        rater_variance(loss, sample, {0: np.zeros(1)}, opinions_of({0: (1.0, 3.0), 1: (1.0, 1.0)}), averaged=True)
        == one / 2
    )


def test_what_labellers_add_to_two_models_adds_up_to_what_they_add_to_the_difference():
    random = np.random.default_rng(3)
    first, second = random.integers(0, 2, 8), random.integers(0, 2, 8)
    items = Items((Classes(first, None), Classes(second, None)), np.full(8, 1 / 8))
    sample = Sample(items, random.integers(0, 2, 8), Expansion(random.uniform(1, 3, 8), np.full(8, 0.2)))
    sums, opinions = {0: np.zeros((2, 2)), 1: np.zeros((2, 2))}, opinions_of({0: (0, 1), 3: (1, 1, 0), 5: (0, 0)})
    functional = ERRORS.functional
    one, other = (rater_roots(Contrast(functional, ((m, 1.0),)), sample, sums, opinions) for m in (0, 1))
    difference = Contrast(functional, ((0, 1.0), (1, -1.0)))
    assert np.sum((one - other) ** 2) == pytest.approx(rater_variance(difference, sample, sums, opinions))
    assert np.sum((one - other) ** 2) > 0


def test_rows_that_share_a_label_vary_together():
    """Two rows of one unit: the label moves both."""
    items = [0, 0, 0], [1, 0, 0], np.array([0.2, 0.3, 0.5])
    expansion = Expansion(np.ones(2), np.zeros(2))
    sample = sample_of(*items, expansion, units=np.array([1, 0, 1]))
    opinions = opinions_of({1: (0, 1), 0: (1, 0, 0)})
    found = np.bincount(opinions.owner, rater_roots(ERRORS, sample, {0: np.zeros((2, 2))}, opinions) ** 2)
    assert found == pytest.approx([np.var([0.0, 0.7], ddof=1), np.var([0.3, 0.0, 0.0], ddof=1)])
