"""One battery for all measures: the influence is the derivative by weight, the order of items is irrelevant."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics

from sondage.core.beliefs import ClassBelief
from sondage.core.comparisons import Contrast
from sondage.core.designs import matters
from sondage.core.measures import (
    AUC,
    DCG,
    ECE,
    ERR,
    MAE,
    MCC,
    MSE,
    NAMES,
    NDCG,
    R2,
    RBP,
    RMSE,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    Bias,
    Brier,
    ConfusionMeasure,
    ErrorRate,
    ExpectedCost,
    FMeasure,
    Functional,
    Kappa,
    LogLoss,
    Loss,
    MacroF,
    MeanOutcome,
    Measure,
    MicroF,
    Precision,
    Recall,
    Specificity,
    Task,
    parse_measure,
    settled,
)
from sondage.core.predictions import Classes, Grades, Items, Means, Ranks
from sondage.core.rankings import Documents
from sondage.errors import MeasureError

Floats = NDArray[np.float64]

BINARY, THREE = Task("classification", ("ham", "spam")), Task("classification", ("a", "b", "c"))
REGRESSION, OUTCOMES = Task("regression"), Task("outcomes", grades=(0.0, 0.5, 1.0))
RANKING = Task("ranking", grades=(0.0, 1.0, 2.0))


def lift(m: Floats) -> float:
    return float(m[1, 1] * m.sum() / (m[1].sum() * m[:, 1].sum()))


def lift_gradient(m: Floats) -> Floats:
    own, row, column = (np.zeros_like(m) for _ in range(3))
    own[1, 1] = row[1] = column[:, 1] = 1
    r, c, t = m[1].sum(), m[:, 1].sum(), m.sum()
    return np.asarray((t * own + m[1, 1] * (1 - t * (row / r + column / c))) / (r * c))


CLASSIFICATION: list[Measure] = [
    ErrorRate(),
    Accuracy(),
    BalancedAccuracy(),
    MacroF(),
    MicroF(),
    MCC(),
    Kappa(),
    LogLoss(),
    Brier(),
    ECE(bins=2),
    ECE(bins=3, spacing="width"),
    Loss(lambda f, y: 2.0 * (f < y) + 3.0 * (f > y), name="own"),
    ConfusionMeasure(lift, lift_gradient, name="lift"),
    ConfusionMeasure(lift, name="numerical lift"),
]
WITH_POSITIVE = [
    Precision,
    Recall,
    Specificity,
    FMeasure,
    lambda positive: FMeasure(beta=2, positive=positive),
    lambda positive: FMeasure(eta=0.3, positive=positive),
    AUC,
    AveragePrecision,
]
REGRESSIONS: list[Measure] = [MSE(), RMSE(), MAE(), Bias(), R2(), Loss(lambda f, y: np.abs(f - y) ** 1.5)]


@dataclass(frozen=True)
class Case:
    measure: Measure
    task: Task

    def __str__(self) -> str:
        return f"{self.measure.name}-{self.task.kind}-{len(self.task.classes)}"


CASES = [
    *(Case(measure, task) for measure in CLASSIFICATION for task in (BINARY, THREE)),
    *(Case(make(positive="spam"), BINARY) for make in WITH_POSITIVE),
    *(Case(make(positive="a"), THREE) for make in WITH_POSITIVE),
    Case(Recall(), BINARY),
    Case(AUC(), BINARY),
    Case(ExpectedCost([[0, 1], [5, 0.5]]), BINARY),
    Case(ExpectedCost([[0, 1, 2], [5, 0, 3], [1, 1, -1]]), THREE),
    *(Case(measure, REGRESSION) for measure in REGRESSIONS),
    *(Case(measure, OUTCOMES) for measure in (MeanOutcome(), Accuracy(), ErrorRate())),
    *(Case(measure, RANKING) for measure in (DCG(), DCG(2, "linear"), ERR(), ERR(2), NDCG(3), RBP(), RBP(2, 0.5))),
]
cases = pytest.mark.parametrize("case", CASES, ids=str)


def ready(case: Case, items: Items) -> Functional:
    return settled(case.measure, case.task, items, tuple(range(len(items.models)))).ready(case.task)


CELLS = 18  # enough for every pair of three classes to occur twice


def test_the_battery_has_every_name() -> None:
    tested = {type(case.measure) for case in CASES}
    assert set(NAMES.values()) <= tested


def data(task: Task, seed: int) -> tuple[Items, NDArray[Any]]:
    """Two models' outputs and labels in which every pair of prediction and label occurs."""
    rng = np.random.default_rng(seed)
    k, n = max(len(task.classes), 2), CELLS
    weights = rng.uniform(0.2, 3.0, size=n)
    if task.kind == "regression":
        f = rng.normal(0, 2, size=(2, n))
        return Items((Means(f[0], None), Means(f[1], None)), weights / weights.sum()), rng.normal(0, 2, size=n)
    if task.kind == "outcomes":
        grades = np.array(task.grades)
        return Items((Grades(grades, None),) * 2, weights / weights.sum()), rng.choice(grades, size=(n, 2))
    if task.kind == "ranking":
        documents = Documents(np.arange(n + 1) * 4, np.tile(np.arange(4), n), 3)
        places = np.array([[rng.permutation(4) + 1 for _ in range(n)] for _ in range(2)]).reshape(2, -1)
        places[1, places[1] == 4] = 0
        ranks = tuple(Ranks(documents, own, np.arange(n)) for own in places)
        return Items(ranks, weights / weights.sum()), rng.integers(3, size=(n, 4))
    p = rng.dirichlet(np.ones(k), size=(2, n))
    labels = np.arange(n) % k
    codes = [np.arange(n) // k % k, rng.permutation(n) % k]
    return Items((Classes(codes[0], p[0]), Classes(codes[1], p[1])), weights / weights.sum()), labels


def sums_of(functional: Functional, items: Items, labels: NDArray[Any], weights: Floats) -> dict[int, Floats]:
    return {m: functional.basis.totals(items, m, labels, weights / weights.sum()) for m in (0, 1)}


def derivative(value: Callable[[float], float], step: float = 2.0**-8) -> float:
    """Return the derivative at 0 by Richardson's extrapolation of central differences, error O(step^8)."""
    table = [(value(h) - value(-h)) / (2 * h) for h in (step / 2**k for k in range(4))]
    for order in range(1, 4):
        table = [(4**order * b - a) / (4**order - 1) for a, b in pairwise(table)]
    return table[0]


@cases
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), at=st.integers(0, CELLS - 1))
def test_influence_is_the_derivative_by_weight(case: Case, seed: int, at: int) -> None:
    # theta(b + t delta_i, renormalised) has the derivative psi_i at t = 0, where b sums to 1.
    items, labels = data(case.task, seed)
    functional = ready(case, items)
    direction = np.eye(CELLS)[at] - items.weights

    def value(t: float) -> float:
        weights = items.weights + t * 2**-4 * direction
        return functional.value(functional.basis.totals(items, 0, labels, weights))

    contrast = Contrast(functional, ((0, 1.0),))
    psi = contrast.influence(sums_of(functional, items, labels, items.weights)).at(items, labels)
    numerical = "numerical" in case.measure.name
    scale = float(np.abs(psi).max())
    assert psi[at] == pytest.approx(16 * derivative(value), rel=1e-8, abs=(1e-7 if numerical else 1e-10) * scale)


