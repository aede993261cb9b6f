"""Sessions and the front door: the same items by any way of asking, labels refused, budgets, costs, skips."""

import importlib.util
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sondage
from sondage import Classifier, Outcome, Pool, Regressor, compare, evaluate, select
from sondage.core.measures import Loss, parse_measure
from sondage.core.results import Estimate
from sondage.errors import InputError, LabelError, LabelingInterrupted, MeasureError, SondageWarning
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

from .noting import noting

HERE = Path(__file__).parent
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "thesis": {"method": "thesis"},
    "passive": {"method": "passive"},
    "successive": {"draw": "successive"},
    "horvitz_thompson": {"estimator": "horvitz_thompson"},
    "neyman": {"design": "neyman"},
    "strata": {"design": "strata"},
}
every_method = pytest.mark.parametrize("parts", METHODS.values(), ids=METHODS)
offline = pytest.mark.parametrize(
    "parts", [parts for name, parts in METHODS.items() if name != "strata"], ids=[m for m in METHODS if m != "strata"]
)


def make(n: int = 300, seed: int = 0, **columns: Any) -> tuple[Pool, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 0.6, size=n)
    weights = columns.pop("weights", rng.uniform(1, 3, size=n))
    return Pool(p, weights=weights, **columns), (rng.random(n) < p) * 1


def start(pool: Pool, measure: str = "f1", budget: float = 30, seed: int = 1, **parts: Any) -> Session:
    measures = tuple(parse_measure(name) for name in measure.split(" "))
    kind = "compare" if len(pool.models) > 1 else "evaluate"
    return Session.start(pool, Question(kind, pool.models, measures), choose_method(**parts), budget=budget, seed=seed)


def run(session: Session, y: Any, step: int | None, pool: Pool | None = None) -> list[Any]:
    asked = []
    while ids := session.ask(step, pool):
        session.tell(ids, [int(y[i]) for i in ids])
        asked += ids
    return asked


def only(session: Session) -> Estimate:
    return next(iter(estimate_session(session).values()))


def same(one: Estimate, other: Estimate, rel: float = 1e-12) -> None:
    assert (one.n_labels, one.exact, one.warnings) == (other.n_labels, other.exact, other.warnings)
    for name in ("value", "std_error", "df", "n_effective"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=rel), name


# The same items


@offline
def test_one_at_a_time_in_batches_or_all_at_once(parts: dict[str, Any]) -> None:
    pool, y = make()
    sessions = [start(pool, **parts) for _ in range(3)]
    # A staged method taken at once has no labels to plan by: it is drawn in one go, and not compared here.
    last = 11 if sessions[0].has_next_stage else None
    asked = [run(session, y, step, pool) for session, step in zip(sessions, (1, 7, last), strict=True)]
    assert asked[0] == asked[1] == asked[2]
    assert len(set(asked[0])) == 30
    for session in sessions[1:]:
        same(only(session), only(sessions[0]))
    same(evaluate(pool, "f1", y, budget=30, seed=1, **parts), only(sessions[0]))


def test_draws_that_follow_the_labels_are_asked_one_at_a_time() -> None:
    pool, y = make()
    session = start(pool, design="strata")
    run(session, y, 1)
    same(evaluate(pool, "f1", y, budget=30, seed=1, design="strata"), only(session))
    assert session.online


@pytest.mark.parametrize("name", ["passive", "thesis", "successive"])
def test_a_small_budget_takes_the_head_of_a_large_one(name: str) -> None:
    # Rates in proportion to size make one order for all budgets; the default's follow the budget.
    pool, y = make(weights=np.ones(300))
    asked = run(start(pool, budget=40, **METHODS[name]), y, 1)
    assert run(start(pool, budget=25, **METHODS[name]), y, None) == asked[:25]


@every_method
@pytest.mark.parametrize("to", [45, 60])
def test_extending_keeps_what_was_asked(parts: dict[str, Any], to: int) -> None:
    pool, y = make(60)
    session = start(pool, budget=20, **parts)
    before = run(session, y, 4, pool)
    session.extend(pool, to)
    after = run(session, y, 4, pool)
    assert [session.ids[p] for p in session.asked] == before + after
    assert len(set(before + after)) == to
    estimate = only(session)
    assert estimate.n_labels == to
    assert estimate.exact == (to == 60)
    if to == 60:
        assert estimate.value == pytest.approx(evaluate(pool, "f1", y, budget=60).value, rel=1e-12)


def test_extending_while_labels_are_pending() -> None:
    pool, _ = make()
    session = start(pool, budget=10)
    first = session.ask(6)
    session.tell(first[:2], [0, 1])
    session.extend(pool, 20)
    assert session.ask(5) == [*first[2:], session.ids[6]]
    assert session.n_labels == 2
    with pytest.raises(InputError, match="budget=20 must be above the present one, 20"):
        session.extend(pool, 20)
    with pytest.raises(InputError, match="above what the pool can take"):
        session.extend(pool, 301)


