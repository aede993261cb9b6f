"""Rankings asked, told, stored and estimated as anything else."""

import json

import numpy as np
import pandas
import pyarrow
import pytest

import sondage
from sondage import Ranking
from sondage.core.measures import parse_measure
from sondage.errors import InputError, LabelError, LabelingInterrupted
from sondage.studies.method import METHODS, choose_method
from sondage.studies.planning import make_plan
from sondage.studies.session import Session

SIZE = 120


def simulated(seed=0, costs=1.0, grades=True, models=2):
    """Return a pool of queries of 3 to 12 documents, and the grades of the long table's rows."""
    random = np.random.default_rng(seed)
    counts = random.integers(3, 13, size=SIZE)
    queries = np.repeat([f"q{i}" for i in range(SIZE)], counts)
    documents = np.concatenate([np.arange(n) for n in counts])
    relevance = random.normal(size=len(queries))
    p = np.exp(np.multiply.outer(relevance - 0.7, [0.0, 1.0, 2.0]))
    p /= p.sum(axis=1, keepdims=True)
    labels = np.sum(random.random(len(p))[:, None] > np.cumsum(p, axis=1), axis=1)
    ranks = {}
    for number in range(models):
        score = relevance + (0.5 + number) * random.normal(size=len(p))
        order = np.lexsort((-score, queries))
        place = np.empty(len(p), dtype=int)
        starts = np.concatenate([[True], queries[order][1:] != queries[order][:-1]])
        place[order] = np.arange(len(p)) - np.maximum.accumulate(np.where(starts, np.arange(len(p)), 0)) + 1
        ranks[f"s{number}"] = Ranking(ranks=place)
    known = {"grades": p} if grades else {"classes": [0, 1, 2]}
    return sondage.Pool(models=ranks, queries=queries, documents=documents, costs=costs, **known), labels


def truth(pool, labels, name, model):
    basis = parse_measure(name).ready(pool.task).basis
    return float(np.mean(basis.losses(pool.items.models[model], labels[pool.listed.order])))


def answers(pool, labels):
    """Return query -> document -> grade."""
    table = pool.items.models[0].documents
    codes = labels[pool.listed.order]
    return {
        query: dict(zip(table.names[a:b].tolist(), codes[a:b].tolist(), strict=True))
        for query, a, b in zip(pool.ids.tolist(), table.offsets[:-1], table.offsets[1:], strict=True)
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["dcg@5", "err", "ndcg@3"])
def test_estimates_and_differences_are_near_the_truth(method, name):
    pool, labels = simulated()
    found = sondage.evaluate(pool, name, labels=labels, budget=300, seed=1, model="s0", method=method)
    assert abs(found.value - truth(pool, labels, name, 0)) < 4 * found.std_error
    assert 0 < found.spent <= 300
    compared = sondage.compare(pool, "s0", "s1", name, labels=labels, budget=300, seed=1, method=method)
    wanted = truth(pool, labels, name, 0) - truth(pool, labels, name, 1)
    assert abs(compared.difference - wanted) < 4 * compared.std_error


@pytest.mark.parametrize("name", ["dcg", "dcg@2", "err@4", "ndcg", "rbp:persistence=0.6"])
def test_all_labels_are_exact(name):
    pool, labels = simulated(costs=None)
    assert sondage.evaluate(pool, name, labels=labels, budget=SIZE, model="s1").value == pytest.approx(
        truth(pool, labels, name, 1), rel=1e-9
    )
    compared = sondage.compare(pool, "s0", "s1", name, labels=labels, budget=SIZE)
    wanted = truth(pool, labels, name, 0) - truth(pool, labels, name, 1)
    assert compared.difference == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert compared.estimate.exact


@pytest.mark.parametrize(
    "design", ["optimal", "uniform_cost", "cost_only", "passive", "absolute", "bounded", "active_risk", "contenders"]
)
def test_every_design_serves_rankings(design):
    pool, labels = simulated(models=3)
    found = sondage.select(pool, "err@5", labels=labels, budget=250, design=design, seed=2)
    assert found.best == "s0"