@cases
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_influences_have_mean_zero(case: Case, seed: int) -> None:
    items, labels = data(case.task, seed)
    functional = ready(case, items)
    contrast = Contrast(functional, ((0, 1.0), (1, -1.0)))
    psi = contrast.influence(sums_of(functional, items, labels, items.weights)).at(items, labels)
    assert items.weights @ psi == pytest.approx(0.0, abs=1e-7 * float(np.abs(psi).max()) + 1e-15)


@cases
def test_linear_are_those_whose_gradient_is_the_same_everywhere(case: Case) -> None:
    functional = ready(case, data(case.task, 0)[0])
    sums = [
        sums_of(functional, *of_seed, of_seed[0].weights)[0] for of_seed in (data(case.task, 1), data(case.task, 2))
    ]
    first, second = (functional.gradient(mu) for mu in sums)
    assert functional.linear == (np.allclose(first, second, rtol=1e-9, atol=1e-12) and functional.corrected is None)


@cases
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_items_is_irrelevant(case: Case, seed: int) -> None:
    items, labels = data(case.task, seed)
    functional = ready(case, items)
    order = np.random.default_rng(seed).permutation(CELLS)
    contrast = Contrast(functional, ((0, 1.0),))
    one, other = (
        sums_of(functional, i, y, i.weights) for i, y in ((items, labels), (items.take(order), labels[order]))
    )
    assert contrast.value(other) == pytest.approx(contrast.value(one), rel=1e-12)
    psi = [
        contrast.influence(s).at(i, y) for s, i, y in ((one, items, labels), (other, items.take(order), labels[order]))
    ]
    np.testing.assert_allclose(psi[1], psi[0][order], rtol=1e-6, atol=1e-9 * np.abs(psi[0]).max())


