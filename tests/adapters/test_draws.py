"""What was drawn and with what probability, as a table."""

import csv
import json
import os

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from sondage import Classifier, Outcome, Pool, Ranking, Regressor, Study, estimate_from
from sondage.adapters.draws import draws_table, write_draws
from sondage.cli.main import main
from sondage.errors import InputError

N = 400
P = np.random.default_rng(1).beta(0.5, 0.5, N)
TRUTH = (np.random.default_rng(2).random(N) < P) * 1


def made(folder, pool=None, **options):
    return Study.create(folder / "study.db", pool or Pool(probabilities=P), budget=60, seed=2, **options)


def tell(study):
    ids = study.ask()
    study.tell(ids, [int(TRUTH[name]) for name in ids])


def test_the_table_is_enough_to_estimate(tmp_path):
    parts = {"stages": 1, "estimator": "hajek", "belief": "model"}
    with made(tmp_path, **parts) as study:
        tell(study)
        table = draws_table(study)
        estimate = study.estimate()
    pi, wrong = table["inclusion_probability"], table["prediction"] != TRUTH[table["id"]]
    assert np.sum(wrong / pi) / np.sum(1 / pi) == pytest.approx(estimate.value)
    found = estimate_from("error_rate", predictions=table["prediction"], labels=TRUTH[table["id"]], inclusion=pi)
    assert found.value == pytest.approx(estimate.value)
    np.testing.assert_allclose(table["design_weight"] * pi, 1.0)
    np.testing.assert_allclose(table["weight"], 1 / N)
    np.testing.assert_array_equal(table["p_1"], P[table["id"]])


def test_weights_expand_to_the_pool_in_the_mean(tmp_path):
    totals = []
    for seed in range(60):
        with Study.create(tmp_path / f"{seed}.db", Pool(probabilities=P), budget=80, seed=seed, stages=1) as study:
            table = draws_table(study, everything=True)
        totals.append(np.sum(table["weight"] * table["design_weight"] * table["p_1"]))
    assert abs(np.mean(totals) - P.mean()) < 4 * np.std(totals) / np.sqrt(60)


def test_with_replacement(tmp_path):
    with made(tmp_path, method="thesis") as study:
        tell(study)
        table = draws_table(study)
        value = study.estimate().value
    assert "inclusion_probability" not in table
    assert np.all(table["draw_probability"] > 0)
    wrong = table["prediction"] != TRUTH[table["id"]]
    mean = np.sum(table["design_weight"] * wrong) / np.sum(table["design_weight"])
    assert mean == pytest.approx(value)


