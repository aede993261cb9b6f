"""A pool that stays in its files draws what the same pool in memory draws."""

import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from decimal import Decimal
from multiprocessing import get_context

import duckdb
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

import sondage
from sondage import Study, read_pool
from sondage.core.hashing import uniforms
from sondage.errors import InputError, LabelError, StudyError
from sondage.pools import stored_strata
from sondage.pools.schema import Column, Probabilities, Source
from sondage.pools.sql.argmax import add_predicted, top_and_rest
from sondage.pools.sql.hashing import leading, leading_in_step
from sondage.pools.sql.text import NoForm, Select, number, total
from sondage.pools.stored import StoredPool
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.selecting import select_session

from .engines import N, asked, classes, frames, ids, label

CASES = [
    ("two classes", "error_rate", {}),
    ("two classes", "f1", {}),
    ("two classes", "f1", {"method": "thesis"}),
    ("two classes", "recall", {"method": "passive"}),
    ("two classes", "log_loss", {}),
    ("two classes", "error_rate", {"design": "optimal+cost_only", "floor": 0.3, "draw": "successive"}),
    ("weights and costs", "error_rate", {"budget": 90}),
    ("weights and costs", "precision", {"budget": 90, "method": "thesis"}),
    ("four classes", "error_rate", {}),
    ("four classes", "balanced_accuracy", {}),
    ("four classes", "brier", {}),
    ("two models", "error_rate", {}),
    ("two models", "error_rate", {"belief": "model"}),
    ("two models", "error_rate", {"models": ("A",)}),
    ("two models", "macro_f", {}),
    ("two models", "log_loss", {}),
    ("hard", "error_rate", {}),
    ("hard", "f1", {}),
    ("judged", "f1", {}),
    ("votes", "f1", {}),
    ("votes", "error_rate", {"belief": "ensemble"}),
    ("votes of four", "balanced_accuracy", {}),
    ("voted outcomes", "accuracy", {}),
    ("features", "error_rate", {}),
    ("numbers", "mse", {"models": ("A",)}),
    ("numbers", "mse", {}),
    ("numbers", "mae", {}),
    ("numbers alone", "mse", {}),
    ("a number alone", "mse", {"budget": 150, "belief": "growing"}),
    ("a number alone", "r2", {"budget": 150, "belief": "growing"}),
    ("numbers that are sure", "mse", {}),
    ("numbers that are sure", "mae", {}),
    ("numbers", "mse", {"design": "active_inf"}),
    ("two classes", "f1", {"design": "neyman"}),
    ("two classes", "error_rate", {"design": "strata"}),
    ("weights", "error_rate", {"design": "neyman"}),
    ("hard", "error_rate", {"design": "neyman"}),
    ("two classes", "auc", {"design": "neyman"}),
    ("four classes", "log_loss", {"design": "strata"}),
    ("two models", "error_rate", {"design": "neyman"}),
    ("shared text", "error_rate", {"design": "neyman"}),
    ("shared", "f1", {}),
    ("shared", "error_rate", {"method": "thesis"}),
    ("shared", "auc", {}),
    ("shared text", "error_rate", {}),
    ("shared text", "log_loss", {"method": "passive"}),
    ("shared numbers", "mse", {"models": ("A",), "budget": 90}),
    ("shared numbers", "mae", {"budget": 90}),
    ("outcomes", "accuracy", {}),
    ("graded", "mean_outcome", {}),
    ("graded", "mean_outcome", {"models": ("A",), "belief": "ensemble"}),
    ("graded by votes", "mean_outcome", {"models": ("A",)}),
    ("graded, with features", "mean_outcome", {"models": ("A",)}),
    ("graded, with features", "mean_outcome", {"models": ("A",), "belief": "ensemble"}),
    ("many", "accuracy", {}),
    ("many hard", "accuracy", {}),
    ("twenty", "error_rate", {}),
    ("twenty", "f1", {}),
    ("eight that name classes", "error_rate", {}),
    ("five of five classes", "error_rate", {}),
    ("five of five classes", "log_loss", {}),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    for name, frame in frames().items():
        frame.sample(frac=1, random_state=1).to_parquet(folder / f"{name}.parquet", row_group_size=400)
    return folder


def answer(session):
    found = {"evaluate": estimate_session, "compare": compare_session, "select": select_session}[session.question.kind]
    result = found(session)
    if session.question.kind == "evaluate":
        (result,) = result.values()
    numbers = [getattr(result, name, 0.0) for name in ("value", "difference", "std_error")]
    return [*numbers, *getattr(result, "possible", ())]


def assert_the_same(path, measure, parts, **tolerances):
    expected, in_memory = asked(read_pool(path, lazy=False), measure, **parts)
    found, stored = asked(read_pool(path, lazy=True), measure, **parts)
    assert found == expected
    np.testing.assert_allclose(answer(stored), answer(in_memory), **tolerances)


@pytest.mark.parametrize(("name", "measure", "parts"), CASES)
def test_the_same_items_and_the_same_answer(name, measure, parts, files):
    assert_the_same(files / f"{name}.parquet", measure, parts, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "measure", "parts"),
    [
        ("two classes", "f1", {}),
        ("four classes", "balanced_accuracy", {}),
        ("four classes", "log_loss", {}),
        ("two models", "error_rate", {}),
        ("judged", "error_rate", {}),
        ("outcomes", "accuracy", {}),
        ("numbers", "mse", {}),
    ],
)
def test_numbers_in_single_precision_are_reckoned_with_in_double(name, measure, parts, tmp_path):
    """Sums of theirs in single precision differed in the ninth digit, which then showed in what labels had told."""
    table = frames()[name]
    for column in table.select_dtypes("floating"):
        table[column] = table[column].astype(np.float32)
    table.sample(frac=1, random_state=1).to_parquet(tmp_path / "pool.parquet")
    assert_the_same(tmp_path / "pool.parquet", measure, parts, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("measure", ["r2", ["mse", "r2"]], ids=str)
def test_r2_of_numbers_far_from_0(measure, tmp_path):
    found = []
    for origin in (0, 10**8):
        path, columns = tmp_path / f"{origin}.parquet", frames()["numbers"]
        for name in ("A.prediction", "B.prediction"):
            columns[name] = np.round(columns[name] * 64) + origin
        columns.sample(frac=1, random_state=1).to_parquet(path)
        for lazy in (False, True):
            names = []

            def answer(some, names=names, origin=origin):
                names.extend(some)
                return [origin + name % 160 for name in some]

            pool = read_pool(path, lazy=lazy)
            one = sondage.evaluate(pool, measure, answer, 90, model="A")
            one = one if measure == "r2" else one["r2"]
            found.append([*names, one.value, one.std_error])
    np.testing.assert_allclose(found[1:], found[:1] * 3, rtol=1e-7)


def test_variances_that_are_next_to_0(tmp_path):
    random = np.random.default_rng(0)
    table = {"id": np.arange(200), "prediction": random.normal(size=200), "variance": np.resize([0.2, 1e-300, 0], 200)}
    pd.DataFrame(table).to_parquet(tmp_path / "pool.parquet")
    pools = [read_pool(tmp_path / "pool.parquet", lazy=lazy) for lazy in (False, True)]
    truth = table["prediction"] + random.normal(size=200)
    found = [sondage.evaluate(pool, "mse", lambda ids: truth[ids].tolist(), 60) for pool in pools]
    assert pools[0].fingerprint == pools[1].fingerprint
    assert found[1].value == pytest.approx(found[0].value, rel=1e-9)
    assert pools[0].items.means(0).variances.min(where=table["variance"] > 0, initial=1.0) == 1e-100


@pytest.mark.parametrize("budget", [1, N // 2, N])
def test_any_budget(budget, files):
    path = files / "two classes.parquet"
    expected, found = (asked(read_pool(path, lazy=lazy), "error_rate", budget, stages=1)[0] for lazy in (False, True))
    assert found == expected


@pytest.mark.parametrize("measure", ["recall", "average_precision"])
def test_some_ids_may_be_negative(measure, files, tmp_path):
    frame = pd.read_parquet(files / "two classes.parquet")
    path = tmp_path / "pool.parquet"
    frame.assign(id=frame["id"] - 50).to_parquet(path)
    expected, _ = asked(read_pool(path, lazy=False), measure)
    assert asked(read_pool(path, lazy=True), measure)[0] == expected


def test_certain_items_are_found(tmp_path):
    p = np.full(N, 1e-9)
    p[:40] = np.linspace(0.3, 0.6, 40)
    path = tmp_path / "pool.parquet"
    pd.DataFrame({"id": ids(), "p_1": p}).to_parquet(path)
    parts = {"floor": 0.01, "stages": 1}
    expected, found = (asked(read_pool(path, lazy=lazy), "error_rate", 60, **parts)[0] for lazy in (False, True))
    assert found == expected
    assert set(found) >= set(ids()[10:40].tolist())


def test_neither_order_nor_files_nor_threads_matter(files, tmp_path):
    frame = pd.read_parquet(files / "four classes.parquet")
    expected, _ = asked(read_pool(files / "four classes.parquet", lazy=True))
    shuffled = frame.sample(frac=1, random_state=3)
    for at, part in enumerate(np.array_split(np.arange(N), 5)):
        shuffled.iloc[part].to_parquet(tmp_path / f"part-{at}.parquet", row_group_size=100)
    found, _ = asked(read_pool(tmp_path / "*.parquet", lazy=True, settings={"threads": 1, "memory_limit": "200MB"}))
    assert found == expected


def test_strata_refuse_an_id_that_stands_twice(tmp_path):
    pd.DataFrame({"id": [1, 2, 2, 2], "p_1": [0.5, 0.9, 0.7, 0.6]}).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(InputError, match="id 2 stands in more than one row"):
        asked(read_pool(tmp_path / "pool.parquet", lazy=True), budget=4, design="neyman")


@pytest.mark.parametrize(("parts", "few"), [(7, 20), (64, 1)])
@pytest.mark.parametrize("name", ["two classes", "hard", "four classes", "shared"])
def test_strata_are_found_however_often_they_are_cut(name, parts, few, files, monkeypatch):
    monkeypatch.setattr(stored_strata, "PARTS", parts)
    monkeypatch.setattr(stored_strata, "FEW_UNITS", few)
    path = files / f"{name}.parquet"
    expected, found = (asked(read_pool(path, lazy=lazy), design="neyman")[0] for lazy in (False, True))
    assert found == expected


def test_rows_that_share_labels(tmp_path):
    frame = frames()["shared"].sort_values("group").assign(shown="a")
    frame.loc[frame.index[frame["group"].duplicated()][:1], "shown"] = "b"
    orders = [frame.sample(frac=1, random_state=seed) for seed in (1, 2)]
    orders[0].to_parquet(tmp_path / "pool.parquet")
    stored = read_pool(tmp_path / "pool.parquet", lazy=True)
    assert stored.n_units == stored.load().n_units < len(stored)
    expected, _ = asked(read_pool(orders[1]))
    assert asked(stored)[0] == asked(stored.load())[0] == expected
    with pytest.raises(InputError, match="rows of a group are in different slices"):
        sondage.evaluate(stored, labels=lambda names: [0] * len(names), budget=40, slices="shown")


def test_other_processes_read_the_files_anew(files, tmp_path):
    path, labels = str(tmp_path / "pool.parquet"), {int(name): int(name) % 2 for name in ids()}
    table = duckdb.sql(f"SELECT *, id % 3 AS third FROM '{files / 'two classes.parquet'}'")
    table.write_parquet(path)
    pool = read_pool(path, classes=[0, 1], lazy=True)
    again = pickle.loads(pickle.dumps(pool))
    assert isinstance(again, StoredPool)
    assert (again.fingerprint, again.source, again.reading) == (pool.fingerprint, pool.source, pool.reading)
    with ProcessPoolExecutor(1, get_context("spawn")) as worker:
        found = worker.submit(sondage.evaluate, pool, "error_rate", labels, 60, 1).result()
    assert found.value == sondage.evaluate(pool, "error_rate", labels, 60, 1).value
    for unnamed in (read_pool(table, lazy=True), pool.cut("third")[0][1]):
        with pytest.raises(InputError, match=r"another process has no file to read this pool from, .*: \.load\(\) it$"):
            pickle.dumps(unnamed)


def test_a_relation_stays_in_its_connection(files):
    path = files / "hard.parquet"
    expected, _ = asked(read_pool(path, lazy=False))
    with duckdb.connect() as connection:
        pool = read_pool(connection.sql(f"SELECT * FROM '{path}'"), lazy=True)
        assert isinstance(pool, StoredPool)
        assert asked(pool)[0] == expected


@pytest.mark.parametrize("name", ["two classes", "shared"])
def test_what_a_study_needs(name, files, tmp_path):
    path = files / f"{name}.parquet"
    studies = []
    for lazy in (False, True):
        pool = read_pool(path, lazy=lazy)
        place = tmp_path / f"{lazy}.db"
        with Study.create(place, pool, "f1", budget=40, seed=1) as study:
            first = study.ask(20)
            study.tell(first, [label(pool, name) for name in first])
        with Study.open(place) as study:  # reads the pool again
            second = study.ask(20)
            study.tell(second, [label(pool, name) for name in second])
            study.extend(60)
            third = study.ask(10)
            studies.append((first, second, third, study.fields(first), study.facts["fingerprint"]))
            assert study.estimate().sequence(0.95)
    assert studies[0] == studies[1]


@pytest.mark.parametrize("method", ["default", "passive"])
@pytest.mark.parametrize("name", ["two classes", "shared"])
def test_a_study_of_everything(name, method, tmp_path):
    frame = frames()[name].head(30)
    frame.to_parquet(tmp_path / "pool.parquet")
    units = int(frame["group"].nunique()) if name == "shared" else len(frame)
    found = []
    for lazy in (False, True):
        pool = read_pool(tmp_path / "pool.parquet", lazy=lazy)
        with Study.create(tmp_path / f"{lazy}.db", pool, budget=units, method=method) as study:
            asked_for = study.ask()
            study.tell(asked_for, [label(pool, one) for one in asked_for])
            estimate = study.estimate()
            ends = estimate.sequence(0.95)
            found.append((asked_for, estimate.exact, estimate.value, *ends.low, *ends.high))
    assert found[0][:2] == found[1][:2]
    assert found[1][1]
    np.testing.assert_allclose(found[0][2:], found[1][2:], rtol=1e-9, atol=1e-12)


def test_an_id_may_end_with_a_nul(tmp_path):
    columns = {"id": ["a\x00", "a", "b"], "p_1": [0.1, 0.5, 0.9], "text": ["x", "y", "z"]}
    pd.DataFrame(columns).to_parquet(tmp_path / "pool.parquet")
    with Study.create(tmp_path / "study.db", read_pool(tmp_path / "pool.parquet", lazy=True), budget=3) as study:
        drawn = study.ask()
        shown = {name: own["text"] for name, own in zip(drawn, study.fields(drawn), strict=True)}
    assert shown == dict(zip(columns["id"], columns["text"], strict=True))


@pytest.mark.parametrize("name", ["two classes", "shared"])
def test_slices_of_a_field(name, tmp_path):
    frame = frames()[name]
    units = frame["group"] if name == "shared" else np.arange(N)
    frame["shown"] = np.where(units % 3 == 0, "o'ne", "two")
    path = tmp_path / "pool.parquet"
    frame.to_parquet(path)
    results = []
    for lazy in (False, True):
        pool = read_pool(path, lazy=lazy)
        found = []
        sondage.evaluate(
            pool,
            labels=lambda names, pool=pool, found=found: found.extend(names) or [label(pool, n) for n in names],
            budget=80,
            slices="shown",
        )
        results.append(found)
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["weights and costs", "shared"])
def test_advice_is_nearly_the_same(name, files):
    path = files / f"{name}.parquet"
    one, other = (sondage.advise(read_pool(path, lazy=lazy), "f1", width=0.2) for lazy in (False, True))
    assert other.value == pytest.approx(one.value)
    errors = [[expected.std_error for expected in advice.expected] for advice in (one, other)]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-2)


@pytest.mark.parametrize("count", [20, 250])
def test_many_classes(count, tmp_path):
    names = [f"c{number}" for number in range(count)]
    path = tmp_path / "pool.parquet"
    pd.DataFrame({"id": ids()} | classes(names)).to_parquet(path)
    expected, found = (asked(read_pool(path, lazy=lazy), budget=30, stages=1)[0] for lazy in (False, True))
    assert found == expected


def test_load_brings_it_into_memory(files):
    path = files / "judged.parquet"
    pool = read_pool(path, lazy=True)
    loaded = pool.load()
    assert type(loaded) is sondage.Pool
    assert loaded.fingerprint == pool.fingerprint == read_pool(path, lazy=False).fingerprint
    assert loaded.reading["lazy"] is False  # as a study of it reads the file again
    assert len(pool) == N


def test_a_study_of_a_loaded_pool_with_weights_finds_it_again(tmp_path, rng):
    path = tmp_path / "pool.parquet"
    weighted = {"id": np.arange(500), "p_1": rng.random(500), "weight": np.exp(rng.normal(size=500))}
    pd.DataFrame(weighted).to_parquet(path)
    with Study.create(tmp_path / "study.db", read_pool(path, lazy=True).load(), budget=30) as study:
        first = study.ask(6)
        study.tell(first, [0] * len(first))
    with Study.open(tmp_path / "study.db") as study:
        assert len(study.ask(24)) == 24
    with pytest.raises(StudyError, match="groups differ, or it is read with lazy= in the other way"):
        Study.open(tmp_path / "study.db", read_pool(path, lazy=True))


def test_ids_that_no_item_can_have_are_not_looked_up(tmp_path):
    path = tmp_path / "pool.parquet"
    pd.DataFrame({"id": np.arange(50), "p_1": np.linspace(0, 1, 50)}).to_parquet(path)
    for pool in (read_pool(path, lazy=True), read_pool(duckdb.read_parquet(str(path)), lazy=True)):
        with pytest.raises(LabelError, match="id 'abc' is not in the pool"):
            sondage.evaluate(pool, labels=np.zeros(50), start={"abc": 1}, budget=20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"p_0": [0.5, 0.2, 0.3, 0.4]},
            "sum of p_0, p_1, ... must be 1 within 0.001; in 1 row it is not: 1.1 \\(id 2",
        ),
        ({"p_1": [0.5, 0.9, np.nan, 0.6]}, "p_1 must be in \\[0, 1\\]; in 1 row it is not: .* \\(id 3\\)"),
        ({"cost": [1.0, 0.0, -1.0, 2.0]}, "cost must be positive and finite; in 2 rows it is not: 0.0 \\(id 2\\)"),
        ({"cost": pd.array([None] * 4, "Float64")}, "cost must be positive and finite; in 4 rows it is not: None"),
        ({"judge.prediction": ["x"] * 4}, "judge.prediction must be one of the classes .* in 4 rows it is not: x"),
        ({"weight": [1.0, np.inf, 1.0, 1.0]}, "weight must be positive and finite; in 1 row it is not: inf \\(id 2\\)"),
        (
            {"weight": [1.0, 1e308, 1.0, 1e308]},
            r"weight must be 1e-100 to 1e\+100; in 2 rows it is not: 1e\+308 \(id 2",
        ),
        ({"cost": [1.0, 1.0, 5e-324, 1.0]}, r"cost must be 1e-100 to 1e\+100; in 1 row it is not: 5e-324 \(id 3\)"),
        ({"p_1": ["a", "b", "c", "d"]}, "column 'p_1' must be numbers; it is text"),
        ({"group": [1.5, 1, 2, 2]}, "column 'group' must be whole numbers or text"),
        ({"group": ["a", None, "b", "b"]}, "group must be given; in 1 row it is not: None \\(id 2\\)"),
        ({"prediction": [0, 1, 2, 0]}, "prediction must be one of the classes \\[0, 1\\]; in 1 row it is not: 2"),
        ({"id": [1.5, 2.0, 3.0, 4.0]}, "column 'id' must be whole numbers or text; it is DOUBLE: cast it, or read"),
        ({"id": [Decimal(n) / 4 for n in (5, 6, 7, 9)]}, r"must be whole numbers or text; it is DECIMAL\(3,2\): cast"),
        ({"id": [1, None, 3, 4]}, "id must be given|whole numbers or text"),
        ({"id": ["a", " ", "b", "c"]}, "id must be more than spaces; in 1 row it is not: "),
        ({"id": ["a", "\t", "b", "c"]}, r"an id is '\\t'; it must be more than spaces"),
        ({"id": [1, 2, 2, 2]}, "id 2 stands in more than one row"),
        ({"feature.x": [1.0, 2.0, -1e200, 3.0]}, r"feature.x must be finite, at most 1e\+150 .* -1e\+200 \(id 3\)"),
    ],
)
def test_bad_rows_are_told(change, message, tmp_path):
    table = {"id": [1, 2, 3, 4], "p_0": [0.5, 0.1, 0.3, 0.4], "p_1": [0.5, 0.9, 0.7, 0.6]} | change
    path = tmp_path / "pool.parquet"
    pd.DataFrame(table).to_parquet(path)
    with pytest.raises(InputError, match=message) as caught:
        asked(read_pool(path, lazy=True), budget=4)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_a_file_that_goes_away_is_named(tmp_path):
    path = tmp_path / "pool.parquet"
    pd.DataFrame({"id": [1, 2, 3, 4], "p_1": [0.5, 0.9, 0.7, 0.6]}).to_parquet(path)
    pool = read_pool(path, lazy=True)
    path.unlink()
    for use in (pool.load, lambda: asked(pool, budget=4)):
        with pytest.raises(InputError, match=r"pool\.parquet"):
            use()


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("p_1", {}),
        ("judge.p_1", {"p_1": [0.5, 0.9, 0.7, 0.6]}),
        ("a.judge", {}),
        ("prediction", {"variance": [1.0, 2.0, 1.0, 3.0]}),
        ("variance", {"prediction": [1.0, 2.0, 1.0, 3.0]}),
        ("weight", {"p_1": [0.5, 0.9, 0.7, 0.6]}),
        ("feature.x", {"p_1": [0.5, 0.9, 0.7, 0.6]}),
    ],
)
def test_a_nan_that_statistics_of_files_do_not_tell_is_refused(name, others, tmp_path):
    table = pyarrow.table({"id": [1, 2, 3, 4]} | others | {name: [0.5, 0.25, float("nan"), 0.75]})
    pyarrow.parquet.write_table(table, tmp_path / "pool.parquet")
    with pytest.raises(InputError, match=rf"{name} must be .*; in 1 row it is not: nan \(id 3\)"):
        asked(
            read_pool(tmp_path / "pool.parquet", lazy=True),
            "mse" if "variance" in table.column_names else "accuracy",
            budget=4,
        )


