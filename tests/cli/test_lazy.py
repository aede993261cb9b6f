"""The commands on a pool that stays in its files."""

import csv
import os
import re

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sondage import Study, read_pool
from sondage.cli import main
from sondage.errors import InputError
from sondage.pools.duckdb import DuckDB

N = 500


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    p = np.random.default_rng(5).beta(0.5, 1.5, N)
    columns = {"id": [f"=i {n}" for n in range(N)], "p_spam": p, "text": [f"text {n}" for n in range(N)]}
    pd.DataFrame(columns | {"region": np.where(np.arange(N) % 3, "a", "b")}).to_parquet("pool.parquet")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def planned(kind, *more):
    run("plan", "pool.parquet", f"{kind}.db", "--measure", "f1", "--budget", 60, f"--{kind}", "--seed", 2, *more)
    return f"{kind}.db"


def labelled(study):
    """Ask for a batch, fill it in, import it; return its rows."""
    run("ask", study, 20, "-o", "batch.csv", "--force")
    with open("batch.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = "spam" if int(row["id"].split()[1]) % 3 == 0 else "not spam"
    with open("batch.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    run("import", study, "batch.csv")
    return rows


def test_from_the_plan_to_the_report(folder):
    batches, answers = [], []
    for kind, more in (("lazy", ["--memory", "200MB"]), ("in-memory", [])):
        study = planned(kind, *more)
        batches.append([labelled(study) for _ in range(4)])
        answers.append(run("estimate", study))
        run("report", study, "--html", f"{kind}.html")
        run("export", study, "--draws", "-o", f"{kind}.parquet")
    assert batches[0] == batches[1]
    assert answers[0] == answers[1]
    rows = [row for batch in batches[0] for row in batch]
    assert [row["text"].split()[1] for row in rows] == [row["id"].split()[1] for row in rows]
    assert "region" in (folder / "lazy.html").read_text(encoding="utf-8")
    one, other = (duckdb.sql(f"SELECT * FROM '{kind}.parquet'").fetchnumpy() for kind in ("lazy", "in-memory"))
    assert one["id"].tolist() == other["id"].tolist()
    np.testing.assert_allclose(one["inclusion_probability"], other["inclusion_probability"], rtol=1e-9)


def test_advice():
    lazy, memory = (run("advise", "pool.parquet", "--measure", "ece", f"--{kind}") for kind in ("lazy", "in-memory"))
    assert "Expected:" in lazy
    assert len(lazy.splitlines()) == len(memory.splitlines())


def interrupted(monkeypatch, number):
    """Let Ctrl-C come in a query, as DuckDB tells it."""
    whole, queries = DuckDB._run, []

    def stopped(self, text, tables):
        queries.append(text)
        if len(queries) == number:
            raise RuntimeError("Query interrupted")
        return whole(self, text, tables)

    monkeypatch.setattr(DuckDB, "_run", stopped)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_plan_that_is_interrupted_leaves_nothing(number, monkeypatch):
    before = os.listdir()
    with monkeypatch.context() as patch:
        interrupted(patch, number)
        assert (
            run("plan", "pool.parquet", "s.db", "--measure", "auc", "--budget", 60, "--lazy", code=130) == "Aborted!\n"
        )
    assert os.listdir() == before
    run("plan", "pool.parquet", "s.db", "--measure", "auc", "--budget", 60, "--lazy")


def test_a_request_that_is_interrupted_changes_nothing(monkeypatch):
    study = planned("lazy")
    labelled(study)
    with Study.open(study) as opened:
        before = opened.status
    with monkeypatch.context() as patch:
        interrupted(patch, 2)
        assert run("ask", study, 20, "-o", "next.csv", code=130) == "Aborted!\n"
    assert not os.path.exists("next.csv")
    with Study.open(study) as opened:
        assert opened.status == before
    other = planned("in-memory")
    labelled(other)
    assert labelled(study) == labelled(other)


@pytest.mark.slow
def test_a_thousand_classes():
    p = np.random.default_rng(6).dirichlet([0.02] * 1000, 300).astype(np.float32)
    pd.DataFrame({"id": np.arange(300)} | {f"p_c{at}": p[:, at] for at in range(1000)}).to_parquet("many.parquet")
    said = run("plan", "many.parquet", "many.db", "--measure", "accuracy", "--budget", 30, "--lazy")
    assert "Pool: 300 items, 1 model, classification, 1,000 classes ['c0', 'c1', 'c2'] ...; budget 30" in said
    with Study.open("many.db") as study:
        found = study.ask()
    with Study.create("memory.db", read_pool("many.parquet", lazy=False), "accuracy", budget=30) as study:
        assert study.ask() == found


def test_memory_that_is_no_size_is_refused():
    for text in ("foo", "\udcff"):  # the second is a byte that is no UTF-8
        said = run("advise", "pool.parquet", "--lazy", "--memory", text, code=2)
        assert f"Invalid value for '--memory': {text!r} is not a number with a unit, such as 500MB or 2GB" in said
    with pytest.raises(InputError, match=r"pool.parquet: settings=\{'thredas': 1\}: .* not recognized: thredas"):
        read_pool("pool.parquet", lazy=True, settings={"thredas": 1})


def test_too_little_memory_blames_the_option():
    said = run("plan", "pool.parquet", "s.db", "--measure", "f1", "--budget", 60, "--lazy", "--memory", "1KB", code=1)
    rule = r"need more memory than they may have \([^()]* used\); allow more: --memory 2GB"
    assert re.fullmatch(rf"Error: pool\.parquet: its rows {rule}\n", said)
    assert not os.path.exists("s.db")
    with pytest.raises(InputError, match=r"allow more: settings=\{'memory_limit': '2GB'\}$"):
        read_pool("pool.parquet", lazy=True, settings={"memory_limit": "1KB"})
