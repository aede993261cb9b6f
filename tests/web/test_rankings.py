"""Queries with documents: each document to be judged gets a grade."""

import re

import numpy as np

import sondage
from sondage.studies.study import Study

from .test_flow import fields


def test_a_study_of_rankings(visit, tmp_path):
    random = np.random.default_rng(0)
    queries, documents = np.repeat([f"q{number}" for number in range(40)], 4), np.tile(np.arange(4), 40)
    ranks = {
        name: sondage.Ranking(ranks=np.concatenate([random.permutation(4) + 1 for _ in range(40)]))
        for name in ("a", "b")
    }
    pool = sondage.Pool(
        models=ranks,
        queries=queries,
        documents=documents,
        grades=random.dirichlet(np.ones(3), size=160),
        fields={"title": np.array([f"title {row}" for row in range(160)], dtype=object)},
    )
    with Study.create(tmp_path / "queries.db", pool, "dcg@3", budget=10, compare=("a", "b")) as study:
        page = visit(of=study)
        text = page.get("/").text
        assert "How good is each document?" in text
        assert f">{fields(text)['item']}<" in text
        wanted = sorted(set(re.findall(r'name="row:(\d+)"', text)))
        assert wanted == sorted(map(str, study.documents([fields(text)["item"]])[0]))
        assert len(re.findall("title \\d+", text)) == len(wanted)
        assert len(wanted) > 1
        partly = page.post("/answer", data=fields(text) | {f"row:{wanted[0]}": "1"})
        assert partly.status_code == 422
        assert "must be judged" in partly.text
        graded = {f"row:{document}": "1" for document in wanted}
        assert page.post("/answer", data=fields(text) | graded).status_code == 303
        (row,) = study.history()
        assert row["label"] == dict.fromkeys(wanted, 1)
        page.post("/undo", data={"request": "r"})
        again = page.get("/?undone").text
        assert sorted(re.findall(r'name="row:(\d+)" value="1"[^>]* checked', again)) == wanted
