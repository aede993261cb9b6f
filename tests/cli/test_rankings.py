"""The command line on rankings: plan, advise, ask, import, export, compare, report."""

import csv
import json

import pytest
from click.testing import CliRunner

from sondage.cli import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def pool(tmp_path):
    """Write a pool of eight queries with three documents each."""
    rows = ["query,document,new.rank,old.rank,p_0,p_1,p_2,cost,title"]
    for q in range(8):
        for d, (new, old) in enumerate([(1, 3), (2, ""), (3, 1)]):
            rows.append(f"q{q},d{d},{new},{old},0.5,0.3,0.2,2,title {q} {d}")
    (tmp_path / "pool.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "pool.csv"


def filled(path, grade="1"):
    """Fill the labels of a batch in."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = grade if callable(grade) is False else grade(row)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_the_whole_way(pool):
    study, batch = pool.parent / "study.db", pool.parent / "batch.csv"
    planned = run("plan", pool, study, "--compare", "new,old", "--measure", "dcg@2", "--budget", 40)
    assert planned.exit_code == 0
    assert "compare dcg@2 of new and old" in planned.output
    asked = run("ask", study, 3, "-o", batch)
    assert asked.output.startswith("3 queries to label. Fill the labels in")
    rows = filled(batch, lambda row: "2" if row["document"] == "d2" else "0")
    assert list(rows[0]) == ["query", "document", "label", "title"]
    assert len(rows) == 9
    assert rows[0]["title"] == f"title {rows[0]['query'][1:]} {rows[0]['document'][1:]}"
    assert "3 new of 3 labels" in run("import", study, batch, "--who", "anna").output
    assert run("ask", study, "-o", batch, "--force").exit_code == 0
    filled(batch, lambda row: "2" if row["document"] == "d2" else "0")
    assert "All is labelled" in run("import", study, batch).output
    assert "'old' is better than 'new': the DCG@2 of 'new' minus that of 'old'" in run("compare", study).output
    exported = run("export", study).output.splitlines()
    assert exported[0] == "query,document,label,who,at"
    assert len(exported) == 1 + 3 * 6  # 40 pays six queries of 6
    assert json.loads(run("report", study, "--json").output)["question"]["measures"] == ["dcg@2"]


def test_a_budget_without_costs_counts_queries(pool):
    pool.write_text(pool.read_text().replace("cost", "length"))
    plan = ("plan", pool, pool.parent / "study.db", "--compare", "new,old", "--measure", "dcg@2", "--budget")
    assert "--budget 24 is above what the pool can take: 8 (queries)" in run(*plan, 24).output
    assert "--budget 2.5 counts queries and must be whole" in run(*plan, 2.5).output


def test_advice(pool):
    found = run("advise", pool, "--compare", "new,old", "--measure", "err", "--budget", 30)
    assert found.exit_code == 0
    assert "the ERR of 'new' minus that of 'old' is " in found.output


def test_incomplete_and_skipped_queries(pool):
    study, batch = pool.parent / "study.db", pool.parent / "batch.csv"
    assert (
        run("plan", pool, study, "--model", "new", "--measure", "err@1", "--measure", "ndcg", "--budget", 40).exit_code
        == 0
    )
    run("ask", study, 2, "-o", batch)
    first = filled(batch)[0]["query"]
    filled(batch, lambda row: "" if row["query"] == first and row["document"] == "d1" else "1")
    refused = run("import", study, batch)
    assert refused.exit_code == 1
    assert f"batch.csv: line 2: document 'd1' of query '{first}' has no grade: all 3 documents" in refused.output
    assert "nothing was imported" in refused.output
    imported = run("import", study, batch, "--partial")
    assert "1 new of 1 label." in imported.stdout
    assert imported.stderr == f"note: not all documents of query '{first}' have a grade: it is left out\n"
    filled(batch, lambda row: "" if row["query"] == first else "1")
    assert "1 new of 2 labels, 1 of them skips." in run("import", study, batch).output


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,label\nq0,1\n", "no column 'query'"),
        (
            "query,document,label\nq0,d0,1\nq0,d0,2\n",
            "labels.csv: line 2 and line 3: document 'd0' of query 'q0' has two labels, '1' and '2'; nothing was",
        ),
        ("query,document,label\n,d0,1\n", "line 2 has no query"),
        ("query,document,label\nq0,d0\n", "line 2 has more or fewer cells than the header"),
        ("query,document,label\nq99,d0,1\n", "line 2: id 'q99' was never asked for"),
    ],
)
def test_broken_label_files_are_refused(pool, text, reason):
    study, labels = pool.parent / "study.db", pool.parent / "labels.csv"
    run("plan", pool, study, "--model", "new", "--measure", "dcg", "--budget", 40)
    run("ask", study, 2)
    labels.write_text(text)
    found = run("import", study, labels)
    assert found.exit_code == 1
    assert reason in found.output
    assert found.output.count("\n") == 1


@pytest.mark.parametrize("partial", [(), ("--partial",)])
def test_grades_of_what_was_not_asked_for_are_refused(pool, partial):
    study, batch = pool.parent / "study.db", pool.parent / "batch.csv"
    run("plan", pool, study, "--model", "new", "--measure", "dcg@2", "--budget", 30)
    run("ask", study, 1, "-o", batch)
    filled(batch)
    whole, query = batch.read_text(), batch.read_text().splitlines()[1].split(",")[0]
    other = next(f"q{n}" for n in range(8) if f"q{n}" != query)
    for row, reason in (
        (f"{query},d9,1,", f"batch.csv: line 4: document 'd9' of query '{query}' was never asked for; nothing was"),
        (f"{query},d2,2,", f"batch.csv: line 4: document 'd2' of query '{query}' was never asked for; nothing was"),
        (f"{other},d0,1,\n{other},d1,,", f"batch.csv: line 4: id '{other}' was never asked for: without a probability"),
    ):
        batch.write_text(f"{whole}{row}\n")
        assert reason in run("import", study, batch, *partial).stderr
    batch.write_text(f"{whole}{query},d2,,\n{other},d0,,\n" if partial else whole)
    assert run("import", study, batch, *partial).exit_code == 0


def test_a_pool_that_stays_in_its_file(pool):
    pandas, stored = pytest.importorskip("pandas"), pool.parent / "pool.parquet"
    pandas.read_csv(pool).to_parquet(stored)
    batches = []
    for where in ("--lazy", "--in-memory"):
        study, batch = pool.parent / f"{where}.db", pool.parent / f"{where}.csv"
        planned = run("plan", stored, study, "--compare", "new,old", "--measure", "dcg@2", "--budget", 40, where)
        assert planned.exit_code == 0, planned.output
        assert run("ask", study, 3, "-o", batch).exit_code == 0
        batches.append(batch.read_text())
    assert batches[0] == batches[1]
    assert run("advise", stored, "--compare", "new,old", "--measure", "dcg@2", "--lazy").exit_code == 0


def test_judgements_that_differ_are_settled_in_python(pool):
    study, batch = pool.parent / "study.db", pool.parent / "batch.csv"
    plan = ("--compare", "new,old", "--measure", "dcg@2", "--budget", 40, "--raters", 2)
    run("plan", pool, study, *plan)
    for who, grade in (("anna", "1"), ("bert", "2")):
        run("ask", study, 1, "--who", who, "-o", batch, "--force")
        filled(batch, grade)
        run("import", study, batch, "--who", who)
    shown = run("disagreements", study).output
    assert "anna says d0: 1, d1: 1, d2: 1; bert says d0: 2, d1: 2, d2: 2; no majority" in shown
    assert "Next, in Python: study.resolve(ID, {document: grade, ...}, NAME)" in shown
