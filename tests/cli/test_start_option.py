"""``sondage plan --start``: labels that there are already, from a file to the answer."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from sondage import evaluate, read_pool
from sondage.cli import main

SIZE = 400


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words, status=0):
    found = CliRunner().invoke(main, list(words))
    assert found.exit_code == status, found.output
    return found.output


def write(rows, name):
    with Path(name).open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def messages(order=None):
    """Write a pool of messages; return their ids and labels, and rows of 60 that were drawn at random."""
    random = np.random.default_rng(3)
    p = np.round(random.beta(0.5, 1.0, SIZE), 3)
    labels = np.where(random.random(SIZE) < p, "spam", "ham").tolist()
    write([("id", "p_spam", "p_ham"), *zip(range(SIZE), p, 1 - p, strict=True)], "pool.csv")
    rows = sorted(random.choice(SIZE, 60, replace=False).tolist()) if order is None else np.argsort(order(p))[:60]
    return labels, rows


def test_labels_of_a_file_are_the_whole_study_or_its_beginning():
    labels, rows = messages()
    write([("text", "id", "label"), *(("", row, labels[row] if row in rows else "") for row in range(SIZE))], "had.csv")
    said = run("plan", "pool.csv", "study.db", "--measure", "f1", "--positive", "spam", "--start", "had.csv")
    assert "from 60 of 400 items" in said
    assert "60 labels were there already.\nAll is labelled. Next: sondage estimate study.db" in said
    found = json.loads(run("estimate", "study.db", "--json"))
    start = {row: labels[row] for row in rows}
    alone = evaluate(read_pool("pool.csv"), "f1", start=start, positive="spam")
    assert found["value"] == pytest.approx(alone.value, rel=1e-12)
    chosen = run("report", "study.db")
    assert (
        "60 labels from 400 items came first: of items that were drawn with equal chances, and labelled before"
        in chosen
    )
    assert "had a higher chance" not in chosen
    said = run("plan", "pool.csv", "more.db", "--start", "had.csv", "--budget", "80")
    assert "20 to go. Next: sondage ask more.db N" in said
    run("ask", "more.db", "20", "-o", "batch.csv")
    with Path("batch.csv").open() as file:
        asked = [row["id"] for row in csv.DictReader(file)]
    assert not {*map(int, asked)} & {*rows}
    write([("id", "label"), *((name, labels[int(name)]) for name in asked)], "batch.csv")
    run("import", "more.db", "batch.csv")
    chosen = run("report", "more.db", "--html", "page.html") + run("report", "more.db")
    assert "20 labels from 400 items, drawn at random without replacement" in chosen
    assert "The later ones are chosen in stages, each planned from the labels so far." in chosen
    assert "start=labels,  # the 60 that there were already" in Path("page.html").read_text()


def test_outcomes_of_systems_from_parquet():
    random = np.random.default_rng(4)
    judge, right = random.random(SIZE), random.random((SIZE, 2)) < 0.7
    pool = {"id": [f"q{row}" for row in range(SIZE)], "bot.judge": judge, "cat.judge": 1 - judge}
    pq.write_table(pa.table(pool), "pool.parquet")
    told = {
        f"{name}.label": [int(x) if row % 4 == 0 else None for row, x in enumerate(right[:, place])]
        for place, name in enumerate(("bot", "cat"))
    }
    pq.write_table(pa.table({"id": pool["id"]} | told), "had.parquet")
    said = run(
        "plan", "pool.parquet", "a.db", "--measure", "accuracy", "--compare", "bot,cat", "--start", "had.parquet"
    )
    assert "100 labels were there already." in said
    assert ", 100 labels)" in run("compare", "a.db")


def test_one_system_has_one_column_of_labels():
    random = np.random.default_rng(5)
    write([("id", "bot.judge"), *zip(range(SIZE), np.round(random.random(SIZE), 3), strict=True)], "pool.csv")
    rows = random.choice(SIZE, 40, replace=False).tolist()
    write([("id", "label"), *((row, row % 2) for row in rows)], "had.csv")
    run("plan", "pool.csv", "a.db", "--measure", "accuracy", "--start", "had.csv")
    assert "(40 labels)" in run("estimate", "a.db")


def test_labels_of_other_items_than_a_random_sample_are_warned_of():
    labels, rows = messages(order=np.negative)
    write([("id", "label"), *((row, labels[row]) for row in rows)], "spam.csv")
    note = "note: the items that were labelled before are not like the pool: "
    assert note in run("plan", "pool.csv", "study.db", "--start", "spam.csv")
    assert note in run("estimate", "study.db")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("id", "label"), ("x", "ham")], "had.csv: id 'x' is not in the pool"),
        ([("id", "label"), (3, "ham"), (3, "spam")], "had.csv: id '3' is labelled twice"),
        ([("id", "label"), ("", "ham")], "had.csv: row 0 has a label and no id"),
        ([("id", "label"), (3, "")], "--start has no labels: leave it out where there are none yet"),
        ([("id", "label"), (3, "eggs")], "had.csv: label 'eggs' of id 3 is not a class"),
        ([("name", "label"), (3, "ham")], "had.csv: no column 'id'; there are ['name', 'label']"),
        ([("id", "class"), (3, "ham")], "had.csv: no column 'label'; there are ['id', 'class']"),
    ],
)
def test_files_that_are_refused(rows, message):
    messages()
    write(rows, "had.csv")
    assert message in run("plan", "pool.csv", "study.db", "--start", "had.csv", status=1)
    assert not Path("study.db").exists()


def test_there_is_a_budget_or_a_start():
    messages()
    assert "Missing option '--budget'" in run("plan", "pool.csv", "study.db", status=2)
    write([("id", "label"), *((row, "ham") for row in range(30))], "had.csv")
    said = run("plan", "pool.csv", "study.db", "--start", "had.csv", "--budget", "20", status=1)
    assert "--budget 20 is less than the labels of --start take: 30, which count towards it" in said


def test_a_single_label_is_told_of_as_one():
    messages()
    write([("id", "label"), (3, "ham")], "had.csv")
    said = run("plan", "pool.csv", "study.db", "--start", "had.csv", "--budget", "20")
    assert "1 label was there already.\n19 to go." in said
    assert run("ask", "study.db", "1", "-o", "one.csv")
    with Path("one.csv").open(newline="") as file:
        (item,) = csv.DictReader(file)
    write([("id", "label"), (item["id"], "ham")], "batch.csv")
    assert "1 new of 1 label." in run("import", "study.db", "batch.csv")
