"""Judges and features: what a pool takes and refuses, and which columns of a file they are."""

import duckdb
import numpy as np
import pandas
import pytest

from sondage import Outcome, Pool, read_pool
from sondage.errors import InputError

P = np.array([0.1, 0.9, 0.4])


def test_features_keep_their_precision_and_are_sliced():
    given = np.arange(6, dtype=np.float32).reshape(3, 2)
    pool = Pool(P, features=given)
    assert pool.items.features.dtype == np.float32
    assert np.shares_memory(pool.items.features, given)
    assert pool.items.features.tolist() == given.tolist()
    assert pool.items.take(slice(1, 2)).features.tolist() == [[2.0, 3.0]]
    assert Pool(P, features=[1, 2, 3]).items.features.dtype == np.float64
    assert Pool(P).items.features is None


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (
            [[1.0, 2.0], [3.0, float("nan")], [0.0, 0.0]],
            r"features of row 1 \(id b\) is nan in column 1; it must be fin",
        ),
        (np.zeros((2, 2)), "features have 2 rows; the pool has 3"),
        (np.zeros((3, 0)), r"features have shape \(3, 0\); they must be \(N, d\)"),
        (np.zeros((3, 1, 1)), "features have shape"),
        (["x", "y", "z"], r"features of row 0 \(id a\) is 'x'; it must be a number"),
        ([1.0, -1e200, 2.0], r"features of row 1 \(id b\) is -1e\+200 in column 0; it must be finite, at m"),
    ],
)
def test_bad_features(features, message):
    with pytest.raises(InputError, match=message):
        Pool(P, ids=["a", "b", "c"], features=features)


def test_judges_have_names():
    pool = Pool(P, judge={"gpt": P, "old": np.column_stack([P, 1 - P])})
    assert pool.judges == ("gpt", "old")
    assert [judge.shape for judge in pool.items.judges] == [(3,), (3, 2)]
    assert Pool(P, judge=P).judges == ("judge",)
    assert Pool(P).judges == ()


def test_a_judge_may_name_classes():
    pool = Pool(P, classes=["ham", "spam"], judge=["spam", "spam", "ham"])
    np.testing.assert_allclose(pool.items.judges[0], [0.95, 0.95, 0.05])
    assert Pool(P, judge=np.array([True, False, True])).items.judges[0].tolist() == pytest.approx([0.95, 0.05, 0.95])
    three = Pool(np.full((3, 3), 1 / 3), judge=[2, 0, 1])
    np.testing.assert_allclose(three.items.judges[0][0], [0.025, 0.025, 0.95], rtol=1e-6)


def test_columns_and_rows_of_frames_stand_in_the_order_of_classes_and_ids():
    classes, ids = ["ham", "spam"], ["a", "b", "c"]
    frame = pandas.DataFrame({"spam": P, "ham": 1 - P}, index=ids)
    with pytest.raises(InputError, match=r"of judge 'gpt' have the columns \['spam', 'ham'\]; classes are"):
        Pool(P, classes=classes, judge={"gpt": frame})
    with pytest.raises(InputError, match="of judge 'gpt' has the ids in another order"):
        Pool(P, classes=classes, ids=ids, judge={"gpt": frame[classes][::-1]})
    with pytest.raises(InputError, match="index of features has the ids in another order"):
        Pool(P, ids=ids, features=frame[::-1])
    with pytest.raises(InputError, match=r"the judge of 'x' have the columns \['2', '1'\]; grades are \['1', '2'\]"):
        Pool(models={"x": Outcome(judge=frame.set_axis(["2", "1"], axis=1), grades=[1, 2])})
    for index in (ids, range(3)):  # row numbers are what a frame made of an array has: they name no items
        taken = Pool(
            P, classes=classes, ids=[2, 0, 1] if index is not ids else ids, judge=frame[classes].set_axis(index)
        )
        np.testing.assert_array_equal(taken.items.judges[0][:, 1], P)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({}, "judge= is empty"),
        ({"a": P[:2]}, "judge 'a' has 2 rows; the pool has 3"),
        (P[:2], "judge has 2 rows; the pool has 3"),
        ({"a": [0.5, 0.5, 1.5]}, "judge 'a' of row 2 is 1.5; it must be in"),
        ({"a": ["x", "spam", "ham"]}, "judge 'a' of row 0 is 'x'; classes are"),
    ],
)
def test_bad_judges(judge, message):
    with pytest.raises(InputError, match=message):
        Pool(P, classes=["ham", "spam"], judge=judge)