def test_thesis_designs_are_its_formulas():
    pool, _ = simulated(costs=2.0)
    from sondage.core.beliefs import RankingBelief
    from sondage.studies.judging import as_asked
    from sondage.studies.method import Question

    question = Question("compare", ("s0", "s1"), (parse_measure("dcg@5"),))
    asked = as_asked(pool, question)
    basis, root = question.measures[0].ready(pool.task).basis, np.sqrt(asked.items.costs)

    def sizes(belief, cost):
        mean, variance = basis.spread(asked.items, ((0, 1.0), (1, -1.0)), belief)
        size = np.sqrt(variance + (mean - mean.mean()) ** 2) / (root if cost else 1.0)
        return size / size.sum()

    uniform = RankingBelief(3, prior=(1 / 3,) * 3)
    wanted = {
        ("optimal", "model"): sizes(RankingBelief(3), True),  # active: thesis 6.11
        ("uniform_cost", "model"): sizes(RankingBelief(3), False),  # active_uniC
        ("optimal", "uniform"): sizes(uniform, True),  # active_uniD
        ("cost_only", "model"): 1 / root / np.sum(1 / root),  # active_lambda
        ("passive", "model"): np.full(SIZE, 1 / SIZE),
    }
    for (design, belief), expected in wanted.items():
        plan = make_plan(asked, question, choose_method("thesis", design=design, belief=belief))
        assert plan.sizes == pytest.approx(expected, rel=1e-6)


def test_labels_in_every_form_give_the_same():
    pool, labels = simulated()
    mapping = answers(pool, labels)
    rows = [(query, document, grade) for query, own in mapping.items() for document, grade in own.items()]
    frame = pandas.DataFrame(rows, columns=["query", "document", "label"])
    forms = [labels, mapping, lambda ids: [mapping[name] for name in ids], frame, frame.to_dict("list")]
    forms.append(pyarrow.Table.from_pandas(frame))
    forms.append({query: {str(d): f"{grade}" for d, grade in own.items()} for query, own in mapping.items()})
    values = [sondage.evaluate(pool, "ndcg@5", labels=form, budget=200, model="s0").value for form in forms]
    assert len(set(values)) == 1


def test_rows_of_documents_that_nobody_judged_may_stand_in_a_table():
    pool, labels = simulated()
    mapping, asked = answers(pool, labels), []
    options = {"measure": "ndcg@5", "budget": 60, "model": "s0"}
    expected = sondage.evaluate(pool, labels=lambda ids: asked.extend(ids) or [mapping[i] for i in ids], **options)
    rows = [(q, d, y if q in asked else np.nan) for q, own in mapping.items() for d, y in own.items()]
    frame = pandas.DataFrame(rows, columns=["query", "document", "label"])
    assert sondage.evaluate(pool, labels=frame, **options).value == expected.value
    frame.loc[frame.index[frame["query"] == asked[0]][0], "label"] = np.nan
    with pytest.raises(LabelError, match=f"of query {asked[0]!r} has no grade: all"):
        sondage.evaluate(pool, labels=frame, **options)


def test_seed_and_items_do_not_depend_on_order_of_rows():
    pool, labels = simulated()
    table = pool.items.models[0].documents
    order = np.random.default_rng(5).permutation(len(labels))
    query = np.repeat(pool.ids, np.diff(table.offsets))[order]
    models = {name: Ranking(ranks=pool.items.models[m].positions[order]) for m, name in enumerate(pool.models)}
    moved = sondage.Pool(
        models=models,
        queries=query,
        documents=table.names[order],
        grades=table.probabilities[order],
        costs=table.costs[order],
    )
    first, second = (
        sondage.evaluate(one, "ndcg@5", labels=answers(pool, labels), budget=200, model="s0", seed=3)
        for one in (pool, moved)
    )
    assert first.value == pytest.approx(second.value, rel=1e-9)
    assert moved.fingerprint == pool.fingerprint


