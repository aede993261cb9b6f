"""AUC and average precision against scikit-learn, pairs counted one by one, and short simulations of the whole flow."""

import pickle
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics

from sondage import Classifier, Pool, Study, advise, compare, estimate_from, evaluate, select
from sondage.core.comparisons import Contrast
from sondage.core.measures import (
    AUC,
    AveragePrecision,
    Functional,
    Measure,
    Task,
    binned,
    curves,
    parse_measure,
    settled,
)
from sondage.core.measures.binned import ItemValues, Score
from sondage.core.predictions import Classes, Items
from sondage.errors import MeasureError
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

Floats = NDArray[np.float64]
BINARY = Task("classification", (0, 1))
REFERENCE = {"auc": metrics.roc_auc_score, "average_precision": metrics.average_precision_score}
names = pytest.mark.parametrize("name", REFERENCE)


def items_of(scores: Any, weights: Any = None) -> Items:
    scores = np.asarray(scores, dtype=np.float64)
    b = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    return Items((Classes((scores > 0.5).astype(int), scores),), b / b.sum())


def ready(measure: str | Measure, items: Items, task: Task = BINARY) -> Functional:
    return settled(parse_measure(measure), task, items, (0,)).ready(task)


def value_of(measure: str, items: Items, labels: Any) -> float:
    functional = ready(measure, items)
    return functional.value(functional.basis.totals(items, 0, np.asarray(labels), items.weights))


