"""What advice says in words: of what budgets are, and of what all of it supposes."""

from html import unescape

import numpy as np
import pytest

from sondage import Classifier, Pool, Regressor, advise
from sondage.errors import InputError, SondageWarning
from sondage.reports.advice import describe_advice

P = np.random.default_rng(0).random(500)


def test_a_budget_of_cost_is_not_called_labels() -> None:
    assert ": 100 labels are worth about" in advise(Pool(P), "f1", budgets=[100]).sentence
    assert ": 1 label is worth about" in advise(Pool(P**8), "f1", budgets=[1]).sentence
    sentence = advise(Pool(P, costs=P + 0.5), "f1", budgets=[100]).sentence
    assert ": a cost of 100 is worth about" in sentence
    assert "labels" not in sentence


def test_the_middle_budget_is_judged_in_whatever_order_they_are_named() -> None:
    told = {advise(Pool(P), "f1", budgets=named).sentence for named in ([100, 300, 200], np.array([300, 200, 100]))}
    assert len(told) == 1
    assert ": 200 labels are worth" in told.pop()


@pytest.mark.parametrize(("cost", "looked"), [(150.0, [300, 1000]), (2e4, [2e4 * len(P) / 2]), (1e-6, [len(P) / 2e6])])
def test_budgets_that_nobody_named_are_such_as_the_pool_can_spend(cost: float, looked: list[float]) -> None:
    advice = advise(Pool(P, costs=np.full(len(P), cost)))
    assert list(dict.fromkeys(one.budget for one in advice.expected)) == pytest.approx(looked, rel=1e-9)


def test_advice_shows_itself() -> None:
    found = advise(Pool(P), "f1", budgets=[100])
    assert str(found) == found.sentence
    shown = unescape(found._repr_html_())
    assert all(line in shown for line in describe_advice(found))


def test_of_regressors_the_variances_are_supposed() -> None:
    found = advise(Pool(means=P, variances=P**2), "mse", budgets=[100])
    assert found.sentence.endswith("if the predictive variances are right.")
    assert describe_advice(found)[1].startswith("If the predictive variances are right, the MSE of 'model' is 0.")


@pytest.mark.parametrize(
    ("pool", "belief", "supposed"),
    [
        (Pool(P), None, "the probabilities are right"),
        (Pool(P), "uniform", "the belief is right"),
        (Pool(predictions=P > 0.5), [0.8, 0.2], "the belief is right"),
        (Pool(predictions=P > 0.5), None, "all labels are equally probable (the pool has no probabilities)"),
        (Pool(predictions=P > 0.5, judge=P), None, "the judge deserves as much belief as before any label"),
        (Pool(P, judge={"a": P, "b": P}), None, "the judges deserve as much belief as before any label"),
        (Pool(P, judge=P), "model", "the probabilities are right"),
    ],
)
def test_probabilities_that_nobody_told_are_not_supposed(pool: Pool, belief: object, supposed: str) -> None:
    found = advise(pool, "f1", budgets=[100], belief=belief)
    assert found.condition == supposed
    assert describe_advice(found)[1].startswith(f"If {supposed}, the F1 of 'model' is 0.")


def test_without_variances_only_ratios_are_told() -> None:
    one, two = Pool(means=P), Pool(models={"a": Regressor(P), "b": Regressor(P**2)})
    found = advise(two, "mse", compare=("a", "b"), budgets=[100])
    assert found.sentence.endswith("without predictive variances it is not known, and only ratios tell.")
    assert "the root mean squared error is 1" in describe_advice(advise(one, "mse"))[1]
    for wanted in ({"width": 0.1}, {"difference": 0.1}):
        with pytest.raises(InputError, match="width= and difference= need predictive variances"):
            advise(two, "mse", compare=("a", "b"), **wanted)
    with pytest.raises(InputError, match=r"difference=0\.1 goes with compare="):
        advise(one, "mse", difference=0.1)


def test_a_difference_is_found_for_certain_once_all_that_can_move_it_is_labelled() -> None:
    near = Pool(models={"a": Classifier(P), "b": Classifier(np.where(np.arange(500) < 40, 1 - P, P))})
    asked = {"measure": "accuracy", "compare": ("a", "b"), "difference": 0.01, "budgets": [100]}
    default = advise(near, **asked).expected[0]
    assert (default.method, default.std_error, default.power) == ("default", 0.0, 1.0)
    alike = Pool(models={"a": Classifier(P), "b": Classifier(P)})
    with pytest.warns(SondageWarning, match="nothing is uncertain"):
        assert np.isnan(advise(alike, **asked).expected[0].power)


def test_a_budget_for_the_whole_pool_leaves_nothing_to_estimate() -> None:
    found = advise(Pool(np.random.default_rng(0).random(500)), "f1", budgets=[500])
    assert found.sentence == "A budget of 500 labels the whole pool: nothing is left to estimate."
