"""A user's own measures: what is none is refused when it is made, and what it returns when it is used."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sondage import Pool, evaluate
from sondage.core.measures import ConfusionMeasure, Loss, Task
from sondage.errors import MeasureError

P = np.tile([0.1, 0.4, 0.6, 0.9], 30)
Y = np.tile([0, 1, 1, 1], 30)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"function": "f1"}, "function='f1' is no function"),
        ({"name": " "}, "name=' ' must be a text"),
        ({"bounds": (1.0, 0.0)}, r"bounds=\(1.0, 0.0\) must be two numbers, the smallest and the largest value"),
        ({"bounds": (0.0, float("nan"))}, "must be two numbers"),
        ({"bounds": None}, "must be two numbers"),
    ],
)
def test_what_is_no_measure_is_refused(parts, message):
    for kind in (Loss, ConfusionMeasure):
        with pytest.raises(MeasureError, match=message):
            kind(**{"function": lambda *told: 0.0, **parts})


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            ConfusionMeasure(lambda m: None),
            "the function of 'own measure' returned a NoneType; it must return a number",
        ),
        (ConfusionMeasure(lambda m: m), "returned a ndarray; it must return a number"),
        (ConfusionMeasure(np.trace, lambda m: np.ones(3)), r"the gradient of 'own measure' has shape \(3,\); it must"),
        (ConfusionMeasure(np.trace, lambda m: m * np.nan), "has an entry that is not finite, where its value is"),
        (ConfusionMeasure(lambda m: np.nan), "undefined on this pool whatever the labels are"),
        (Loss(lambda f, y: "none"), "a loss function returned a str of no numbers; it must return 120"),
    ],
)
def test_what_an_own_measure_may_not_return_is_refused(measure, message):
    with pytest.raises(MeasureError, match=message):
        evaluate(Pool(P), measure, Y, budget=40)


def test_an_infinite_value_is_undefined():
    odds = ConfusionMeasure(lambda m: np.divide(m[0, 0] * m[1, 1], m[0, 1] * m[1, 0]), name="odds ratio")
    ready = odds.ready(Task("classification", (0, 1)))
    assert_allclose(ready.value(np.array([[0.4, 0.1], [0.1, 0.4]])), 16.0)
    with np.errstate(divide="ignore"):
        assert np.isnan(ready.value(np.array([[0.5, 0.0], [0.1, 0.4]])))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_loss_that_fails_on_arrays_is_told_that_it_gets_them(kind):
    pool = Pool(means=np.arange(20.0)) if kind == "numbers" else Pool(predictions=[0, 1] * 10)
    with pytest.raises(ValueError, match="truth value of an array") as failed:
        evaluate(pool, Loss(lambda f, y: 1.0 if f > y else 0.0), [0, 1] * 10, 5)
    assert failed.value.__notes__ == [
        "a loss function is called with n outputs and n labels, arrays both; it returns n losses"
    ]
