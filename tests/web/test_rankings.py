"""Queries with documents: each document to be judged gets a grade."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

import sondage
from sondage.core.measures import Task
from sondage.studies.claims import Claim
from sondage.studies.study import Study
from sondage.web.images import Nowhere
from sondage.web.labelling import Labelling

from .test_flow import fields


class Queries:
    """The side of a study of rankings that the page uses, with one query."""

    task, models, name = Task("ranking", grades=(0.0, 1.0, 2.0)), ("new", "old"), "queries.db"

    def __init__(self):
        self.told = []

    def claim(self, who):
        shown = {"site": "shop", "title": {"7": "Trial dig", "9": "<b>Saw</b>", "11": "not asked for"}}
        return [Claim("probe & co", shown, datetime.now(UTC))]

    def documents(self, ids):
        return [[7, 9] for _ in ids]

    def tell(self, ids, labels, **by):
        self.told.append((ids, labels, by))


def test_documents_that_are_asked_for_get_grades():
    study = Queries()
    page = Labelling(study, Nowhere())
    (claim,) = study.claim("anna")
    card = page._card(claim, "anna", False)
    assert card.shown.facts == [("query", "probe & co"), ("site", "shop")]
    assert {row.name: row.shown.texts for row in card.rows} == {
        "7": [("title", "Trial dig")],
        "9": [("title", "<b>Saw</b>")],
    }
    assert [(choice.value, choice.key) for choice in page.choices] == [("0", "0"), ("1", "1"), ("2", "2")]
    page.answer("anna", {"item": card.item, "request": card.request, "row:7": "2", "row:9": "0"})
    assert study.told == [(["probe & co"], [{"7": 2.0, "9": 0.0}], {"who": "anna", "request": card.request})]


@pytest.mark.skipif(not hasattr(sondage, "Ranking"), reason="this release has no rankings")
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
        wanted = sorted(set(re.findall(r'name="row:(\d+)"', text)))
        assert wanted == sorted(map(str, study.documents([fields(text)["item"]])[0]))
        graded = {f"row:{document}": "1" for document in wanted}
        assert page.post("/answer", data=fields(text) | graded).status_code == 303
        (row,) = study.history()
        assert row["label"] == dict.fromkeys(wanted, 1)
