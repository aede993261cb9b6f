"""A study answers exactly as the same session in memory, and survives what happens to files."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import sondage
from sondage import Classifier, Outcome, Pool, Ranking, Study
from sondage.core.measures import ErrorRate, ExpectedCost, FMeasure, Loss
from sondage.errors import InputError, LabelError, MeasureError, StudyError
from sondage.studies.forms import question_from_data, question_to_data
from sondage.studies.method import Question

SOURCE = Path(sondage.__file__).resolve().parents[1]


def two_classes(rng, size=300, **options):
    p = rng.beta(0.5, 1.0, size)
    ids = [f"item {number}" for number in range(size)]
    return Pool(probabilities=p, ids=ids, **options), (rng.random(size) < p).astype(int)


def answer_all(study, pool, labels, batch=7):
    """Ask and tell, and open the file again for each batch."""
    truth = dict(zip(pool.ids.tolist(), labels.tolist(), strict=True))
    while ids := study.ask(batch):
        study.tell(ids, [truth[name] for name in ids])
        study.close()
        study = Study.open(study.place, pool)
    return study


def same(found, expected):
    assert (found.value, found.std_error) == (expected.value, expected.std_error)
    assert found.interval() == expected.interval()
    assert found.n_labels == expected.n_labels


def case(kind, rng):
    """Return a pool, labels, a measure, a budget and options, of every kind that a study must hold."""
    size = 200
    p, ids = rng.dirichlet([1.0, 0.5, 0.5], size), np.arange(size) * 3
    labels = np.array([rng.choice(3, p=row) for row in p])
    if kind == "regression":
        pool = Pool(means=p[:, 0], variances=p[:, 1].astype(np.float32), ids=ids)
        return pool, p[:, 0] + p[:, 2], "rmse", 30, {}
    if kind == "outcomes":
        pool = Pool(models={"a": Outcome(p[:, 0]), "b": Outcome()})
        return pool, (rng.random((size, 2)) < p[:, :2]).astype(float), "accuracy", 30, {"model": "a"}
    if kind == "groups":
        pool = Pool(p, ids=ids, groups=ids // 9, weights=1 + p[:, 2])
        return pool, labels[(ids // 9) * 3], ["error_rate", "macro_f"], 20, {}
    if kind == "costs":
        return Pool(p.astype(np.float32), costs=1 + np.arange(size) % 4), labels, "error_rate", 60.0, {}
    if kind == "judge":
        return Pool(predictions=p.argmax(1), judge=p), labels, FMeasure(beta=1 / 3, positive=2), 40, {}
    if kind == "features":
        side = {"judge": {"sure": p, "named": labels}, "features": p[:, :2].astype(np.float32)}
        return Pool(p, **side), labels, "error_rate", 40, {"belief": "ensemble"}
    if kind == "prior":
        table = ExpectedCost([[0, 1, 2], [1, 0, 1], [5, 1, 0]])
        return (
            Pool(p, classes=["x", "y", "z"]),
            np.array(["x", "y", "z"])[labels],
            table,
            40,
            {"belief": (0.2, 0.3, 0.5)},
        )
    return Pool(p), labels, "error_rate", 40, {"method": kind}


@pytest.mark.parametrize(
    "kind", ["default", "thesis", "passive", "regression", "outcomes", "groups", "costs", "judge", "features", "prior"]
)
def test_a_study_answers_as_evaluate_does(kind, rng, place):
    pool, labels, measure, budget, options = case(kind, rng)
    expected = sondage.evaluate(pool, measure, labels=labels, budget=budget, seed=4, **options)
    study = Study.create(place, pool, measure, budget, 4, **options)
    found = answer_all(study, pool, labels).estimate()
    if isinstance(measure, list):
        assert list(found) == list(expected) == measure
        found, expected = found[measure[0]], expected[measure[0]]
    same(found, expected)


def test_compare_and_select_answer_as_in_memory(rng, tmp_path):
    p = rng.dirichlet([1.0, 1.0], 200)[:, 1]
    pool = Pool(models={"a": Classifier(p), "b": Classifier(1 - p), "c": Classifier(rng.random(200))})
    labels = (rng.random(200) < p).astype(int)
    study = Study.create(tmp_path / "compare.db", pool, budget=50, compare=("b", "a"), alpha=0.01)
    found = answer_all(study, pool, labels).estimate()
    expected = sondage.compare(pool, "b", "a", labels=labels, budget=50, alpha=0.01)
    assert (found.difference, found.pvalue, found.better) == (expected.difference, expected.pvalue, expected.better)
    study = Study.create(tmp_path / "select.db", pool, budget=50, select=True)
    chosen = answer_all(study, pool, labels).estimate()
    assert chosen.pvalues == sondage.select(pool, labels=labels, budget=50).pvalues


def test_a_draw_that_follows_the_labels_is_the_same_draw(rng, place):
    pool, labels = two_classes(rng)
    expected = sondage.evaluate(pool, labels=labels, budget=25, design="strata", seed=1)
    study = Study.create(place, pool, budget=25, design="strata", seed=1)
    truth = dict(zip(pool.ids.tolist(), labels.tolist(), strict=True))
    while ids := study.ask():
        study.tell(ids, [truth[name] for name in ids])
    assert study.status.labelled == expected.n_labels == 25


def test_a_judge_of_release_0_1_is_read_and_believed_alone(rng, tmp_path):
    p, judge = rng.random((2, 60))
    pool = Pool(p, judge=judge.astype(np.float32))
    places = [
        Study.create(tmp_path / name, pool, budget=10, belief="judge", stages=1).place for name in ("old.db", "new.db")
    ]
    change(
        places[0],
        "UPDATE study SET method = json_set(method, '$.belief', null)",
        "UPDATE stages SET layout = json_set(json_remove(layout, '$.judges', '$.features'), '$.judge', '<f4')",
        "UPDATE rows SET judge = json_extract(judge, '$.judges[0]')",
    )
    asked = []
    for place in places:
        study = Study.open(place, pool)
        study.tell(study.ask(), [0, 1] * 5)
        study.extend(20)
        asked.append((study.ask(), study.estimate().value))
    assert asked[0] == asked[1]


@pytest.mark.parametrize("names", [[3, 1, 2], ["3", "1", "2"], [2**62, 7, 0], ["ü", "'", '"'], [0.5, 1.5, 2.5]])
def test_ids_come_back_as_they_were(names, place):
    pool = Pool(probabilities=[0.2, 0.5, 0.7], ids=names)
    study = Study.create(place, pool, budget=3)
    asked = Study.open(study.place).ask()
    assert sorted(asked) == sorted(names)
    assert {type(name) for name in asked} == {type(name) for name in names}


def test_pending_items_come_first_and_counts_tell(rng, place):
    pool, _ = two_classes(rng)
    study = Study.create(place, pool, budget=10)
    first = study.ask(4)
    study.tell(first[:2], [0, None])
    assert study.ask(3)[:2] == first[2:]
    status = Study.open(study.place).status
    assert (status.asked, status.labelled, status.skipped, status.pending, status.remaining) == (5, 1, 1, 3, 5)
    assert not status.complete


def test_a_corrected_label_is_kept(rng, place):
    pool, _ = two_classes(rng)
    study = Study.create(place, pool, budget=10)
    name = study.ask(1)
    study.tell(name, [0], who="anna")
    with pytest.raises(LabelError, match=r"already labelled 0, now 1: pass correct=True"):
        study.tell(name, [1])
    with pytest.raises(LabelError, match=r"already labelled 0, now a skip: pass correct=True"):
        study.tell(name, [None])
    assert (study.replaced(name), study.replaced(name, "bert", further=True)) == ([0], [None])
    assert study.tell(name, [0]) == 0
    assert study.tell(name, [1], correct=True, who="bert") == 1
    history = Study.open(study.place).history()
    assert [(row["label"], row["who"], row["supersedes"]) for row in history] == [(0, "anna", None), (1, "bert", 1)]


def test_what_was_spent_is_the_same_after_corrections_and_opened_anew(place):
    study = Study.create(place, Pool([0.2, 0.5, 0.7], costs=[0.1, 0.2, 0.3]), budget=0.6)
    ids = study.ask()
    study.tell(ids, [0, 0, 0])
    for name in ids:
        study.tell([name], [1], correct=True)
        assert study.status.spent == Study.open(place).status.spent


@pytest.mark.parametrize(
    ("classes", "label", "meant"),
    [([0, 1], "TRUE", 1), (["0", "1"], "FALSE", "0"), (["False", "True"], "FALSE", "False")],
)
def test_the_truth_of_a_spreadsheet_is_told_the_class(classes, label, meant, place):
    study = Study.create(place, Pool([0.2, 0.6], classes=classes), budget=2)
    with pytest.raises(LabelError, match=f"is not a class; .*: write {meant!r}$"):
        study.tell(study.ask(1), [label])


def test_one_refused_label_refuses_all(rng, place):
    pool, _ = two_classes(rng)
    study = Study.create(place, pool, budget=10)
    ids = study.ask(3)
    with pytest.raises(LabelError, match="not a class"):
        study.tell(ids, [0, 1, 2])
    with pytest.raises(LabelError, match="'nobody' was never asked for"):
        study.tell([*ids, "nobody"], [0, 1, 0, 1])
    assert study.status.labelled == 0


def test_extending_continues_the_same_order(rng, place):
    pool, labels = two_classes(rng)
    study = Study.create(place, pool, budget=20)
    study = answer_all(study, pool, labels)
    before = study.history()
    other = Study.open(study.place)
    study.extend(30, pool)
    assert study.history() == before
    assert other.status.remaining == 10
    assert Study.open(study.place, pool).status.budget == 30
    with pytest.raises(InputError, match="must be above the present one, 30"):
        study.extend(30, pool)


def test_a_pool_from_a_file_is_read_again_to_extend(place, tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("id,p_1\n" + "".join(f"{number},{number / 100}\n" for number in range(1, 100)))
    study = Study.create(place, sondage.read_pool(path), budget=5)
    Study.open(study.place).extend(6)
    path.write_text("id,p_1\n" + "".join(f"{number},{number / 101}\n" for number in range(1, 100)))
    with pytest.raises(StudyError, match="another pool"):
        Study.open(study.place).extend(7)
    path.unlink()
    with pytest.raises(StudyError, match="the next draw needs the pool: there is no file"):
        Study.open(study.place).extend(7)


def test_a_file_that_was_wrong_once_is_read_again(place, tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text(right := "id,p_1\n" + "".join(f"{number},{number / 100}\n" for number in range(1, 100)))
    Study.create(place, sondage.read_pool(path), budget=5).close()
    with Study.open(place) as study:
        path.write_text(right.replace("0.5\n", "0.51\n"))
        with pytest.raises(StudyError, match="another pool"):
            study.extend(6)
        path.write_text(right)
        study.extend(6)
        assert study.status.budget == 6


@pytest.mark.parametrize("first", [-20, -(2**62), 10**18])
@pytest.mark.parametrize(("end", "lazy"), [("csv", None), ("parquet", False), ("parquet", True)])
def test_texts_of_a_file_are_those_of_its_ids(end, lazy, first, tmp_path):
    ids = [first + number for number in range(40)]
    lines = [f"{name},{number / 40},about {name}" for number, name in enumerate(ids)]
    path, study = tmp_path / f"pool.{end}", tmp_path / "study.db"
    (tmp_path / "pool.csv").write_text("\n".join(["id,p_1,text", *lines]))
    if end == "parquet":
        duckdb.read_csv(str(tmp_path / "pool.csv")).write_parquet(str(path))
    Study.create(study, sondage.read_pool(path, lazy=lazy), budget=30).close()
    for batch in [7] * 6:
        with Study.open(study) as opened:
            asked = opened.ask(batch)
            assert [shown["text"] for shown in opened.fields(asked)] == [f"about {name}" for name in asked]
            opened.tell(map(str, asked), [name % 2 for name in asked])
    with Study.open(study) as opened:
        assert opened.labels() == {name: name % 2 for name in ids if name in opened.labels()}
        expected = sondage.evaluate(Pool(np.arange(40) / 40, ids=ids), labels=np.array(ids) % 2, budget=30)
        assert opened.estimate().value == pytest.approx(expected.value, rel=1e-12)


def test_a_pool_that_has_moved_is_found_once_it_was_given(place, tmp_path):
    there, moved = tmp_path / "pool.csv", tmp_path / "moved.csv"
    there.write_text("id,p_1\n" + "".join(f"{number},{number / 1000}\n" for number in range(1, 1000)))
    study = Study.create(place, sondage.read_pool(there), budget=300)
    there.rename(moved)
    study.extend(310, sondage.read_pool(moved, task="classification"))
    again = Study.open(study.place)
    assert (again.facts["source"], again.reading) == (str(moved), {"task": "classification"})
    ids = again.ask(200)
    again.tell(ids, [0] * len(ids))
    assert again.ask(1)  # of the next stage, without a warning that the pool is not there
    assert len(again.snapshot().stages) == 2


def test_a_pool_whose_grades_mean_something_else_is_another(tmp_path):
    judge = np.linspace(0.1, 0.9, 30)

    def pools(first, second):
        graded = {"a": Outcome(judge, grades=first), "b": Outcome(grades=second)}
        return Pool(models=graded)

    study = Study.create(tmp_path / "study.db", pools([0, 1], [0, 1, 2]), measure="mean_outcome", model="a", budget=9)
    for other in (pools([1, 0], [0, 1, 2]), pools([0, 2], [0, 1, 2]), pools([0, 1], [0, 2, 1])):
        with pytest.raises(StudyError, match="is a study of another pool"):
            Study.open(study.place, other)
    Study.open(study.place, pools([0, 1], [0, 1, 2]))


def test_classes_that_release_0_1_numbered_are_as_they_were(tmp_path):
    file, place = tmp_path / "pool.csv", tmp_path / "study.db"
    file.write_text("id,prediction" + "".join(f"\n{row},{1 + row % 3}" for row in range(60)))
    Study.create(place, sondage.read_pool(file, classes=range(4)), budget=10).close()
    with sqlite3.connect(place) as database:
        database.execute("UPDATE study SET reading = '{}'")  # as by release 0.1, where 0 was one of the classes
    database.close()
    with Study.open(place) as study:
        study.extend(20)
        while ids := study.ask(5):
            study.tell(ids, [0] * len(ids))
        assert (study.status.labelled, study.task.classes) == (20, (0, 1, 2, 3))


def test_a_pool_that_has_moved_is_told_without_a_larger_budget(place, tmp_path):
    there, moved = tmp_path / "pool.csv", tmp_path / "moved.csv"
    there.write_text("id,p_1\n" + "".join(f"{number},{number / 100}\n" for number in range(1, 100)))
    study, open_before = Study.create(place, sondage.read_pool(there), budget=30), Study.open(place)
    asked = open_before.ask(3)
    there.rename(moved)
    with pytest.raises(
        StudyError, match=r"there is no file .*; if it has moved, extend takes its new place, at the pres"
    ):
        Study.open(place).extend(30)
    with pytest.raises(StudyError, match="is a study of another pool"):
        study.extend(30, Pool([0.5] * 99))
    study.extend(30, sondage.read_pool(moved))
    assert (open_before.status.budget, open_before.snapshot().asked_ids) == (30, asked)
    assert open_before.facts["source"] == str(moved)
    with pytest.raises(InputError, match="budget=30 must be above the present one, 30"):
        study.extend(30)


def test_a_pool_in_memory_must_be_given_to_extend(rng, place):
    pool, _ = two_classes(rng)
    Study.create(place, pool, budget=10)
    with pytest.raises(StudyError, match=r"did not come from a file: give it to Study\.open or to extend"):
        Study.open(place).extend(20)


def test_a_pool_that_was_given_to_extend_is_there_for_later_stages(rng, place):
    pool, _ = two_classes(rng)
    Study.create(place, pool, budget=10).close()
    with Study.open(place) as study:
        study.extend(40, pool)
        study.tell(asked := study.ask(10), [0] * len(asked))
        while ids := study.ask(10):
            study.tell(ids, [0] * len(ids))
        assert study.status.labelled == 40


def test_an_extended_study_without_its_pool_says_what_can_be_done(rng, place):
    pool, _ = two_classes(rng)
    Study.create(place, pool, budget=10).extend(40)
    with Study.open(place) as study:
        study.tell(ids := study.ask(10), [0] * len(ids))
        message = r"the next draw needs the pool, and it did not come from a file: give it to Study\.open or to extend$"
        with pytest.raises(StudyError, match=message):  # and no warning that the present order goes on
            study.ask(10)


@pytest.mark.parametrize("change", ["id", "output", "weight", "cost", "group", "judge", "features"])
def test_a_changed_pool_is_refused(change, rng, place):
    p = rng.random(50)
    parts = {name: np.ones(50) for name in ("weights", "costs", "features")}
    parts |= {"judge": p.copy(), "groups": np.arange(50)}
    ids = np.arange(50)
    Study.create(place, Pool(p, ids=ids, **parts), budget=10)
    Study.open(place, Pool(p, ids=ids, **parts))
    column = {"weight": "weights", "cost": "costs", "group": "groups", "judge": "judge"}.get(change, change)
    changed = {"id": ids, "output": p}.get(change, parts.get(column))
    changed[7] = {"id": 99, "group": 8}.get(change, 0.123)
    with pytest.raises(StudyError, match="another pool"):
        Study.open(place, Pool(p, ids=ids, **parts))


def test_the_order_of_rows_does_not_matter(rng, tmp_path):
    p, weights, order = rng.random(500), rng.random(500), rng.permutation(500)
    ids = np.arange(500)
    study = Study.create(tmp_path / "study.db", Pool(p, ids=ids, weights=weights), budget=10)
    again = Study.create(tmp_path / "b.db", Pool(p[order], ids=ids[order], weights=weights[order]), budget=10)
    assert study.facts["fingerprint"] == again.facts["fingerprint"]
    assert study.ask() == again.ask()


def test_own_measures_are_given_again(rng, place):
    pool, _ = two_classes(rng)
    own = Loss(lambda f, y: np.abs(f - y), name="my loss")
    answer_all_but = Study.create(place, pool, own, 10)
    with pytest.raises(StudyError, match=r"'my loss' is your own .* measures="):
        Study.open(place)
    study = Study.open(place, measures=[own])
    study.tell(study.ask(), [0] * 10)
    assert study.estimate().value == answer_all_but.estimate().value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compare": ("model", "b")}, "no model 'b' in the pool"),
        ({"compare": ("model", "model")}, "compare needs two different models"),
        ({"compare": ("a", "b"), "select": True}, "not both"),
        ({"select": True}, "select needs two or more"),
        ({"compare": ("a", "b"), "model": "model"}, "'model' is for one model"),
        ({"budget": 301}, "budget=301 is above"),
        ({"measure": "f1", "positive": 7}, "positive=7 is not a class"),
        ({"design": "best"}, "no design 'best'"),
        ({"margin": 0.1}, "margin 0.1 needs alternative 'less' or 'greater'"),
        ({"alternative": "less", "margin": float("nan")}, "margin=nan must be a finite number"),
    ],
)
def test_what_cannot_be_planned_leaves_no_file(options, message, rng, tmp_path):
    pool, _ = two_classes(rng)
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "study.db", pool, **({"budget": 10} | options))
    assert not (tmp_path / "study.db").exists()


def test_a_margin_that_an_earlier_release_wrote_of_a_two_sided_test_loses_no_labels():
    question = Question("compare", ("a", "b"), (ErrorRate(),))
    assert question_from_data(question_to_data(question) | {"margin": 0.1}, {}) == question


def test_ids_of_a_study_are_text_or_numbers(rng, tmp_path):
    pool = Pool(rng.random(20), ids=[uuid.UUID(int=row) for row in range(20)])
    with pytest.raises(InputError, match=r"^id UUID\('[-0-9a-f]+'\) is a UUID; the ids of a study must be text or num"):
        Study.create(tmp_path / "study.db", pool, budget=10)
    assert not list(tmp_path.iterdir())
    mixed = Pool(rng.random(20), ids=["first", *(np.int64(row) for row in range(19))])
    study = Study.create(tmp_path / "study.db", mixed, budget=20)
    study.tell(ids := study.ask(20), [1] * 20)
    assert set(ids) == {"first", *range(19)}
    assert study.estimate().exact


def test_the_centre_of_r2_is_kept_and_earlier_studies_have_none(rng, tmp_path):
    truth = 1e8 + rng.normal(size=100)
    pool = Pool(means=truth + rng.normal(size=100), variances=np.ones(100))
    study = Study.create(tmp_path / "study.db", pool, "r2", 40)
    found = answer_all(study, pool, truth)
    same(found.estimate(), sondage.evaluate(pool, "r2", truth, 40))
    assert found.question.measures[0].centre == pytest.approx(1e8, abs=10)
    data = question_to_data(found.question)
    del data["measures"][0]["options"]["centre"]
    assert question_from_data(data, {}).measures[0].centre == 0.0


def test_places_that_cannot_hold_a_study(rng, tmp_path):
    pool, _ = two_classes(rng)
    Study.create(tmp_path / "study.db", pool, budget=10)
    with pytest.raises(StudyError, match="holds a study already"):
        Study.create(tmp_path / "study.db", pool, budget=10)
    (tmp_path / "text.db").write_text("id,label\n" * 100)
    with pytest.raises(StudyError, match="not a study file"):
        Study.create(tmp_path / "text.db", pool, budget=10)
    with pytest.raises(StudyError, match=r"^:memory:: a study is kept in a file or in PostgreSQL; sondage\.evaluate"):
        Study.create(":memory:", pool, budget=10)
    with pytest.raises(StudyError, match="not a study file"):
        Study.open(tmp_path / "text.db")
    with pytest.raises(StudyError, match="there is no study"):
        Study.open(tmp_path / "none.db")
    with pytest.raises(StudyError, match="does not exist"):
        Study.create(tmp_path / "none" / "study.db", pool, budget=10)
    with pytest.raises(StudyError, match="database nosuch"):
        Study.create("nosuch://host/name", pool, budget=10)


@pytest.mark.parametrize("measures", ["f1", 3, object(), FMeasure, ["f1"], {"f1": FMeasure()}])
def test_only_measures_are_taken_for_ones_own(measures, rng, tmp_path):
    pool, _ = two_classes(rng)
    Study.create(tmp_path / "study.db", pool, budget=10).close()
    with pytest.raises(MeasureError, match=r"^measures has .*, which is no measure of your own; a study knows "):
        Study.open(tmp_path / "study.db", measures=measures)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (None, "None is no name of a study; name a file or a database URL"),
        (3, "3 is no name of a study"),
        (b"a", "b'a' is no name of a study"),
        ("a\0b", r"'a\\x00b' is no name of a study"),
        (Path("a\0b"), r"Path\('a\\x00b'\) is no name of a study"),
        (".", r"^\. names a folder; name a file or a database URL$"),
        ("new/", "^new/ names a folder; name a file"),
    ],
)
def test_places_that_are_no_names(place, message, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pool, _ = two_classes(rng)
    for call in (lambda: Study.create(place, pool, budget=10), lambda: Study.open(place)):
        with pytest.raises(StudyError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_empty_file_and_another_database_hold_no_study(tmp_path, rng):
    pool, _ = two_classes(rng)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StudyError, match="holds no study"):
        Study.open(tmp_path / "empty.db")
    assert Study.create(tmp_path / "empty.db", pool, budget=10).ask(1)
    change(tmp_path / "other.db", "CREATE TABLE mine (number)")
    with pytest.raises(StudyError, match=r"holds other tables \(mine\)"):
        Study.create(tmp_path / "other.db", pool, budget=10)


def change(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_newer_schema_is_refused(rng, tmp_path):
    pool, _ = two_classes(rng)
    Study.create(tmp_path / "study.db", pool, budget=10)
    change(tmp_path / "study.db", "UPDATE study SET schema = 99, version = '9.0'")
    with pytest.raises(StudyError, match=r"written by sondage 9.0 with schema 99; .* upgrade"):
        Study.open(tmp_path / "study.db")


def test_at_rest_a_study_is_one_file(rng, tmp_path):
    pool, labels = two_classes(rng)
    answer_all(Study.create(tmp_path / "study.db", pool, budget=10), pool, labels)
    assert os.listdir(tmp_path) == ["study.db"]


def test_fields_go_to_the_labeller(place):
    fields = {"text": ["one", None, "three"], "seen": np.array(["2026-01-01", "2026-01-02", "NaT"], "datetime64[s]")}
    study = Study.create(place, Pool([0.2, 0.5, 0.7], ids=[1, 2, 3], fields=fields), budget=3)
    study.ask()
    assert Study.open(study.place).fields([3, "1"]) == [
        {"text": "three", "seen": None},
        {"text": "one", "seen": "2026-01-01"},
    ]


def test_what_is_done_to_fields_changes_no_later_ones(place):
    shown = {
        "queries": ["q", "q"],
        "documents": ["d", "e"],
        "grades": [[0.4, 0.6]] * 2,
        "fields": {"title": ["D", "E"]},
    }
    pool = Pool(models={"a": Ranking(ranks=[1, 2])}, **shown)
    study = Study.create(place, pool, measure="dcg", budget=1, raters=2)
    for who in ("anna", "bert"):
        (claim,) = study.claim(who)
        (found,) = study.fields(["q"])
        for fields in (claim.fields, found):
            assert fields == {"title": {"d": "D", "e": "E"}}
            fields["title"].clear()
            fields.clear()


IMPORTER = """
import sys
from sondage import Study
study = Study.open(sys.argv[1])
ids = study.ask()
from sondage.studies.ledger import Ledger
told = Ledger.add_labels
def slow(self, rows):
    told(self, rows)
    print("written", flush=True)
    sys.stdin.read()
