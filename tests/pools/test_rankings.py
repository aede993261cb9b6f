"""Pools of rankings: lists and long tables, costs, files, and what is refused."""

import warnings

import numpy as np
import pytest

import sondage
from sondage import Ranking
from sondage.core.measures import parse_measure
from sondage.errors import InputError, SondageWarning
from sondage.pools.long import layout_of_long
from sondage.studies.judging import as_asked
from sondage.studies.method import Question

NAN = float("nan")
LONG = {
    "queries": ["q2", "q1", "q1", "q2", "q1"],
    "documents": ["b", "z", "a", "c", "m"],
    "classes": [0, 1, 2],
    "costs": [1.0, 2.0, 4.0, 8.0, 16.0],
}
RANKS = {"old": Ranking(ranks=[1, 2, 1, 2, 0]), "new": Ranking(ranks=[np.nan, 7, np.nan, 1, 3])}


def long_pool(**changed):
    return sondage.Pool(**({"models": RANKS} | LONG | changed))


def positions(pool, model, query):
    """Return document -> position of one query."""
    ranks = pool.items.models[pool.model(model)]
    row = pool.ids.tolist().index(query)
    part = slice(*ranks.documents.offsets[row : row + 2])
    return dict(zip(ranks.documents.names[part].tolist(), ranks.positions[part].tolist(), strict=True))


def asked(pool, measure, *models):
    return as_asked(pool, Question("compare", models, (parse_measure(measure),)))


def test_long_table_and_lists_are_the_same_pool():
    lists = {"old": Ranking([["b", "c"], ["a", "z"]]), "new": Ranking([["c"], ["m", "z"]])}
    costs = {"q2": {"b": 1.0, "c": 8.0}, "q1": {"z": 2.0, "a": 4.0, "m": 16.0}}
    pool, other = long_pool(), sondage.Pool(models=lists, ids=["q2", "q1"], classes=[0, 1, 2], costs=costs)
    assert positions(pool, "new", "q1") == {"a": 0, "m": 1, "z": 2}
    assert pool.fingerprint == other.fingerprint
    assert pool.ids.tolist() == other.ids.tolist() == ["q2", "q1"]


def test_order_of_rows_does_not_matter():
    order = [4, 2, 0, 3, 1]
    moved = {name: [values[i] for i in order] for name, values in LONG.items() if name != "classes"}
    models = {name: Ranking(ranks=np.array(model.ranks)[order]) for name, model in RANKS.items()}
    assert long_pool(models=models, **moved).fingerprint == long_pool().fingerprint


def test_whole_numbers_are_the_same_documents_among_objects():
    numbers = {"queries": np.array([10, 9, 9, 10, 9]), "documents": np.array([100, 20, 3, 99, 1000])}
    pool = long_pool(**numbers)
    objects = long_pool(**{name: column.astype(object) for name, column in numbers.items()})
    assert objects.fingerprint == pool.fingerprint
    assert positions(objects, "new", 9) == positions(pool, "new", 9) == {3: 0, 20: 2, 1000: 1}


@pytest.mark.parametrize(
    ("measure", "models", "costs"),
    [
        ("dcg", ["old", "new"], [9.0, 22.0]),
        ("dcg@1", ["old", "new"], [9.0, 20.0]),
        ("dcg@1", ["old"], [1.0, 4.0]),
        ("err@1", ["new"], [8.0, 16.0]),
        ("ndcg@1", ["old"], [9.0, 22.0]),
    ],
)
def test_a_query_costs_what_must_be_judged_of_it(measure, models, costs):
    assert asked(long_pool(), measure, *models).items.costs.tolist() == costs


def test_one_cost_for_all_documents_and_a_query_without_documents():
    pool = sondage.Pool(models={"a": Ranking([["x", "y"], []])}, classes=[0, 1], costs=3.0)
    assert asked(pool, "dcg", "a").items.costs.tolist() == [6.0, 6.0]  # nothing to judge costs as the cheapest


def test_lists_of_many_queries_are_read_once():
    lists = [[f"d{query}", f"d{query + 1}"] for query in range(20_000)]
    pool = sondage.Pool(models={"a": Ranking(lists)}, classes=[0, 1])  # once each had looked through all names: minutes
    assert repr(pool) == "<Pool: 20,000 items, 1 model, ranking of 40,000 documents>"


