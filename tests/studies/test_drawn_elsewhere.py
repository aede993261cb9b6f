"""Labels somebody else drew: by hand, over all draws of a small pool, and what is refused."""

from itertools import product
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from scipy.stats import t as student

from sondage import estimate_from
from sondage.errors import InputError, LabelError

F, Y = np.array([1, 0, 1, 1, 0]), np.array([1, 1, 0, 1, 0])
PI = np.array([0.9, 0.3, 0.5, 0.4, 0.6])


def drawn(taken: Any, **parts: Any) -> float:
    taken = np.asarray(taken)
    found = estimate_from(
        "error_rate", predictions=F[taken], labels=Y[taken], inclusion=PI[taken], classes=(0, 1), **parts
    )
    return float(found.value)


def test_horvitz_thompson_is_unbiased_over_all_draws() -> None:
    mean = 0.0
    for mask in map(np.array, product((False, True), repeat=len(PI))):
        chance = float(np.prod(np.where(mask, PI, 1 - PI)))
        if mask.any():
            mean += chance * drawn(np.flatnonzero(mask), estimator="horvitz_thompson", pool_size=5)
    assert mean == pytest.approx(np.mean(F != Y), rel=1e-12)


def test_the_variance_with_replacement_is_unbiased_over_all_draws() -> None:
    q, losses = np.array([0.1, 0.3, 0.2, 0.25, 0.15]), np.array([1.5, 2.0, 0.5, 3.0, 2.5])
    moments = np.zeros(3)
    for draws in map(list, product(range(5), repeat=3)):
        found = estimate_from(
            "mae",
            means=np.zeros(3),
            labels=losses[draws],
            draw_probability=q[draws],
            pool_size=5,
            estimator="horvitz_thompson",
        )
        each = losses[draws] / (5 * q[draws])  # Hansen and Hurwitz: a mean of as many independent numbers
        assert found.value == pytest.approx(np.mean(each), rel=1e-12)
        if np.ptp(each) > 0:
            assert found.std_error == pytest.approx(np.std(each, ddof=1) / np.sqrt(3), rel=1e-12)
        moments += np.prod(q[draws]) * np.array([np.mean(each), np.mean(each) ** 2, np.var(each, ddof=1) / 3])
    assert moments[0] == pytest.approx(losses.mean(), rel=1e-12)
    assert moments[2] == pytest.approx(moments[1] - moments[0] ** 2, rel=1e-9)


def test_hajek_by_hand_and_by_draws_with_replacement() -> None:
    taken = np.array([0, 1, 2])
    assert drawn(taken) == pytest.approx((1 / 0.3 + 1 / 0.5) / np.sum(1 / PI[taken]), rel=1e-12)
    q = np.array([0.2, 0.1, 0.3])
    parts = {"predictions": F[taken], "labels": Y[taken], "draw_probability": q}
    found = estimate_from("error_rate", estimator="self_normalised", interval="wald", **parts)
    v, wrong = 1 / q / np.sum(1 / q), F[taken] != Y[taken]
    assert found.value == pytest.approx(v @ wrong, rel=1e-12)
    assert found.std_error == pytest.approx(np.sqrt(np.sum(v**2 * (wrong - v @ wrong) ** 2)), rel=1e-12)