@pytest.mark.parametrize("column", ["prediction", "judge.prediction"])
@pytest.mark.parametrize("value", [0.6, 1e30, 3_000_000_000])
def test_what_names_no_class_is_refused_wherever_the_pool_is(column, value, tmp_path):
    path = tmp_path / "pool.parquet"
    table = {"id": [1, 2, 3, 4], "p_0": [0.5, 0.1, 0.3, 0.4], "p_1": [0.5, 0.9, 0.7, 0.6]}
    pd.DataFrame(table | {column: [0, value, 1, 0]}).to_parquet(path)
    for lazy in (False, True):
        with pytest.raises(InputError, match=rf"{column.split('.')[0]}.* is.*{re.escape(str(value))}") as caught:
            asked(read_pool(path, lazy=lazy), budget=4)
        assert "Conversion" not in str(caught.value)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("names", [(0.0, 1.0), (0.5, 1.0)])
@pytest.mark.parametrize("told", [float, str])
def test_classes_that_are_fractions_are_named_by_numbers(lazy, names, told, tmp_path):
    path, low, high = tmp_path / "pool.parquet", *names
    p = np.linspace(0.05, 0.95, 20)
    columns = {"id": range(20), f"p_{low}": 1 - p, f"p_{high}": p, "prediction": [told(n) for n in names] * 10}
    pd.DataFrame(columns).to_parquet(path)
    pool = read_pool(path, lazy=lazy)
    assert pool.task.classes == (str(low), str(high))
    said = {form: (lambda ids, form=form: [form(names[n % 2]) for n in ids]) for form in (float, str, "{:g}".format)}
    values = [sondage.evaluate(pool, "recall", labels=told, budget=20, positive=1).value for told in said.values()]
    assert values == [1.0] * 3