def test_files_and_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        "query": LONG["queries"],
        "document": LONG["documents"],
        "old.rank": [1, 2, 1, 2, None],
        "new.rank": [None, 7, None, 1, 3],
        "p_2": [0.1] * 5,
        "p_0": [0.6] * 5,
        "p_1": [0.3] * 5,
        "cost": LONG["costs"],
        "weight": [2.0, 1.0, 1.0, 2.0, 1.0],
        "title": list("abcde"),
    })  # fmt: skip
    frame.to_csv(tmp_path / "pool.csv", index=False)
    frame.to_parquet(tmp_path / "pool.parquet")
    wanted = long_pool(grades=np.tile([0.6, 0.3, 0.1], (5, 1)), weights=[2.0, 1.0], classes=None)
    for source in (tmp_path / "pool.csv", tmp_path / "pool.parquet", frame):
        pool = sondage.read_pool(source)
        assert pool.fingerprint == wanted.fingerprint
        assert pool.fields["title"][0] == {"b": "a", "c": "d"}
        assert pool.task.grades == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"documents": None}, "a long table needs both queries= and documents="),
        ({"ids": ["q1"]}, "the ids of a ranking pool are its queries"),
        ({"classes": None}, r"without a grade model, name the grades: classes=\[0, 1, 2\]"),
        ({"classes": [2, 1]}, "must be two or more grades in ascending order"),
        ({"classes": ["low", "high"]}, "grades are numbers"),
        ({"classes": [0, np.inf]}, r"classes=\[0.0, inf\]: the grade inf must be finite, at most 1e\+35 either way"),
        ({"classes": [-1e300, 0]}, "the grade -1e\\+300 must be finite, at most 1e\\+35 either way"),
        ({"documents": ["b", "a", "a", "c", "m"]}, r"row 2 \(query q1, document a\) stands twice"),
        ({"documents": [None, "z", "a", "c", "m"]}, r"document of row 0 \(query q2\) is None; every row needs one"),
        ({"documents": ["b", "z", "a", "c", NAN]}, r"document of row 4 \(query q1\) is nan; every row needs one"),
        ({"documents": np.array([1, 2, NAN, 4, 5])}, r"document of row 2 \(query q1\) is nan; every row needs one"),
        ({"queries": ["q2", NAN, "q1", "q2", "q1"]}, "query of row 1 is nan; every row needs one"),
        ({"models": {"a": Ranking(ranks=[1, 1, 1, 2, 3])}}, "rank of 'a' of row 2 .* is 1, as that of another"),
        ({"models": {"a": Ranking(ranks=[1, -1, 1, 2, 3])}}, "is -1; it must be 1 or more, or missing"),
        ({"models": {"a": Ranking(ranks=["1", "x", "1", "2", "3"])}}, "of row 1 .* is 'x'; it must be"),
        ({"models": {"a": Ranking(ranks=[1, 2])}}, "ranks of 'a' has 2 rows; it must have 5"),
        ({"models": {"a": Ranking([["b"]])}}, r"give Ranking\(ranks=...\), one for each row"),
        ({"models": {"a": Ranking(), "b": sondage.Outcome()}}, "models must all be Ranking; 'b' is a Outcome"),
        ({"costs": [1.0, 2.0, 0.0, 1.0, 1.0]}, r"cost of row 2 \(query q1, document a\) is 0.0; it must be positive"),
        ({"grades": [[0.5, 0.5]] * 5}, "there are 3 grades .* but 2 columns"),
        ({"grades": [[0.5, 0.2, 0.2]] * 5}, r"grades of row 0 \(query q2, document b\) sum to 0.9"),
        ({"grades": [[0.5, 0.3, 0.2]] * 4}, "grades have 4 rows; the table has 5"),
        ({"judge": [0.5, 0.5]}, "judge= does not go with rankings"),
        ({"weights": [1.0] * 5}, "weight has 5 rows; it must have 2"),
    ],
)  # fmt: skip
def test_broken_tables_are_refused(changed, reason):
    with pytest.raises(InputError, match=reason):
        long_pool(**changed)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"models": {"a": Ranking([["x", "x"]])}}, "model 'a' returns document 'x' twice for query 0"),
        (
            {"models": {"a": Ranking([[["x"]]])}},
            r"model 'a' returns \['x'\] for query 0; documents are texts or numbers",
        ),
        ({"models": {"a": Ranking([["x", None]])}}, "model 'a' returns None for query 0; documents are texts or num"),
        ({"models": {"a": Ranking([["x", NAN]])}}, "model 'a' returns nan for query 0; documents are texts or num"),
        ({"models": {"a": Ranking([np.array([1, NAN])])}}, "model 'a' returns nan for query 0; documents are texts"),
        ({"grades": {0: {"x": [0.5, 0.5], None: [1, 0]}}}, "grades has None for query 0; documents are texts or num"),
        ({"models": {"a": Ranking([["x"], ["y"]])}, "ids": ["q", NAN]}, "the id of row 1 is nan; every row needs one"),
        ({"models": {"a": Ranking(["xy"])}}, "a query's list of 'a' is 'xy'; it must be a list"),
        ({"models": {"a": Ranking([["x"]]), "b": Ranking([])}}, "lists for different numbers of queries"),
        ({"models": {"a": Ranking()}}, "model 'a': give"),
        ({"models": {"a": Ranking([])}}, "the pool is empty"),
        ({"ids": ["q", "r"]}, "there are 2 ids; the models have lists for 1 queries"),
        ({"fields": {"text": 5}}, "field 'text' is of the type int; it must be a list or an array"),
        ({"classes": [0, 10**400]}, "grades are numbers; classes="),
        ({"ids": 5}, "ids is of the type int; it must be a list or an array"),
        ({"ids": [{}]}, "the id of row 0 is {}; it must be a text or a number"),
        ({"grades": 0.5}, "with lists, grades= is a mapping"),
        ({"costs": [[1], [1, 2]]}, "with lists, costs= is a mapping"),
        ({"grades": {0: {}}}, "grades has nothing for document 'x' of query 0"),
        ({"grades": [[0.5, 0.5]]}, "with lists, grades= is a mapping"),
    ],
)
def test_broken_lists_are_refused(options, reason):
    with pytest.raises(InputError, match=reason):
        sondage.Pool(**({"models": {"a": Ranking([["x"]])}, "classes": [0, 1]} | options))