@cases
def test_contrast_is_the_weighted_sum_of_its_models(case: Case) -> None:
    items, labels = data(case.task, 7)
    functional = ready(case, items)
    sums = sums_of(functional, items, labels, items.weights)
    single = [Contrast(functional, ((m, 1.0),)) for m in (0, 1)]
    both = Contrast(functional, ((0, 1.0), (1, -2.5)))
    assert both.value(sums) == pytest.approx(single[0].value(sums) - 2.5 * single[1].value(sums), rel=1e-12)
    psi = [one.influence(sums).at(items, labels) for one in (*single, both)]
    np.testing.assert_allclose(psi[2], psi[0] - 2.5 * psi[1], rtol=1e-12, atol=1e-12 * np.abs(psi[2]).max())


@cases
def test_supposed_labels_are_labels(case: Case) -> None:
    # One label for all items and a column of it are the same.
    items, labels = data(case.task, 3)
    functional = ready(case, items)
    influence = Contrast(functional, ((0, 1.0),)).influence(sums_of(functional, items, labels, items.weights))
    for label in (labels[0], labels[1]):
        if case.task is RANKING:  # one grade for all documents
            label = label[0]
        column = np.full_like(labels, label) if case.task is RANKING else np.stack([label] * CELLS)
        np.testing.assert_allclose(influence.at(items, label), influence.at(items, column), rtol=1e-14)
        totals = [functional.basis.totals(items, 0, one, items.weights) for one in (label, column)]
        np.testing.assert_allclose(totals[0], totals[1], rtol=1e-12, atol=1e-15)


SKLEARN: dict[str, tuple[Task, Callable[..., float]]] = {
    "accuracy": (THREE, metrics.accuracy_score),
    "precision": (BINARY, metrics.precision_score),
    "recall": (BINARY, metrics.recall_score),
    "f1": (BINARY, metrics.f1_score),
    "f_measure:beta=2": (BINARY, lambda y, f, **w: metrics.fbeta_score(y, f, beta=2, **w)),
    "specificity": (BINARY, lambda y, f, **w: metrics.recall_score(y, f, pos_label=0, **w)),
    "recall:positive=ham": (BINARY, lambda y, f, **w: metrics.recall_score(y, f, pos_label=0, **w)),
    "f1:positive=b": (THREE, lambda y, f, **w: metrics.f1_score(y, f, labels=[1], average="macro", **w)),
    "balanced_accuracy": (THREE, metrics.balanced_accuracy_score),
    "mcc": (THREE, metrics.matthews_corrcoef),
    "kappa": (THREE, metrics.cohen_kappa_score),
    "macro_f": (THREE, lambda y, f, **w: metrics.f1_score(y, f, average="macro", **w)),
    "micro_f": (THREE, lambda y, f, **w: metrics.f1_score(y, f, average="micro", **w)),
    "mse": (REGRESSION, metrics.mean_squared_error),
    "rmse": (REGRESSION, metrics.root_mean_squared_error),
    "mae": (REGRESSION, metrics.mean_absolute_error),
    "r2": (REGRESSION, metrics.r2_score),
}