def test_what_is_next_has_a_probability_too(tmp_path):
    with made(tmp_path) as study:
        with pytest.raises(InputError, match="nothing was asked for yet"):
            draws_table(study)
        study.ask(5)
        assert len(draws_table(study)["id"]) == 5
        table = draws_table(study, everything=True)
        tell(study)
        assert table["id"].tolist() == study.snapshot().ids[: len(table["id"])]
        later = draws_table(study)
    assert set(later["stage"].tolist()) == set(range(len(study.snapshot().stages)))
    assert np.all((later["inclusion_probability"] > 0) & (later["inclusion_probability"] <= 1))


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_files_hold_the_table(end, tmp_path):
    names = [f"=i'{n}\"" for n in range(N)]
    models = {"a": Classifier(P), 'b "x"': Classifier(predictions=TRUTH)}
    with made(tmp_path, Pool(models=models, ids=names), compare=("a", 'b "x"')) as study:
        study.ask(20)
        table = draws_table(study)
    path = tmp_path / f"drawn'.{end}"
    done = CliRunner().invoke(main, ["export", str(tmp_path / "study.db"), "--draws", "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    if end == "csv":
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [float(row["inclusion_probability"]) for row in rows] == table["inclusion_probability"].tolist()
        assert list(rows[0]) == list(table)
        return
    found = duckdb.read_parquet(str(path).replace("'", "[']")).fetchnumpy()
    assert list(found) == list(table)
    for name, column in table.items():
        assert np.asarray(found[name]).tolist() == column.tolist()


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_outcomes(end, tmp_path):
    three = np.random.default_rng(3).dirichlet([1, 1, 1], N)
    pool = Pool(models={"a": Outcome(P), "b": Outcome(three, [0, 1 / 3, 1])})
    path = tmp_path / f"drawn.{end}"
    with made(tmp_path, pool, compare=("a", "b"), measure="mean_outcome") as study:
        study.ask()
        table = draws_table(study)
        write_draws(study, path)
    assert list(table)[-4:] == ["a.judge", "b.judge.p_0", f"b.judge.p_{1 / 3}", "b.judge.p_1"]
    np.testing.assert_array_equal(table["a.judge"], P[table["id"]])
    found = duckdb.sql(f"SELECT * FROM '{path}'").fetchnumpy()
    for name, column in table.items():
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_rankings(end, tmp_path):
    rng = np.random.default_rng(4)
    lists = {name: [rng.permutation(8)[:5].tolist() for _ in range(90)] for name in "ab"}
    models = {name: Ranking(documents=own) for name, own in lists.items()}
    pool = Pool(models=models, classes=[0, 1, 2], ids=[f"q'{n}" for n in range(90)])
    path, totals = tmp_path / f"drawn.{end}", []
    for seed in range(25):
        with Study.create(tmp_path / f"{seed}.db", pool, "dcg@3", compare=("a", "b"), budget=20, seed=seed) as study:
            table = draws_table(study, everything=True)
            write_draws(study, path, everything=True)
        totals.append(np.sum(table["weight"] * table["design_weight"]))
    assert list(table)[:3] == ["query", "stage", "position"]
    assert abs(np.mean(totals) - 1.0) < 4 * np.std(totals) / np.sqrt(25)
    found = duckdb.sql(f"SELECT * FROM '{path}'").fetchnumpy()
    assert found["query"].tolist() == table["query"].tolist()
    np.testing.assert_array_equal(found["inclusion_probability"], table["inclusion_probability"])


def test_regression_and_groups_and_refusals(tmp_path):
    pool = Pool(models={"m": Regressor(P, P), "n": Regressor(1 - P)})
    with Study.create(tmp_path / "r.db", pool, measure="mse", compare=("m", "n"), budget=20) as study:
        assert {"m.prediction", "m.variance", "n.prediction"} < set(draws_table(study, everything=True))
    groups = Pool(probabilities=P, groups=np.arange(N) // 4)
    with Study.create(tmp_path / "g.db", groups, budget=20) as study:
        table = draws_table(study, everything=True)
        assert "p_1" not in table
        np.testing.assert_allclose(table["weight"], 4 / N)
        with pytest.raises(InputError, match="cannot be written"):
            write_draws(study, tmp_path / "absent" / "drawn.parquet", everything=True)
    done = CliRunner().invoke(main, ["export", str(tmp_path / "g.db"), "--draws", "--people"])
    assert done.exit_code == 1
    assert "--draws goes with -o, --format and --all only" in done.output


def test_the_name_or_the_format_decides(tmp_path):
    with made(tmp_path) as study:
        study.ask(3)
        table = draws_table(study)

    def written(name, *options):
        arguments = ["export", str(tmp_path / "study.db"), "--draws", "-o", str(tmp_path / name), *options]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == (name == "drawn.json"), done.output
        return done.output if done.exit_code else (tmp_path / name).read_text().splitlines()

    assert written("drawn.tsv")[0] == "\t".join(table)
    assert written("drawn.csv") == written("drawn.parquet", "--format", "csv") == written("drawn.txt")
    assert [json.loads(line)["id"] for line in written("drawn.jsonl")] == table["id"].tolist()
    assert written("other.csv", "--format", "jsonl") == written("drawn.jsonl", "--force")
    assert "is not for Label Studio (.json); allowed are .csv, .tsv, .jsonl, .ndjson, .parquet" in written("drawn.json")


@pytest.mark.parametrize("first", [2**63 - 20, 2**63, 2**64 - 20])
def test_ids_of_any_size_come_back(first, tmp_path):
    ids = [first + n for n in range(40)]
    with made(tmp_path, Pool(probabilities=P[:40], ids=ids, costs=[2.0] * 40)) as study:
        found = draws_table(study, everything=True)["id"].tolist()
        write_draws(study, tmp_path / "drawn.parquet", everything=True)
    assert {int(name) for name in found} <= set(ids)
    rows = duckdb.sql(f"SELECT id FROM '{tmp_path / 'drawn.parquet'}'").fetchall()
    assert [name for (name,) in rows] == found