@every_method
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), texts=st.booleans())
def test_order_of_rows_is_irrelevant(parts: dict[str, Any], seed: int, texts: bool) -> None:
    rng = np.random.default_rng(seed)
    p, weights, shuffled = rng.random(150), rng.uniform(1, 2, size=150), rng.permutation(150)
    y, ids = (rng.random(150) < p) * 1, np.array([f"x{i}" for i in range(150)]) if texts else np.arange(150) * 11
    pools = [Pool(p[rows], ids=ids[rows], weights=weights[rows]) for rows in (np.arange(150), shuffled)]
    truth = dict(zip(ids.tolist(), y.tolist(), strict=True))
    sessions = [start(pool, "recall", 20, seed, **parts) for pool in pools]
    asked = [run(session, truth, 1, pool) for session, pool in zip(sessions, pools, strict=True)]
    assert asked[0] == asked[1]
    same(only(sessions[1]), only(sessions[0]), rel=1e-9)


def test_seeds_differ() -> None:
    pool, y = make()
    assert run(start(pool, seed=1), y, None) != run(start(pool, seed=2), y, None)


def test_ids_are_the_golden_ones() -> None:
    # A changed draw for the same seed is a breaking change: see golden_draws.py.
    spec = importlib.util.spec_from_file_location("golden_draws", HERE / "golden_draws.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = json.loads((HERE / "golden_ids.json").read_text())
    found = module.golden()
    assert found.keys() == expected.keys()
    for pool, draws in expected.items():
        for draw, ids in draws.items():
            assert found[pool][draw] == ids, f"{draw} draw of {pool}"


# Asking and telling


def test_pending_items_come_first() -> None:
    pool, _ = make()
    session = start(pool)
    first = session.ask(4)
    session.tell([first[1]], [1])
    assert session.ask(2) == [first[0], first[2]]
    again = session.ask(5)
    assert again[:3] == [first[0], first[2], first[3]]
    assert len(session.asked) == 6
    assert session.pending == [0, 2, 3, 4, 5]


def test_of_many_classes_the_nearest_are_named() -> None:
    shares = np.random.default_rng(0).dirichlet(np.ones(300), size=50)
    session = start(Pool(shares, [f"animal {number}" for number in range(300)]), "error_rate", 5)
    with pytest.raises(LabelError, match=r"the nearest of 300 classes are \['animal 7',[^\]]{,30}\]: others are named"):
        session.tell(session.ask(1), ["Animall7"])
    with pytest.raises(
        LabelError, match=r"the nearest of 300 classes are \['animal 7',[^\]]{,30}\]: write 'animal 7'$"
    ):
        session.tell(session.ask(1), ["Animal7"])


def test_labels_are_taken_whole_or_not_at_all() -> None:
    pool, _ = make()
    session = start(pool)
    ids = session.ask(3)
    with pytest.raises(LabelError, match="is not a class; classes are"):
        session.tell(ids, [0, 1, 7])
    assert session.answers == {}
    assert session.tell(ids, [0, 1, "1"]) == 3
    assert session.tell(ids, [0, 1.0, 1]) == 0  # the same again is nothing new


def test_conflicts_are_refused_unless_corrected() -> None:
    pool, _ = make()
    session = start(pool)
    ids = session.ask(2)
    session.tell(ids, [0, 1])
    with pytest.raises(LabelError, match="already labelled 0, now 1: pass correct=True"):
        session.tell([ids[0]], [1])
    with pytest.raises(LabelError, match="already labelled 0, now a skip"):
        session.tell([ids[0]], [None])
    assert session.answers[0] == 0
    assert session.tell([ids[0]], [1], correct=True) == 1
    assert session.answers[0] == 1
    with pytest.raises(LabelError, match="already labelled 0, now 1"):
        session.tell([ids[1], ids[1]], [0, 1], correct=True)  # one message that contradicts itself
    assert session.answers[1] == 1


def test_items_that_were_never_asked_for_are_refused() -> None:
    pool, _ = make()
    session = start(pool, budget=5)
    asked = session.ask(3)
    drawn_later = session.ids[4]
    never = next(i for i in range(300) if i not in session.ids)
    for name in (drawn_later, never, "nobody"):
        with pytest.raises(LabelError, match=f"id {name!r} was never asked for"):
            session.tell([asked[0], name], [1, 1])
    assert session.answers == {}
    with pytest.raises(LabelError, match="2 ids and 1 labels"):
        session.tell(asked[:2], [1])


def test_ids_are_known_by_their_text() -> None:
    pool, _ = make()
    session = start(pool)
    ids = session.ask(2)
    session.tell([str(name) for name in ids], [1, 0])
    assert session.answers == {0: 1, 1: 0}


def test_a_number_that_was_rounded_names_no_item() -> None:
    session = start(Pool([0.2, 0.4, 0.6], ids=[2**53 - 1, 2**60, 2**60 + 1]), budget=3)
    session.ask(3)
    session.tell([float(2**53 - 1), 2**60 + 1], [1, 1])
    for name in (2.0**60, np.float64(2**60 + 1)):
        with pytest.raises(LabelError, match=r"^id 1\.15\d+e\+18 is a float, which may stand for other ids too: give"):
            session.tell([name], [0])
    assert session.n_labels == 2


def test_nothing_can_be_estimated_without_labels() -> None:
    pool, _ = make()
    session = start(pool)
    with pytest.raises(InputError, match="no labels yet"):
        estimate_session(session)
    session.tell(session.ask(2), [None, None])
    with pytest.raises(InputError, match="no labels yet"):
        estimate_session(session)
    with pytest.raises(InputError, match="n=0 must be a whole number from 1"):
        session.ask(0)


# Pending and skipped


def test_pending_and_skipped_items_are_counted() -> None:
    pool, y = make()
    session = start(pool, "error_rate", 30)
    ids = session.ask()
    session.tell(ids[:20], [int(y[i]) for i in ids[:20]])
    session.tell(ids[20:25], [None] * 5)
    estimate = only(session)
    assert (estimate.n_labels, estimate.n_pending, estimate.n_skipped) == (20, 5, 5)
    assert "5 pending and 5 skipped" in estimate.warnings[0]
    assert str(estimate).endswith("(20 labels, 5 pending, 5 skipped)")
    assert not estimate.exact
    assert estimate.if_skipped is not None
    assert estimate.if_skipped.low < estimate.value < estimate.if_skipped.high


@pytest.mark.parametrize(("measure", "seed"), [("f1", 44), ("error_rate", 41)])
def test_what_skips_could_change_holds_the_estimate(measure: str, seed: int) -> None:
    pool, y = make()
    session = start(pool, measure, 30, seed)
    first, *others = session.ask(30, pool)
    session.tell([first, *others], [None, *(int(y[i]) for i in others)])
    run(session, y, 30, pool)
    estimate = only(session)
    assert estimate.if_skipped is not None
    assert estimate.if_skipped.low <= estimate.value <= estimate.if_skipped.high


def test_a_skip_may_be_answered_later() -> None:
    pool, _ = make()
    session = start(pool)
    ids = session.ask(2)
    session.tell(ids, [None, 1])
    assert session.n_labels == 1
    assert session.tell([ids[0]], [0]) == 1
    assert session.n_labels == 2
    assert session.pending == []


def test_pending_by_hand() -> None:
    # A passive sample of 4 with 3 answers, one cell: the answered stand for all, each for 4/3 of its weight.
    pool = Pool(np.full(40, 0.3))
    session = start(pool, "error_rate", 4, method="passive")
    ids = session.ask()
    session.tell(ids[:3], [1, 0, 0])
    estimate = only(session)
    assert estimate.value == pytest.approx(1 / 3, rel=1e-12)
    w, ratio = 10.0, 4 / 3
    spread = (1 - 0.1) / 0.01 * ratio**2 + w * ratio * (ratio - 1)
    expected = 3 / 2 * 3 * spread * (2 / 9 / 40**2)
    assert estimate.std_error == pytest.approx(np.sqrt(expected), rel=1e-12)


def test_hard_items_that_wait_do_not_bias() -> None:
    # DESIGN section 5: hard items answered later; truth .136, "labels so far" .108. Cells of equal belief correct it.
    rng = np.random.default_rng(5)
    p = rng.beta(0.5, 0.5, size=4000)
    y, hard = (rng.random(4000) < p) * 1, np.abs(p - 0.5) < 0.3
    naive, found, pool = [], [], Pool(p)
    for seed in range(40):
        session = start(pool, "error_rate", 100, seed, method="passive")
        ids = session.ask()
        answered = [i for i in ids if not hard[i] or rng.random() < 0.4]
        session.tell(answered, [int(y[i]) for i in answered])
        found.append(only(session).value)
        naive.append(np.mean((p[answered] > 0.5) != y[answered]))
    truth = np.mean((p > 0.5) != y)
    assert abs(np.mean(found) - truth) < 0.25 * abs(np.mean(naive) - truth)


# Budgets


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (301, "budget=301 is above what the pool can take: 300"),
        (0, "budget= is missing, or 0: give the number of labels"),
        (-3, "must be positive"),
        (2.5, "must be whole"),
        (float("nan"), "must be positive"),
        (float("inf"), "must be positive"),
    ],
)
def test_wrong_budgets_are_refused(budget: float, message: str) -> None:
    pool, y = make()
    with pytest.raises(InputError, match=message):
        evaluate(pool, "f1", y, budget=budget)


