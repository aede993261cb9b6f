"""Statements about many models at once: closed forms, and their probability in simulated samples."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import norm, studentized_range, t

from sondage.core.beliefs import ClassBelief
from sondage.core.comparisons import Contrast
from sondage.core.contenders import Contention, standing_of
from sondage.core.measures import ErrorRate, Task
from sondage.core.predictions import Classes, Items
from sondage.core.significance import (
    JointErrors,
    best_models,
    holm,
    range_test,
    simultaneous_gaps,
    simultaneous_widths,
    tukey_test,
)
from sondage.errors import InputError

INDEPENDENT = JointErrors(np.eye(6), np.zeros((6, 0)))


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_variances_are_those_of_the_differences_the_larger_of_two():
    roots, expected = random().normal(size=(4, 9)), 2 * random(1).normal(size=(4, 5))
    found = JointErrors(roots, expected).variances()
    for i in range(4):
        for j in range(4):
            sampled, believed = (np.sum((rows[i] - rows[j]) ** 2) for rows in (roots, expected))
            assert found[i, j] == pytest.approx(max(sampled, believed), abs=1e-12)


def test_errors_by_chance_are_drawn_in_blocks_and_are_those_of_one_draw():
    rows = random().normal(size=(3, 8192))  # as of 1,000 classes and eight labels
    tracemalloc.start()
    found = JointErrors(rows, np.zeros((3, 0))).simulated(random(1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**26  # bytes; a single draw of all takes 2**27
    assert np.allclose(found, random(1).standard_normal((2000, 8192)) @ rows.T, rtol=1e-12, atol=1e-9)


def test_no_variance_is_less_than_what_no_stage_drew():
    least = np.array([[0.0, 3.0], [3.0, 0.0]])
    assert JointErrors(np.eye(2), np.zeros((2, 0)), least).variances().tolist() == least.tolist()
    assert JointErrors(2 * np.eye(2), np.zeros((2, 0)), least).variances()[0, 1] == 8


def test_only_a_sampled_variance_has_few_labels_behind_it():
    # Two models differ on five labels; the belief expects as much, or far more.
    roots = np.array([np.full(5, 0.2), np.zeros(5)])
    for expected, wanted in ((0.1, (0.2, t(4.6))), (4.0, (4.0, norm))):
        errors = JointErrors(roots, np.array([[np.sqrt(expected)], [0.0]]))
        variance, law = wanted
        assert errors.reliable()[0][0, 1] == pytest.approx(variance)
        for factor, alone in ((0.99, False), (1.01, True)):
            gap = factor * law.ppf(0.955) * np.sqrt(variance)
            assert best_models(np.array([gap, 0.0]), errors, 0.95, random()).tolist() == [True, not alone]
        low, high = simultaneous_gaps(np.zeros(2), errors, 0, 0.95, random())
        assert high[1] == -low[1] == pytest.approx(law.ppf(0.975) * np.sqrt(variance), rel=0.05)


def test_the_surest_level_is_one():
    # 1 - (1 - 1e-12) is a little below 1e-12.
    assert simultaneous_widths(INDEPENDENT, 1 - 1e-12, random()) == 1 - 1e-12
    with pytest.raises(InputError, match="nearer to 0 or 1 than 1e-12"):
        simultaneous_widths(INDEPENDENT, 1 - 9e-13, random())


def test_independent_models_need_sidak_s_level():
    assert simultaneous_widths(INDEPENDENT, 0.95, random()) == pytest.approx(0.95 ** (1 / 6), abs=0.003)


def test_where_nothing_is_uncertain_single_intervals_need_no_higher_level():
    assert simultaneous_widths(JointErrors(np.zeros((3, 4)), np.zeros((3, 0))), 0.95, random()) == 0.95


def test_all_pairs_need_tukey_s_range():
    low, high = simultaneous_gaps(np.zeros(6), _many(6), 0, 0.95, random())
    wanted = studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2)
    assert (high - low)[1:] / 2 / np.sqrt(_many(6).variances()[0, 1:]) == pytest.approx(wanted, rel=0.03)


def _many(k: int) -> JointErrors:
    """Return independent errors that rest on so many labels that Student's t is normal."""
    return JointErrors(np.kron(np.eye(k), np.full(400, 0.05)), np.zeros((k, 0)))