@pytest.mark.parametrize("name", SKLEARN)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(name: str, weighted: bool) -> None:
    task, reference = SKLEARN[name]
    functional = parse_measure(name).ready(task)
    items, labels = data(task, 11)
    weights = items.weights if weighted else np.full(CELLS, 1 / CELLS)
    output = items.models[0]
    predictions = output.predictions if isinstance(output, Classes) else output.means  # type: ignore[union-attr]
    found = functional.value(functional.basis.totals(items, 0, labels, weights))
    assert found == pytest.approx(reference(labels, predictions, sample_weight=weights), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", [BINARY, THREE], ids=["binary", "three"])
def test_probability_losses_are_those_of_scikit_learn(task: Task, weighted: bool) -> None:
    items, labels = data(task, 5)
    weights = items.weights if weighted else np.full(CELLS, 1 / CELLS)
    p = items.models[0].probabilities  # type: ignore[union-attr]
    log, brier = (m.ready(task) for m in (LogLoss(), Brier()))
    expected = metrics.log_loss(labels, p, sample_weight=weights)
    assert log.value(log.basis.totals(items, 0, labels, weights)) == pytest.approx(expected, rel=1e-12)
    found = brier.value(brier.basis.totals(items, 0, labels, weights))
    classes = range(len(task.classes))
    each = [metrics.brier_score_loss(labels == code, p[:, code], sample_weight=weights) for code in classes]
    assert found == pytest.approx(each[1] if task is BINARY else sum(each), rel=1e-12)
    if "labels" in signature(metrics.brier_score_loss).parameters:  # of several classes since scikit-learn 1.7
        given_p = p[:, 1] if task is BINARY else p
        expected = metrics.brier_score_loss(labels, given_p, sample_weight=weights, labels=classes)
        assert found == pytest.approx(expected, rel=1e-12)


def test_losses_of_one_column_are_those_of_two() -> None:
    items, labels = data(BINARY, 9)
    p = items.models[0].probabilities[:, 1]  # type: ignore[union-attr, index]
    one = Items((Classes(items.models[0].predictions, p),), items.weights)  # type: ignore[union-attr]
    for measure in (LogLoss(), Brier()):
        basis = measure.ready(BINARY).basis
        for label in (0, 1, labels):
            expected = basis.totals(items, 0, label, items.weights)
            np.testing.assert_allclose(basis.totals(one, 0, label, items.weights), expected, rtol=1e-12)


def test_log_loss_is_clipped() -> None:
    items = Items((Classes(np.array([0, 1]), np.array([0.0, 1.0])),), np.array([0.5, 0.5]))
    basis = LogLoss().ready(BINARY).basis
    # -ln 1e-15 = 34.538776394910684, the default of scikit-learn before 1.5.
    assert basis.totals(items, 0, np.array([1, 0]), items.weights)[0] == pytest.approx(34.538776394910684, rel=1e-3)
    assert basis.totals(items, 0, np.array([0, 1]), items.weights)[0] == pytest.approx(1e-15, rel=0.2)


def test_a_weighted_table_by_hand() -> None:
    # M = [[.5, .1], [.15, .25]]: P = .4, L = .35, chance .4 * .35 + .6 * .65 = .53.
    m = np.array([[0.5, 0.1], [0.15, 0.25]])
    expected = {
        "error_rate": 0.25,
        "precision": 0.25 / 0.4,
        "recall": 0.25 / 0.35,
        "f1": 0.5 / 0.75,
        "f_measure:eta=0.2": 0.25 / (0.2 * 0.4 + 0.8 * 0.35),
        "specificity": 0.5 / 0.65,
        "balanced_accuracy": (0.5 / 0.65 + 0.25 / 0.35) / 2,
        "kappa": (0.75 - 0.53) / 0.47,
        "mcc": (0.5 * 0.25 - 0.1 * 0.15) / np.sqrt(0.4 * 0.6 * 0.35 * 0.65),
        "expected_cost:costs=0/5/1/0": 0.1 * 5 + 0.15,
        "macro_f": (0.5 / 0.75 + 1.0 / 1.25) / 2,
        "micro_f": 0.75,
    }
    for name, value in expected.items():
        assert parse_measure(name).ready(BINARY).value(m) == pytest.approx(value, rel=1e-12), name


def test_undefined_measures_are_nan() -> None:
    nothing_predicted, nothing_positive = np.array([[0.7, 0.3], [0.0, 0.0]]), np.array([[0.7, 0.0], [0.3, 0.0]])
    assert np.isnan(Precision().ready(BINARY).value(nothing_predicted))
    assert np.isnan(Recall().ready(BINARY).value(nothing_positive))
    assert np.isnan(MCC().ready(BINARY).value(nothing_predicted))
    assert np.isnan(Kappa().ready(BINARY).value(np.array([[1.0, 0.0], [0.0, 0.0]])))
    assert np.isnan(R2().ready(REGRESSION).value(np.array([1.0, 0, 1, 2.0, 4.0])))
    assert MacroF().ready(BINARY).value(np.array([[1.0, 0.0], [0.0, 0.0]])) == 0.5  # an absent class counts 0
    for measure in (Precision(), MCC(), Kappa(), R2()):
        task = REGRESSION if measure == R2() else BINARY
        mu = np.array([1.0, 0, 1, 2.0, 4.0]) if measure == R2() else np.array([[1.0, 0.0], [0.0, 0.0]])
        assert not np.any(measure.ready(task).gradient(mu))


@pytest.mark.parametrize(
    ("value", "gradient"),
    [
        (lambda m: float(np.sqrt(m[0, 0] * m[1, 1])), [[0.5, 0], [0, 0.5]]),
        (lambda m: float(m[0, 0] * m[0, 1] + m[1, 0] ** 2), [[0, 0.5], [0, 0]]),
    ],
)
def test_numerical_gradient_at_the_border(value: Callable[[Floats], float], gradient: Any) -> None:
    # Cells that are 0 stay in [0, 1]: the square root of a negative share would be NaN.
    functional = ConfusionMeasure(value).ready(BINARY)
    mu = np.array([[0.5, 0.0], [0.0, 0.5]])
    np.testing.assert_allclose(functional.gradient(mu), gradient, atol=1e-8)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not isinstance(case.measure, Loss | ConfusionMeasure)], ids=str
)
def test_names_are_read_back(case: Case) -> None:
    again = parse_measure(case.measure.name)
    assert again.name == case.measure.name
    items, labels = data(case.task, 2)
    functional = ready(case, items)
    values = [m.ready(case.task).value for m in (case.measure, again)]
    totals = functional.basis.totals(items, 0, labels, items.weights)
    assert values[0](totals) == values[1](totals)