def problem(size: int = 3000, seed: int = 1, base: float = -2.0) -> tuple[Floats, NDArray[np.int64]]:
    """Probabilities that are right, and labels."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(base, 1.5, size)))
    return p, (rng.uniform(size=size) < p).astype(np.int64)


@names
@pytest.mark.parametrize("digits", [1, 2, 12], ids=lambda digits: f"{digits}digits")
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(name: str, digits: int, weighted: bool, rng: np.random.Generator) -> None:
    scores, labels = rng.uniform(size=400).round(digits), rng.integers(0, 2, 400)
    weights = rng.uniform(0.1, 5.0, 400) if weighted else None
    expected = REFERENCE[name](labels, scores, sample_weight=weights)
    assert value_of(name, items_of(scores, weights), labels) == pytest.approx(expected, rel=1e-12)


@names
def test_one_class_against_the_rest(name: str, rng: np.random.Generator) -> None:
    p, labels = rng.dirichlet(np.ones(3), size=200), rng.integers(0, 3, 200)
    pool = Pool(p, classes=["a", "b", "c"])
    found = evaluate(pool, name, labels=np.array(["a", "b", "c"])[labels], budget=200, positive="b")
    assert found.exact
    assert found.value == pytest.approx(REFERENCE[name](labels == 1, p[:, 1]), rel=1e-12)


@names
def test_the_first_of_two_classes_can_be_the_positive_one(name: str) -> None:
    p, labels = problem(300)
    found = [
        evaluate(Pool(given), name, labels=labels, budget=300, positive=0) for given in (p, np.stack([1 - p, p], 1))
    ]
    expected = REFERENCE[name](1 - labels, 1 - p)
    assert [one.value for one in found] == pytest.approx([expected] * 2, rel=1e-12)


def test_every_labelling_of_six_items_by_counting() -> None:
    scores, weights = np.array([0.1, 0.4, 0.4, 0.4, 0.8, 0.9]), np.array([1.0, 2, 1, 3, 1, 2])
    items = items_of(scores, weights)
    for labels in product((0, 1), repeat=6):
        y = np.array(labels)
        w, positive, negative = items.weights, np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        if not len(positive) or not len(negative):
            assert np.isnan([value_of(name, items, y) for name in REFERENCE]).all()
            continue
        pairs = [
            (w[i] * w[j], (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2) for i in positive for j in negative
        ]
        won = sum(weight * share for weight, share in pairs) / sum(weight for weight, _ in pairs)
        assert value_of("auc", items, y) == pytest.approx(won, rel=1e-12)
        precision = [np.sum(w * y * (scores >= s)) / np.sum(w * (scores >= s)) for s in scores]
        steps = np.sum((w * y)[positive] * np.array(precision)[positive]) / np.sum(w * y)
        assert value_of("average_precision", items, y) == pytest.approx(steps, rel=1e-12)


def auc_influence(s: Floats, y: NDArray[Any], b: Floats) -> Floats:
    area = value_of("auc", items_of(s, b), y)
    below = (s[:, None] > s) + (s[:, None] == s) / 2
    f_negative, f_positive = (below @ (b * (y == c)) / np.sum(b * (y == c)) for c in (0, 1))
    return y * (f_negative - area) / np.sum(b * y) + (1 - y) * (1 - f_positive - area) / np.sum(b * (1 - y))


def average_precision_influence(s: Floats, y: NDArray[Any], b: Floats) -> Floats:
    ap, at = value_of("average_precision", items_of(s, b), y), s[None, :] >= s[:, None]
    taken, hits = at @ b, at @ (b * y)
    pushed = np.array([np.sum((b * y * hits / taken**2)[s <= one]) for one in s])
    lifted = np.array([np.sum((b * y / taken)[s <= one]) for one in s])
    return (y * (hits / taken - ap) + y * lifted - pushed) / np.sum(b * y)


@pytest.mark.parametrize(
    ("name", "formula"), [("auc", auc_influence), ("average_precision", average_precision_influence)]
)
@pytest.mark.parametrize("digits", [1, 12])
def test_influence_is_the_formula(name: str, formula: Callable[..., Floats], digits: int) -> None:
    # The battery of test_influence.py has the derivative by weight; here are the closed forms, with ties and weights.
    rng = np.random.default_rng(4)
    s, y = rng.uniform(size=40).round(digits), rng.integers(0, 2, 40)
    b = rng.uniform(0.5, 2.0, 40)
    b /= b.sum()
    items = items_of(s, b)
    functional = ready(name, items)
    sums = {0: functional.basis.totals(items, 0, y, items.weights)}
    psi = Contrast(functional, ((0, 1.0),)).influence(sums).at(items, y)
    np.testing.assert_allclose(psi, formula(s, y, b), rtol=1e-9, atol=1e-12)


@names
def test_gradient_of_every_entry(name: str, rng: np.random.Generator) -> None:
    items = items_of(np.arange(8) / 8)
    functional, mu, step = ready(name, items), rng.uniform(0.05, 1.0, (8, 2)), 1e-6
    for index in np.ndindex(mu.shape):
        up, down = mu.copy(), mu.copy()
        up[index], down[index] = up[index] + step, down[index] - step
        slope = (functional.value(up) - functional.value(down)) / (2 * step)
        assert functional.gradient(mu)[index] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@names
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_many_scores_err_within_the_bound(
    name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(curves, "MOST_BINS", 50)
    p, labels = problem(2000)
    items = items_of(p, rng.uniform(0.5, 2.0, 2000) if weighted else None)
    functional = ready(name, items)
    totals = functional.basis.totals(items, 0, labels, items.weights)
    assert 45 <= len(totals) <= 50
    h, positives = totals.sum(axis=1).max(), totals[:, 1].sum()
    bounds = {
        "auc": h / (2 * max(positives, 1 - positives)),
        "average_precision": h / positives * (3 + np.log1p(positives / h)),
    }
    exact = REFERENCE[name](labels, p, sample_weight=items.weights)
    assert 0 < abs(functional.value(totals) - exact) <= bounds[name]


def test_bins_do_not_follow_the_order_of_rows() -> None:
    p, _ = problem(1000)
    weights, order = np.random.default_rng(0).uniform(0.1, 3.0, 1000), np.random.default_rng(1).permutation(1000)
    in_order, shuffled = items_of(p, weights), items_of(p[order], weights[order])
    one, other = (ItemValues(items).ends(Score(1), 0, 37) for items in (in_order, shuffled))
    np.testing.assert_array_equal(one, other)


@names
def test_a_constant_score_is_refused(name: str) -> None:
    labels = [0, 1] * 10
    pool = Pool(np.full(20, 0.3))
    with pytest.raises(
        MeasureError, match=rf"'{name}' is undefined on this pool whatever the labels are: all scores are 0\.3"
    ):
        evaluate(pool, name, labels=labels, budget=10)
    assert evaluate(pool, "error_rate", labels=labels, budget=20).value == pytest.approx(0.5, rel=1e-12)


@names
def test_one_class_only_is_undefined_with_a_warning(name: str) -> None:
    found = evaluate(Pool(np.linspace(0.1, 0.9, 50)), name, labels=np.zeros(50, dtype=int), budget=20)
    assert np.isnan(found.value)
    assert "undefined on these labels" in found.warnings[-1]
    assert (found.interval(0.95).low, found.interval(0.95).high) == (0.0, 1.0)


@names
def test_what_has_no_scores_is_refused(name: str) -> None:
    with pytest.raises(MeasureError, match="predictions only"):
        evaluate(Pool(predictions=[0, 1, 0]), name, labels=[0, 1, 1], budget=2)
    with pytest.raises(MeasureError, match="is for classification"):
        evaluate(Pool(means=[0.0, 1.0]), name, labels=[0.0, 1.0], budget=2)
    items, basis = items_of([0.1, 0.9]), parse_measure(name).ready(BINARY).basis
    with pytest.raises(MeasureError, match="settle it with the pool"):
        basis.totals(items, 0, np.array([0, 1]), items.weights)


def test_edges_are_no_parameter_of_a_name() -> None:
    with pytest.raises(MeasureError, match="no parameter 'edges'; there are \\['positive'\\]"):
        parse_measure("auc:edges=1")
    assert AUC(edges=((0.5,),)) == AUC()  # the pool's bins are not what a user asks for
    assert "edges" not in repr(AveragePrecision(edges=((0.5,),)))


@pytest.mark.parametrize("name", ["auc", "average_precision", "ece"])
def test_same_items_in_any_order_of_rows(name: str) -> None:
    p, _ = problem(800)
    ids, weights = np.arange(800), np.random.default_rng(0).uniform(0.5, 2.0, 800)
    order = np.random.default_rng(1).permutation(800)
    question = Question("evaluate", ("model",), (parse_measure(name),))
    asked = [
        Session.start(pool, question, choose_method(), budget=60, seed=5).ask()
        for pool in (Pool(p, ids=ids, weights=weights), Pool(p[order], ids=ids[order], weights=weights[order]))
    ]
    assert asked[0] == asked[1]


@pytest.mark.parametrize("name", ["auc", "average_precision", "ece"])
def test_a_study_goes_on_and_bounds_its_skips(name: str, tmp_path: Path) -> None:
    p, labels = problem(400)
    study = Study.create(tmp_path / "study.db", Pool(p), name, budget=80)
    ids = study.ask(80)
    study.tell(ids, [None if n % 20 == 0 else int(labels[name]) for n, name in enumerate(ids)])
    found = study.estimate()
    assert found.if_skipped.low <= found.if_skipped.high  # type: ignore[union-attr]
    study = Study.open(tmp_path / "study.db", Pool(p))
    study.extend(200)
    ids = study.ask(200)
    study.tell(ids, [int(labels[name]) for name in ids])
    assert study.estimate().n_labels == 196  # type: ignore[union-attr]


def two_models(size: int = 2000) -> tuple[Pool, NDArray[np.int64], Floats, Floats]:
    p, labels = problem(size, 3, -1.5)
    noise = np.random.default_rng(0).normal(0, 1, size)
    q = 1 / (1 + (1 - p) / p * np.exp(-noise))
    return Pool(models={"a": Classifier(p), "b": Classifier(q)}), labels, p, q


@names
def test_two_models_are_compared_on_their_own_scores(name: str) -> None:
    pool, labels, p, q = two_models(300)
    found = compare(pool, "a", "b", name, labels=labels, budget=300)
    assert found.difference == pytest.approx(REFERENCE[name](labels, p) - REFERENCE[name](labels, q), rel=1e-10)
    assert found.better == "a"
    some = compare(pool, "a", "b", name, labels=labels, budget=150)
    assert abs(some.difference - found.difference) < 4 * some.std_error
    assert select(pool, name, labels=labels, budget=150).best == "a"


@names
def test_a_study_opened_without_the_pool_estimates_the_same(name: str, tmp_path: Path) -> None:
    pool, labels, _, _ = two_models(500)
    study = Study.create(tmp_path / "study.db", pool, name, budget=120, compare=("a", "b"), stages=1)
    ids = study.ask(120)
    study.tell(ids, labels[ids].tolist())
    again = Study.open(tmp_path / "study.db").estimate()
    directly = compare(pool, "a", "b", name, labels=labels, budget=120, stages=1)
    assert again.difference == study.estimate().difference == directly.difference  # type: ignore[union-attr]
    assert again.std_error == directly.std_error  # type: ignore[union-attr]


def test_labels_drawn_elsewhere(rng: np.random.Generator) -> None:
    p, labels = problem(400)
    inclusion = rng.uniform(0.1, 1.0, 400)
    found = estimate_from("auc", probabilities=p, labels=labels, inclusion=inclusion)
    assert found.value == pytest.approx(REFERENCE["auc"](labels, p, sample_weight=1 / inclusion), rel=1e-10)
    assert 0 < found.std_error < 0.2


def test_curvature_is_that_of_average_precision_within_a_bin(rng: np.random.Generator) -> None:
    functional = ready("average_precision", items_of([0.1, 0.2, 0.4, 0.8]))
    mu = rng.uniform(0.01, 0.2, (4, 2))
    assert functional.curvature is not None
    terms, step = functional.curvature(mu), 1e-4
    for cell, along in product(range(4), [(1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (0.3, 0.9)]):
        way = np.zeros((4, 2))
        way[cell] = along
        ends = functional.value(mu + step * way) + functional.value(mu - step * way)
        expected = (ends - 2 * functional.value(mu)) / step**2
        assert sum(sign * np.sum(a * way) ** 2 for sign, a in terms) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_average_precision_of_few_labels_has_hardly_any_bias(rng: np.random.Generator) -> None:
    p, labels = problem(600)
    inclusion = 0.05 + 0.4 * p
    truth, found, naive = metrics.average_precision_score(labels, p), [], []
    for _ in range(400):
        drawn = rng.uniform(size=600) < inclusion
        kept = {"probabilities": p[drawn], "labels": labels[drawn], "inclusion": inclusion[drawn]}
        found.append(estimate_from("average_precision", **kept).value)
        naive.append(metrics.average_precision_score(labels[drawn], p[drawn], sample_weight=1 / inclusion[drawn]))
    error = np.std(found) / 20
    assert np.mean(naive) - truth > 5 * error  # an item of weight w counts as w of them at its own rank
    assert abs(np.mean(found) - truth) < 0.6 * (np.mean(naive) - truth)


def test_several_measures_at_once_and_advice() -> None:
    p, labels = problem(400)
    found = evaluate(Pool(p), ["auc", "average_precision", "brier"], labels=labels, budget=100)
    assert [one.n_labels for one in found.values()] == [100] * 3
    expected = {one.method: one.std_error for one in advise(Pool(p), "average_precision", budgets=[100]).expected}
    assert expected["default"] < 0.7 * expected["passive"]


@names
@pytest.mark.parametrize("method", ["default", "thesis"])
def test_estimates_from_few_labels(name: str, method: str, agrees: Callable[[int, int, float], bool]) -> None:
    # 40 draws of 250 of 3,000, 18 % positive. Mean absolute errors in 300 runs: see docs/statistics.md, section 2.
    p, labels = problem()
    pool, truth = Pool(p), REFERENCE[name](labels, p)
    found = [evaluate(pool, name, labels=labels, budget=250, seed=seed, method=method) for seed in range(40)]
    values = np.array([one.value for one in found])
    # Precisions at the top rest on few labels: average precision is .4 standard deviations too high in the long run.
    assert abs(values.mean() - truth) < (0.5 + 2 / np.sqrt(40)) * values.std()
    # The default also counts surprises that no label showed.
    assert 0.7 < np.mean([one.std_error for one in found]) / values.std() < 1.6
    assert agrees(sum(one.interval(0.95).low <= truth <= one.interval(0.95).high for one in found), 40, 0.95)


def test_average_precision_needs_far_fewer_labels_than_a_passive_sample() -> None:
    p, labels = problem()
    pool, truth = Pool(p), REFERENCE["average_precision"](labels, p)
    active, passive = (
        [evaluate(pool, "average_precision", labels=labels, budget=250, seed=seed, method=method) for seed in range(40)]
        for method in ("default", "passive")
    )
    errors = [np.mean([abs(one.value - truth) for one in found]) for found in (active, passive)]
    assert errors[0] < 0.75 * errors[1]


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize("positive", [0, 1])
def test_bins_of_a_pools_blocks_are_found_once(
    given: type, positive: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(probabilities=rng.random(10_000).astype(given))
    measure = settled(AUC(positive), pool.task, pool.items, (0,))
    looked_up = []
    found = binned._bins
    monkeypatch.setattr(binned, "_bins", lambda *asked: looked_up.append(len(asked[0])) or found(*asked))
    for _stage in range(2):
        basis = measure.ready(pool.task).basis
        for part in (slice(0, 6_000), slice(6_000, 10_000)):
            items = pool.items.take(part)
            for label in (0, 1):
                coefficients = rng.random((len(measure.edges[0]), 2))
                rows = np.searchsorted(measure.edges[0], Score(positive).of(items, 0))
                expected = coefficients[rows, int(label == positive)]
                assert np.array_equal(basis.project(items, 0, label, coefficients), expected)
    assert looked_up == [6_000, 4_000]
    assert pickle.loads(pickle.dumps(basis)).places._kept == {}