def test_slices_of_a_pool_have_its_keys_whatever_ids_each_has():
    text = (
        "SELECT CASE WHEN i = 399 THEN -1 ELSE i END AS id, (i % 97) / 97.0 AS p_1, i % 2 AS part FROM range(400) t(i)"
    )
    asked = []
    for pool in (read_pool(duckdb.sql(text), lazy=True), read_pool(duckdb.sql(text), lazy=True).load()):
        asked.append(set())

        def label(ids, seen=asked[-1]):
            seen.update(ids)
            return [int(n) % 2 for n in ids]

        sondage.evaluate(pool, labels=label, budget=60, slices="part", seed=1)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("kind", ["UUID", "DATE", "TIMESTAMP", "TIME", "VARCHAR", "BOOLEAN", "DOUBLE"])
def test_a_relation_has_names_and_slices_of_any_type(kind):
    value = {
        "UUID": "md5((i % 2)::VARCHAR)",
        "DATE": "DATE '2026-01-01' + (i % 2)::INT",
        "TIMESTAMP": "TIMESTAMP '2026-01-01' + INTERVAL (i % 2) DAY",
        "TIME": "TIME '01:00' + INTERVAL (i % 2) HOUR",
    }.get(kind, "i % 2")
    text = f"SELECT md5(i::VARCHAR)::UUID AS id, i / 60.0 AS p_1, ({value})::{kind} AS part FROM range(60) t(i)"
    told = [
        sondage.evaluate(read_pool(duckdb.sql(text), lazy=lazy), labels=answered, budget=30, slices="part")
        for lazy in (False, True)
    ]
    assert list(told[0]) == list(told[1])
    assert told[1].overall.value == pytest.approx(told[0].overall.value)


