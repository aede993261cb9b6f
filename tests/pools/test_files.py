"""Columns of files become the pool that the same arrays make."""

import glob

import duckdb
import numpy as np
import pytest

from sondage import Pool, Study, read_pool
from sondage.errors import InputError
from sondage.pools.stored import StoredPool


def to_parquet(path, query):
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def outputs(pool, model=0):
    return {name: np.asarray(value).tolist() for name, value in vars(pool.items.models[model]).items()}


def test_csv_and_parquet_are_the_pool_of_the_arrays(written, tmp_path):
    expected = Pool([0.25, 0.75], ["ham", "spam"], ["spam", "ham"], ids=[7, 8], costs=[1.0, 2.0], weights=[1.0, 3.0])
    csv = read_pool(written("id,p_spam,prediction,cost,weight\n7,0.25,spam,1,1\n8,0.75,ham,2,3\n"))
    query = (
        "SELECT * FROM (VALUES (7, .25, 'spam', 1, 1), (8, .75, 'ham', 2, 3)) t(id, p_spam, prediction, cost, weight)"
    )
    parquet = read_pool(to_parquet(tmp_path / "pool.parquet", query))
    assert csv.fingerprint == parquet.fingerprint == expected.fingerprint


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("id,p_spam\n1,.5\n", ("not spam", "spam")),
        ("id,p_1\n1,.5\n", (0, 1)),
        ("id,p_5\n1,.5\n", ("not 5", "5")),
        ("id,p_spam,prediction\n1,.5,ham\n", ("ham", "spam")),
        ("id,p_b,p_a\n1,.5,.5\n", ("b", "a")),
        ("id,p_2,p_1,p_0\n1,.5,.5,0\n", (2, 1, 0)),
        ("id,p_1.0\n1,.5\n", ("0.0", "1.0")),
        ("id,p_1.0,prediction\n1,.5,0\n", ("0", "1.0")),
        ("id,p_1.5,p_2\n1,.5,.5\n", ("1.5", "2")),
        ("id,prediction\n1,a\n2,c\n", ("a", "c")),
        ("id,prediction\n1,0\n2,1.0\n", (0, 1)),
        ("id,prediction\n1,3\n2,900000000000\n", (3, 900000000000)),
        ("id,prediction\n1,1\n2,5\n3,3\n", (1, 3, 5)),
        ("id,prediction\n1,0\n2,3\n", (0, 1, 2, 3)),
        ("id,prediction\n1,1\n2,1\n", (0, 1)),
        ("id,prediction\n1,0111\n2,0112\n3,7\n", ("0111", "0112", "7")),
        ("id,prediction\n1,1\n2,01\n", ("01", "1")),
        ("id,prediction,p_01,p_02\n1,01,.9,.1\n2,02,.2,.8\n", ("01", "02")),
        ("id,prediction,judge.p_x,judge.p_y\n1,x,.5,.5\n", ("x", "y")),
        ("id,a.p_y,a.p_x,b.p_x,b.p_y\n1,.5,.5,1,0\n", ("y", "x")),
    ],
)
def test_columns_name_the_classes(text, classes, written):
    assert read_pool(written(text)).task.classes == classes


def test_probabilities_are_put_in_the_order_of_the_classes(written):
    pool = read_pool(written("id,a.p_x,a.p_y,b.p_y,b.p_x,judge.p_y\n1,.3,.7,.6,.4,.9\n"))
    assert pool.models == ("a", "b")
    assert outputs(pool, 1)["probabilities"] == [[0.4, 0.6]]
    assert pool.items.judges[0].tolist() == [0.9]
    pool = read_pool(written("id,p_spam\n1,.25\n"), classes=["spam", "ham"])
    assert outputs(pool) == {"predictions": [1], "probabilities": [0.75]}


@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        ("id,prediction\n1,1.5\n2,2\n", {}, "regression"),
        ("id,prediction\n1,01.5\n2,2\n", {}, "regression"),
        ("id,prediction,variance\n1,1,1\n2,2,1\n", {}, "regression"),
        ("id,prediction\n1,1\n2,2\n", {"task": "regression"}, "regression"),
        ("id,prediction\n1,1\n2,2\n", {}, "classification"),
        ("id,prediction\n1,0.5\n2,1.0\n", {"classes": [0.0, 0.5, 1.0]}, "classification"),
        ("id,a.judge,b.judge\n1,.5,1\n2,0,.25\n", {}, "outcomes"),
        ("id,a.judge.p_0,a.judge.p_1,a.judge.p_2\n1,.5,.5,0\n", {}, "outcomes"),
    ],
)
def test_columns_tell_the_task(text, options, kind, written):
    assert read_pool(written(text), **options).task.kind == kind