@pytest.mark.parametrize("name", ["dcg@3", "ndcg@3"])
def test_a_study_goes_the_same_way_as_a_call(tmp_path, name):
    pool, labels = simulated(costs=None)
    mapping = answers(pool, labels)
    called = sondage.compare(pool, "s0", "s1", name, labels=mapping, budget=60, seed=4)
    study = sondage.Study.create(tmp_path / "study.db", pool, name, 60, 4, compare=("s0", "s1"))
    while study.status.remaining or study.status.pending:
        with sondage.Study.open(tmp_path / "study.db", pool) as study:
            ids = study.ask(7)
            judged = study.documents(ids)
            told = [{d: mapping[query][d] for d in documents} for query, documents in zip(ids, judged, strict=True)]
            study.tell(ids, told, who="anna")
    with sondage.Study.open(tmp_path / "study.db") as study:
        assert study.estimate().difference == pytest.approx(called.difference, rel=1e-12)
        assert study.estimate().std_error == pytest.approx(called.std_error, rel=1e-9)
        first = study.history()[0]
        assert first["label"] == {str(d): mapping[first["id"]][d] for d in study.documents([first["id"]])[0]}
        json.dumps(study.history())


def test_a_study_can_be_extended(tmp_path):
    pool, labels = simulated()
    mapping = answers(pool, labels)
    with sondage.Study.create(tmp_path / "study.db", pool, "err@5", 150, model="s1") as study:
        while ids := study.ask(5):
            study.tell(ids, [mapping[name] for name in ids])
        before = study.status.labelled
        study.extend(250)
        while ids := study.ask(5):
            study.tell(ids, [mapping[name] for name in ids])
        assert study.status.labelled > before
        assert study.estimate().spent <= 250


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda own: 3, "label 3 of query '.*' must be a mapping of document to grade"),
        (lambda own: {d: y for d, y in own.items() if d != min(own)}, "has no grade: all .* must be judged"),
        (lambda own: own | {min(own): None}, "has no grade"),
        (lambda own: own | {min(own): 7}, "grade 7 of document 0 of query '.*' is not allowed; grades are 0, 1, 2"),
        (lambda own: own | {min(own): "good"}, "grade 'good' of document 0"),
    ],
)
def test_incomplete_or_wrong_judgements_are_refused_and_nothing_is_taken(change, reason):
    pool, labels = simulated(costs=None)
    mapping = answers(pool, labels)
    question = sondage.studies.method.Question("evaluate", ("s0",), (parse_measure("dcg"),))
    session = Session.start(pool, question, choose_method(), budget=20, seed=0)
    first, second = session.ask(2)
    with pytest.raises(LabelError, match=reason):
        session.tell([first, second], [mapping[first], change(mapping[second])])
    assert not session.answers
    session.tell([first, second], [mapping[first], None])
    with pytest.raises(LabelError, match=r"is already labelled \{'0': .*pass correct=True"):
        session.tell([first], [{d: (y + 1) % 3 for d, y in mapping[first].items()}])


@pytest.mark.parametrize("kind", [np.int64, np.float64, int, str])
def test_documents_may_be_numbers_of_numpy(kind, tmp_path):
    pool = sondage.Pool(models={"a": Ranking([[7, 8], [8, 9]])}, classes=[0, 1])
    study = sondage.Study.create(tmp_path / "study.db", pool, "dcg", budget=2)
    ids = study.ask(2)
    labels = [{kind(name): 1 for name in documents} for documents in study.documents(ids)]
    assert study.tell(ids, labels, request="a") == study.tell(ids, labels, request="a") == 2
    study.resolve(ids[0], labels[0] | {kind(study.documents(ids)[0][0]): 0})
    assert [sum(grades.values()) for grades in (study.labels()[name] for name in ids)] == [1, 2]


def test_documents_that_are_not_asked_for_need_no_grade():
    pool, labels = simulated()
    mapping = answers(pool, labels)
    table = pool.items.models[0].documents
    places = dict(zip(zip(np.repeat(pool.ids, np.diff(table.offsets)), table.names, strict=True),
                      pool.items.models[0].positions, strict=True))  # fmt: skip
    short = {query: {d: y for d, y in own.items() if places[query, d] <= 2} for query, own in mapping.items()}
    found = sondage.evaluate(pool, "dcg@2", labels=short | {"other": {}}, budget=100, model="s0")
    assert found.value == sondage.evaluate(pool, "dcg@2", labels=mapping, budget=100, model="s0").value


