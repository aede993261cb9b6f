"""Labels that there are already begin an evaluation: over all samples, kept in a study, and what is refused."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from sondage import Classifier, Outcome, Pool, Ranking, Study, compare, estimate_from, evaluate, read_pool, select
from sondage.errors import InputError, LabelError
from sondage.studies.method import choose_method
from sondage.studies.questions import make_question
from sondage.studies.session import Session
from sondage.studies.start import begun_with

SIZE = 600
RANDOM = np.random.default_rng(94)
P = RANDOM.beta(0.5, 1.5, SIZE)
Y = (RANDOM.random(SIZE) < P).astype(int)
POOL = Pool(probabilities=P)
TWO = Pool(models={"a": Classifier(P), "b": Classifier(np.clip(P + RANDOM.normal(0.0, 0.2, SIZE), 0.01, 0.99))})


def drawn(count: int, seed: int = 0, labels: Any = Y) -> dict[int, Any]:
    """Return the labels of so many items, as likely as all others."""
    return {int(row): labels[row] for row in np.random.default_rng(seed).choice(len(labels), count, replace=False)}


def never(ids: list[int]) -> list[int]:
    raise AssertionError("a label was asked for")


def begun(count: int, budget: float = 0, seed: int = 0, measure: str = "f1") -> Session:
    question = make_question(POOL, measure)
    return Session.start(POOL, question, choose_method(), budget=budget, seed=seed, start=drawn(count))


def test_horvitz_thompson_is_unbiased_over_all_samples() -> None:
    p, y = np.array([0.1, 0.8, 0.4, 0.9, 0.3, 0.6]), np.array([0, 1, 1, 0, 1, 1])
    values = [
        evaluate(Pool(p), "accuracy", start={row: y[row] for row in rows}, estimator="horvitz_thompson").value
        for rows in combinations(range(6), 3)
    ]
    assert np.mean(values) == pytest.approx(np.mean((p > 0.5) == y), rel=1e-12)


def test_without_a_belief_it_is_what_estimate_from_makes_of_the_labels() -> None:
    start = drawn(15)
    rows = np.array(list(start))
    told = {"predictions": (P > 0.5).astype(int)[rows], "labels": Y[rows], "inclusion": np.full(15, 15 / SIZE)}
    for measure in ("error_rate", "f1"):
        alone = estimate_from(measure, **told, pool_size=SIZE, classes=(0, 1))
        assert evaluate(POOL, measure, start=start, estimator="hajek").value == pytest.approx(alone.value, rel=1e-12)


def test_every_stage_is_a_simple_random_sample_of_what_those_before_left() -> None:
    session = begun(100, budget=200)
    left = SIZE
    for count, stage in zip((20, 30, 50), session.stages, strict=True):
        found = stage.drawn
        assert (len(found), found.settings["support"], found.settings["equal"]) == (count, left, True)
        assert stage.known.share == pytest.approx(left / SIZE, rel=1e-12)
        assert np.all(np.diff([*found.keys, found.tau]) > 0)
        left -= count
    assert (begun_with(session.stages), session.n_labels, session.remaining) == (100, 100, 100)
    assert set(session.asked_ids) == set(drawn(100))


def test_stages_of_a_random_sample_weigh_by_their_labels() -> None:
    def shares(measure: str, budget: int, start: Any) -> Any:
        evidence = evaluate(POOL, measure, Y, budget, start=start).evidence
        assert evidence is not None
        return evidence.fit.shares

    for measure in ("error_rate", "f1", "recall"):
        assert shares(measure, 100, drawn(100)) == pytest.approx([0.2, 0.3, 0.5], rel=1e-12)
        assert shares(measure, 100, None) != pytest.approx([0.2, 0.3, 0.5], rel=1e-2)
    both = shares("f1", 200, drawn(100))
    assert both[3] > 0.6  # half of the labels, chosen by what the others tell, weigh more
    assert both[:3] / both[:3].sum() == pytest.approx([0.2, 0.3, 0.5], abs=0.03)


def test_the_order_of_the_labels_follows_from_the_seed_alone() -> None:
    start = drawn(60)
    turned = dict(reversed(start.items()))
    first, again, other = (evaluate(POOL, "f1", start=one, seed=s) for one, s in ((start, 1), (turned, 1), (start, 2)))
    assert (first.value, first.std_error) == (again.value, again.std_error)
    assert first.value != other.value


@pytest.mark.parametrize("labels", [Y.tolist(), dict(enumerate(Y.tolist())), lambda ids: Y[ids].tolist()])
def test_labelling_goes_on_with_items_that_have_no_label_yet(labels: Any) -> None:
    found = evaluate(POOL, "f1", labels, 90, start=drawn(60), seed=1)
    assert (found.n_labels, found.spent, found.warnings) == (90, 90.0, ())
    everything = evaluate(POOL, "f1", labels, SIZE, start=drawn(60))
    assert everything.exact
    assert everything.value == evaluate(POOL, "f1", Y, SIZE).value


def test_no_label_is_asked_for_where_there_are_enough() -> None:
    assert evaluate(POOL, "f1", never, start=drawn(60)).n_labels == 60
    assert evaluate(POOL, "f1", never, 60, start=drawn(60)).n_labels == 60
    told = np.where(RANDOM.random(SIZE) < 0.2, Y, np.nan)
    assert evaluate(POOL, "f1", start=told).n_labels == np.count_nonzero(~np.isnan(told))
    narrow = evaluate(POOL, "error_rate", never, 300, start=drawn(250), stop=0.5)
    assert (narrow.stopped, narrow.n_labels) == ("width", 250)
    assert evaluate(POOL, "f1", start=Y).exact
    skipped = evaluate(POOL, "f1", start=drawn(60) | {next(iter(drawn(60))): None})
    assert (skipped.n_labels, skipped.n_skipped) == (59, 1)


def test_weights_are_those_of_the_pool_and_not_of_the_draw(place: str) -> None:
    weights = RANDOM.gamma(1.5, 1.0, SIZE) * (1 + 2 * P)
    pool = Pool(P, weights=weights)
    truth, runs = float(np.average((P > 0.5) != Y, weights=weights)), range(120)
    found = [evaluate(pool, "error_rate", Y, 90, seed, start=drawn(60, seed)) for seed in runs]
    errors = np.array([one.value - truth for one in found])
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(len(runs))
    assert np.mean([truth in one.interval(0.95) for one in found]) >= 0.9
    p, y, w = np.array([0.1, 0.8, 0.4, 0.9]), np.array([0, 0, 1, 0]), np.array([1.0, 4.0, 2.0, 1.0])
    every = [
        evaluate(Pool(p, weights=w), "accuracy", start={i: y[i] for i in rows}, estimator="horvitz_thompson").value
        for rows in combinations(range(4), 2)
    ]
    assert np.mean(every) == pytest.approx(np.average((p > 0.5) == y, weights=w), rel=1e-12)
    with Study.create(place, pool, "error_rate", 90, start=drawn(60)) as study:
        study.tell(ids := study.ask(30), Y[ids].tolist())
        assert study.estimate().value == found[0].value
        with pytest.raises(InputError, match="nothing holds at any time for labels of start= where the pool has"):
            study.estimate().sequence()


def test_comparisons_and_selections_begin_too() -> None:
    found = compare(TWO, "a", "b", start=drawn(200))
    difference = np.mean((P > 0.5) != Y) - np.mean((TWO.items.models[1].predictions) != Y)
    assert found.estimate.n_labels == 200
    assert difference in found.interval(0.999)
    alone, further = (select(TWO, "accuracy", labels=Y, budget=b, start=drawn(60)).estimates["a"] for b in (60, 90))
    assert (alone.n_labels, alone.warnings) == (60, ())
    assert np.mean((P > 0.5) == Y) in alone.interval(0.999)
    assert further.n_labels == 90  # later labels tell the models apart, and nothing of items on which they agree
    assert np.isnan(further.std_error)
    assert further.warnings[0].startswith("items on which the models cannot differ were not drawn")
    outcomes = np.where(RANDOM.random((SIZE, 1)) < 0.3, np.stack([Y, 1 - Y], axis=1), np.nan)
    systems = Pool(models={"bot": Outcome(judge=P), "cat": Outcome(judge=1 - P)})
    assert compare(systems, "bot", "cat", "accuracy", start=outcomes).better == ("cat" if Y.mean() < 0.5 else "bot")


def test_queries_with_all_their_judgements_begin_an_evaluation_of_rankings() -> None:
    lists = [(f"q{q}", [f"d{q}-{d}" for d in range(4)]) for q in range(40)]
    queries, documents = [q for q, shown in lists for _ in shown], [d for _, shown in lists for d in shown]
    grades = np.full((160, 3), 1 / 3)
    pool = Pool(models={"run": Ranking(ranks=[1, 2, 3, 4] * 40)}, queries=queries, documents=documents, grades=grades)
    judged: Mapping[Any, Any] = {q: {d: place % 3 for place, d in enumerate(shown)} for q, shown in lists}
    found = evaluate(pool, "dcg@3", start={name: judged[name] for name in ("q1", "q7", "q9")})
    assert found.n_labels == 3
    assert evaluate(pool, "dcg@3", judged, 40, start={"q1": judged["q1"]}).exact


def test_rows_in_another_order_and_files_give_the_same(tmp_path: Path) -> None:
    names = [f"m{row}" for row in range(SIZE)]
    label = dict(zip(names, Y.tolist(), strict=True))
    start = {names[row]: label for row, label in drawn(60).items()}
    table = pandas.DataFrame({"id": names, "p_1": P})
    table.to_parquet(tmp_path / "pool.parquet")
    turned = Pool(probabilities=P[::-1], ids=names[::-1])
    pools = [Pool(probabilities=P, ids=names), turned, read_pool(tmp_path / "pool.parquet", lazy=True)]
    found = [evaluate(pool, "f1", label, 100, start=start, seed=3) for pool in pools]
    assert found[0].value == found[1].value
    assert found[2].value == pytest.approx(found[0].value, rel=1e-9)
    with pytest.raises(LabelError, match="id 'm600' is not in the pool"):
        evaluate(pools[2], "f1", start={"m600": 1})


def test_ids_are_found_by_their_texts(tmp_path: Path) -> None:
    pandas.DataFrame({"id": np.arange(SIZE), "p_1": P}).to_parquet(tmp_path / "pool.parquet")
    stored = read_pool(tmp_path / "pool.parquet", lazy=True)
    for pool in (POOL, stored):
        texts = evaluate(pool, "f1", start={str(name): label for name, label in drawn(40).items()})
        assert texts.n_labels == 40
        for wrong in ("x", 600, -1, "007"):
            with pytest.raises(LabelError, match=f"id {wrong!r} is not in the pool"):
                evaluate(pool, "f1", start={wrong: 1})
        with pytest.raises(LabelError, match=r"id '5' comes twice, also as 5|id 5 comes twice, also as '5'"):
            evaluate(pool, "f1", start={5: 1, "5": 1})


def test_a_study_keeps_them_and_goes_on_as_in_memory(place: str) -> None:
    with Study.create(place, POOL, "f1", 100, 1, start=drawn(60)) as study:
        assert (study.status.labelled, study.status.remaining) == (60, 40)
        assert {row["kind"] for row in study.audit()} == {"created", "planned", "asked", "labelled"}
        assert [row["details"]["labelled"] for row in study.audit() if row["kind"] == "planned"] == [0, 12, 30]
        assert study.estimate().value == evaluate(POOL, "f1", start=drawn(60), seed=1, budget=60).value
        assert [row["id"] for row in study.history()] == study.snapshot().asked_ids
    with Study.open(place, POOL) as study:
        while ids := study.ask(17):
            assert not set(ids) & set(drawn(60))
            study.tell(ids, Y[ids].tolist())
        assert study.estimate().value == evaluate(POOL, "f1", Y, 100, 1, start=drawn(60)).value
        study.extend(120)
        study.tell(ids := study.ask(20), Y[ids].tolist())
        assert (study.status.labelled, study.estimate().n_labels) == (120, 120)


def test_a_second_person_labels_their_share_of_them(place: str) -> None:
    with Study.create(place, POOL, "f1", start=drawn(30), raters=2, overlap=1.0) as study:
        assert (study.status.labelled, study.status.wanted) == (30, 30)
        ids = [claim.id for claim in study.claim("anna", 30)]
        study.tell(ids, list(map(drawn(30).get, ids)), who="anna")
        assert (study.status.wanted, study.status.disputed) == (0, 0)


def test_sequences_hold_at_all_labels_together() -> None:
    truth, missed = float(np.mean((P > 0.5) != Y)), 0
    for seed in range(60):
        course = evaluate(POOL, "error_rate", Y, 80, seed, start=drawn(40, seed)).sequence(0.8)
        assert len(course.low) == 80
        missed += bool(np.any((course.low > truth) | (course.high < truth)))
    assert missed <= 20  # 12 expected at most; more than 20 by chance in 1 of 200


def test_a_belief_makes_the_estimate_nearer_and_intervals_hold() -> None:
    truth, runs = evaluate(POOL, "f1", Y, SIZE).value, range(150)
    alone, found = [], []
    for seed in runs:
        start = drawn(80, seed)
        alone.append(evaluate(POOL, "f1", start=start, seed=seed, estimator="hajek").value)
        found.append(evaluate(POOL, "f1", start=start, seed=seed))
    errors = np.array([[one - truth for one in alone], [one.value - truth for one in found]])
    assert np.mean(np.abs(errors[1])) < 0.9 * np.mean(np.abs(errors[0]))
    assert abs(errors[1].mean()) < 3 * errors[1].std() / np.sqrt(len(runs))
    assert np.mean([truth in one.interval(0.95) for one in found]) >= 0.9
    assert 0.8 < np.mean([one.std_error for one in found]) / errors[1].std() < 1.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": {}}, "start= has no labels: leave it out where there are none yet"),
        ({"start": 5}, "start is of the type int; it must be a list or an array"),
        ({"start": np.zeros(3)}, r"start has shape \(3,\); the pool has 600 items: missing ones are None or NaN"),
        ({"start": {1: 7}}, r"label 7 of id 1 is not a class; classes are \[0, 1\]"),
        ({"start": drawn(60), "budget": 50}, "budget=50 is less than the labels of start= take: 60"),
        ({"start": drawn(60), "budget": 70}, "labels= is missing: those of start= leave 10 of the budget to label"),
        ({"start": drawn(60), "method": "thesis"}, "start= begins a method in stages: leave out method= and stages="),
        ({"start": drawn(60), "stages": 1}, "start= begins a method in stages: leave out method= and stages="),
        ({"start": drawn(60), "slices": Y}, "start= is for one pool as a whole"),
        (
            {"pool": Pool(P, weights=P + 1), "labels": never, "budget": 90, "start": drawn(60), "stop": 0.1},
            "nothing holds at any time for labels of start= where the pool has weights",
        ),
        ({"pool": Pool(P, groups=np.arange(SIZE) // 2), "start": drawn(60)}, "the pool must have no groups"),
        (
            {"pool": Pool(P, costs=P + 1), "start": drawn(60), "budget": 50},
            "budget=50 is less than the labels of start=",
        ),
        ({"start": {1: None}}, "there are no labels yet: nothing can be estimated"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(**({"pool": POOL, "measure": "f1"} | options))


def test_labels_of_systems_are_not_by_system() -> None:
    systems = Pool(models={"bot": Outcome(judge=P), "cat": Outcome(judge=1 - P)})
    columns: dict[str, Any] = {"bot": Y, "cat": 1 - Y}
    rule = r"give id -> label, or an array with a column for each of \['bot', 'cat'\]"
    with pytest.raises(LabelError, match=f"^start= has the systems' names in place of ids: {rule}"):
        compare(systems, "bot", "cat", "accuracy", start=columns)
    with pytest.raises(LabelError, match=f"^labels= has the systems' names in place of ids: {rule}"):
        compare(systems, "bot", "cat", "accuracy", labels=columns, budget=20)


def test_looks_are_planned_before_any_label() -> None:
    with pytest.raises(InputError, match="looks= are planned before any label: leave them out, or start="):
        compare(TWO, "a", "b", labels=Y, budget=90, start=drawn(30), stop="significant", looks=3)


def test_items_that_are_no_random_sample_are_told(tmp_path: Path) -> None:
    order = np.argsort(P)  # the least sure ones of both predicted classes, which are as frequent as in the pool
    least, most = order[P[order] < 0.5][-96:], order[P[order] > 0.5][:24]
    hard = {int(row): Y[row] for row in (*least, *most)}
    pandas.DataFrame({"id": np.arange(SIZE), "p_1": P}).to_parquet(tmp_path / "pool.parquet")
    wrong = np.minimum(P, 1 - P)
    words = f"{np.mean(wrong[list(hard)]):.1%} are expected to be wrong, of the pool {np.mean(wrong):.1%}"
    for pool in (POOL, read_pool(tmp_path / "pool.parquet", lazy=True)):
        said = evaluate(pool, "f1", start=hard).warnings
        assert said[0] == (
            f"the items that were labelled before are not like the pool: {words}; if they were not drawn at random, "
            "this is biased"
        )
    flagged = {int(row): Y[row] for row in np.flatnonzero(P > 0.5)[:60]}
    said = compare(TWO, "a", "b", start=flagged).estimate.warnings
    assert f"0.0% are predicted to be 0, of the pool {np.mean(P < 0.5):.1%} by 'a'; if" in said[0]
    likely = {int(row): [Y[row]] for row in np.argsort(P)[-60:]}
    said = evaluate(Pool(models={"bot": Outcome(judge=P)}), "accuracy", start=likely).warnings
    assert "are expected to be right, of the pool" in said[0]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("chances", [P, P.round(1)])
def test_few_items_that_were_picked_by_how_sure_a_model_is_are_told(
    chances: np.ndarray, lazy: bool, tmp_path: Path
) -> None:
    pandas.DataFrame({"id": np.arange(SIZE), "p_1": chances}).to_parquet(tmp_path / "pool.parquet")
    pool = read_pool(tmp_path / "pool.parquet", lazy=lazy)
    order, count = np.argsort(np.abs(chances - 0.5), kind="stable"), 8 if chances is P else 40
    unsure = {int(row): Y[row] for row in order[:count]}
    assert "of which the model is least sure; if they" in evaluate(pool, "f1", start=unsure).warnings[0]
    sure = order[chances[order] < 0.5][-count:], order[chances[order] >= 0.5][-max(count // 4, 2) :]
    picked = {int(row): Y[row] for row in np.concatenate(sure)}
    assert "of which the model is surest; if they" in evaluate(pool, "f1", start=picked).warnings[0]


def test_which_of_two_models_is_unsure_of_them_is_told() -> None:
    order = np.argsort(np.abs(P - 0.5), kind="stable")[:8]
    said = compare(TWO, "a", "b", "f1", start={int(row): Y[row] for row in order}).estimate.warnings
    assert "100.0% are among the 10% of which 'a' is least sure; if they" in said[0]


def test_random_samples_are_not_told_of() -> None:
    for seed in range(100):
        assert not any(
            "labelled before" in one for one in evaluate(POOL, "f1", start=drawn(40, seed), seed=seed).warnings
        )