@pytest.mark.parametrize("method", ["default", "thesis"])
def test_when_fewer_items_matter_the_result_is_exact(method: str) -> None:
    pool, y = make()
    p, b = pool.items.models[0].probabilities, pool.items.weights  # type: ignore[union-attr]
    f = np.asarray(p) > 0.5
    estimate = evaluate(pool, "precision", y, budget=290, method=method)
    assert estimate.n_labels == np.count_nonzero(f) < 290
    assert estimate.value == pytest.approx((b @ (f * y)) / (b @ f), rel=1e-12)
    assert (estimate.exact, estimate.std_error, estimate.warnings) == (True, 0.0, ())
    interval = estimate.interval(0.9)
    assert (interval.low, interval.high, interval.kind) == (estimate.value, estimate.value, "exact")


def test_a_passive_total_has_the_textbook_variance() -> None:
    # Cochran 1977, Theorem 2.2: the total of a simple random sample is N times its mean, with (1 - n/N) s^2 / n.
    pool, y = make(100, weights=np.ones(100))
    session = start(pool, "accuracy", 40, method="passive", estimator="horvitz_thompson", interval="wald")
    rows = session.ask(40)
    session.tell(rows, y[rows])
    right = (np.asarray(pool.items.models[0].probabilities)[rows] > 0.5) == y[rows]  # type: ignore[union-attr]
    found = estimate_session(session)["accuracy"]
    assert found.value == pytest.approx(np.mean(right), rel=1e-12)
    assert found.std_error == pytest.approx(np.sqrt(0.6 * np.var(right, ddof=1) / 40), rel=1e-12)


