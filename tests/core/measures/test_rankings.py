"""Measures of rankings: values, and moments against enumeration of all label vectors."""

from itertools import product

import numpy as np
import pytest

import sondage
from sondage.core.beliefs import RankingBelief
from sondage.core.beliefs.grades import POINTS
from sondage.core.comparisons import Contrast, believed_totals, moments
from sondage.core.contenders import Contention
from sondage.core.designs import matters
from sondage.core.measures import RBP, Task, parse_measure
from sondage.errors import InputError, MeasureError

GRADES = (0, 1, 2)
EXACT = ["dcg", "dcg@2", "dcg:gain=linear", "err", "err@2", "rbp:persistence=0.7", "rbp@1:persistence=0.4"]
LISTS = {
    "a": [["d0", "d1", "d2", "d3"], ["x", "y"], [], ["p"], ["u", "v", "w"], ["k", "l", "m"]],
    "b": [["d3", "d1", "d4"], ["y", "x"], ["z"], ["p"], ["w", "u"], ["k", "l", "n"]],
    "c": [["d4"], ["x", "y"], [], [], ["v"], ["m", "k"]],
}


def made_pool(seed=0, costs=None, lists=LISTS):
    random = np.random.default_rng(seed)
    queries = range(len(lists["a"]))
    documents = {q: sorted({d for own in lists.values() for d in own[q]}) for q in queries}
    grades = {q: {d: random.dirichlet(np.ones(len(GRADES))) for d in documents[q]} for q in queries}
    models = {name: sondage.Ranking(own) for name, own in lists.items()}
    return sondage.Pool(models=models, grades=grades, costs=costs), documents


def value_of(name, ranked, grades):
    """Return a query's loss by the definition, from its list and document -> grade."""
    head, _, tail = name.partition(":")
    base, _, depth = head.partition("@")
    options = dict(part.split("=") for part in tail.split(",") if part)
    shown = ranked[: int(depth) if depth else None]
    gain = (lambda y: float(y)) if options.get("gain") == "linear" else (lambda y: 2.0**y - 1.0)

    def dcg(order):
        return sum(gain(grades[d]) / np.log2(i + 1) for i, d in enumerate(order, 1))

    if base == "dcg":
        return dcg(shown)
    if base == "ndcg":
        best = sorted(grades, key=lambda d: -grades[d])[: int(depth) if depth else None]
        return dcg(shown) / dcg(best) if dcg(best) else 0.0
    if base == "rbp":
        p = float(options["persistence"])
        return sum((1 - p) * p ** (i - 1) * grades[d] / max(GRADES) for i, d in enumerate(shown, 1))
    total, left = 0.0, 1.0
    for i, d in enumerate(shown, 1):
        kappa = (2.0 ** grades[d] - 1.0) / 2.0 ** max(GRADES)
        total, left = total + left * kappa / i, left * (1 - kappa)
    return total


def enumerated(pool, documents, name, weights, lists=LISTS):
    """Return mean, variance, least and greatest value of the contrast of each query, over all label vectors."""
    table, names = pool.items.models[0].documents, list(LISTS)
    found = []
    for q, own in documents.items():
        p = table.probabilities[table.offsets[q] : table.offsets[q + 1]]
        values, shares = [], []
        for labels in product(range(len(GRADES)), repeat=len(own)):
            grades = dict(zip(own, labels, strict=True))
            values.append(sum(w * value_of(name, lists[names[m]][q], grades) for m, w in weights))
            shares.append(np.prod([p[i, y] for i, y in enumerate(labels)]))
        mean = np.dot(shares, values)
        found.append((mean, np.dot(shares, (np.array(values) - mean) ** 2), min(values), max(values)))
    return np.array(found).T


CONTRASTS = [((0, 1.0),), ((0, 1.0), (1, -1.0)), ((2, 1.0), (0, -1.0)), ((0, 0.5), (1, -1.5), (2, 1.0))]