def test_two_models_are_a_one_sided_test():
    errors = _many(2)
    error = float(np.sqrt(errors.variances()[0, 1]))
    critical = norm.ppf(0.955)  # 90 % of the error: the rest is for models far behind
    for factor, alone in ((0.9, False), (1.1, True)):
        kept = best_models(np.array([critical * error * factor, 0.0]), errors, 0.95, random())
        assert kept.tolist() == [True, not alone]


@pytest.mark.parametrize("level", [1e-9, 0.05, 0.4])
def test_whom_nobody_is_ahead_of_may_be_the_best_at_any_level(level: float):
    pair = JointErrors(np.eye(2), np.zeros((2, 0)))
    assert best_models(np.array([0.01, 0.0]), pair, level, random()).tolist() == [True, False]
    assert best_models(np.zeros(6), INDEPENDENT, level, random()).all()


def test_a_hopeless_crowd_costs_a_contender_nothing():
    # The difference of two has the standard error 2 ** 0.5; against 31 others the critical value would be 2.8 of them.
    values = np.array([2.2, 0.0, *np.full(30, -50.0)])
    assert best_models(values, _many(32), 0.95, random())[:3].tolist() == [True, True, False]
    values[1] = -0.6
    assert best_models(values, _many(32), 0.95, random()).sum() == 1


def test_known_differences_and_undefined_values():
    exact = JointErrors(np.zeros((3, 1)), np.zeros((3, 0)))
    assert best_models(np.array([0.5, 0.4, 0.5]), exact, 0.95, random()).tolist() == [True, False, True]
    low, high = simultaneous_gaps(np.array([0.5, 0.4, 0.5]), exact, 0, 0.95, random())
    assert low.tolist() == high.tolist() == pytest.approx([0.0, -0.1, 0.0])
    assert best_models(np.array([0.5, np.nan, 0.4]), exact, 0.95, random()).tolist() == [True, True, False]
    with pytest.raises(InputError, match="level=1 must be between 0 and 1"):
        best_models(np.zeros(6), INDEPENDENT, 1, random())


def test_the_set_holds_the_best_and_the_gaps_hold_together():
    # Five models, 60 labels, errors that are shared in part; of equally good models each is held 19 times in 20.
    held, together, runs, truth = 0, 0, 120, np.array([1.0, 1.0, 0.9, 0.5, 0.0])
    for seed in range(runs):
        draws = random(seed)
        sample = truth[:, None] + draws.normal(size=(5, 60)) + draws.normal(size=60)
        values = sample.mean(axis=1)
        errors = JointErrors((sample - values[:, None]) / np.sqrt(60 * 59), np.zeros((5, 0)))
        held += best_models(values, errors, 0.95, random(seed))[0]
        leader = int(values.argmax())
        low, high = simultaneous_gaps(values, errors, leader, 0.95, random(seed))
        together += np.all((low <= truth - truth[leader]) & (truth - truth[leader] <= high))
    assert held / runs >= 0.9
    assert together / runs >= 0.9


def test_no_difference_reaches_farther_than_two_models_own_ends():
    # The first two differ on one label of sixty: that tells little of their difference, and sixty tell of each model.
    rows = random(5).normal(size=(40, 60)) / 60
    rows[1] = rows[0]
    rows[1, 0] += 0.15
    errors, values, asked = JointErrors(rows, np.zeros((40, 0))), np.linspace(0.5, 0.3, 40), []

    def own(level):
        asked.append(level)
        half = t(40).ppf(0.5 + 0.5 * level) * np.sqrt(np.sum(rows**2, axis=1))
        return values - half, values + half

    alone = simultaneous_gaps(values, errors, 0, 0.95, random())
    low, high = simultaneous_gaps(values, errors, 0, 0.95, random(), own=own)
    assert asked == [pytest.approx(simultaneous_widths(errors, 0.995, random()))]
    least, most = own(asked[0])
    assert alone[1][1] > 1.4 > most[1] - least[0] == high[1]
    assert alone[0][1] < -1.4 < least[1] - most[0] == low[1]
    ratios = (high - low)[2:] / (alone[1] - alone[0])[2:]
    assert np.all((ratios > 1) & (ratios < 1.05))  # what the own ends' share of the error costs the others