def test_zero_sizes_leave_a_passive_draw() -> None:
    p = (np.arange(200) % 3 == 0) * 1.0
    pool = Pool(p)
    for parts in ({"design": "optimal", "stages": 1, "belief": "model"}, {"method": "thesis"}):
        with pytest.warns(SondageWarning, match="nothing is uncertain"):
            session = start(pool, "error_rate", 50, **parts)
        np.testing.assert_allclose(session.stage.drawn.sizes, 1 / 200, rtol=1e-12)
        run(session, (p > 0) * 1, None)
        assert only(session).value == 0.0
        assert not only(session).exact


def test_items_that_cannot_be_drawn_are_said_so() -> None:
    # The precision's design has no size where nothing is predicted, but the recall needs those items.
    pool, y = make()
    found = evaluate(pool, ["precision", "recall"], y, budget=50, method="thesis")
    assert any("no chance of being drawn" in text for text in found["recall"].warnings)
    floor = evaluate(pool, ["precision", "recall"], y, budget=50, method="thesis", floor=0.1)
    assert not any("no chance of being drawn" in text for text in floor["recall"].warnings)


@pytest.mark.parametrize(("parts", "told"), [({"floor": 0.0}, True), ({}, False), ({"method": "passive"}, False)])
def test_an_assisted_estimate_without_a_floor_is_warned_of(parts: dict[str, Any], told: bool) -> None:
    pool, y = make()
    found = evaluate(pool, "error_rate", y, budget=50, **parts)
    assert any("floor=0.2" in text for text in found.warnings) == told


# Costs


@pytest.mark.parametrize("parts", [METHODS[m] for m in ("default", "thesis", "passive", "successive")])
def test_never_over_budget(parts: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    costs = rng.uniform(0.5, 9, size=300)
    pool, y = make(costs=costs)
    for seed in range(15):
        label, asked = noting(y)
        estimate = evaluate(pool, "error_rate", label, budget=60.0, seed=seed, **parts)
        assert estimate.spent == pytest.approx(costs[asked].sum(), rel=1e-12)
        assert 60 - 9 < estimate.spent <= 60
        assert estimate.n_labels == len(set(asked)) == len(asked)


@pytest.mark.parametrize("method", ["default", "thesis", "passive"])
def test_a_budget_for_everything_is_exact(method: str) -> None:
    costs = np.random.default_rng(2).uniform(0.5, 9, size=300)
    pool, y = make(costs=costs)
    estimate = evaluate(pool, "error_rate", y, budget=float(costs.sum()), method=method)
    p, b = np.asarray(pool.items.models[0].probabilities), pool.items.weights  # type: ignore[union-attr]
    assert (estimate.n_labels, estimate.exact) == (300, True)
    assert estimate.value == pytest.approx(b @ ((p > 0.5) != y), rel=1e-12)


def test_wrong_costs_and_budgets() -> None:
    pool, y = make(costs=np.full(300, 2.0))
    dear, _ = make(costs=np.where(np.arange(300) == 7, 50.0, 2.0))
    with pytest.raises(InputError, match="below the dearest label, 50"):
        evaluate(dear, "error_rate", y, budget=49)
    assert evaluate(dear, "error_rate", y, budget=50).spent > 0
    with pytest.raises(InputError, match="600 \\(cost\\)"):
        evaluate(pool, "error_rate", y, budget=601)
    with pytest.raises(InputError, match="stratified draws count labels"):
        evaluate(pool, "error_rate", y, budget=60, design="neyman")
    assert evaluate(pool, "error_rate", y, budget=61).n_labels == 30


@pytest.mark.slow
def test_stopping_at_the_first_item_that_does_not_fit_is_unbiased() -> None:
    # FORMULAS 5: a total of 16 simulated as 16.02 so, 12.9 with the item that crosses the limit.
    rng = np.random.default_rng(0)
    costs = rng.uniform(1, 20, size=100)
    pool, y = make(100, costs=costs)
    values = [
        evaluate(pool, "error_rate", y, budget=200.0, seed=seed, estimator="horvitz_thompson").value
        for seed in range(3000)
    ]
    p, b = np.asarray(pool.items.models[0].probabilities), pool.items.weights  # type: ignore[union-attr]
    truth = b @ ((p > 0.5) != y)
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(3000))


# The front door


def test_labels_as_array_mapping_and_function() -> None:
    pool, y = make(ids=[f"x{i}" for i in range(300)])
    mapping = {f"x{i}": int(label) for i, label in enumerate(y)}
    calls: list[int] = []

    def function(ids: list[str]) -> list[int]:
        calls.append(len(ids))
        return [mapping[name] for name in ids]

    def partial(ids: list[str]) -> dict[str, int]:
        return {name: mapping[name] for name in ids}

    found = [evaluate(pool, "f1", labels, budget=250, seed=3) for labels in (y, y.tolist(), mapping, function, partial)]
    for estimate in found[1:]:
        same(estimate, found[0])
    assert calls == [50, 75, 100, 25]  # stages of 50, 75 and 125, at most 100 at once