def test_ids_of_csv_are_numbers_only_if_all_are_written_so(written):
    assert read_pool(written("id,p_1\n10,.5\n9,.5\n")).ids.tolist() == [10, 9]
    assert read_pool(written("id,p_1\n007,.5\n9,.5\n")).ids.tolist() == ["007", "9"]
    assert read_pool(written("id,p_1\n1e3,.5\n9,.5\n")).ids.tolist() == ["1e3", "9"]


@pytest.mark.parametrize("first", [10**18, 2**63 - 40, 2**63])
def test_whole_numbers_are_the_same_ids_wherever_they_stand(first, written, tmp_path):
    ids, p = [first + row for row in range(40)], [(row + 0.5) / 40 for row in range(40)]
    lines = "".join(f"{name},{chance!r}\n" for name, chance in zip(ids, p, strict=True))
    table = duckdb.sql(f"SELECT ({first}::HUGEINT + i)::UBIGINT AS id, (i + 0.5e0) / 40 AS p_1 FROM range(40) t(i)")
    table.write_parquet(str(tmp_path / "pool.parquet"))
    pools = [read_pool(written("id,p_1\n" + lines)), read_pool(tmp_path / "pool.parquet")]
    pools += [Pool(p, ids=ids), Pool(p, ids=np.array(ids, dtype=object))]
    pools += [Pool(p, ids=np.array([np.uint64(name) for name in ids], dtype=object))]
    pools += [Pool(p, ids=np.array(ids, dtype=np.uint64))]
    for pool in pools:
        assert pool.keys.tolist() == pools[0].keys.tolist()
        assert pool.rows_by_id()(pool.ids[::-1].tolist()).tolist() == list(range(40))[::-1]
        assert (pool.ids.dtype.kind in "iu") == (first < 2**63 or pool is not pools[0])
    assert {one.fingerprint for one in pools} == {pools[0].fingerprint}


def test_text_ids_of_parquet_stay_text(tmp_path):
    path = to_parquet(tmp_path / "pool.parquet", "SELECT '7' AS id, 0.5 AS p_1")
    assert read_pool(path).ids.tolist() == ["7"]


def test_several_files_and_other_delimiters(written, tmp_path):
    written('id;p_1;text\n1;0.5;"a;""b"\n', "part1.csv")
    written("id;p_1;text\n2;0.5;ü\n", "part2.csv")
    pool = read_pool(str(tmp_path / "part*.csv"))
    assert pool.fields["text"].tolist() == ['a;"b', "ü"]
    assert pool.source == str(tmp_path / "part*.csv")
    assert read_pool(written("\ufeffid\tp_1\r\n1\t0.5\r\n", "tabs.tsv")).ids.tolist() == [1]


@pytest.mark.parametrize("name", ["pool[1]", "pool*", "pool?", "[p]ool/of [1]"])
@pytest.mark.parametrize(("end", "lazy"), [(".parquet", True), (".parquet", False), (".parquet", None), (".csv", None)])
def test_a_file_is_read_and_not_what_its_name_would_find(name, end, lazy, tmp_path, monkeypatch):
    monkeypatch.setattr("sondage.pools.files.MOST_CELLS", 100)
    for stem, count in {name: 60, "pool1": 7, "pool2": 7}.items():
        (tmp_path / stem).parent.mkdir(exist_ok=True)
        duckdb.sql(f"COPY (SELECT range AS id, .5 AS p_1 FROM range({count})) TO '{tmp_path / stem}{end}'")
    pool = read_pool(f"{tmp_path / name}{end}", lazy=lazy)
    assert (len(pool), isinstance(pool, StoredPool)) == (60, end == ".parquet" and lazy is not False)
    pattern = glob.escape(f"{tmp_path / name}") + f"{end[:-1]}?"
    assert read_pool(pattern, lazy=lazy).fingerprint == pool.fingerprint