def test_the_gaps_hold_together_with_the_models_own_ends():
    # Two models differ on few labels of fifty, and by much on each.
    together, runs, truth = 0, 150, np.array([0.5, 0.46, 0.3])
    for seed in range(runs):
        draws = random(seed)
        sample = truth[:, None] + np.array([[1.0], [1.0], [0.6]]) * draws.normal(size=50)
        sample[1] += np.where(draws.random(50) < 0.04, 2.0 * draws.normal(size=50), 0.0)
        sample[2] += draws.normal(size=50)
        values = sample.mean(axis=1)
        rows = (sample - values[:, None]) / np.sqrt(50 * 49)
        half = np.sqrt(np.sum(rows**2, axis=1))

        def own(level, values=values, half=half):
            reach = t(49).ppf(0.5 + 0.5 * level) * half
            return values - reach, values + reach

        leader = int(values.argmax())
        errors = JointErrors(rows, np.zeros((3, 0)))
        low, high = simultaneous_gaps(values, errors, leader, 0.95, random(seed), own=own)
        together += np.all((low <= truth - truth[leader]) & (truth - truth[leader] <= high))
    assert together / runs >= 0.9


def test_holm_among_more_tests():
    assert holm([0.01, 0.02], among=4).tolist() == [0.04, 0.06]
    with pytest.raises(InputError, match="2 p-values chosen among 1"):
        holm([0.01, 0.02], among=1)


def test_the_range_is_tukey_s():
    values, variances = np.array([0.1, 0.3, 0.25]), np.full((3, 3), 0.004)
    one, (other, _) = range_test(values, 0.004, 40), tukey_test(values, variances, 40)
    assert (one.statistic, one.pvalue, one.df) == pytest.approx((other.statistic, other.pvalue, other.df))


def test_who_contends():
    residuals = random().normal(size=(4, 50))
    error = np.sqrt(np.sum((residuals - residuals[1]) ** 2, axis=1))
    values = 0.8 - np.array([1.0, 0.0, 3.0, 9.0]) * error
    leader, weights = standing_of([0, 1, 2, 3], values, residuals, np.ones(50), higher_is_better=True)
    wanted = np.exp(-0.5 * np.array([1.0, 0.0, 3.0, 6.0]) ** 2)
    assert leader == 1
    assert list(weights.values()) == pytest.approx((wanted / wanted.sum()).tolist())
    assert standing_of([0, 1, 2, 3], -values, residuals, np.ones(50), higher_is_better=False)[0] == 1


def test_models_without_a_value_contend_alike():
    leader, weights = standing_of([2, 5], np.full(2, np.nan), np.zeros((2, 3)), np.ones(3), higher_is_better=True)
    assert (leader, weights) == (2, {2: 0.5, 5: 0.5})


def test_models_with_the_same_errors_cost_nothing_whatever_their_last_bits():
    rows = random(3).normal(size=(3, 40))
    same = np.concatenate([rows, rows])
    nearly = same * (1 + 1e-15 * random(4).normal(size=same.shape))
    values = np.arange(6.0)
    found = [
        simultaneous_gaps(values, JointErrors(errors, np.zeros((6, 0))), 0, 0.95, random()) for errors in (same, nearly)
    ]
    assert found[0] == pytest.approx(np.array(found[1]), rel=1e-9)


def test_how_much_contenders_want_of_an_item_is_told_by_itself_in_whatever_block():
    draw = random(3)
    p = draw.random((60, 5000))
    items = Items(tuple(Classes((one > 0.5).astype(int), one) for one in p), np.full(5000, 1 / 5000))
    error_rate = ErrorRate().ready(Task("classification", (0, 1)))
    influences = tuple(Contrast(error_rate, ((model, 1.0),)).influence({model: np.eye(2) / 2}) for model in range(60))
    belief = ClassBelief(2, models=tuple((model, 1 / 60) for model in range(60)))
    term = Contention(influences=influences, belief=belief, weights=(1 / 60,) * 60, leader=3)
    apart = np.concatenate([term.relevance(items.take(rows)) for rows in (slice(0, 700), slice(700, None))])
    assert term.relevance(items) == pytest.approx(apart, rel=1e-12)
    chance, wrong = belief.probability(items, 1), p > 0.5  # of the second class the first is predicted wrongly
    gap = (wrong.astype(float) - wrong[3]) * 2  # by how much the label moves the difference from the leader
    assert term.relevance(items) == pytest.approx(np.sqrt(chance * (1 - chance) * np.mean(gap**2, axis=0)), rel=1e-9)