def test_labels_whose_index_has_the_ids_in_another_order_are_refused() -> None:
    pool, y = make(ids=[f"x{i}" for i in range(300)])
    labels = pandas.Series(y, index=pool.ids)
    with pytest.raises(InputError, match=r"ids as their index, in another order: give labels\.loc\[pool\.ids\]"):
        evaluate(pool, "f1", labels[::-1], budget=50, seed=3)
    expected = evaluate(pool, "f1", y, budget=50, seed=3)
    for taken in (labels, labels[::-1].loc[pool.ids], labels.set_axis(range(300, 0, -1))):
        same(evaluate(pool, "f1", taken, budget=50, seed=3), expected)
    numbered, _ = make()
    same(evaluate(numbered, labels=pandas.Series(y)[::-1], budget=50), evaluate(numbered, labels=y[::-1], budget=50))


def test_a_seed_may_be_of_numpy() -> None:
    pool, y = make()
    same(evaluate(pool, "f1", y, budget=20, seed=np.int64(3)), evaluate(pool, "f1", y, budget=20, seed=3))
    two = Pool(models={"a": Classifier(predictions=y), "b": Classifier(predictions=1 - y)})
    found = select(two, "f1", labels=y, budget=20, seed=np.uint8(3))
    assert found.contenders() == select(two, "f1", labels=y, budget=20, seed=3).contenders()


@pytest.mark.parametrize("ids", [None, [f"x{i}" for i in range(300)]])
def test_a_function_may_look_labels_up_in_a_series(ids: Any) -> None:
    pool, y = make(ids=ids)
    labels = pandas.Series(y, index=pool.ids)
    found = evaluate(pool, "f1", lambda names: labels[labels.index.isin(names)], budget=50, seed=3)
    same(found, evaluate(pool, "f1", y, budget=50, seed=3))
    same(evaluate(pool, "f1", lambda names: labels.loc[names].reset_index(drop=True), budget=50, seed=3), found)


@pytest.mark.parametrize(("one", "other"), [(int, str), (str, int)])
def test_a_mapping_may_spell_whole_numbers_otherwise(one: Any, other: Any) -> None:
    pool, y = make(ids=[one(i) for i in range(300)])
    mapping = {other(i): int(label) for i, label in enumerate(y)}
    same(evaluate(pool, "f1", mapping, budget=50, seed=3), evaluate(pool, "f1", y, budget=50, seed=3))
    with pytest.raises(LabelError, match="no label for id") as caught:
        evaluate(pool, "f1", lambda ids: {other(name): 1 for name in ids[1:]}, budget=50, seed=3)
    assert len(caught.value.labels) > 1


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (None, InputError, "labels= is missing"),
        ([0, 1], InputError, "labels have shape \\(2,\\); the pool has 300 items"),
        ({3: 1}, LabelError, "no label for id"),
        (lambda ids: [1], LabelError, "returned 1 labels for 15 ids"),
        (lambda ids: [pandas.NA] * len(ids), LabelError, "label <NA> of id .* is not a class"),
        (lambda ids: None, LabelError, "the labelling function returned None for 15 ids; it must return their labels"),
        (lambda ids: 1, LabelError, "the labelling function returned 1 for 15 ids"),
        (lambda ids: pandas.DataFrame({0: ids}), LabelError, "the labelling function returned a table for 15 ids"),
        (lambda ids: "ham", LabelError, "the labelling function returned 'ham' for 15 ids"),
        (lambda ids: ["ham"] * len(ids), LabelError, "'ham' of id"),
        (np.full(300, np.nan), LabelError, "is not a class"),
    ],
)
def test_wrong_labels_are_refused(labels: Any, error: type[Exception], message: str) -> None:
    pool, _ = make()
    with pytest.raises(error, match=message):
        evaluate(pool, "f1", labels, budget=30)


def test_ctrl_c_loses_nothing() -> None:
    pool, y = make()
    calls: list[list[int]] = []

    def label(ids: list[int]) -> list[int]:
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(ids)
        return y[ids].tolist()  # type: ignore[no-any-return]

    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(pool, "f1", label, budget=250, seed=3)
    assert vars(caught.value)["labels"] == {i: y[i] for ids in calls for i in ids}
    assert caught.value.__notes__ == ["125 labels were got before: this exception has them as .labels, id -> label"]


def test_an_interrupted_labeller_loses_nothing() -> None:
    pool, y = make()
    calls = []

    def label(ids: list[int]) -> list[int]:
        if len(calls) == 2:
            raise ConnectionError("the line is dead")
        calls.append(ids)
        return y[ids].tolist()  # type: ignore[no-any-return]

    with pytest.raises(LabelingInterrupted, match="after 125 labels: the line is dead") as caught:
        evaluate(pool, "f1", label, budget=250, seed=3)
    got = caught.value.labels
    assert got == {i: y[i] for ids in calls for i in ids}
    assert isinstance(caught.value.__cause__, ConnectionError)

    def resume(ids: list[int]) -> list[int]:
        return [got.get(i, y[i]) for i in ids]

    same(evaluate(pool, "f1", resume, budget=250, seed=3), evaluate(pool, "f1", y, budget=250, seed=3))