@pytest.mark.parametrize("between", [";", ",", "\t"])
def test_a_line_by_which_excel_knows_what_divides_cells_is_passed_over(between, written):
    lines = [f"\ufeffsep={between}", "id;p_1;text", "1;.5;a", "2;.5;b", ";;", ""]
    pool = read_pool(written("\r\n".join(lines).replace(";", between)))
    assert (pool.ids.tolist(), pool.fields["text"].tolist()) == ([1, 2], ["a", "b"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_empty_lines_before_the_header_are_passed_over(end, written, tmp_path):
    lines = ["\ufeff", " ", "id,p_1,text", '1,.5,"a', 'b"', "2,.5,", ""]
    pool = read_pool(written(end.join(lines), "part1.csv"))
    assert (pool.ids.tolist(), pool.fields["text"].tolist()) == ([1, 2], [f"a{end}b", None])
    written("id,p_1,text\n3,.5,\n", "part2.csv")
    with pytest.raises(InputError, match=r"part2.csv has 0 empty lines before its header, .*part1.csv 2"):
        read_pool(tmp_path / "part*.csv")


def test_other_columns_are_fields_and_may_be_missing(written):
    pool = read_pool(written("id,p_1,text,note\n1,.5,,x\n2,.5,b,\n"))
    assert {name: column.tolist() for name, column in pool.fields.items()} == {"text": [None, "b"], "note": ["x", None]}


@pytest.mark.parametrize("lazy", [False, True])
def test_the_index_that_pandas_leaves_in_a_file_is_no_field(lazy, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [3, 4, 5], "p_1": [0.2, 0.7, 0.4], "text": ["a", "b", "c"]})
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "pool.parquet")
    long = pandas.DataFrame(
        {"query": [1, 1, 2], "document": ["a", "b", "a"], "a.rank": [1, 2, 1], "text": ["x", "y", "z"]}
    )
    long.sample(frac=1, random_state=0).to_parquet(tmp_path / "long.parquet")
    for name, measure, text in (("pool", "error_rate", "c"), ("long", "dcg:k=2", {"a": "z"})):
        pool = read_pool(tmp_path / f"{name}.parquet", lazy=lazy, classes=[0, 1])
        with Study.create(tmp_path / f"{name}.db", pool, measure, pool.n_units) as study:
            assert {"text": text} in study.fields(study.ask())


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["year=2024/month=01", "year=2025/month=02"], {"year": [2024, 2025], "month": ["01", "02"]}),
        (["lang=de%20at", "lang=en"], {"lang": ["de at", "en"]}),
        (["month=1"], {}),  # which tells no rows apart
        (["month=1", "other"], {}),
        (["a=1=2", "a=3"], {}),
        (["TEXT=y", "TEXT=z"], {}),  # a column that the files have
    ],
    ids=str,
)
def test_names_of_folders_are_columns(folders, names, lazy, tmp_path):
    for number, folder in enumerate(folders):
        (tmp_path / folder).mkdir(parents=True)
        to_parquet(tmp_path / folder / "part.parquet", f"SELECT {number} AS id, 0.5 AS p_1, 'x' AS text")
    pool = read_pool(tmp_path / "**" / "*.parquet", lazy=lazy).load()
    order = np.argsort(pool.ids)
    fields = {name: column[order].tolist() for name, column in pool.fields.items()}
    assert fields == {"text": ["x"] * len(folders)} | names


def test_rows_of_empty_cells_are_none(written):
    path = written('id;p_1;"te""xt"\r\nb;.5;x\r\n;;\r\na;.25;\r\n ;; \r\n;;\r\n')
    pool = read_pool(path)
    assert (pool.ids.tolist(), pool.fields['te"xt'].tolist()) == (["b", "a"], ["x", None])
    with pytest.raises(InputError, match="id of row 1 is missing"):
        read_pool(written("id,p_1\na,.5\n,.5\n"))


def test_a_group_is_one_item(written):
    pool = read_pool(written("id,p_1,group\n1,.5,a\n2,.5,a\n3,.5,b\n"))
    assert pool.n_units == 2


def test_a_relation_is_read():
    assert len(read_pool(duckdb.sql("SELECT range AS id, 0.5 AS p_1 FROM range(5)"))) == 5


def test_a_pool_remembers_how_it_was_read(written):
    path = written("id,prediction\n1,1\n2,2\n")
    pool = read_pool(path, task="regression")
    assert read_pool(pool.source, **pool.reading).fingerprint == pool.fingerprint