@pytest.mark.parametrize("slices", [np.repeat(["a", "b"], 30), ["a", "b"] * 30])
def test_a_column_slices_no_stored_pool(slices):
    pool = read_pool(duckdb.sql("SELECT i AS id, i / 60.0 AS p_1, i % 2 AS part FROM range(60) t(i)"), lazy=True)
    with pytest.raises(InputError, match=r"have no order: slices= is one of its fields, \['part'\]"):
        sondage.evaluate(pool, labels=answered, budget=30, slices=slices)


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_times_are_told_with_their_zone(unit, tmp_path):
    times = pd.to_datetime(1711846800000 + 3600500 * (np.arange(60) % 2), unit="ms", utc=True)  # that Berlin left out
    expected, path = ["2024-03-31T01:00:00+00:00", "2024-03-31T02:00:00.500000+00:00"], tmp_path / "pool.parquet"
    times = times.tz_convert("Europe/Berlin").as_unit(unit)
    frame = pd.DataFrame({"id": range(60), "p_1": np.arange(60) / 60, "at": times})
    frame["late"] = frame["at"].where(frame["id"] > 50)
    frame.to_parquet(path)
    with duckdb.connect() as berlin:
        berlin.execute("SET TimeZone = 'Europe/Berlin'")
        relation = berlin.read_parquet(str(path))
        pools = [read_pool(source, lazy=lazy) for source in (path, relation) for lazy in (False, True)]
        for pool in (*pools, read_pool(frame)):
            found = sondage.evaluate(pool, labels=answered, budget=30, slices="at")
            assert (list(found), [one.n_labels for one in found.values()]) == (expected, [15, 15])
            fields = (pool.load() if isinstance(pool, StoredPool) else pool).fields
            assert [fields["late"][n] for n in (3, 59)] == [None, expected[1]]


