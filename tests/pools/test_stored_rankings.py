"""Rankings that stay in their files are asked for and judged as the same pool in memory."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import sondage
from sondage import Study, read_pool
from sondage.core.measures import parse_measure
from sondage.errors import InputError
from sondage.pools import duckdb as engine
from sondage.studies.judging import as_asked
from sondage.studies.method import Question

GRADES = ("p_0", "p_1", "p_2")
KINDS = {
    "all": ([], {}),
    "equal costs": (["cost", "weight"], {}),
    "no grade model": ([*GRADES, "weight"], {"classes": [0, 1, 2]}),
}
FILES = "no grade model *.parquet"


def long_table(n=150):
    """Return rows in no order: documents that one system, both or none return, gaps, sums of p a little off 1."""
    rng, rows = np.random.default_rng(5), []
    for query in range(n):
        size = rng.integers(1, 9)
        documents, old, new = rng.choice(500, size, replace=False), rng.permutation(size), rng.permutation(size)
        for at, p in enumerate(rng.dirichlet([1, 0.5, 0.5], size)):
            ranks = old[at] + 1.0 if old[at] < 5 else None, 3 * new[at] + 3 if new[at] < 4 else 0
            told = (p * (1 + 1e-4)).tolist()
            rows.append((f"q'{query}", f"ä{documents[at]}", *ranks, *told, 1 + rng.random(), 1.0 + query % 7, f"t{at}"))
    names = ["query", "document", "old.rank", "new.rank", *GRADES, "cost", "weight", "title"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=1)


def judge(queries):
    return [{f"ä{d}": (d * 7 + len(query) + int(query[2:])) % 3 for d in range(500)} for query in queries]


def both(path, **options):
    return read_pool(path, lazy=False, **options), read_pool(path, lazy=True, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of each kind, in parts, with rows in different orders."""
    folder, table = tmp_path_factory.mktemp("rankings"), long_table()
    for kind, (dropped, _) in KINDS.items():
        table.drop(columns=dropped).iloc[:400].to_parquet(folder / f"{kind} 1.parquet", row_group_size=100)
        table.drop(columns=dropped).iloc[400:].to_parquet(folder / f"{kind} 2.parquet")
    return folder


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(engine, "BATCH", 200)


def answered(ask, pool, *names, **options):
    """Return numbers of an answer, and the queries in the order in which they were asked for."""
    queries = []

    def labels(ids):
        queries.extend(ids)
        return judge(ids)

    found = ask(pool, *names, labels=labels, seed=2, **options)
    return queries, found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", ["dcg", "err@10", "ndcg@10", "dcg@2"])
def test_the_same_queries_and_the_same_answer(kind, measure, folder):
    options = {"measure": measure, "budget": 150 if kind != "equal costs" else 30}
    memory, stored = both(folder / f"{kind} *.parquet", **KINDS[kind][1])
    assert (len(stored), stored.models, stored.task) == (len(memory), memory.models, memory.task)
    expected, one = answered(sondage.evaluate, memory, model="old", **options)
    found, other = answered(sondage.evaluate, stored, model="old", **options)
    assert found == expected
    np.testing.assert_allclose([other.value, other.std_error], [one.value, one.std_error], rtol=1e-9)
    expected, two = answered(sondage.compare, memory, "old", "new", **options)
    found, same = answered(sondage.compare, stored, "old", "new", **options)
    assert found == expected
    np.testing.assert_allclose([same.difference, same.pvalue], [two.difference, two.pvalue], rtol=1e-8)


@pytest.mark.parametrize("options", [{"method": "thesis"}, {"method": "passive"}, {"design": "neyman"}])
def test_other_methods(options, folder):
    memory, stored = both(folder / "equal costs *.parquet")
    asked = [
        answered(sondage.evaluate, p, model="new", measure="dcg", budget=40, **options)[0] for p in (memory, stored)
    ]
    assert asked[0] == asked[1]


def test_order_and_type_of_ids_do_not_matter(tmp_path):
    table = long_table(120).drop(columns=["weight"])
    table["query"] = table["query"].str[2:].astype(int) * 3
    table["document"] = table["document"].str[1:].astype(int)
    labels = {query: dict.fromkeys(range(500), 1) | {7: 2, 9: 0} for query in range(450)}
    sessions = []
    for at, order in enumerate([table, table.sample(frac=1, random_state=8), table.sort_values("title")]):
        order.to_parquet(tmp_path / f"{at}.parquet")
        pool = read_pool(duckdb.read_parquet(str(tmp_path / f"{at}.parquet")), lazy=at > 0)
        found = sondage.compare(pool, "old", "new", measure="err@5", labels=labels, budget=90, seed=4)
        sessions.append((found.n_labels, round(found.difference, 9), pool.fingerprint if at else None))
    assert sessions[0][:2] == sessions[1][:2]
    assert sessions[1] == sessions[2]