@pytest.mark.parametrize("failure", [ConnectionError("the line is dead"), KeyboardInterrupt()])
def test_a_labeller_that_yields_loses_nothing(failure: BaseException) -> None:
    pool, y = make()
    got: list[int] = []

    def label(ids: list[int]) -> Iterator[int]:
        for i in ids:
            if len(got) == 130:
                raise failure
            got.append(i)
            yield y[i]

    with pytest.raises((LabelingInterrupted, KeyboardInterrupt)) as caught:
        evaluate(pool, "f1", label, budget=250, seed=3)
    assert isinstance(caught.value, KeyboardInterrupt) or caught.value.__cause__ is failure
    assert vars(caught.value)["labels"] == {i: y[i] for i in got}


@pytest.mark.parametrize(("answer", "message"), [(["ham"] * 25, "'ham' of id"), (None, "returned None for")])
def test_a_wrong_answer_loses_nothing(answer: Any, message: str) -> None:
    pool, y = make()
    calls: list[list[int]] = []

    def label(ids: list[int]) -> Any:
        calls.append(ids)
        return y[ids].tolist() if len(calls) < 3 else answer and answer[:1] * len(ids)

    with pytest.raises(LabelError, match=message) as caught:
        evaluate(pool, "f1", label, budget=250, seed=3)
    assert caught.value.labels == {i: y[i] for ids in calls[:2] for i in ids}


@pytest.mark.parametrize("budget", [3, 6])
def test_strata_without_labels_are_joined_to_the_nearest(budget: int) -> None:
    probability = np.linspace(0.01, 0.99, 400)
    pool, y = Pool(probabilities=probability), (np.arange(400) >= 200).astype(int)
    y[::4] = 1 - y[::4]  # a quarter is wrong in every stratum
    parts: dict[str, Any] = {"method": "passive", "draw": "neyman", "estimator": "hajek"}
    values = [evaluate(pool, "error_rate", y, budget, seed, **parts).value for seed in range(200)]
    assert np.mean(values) == pytest.approx(0.25, abs=4 * np.std(values) / np.sqrt(200))


GROUPED = Pool([0.2, 0.4, 0.6, 0.8], ids=["w", "x", "y", "z"], groups=["one", "one", "two", "two"])


@pytest.mark.parametrize("labels", [[0, 1, 1, 1], dict(zip("wxyz", np.array([0, 1, 1, 1]), strict=True))])
def test_labels_that_differ_within_a_group_are_refused(labels: Any) -> None:
    with pytest.raises(LabelError, match="rows of group one share one label; they have 0 and 1"):
        evaluate(GROUPED, labels=labels, budget=1)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], {"w": 0, "x": 0, "y": 1, "z": 1}])
def test_labels_that_agree_are_taken(labels: Any) -> None:
    assert evaluate(GROUPED, labels=labels, budget=2).exact


def test_a_masked_label_is_a_skip() -> None:
    pool, y = make()
    masked = np.ma.array(y, mask=np.arange(300) == 7)
    assert evaluate(pool, labels=masked, budget=300).n_skipped == 1
    with pytest.raises(LabelError, match=r"label masked of id 7 is not a class.*: None is a skip"):  # and not class 0
        evaluate(pool, labels=lambda ids: masked[list(ids)], budget=300)


def test_only_labels_asked_for_are_read() -> None:
    pool, y = make()
    session = start(pool)
    asked = run(session, y, 7, pool)
    spoiled = np.where(np.isin(np.arange(300), asked), y, 99)
    same(evaluate(pool, "f1", spoiled, budget=30, seed=1), only(session))


def test_several_measures_from_one_sample() -> None:
    pool, y = make()
    names = ["f1", "recall", "error_rate", "log_loss", "f_measure:beta=2"]
    found = evaluate(pool, names, y, budget=60, seed=4, method="passive")
    assert list(found) == names
    for name in names:
        same(found[name], evaluate(pool, name, y, budget=60, seed=4, method="passive"))
    assert evaluate(pool, ["f1", "recall"], y, budget=60, seed=4)["f1"].n_labels == 60
    with pytest.raises(MeasureError, match="named twice"):
        evaluate(pool, ["f1", "f_measure:beta=1"], y, budget=60)


def test_the_first_measure_is_served() -> None:
    pool, y = make()
    both = start(pool, "precision recall", 40, method="thesis")
    assert run(both, y, None) == run(start(pool, "precision", 40, method="thesis"), y, None)


@pytest.mark.parametrize("belief", ["model", "uniform", "judge", {0: 0.7, 1: 0.3}, [0.2, 0.8], None])
def test_beliefs_change_the_items_but_not_the_truth(belief: Any) -> None:
    rng = np.random.default_rng(0)
    pool, y = make(judge=rng.random(300))
    found = evaluate(pool, "f1", y, budget=150, seed=0, belief=belief)
    exact = evaluate(pool, "f1", y, budget=300)
    assert found.value == pytest.approx(exact.value, abs=4 * found.std_error)
    assert evaluate(pool, "f1", y, budget=300, belief=belief).value == pytest.approx(exact.value, rel=1e-12)