@pytest.mark.parametrize("lazy", [False, True])
def test_slices_by_nanoseconds_have_times_for_names(lazy, tmp_path):
    path, days = tmp_path / "pool.parquet", [datetime(2026, 1, 1), datetime(2026, 1, 2)]
    day = np.array(days * 30, dtype="datetime64[ns]")
    pd.DataFrame({"id": range(60), "p_1": np.arange(60) / 60, "day": day}).to_parquet(path)
    assert duckdb.read_parquet(str(path)).types[2] == "TIMESTAMP_NS"
    assert list(sondage.evaluate(read_pool(path, lazy=lazy), labels=answered, budget=30, slices="day")) == days


def answered(names):
    return [int(str(name)[0], 16) % 2 for name in names]


def test_lists_are_no_numbers(tmp_path):
    path = tmp_path / "pool.parquet"
    pd.DataFrame({"id": [1, 2], "p_1": [0.5, 0.9], "embedding": [[0.1, 0.2], [0.3, 0.4]]}).to_parquet(path)
    assert read_pool(path, features=["embedding"]).items.features.shape == (2, 2)
    with pytest.raises(InputError, match=r"column 'embedding' must be numbers; it is DOUBLE\[\]: .* lazy=False"):
        read_pool(path, features=["embedding"], lazy=True)


