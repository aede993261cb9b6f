"""TREC runs and qrels, learning-to-rank files: what is written is read, broken files are refused by line."""

import numpy as np
import pytest

import sondage
from sondage.adapters import trec
from sondage.errors import InputError, LabelError

RUN = "q1 Q0 d2 1 9.5 a\nq1 Q0 d1 2 7 a\nq2 Q0 d3 1 1.0 a\n"
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 -2\n"
ROWS = "2 qid:10 1:0.5 3:-1e-3 # docid = GX01 inc = 1\n0 qid:10 2:7\n# a comment\n\n1 qid:9 1:3\n"


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_runs_come_back(tmp_path, name):
    lists = {"q1": ["d2", "d1"], "q2": ["d3"]}
    assert trec.write_run(tmp_path / name, lists, tag="a") == 3
    assert trec.read_run(tmp_path / name) == lists


@pytest.mark.parametrize("name", ["study.db", "study.gz"])
def test_no_study_is_written_over(tmp_path, name):
    pool = sondage.Pool([0.1, 0.9])
    sondage.Study.create(tmp_path / name, pool, measure="error_rate", budget=1).close()
    for write, rows in ((trec.write_run, {"q": ["d"]}), (trec.write_qrels, {"q": {"d": 1}})):
        with pytest.raises(InputError, match="is a study, or another database, which is not written over"):
            write(tmp_path / name, rows)
    assert sondage.Study.open(tmp_path / name, pool).ask(1)


def test_a_run_is_ordered_by_score_or_by_rank(written):
    path = written("q Q0 a 1 1.0 t\nq Q0 b 2 3.0 t\nq Q0 c 3 3.0 t\n")
    assert trec.read_run(path) == {"q": ["c", "b", "a"]}  # ties by descending id, as trec_eval
    assert trec.read_run(path, by_rank=True) == {"q": ["a", "b", "c"]}