def test_a_study_from_afar(folder, tmp_path):
    studies = []
    for lazy in (False, True):
        pool = read_pool(folder / FILES, lazy=lazy, classes=[0, 1, 2])
        study = Study.create(
            tmp_path / f"{lazy}.db", pool, measure="ndcg@3", compare=("old", "new"), budget=120, seed=1
        )
        ids = study.ask(5)
        study.tell(ids, judge(ids))
        fields = [{name: dict(sorted(value.items())) for name, value in row.items()} for row in study.fields(ids)]
        ids += (more := study.ask(100))
        study.tell(more, judge(more))
        studies.append((ids, fields, study.documents(ids), pool.fingerprint, study.estimate().n_labels))
        study.close()
        with Study.open(tmp_path / f"{lazy}.db", pool=read_pool(folder / FILES, lazy=lazy, classes=[0, 1, 2])) as study:
            study.extend(200)
            studies[-1] += (study.ask(100), len(study.documents(study.ask(100))))
    assert studies[0] == studies[1]
    assert set(studies[0][1][0]["title"]) >= set(studies[0][2][0])


def test_queries_that_are_looked_up(folder):
    question = Question("compare", ("old", "new"), (parse_measure("dcg@2"),))
    found = []
    for pool in both(folder / "all *.parquet"):
        asked = as_asked(pool, question)
        taken = asked.taken(asked.units_of(["q'7", "q'3", "q'110"], np.zeros(0, dtype=np.int64)))
        lists = [part.index() for part in taken.items.models]
        ranks = [part.positions[at].tolist() for part, (at, _) in zip(taken.items.models, lists, strict=True)]
        table = taken.items.models[0].documents
        of_documents = [column[lists[0][0]].tolist() for column in (table.names, table.costs, table.probabilities)]
        found.append((taken.ids, ranks, lists[0][1].tolist(), of_documents, taken.costs.tolist()))
    assert found[0] == found[1]


BAD = {
    "query": ["q1", "q1", "q2", "q2"],
    "document": ["a", "b", "a", "b"],
    "rank": [1.0, 2.0, 1.0, 2.0],
    "p_0": [0.5, 0.4, 0.3, 0.2],
    "p_1": [0.5, 0.6, 0.7, 0.8],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"p_1": [0.5, 0.9, 0.7, 0.8]},
            r"sum of p_0, p_1, ... must be 1 within 0.001; in 1 row it is not: 1.3 \(query q1, document b\)",
        ),
        (
            {"p_0": [0.5, np.nan, -1, 0.2]},
            r"p_0 must be in \[0, 1\]; in 2 rows it is not: .*\(query q1, document b\), -1.0 \(query q2",
        ),
        (
            {"rank": [1.0, 2.0, 1.0, 1.0]},
            r"rank must be different for different documents .*; in 1 row it is not: query q2, document b",
        ),
        (
            {"rank": [1.0, -2.0, np.inf, 1.0]},
            r"rank must be 1 or more, or missing; in 2 rows it is not: -2.0 \(query q1, document b\), inf",
        ),
        ({"rank": ["1", "2", "1", "2"]}, "column 'rank' must be numbers; it is text: cast it, or .* lazy=False"),
        (
            {"document": ["a", "a", "b", "b"]},
            "document must stand once in a query's list; in 2 rows it is not: query q1, document a; query q2",
        ),
        ({"document": ["a", None, "a", "b"]}, r"document must be given; in 1 row it is not: None \(query q1"),
        ({"query": ["q1", None, "q2", "q2"]}, "query must be given; in 1 row it is not"),
        ({"query": [1.5, 2.5, 3.5, 4.5]}, "column 'query' must be whole numbers or text"),
        ({"cost": [1.0, 0.0, 1.0, 1.0]}, r"cost must be positive and finite; in 1 row it is not: 0.0 \(query q1, d"),
        ({"weight": [1.0, 2.0, 1.0, 1.0]}, "weight must be the same in all rows of a query; in 1 row .* document b"),
    ],
)
def test_bad_rows_are_told(change, message, tmp_path):
    pd.DataFrame(BAD | change).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(InputError, match=message) as caught:
        sondage.evaluate(read_pool(tmp_path / "pool.parquet", lazy=True), measure="dcg", labels=judge, budget=2)
    assert str(caught.value).startswith(f"{tmp_path / 'pool.parquet'}: ")
    if not message.startswith("column"):
        with pytest.raises(InputError, match=message.split()[0]):
            read_pool(tmp_path / "pool.parquet", lazy=False)


def test_a_refusal_is_one_the_next_time_too(tmp_path):
    pd.DataFrame(BAD | {"rank": [1.0, 1.0, 1.0, 1.0]}).to_parquet(tmp_path / "pool.parquet")
    pool = read_pool(tmp_path / "pool.parquet", lazy=True)
    for _ in range(2):
        with pytest.raises(InputError, match=r"rank must be different .* in 2 rows"):
            _ = pool.fingerprint
    assert len(pool) == 2


def test_what_needs_memory_says_so(folder):
    pool = read_pool(folder / "equal costs *.parquet", lazy=True)
    with pytest.raises(InputError, match="give labels as a mapping or a function of queries"):
        sondage.evaluate(pool, measure="dcg", model="old", labels=np.zeros(10), budget=20)
    with pytest.raises(InputError, match="fields of rankings are those of documents"):
        sondage.evaluate(pool, measure="dcg", model="old", labels=judge, budget=20, slices="title")
    with pytest.raises(InputError, match="no column 'rank'"):
        read_pool(duckdb.sql("SELECT 1 AS query, 2 AS document"), lazy=True)
    assert pool.load().fingerprint == pool.fingerprint
