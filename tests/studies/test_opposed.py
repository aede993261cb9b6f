"""Probabilities that speak against predictions are told of before any label."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit

from sondage import Classifier, Pool, Study, advise, compare, evaluate, read_pool, select
from sondage.errors import SondageWarning

OPPOSED = "the probabilities speak against the predictions of 'model': check that their columns"


def made(size=500, share=0.3):
    random = np.random.default_rng(2)
    p = expit(logit(share) + 2.0 * random.normal(size=size))
    return p, (random.random(size) < p).astype(int), random


@pytest.mark.parametrize("share", [0.5, 0.02])
def test_columns_in_another_order_are_told_of(share):
    p, labels, _ = made(share=share)
    pool = Pool(probabilities=1 - p, predictions=(p > 0.5).astype(int))
    with pytest.warns(SondageWarning, match=OPPOSED):
        evaluate(pool, "f1", labels, 50)
    with pytest.warns(SondageWarning, match=OPPOSED):
        advise(pool)


def test_rows_of_another_order_of_three_classes_are_told_of(tmp_path):
    random = np.random.default_rng(0)
    p = random.dirichlet(np.full(3, 0.3), 400)
    pool = Pool(
        probabilities=np.roll(p, 1, axis=1), predictions=np.array(list("abc"))[p.argmax(axis=1)], classes=list("abc")
    )
    with pytest.warns(SondageWarning, match=OPPOSED):
        Study.create(tmp_path / "study.db", pool, "macro_f", budget=30).close()


def test_each_model_is_told_of_by_its_name():
    p, labels, _ = made()
    predicted = (p > 0.5).astype(int)
    pool = Pool(models={"good": Classifier(p, predicted), "bad": Classifier(p, 1 - predicted)})
    for ask in (
        lambda: compare(pool, "good", "bad", "f1", labels=labels, budget=50),
        lambda: select(pool, "f1", labels=labels, budget=50),
    ):
        with pytest.warns(SondageWarning, match="against the predictions of") as told:
            ask()
        assert {str(one.message).split("'")[1] for one in told} == {"bad"}


def test_files_that_stay_where_they_are_are_told_of(tmp_path):
    p, _, _ = made()
    columns = {"id": np.arange(len(p)), "p_1": 1 - p, "prediction": (p > 0.5).astype(int)}
    pq.write_table(pa.table(columns), tmp_path / "pool.parquet")
    for lazy in (False, True):
        with pytest.warns(SondageWarning, match=OPPOSED):
            advise(read_pool(tmp_path / "pool.parquet", lazy=lazy))


@pytest.mark.parametrize("size", [30, 500])
def test_thresholds_chance_and_judges_are_not_told_of(size):
    p, labels, random = made(size)
    predicted = [p > threshold for threshold in (0.01, 0.5, 0.9)] + [random.random(size) < 0.5, np.ones(size)]
    pools = [Pool(probabilities=p, predictions=one.astype(int)) for one in predicted]
    pools.append(Pool(predictions=(p > 0.5).astype(int), judge=1 - p))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*speak against the predictions")
        for pool in pools:
            evaluate(pool, "error_rate", labels, 20)