@pytest.mark.parametrize("kind", ["HUGEINT", "DECIMAL(38,0)", "DECIMAL(18,0)"])
def test_whole_numbers_of_128_bits_and_decimal_ones_are_exact(kind):
    large = 2**53 + 1
    wide = duckdb.sql(f"SELECT ({large} + 2 * i)::{kind} AS id, i / 40.0 AS p_1 FROM range(40) t(i)")
    pools = [read_pool(wide, lazy=lazy) for lazy in (False, True)]
    assert pools[0].ids.tolist() == pools[1].load().ids.tolist() == [large + 2 * i for i in range(40)]
    assert asked(pools[0], budget=9)[0] == asked(pools[1], budget=9)[0]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["HUGEINT", "DECIMAL(38,0)"])
def test_ids_beyond_64_bits_are_refused_in_plain_words(kind, lazy):
    wide = duckdb.sql(f"SELECT ({2**70} + i)::{kind} AS id, (i + 0.5) / 40 AS p_1 FROM range(40) t(i)")
    with pytest.raises(InputError, match=f"{2**70} .* INT64 when casting from source column id$"):
        asked(read_pool(wide, lazy=lazy), budget=9)


@pytest.mark.parametrize("lazy", [False, True])
def test_columns_may_be_whole_numbers_of_128_bits(lazy):
    text = "SELECT i AS id, (i + 0.5) / 40 AS p_1, i::{0} AS shown, (i + 1)::{0} AS weight FROM range(40) t(i)"
    pools = [read_pool(duckdb.sql(text.format(kind)), lazy=lazy) for kind in ("BIGINT", "HUGEINT", "UHUGEINT")]
    drawn = [asked(pool, budget=9)[0] for pool in pools]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("options", [{}, {"draw": "strata"}, {"method": "thesis"}])
def test_ids_may_be_2_to_the_63_and_more(options, tmp_path):
    path, large = tmp_path / "pool.parquet", 2**63 - 2
    number = f"CASE WHEN i % 3 = 0 THEN 5 ELSE {large} END"
    table = duckdb.sql(f"SELECT ({number})::UBIGINT + i::UBIGINT AS id, i / 40.0 AS p_1, i AS x FROM range(40) t(i)")
    table.write_parquet(str(path))
    files, relation = read_pool(path, lazy=True), read_pool(duckdb.read_parquet(str(path)), lazy=True)
    drawn = [asked(pool, budget=18, **options)[0] for pool in (read_pool(path), files, relation)]
    assert drawn[0] == drawn[1] == drawn[2]
    assert max(drawn[0]) >= 2**63 > min(drawn[0])
    with Study.create(tmp_path / "study.db", files, budget=18) as study:
        names = study.ask(9)
        study.tell(names, [name % 2 for name in names])
        assert [field["x"] for field in study.fields(names)] == [n - large if n >= large else n - 5 for n in names]
        assert not set(names) & set(study.ask(9))


def test_unsigned_ids_stay_whole_from_stage_to_stage():
    text = "SELECT ({0} + i)::{1} AS id, (i * 7 % 300 + 0.5) / 300 AS p_1 FROM range(300) t(i)"
    tables = [duckdb.sql(text.format(2**62, kind)) for kind in ("BIGINT", "UBIGINT")]
    signed, unsigned = (asked(read_pool(table, lazy=True), budget=90)[0] for table in tables)
    assert signed == unsigned


@pytest.mark.parametrize("measure", ["f1", "auc"])
def test_ids_that_are_uuids_are_text(measure, tmp_path):
    path, text = tmp_path / "pool.parquet", "SELECT md5(i::VARCHAR)::UUID AS id, i / 90.0 AS p_1 FROM range(90) t(i)"
    duckdb.sql(f"COPY ({text}) TO '{path}' (FORMAT parquet)")
    found = []
    for source, lazy in ((path, False), (path, True), (duckdb.sql(text), False), (duckdb.sql(text), True)):
        with Study.create(tmp_path / f"{len(found)}.db", read_pool(source, lazy=lazy), measure, budget=30) as study:
            while ids := study.ask(10):
                study.tell(ids, answered(ids))
            found.append(study.snapshot().asked_ids)
    assert all(ids == found[0] for ids in found)
    assert isinstance(found[0][0], str)


@pytest.mark.parametrize("order", [("p_False", "p_True"), ("p_1", "p_0"), ("p_0", "p_1")])
def test_truth_values_name_classes_wherever_the_pool_is(order, files, tmp_path):
    path, p = tmp_path / "pool.parquet", pd.read_parquet(files / "two classes.parquet")["p_1"]
    said = {"prediction": p > 0.4, "judge.prediction": p > 0.6}
    chances = {"p_False": 1 - p, "p_0": 1 - p, "p_True": p, "p_1": p}
    pd.DataFrame({"id": ids()} | {name: chances[name] for name in order} | said).to_parquet(path)
    assert asked(read_pool(path, lazy=True))[0] == asked(read_pool(path, lazy=False))[0]


def test_what_needs_memory_says_so(files):
    pool = read_pool(files / "two classes.parquet", lazy=True)
    with pytest.raises(InputError, match="give labels as a mapping or a function of ids"):
        sondage.evaluate(pool, labels=np.zeros(N), budget=20)
    with pytest.raises(InputError, match="no column 'id'"):
        read_pool(duckdb.sql("SELECT 1 AS p_1"), lazy=True)


def test_progress_and_interruption(files, tmp_path):
    heard = []

    def progress(step, share):
        heard.append((step, share))
        if step.startswith("pass 2"):
            raise KeyboardInterrupt

    pool = read_pool(files / "two classes.parquet", lazy=True, progress=progress)
    place = tmp_path / "study.db"
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        Study.create(place, pool, budget=40)
    assert not place.exists()
    assert heard[0] == ("counting", 0.0)
    assert ("pass 1: believed sums", 1.0) in heard