@pytest.mark.parametrize("weights", CONTRASTS)
@pytest.mark.parametrize("name", EXACT)
def test_moments_are_those_of_all_label_vectors(name, weights):
    pool, documents = made_pool()
    contrast = Contrast(parse_measure(name).ready(pool.task), weights)
    mean, variance, _, _ = enumerated(pool, documents, name, weights)
    influence = contrast.influence({m: np.array([0.3]) for m, _ in weights})
    found, second = moments(influence, RankingBelief(3), pool.items)
    assert found == pytest.approx(mean - influence.constant, rel=1e-12, abs=1e-14)
    assert second == pytest.approx(variance + (mean - influence.constant) ** 2, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("weights", CONTRASTS)
@pytest.mark.parametrize("name", [*EXACT, "ndcg", "ndcg@2"])
def test_extremes_hold_all_values_and_tell_what_cannot_matter(name, weights):
    pool, documents = made_pool()
    functional = parse_measure(name).ready(pool.task)
    _, _, least, most = enumerated(pool, documents, name, weights)
    lowest, highest = functional.basis.extremes(pool.items, weights)
    assert np.all(lowest <= least + 1e-12)
    assert np.all(highest >= most - 1e-12)
    influence = Contrast(functional, weights).influence({m: np.array([0.3]) for m, _ in weights})
    assert matters(influence, RankingBelief(3), pool.items).tolist() == (most - least > 1e-12).tolist()
    if len(weights) == 1 and not name.startswith("ndcg"):
        assert lowest == pytest.approx(least, abs=1e-12)
        assert highest == pytest.approx(most, abs=1e-12)


def test_ndcg_is_averaged_over_supposed_labels():
    lists = {name: [own[0]] * 40 for name, own in LISTS.items()}
    pool, documents = made_pool(lists=lists)
    weights = ((0, 1.0), (1, -1.0))
    basis = parse_measure("ndcg@2").ready(pool.task).basis
    mean, variance = basis.spread(pool.items, weights, RankingBelief(3))
    some = {q: documents[q] for q in range(40)}
    exact = enumerated(pool, some, "ndcg@2", weights, lists)
    error = (mean - exact[0]) / np.sqrt(exact[1] / POINTS)
    assert np.sqrt(np.mean(error**2)) < 0.8  # 1 if the labels were drawn at random
    assert np.mean(np.sqrt(variance / exact[1])) == pytest.approx(1, abs=2 / np.sqrt(2 * POINTS))


@pytest.mark.parametrize("name", ["dcg@2", "err", "err@2", "ndcg", "ndcg@2"])
def test_what_labels_are_supposed_of_one_system_is_shared_by_all_its_pairs(name, monkeypatch):
    pool, _ = made_pool()
    basis, belief = parse_measure(name).ready(pool.task).basis, RankingBelief(3)
    labels = [codes for codes, _ in belief.supposed(pool.items, ())]
    losses = np.array([[basis.losses(pool.items.ranks(model), codes) for codes in labels] for model in range(3)])
    for model in range(3):
        assert basis.under_each(pool.items, model, belief) == pytest.approx(losses[model], rel=1e-14)
    asked = []
    of_system, of_documents = type(basis).under_each, RankingBelief.probabilities
    monkeypatch.setattr(type(basis), "under_each", lambda self, *args: asked.append("system") or of_system(self, *args))
    monkeypatch.setattr(
        RankingBelief, "probabilities", lambda self, *args: asked.append("documents") or of_documents(self, *args)
    )
    items = pool.items.take(slice(None))
    for first, second in ((0, 1), (0, 2), (1, 2)):
        mean, variance = basis.spread(items, ((first, 1.0), (second, -1.0)), belief)
        if name.startswith("ndcg"):
            assert mean == pytest.approx(np.mean(losses[first] - losses[second], axis=0), abs=1e-14)
            assert variance == pytest.approx(np.var(losses[first] - losses[second], axis=0), abs=1e-14)
    assert asked.count("documents") == 1
    assert asked.count("system") == (3 if name.startswith("ndcg") else 0)


@pytest.mark.parametrize("name", ["dcg", "err@2", "ndcg@2"])
def test_contenders_want_what_supposed_labels_tell_of_the_leader_and_them(name):
    pool, _ = made_pool()
    functional, belief, weights = parse_measure(name).ready(pool.task), RankingBelief(3), (0.5, 0.2, 0.3)
    influences = tuple(Contrast(functional, ((m, 1.0),)).influence({m: np.array([0.3])}) for m in range(3))
    found = Contention(influences=influences, belief=belief, weights=weights, leader=1).relevance(pool.items)
    labels = [codes for codes, _ in belief.supposed(pool.items, ())]
    ranks = [pool.items.ranks(model) for model in range(3)]
    losses = np.array([[functional.basis.losses(one, codes) for codes in labels] for one in ranks])
    wanted = sum(w * np.var(of_one - losses[1], axis=0) for w, of_one in zip(weights, losses, strict=True))
    assert found == pytest.approx(np.sqrt(wanted), abs=1e-9)


def test_supposed_grades_are_a_latin_hypercube():
    pool, _ = made_pool()
    belief = RankingBelief(3)
    p = belief.probabilities(pool.items, slice(None))
    counts = np.zeros_like(p)
    for codes, weight in belief.supposed(pool.items, [0]):
        counts[np.arange(len(codes)), codes] += weight
    assert np.abs(counts - p).max() < 2 / POINTS


@pytest.mark.parametrize("name", [*EXACT, "ndcg", "ndcg@2", "ndcg@3:gain=linear"])
def test_values_of_labels_are_those_of_the_definition(name):
    pool, documents = made_pool()
    random = np.random.default_rng(1)
    labels = {q: {d: int(random.integers(3)) for d in own} for q, own in documents.items()}
    for model, own in LISTS.items():
        found = sondage.evaluate(pool, name, labels=labels, budget=len(pool), model=model)
        truth = np.mean([value_of(name, own[q], labels[q]) for q in labels])
        assert found.value == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_long_lists_are_stable(name):
    count = 3000
    documents = list(range(count))
    models = {"up": sondage.Ranking([documents]), "down": sondage.Ranking([documents[::-1]])}
    pool = sondage.Pool(models=models, classes=[0, 1, 2, 3, 4])
    basis, belief = parse_measure(name).ready(pool.task).basis, RankingBelief(5)
    for weights in (((0, 1.0),), ((0, 1.0), (1, -1.0))):
        mean, variance = basis.spread(pool.items, weights, belief)
        values = [
            sum(w * basis.losses(pool.items.models[m], codes) for m, w in weights)
            for codes in np.random.default_rng(0).integers(5, size=(400, count))
        ]
        assert np.mean(values) == pytest.approx(mean[0], abs=4 * np.sqrt(variance[0] / 400))
        assert np.var(values) == pytest.approx(variance[0], rel=0.4)
    same = basis.spread(pool.items, ((0, 1.0), (0, -1.0)), belief)
    assert same[0][0] == pytest.approx(0, abs=1e-12)


def test_lists_of_very_different_lengths():
    random = np.random.default_rng(3)
    sizes = [1, 700, 3, 40, 0, 12]
    lists = {m: [random.permutation(n).tolist() for n in sizes] for m in ("a", "b", "c")}
    pool, _ = made_pool(lists=lists)
    alone = {}
    for name in ("err", "err@3", "dcg"):
        basis = parse_measure(name).ready(pool.task).basis
        whole = basis.spread(pool.items, ((0, 1.0), (1, -1.0)), RankingBelief(3))
        for row in range(len(sizes)):
            alone[row] = basis.spread(pool.items.take(slice(row, row + 1)), ((0, 1.0), (1, -1.0)), RankingBelief(3))
            assert alone[row][0][0] == pytest.approx(whole[0][row], rel=1e-12, abs=1e-15)
            assert alone[row][1][0] == pytest.approx(whole[1][row], rel=1e-9, abs=1e-15)


def test_pool_sums_are_weighted_means():
    pool, documents = made_pool()
    basis = parse_measure("err@2").ready(pool.task).basis
    totals = believed_totals(basis, [0, 1], RankingBelief(3), pool.items, pool.items.weights)
    for model in (0, 1):
        assert totals[model][0] == pytest.approx(enumerated(pool, documents, "err@2", ((model, 1.0),))[0].mean())


@pytest.mark.parametrize("name", ["dcg@10", "err@10", "ndcg", "rbp:persistence=0.8"])
def test_measures_of_rankings_are_for_rankings(name):
    with pytest.raises(MeasureError, match="is for ranking; this pool is for classification"):
        parse_measure(name).ready(Task("classification", (0, 1)))
    with pytest.raises(MeasureError, match="needs grades from 0"):
        parse_measure(name).ready(Task("ranking", grades=(1.0, 2.0)))


@pytest.mark.parametrize(
    ("name", "largest"),
    [("dcg", 116), ("dcg@2", 116), ("ndcg", 116), ("err", 116), ("dcg:gain=linear", 1e35), ("rbp", 1e35)],
)
def test_grades_are_so_large_that_gains_are_numbers(name, largest):
    random, documents = np.random.default_rng(0), [f"d{place}" for place in range(4)]
    lists = {model: sondage.Ranking([random.permutation(documents).tolist() for _ in range(40)]) for model in "ab"}
    pool, labels = sondage.Pool(models=lists, classes=[0, 1, largest]), random.choice([0, 1, largest], (40, 4))
    told = {query: dict(zip(documents, row, strict=True)) for query, row in enumerate(labels.tolist())}
    whole = sondage.evaluate(pool, name, model="a", labels=told, budget=40).value
    found = sondage.evaluate(pool, name, model="a", labels=told, budget=20)
    assert abs(found.value - whole) <= 4 * found.std_error < np.inf
    assert 0 < sondage.compare(pool, "a", "b", measure=name, labels=told, budget=20).pvalue <= 1


@pytest.mark.parametrize("name", ["dcg", "ndcg@3", "err"])
def test_grades_without_a_gain_are_refused(name):
    with pytest.raises(MeasureError, match=rf"'{name}.*' takes 2\^y - 1 of grades y up to 116; there is a grade 1100"):
        parse_measure(name).ready(Task("ranking", grades=(0.0, 1100.0)))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dcg@0", "cut-off k=0 must be a whole number"),
        ("err@1.5", "cut-off k=1.5 must be a whole number"),
        ("f1@10", "f1 has no cut-off @10; those of rankings have one: dcg, ndcg, err, rbp$"),
        ("dcg@ten", "k='ten' is not a number"),
        ("dcg@", "k='' is not a number"),
        ("f1:", "measure 'f1:': '' is not parameter=value"),
        ("f1:beta=2,", "measure 'f1:beta=2,': '' is not parameter=value"),
        ("macro_f:positive=spam", "no parameter 'positive'; it has none$"),
        ("ndcg:gain=cubic", "gain='cubic' must be one of"),
        ("rbp:persistence=1", "persistence=1 must be between 0 and 1"),
    ],
)
def test_parameters_are_refused(name, reason):
    with pytest.raises(MeasureError, match=reason):
        parse_measure(name)


