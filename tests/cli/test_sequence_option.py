"""``--sequence`` of the commands that answer."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from sondage import Classifier, Pool, Study
from sondage.cli import main


def run(*arguments):
    found = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def place(tmp_path, rng):
    def make(**question):
        p, options = rng.beta(0.5, 1.0, 200), {"budget": 40, "stages": 1} | question
        pool = Pool(models={"a": Classifier(p), "b": Classifier(np.clip(p + rng.normal(0, 0.3, 200), 0.01, 0.99))})
        study = Study.create(tmp_path / "study.db", pool, **options)
        ids = study.ask()
        study.tell(ids, (rng.random(len(ids)) < p[ids]).astype(int))
        study.close()
        return study.place

    return make


def test_estimate(place):
    study = place(measure=["error_rate", "f1"], model="a")
    lines = run("estimate", study, "--sequence", "--level", 0.9).splitlines()
    assert lines[-2].startswith("at any time: error rate between ")
    assert lines[-1].endswith("with 90 % confidence (betting)")
    assert "at any time" not in run("estimate", study)
    found = json.loads(run("estimate", study, "--sequence", "--json"))
    interval = Study.open(study).estimate()["f1"].sequence().last
    told = {"low": interval.low, "high": interval.high, "level": 0.95, "kind": "betting", "warnings": []}
    assert found["sequences"]["f1"] == told


def test_an_end_that_is_infinite_is_none(tmp_path):
    with Study.create(tmp_path / "study.db", Pool(means=np.arange(40.0)), ["rmse", "r2"], budget=20) as study:
        study.tell(study.ask(3), [1.0, 2.0, 4.0])
    lines = run("estimate", tmp_path / "study.db", "--sequence").splitlines()
    assert lines[-2] == "at any time: RMSE at least 0.00 with 95 % confidence (asymptotic)"
    assert lines[-1].startswith("at any time: R2 at most 1")


def test_compare(place):
    study = place(compare=("a", "b"))
    lines = run("compare", study, "--sequence").splitlines()
    assert "points with 95 % confidence" in lines[-2]
    assert lines[-1].startswith("at any time: e-value ")
    found = json.loads(run("compare", study, "--sequence", "--json"))
    assert found["evalue"]["pvalue"] == Study.open(study).estimate().evalue.pvalue


def test_notes_of_open_items(place):
    study = place(model="a")
    with Study.open(study) as opened:
        opened.tell([opened.history()[30]["id"]], [None], correct=True)
    end = "the sequence ends after 30 of 39 labels: the next item is skipped"
    assert f"note: {end}" in run("estimate", study, "--sequence")
    assert json.loads(run("estimate", study, "--sequence", "--json"))["sequence"]["warnings"] == [end]
