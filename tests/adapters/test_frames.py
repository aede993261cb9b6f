"""The same columns are the same pool, whatever frame they are in."""

import json
import sys
from datetime import UTC, date, datetime

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from sondage import Pool, Study, estimate_from, evaluate, read_pool
from sondage.errors import InputError
from sondage.studies.records import dump

COLUMNS = {
    "id": ["a", "b", "c"],
    "p_spam": [0.25, 0.5, 0.75],
    "prediction": ["ham", "spam", "spam"],
    "cost": [1, 2, 3],
    "text": ["one", None, "three"],
}
FRAMES = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "polars lazy": polars.LazyFrame,
    "arrow": pyarrow.table,
    "duckdb": lambda columns: duckdb.from_arrow(pyarrow.table(columns)),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def test_a_frame_is_the_pool_of_its_arrays(frame):
    pool = read_pool(frame(COLUMNS))
    expected = Pool([0.25, 0.5, 0.75], ["ham", "spam"], ["ham", "spam", "spam"], ids=["a", "b", "c"], costs=[1, 2, 3])
    assert pool.fingerprint == expected.fingerprint
    assert pool.fields["text"].tolist() == ["one", None, "three"]
    assert pool.source is None


DAYS = [date(2026, 3, 1), date(2026, 3, 2)]
NOONS = [datetime(2026, 3, 1), datetime(2026, 3, 2, 12, 30)]
ZONED = [datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 2, 12, 30, tzinfo=UTC)]


def parquet(lazy):
    """Return what reads columns back from a file."""

    def read(columns):
        pyarrow.parquet.write_table(pyarrow.table(columns), "times.parquet")
        return read_pool("times.parquet", lazy=lazy)

    return read


@pytest.mark.parametrize("times", [DAYS, NOONS, ZONED], ids=["dates", "times", "zoned"])
@pytest.mark.parametrize(
    "made",
    [
        *(lambda columns, made=made: read_pool(made(columns)) for made in FRAMES.values()),
        parquet(True),
        parquet(False),
        lambda columns: Pool(predictions=columns["prediction"], ids=columns["id"]),
    ],
    ids=[*FRAMES, "lazy file", "file", "arrays"],
)
def test_dates_and_times_are_the_same_classes_everywhere(made, times, tmp_path, monkeypatch):
    """As objects, as the text that a study keeps, and after it was opened again."""
    monkeypatch.chdir(tmp_path)
    predicted = [times[row % 2] for row in range(8)]
    pool = made({"id": list(range(8)), "prediction": predicted})
    truth = [times[row % 3 % 2] for row in range(8)]
    wrong = np.mean([one != other for one, other in zip(predicted, truth, strict=True)])
    for labels in (truth, [records_text(one) for one in truth]):
        assert evaluate(pool, labels=dict(enumerate(labels)), budget=8).value == wrong
    with Study.create("study.db", pool, budget=8) as study:
        study.tell(ids := study.ask(8), [truth[row] for row in ids])
    with Study.open("study.db") as study:
        assert study.estimate().value == wrong


def records_text(time):
    """Return a date or time as studies write it."""
    return json.loads(dump(time.astimezone(UTC) if getattr(time, "tzinfo", None) else time))


def test_nanoseconds_of_times_make_no_numbers_of_classes():
    times = np.array(["2026-03-01T10", "2026-03-02T12:30"], "M8[ns]")
    pool = Pool(predictions=times[[0, 1, 0, 1]])
    assert pool.task.classes == (datetime(2026, 3, 1, 10), datetime(2026, 3, 2, 12, 30))
    assert evaluate(pool, labels=times[[0, 1, 1, 1]], budget=4).value == 0.25


def test_missing_values_are_named(frame):
    with pytest.raises(InputError, match=r"^p_spam of row 1 \(id b\) is missing"):
        read_pool(frame(COLUMNS | {"p_spam": [0.25, None, 0.75]}))


def test_whole_numbers_stay_whole(frame):
    pool = read_pool(frame(COLUMNS | {"id": [3, 2, 1], "text": [2**53 + 1, 2**53 + 3, 2**53 + 5]}))
    assert pool.ids.tolist() == [3, 2, 1]
    assert pool.fields["text"].tolist() == [2**53 + 1, 2**53 + 3, 2**53 + 5]


