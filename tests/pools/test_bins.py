"""Bins of a stored pool's values are those of the pool in memory, however often cells are split."""

import numpy as np
import pandas as pd
import pytest

from sondage import read_pool
from sondage.core.measures import curves
from sondage.errors import MeasureError
from sondage.pools import bins

from .engines import N, asked, frames, ids

MEASURES = [
    ("two classes", "auc"),
    ("two classes", "ece"),
    ("four classes", "average_precision:positive=b"),
    ("four classes", "ece:bins=4"),
    ("two models", "auc:positive=c"),
    ("two models", "ece"),
    ("weights and costs", "ece:bins=20"),
    ("weights and costs", "average_precision"),
    ("many", "ece:bins=5,spacing=width"),
    ("sure and unsure", "auc"),
    ("sure and unsure", "ece"),
    ("few scores", "auc"),
    ("other predictions", "ece"),
    ("sums", "auc:positive=b"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("pools"), np.random.default_rng(4)
    p = 10.0 ** -rng.uniform(0.0, 200.0, N)
    p[::5] = 1.0 - p[::5]
    four = frames()["four classes"]
    sums = four.copy()
    sums[[f"p_{name}" for name in "abcd"]] *= 1.0 + rng.uniform(0.0, 9e-4, (N, 1))
    more = {
        "sure and unsure": {"id": ids(), "p_1": p},
        "few scores": {"id": ids(), "p_1": np.round(frames()["two classes"]["p_1"], 2)},
        "other predictions": dict(four) | {"prediction": rng.choice(list("abcd"), N)},
        "sums": dict(sums),
    }
    for name, columns in (frames() | more).items():
        pd.DataFrame(columns).sample(frac=1, random_state=1).to_parquet(folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(("most", "cells"), [(65_536, 1 << 20), (37, 300)])
@pytest.mark.parametrize(("name", "measure"), MEASURES)
def test_the_same_bins_and_items(name, measure, most, cells, files, monkeypatch):
    monkeypatch.setattr(bins, "MOST_CELLS", cells)
    monkeypatch.setattr(curves, "MOST_BINS", most)
    path = files / f"{name}.parquet"
    (expected, in_memory), (found, stored) = (asked(read_pool(path, lazy=lazy), measure) for lazy in (False, True))
    for one, other in zip(in_memory.question.measures[0].edges, stored.question.measures[0].edges, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-15 if name == "sums" else 0.0)
    assert found == expected


def test_a_query_for_each_level(files, monkeypatch):
    heard = []
    pool = read_pool(files / "two classes.parquet", lazy=True, progress=lambda step, share: heard.append((step, share)))
    monkeypatch.setattr(bins, "MOST_CELLS", 300)
    asked(pool, "ece", stages=1)
    assert heard.count(("bins", 1.0)) == 2


def test_without_probabilities_there_are_no_bins(files):
    with pytest.raises(MeasureError, match="the model has predictions only"):
        asked(read_pool(files / "hard.parquet", lazy=True), "ece")


def test_a_constant_score_is_refused(tmp_path):
    pd.DataFrame({"id": ids(), "p_1": 0.3}).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(MeasureError, match=r"all scores are 0\.3"):
        asked(read_pool(tmp_path / "pool.parquet", lazy=True), "auc")