def test_a_judge_is_believed_when_there_is_one() -> None:
    rng = np.random.default_rng(0)
    pool, _ = make(judge=rng.random(300))
    silent = Pool(predictions=pool.items.models[0].predictions, judge=pool.items.judges[0])
    assert start(silent).ids == start(silent, belief="judge").ids
    assert start(pool).ids != start(pool, belief="model").ids


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"design": "best"}, "no design 'best'; there are passive, optimal"),
        ({"draw": "urn"}, "no draw 'urn'; there are without_replacement"),
        ({"estimator": "median"}, "no estimator 'median'"),
        ({"interval": "wide"}, "no interval 'wide'"),
        ({"target": "world"}, "no target 'world'"),
        ({"belief": "mine"}, "no belief 'mine'"),
        ({"method": "magic"}, "no method 'magic'; there are default, thesis, passive"),
        ({"floor": 1.5}, "floor=1.5 must be in"),
        ({"design": "active_neq"}, "is for two models or more"),
        ({"design": "active_0"}, "is for regression"),
        ({"model": "b"}, "no model 'b' in the pool; there are \\['model'\\]"),
        ({"positive": "spam"}, "positive='spam' is not a class"),
        ({"measure": "error_rate", "positive": "spam"}, "positive='spam' is not a class of the pool; they are"),
        ({"measure": "f2"}, "no measure 'f2'"),
        ({"measure": "mse"}, "is for regression; this pool is for classification"),
    ],
)
def test_wrong_parts_are_refused(parts: dict[str, Any], message: str) -> None:
    pool, y = make()
    with pytest.raises(InputError, match=message):
        evaluate(pool, **({"measure": "f1", "labels": y, "budget": 20} | parts))


def test_a_measure_that_no_label_can_define_is_refused() -> None:
    with pytest.raises(MeasureError, match="undefined on this pool whatever the labels"):
        evaluate(Pool([0.1, 0.2, 0.3]), "precision", [0, 0, 1], budget=2)


# Comparisons and selections


def models(n: int = 250, count: int = 3) -> tuple[Pool, NDArray[Any]]:
    rng = np.random.default_rng(12)
    logit, y = rng.normal(0, 2, size=n), np.zeros(n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))) * 1
    noise = [rng.normal(0, 1 + i, size=n) for i in range(count)]
    return Pool(models={c: Classifier(1 / (1 + np.exp(-logit - e))) for c, e in zip("abc", noise, strict=False)}), y


@pytest.mark.parametrize("method", ["default", "thesis", "passive"])
def test_selecting_of_two_is_comparing(method: str) -> None:
    pool, y = models(count=2)
    chosen = select(pool, "accuracy", labels=y, budget=60, seed=2, method=method)
    found = compare(pool, *chosen.ranking, "accuracy", labels=y, budget=60, seed=2, method=method)
    pair = chosen.comparisons[chosen.ranking]
    assert pair.difference == pytest.approx(found.difference, rel=1e-9)
    assert pair.pvalue == pytest.approx(found.pvalue, rel=1e-8)
    if method != "default":  # a selection also believes something of the items on which both agree
        assert pair.std_error == pytest.approx(found.std_error, rel=1e-9)
        assert pair.estimate.df == pytest.approx(found.estimate.df, rel=1e-9)


def test_a_selection_is_consistent_with_itself() -> None:
    pool, y = models()
    chosen = select(pool, "error_rate", labels=y, budget=80, seed=0)
    values = [chosen.estimates[name].value for name in chosen.ranking]
    assert values == sorted(values)
    for (one, other), comparison in chosen.comparisons.items():
        difference = chosen.estimates[one].value - chosen.estimates[other].value
        assert comparison.difference == pytest.approx(difference, abs=1e-12)
    assert set(chosen.pvalues) == set(chosen.ranking[1:])


def test_comparing_is_antisymmetric() -> None:
    pool, y = models(count=2)
    one, other = (compare(pool, *names, "f1", labels=y, budget=60, seed=2) for names in (("a", "b"), ("b", "a")))
    assert one.difference == pytest.approx(-other.difference, rel=1e-9)
    assert one.std_error == pytest.approx(other.std_error, rel=1e-9)
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-8)
    with pytest.raises(InputError, match="compare needs two different models"):
        compare(pool, "a", "a", labels=y, budget=10)


def test_compare_session_by_hand() -> None:
    pool, y = models(count=2)
    session = start(pool, "error_rate", 60, 2)
    run(session, y, 9, pool)
    found = compare(pool, "a", "b", labels=y, budget=60, seed=2)
    assert compare_session(session).difference == found.difference


def test_better_follows_the_direction() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=400)
    good, bad = np.where(y == 1, 0.9, 0.1), rng.random(400)
    pool = Pool(models={"bad": Classifier(bad), "good": Classifier(good)})
    for measure in ("error_rate", "accuracy", "brier"):
        found = compare(pool, "bad", "good", measure, labels=y, budget=200)
        assert found.better == "good"
        assert (found.difference < 0) == (measure == "accuracy")


# Other tasks


def test_outcomes() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random((200, 2)) < [0.8, 0.6]
    judges = np.clip(truth * 0.6 + 0.2 + rng.normal(0, 0.1, size=truth.shape), 0.01, 0.99)
    pool = Pool(models={"a": Outcome(judge=judges[:, 0]), "b": Outcome(judge=judges[:, 1])})
    found = compare(pool, "a", "b", "accuracy", labels=truth * 1, budget=200)
    assert found.difference == pytest.approx(truth[:, 0].mean() - truth[:, 1].mean(), rel=1e-12)
    part = compare(pool, "a", "b", "accuracy", labels=truth * 1, budget=60, seed=1)
    assert part.difference == pytest.approx(found.difference, abs=4 * part.std_error)
    one = evaluate(pool, "accuracy", lambda ids: [{"a": int(truth[i, 0])} for i in ids], budget=200, model="a")
    assert one.value == pytest.approx(truth[:, 0].mean(), rel=1e-12)