Ledger.add_labels = slow
study.tell(ids, [0] * len(ids))
"""


def running(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_an_import_killed_before_its_end_leaves_nothing(rng, place):
    pool, _ = two_classes(rng)
    study = Study.create(place, pool, budget=50)
    with running(IMPORTER, study.place) as process:
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()
    again = Study.open(study.place)
    assert (again.status.asked, again.status.labelled) == (50, 0)
    assert again.tell(again.ask(), [1] * 50) == 50


TELLER = """
import sys
from sondage import Study
study = Study.open(sys.argv[1])
for name in sys.argv[2:]:
    study.tell([name], [0], who="process")
"""


def test_processes_tell_at_once(rng, place):
    pool, _ = two_classes(rng)
    study = Study.create(place, pool, budget=40)
    ids = study.ask()
    processes = [running(TELLER, study.place, *ids[part : part + 20]) for part in (0, 10, 20)]
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert study.status.labelled == 40
    assert len(study.history()) == 40
    assert sum(row["supersedes"] is not None for row in study.history()) == 0


def test_a_writer_waits_for_another(rng, tmp_path):
    pool, _ = two_classes(rng)
    study = Study.create(tmp_path / "study.db", pool, budget=10)
    name = study.ask(1)
    blocker = sqlite3.connect(study.place, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with running(TELLER, study.place, *name) as process:
        time.sleep(1.0)
        assert process.poll() is None
        assert study.status.labelled == 0
        blocker.execute("COMMIT")
        blocker.close()
        assert process.communicate()[1] == ""
    assert study.status.labelled == 1


RELEASE = Path(__file__).parent / "release-0.1.0.db"


def test_a_study_of_this_release_gives_the_number_it_gave(tmp_path):
    copy = tmp_path / "study.db"
    copy.write_bytes(RELEASE.read_bytes())
    expected = json.loads(RELEASE.with_suffix(".json").read_text())
    with Study.open(copy) as study:
        estimate = study.estimate()
        assert study.ask(3) == expected["next"]
        for name, value in expected["estimate"].items():
            assert getattr(estimate, name) == pytest.approx(value, rel=1e-12)
        assert study.facts["fingerprint"] == expected["fingerprint"]


def test_labels_are_told_by_id(tmp_path):
    pool = Pool(probabilities=[0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
    with Study.create(tmp_path / "study.db", pool, budget=3) as study:
        study.ask(3)
        assert study.tell({"c": "ham", "a": "spam", "b": None}, who=["ann", "bob", "ann"]) == 3
        assert study.labels() == {"c": "ham", "a": "spam", "b": None}
        assert study.tell({"b": "ham"}, who="ann") == 1
        assert study.tell({}) == 0
        for arguments in (({"a": "spam"}, ["spam"]), (["a"],), (["a"], {"a": "spam"}), ({"a", "b"}, ["spam", "ham"])):
            with pytest.raises(InputError, match=r"^(ids|labels) is .*; it must be a list$"):
                study.tell(*arguments)
        with pytest.raises(LabelError, match="label 'x' of id 'a' is not a class"):
            study.tell({"a": "x"})


def test_queries_are_told_by_id(tmp_path):
    pool = Pool(models={"a": Ranking([["d0", "d1"], ["d1"]])}, ids=["x", "y"], classes=[0, 1])
    with Study.create(tmp_path / "study.db", pool, "dcg", budget=2) as study:
        study.ask(2)
        assert study.tell({"x": {"d0": 1, "d1": 0}, "y": {"d1": 1}}) == 2
        assert study.labels()["x"] == {"d0": 1, "d1": 0}


def test_a_study_is_made_and_opened_by_name(tmp_path):
    pool = Pool(probabilities=[0.1, 0.9], ids=["a", "b"])
    for arguments in ((), ("s.db",), ("s.db", pool)):
        with pytest.raises(
            InputError, match=r"^a study is made with Study\.create\(place, pool, \.\.\.\), and opened with"
        ):
            Study(*arguments)
    with Study.create(tmp_path / "study.db", pool, budget=2) as study:
        study.tell(study.ask(2), [0, 1])
        with pytest.raises(
            InputError, match=r"^session='a': it must be a snapshot of the study, .*study\.labels\(\)\[id\]"
        ):
            study.answer_of("a")
        with pytest.raises(InputError, match=r"generator=0\.9 is none of NumPy's: .*; a level .* interval\(0\.9\)$"):
            study.estimate(0.9)


def test_labels_told_in_another_order_than_ids_are_refused(tmp_path, rng):
    pool, labels = two_classes(rng)
    truth = pd.Series(labels, index=pool.ids)
    study = Study.create(tmp_path / "study.db", pool, budget=40)
    ids = study.ask(8)
    with pytest.raises(LabelError, match=r"labels have the ids as their index, in another order: give labels"):
        study.tell(ids, truth[truth.index.isin(ids)])
    frame = pd.DataFrame({"id": ids, "label": truth.loc[ids].to_numpy()})
    shuffled = frame.sample(frac=1, random_state=1).set_index("id", drop=False)
    assert study.tell(shuffled["id"][:4], shuffled["label"][:4]) == 4
    assert study.tell(frame["id"], frame["label"]) == 4
    assert study.tell(ids, truth.loc[ids]) == 0
    assert study.labels() == truth.loc[ids].to_dict()


def test_frames_of_row_numbers_name_no_ids(tmp_path, rng):
    pool = Pool(rng.random(9))
    study = Study.create(tmp_path / "study.db", pool, budget=9, method="passive")
    frame = pd.DataFrame({"id": study.ask(), "label": [0, 1, 0, 0, 1, 0, 0, 1, 1]})
    assert study.tell(frame["id"], frame["label"]) == 9
    assert study.tell(frame["id"].tolist(), frame["label"]) == 0


def test_labels_told_later_change_no_answer_that_was_given(tmp_path, rng):
    labels = rng.integers(0, 2, 200)
    models = {name: Classifier(predictions=np.where(rng.random(200) < 0.8, labels, 1 - labels)) for name in "abcd"}
    study = Study.create(tmp_path / "study.db", Pool(models=models), "f1", budget=150, select=True)
    ids = study.ask(30)
    study.tell(ids[:20], labels[ids[:20]])
    before, after = study.estimate(), study.estimate()
    expected = list(before.comparisons.values())
    study.tell(ids[20:], labels[ids[20:]])
    assert study.status.labelled == 30
    for found, wanted in zip(after.comparisons.values(), expected, strict=True):
        assert (found.n_labels, found.estimate.spent, found.pvalue) == (20, 20, wanted.pvalue)
        assert found.estimate.possible == wanted.estimate.possible


def test_fields_may_be_mappings_with_keys_of_numpy(tmp_path):
    pool = Pool(probabilities=[0.2, 0.6], fields={"counts": [{np.int64(1): [{(1, 2): 3}]}, {}]})
    with Study.create(tmp_path / "study.db", pool, budget=2) as study:
        assert study.fields(sorted(study.ask(2))) == [{"counts": {"1": [{"(1, 2)": 3}]}}, {"counts": {}}]