def test_skips_pending_and_a_failing_judge():
    pool, labels = simulated(costs=None)
    mapping = answers(pool, labels)
    skipping = sondage.evaluate(
        pool, "err@5", budget=40, model="s0",
        labels=lambda ids: [None if name.endswith("7") else mapping[name] for name in ids],
    )  # fmt: skip
    assert skipping.n_skipped > 0
    assert "taken to be like labelled items" in skipping.warnings[0]

    def failing(ids):
        raise OSError("gone")

    with pytest.raises(LabelingInterrupted, match="labelling stopped after 0 labels: gone"):
        sondage.evaluate(pool, "err@5", labels=failing, budget=40, model="s0")


def test_without_a_grade_model_labels_teach_what_ranks_mean():
    pool, labels = simulated(grades=False, costs=None)
    found = sondage.evaluate(pool, "dcg@5", labels=labels, budget=60, model="s0")
    belief = found.evidence.estimation.belief
    assert belief.lift > 0.5
    assert abs(found.value - truth(pool, labels, "dcg@5", 0)) < 4 * found.std_error


def test_anytime_and_slices():
    pool, labels = simulated(costs=None)
    stopped = sondage.evaluate(pool, "err@5", labels=labels, budget=SIZE, model="s0", stop=0.5)
    low, high = stopped.sequence(0.95).last.low, stopped.sequence(0.95).last.high
    assert low <= truth(pool, labels, "err@5", 0) <= high
    cut = sondage.evaluate(
        pool, "err@5", labels=answers(pool, labels), budget=60, model="s0",
        slices=["short" if n < 7 else "long" for n in pool.items.models[0].counts],
    )  # fmt: skip
    assert set(cut) == {"short", "long"}


def test_slices_by_a_field_of_documents_that_is_one_of_queries(tmp_path):
    rows = [(f"q{n}", f"d{k}", k + 1, "de" if n % 3 else "fr", f"t{k}") for n in range(40) for k in range(3)]
    frame = pandas.DataFrame(rows, columns=["query", "document", "rank", "market", "title"])
    frame.to_csv(tmp_path / "pool.csv", index=False)
    pool = sondage.read_pool(tmp_path / "pool.csv", classes=[0, 1])
    options = {"labels": lambda ids: [{"d0": 1, "d1": 0, "d2": 0}] * len(ids), "budget": 20, "seed": 1}
    named = ["de" if n % 3 else "fr" for n in range(40)]
    cut = sondage.evaluate(pool, "dcg", slices="market", **options)
    assert str(cut) == str(sondage.evaluate(pool, "dcg", slices=named, **options))
    with pytest.raises(
        InputError, match="slices are of queries: title of query 'q0' differs from document to document"
    ):
        sondage.evaluate(pool, "dcg", slices="title", **options)


@pytest.mark.parametrize("belief", ["judge", "peaked", {"s0": 1.0}])
def test_beliefs_of_other_tasks_are_refused(belief):
    pool, labels = simulated()
    with pytest.raises(InputError, match=r"no judge|for regression|one by one"):
        sondage.evaluate(pool, "dcg", labels=labels, budget=100, model="s0", belief=belief)
    prior = sondage.evaluate(pool, "dcg@3", labels=labels, budget=100, model="s0", belief=(0.7, 0.2, 0.1))
    assert np.isfinite(prior.value)


def test_several_judges_agree_document_by_document(tmp_path):
    pool, labels = simulated(costs=None)
    mapping = answers(pool, labels)
    with sondage.Study.create(tmp_path / "study.db", pool, "dcg@2", 20, model="s0", raters=3) as study:
        first = study.ask(1)[0]
        documents = study.documents([first])[0]
        own = {d: mapping[first][d] for d in documents}
        other = own | {documents[0]: (own[documents[0]] + 1) % 3}
        for who, label in (("anna", own), ("ben", other), ("cleo", own)):
            study.tell([first], [label], who=who)
        assert study.status.labelled == 1
        assert study.disagreements(settled=True)[0].label == {str(d): y for d, y in own.items()}
        assert study.agreement().n_items == 1
        assert study.agreement().alpha < 1
        study.tell(study.ask(5), [mapping[name] for name in study.ask(5)], who="anna")
        estimate = study.estimate()
        assert np.isfinite(estimate.std_error)