@pytest.mark.parametrize("made", [polars.DataFrame, pyarrow.table])
def test_whole_numbers_beside_missing_ones_stay_whole(made):
    pool = read_pool(made(COLUMNS | {"text": [2**53 + 1, None, 7]}))
    assert pool.fields["text"].tolist() == [2**53 + 1, None, 7]


@pytest.mark.parametrize("kind", [polars.Int128, polars.UInt128], ids=str)
def test_whole_numbers_of_128_bits_are_taken(kind):
    large, small = polars.Series([2**70, None, 1], dtype=kind), polars.Series([3, 2, 1], dtype=kind)
    frame = polars.DataFrame(COLUMNS | {"id": small, "weight": small, "text": large})
    pool, arrays = read_pool(frame), Pool(COLUMNS["p_spam"], ids=small, weights=small)
    assert pool.ids.tolist() == arrays.ids.tolist() == [3, 2, 1]
    assert pool.items.weights == pytest.approx(arrays.items.weights)
    assert pool.fields["text"].tolist() == [2**70, None, 1]


def test_arrays_of_arrow_may_hold_texts_and_missing_values():
    texts, labels = pyarrow.array(["a", "b", "c"]), pyarrow.array(["a", None, "c"])
    pool = Pool(predictions=texts, ids=texts, groups=pyarrow.chunked_array([["x"], ["y", "z"]]), fields={"t": labels})
    assert (pool.ids.tolist(), pool.task.classes) == (["a", "b", "c"], ("a", "b", "c"))
    assert pool.fields["t"].tolist() == ["a", None, "c"]
    assert evaluate(pool, labels=labels, budget=3).n_labels == 2
    with pytest.raises(InputError, match="cost of row 1 is nan; it must be finite"):
        Pool([0.2, 0.4], costs=pyarrow.array([1, None]))


def test_truths_that_are_objects_are_0_and_1():
    joined = pandas.Series([True, None, False], dtype=object).fillna(True)
    assert joined.dtype == object
    given = {"labels": [1, 0, 0], "inclusion": [0.5, 0.5, 0.5]}
    for predictions in (joined, joined.astype(bool)):
        assert estimate_from("accuracy", predictions=predictions, **given).value == pytest.approx(2 / 3, rel=1e-12)


def test_missing_lists_and_names_that_stand_twice_are_refused():
    table = COLUMNS | {"embedding": [[1.0, 2.0], None, [3.0, 4.0]]}
    with pytest.raises(InputError, match=r"embedding of row 1 \(id b\) is missing"):
        read_pool(pandas.DataFrame(table), features=["embedding"])
    with pytest.raises(InputError, match=r"columns stand twice: .*'p_1' 2 times"):
        read_pool(pandas.DataFrame([["a", 0.5, 0.5]], columns=["id", "p_1", "p_1"]))


def test_other_columns_of_pandas():
    frame = pandas.DataFrame(COLUMNS | {"prediction": pandas.Categorical(["ham", "spam", "spam"]), 5: [1, 2, 3]})
    pool = read_pool(frame)
    assert pool.task.classes == ("ham", "spam")
    assert pool.fields["5"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("values", [["one", None, "three"], [{"a": 1}, None, {"a": 2}], [[1], None, [2, 3]]], ids=str)
@pytest.mark.parametrize("made", ["object", "polars", "arrow"])
def test_fields_may_be_objects_with_missing_values(made, values):
    column = {"text": pandas.Series(values, dtype=object)} if made == "object" else {"text": values}
    pool = read_pool(FRAMES.get(made, pandas.DataFrame)(COLUMNS | column))
    shown = [value.tolist() if isinstance(value, np.ndarray) else value for value in pool.fields["text"]]
    assert shown == values


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (
            pyarrow.array([1, 2, 3], pyarrow.time64("ns")),
            "column 'text' of the type Time cannot be read: .*nano",
        ),
        (
            pyarrow.UnionArray.from_sparse(pyarrow.array([0] * 3, pyarrow.int8()), [pyarrow.array([1, 2, 3])]),
            "column 'text' of the type Unknown cannot be read",
        ),
    ],
    ids=["time", "union"],
)
def test_columns_of_arrow_that_numpy_does_not_have_are_refused(column, reason):
    with pytest.raises(InputError, match=reason):
        read_pool(pyarrow.table(COLUMNS | {"text": column}))


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError, match="read from a path, a relation or a frame, not from ndarray"):
        read_pool(np.zeros(3))


def test_without_narwhals_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(InputError, match=r"pip install 'sondage\[frames\]'"):
        read_pool(pandas.DataFrame(COLUMNS))