def test_own_losses_of_numbers_are_never_thought_known() -> None:
    # No supposed label shows a loss beyond 5: the pool must be labelled all the same.
    rng = np.random.default_rng(4)
    f, y = rng.normal(size=100), rng.normal(0, 6, size=100)
    far = Loss(lambda f, y: (np.abs(f - y) > 5) * 1.0, name="far off", bounds=(0.0, 1.0))
    pool = Pool(means=f, variances=np.full(100, 0.01))
    with pytest.warns(SondageWarning, match="nothing is uncertain"):
        estimate = evaluate(pool, far, y, budget=100)
    assert estimate.n_labels == 100
    assert estimate.value == pytest.approx(np.mean(np.abs(f - y) > 5), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_of_measurement_are_irrelevant(scale: float) -> None:
    rng = np.random.default_rng(6)
    f, g = rng.normal(size=(2, 300))
    v, y = rng.uniform(0.1, 2, size=300), f + rng.normal(size=300)
    found = []
    for s in (1.0, scale):
        two = {"a": Regressor(f * s, v * s**2), "b": Regressor(g * s, v * s**2)}
        comparison = compare(Pool(models=two), "a", "b", "mse", labels=y * s, budget=50, seed=2)
        neyman = evaluate(Pool(means=f * s, variances=v * s**2), "mse", y * s, budget=50, seed=2, design="neyman")
        found.append([x / s**2 for x in (comparison.difference, comparison.std_error, neyman.value, neyman.std_error)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_all_labels_agreeing_is_not_certainty() -> None:
    pool = Pool(np.full(100, 0.1))
    estimate = evaluate(pool, "error_rate", np.zeros(100, dtype=int), budget=20)
    assert estimate.value == 0.0
    assert estimate.std_error > 0
    assert any("all labels agree" in text for text in estimate.warnings)
    assert estimate.interval().high > 0.01


def test_results_print_in_a_line() -> None:
    models = {"a": sondage.Classifier([0.1, 0.9, 0.4, 0.7]), "b": sondage.Classifier([0.1, 0.2, 0.4, 0.7])}
    pool, labels = sondage.Pool(models=models), [0, 1, 0, 1]
    estimate = sondage.evaluate(pool, "accuracy", labels=labels, budget=4, model="b")
    assert str(estimate) == "accuracy of b: 0.75 +- 0 (4 labels)"
    comparison = sondage.compare(pool, "a", "b", "accuracy", labels=labels, budget=4)
    assert str(comparison).startswith("accuracy of a minus b: 0.25 +- 0 (1 label), p = 0, better: a")
    assert str(sondage.select(pool, "accuracy", labels=labels, budget=4)).startswith("accuracy of a: ")
    models["a"] = sondage.Classifier([0.9, 0.9, 0.4, 0.7])  # wrong once, too
    undecided = sondage.compare(sondage.Pool(models=models), "a", "b", "accuracy", labels=labels, budget=4)
    assert str(undecided).endswith("p = 1, better: not decided")


def test_select_claims_no_model_s_own_value_from_differences_alone() -> None:
    models = {"a": sondage.Classifier([0.1, 0.9, 0.4, 0.7]), "b": sondage.Classifier([0.1, 0.2, 0.4, 0.7])}
    selection = sondage.select(sondage.Pool(models=models), "accuracy", labels=[1, 1, 1, 1], budget=4)
    own = selection.estimates["a"]
    assert selection.n_labels == 1
    assert selection.comparisons["a", "b"].difference == 0.25
    assert not own.exact
    assert (own.interval().low, own.interval().high) == (0.0, 1.0)
    assert str(own).endswith(f" of a: {own.value:.4g}, error not known (1 label)")
    assert "rests on predicted labels" in selection.warnings[-1]


@pytest.mark.parametrize("parts", [{"method": "thesis"}, {"belief": "model", "method": "passive", "interval": "t"}])
def test_a_belief_that_is_sure_of_every_label_says_nothing_of_the_standard_error(parts: dict[str, Any]) -> None:
    p = np.repeat([0.0, 1.0], 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SondageWarning)  # the draw is passive
        found = evaluate(Pool(p), "error_rate", labels=(p > 0.5).astype(int), budget=20, seed=1, **parts)
    assert (found.value, found.interval().kind) == (0.0, "undefined")
    assert np.isnan(found.std_error)
    assert "predictions are sure of each" in " ".join(found.warnings)


def test_online_strata_ask_where_the_weight_is(rng: np.random.Generator) -> None:
    # A quarter of the items has 9 of 12 parts of the weight; deviations of labels are alike everywhere.
    p = np.concatenate([rng.uniform(0.1, 0.2, 750), rng.uniform(0.4, 0.5, 250)])
    y = (rng.random(1000) < 0.5).astype(int)
    pool = Pool(p, weights=np.where(p > 0.3, 9.0, 1.0))
    shares = []
    for seed in range(10):
        session = evaluate(pool, "error_rate", labels=y, budget=100, design="strata", seed=seed).course.session  # type: ignore[union-attr]
        shares.append(np.mean(p[[session.ids[at] for at in session.asked]] > 0.3))
    assert 0.6 < np.mean(shares) < 0.9
