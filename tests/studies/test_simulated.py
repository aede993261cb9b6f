"""Budgets for a width, from evaluations with labels that the belief supposes."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from sondage import Classifier, Outcome, Pool, Ranking, Regressor, advise, evaluate, read_pool
from sondage.core.beliefs import ClassBelief, GaussianBelief, OutcomeBelief
from sondage.core.predictions import Classes, Items
from sondage.errors import InputError
from sondage.studies.method import choose_method
from sondage.studies.questions import make_question
from sondage.studies.simulated import budget_as_wide, drawn_labels, simulated_width

SIZE = 20_000


def rare(share=-5.0, size=SIZE):
    """Return probabilities of few positives, and labels by these."""
    random = np.random.default_rng(4)
    p = expit(share + 2.0 * random.normal(size=size))
    return p, (random.random(size) < p).astype(int)


def test_classes_are_drawn_as_often_as_believed():
    p = np.tile([[0.7, 0.2, 0.1], [0.0, 0.05, 0.95]], (SIZE // 2, 1))
    items = Items((Classes(p.argmax(axis=1), p),), np.ones(SIZE))
    drawn = np.array(drawn_labels(ClassBelief(3, models=((0, 1.0),)), items, (0,), np.random.default_rng(0)))
    for kind in (0, 1):
        shares = np.bincount(drawn[kind::2], minlength=3) / (SIZE // 2)
        assert shares == pytest.approx(p[kind], abs=4 * 0.5 / np.sqrt(SIZE // 2))
    assert not np.any(drawn[1::2] == 0)


def test_numbers_have_the_means_and_variances_that_are_believed():
    means, variances = np.linspace(-5.0, 5.0, SIZE), np.full(SIZE, 4.0)
    pool = Pool(means=means, variances=variances)
    drawn = drawn_labels(GaussianBelief(models=((0, 1.0),)), pool.items, (0,), np.random.default_rng(1))
    scores = (np.array(drawn) - means) / 2.0
    assert np.mean(scores) == pytest.approx(0.0, abs=4 / np.sqrt(SIZE))
    assert np.var(scores) == pytest.approx(1.0, abs=4 * np.sqrt(2 / SIZE))


def test_outcomes_of_two_systems_are_drawn_together():
    judged = {"a": np.full(SIZE, 0.8), "b": np.full(SIZE, 0.3)}
    pool = Pool(models={name: Outcome(judge=one) for name, one in judged.items()})
    drawn = np.array(drawn_labels(OutcomeBelief(), pool.items, (0, 1), np.random.default_rng(2)))
    assert drawn.mean(axis=0) == pytest.approx([0.8, 0.3], abs=4 * 0.5 / np.sqrt(SIZE))


@pytest.mark.parametrize("method", ["passive", "default"])
def test_widths_are_those_of_labels_that_are_as_believed(method):
    p, labels = rare(share=-2.0)
    pool = Pool(probabilities=p)
    asked = pool, make_question(pool, "error_rate"), choose_method(method)
    simulated = simulated_width(*asked, budget=300, level=0.9, simulations=10)
    widths = [
        evaluate(pool, "error_rate", labels, 300, 50 + seed, method=method).interval(0.9).width for seed in range(10)
    ]
    assert simulated == pytest.approx(np.mean(widths), rel=4 * np.std(widths) / np.mean(widths) * np.sqrt(2 / 10))


@pytest.mark.parametrize("power", [0.4, 0.5, 0.9])
@pytest.mark.parametrize("first", [3.0, 4_000.0])
def test_the_search_finds_the_budget_of_a_power_law(power, first):
    found = budget_as_wide(lambda budget: 2.0 * budget**-power, first, 0.1, 1.0, 1e9)
    assert 2.0 * found**-power == pytest.approx(0.1, rel=0.03)


def test_the_search_knows_that_the_pool_is_finite():
    def width(budget):
        return 2.0 * np.sqrt(1 / budget - 1 / 500)

    found = budget_as_wide(width, 10.0, 0.01, 1.0, 500.0)
    assert width(found) == pytest.approx(0.01, rel=0.03)


def test_the_search_ends_where_nothing_is_uncertain_and_at_the_least_budget():
    assert 40 <= budget_as_wide(lambda budget: 0.5 if budget < 40 else 0.0, 10.0, 0.1, 1.0, 500.0) < 500
    assert budget_as_wide(lambda budget: 0.05, 10.0, 0.1, 3.0, 500.0) == 3.0


def test_a_budget_pays_the_dearest_label():
    pool = Pool(probabilities=rare(-1.0, 400)[0], costs=np.linspace(1.0, 30.0, 400))
    assert min(advise(pool, "f1", width=0.95, simulations=2).needed.values()) >= 30


def test_intervals_are_as_wide_as_asked_for_where_few_labels_meet_rare_errors():
    p, labels = rare(size=5_000)
    pool = Pool(probabilities=p)
    told = advise(pool, "error_rate", width=0.08).needed["default"]
    simulated = advise(pool, "error_rate", width=0.08, simulations=15).needed["default"]

    def width(budget):
        runs = [evaluate(pool, "error_rate", labels, int(budget), seed).interval() for seed in range(20)]
        return np.mean([run.width for run in runs])

    assert width(told) > 1.25 * 0.08
    assert width(simulated) == pytest.approx(0.08, rel=0.2)


@pytest.mark.parametrize(
    "pool",
    [
        Pool(probabilities=rare(-1.0, 400)[0], costs=np.linspace(1.0, 3.0, 400)),
        Pool(probabilities=rare(-1.0, 400)[0], groups=np.arange(400) // 2),
    ],
    ids=["costs", "groups"],
)
def test_pools_of_each_kind_are_simulated(pool):
    found = advise(pool, "error_rate", width=0.2, simulations=3).needed
    assert all(1 <= budget <= (800 if pool.prices else 200) for budget in found.values())


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
def test_differences_are_simulated(measure):
    p, _ = rare(-1.0, 2000)
    pool = Pool(models={"a": Classifier(p), "b": Classifier(np.roll(p, 1) * 0.5 + p * 0.5)})
    found = advise(pool, measure, compare=("a", "b"), width=0.2, simulations=3).needed
    assert set(found) == {"default", "thesis", "passive"}


def test_numbers_are_simulated():
    pool = Pool(models={"a": Regressor(np.linspace(0, 1, 500), np.full(500, 0.04))})
    one, other = (advise(pool, "mse", width=0.02, simulations=count).needed["passive"] for count in (0, 10))
    assert other == pytest.approx(one, rel=0.35)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 5}, "simulations=5 goes with width="),
        ({"simulations": -1, "width": 0.1}, "simulations=-1 must be at least 0"),
        ({"simulations": 2.5, "width": 0.1}, "simulations=2.5 must be a whole number"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        advise(Pool([0.2, 0.7, 0.9]), **options)


def test_rankings_are_not_simulated():
    pool = Pool(models={"a": Ranking([["x", "y"], ["y", "x"]])}, ids=["q1", "q2"], classes=[0, 1])
    with pytest.raises(InputError, match="simulations= is not for rankings"):
        advise(pool, "dcg@2", width=0.5, simulations=5)


def test_pools_in_files_are_simulated_to_the_same_budgets(tmp_path):
    p, _ = rare(-2.0, 2000)
    pq.write_table(pa.table({"id": np.arange(len(p)), "p_0": 1 - p, "p_1": p}), tmp_path / "pool.parquet")
    found = [
        advise(read_pool(tmp_path / "pool.parquet", lazy=lazy), "f1", width=0.5, simulations=1).needed
        for lazy in (False, True)
    ]
    assert found[0] == found[1]