@pytest.mark.parametrize("locked", [False, True])
def test_a_connection_keeps_its_settings(locked, files):
    with duckdb.connect() as connection:
        connection.execute("SET disabled_optimizers = 'top_n'")
        connection.execute(f"SET lock_configuration = {locked}")
        pool = read_pool(connection.read_parquet(str(files / "many hard.parquet")), lazy=True)
        assert len(asked(pool, budget=20)[0]) == 20
        assert connection.execute("SELECT current_setting('disabled_optimizers')").fetchall() == [("top_n",)]


def test_what_ends_a_transaction_is_told():
    with duckdb.connect() as connection:
        connection.execute("BEGIN")
        wrong = "CASE WHEN id = 7 THEN CAST('none' || id AS DOUBLE) ELSE 0.5 END"
        relation = connection.sql(f"SELECT id, {wrong} AS p_1 FROM range(100) t(id)")
        with pytest.raises(InputError, match="none7"):
            asked(read_pool(relation, lazy=True))
        connection.execute("ROLLBACK")


def test_nothing_of_a_draw_stays_in_the_connection(files):
    pool = read_pool(files / "two classes.parquet", lazy=True)
    asked(pool, measure="f1", budget=40)
    left = pool.scan.engine.query("SELECT view_name FROM duckdb_views() WHERE NOT internal", {}, "what is left")
    assert left["view_name"].tolist() == ["the_source"]


@pytest.mark.parametrize(
    ("power", "step", "width", "passes"),
    [
        (1.0, 7, 1, ["pass 1", "pass 2"]),  # the first pass meets the rows that are drawn
        (0.05, 7, 1, ["pass 1", "pass 2", "pass 3"]),  # some sizes are too large for that
        (1.0, 2**40, 1, ["pass 1", "pass 2", "pass 3"]),  # keys turn out to be large
        (1.0, 7, 300, ["pass 1", "pass 2", "pass 3"]),  # rows are wide: few are looked at, later
    ],
)
def test_the_rows_of_a_draw_are_found_on_the_way(power, step, width, passes, tmp_path):
    count, heard = 30_000, []
    p = 0.5 * np.random.default_rng(5).random(count) ** (1 / power)
    p[:3] = 0.5
    told = {f"m{at}.p_1": p for at in range(width)} if width > 1 else {"p_1": p}
    frame = pd.DataFrame({"id": np.arange(count) * step} | told)
    frame.to_parquet(tmp_path / "pool.parquet")
    pool = read_pool(tmp_path / "pool.parquet", lazy=True, progress=lambda step, share: heard.append(step))
    parts = {"stages": 1, "floor": 0.02, "design": "absolute", "budget": 20, "models": pool.models[:1]}
    found, _ = asked(pool, **parts)
    assert found == asked(read_pool(tmp_path / "pool.parquet", lazy=False), **parts)[0]
    assert [one for one in dict.fromkeys(step.split(":")[0] for step in heard) if one.startswith("pass")] == passes


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9, 12])
def test_the_predicted_class_its_probability_and_the_others(k):
    rng = np.random.default_rng(k)
    p = np.concatenate([rng.integers(0, 4, (300, k)) / 8, rng.dirichlet(np.full(k, 1e-3), 300), np.eye(k)])
    p[0] = 0.5
    names = Probabilities("p0", tuple(Column(at, f"p_{at}", "float") for at in range(k)))
    select = Select("SELECT * FROM rows")
    source = Source(0, probabilities=names)
    add_predicted(select, source)
    top, rest = top_and_rest(select, source)
    with duckdb.connect() as connection:
        connection.register(
            "rows", {"place": np.arange(len(p))} | {name: p[:, at] for at, name in enumerate(names.names)}
        )
        found = connection.sql(
            f"SELECT f0, {top} AS top, {rest} AS rest FROM ({select.text}) t ORDER BY place"
        ).fetchnumpy()
    p = np.column_stack([1 - p, p]) if k == 1 else p
    best = p.argmax(axis=1)
    others = np.where(np.arange(p.shape[1]) == best[:, None], 0.0, p).sum(axis=1)
    assert np.array_equal(found["f0"], best)
    assert np.array_equal(found["top"], p.max(axis=1))
    np.testing.assert_allclose(found["rest"], others, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("small", "least"), [(False, 2**63 - 1), (True, 2**31 - 20), (None, 2**31 - 20)])
def test_the_hash_has_the_same_bits(small, least):
    keys = np.concatenate([np.arange(50), np.random.default_rng(1).integers(0, min(least, 2**60), 500), [least]])
    select = Select("SELECT * FROM rows")
    digits = leading_in_step(select, 5, 2) if small is None else leading(select, 5, 2, small=small)
    with duckdb.connect() as connection:
        connection.register("rows", {"key": keys})
        found = connection.sql(f"SELECT key, {digits} AS v FROM ({select.text}) t").fetchnumpy()
    assert np.array_equal(found["v"], np.floor(uniforms(found["key"], 5, 2) * (2**31 - 1)))


def test_columns_are_in_as_few_layers_as_they_need():
    select = Select("SELECT * FROM rows")
    for start in range(50):
        once, twice = select.one(f"x + {number(start)}"), select.one(f"x * {number(start)}")
        select.one(f"{once} * {twice}")
    assert select.text.count("SELECT") == 3
    with duckdb.connect() as connection:
        connection.register("rows", {"x": np.array([3.0])})
        (found,) = connection.sql(select.only([f"e{3 * start + 2}" for start in range(50)])).fetchall()
    assert list(found) == [(3.0 + start) * (3.0 * start) for start in range(50)]


