"""Grades on long scales: more of them than a byte counts, and so high that nobody reads on."""

import numpy as np
import pytest

import sondage
from sondage import Pool, Ranking, Study


def linear_pool(grades, queries=6):
    documents = [["x", "y", "z"]] * queries
    return Pool(models={"a": Ranking(documents)}, ids=range(queries), classes=grades)


def test_more_grades_than_a_byte_counts(tmp_path):
    grades = np.arange(150) / 20
    labels = {query: {"x": grades[149 - query], "y": grades[140], "z": grades[3]} for query in range(6)}
    gains = np.array([[labels[query][name] for name in "xyz"] for query in range(6)])
    truth = float(np.mean((2.0**gains - 1.0) @ (1.0 / np.log2(np.arange(2, 5)))))
    assert sondage.evaluate(linear_pool(grades), "dcg", labels=labels, budget=6).value == pytest.approx(
        truth, rel=1e-12
    )
    with Study.create(tmp_path / "study.db", linear_pool(grades), measure="dcg", budget=6) as study:
        ids = study.ask(6)
        study.tell(ids, [labels[query] for query in ids])
    with Study.open(tmp_path / "study.db") as study:
        assert study.estimate().value == pytest.approx(truth, rel=1e-12)


def test_supposed_codes_of_many_grades_are_codes():
    pool = linear_pool(np.arange(200) / 40)
    belief = sondage.core.beliefs.RankingBelief(200)
    codes = np.concatenate([codes for codes, _ in belief.supposed(pool.items, (0,))])
    assert codes.min() >= 0
    assert 190 < codes.max() < 200


@pytest.mark.parametrize("grade", [53, 54, 100])
def test_a_grade_at_which_everybody_stops(grade):
    queries = range(4)
    told = {query: {"x": [0, 1], "y": [0.5, 0.5], "z": [0.2, 0.8]} for query in queries}
    models = {"a": Ranking([["x", "y", "z"]] * 4), "b": Ranking([["z", "y", "x"]] * 4)}
    pool = Pool(models=models, classes=[0, grade], ids=queries, grades=told)
    labels = {query: {"x": grade, "y": 0, "z": 0} for query in queries}
    found = sondage.compare(pool, "a", "b", "err", labels=labels, budget=4)
    assert found.difference == pytest.approx(1.0 - 1.0 / 3.0)
    half = sondage.compare(pool, "a", "b", "err", labels=labels, budget=2)
    assert half.difference == pytest.approx(1.0 - 1.0 / 3.0, abs=0.2)
    assert half.std_error > 0


def test_only_a_query_without_documents_is_labelled():
    for seed in range(6):
        pool = Pool(models={"a": Ranking([["a"], []])}, classes=[0, 1], ids=[0, 1])
        labels = {0: {"a": 1}, 1: {}}
        found = sondage.evaluate(pool, "ndcg", labels=labels, budget=1, seed=seed, method="passive")
        assert found.n_labels == 1