def test_horvitz_thompson_by_draws_with_replacement_varies_as_the_mean_of_the_draws() -> None:
    taken, q = np.array([0, 1, 2, 3, 3]), np.array([0.2, 0.1, 0.3, 0.25, 0.25])
    parts = {"predictions": F[taken], "labels": Y[taken], "draw_probability": q, "pool_size": 5}
    found = estimate_from("accuracy", estimator="horvitz_thompson", interval="wald", **parts)
    draws = (F[taken] == Y[taken]) / (5 * q)
    assert found.value == pytest.approx(np.mean(draws), rel=1e-12)
    assert found.std_error == pytest.approx(np.std(draws, ddof=1) / np.sqrt(5), rel=1e-12)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "give inclusion= .* or draw_probability="),
        ({"inclusion": [0.5, 0.5], "draw_probability": [0.1, 0.1]}, "give inclusion= .*, not both"),
        ({"inclusion": [0.5, 0.5], "estimator": "assited"}, "no estimator 'assited' without a pool"),
        *(
            ({"inclusion": [0.5, 0.5], "estimator": name}, "without a pool")
            for name in ("assisted", "anchored", "difference")
        ),
        ({"inclusion": [0.5, 0.5], "estimator": "horvitz_thompson"}, "needs pool_size="),
        ({"inclusion": [0.5, 1.5]}, "1.5"),
        ({"inclusion": [0.5]}, "inclusion"),
        ({"draw_probability": [0.5, 5]}, r"draw probability of row 1 is 5; it must be in \(0, 1\]"),
        *(
            ({"inclusion": [0.5, 0.5], "pool_size": size}, f"pool_size={size} must be a whole number, 2 or more")
            for size in (0, 1, -5, 2.5, float("nan"))
        ),
        ({"draw_probability": [0.5, 0.5], "pool_size": 0}, "pool_size=0 must be a whole number, 1 or more"),
        (
            {"inclusion": [0.5, 0.5], "estimator": "horvitz_thompson", "pool_size": 9, "weights": [1, 2]},
            "items of equal weight: no weights=",
        ),
        ({"inclusion": [0.5, 0.5], "target": "popualtion"}, "no target 'popualtion'; there are pool, population"),
        ({"inclusion": [0.5, 0.5], "interval": "waldd"}, "no interval 'waldd'; there are auto, wald"),
        ({"inclusion": [0.5, 0.5], "interval": "fieller"}, "interval 'fieller' is for ratios .*, not 'error_rate'"),
        *(
            ({"inclusion": [0.5, 0.5], "interval": name}, f"interval '{name}' needs to know the draw")
            for name in ("anytime", "hypergeometric")
        ),
        ({"inclusion": [0.5]}, "^inclusion probability has 1 rows; it must have 2$"),
        ({"inclusion": [0.5, 0.5], "weights": [1] * 3}, "^weight has 3 rows; it must have 2$"),
        ({"inclusion": [], "predictions": [], "labels": []}, "^there are no labels: nothing can be estimated$"),
    ],
)
def test_what_cannot_be_corrected_for_is_refused(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        estimate_from("error_rate", **({"predictions": [0, 1], "labels": [0, 1]} | parts))


@pytest.mark.parametrize(
    ("predictions", "labels"),
    [
        ([0, 1], [0, None]),
        ([0, 1], [0, float("nan")]),
        (["a", "b"], ["a", None]),
        (["a", "b"], ["a", float("nan")]),
        (["a", "b"], ["a", " "]),
    ],
)
def test_a_missing_label_is_refused_by_its_row(predictions: Any, labels: Any) -> None:
    with pytest.raises(LabelError, match="row 1 is missing"):
        estimate_from("error_rate", predictions=predictions, labels=labels, inclusion=[0.5, 0.5])


def test_labels_of_another_kind_than_predictions_are_refused_unless_spelled_alike() -> None:
    found = estimate_from("error_rate", predictions=[0, 1], labels=["0", "0"], inclusion=[0.5, 0.5])
    assert found.value == 0.5
    for predictions, labels, classes in (([0, 1], ["a", "b"], r"\[0, 1\]"), (["a", "b"], [0, 1], r"\['a', 'b'\]")):
        with pytest.raises(LabelError, match=f"is not a class; classes are {classes}"):
            estimate_from("error_rate", predictions=predictions, labels=labels, inclusion=[0.5, 0.5])


@pytest.mark.parametrize("labels", [["1", "0", "0"], pandas.Series([1, 0, 0]), pyarrow.array([1, 0, 0])])
def test_labels_name_the_classes_of_predictions_however_they_are_written(labels: Any) -> None:
    for predictions in ([1, 1, 0], ["1", "1", "0"], [1.0, 1.0, 0.0]):
        found = estimate_from("precision", predictions=predictions, labels=labels, inclusion=[0.5] * 3, positive=1)
        assert found.value == 0.5


def test_what_are_no_columns_is_refused() -> None:
    with pytest.raises(InputError, match="predictions is of the type generator; it must be a list or an array"):
        estimate_from("error_rate", predictions=(f for f in [1, 0, 1]), labels=[1] * 3, inclusion=[0.5] * 3)
    with pytest.raises(InputError, match="predictions must be one column, or rows of one length"):
        estimate_from(labels=[0, 1], predictions=[[0, 1], [1]], inclusion=[0.5, 0.5])
    with pytest.raises(InputError, match=r"no estimator \[\] without a pool; there are hajek"):
        estimate_from(labels=[0, 1], predictions=[0, 1], inclusion=[0.5, 0.5], estimator=[])
    with pytest.raises(InputError, match=r"predictions of 'model' has shape \(3, 1\); it must be one column"):
        estimate_from("error_rate", predictions=pandas.DataFrame({"f": [1, 0, 1]}), labels=[1] * 3, inclusion=[0.5] * 3)


def test_one_value_is_no_column_of_labels() -> None:
    for labels, kind in ((1, "int"), (None, "NoneType"), (len, "builtin_function_or_method")):
        with pytest.raises(InputError, match=f"labels is of the type {kind}; it must be a list or an array"):
            estimate_from("mse", means=[1.0, 2.0], labels=labels, inclusion=[0.5, 0.5])


def test_an_expansion_above_the_whole_has_an_interval() -> None:
    taken = np.array([1, 2, 1, 2])
    found = estimate_from(
        "error_rate",
        predictions=F[taken],
        labels=Y[taken],
        inclusion=[0.3, 0.5, 0.4, 0.2],
        estimator="horvitz_thompson",
        pool_size=5,
    )
    assert found.value > 1
    assert (found.interval().low, found.interval().high) == (0.0, 1.0)


def test_of_a_weighted_pool_its_size_tells_whether_all_is_labelled() -> None:
    told: dict[str, Any] = {"predictions": F, "labels": Y, "inclusion": np.ones(5), "weights": [1, 2, 3, 4, 5]}
    whole, part = (estimate_from("error_rate", **told, pool_size=size) for size in (5, 9))
    assert whole.value == part.value == pytest.approx((2 + 3) / 15, rel=1e-12)
    assert (whole.exact, part.exact) == (True, False)


def test_columns_whose_rows_stand_in_two_orders_are_refused() -> None:
    f, y = (pandas.Series(values, index=["x", "y", "z"]) for values in ([0, 1, 1], [0, 1, 0]))
    told: dict[str, Any] = {"labels": y, "inclusion": [0.25, 0.5, 0.5]}
    with pytest.raises(InputError, match="the indexes of labels and predictions have the same rows in two orders"):
        estimate_from(predictions=f[::-1], **told)
    assert estimate_from(predictions=f, **told).value == estimate_from(predictions=list(f), **told).value


def test_predictions_that_a_pool_does_not_take_are_refused() -> None:
    with pytest.raises(InputError, match=r"a prediction is 0\.2, and classes are whole numbers or text: give prob"):
        estimate_from("error_rate", predictions=[0.2, 0.9, 0.8], labels=[0, 1, 1], inclusion=[0.5] * 3)


@pytest.mark.parametrize("odd", [[1, 2], np.array([1, 2]), {}])
def test_labels_that_are_no_single_value_are_refused(odd: object) -> None:
    for predictions in ([0, 1, 1], ["a", "b", "b"]):
        with pytest.raises(LabelError, match="of row 0 is not a class; classes are"):
            estimate_from(predictions=predictions, labels=[odd, *predictions[1:]], inclusion=[0.5] * 3)


def test_a_label_spelled_otherwise_than_its_class_is_refused() -> None:
    told: dict[str, Any] = {"predictions": ["ham", "ham", "spam"], "inclusion": [0.5] * 3}
    with pytest.raises(LabelError, match="label 'Ham' of row 1 is 'ham' as a prediction: name both with class"):
        estimate_from(labels=["ham", "Ham", "spam"], **told)
    assert estimate_from(labels=["ham", "Ham", "spam"], classes=["ham", "Ham", "spam"], **told).value == 1 / 3


@pytest.mark.parametrize(
    ("inclusion", "size", "words"),
    [
        (
            0.1,
            200,
            ["labels stand for 2,000 items, and pool_size=200: labels are missing, or one of the two is wrong"],
        ),
        (0.9, 2000, ["labels stand for 222 items, and pool_size=2,000"]),
        (
            1.0,
            2000,
            ["the labels stand for 200 items, and pool_size=2,000", "only items that were sure to be drawn are"],
        ),
        (0.1, 2100, []),
        (0.1, None, []),
    ],
)
def test_a_pool_of_another_size_than_the_probabilities_have_it(
    inclusion: float, size: int | None, words: list[str]
) -> None:
    random = np.random.default_rng(0)
    predictions, labels = random.integers(0, 2, (2, 200))
    parts: dict[str, Any] = {"predictions": predictions, "labels": labels, "pool_size": size}
    found = estimate_from("error_rate", inclusion=np.full(200, inclusion), **parts)
    assert len(found.warnings) == len(words)
    for text, wanted in zip(found.warnings, words, strict=True):
        assert wanted in text


def test_ids_are_named_in_messages():
    told = {"predictions": [0, 1], "labels": [0, 3], "inclusion": [0.5, 0.5]}
    with pytest.raises(LabelError, match=r"label 3 of row 1 \(id b\) is not a class"):
        estimate_from(**told, ids=["a", "b"])
    with pytest.raises(InputError, match="ids has 1 rows; it must have 2"):
        estimate_from(**told, ids=["a"])


def test_one_label_that_stands_for_more_than_all_has_an_interval() -> None:
    told: dict[str, Any] = {"labels": [1], "predictions": [1], "draw_probability": [0.05], "classes": [0, 1]}
    found = estimate_from("accuracy", estimator="horvitz_thompson", pool_size=5, **told)
    assert found.value == pytest.approx(4.0)
    assert 0.0 < found.interval().low < found.interval().high == 1.0


def test_average_precision_less_its_bias_keeps_within_its_range() -> None:
    labels, scores = [1, 1, 0, 1, 0], [0.9, 0.8, 0.3, 0.7, 0.2]
    values = []
    for seed in range(200):
        inclusion = np.random.default_rng(seed).uniform(0.05, 1.0, 5)
        found = estimate_from("average_precision", probabilities=scores, labels=labels, inclusion=inclusion)
        assert found.value <= 1.0
        assert found.value in found.interval()
        values.append(found.value)
    assert 1.0 in values


@pytest.mark.parametrize(
    ("interval", "low"),
    [("clopper_pearson", 0.025 ** (1 / 100)), ("wilson", 1 / (1 + 1.959963984540054**2 / 100))],
)
def test_labels_that_all_agree_are_counted_by_intervals_of_counts_where_they_were_drawn_alike(interval, low):
    ones = np.ones(100, dtype=np.int64)
    told: dict[str, Any] = {"predictions": ones, "labels": ones, "classes": (0, 1), "interval": interval}
    found = estimate_from("accuracy", inclusion=ones * 0.1, **told).interval(0.95)
    assert (found.low, found.high, found.kind) == (pytest.approx(low, rel=1e-12), 1.0, interval)
    found = estimate_from("error_rate", inclusion=ones * 0.1, **told).interval(0.95)
    assert (found.low, found.high) == (0.0, pytest.approx(1 - low, rel=1e-12))
    unequal = estimate_from("accuracy", inclusion=np.repeat([0.1, 0.3], 50), **told).interval(0.95)
    assert (unequal.low, unequal.high, unequal.kind) == (0.0, 1.0, "undefined")


def test_few_errors_among_labels_drawn_alike_are_wilsons_by_4_6_degrees_of_freedom() -> None:
    labels = np.repeat([0, 1], [1, 29])
    told: dict[str, Any] = {"predictions": np.ones(30, dtype=int), "labels": labels, "classes": (0, 1)}
    found = estimate_from("accuracy", inclusion=np.full(30, 1e-9), **told)
    p, squared = 29 / 30, student.ppf(0.975, 4.6) ** 2 / 29  # 29: the variance of n labels is p (1 - p) / (n - 1)
    centre, off = (p + squared / 2) / (1 + squared), np.sqrt(squared * p * (1 - p) + squared**2 / 4) / (1 + squared)
    interval = found.interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((centre - off, centre + off), rel=1e-6)
    assert found.df == 4.6


@pytest.mark.parametrize(
    "changed",
    [{"inclusion": np.repeat([0.1, 0.3], 15)}, {"interval": "t"}, {"measure": "mcc"}],
    ids=["unequal weights", "a named interval", "no share"],
)
def test_elsewhere_degrees_of_freedom_are_as_labels_show_them(changed: dict[str, Any]) -> None:
    labels, said = np.repeat([0, 1], [1, 29]), np.repeat([0, 1], [2, 28])
    told: dict[str, Any] = {"measure": "accuracy", "inclusion": np.full(30, 0.1), "classes": (0, 1)} | changed
    found = estimate_from(predictions=said, labels=labels, **told)
    assert found.evidence is not None
    assert found.df == found.evidence.fit.df < 4.6