def test_arguments_of_rankings_are_for_rankings():
    with pytest.raises(InputError, match="queries= is for rankings"):
        sondage.Pool(probabilities=[0.1, 0.2], queries=["a", "b"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("query,document,rank\n", "the pool is empty"),
        ("query,document,p_0\nq,d,1\n", "no column 'rank' or '<model>.rank'"),
        ("query,document,rank,b.rank\nq,d,1,1\n", "all systems need a name, as in 'a.rank'"),
        ("query,document,rank,p_0,p_1\nq,d,first,0.5,0.5\n", r"rank of row 0 \(query q, document d\) is 'first'"),
        ("query,document,rank,p_0,p_high\nq,d,1,0.5,0.5\n", "the grade 'high' must be a number"),
        ("query,document,rank,p_0,p_1,weight\nq,d,1,0.5,0.5,1\nq,e,2,0.5,0.5,2\n", "must be the same in all rows"),
        ("query,document,rank,p_0,p_1\nq,,1,0.5,0.5\n", "document of row 0 is missing"),
    ],
)
def test_broken_files_are_refused(tmp_path, text, reason):
    (tmp_path / "pool.csv").write_text(text)
    with pytest.raises(InputError, match=reason):
        sondage.read_pool(tmp_path / "pool.csv")


@pytest.mark.parametrize(
    ("columns", "classes", "reason"),
    [
        (["p_0", "p_1", "p_1.0"], None, r"columns 'p_1' and 'p_1.0' are of the same grade: drop one"),
        (["p_0", "p_1", "p_high"], [0, 1], r"column 'p_high': the grade 'high' must be a number"),
        (["p_0", "p_1"], ["low", "high"], r"grades are numbers; classes=\['low', 'high'\]"),
        (["p_0", "p_1"], [0, 1, 2], r"grades are \[0.0, 1.0, 2.0\]; columns of probabilities are \['p_0', 'p_1'\]"),
    ],
)
def test_columns_that_are_not_those_of_the_grades_are_refused(columns, classes, reason):
    names = ["query", "document", "rank", *columns]
    with pytest.raises(InputError, match=reason):
        layout_of_long(names, classes)


def test_ranks_as_texts_with_gaps() -> None:
    named = {"queries": [1, 1, 1], "documents": [1, 2, 3], "classes": [0, 1]}
    told = [sondage.Pool(models={"a": Ranking(ranks=r)}, **named) for r in (["2", None, "1"], [2, float("nan"), 1])]
    assert told[0].fingerprint == told[1].fingerprint


def test_ranks_that_begin_with_0_are_told_of():
    table = {"queries": np.repeat(["a", "b"], 3), "documents": list("xyzxyz"), "classes": [0, 1]}
    with pytest.warns(
        SondageWarning, match=r"ranks of all lists are 0 for one document of every query, .*: ranks begin with"
    ):
        sondage.Pool(models={"s": Ranking(ranks=[0, 1, 2, 2, 1, 0])}, **table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ranks in ([1, 2, 0, 1, 0, 0], [0, 2, 3, 0, 1, 2], [1, 2, 3, 0, 1, 2]):  # not returned
            sondage.Pool(models={"s": Ranking(ranks=ranks)}, **table)
        models = {"s": Ranking(ranks=[0, 1, 2, 2, 1, 0]), "t": Ranking(ranks=[1, 2, 3, 3, 2, 1])}
        sondage.Pool(models=models, **table)