def test_regressors_take_features_and_no_judge():
    assert Pool(means=P, features=P).items.features.shape == (3, 1)
    for judge in (P, [1.5, 2.5, 3.5], P[:2]):  # whatever it holds
        with pytest.raises(InputError, match="judge are for classifiers"):
            Pool(means=P, judge=judge)
        with pytest.raises(InputError, match="outcomes take a judge and grades each"):
            Pool(models={"a": Outcome(judge=P)}, judge=judge)


def test_fingerprint_tells_features_and_judges():
    prints = {Pool(P, **side).fingerprint for side in ({}, {"features": P}, {"features": 2 * P}, {"judge": P})}
    assert len(prints) == 4


def test_fingerprint_of_as_many_items_as_grades_is_the_same_in_any_order_of_rows():
    judge = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0], [0.1, 0.8, 0.1]])
    pools = [
        Pool(models={"ours": Outcome(judge=judge[rows], grades=[0, 1, 2])}, ids=np.array(rows))
        for rows in ([0, 1, 2], [2, 0, 1])
    ]
    assert pools[0].fingerprint == pools[1].fingerprint


def test_columns(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text(
        "id,p_ham,p_spam,judge.gpt.p_spam,judge.old.prediction,feature.length,feature.p_x,age,text\n"
        "a,.9,.1,.2,ham,10,.5,30,hello\nb,.1,.9,.8,spam,20,.25,40,buy\n"
    )
    pool = read_pool(path, features=["age"])
    assert pool.models == ("model",)
    assert pool.judges == ("gpt", "old")
    np.testing.assert_allclose(pool.items.judges[0], [0.2, 0.8])
    np.testing.assert_allclose(pool.items.judges[1], [0.05, 0.95])
    assert pool.items.features.tolist() == [[10.0, 0.5, 30.0], [20.0, 0.25, 40.0]]
    assert list(pool.fields) == ["text"]
    assert pool.reading == {"features": ["age"]}
    path.write_text("id,p_1,judge.prediction\na,.9,1\nb,.1,0\n")
    assert read_pool(path).items.judges[0].tolist() == pytest.approx([0.95, 0.05])


def test_bad_feature_columns(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("id,p_1,feature.x\na,.9,1\nb,.1,none\n")
    with pytest.raises(InputError, match=r"feature.x of row 1 \(id b\) is 'none'; it must be a number"):
        read_pool(path)
    with pytest.raises(InputError, match="no column 'y' for features; there are"):
        read_pool(path, features=["y"])


def test_lists_of_numbers_are_features(tmp_path):
    query = "SELECT id, .5 AS p_1, [id::FLOAT, 2.0::FLOAT] AS embedding FROM range(3) t(id)"
    duckdb.sql(f"COPY ({query}) TO '{tmp_path / 'pool.parquet'}' (FORMAT parquet)")
    pool = read_pool(tmp_path / "pool.parquet", features=["embedding"])
    assert pool.items.features.tolist() == [[0.0, 2.0], [1.0, 2.0], [2.0, 2.0]]
    ragged = "SELECT id, .5 AS p_1, CASE WHEN id < 2 THEN [1.0] ELSE [1.0, 2.0] END AS e FROM range(3) t(id)"
    duckdb.sql(f"COPY ({ragged}) TO '{tmp_path / 'ragged.parquet'}' (FORMAT parquet)")
    with pytest.raises(InputError, match=r"e of row 2 \(id 2\) is not a list of 1 numbers"):
        read_pool(tmp_path / "ragged.parquet", features=["e"])