@pytest.mark.parametrize(
    "measure", [FMeasure(beta=1 / 3, positive="x"), FMeasure(eta=0.1), ExpectedCost([[0, 0.1], [1, 0]])]
)
def test_names_keep_every_digit(measure: Measure) -> None:
    assert parse_measure(measure.name) == measure


@cases
def test_bounds_hold(case: Case) -> None:
    for seed in range(20):
        items, labels = data(case.task, seed)
        functional = ready(case, items)
        value = functional.value(functional.basis.totals(items, 0, labels, items.weights))
        assert functional.bounds[0] <= value <= functional.bounds[1]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"expected_cost"}))
def test_measures_refuse_other_tasks(name: str) -> None:
    refused = 0
    for task in (BINARY, REGRESSION, Task("outcomes", grades=(0.0, 3.0)), RANKING):
        try:
            parse_measure(name).ready(task)
        except MeasureError:
            refused += 1
    assert refused == 3


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (Precision(), [False, True, False, True]),  # predicted negative: no label changes the precision
        (ErrorRate(), [True, True, True, True]),
        (Recall(), [True, True, True, True]),
    ],
)
def test_what_can_matter(measure: Measure, expected: list[bool]) -> None:
    items = Items((Classes(np.array([0, 1, 0, 1]), None),), np.full(4, 0.25))
    functional = measure.ready(BINARY)
    sums = {0: functional.basis.totals(items, 0, np.array([0, 1, 1, 0]), items.weights)}
    influence = Contrast(functional, ((0, 1.0),)).influence(sums)
    assert matters(influence, ClassBelief(2, uniform=1.0), items).tolist() == expected