def test_pool_of_runs_and_labels_from_qrels(tmp_path, written):
    runs = {"a": written(RUN, "a.run"), "b": written("q1 Q0 d1 1 2 b\nq1 Q0 d9 2 1 b\n", "b.run")}
    pool = trec.pool_from_runs(runs, classes=[0, 1, 2])
    assert pool.ids.tolist() == ["q1", "q2"]
    labels = trec.read_qrels(written(QRELS, "qrels"))
    assert labels == {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d3": 0.0}}
    found = sondage.evaluate(pool, "dcg@2", labels=labels, budget=2, model="a")
    assert found.value == pytest.approx(3 / np.log2(3) / 2)
    assert trec.write_run(tmp_path / "again.run", pool, "b") == 2
    assert trec.read_run(tmp_path / "again.run") == {"q1": ["d1", "d9"]}
    with pytest.raises(LabelError, match=r"document 'd9' of query 'q1' has no grade: all 2 documents"):
        sondage.evaluate(pool, "dcg@2", labels=labels, budget=1, model="b")
    with pytest.raises(InputError, match="the pool has several models"):
        trec.write_run(tmp_path / "no.run", pool)


def test_qrels_come_back(tmp_path):
    labels = {"q1": {"d1": 2, "d2": 0}, "q2": None}
    assert trec.write_qrels(tmp_path / "qrels", labels) == 2
    assert trec.read_qrels(tmp_path / "qrels") == {"q1": {"d1": 2.0, "d2": 0.0}}


def test_learning_to_rank_rows_come_back(tmp_path, written):
    rows = trec.read_learning_to_rank(written(ROWS))
    assert rows.queries.tolist() == [10, 10, 9]
    assert rows.documents.tolist() == [0, 1, 0]  # one row is not named: all by their place
    assert rows.grades.tolist() == [2.0, 0.0, 1.0]
    assert rows.features.tolist() == np.float32([[0.5, 0, -1e-3], [0, 7, 0], [3, 0, 0]]).tolist()
    rows.grades[0] = 0.123456789
    trec.write_learning_to_rank(tmp_path / "again.txt", rows)
    again = trec.read_learning_to_rank(tmp_path / "again.txt")
    for name in ("queries", "documents", "grades", "features"):
        assert np.array_equal(getattr(rows, name), getattr(again, name))
    named = trec.read_learning_to_rank(written("1 qid:a 1:1 #docid = x\n0 qid:a #docid = y\n"))
    assert (named.queries.tolist(), named.documents.tolist()) == (["a", "a"], ["x", "y"])


@pytest.mark.parametrize(
    ("reader", "text", "reason"),
    [
        (trec.read_run, "", "the run is empty"),
        (trec.read_run, "q Q0 d 1 2\n", "line 1: 5 columns; a line is 'query Q0 document rank score tag'"),
        (trec.read_run, RUN + "q1 Q0 d2 3 1 a\n", "line 4: document 'd2' stands twice for query 'q1'"),
        (trec.read_run, "q Q0 d 1 nan t\n", "line 1: score 'nan' is not a finite number"),
        (trec.read_run, "q Q0 d first 1 t\n", "line 1: rank 'first' is not a finite number"),
        (trec.read_qrels, "", "there are no judgements"),
        (trec.read_qrels, "q d 1\n", "line 1: 3 columns; a line is 'query 0 document grade'"),
        (trec.read_qrels, "q 0 d 1_0\n", "line 1: grade '1_0' is not a finite number"),
        (trec.read_learning_to_rank, "1 qid:1 1:1_0\n", "line 1: feature '1:1_0' is not number:value"),
        (trec.read_qrels, "q 0 d good\n", "line 1: grade 'good' is not a finite number"),
        (trec.read_qrels, "q 0 d 1\nq 0 d 2\n", "line 2: document 'd' of query 'q' has grades 1 and 2"),
        (trec.read_learning_to_rank, "# nothing\n", "the file has no rows"),
        (trec.read_learning_to_rank, "1 1:2\n", "line 1: a line begins 'grade qid:query'"),
        (trec.read_learning_to_rank, "x qid:1 1:2\n", "line 1: grade 'x' is not a finite number"),
        (trec.read_learning_to_rank, "1 qid:1 1:2 price\n", "line 1: feature 'price' is not number:value"),
        (
            trec.read_learning_to_rank,
            "1 qid:1 2:2 1:1\n",
            "features must be numbered from 1 to 100000 at most",
        ),
        (trec.read_learning_to_rank, "1 qid:1 4e9:1\n", "features must be numbered from 1 to 100000 at most"),
        (trec.read_learning_to_rank, "1 qid:1 1:2:3 4\n", "line 1: feature '1:2:3' is not number:value"),
        (trec.read_learning_to_rank, "1 qid:1 1:inf\n", "line 1: feature '1:inf' is not finite"),
    ],
)
def test_broken_files_are_refused(written, reader, text, reason):
    with pytest.raises(InputError, match=reason):
        reader(written(text))


def test_missing_and_binary_files_are_refused(tmp_path, written):
    with pytest.raises(InputError, match="embedded null byte"):
        trec.read_run("a\0b")
    with pytest.raises(InputError, match="No such file"):
        trec.read_run(tmp_path / "none.run")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00q")
    with pytest.raises(InputError, match="binary: the file is not UTF-8: it has a byte 0xff; save it as UTF-8"):
        trec.read_qrels(tmp_path / "binary")
    with pytest.raises(InputError, match="Not a gzipped file"):
        trec.read_run(written(RUN, "plain.gz"))
    trec.write_run(tmp_path / "whole.gz", {"q": [f"d{i}" for i in range(50)]})
    (tmp_path / "cut.gz").write_bytes((tmp_path / "whole.gz").read_bytes()[:-20])
    with pytest.raises(InputError, match="ended before the end-of-stream"):
        trec.read_run(tmp_path / "cut.gz")


def test_what_the_forms_cannot_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match="has half a character"):
        trec.write_run(tmp_path / "a.run", {"q": ["\ud800"]})
    with pytest.raises(InputError, match="id 'two words' is empty or has spaces"):
        trec.write_run(tmp_path / "x", {"two words": ["d"]})
    for grade in (0.5, float("nan"), float("inf"), None, "good"):
        with pytest.raises(InputError, match=f"grade {grade!r} of document 'd' of query 'q': qrels hold whole grades"):
            trec.write_qrels(tmp_path / "x", {"q": {"d": grade}})
    with pytest.raises(InputError, match="a run is of rankings; this pool is for classification"):
        trec.write_run(tmp_path / "x", sondage.Pool(probabilities=[0.1]))


@pytest.mark.parametrize(("labels", "place"), [([1, 2], "labels"), ({"q": [1]}, "labels of query 'q'")])
def test_judgements_that_are_no_mapping_are_refused(labels, place, tmp_path):
    with pytest.raises(InputError, match=f"^{place} are a list; they must be a mapping, "):
        trec.write_qrels(tmp_path / "x", labels)