def test_persistence_that_is_no_number_is_refused():
    with pytest.raises(MeasureError, match="persistence=high must be between 0 and 1"):
        RBP(persistence="high")


def test_error_rate_is_not_for_rankings():
    pool, _ = made_pool()
    with pytest.raises(InputError, match="is for classification; this pool is for ranking"):
        sondage.evaluate(pool, labels={}, budget=2, model="a")


@pytest.mark.parametrize(("name", "other"), [("ndcg@3", "nDCG(dcg='log2')@3"), ("err@3", "ERR@3"), ("ndcg@4", "exp")])
def test_values_are_those_of_ir_measures(name, other):
    """trec_eval (linear gains) and gdeval (exponential gains, grades to 4), as far as they can run here."""
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    random = np.random.default_rng(5)
    queries = [str(i) for i in range(1, 9)]
    ranked = [[f"d{j}" for j in random.permutation(6)] for _ in queries]
    labels = {q: {f"d{j}": int(random.integers(5)) for j in range(6)} for q in queries}
    labels["1"]["d0"] = 4
    measures = {"exp": ir_measures.nDCG(dcg="exp-log2") @ 4, "ERR@3": ir_measures.ERR @ 3}
    wanted = measures.get(other, ir_measures.nDCG @ 3)
    qrels = [ir_measures.Qrel(q, d, y) for q, own in labels.items() for d, y in own.items()]
    run = [
        ir_measures.ScoredDoc(q, d, -float(i))
        for q, own in zip(queries, ranked, strict=True)
        for i, d in enumerate(own)
    ]
    try:
        reference = ir_measures.calc_aggregate([wanted], qrels, run)[wanted]
    except (ValueError, RuntimeError, OSError) as reason:
        pytest.skip(f"{wanted} cannot run here: {reason}")
    pool = sondage.Pool(models={"a": sondage.Ranking(ranked)}, ids=queries, classes=range(5))
    mine = sondage.evaluate(pool, name + (":gain=linear" if other.startswith("nDCG") else ""), labels=labels, budget=8)
    assert mine.value == pytest.approx(reference, abs=6e-6)  # gdeval prints five digits


def test_chapelle_example():
    """ERR of a list graded 3, 2, 4 of at most 4 by its definition (Chapelle et al., 2009)."""
    pool = sondage.Pool(models={"a": sondage.Ranking([["x", "y", "z"]])}, classes=range(5))
    found = sondage.evaluate(pool, "err", labels={0: {"x": 3, "y": 2, "z": 4}}, budget=1)
    assert found.value == pytest.approx(7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 * 15 / 16 / 3, rel=1e-14)