def test_a_query_has_the_columns_that_it_needs_and_no_others():
    select = Select("SELECT * FROM rows")
    select.choose({"a": "x + 1e0", "b": "x * 2e0", "c": "x - 1e0"})
    select.joined(["named"], "names", "m.place = t.a")
    unused, used = select.one("b * b"), select.one("c * c")
    select.where("a > 2e0")
    last = select.one(f"{used} + 1e0")
    text = select.only([last])
    assert "x * 2e0" not in text
    assert "JOIN" not in text
    assert f"AS {unused}" not in text
    with duckdb.connect() as connection:
        connection.register("rows", {"x": np.array([1.0, 2.0, 5.0])})
        connection.register("names", {"place": np.array([3.0, 6.0]), "named": np.array([7, 8])})
        assert sorted(connection.sql(text).fetchall()) == [(2.0,), (17.0,)]
        joined = select.only([last, "named"]).format(names="names")
        assert sorted(connection.sql(joined).fetchall()) == [(2.0, 7), (17.0, 8)]
        everything = select.text.format(names="names")
        assert connection.sql(everything).columns == ["a", "b", "c", "named", unused, used, last]
        assert connection.sql(select.aggregated({"n": "COUNT(*)"})).fetchall() == [(2,)]


def test_of_one_model_among_many_only_its_columns_are_planned(files, monkeypatch):
    pool, texts = read_pool(files / "twenty.parquet", lazy=True), {}
    engine = pool.scan.engine
    query = type(engine).query

    def heard(self, text, tables, step):
        texts.setdefault(step, []).append(text)
        return query(self, text, tables, step)

    monkeypatch.setattr(type(engine), "query", heard)
    asked(pool, "f1", models=pool.models[3:4])
    of_models = {source.probabilities.names[0] for source in pool.scan.schema.models if source.probabilities}
    found = [{name for name in of_models if re.search(rf"\b{name}\b", text)} for text in texts["pass 2: sizes"]]
    assert len(of_models) == 20
    assert [len(names) for names in found] == [1] * len(found)


def test_a_query_that_gets_too_long_is_left_to_the_kernel():
    select = Select("SELECT * FROM rows")
    select.room = 20
    select.one("x + 1e0")
    with pytest.raises(NoForm, match="a query that is too long"):
        select.one("x + 2e0 + 3e0 + 4e0")
    select.room = 20
    with pytest.raises(NoForm, match="a query that is too long"):
        select.looked_up("x", np.zeros((9, 1)))


def test_numbers_are_doubles_and_sums_are_shallow():
    values = [0.1, -2.5, 1e-300, 3.0, 123456789.123456789]
    text = ", ".join(f"{number(value)}, typeof({number(value)})" for value in values)
    (row,) = duckdb.sql(f"SELECT {text}").fetchall()
    assert list(row[::2]) == values
    assert set(row[1::2]) == {"DOUBLE"}
    assert duckdb.sql(f"SELECT {total(['1e0'] * 2000)}").fetchall() == [(2000.0,)]
    assert Column(3, "a b", "int").raw == "c3"


@pytest.mark.parametrize("total", [1.0, 0.9995])
def test_doubts_are_those_of_the_pool_in_memory(total, tmp_path):
    votes = np.random.default_rng(2).multinomial(8, [0.7, 0.2, 0.1], 300) / 8 * total
    frame = pd.DataFrame({"id": np.arange(300)} | {f"p_{name}": votes[:, at] for at, name in enumerate("abc")})
    frame["judge.p_a"], frame["judge.p_b"], frame["judge.p_c"] = 0.5, 0.25, 0.25
    frame.to_parquet(tmp_path / "pool.parquet")
    pools = [read_pool(tmp_path / "pool.parquet", lazy=lazy) for lazy in (False, True)]
    assert pools[0].doubts.models == pytest.approx((1 / 9,))
    for one, other in zip(pools[0].doubts, pools[1].doubts, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_bad_rows_are_refused_whenever_doubts_are_asked_for(tmp_path):
    pd.DataFrame({"id": [1, 2], "p_1": [0.0, 1.5]}).to_parquet(tmp_path / "pool.parquet")
    pool = read_pool(tmp_path / "pool.parquet", lazy=True)
    for _ in range(2):
        with pytest.raises(InputError, match=r"p_1 must be in \[0, 1\]"):
            _ = pool.doubts


def test_rows_of_a_group_have_one_label_in_files_too(tmp_path):
    columns = {"id": np.arange(20), "p_1": np.linspace(0.1, 0.9, 20), "group": [f"g{row // 2}" for row in range(20)]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "groups.parquet")
    right, wrong = {row: row // 2 % 2 for row in range(20)}, {row: row % 2 for row in range(20)}
    found = []
    for lazy in (False, True):
        pool = read_pool(tmp_path / "groups.parquet", lazy=lazy)
        found.append(sondage.evaluate(pool, "error_rate", labels=right, budget=6).value)
        with pytest.raises(LabelError, match=r"rows of group g[0-9] share one label; they have 0 and 1"):
            sondage.evaluate(pool, "error_rate", labels=wrong, budget=6)
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    with pytest.raises(InputError, match="this needs the pool's units in memory, and the pool is not"):
        pool.unit_keys  # noqa: B018


@pytest.mark.parametrize("options", [{}, {"method": "passive"}, {"method": "thesis"}])
def test_a_floor_of_1_leaves_the_design_out(tmp_path, options):
    random = np.random.default_rng(0)
    columns = {"id": np.arange(400)} | {f"{name}.prediction": random.integers(0, 2, 400) for name in "ab"}
    labels = dict(enumerate(random.integers(0, 2, 400).tolist()))
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "pool.parquet")
    pools = [read_pool(tmp_path / "pool.parquet", lazy=lazy) for lazy in (False, True)]
    found = [sondage.compare(pool, "a", "b", labels=labels, budget=60, floor=1.0, **options) for pool in pools]
    assert found[1].difference == pytest.approx(found[0].difference, rel=1e-12)
    assert found[1].estimate.std_error == pytest.approx(found[0].estimate.std_error, rel=1e-9)
    assert found[1].estimate.n_effective == pytest.approx(found[0].estimate.n_effective, rel=1e-9)
