"""Sequences and e-values of results: exact where all is labelled, the same from a file, valid at any time."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

import sondage
from sondage import Classifier, Outcome, Pool, Regressor, Study
from sondage.core.measures import ExpectedCost, Loss
from sondage.core.sequences import asymptotic_critical
from sondage.core.significance import disagreement_log_evalues, disagreement_sequence
from sondage.errors import InputError, SondageWarning
from sondage.studies import rests
from sondage.studies.answers import estimate_session

MEANS = ["error_rate", "f1", "recall", "precision", "expected_cost:costs=0/1/5/0", "brier", "log_loss"]


def two_classes(rng, size=200, **options):
    p = rng.beta(0.5, 1.0, size)
    return Pool(probabilities=p, ids=np.arange(size) * 7, **options), (rng.random(size) < p).astype(int)


def two_models(rng, size=300):
    """Return "a" with the true probabilities, "b" with noisy ones, and "a2" that differs from "a" by a hair."""
    p = rng.beta(0.5, 1.0, size)
    q = np.clip(p + rng.normal(0, 0.3, size), 0.02, 0.98)
    hair = np.where(np.abs(p - 0.5) < 0.1, 1 - p, p)
    return Pool(models={"a": Classifier(p), "b": Classifier(q), "a2": Classifier(hair)}), (rng.random(size) < p).astype(
        int
    )


def rows(sequence):
    return np.stack([sequence.low, sequence.high])


def case(kind, rng):
    """Return a pool, labels, a measure and options, of the kinds that labels come in."""
    p = rng.dirichlet([1.0, 0.5, 0.5], 200)
    classes = np.array([rng.choice(3, p=row) for row in p])
    if kind == "groups":
        return Pool(p, groups=np.arange(200) // 3, weights=1 + p[:, 2]), classes[np.arange(200) // 3], "error_rate", {}
    if kind == "outcomes":
        pool = Pool(models={"a": Outcome(p[:, 0]), "b": Outcome()})
        return pool, (rng.random((200, 2)) < p[:, :2]).astype(float), "error_rate", {"model": "a"}
    if kind == "regression":
        bounded = Loss(lambda f, y: np.minimum(np.abs(f - y), 1.0), "clipped", (0.0, 1.0))
        return Pool(means=p[:, 0], variances=0.1 + p[:, 1]), p[:, 0] + p[:, 1], bounded, {}
    if kind == "single":
        return Pool(p.astype(np.float32)), classes, "accuracy", {"stages": 1, "floor": 0.5}
    return *two_classes(rng), kind, {}


KINDS = ("f1", "brier", "groups", "outcomes", "regression", "single")


@pytest.mark.parametrize("measure", MEANS)
def test_all_labelled_is_a_point(measure, rng):
    pool, labels = two_classes(rng, 60)
    found = sondage.evaluate(pool, measure, labels, 60)
    last = found.sequence().last
    assert last.low == pytest.approx(found.value, abs=1e-9)
    assert last.high == pytest.approx(found.value, abs=1e-9)
    assert found.evalue(min(found.value + 0.01, 1.0)).pvalue == 0.0
    assert found.interval(kind="anytime").width == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_inside_and_its_evidence_small(kind, rng):
    pool, labels, measure, options = case(kind, rng)
    truth = sondage.evaluate(pool, measure, labels, pool.n_units, **options).value
    found = sondage.evaluate(pool, measure, labels, 40, **options)
    sequence = found.sequence()
    assert len(sequence) == found.n_labels
    assert sequence.kind == "betting"
    assert np.all((sequence.low <= truth + 1e-12) & (truth - 1e-12 <= sequence.high))
    assert found.evalue(truth).pvalue > 0.05
    assert found.interval(0.9, "anytime") == found.sequence(0.9).last


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_without_the_pool_has_the_same(kind, rng, tmp_path):
    pool, labels, measure, options = case(kind, rng)
    expected = sondage.evaluate(pool, measure, labels, 40, seed=2, **options)
    study = Study.create(tmp_path / "study.db", pool, measure, 40, 2, **options)
    row_of = dict(zip(pool.ids.tolist(), labels.tolist(), strict=True))
    while ids := study.ask(1):  # one label at a time, over all stages
        study.tell(ids, [row_of[name] for name in ids])
    study.close()
    own = measure if isinstance(measure, Loss) else None
    found = Study.open(study.place, measures=own).estimate()
    assert np.array_equal(rows(found.sequence()), rows(expected.sequence()))
    assert found.evalue(0.5) == expected.evalue(0.5)


def test_later_labels_leave_the_sequence_as_it_was(rng):
    pool, labels = two_classes(rng)
    whole = sondage.evaluate(pool, "f1", labels, 80, seed=1)
    course = whole.in_order()
    early = course.session.copied()
    early.answers = {p: early.answers[p] for p in range(30)}  # in the middle of the second stage
    early.asked = early.asked[:30]
    head = type(course)(early, course.contrast, course.estimate).sequence(0.95)
    assert np.allclose(rows(head), rows(whole.sequence())[:, :30], rtol=0, atol=1e-12)


def test_reserves_that_were_dropped_count_as_not_asked(rng, tmp_path):
    pool, labels = two_classes(rng)
    study = Study.create(tmp_path / "study.db", pool, budget=60)
    ids = study.ask(12)
    study.tell(ids, labels[np.array(ids) // 7])
    first = study.estimate().sequence()
    ids = study.ask(20)  # the second stage; the first stage's reserve goes back
    study.tell(ids, labels[np.array(ids) // 7])
    assert np.allclose(rows(study.estimate().sequence())[:, :12], rows(first), rtol=0, atol=1e-12)


def test_disagreements_drawn_equally_are_exact(rng):
    pool, labels = two_models(rng)
    a, b = ((pool.items.models[k].probabilities > 0.5).astype(int) for k in (0, 1))
    size, options = int(np.sum(a != b)), {"design": "active_neq", "floor": 0}
    found = sondage.compare(pool, "a", "b", labels=labels, budget=30, **options)
    course = found.estimate.in_order()
    outcomes = [int(a[i] != labels[i]) - int(b[i] != labels[i]) for i in course.session.ids[:30]]
    assert found.sequence().kind == found.evalue.kind == "exact"
    assert np.allclose(found.sequence().low, disagreement_sequence(outcomes, size).low * size / len(pool))
    assert found.evalue.log_evalue == pytest.approx(disagreement_log_evalues(outcomes, size)[-1])
    all_labelled = sondage.compare(pool, "a", "b", labels=labels, budget=size, **options)
    assert all_labelled.sequence().last.low == pytest.approx(all_labelled.difference, abs=1e-12)


def test_margins_and_sides(rng):
    pool, labels = two_models(rng)
    found = {
        (side, margin): sondage.compare(
            pool, "a", "b", labels=labels, budget=15, alternative=side, margin=margin, test="anytime"
        )
        for side, margin in (("less", 0.0), ("less", 0.05), ("greater", 0.0))
    }
    assert found["less", 0.05].evalue.null == 0.05
    assert found["less", 0.05].pvalue < found["less", 0.0].pvalue < found["greater", 0.0].pvalue
    assert found["less", 0.0].significance.kind == "anytime"


def test_other_measures_are_asymptotic(rng):
    pool, labels = two_classes(rng)
    found = sondage.evaluate(pool, "mcc", labels, 60)
    sequence = found.sequence()
    assert sequence.kind == "asymptotic"
    assert rows(sequence)[:, 28].tolist() == [-1.0, 1.0]  # 29 labels are too few
    assert found.interval(kind="anytime") == sequence.last
    assert (found.evalue(sequence.last.high + 1e-6).log_evalue >= np.log(20)) == (sequence.last.high < 1)
    regressor = Pool(means=np.arange(50.0), variances=np.ones(50))
    assert sondage.evaluate(regressor, "mse", np.arange(50.0) + labels[:50], 40).sequence().kind == "asymptotic"
    models = two_models(rng)
    assert sondage.compare(models[0], "a", "b", "f1", labels=models[1], budget=60).evalue.kind == "asymptotic"


@pytest.mark.parametrize("measure", ["kappa", "balanced_accuracy", "average_precision"])
def test_an_asymptotic_sequence_is_made_of_the_estimates_own_intervals(measure, rng):
    pool, labels = two_classes(rng, 400)
    found = sondage.evaluate(pool, measure, labels, 120)
    sequence, n = found.sequence(), [30, 120]
    for count, critical in zip(n, asymptotic_critical(n, tightest=200, pool_size=400), strict=True):
        estimate = estimate_session(found.course.session.early(count))[measure]
        own = estimate.interval(2 * norm.cdf(critical) - 1)
        assert (sequence.low[count - 1], sequence.high[count - 1]) == pytest.approx((own.low, own.high), abs=1e-9)
    for end, inside in ((sequence.last.low, 1e-4), (sequence.last.high, -1e-4)):
        outer, inner = (found.evalue(end + sign * inside).log_evalue for sign in (-1, 1))
        assert inner < np.log(20) < outer < inner + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["kappa", "mcc", "balanced_accuracy", "average_precision", "auc"])
def test_an_asymptotic_sequence_rarely_misses_at_any_time(measure):
    missed, runs = 0, 100
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.2, 1.5, 1000)
        labels = (rng.random(1000) < p).astype(int)
        truth = sondage.evaluate(Pool(probabilities=p), measure, labels, 1000).value
        sequence = sondage.evaluate(Pool(probabilities=p), measure, labels, 100, seed=seed).sequence()
        missed += bool(np.any((sequence.low > truth + 1e-9) | (sequence.high < truth - 1e-9)))
    assert binomtest(missed, runs, 0.05, "greater").pvalue > 1e-3


def test_evidence_about_a_difference_of_ratios_is_that_of_the_test_which_its_interval_inverts(rng):
    pool, labels = two_models(rng)
    found = sondage.compare(pool, "a", "b", "f1", labels=labels, budget=100).estimate
    last = found.sequence().last
    assert found.pivot is not None
    for end in (last.low, last.high):
        assert found.evalue(end).log_evalue == pytest.approx(np.log(20), abs=1e-6)


def test_an_asymptotic_sequence_of_few_labels_ends_where_they_are_all(rng):
    pool, labels = two_classes(rng, size=20)
    found = sondage.evaluate(pool, "kappa", labels, 20)
    assert found.exact
    last = found.sequence(0.95).last
    assert (last.low, last.high) == (found.value, found.value)
    assert found.evalue(found.value).pvalue == 1.0
    assert found.evalue(-0.9).pvalue == 0.0
    few = sondage.evaluate(pool, "kappa", labels, 19).sequence(0.95).last
    assert (few.low, few.high) == (-1.0, 1.0)


def test_evidence_of_an_asymptotic_sequence(rng):
    pool, labels = two_classes(rng, 400)
    found = sondage.evaluate(pool, "kappa", labels, 120)
    assert found.evalue(found.value).log_evalue < 0
    assert found.evalue(found.possible[1] + 1e-6).log_evalue == np.inf
    greater, less = (found.evalue(found.interval().low - 0.05, side).log_evalue for side in ("greater", "less"))
    assert greater > 0 > less
    assert found.evalue(found.interval().low - 0.05).log_evalue == greater


@pytest.mark.parametrize(("answer", "word"), [(None, "skipped"), ("none", "pending")])
def test_the_first_open_item_ends_it(answer, word, rng, tmp_path):
    pool, labels = two_classes(rng)
    study = Study.create(tmp_path / "study.db", pool, budget=40)
    ids = study.ask(8)
    told = [int(labels[name // 7]) for name in ids]
    study.tell(ids[:5], told[:5])
    study.tell(ids[6:], told[6:])
    if answer is None:
        study.tell(ids[5:6], [None])
    with pytest.warns(SondageWarning, match=f"ends after 5 of 7 labels: the next item is {word}"):
        assert len(study.estimate().sequence()) == 5


def test_where_the_first_item_is_skipped_nothing_is_known_at_any_time(rng):
    pool, truth = two_models(rng)
    skipped = []

    def label(ids):
        skipped.extend(ids[:1] if not skipped else [])
        return [None if name in skipped else int(truth[name]) for name in ids]

    with pytest.warns(SondageWarning, match="ends after 0 of 39 labels"):
        found = sondage.evaluate(pool, "mcc", label, 40, model="a", stop=0.1)
    assert found.stopped == "budget"
    assert found.interval().kind == "undefined"
    assert "ends after 0 of 39 labels: the next item is skipped, and stop= looks no further" in found.warnings[-1]
    with pytest.raises(InputError, match="the first item asked for has no label"):
        found.sequence()
    skipped.clear()
    with pytest.warns(SondageWarning, match="ends after 0 of 39 labels"):
        compared = sondage.compare(pool, "a", "b", labels=label, budget=40, stop="significant")
    assert (compared.pvalue, compared.evalue.log_evalue, compared.better) == (1.0, 0.0, None)


def test_a_skip_that_ends_the_looks_is_told_once(rng):
    pool, truth = two_classes(rng)
    labels = [None if row % 9 == 4 else label for row, label in enumerate(truth.tolist())]
    with pytest.warns(SondageWarning) as told:
        found = sondage.evaluate(pool, "error_rate", labels, 150, stop=0.1, batch=5)
    assert len(told) == 1
    assert found.warnings[-1] == f"{told[0].message}, and stop= looks no further"


def test_no_sequence_where_none_holds(rng):
    pool, labels = two_classes(rng)
    refused = [
        ({"method": "thesis"}, "without_replacement"),
        ({"design": "strata"}, "without_replacement"),
        ({"target": "population"}, "population"),
        ({"measure": "ece"}, "kinks"),
    ]
    for options, match in refused:
        found = sondage.evaluate(pool, **{"measure": "error_rate", "labels": labels, "budget": 40} | options)
        with pytest.raises(InputError, match=match):
            found.sequence()
    given = sondage.estimate_from("accuracy", predictions=[0, 1, 1], labels=[0, 1, 0], inclusion=[0.5] * 3, pool_size=6)
    with pytest.raises(InputError, match="drawn elsewhere"):
        given.sequence()
    models, truth = two_models(rng)
    chosen = sondage.select(models, labels=truth, budget=40)
    with pytest.raises(InputError, match="selection"):
        chosen.comparisons[chosen.ranking[:2]].sequence()
    priced = Pool(pool.items.models[0].probabilities, costs=1 + np.arange(200) % 3)
    with pytest.raises(InputError, match="stages=1"):
        sondage.evaluate(priced, "error_rate", labels, 100).sequence()
    assert len(sondage.evaluate(priced, "error_rate", labels, 100, stages=1).sequence()) > 10


def test_a_study_of_an_early_release_says_so(tmp_path):
    place = tmp_path / "old.db"
    place.write_bytes((Path(__file__).parent / "release-0.1.0.db").read_bytes())
    with Study.open(place) as study:
        found = study.estimate()
    one = next(iter(found.values())) if isinstance(found, dict) else found
    with pytest.raises(InputError, match="did not keep what sequences need"):
        one.sequence()


def test_a_study_that_lost_it_still_opens(rng, tmp_path):
    pool, labels = two_classes(rng)
    study = Study.create(tmp_path / "study.db", pool, budget=40)
    ids = study.ask(8)
    study.tell(ids, labels[np.array(ids) // 7])
    study.close()
    with sqlite3.connect(tmp_path / "study.db") as base:
        known = json.loads(base.execute("select known from stages").fetchone()[0])
        del known["rests"]
        base.execute("update stages set known = ?", (json.dumps(known),))
    base.close()
    found = Study.open(study.place).estimate()
    with pytest.raises(InputError, match="did not keep"):
        found.sequence()


def test_a_study_is_not_made_where_the_pool_could_not_be_read_to_its_end(rng, tmp_path, monkeypatch):
    pool, _ = two_classes(rng)

    def broken(*args):
        raise InputError("pool.parquet: the disk has an error")

    monkeypatch.setattr(Pool, "undrawn", broken)
    with pytest.raises(InputError, match="the disk has an error"):
        Study.create(tmp_path / "study.db", pool, budget=40)
    monkeypatch.undo()
    assert Study.create(tmp_path / "study.db", pool, budget=40).status.asked == 0


def test_a_study_plans_a_stage_once(rng, tmp_path, monkeypatch):
    """What a stage leaves is summed up from the sizes that it was drawn by."""
    pool, labels = two_classes(rng, 300)
    wanted = sondage.evaluate(pool, "f1", labels, 60).sequence()
    monkeypatch.setattr(rests, "make_plan", None)
    study = Study.create(tmp_path / "study.db", pool, "f1", budget=60)
    while ids := study.ask(12):
        study.tell(ids, labels[np.array(ids) // 7])
    assert np.array_equal(rows(study.estimate().sequence()), rows(wanted))


class TestStopping:
    """evaluate and compare with stop=."""

    def test_narrow_enough(self, rng):
        pool, labels = two_classes(rng, 1000)
        found = sondage.evaluate(pool, "error_rate", labels, 900, stop=0.25)
        assert found.stopped == "width"
        assert found.interval() == found.sequence().last
        assert found.interval().width < 0.25
        before = found.sequence()
        assert before.high[-11] - before.low[-11] >= 0.25  # not a look earlier
        assert sondage.evaluate(pool, "error_rate", labels, 20, stop=0.01).stopped == "budget"
        assert sondage.evaluate(pool, "error_rate", labels, 20).stopped is None

    def test_batches_and_several_measures(self, rng):
        pool, labels = two_classes(rng, 1000)
        asked = []

        def label(ids):
            asked.append(len(ids))
            return labels[np.array(ids) // 7]

        found = sondage.evaluate(pool, ["error_rate", "recall"], label, 900, stop=0.4, batch=25, stages=1)
        assert set(asked) == {25}
        assert max(one.interval().width for one in found.values()) < 0.4

    def test_the_floor_is_half_unless_named(self, rng):
        pool, labels = two_classes(rng)
        for options, floor in (({}, 0.5), ({"floor": 0.3}, 0.3), ({"method": "passive"}, 0.0)):
            found = sondage.evaluate(pool, "error_rate", labels, 20, stop=0.9, **options)
            assert found.in_order().session.method.floor == floor

    def test_significant(self, rng):
        pool, labels = two_models(rng, 1000)
        found = sondage.compare(pool, "a", "b", labels=labels, budget=200, stop="significant", batch=1)
        assert (found.stopped, found.better, found.significance.kind) == ("significant", "a", "anytime")
        assert found.pvalue <= 0.05
        batches = sondage.compare(pool, "a", "b", labels=labels, budget=200, stop="significant", batch=10)
        assert found.n_labels <= batches.n_labels < found.n_labels + 10
        narrow = sondage.compare(pool, "a", "b", labels=labels, budget=900, stop=0.2)
        assert narrow.interval().width < 0.2
        assert narrow.significance.kind == "anytime"  # as the interval, which else may hold 0 and a winner be named
        named = sondage.compare(pool, "a", "b", labels=labels, budget=900, stop=0.2, test="t")
        assert (named.n_labels, named.significance.kind) == (narrow.n_labels, "t")

    @pytest.mark.parametrize("seed", [4, 5, 6, 7, 8, 9])
    def test_the_estimate_is_within_its_interval(self, seed):
        # With seed 4 the labels at the end have -.45 alone, and the sequence [-.41, -.08].
        rng = np.random.default_rng(seed)
        labels = (rng.random(100) < 0.3).astype(int)
        scores = [((2 * labels - 1) * k + rng.normal(0, 1.5, 100)) for k in (2.0, 0.3)]
        pool = Pool(
            models={name: Classifier(1 / (1 + np.exp(-score))) for name, score in zip("ab", scores, strict=True)}
        )
        found = sondage.compare(pool, "a", "b", labels=labels, budget=15, seed=seed, stop="significant")
        assert found.difference in found.interval()

    def test_planned_looks(self, rng):
        pool, labels = two_models(rng, 1000)
        found = sondage.compare(pool, "a", "b", labels=labels, budget=100, stop="significant", looks=4)
        assert found.n_labels % 25 == 0
        assert (found.stopped, found.significance.kind, found.interval().kind) == ("significant", "looks", "repeated")
        assert found.pvalue <= 0.05
        assert 0 not in found.interval()
        with pytest.raises(InputError, match="no sequence"):
            found.sequence()
        with pytest.raises(InputError, match="no e-value"):
            _ = found.evalue
        undecided = sondage.compare(pool, "a", "a2", labels=labels, budget=40, stop="significant", looks=[0.5])
        assert (undecided.stopped, undecided.n_labels, undecided.better) == ("budget", 40, None)

    @pytest.mark.parametrize("classes", [2, 3])
    def test_an_early_look_that_nearly_nothing_passes_has_an_interval(self, classes):
        labels = np.arange(4000) % classes
        others = (labels + 1) % classes
        pool = Pool(models={"a": Classifier(predictions=labels), "b": Classifier(predictions=others)})
        options = {"labels": labels, "budget": 1000, "stop": "significant", "looks": [0.11]}
        found = sondage.compare(pool, "a", "b", **options)
        assert (found.stopped, found.n_labels) == ("significant", 110)
        assert found.interval().low == -1
        assert -0.9 < found.interval().high < 0

    def test_the_interval_at_a_look_leaves_out_what_its_test_rejects(self):
        for seed in range(12):
            pool, labels = two_models(np.random.default_rng(seed), 150)
            found = sondage.compare(pool, "a", "b", labels=labels, budget=14, seed=seed, stop="significant", looks=2)
            assert (0 in found.interval()) == (found.pvalue > 0.05)

    def test_looks_up_to_the_end_of_what_can_matter(self):
        models = Pool(models={"a": Classifier([0.9, 0.1, 0.2, 0.3]), "b": Classifier([0.1, 0.9, 0.2, 0.3])})
        exact = sondage.compare(models, "a", "b", labels=[1, 1, 0, 0], budget=4, stop="significant", looks=2)
        assert (exact.n_labels, exact.estimate.exact, exact.stopped) == (2, True, "budget")

    def test_refusals(self, rng):
        pool, labels = two_models(rng)
        refused = [
            ({"stop": "soon"}, "stop='soon' must be the width"),
            ({"stop": -1.0}, "above 0"),
            ({"looks": 3}, "goes with stop='significant'"),
            ({"stop": "significant", "looks": 99}, "0.02 or more apart"),
            ({"stop": "significant", "test": "t"}, "has its own test"),
            ({"stop": 0.1, "method": "thesis"}, "without replacement"),
            ({"stop": 0.1, "target": "population"}, "population"),
            ({"stop": 0.1, "batch": 0}, "batch=0"),
            ({"stop": 0.1, "level": 2}, "level=2"),
        ]
        for options, match in refused:
            with pytest.raises(InputError, match=match):
                sondage.compare(pool, "a", "b", labels=labels, budget=20, **options)

    def test_costs_have_one_stage(self, rng):
        p = rng.beta(0.5, 1.0, 200)
        pool, labels = Pool(p, costs=1 + np.arange(200) % 3), (rng.random(200) < p).astype(int)
        found = sondage.evaluate(pool, "error_rate", labels, 300, stop=0.3)
        assert found.stopped == "width"
        pair = Pool(models={"a": Classifier(p), "b": Classifier(1 - p)}, costs=1 + np.arange(200) % 3)
        asked = []
        with pytest.raises(InputError, match="planned in labels"):
            sondage.compare(pair, "a", "b", labels=asked.extend, budget=50, stop="significant", looks=3)
        assert not asked


def rejections(runs, pvalue_of):
    return sum(pvalue_of(seed) <= 0.05 for seed in range(runs))


def most_of(runs):
    """Return a number of rejections that a test of level 0.05 exceeds once in ten thousand times."""
    return binom.ppf(1 - 1e-4, runs, 0.05)


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
def test_evidence_against_the_truth_is_rare_at_any_time(measure):
    """Three stages, rare positives, a belief that is wrong and grows wrong in another way with each stage."""
    rng = np.random.default_rng(11)
    p = rng.beta(0.3, 2.0, 400)
    labels = (rng.random(400) < 0.5 * p[rng.permutation(400)]).astype(int)
    pool = Pool(probabilities=p)
    truth = sondage.evaluate(pool, measure, labels, 400).value

    def pvalue(seed):
        return sondage.evaluate(pool, measure, labels, 90, seed=seed).evalue(truth).pvalue

    assert rejections(80, pvalue) <= most_of(80)


def test_sequences_miss_rarely_at_any_time():
    rng = np.random.default_rng(12)
    p = rng.beta(0.3, 2.0, 300)
    labels = (rng.random(300) < p[::-1]).astype(int)
    pool, truth = Pool(probabilities=p), float(np.mean((p > 0.5) != labels))
    missed = 0
    for seed in range(40):
        found = sondage.evaluate(pool, "error_rate", labels, 60, seed=seed, floor=0.5).sequence(0.8)
        missed += bool(np.any((found.low > truth + 1e-12) | (found.high < truth - 1e-12)))
    assert missed <= binom.ppf(1 - 1e-4, 40, 0.2)


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ({"stages": (0.4, 0.6)}, 100),
        ({"design": "active_neq", "floor": 0}, 100),
        ({"looks": 3}, 100),
        pytest.param({"stages": (0.4, 0.6)}, 1000, marks=pytest.mark.slow),
    ],
)
def test_stopping_when_significant_keeps_the_level(options, runs):
    """Of the items where the models disagree each is right on half, in an order that the belief knows nothing of."""
    rng = np.random.default_rng(13)
    p = rng.beta(0.7, 0.7, 200)
    q = np.where(np.arange(200) < 120, 1 - p, p)
    labels, first = (p > 0.5).astype(int), (p > 0.5).astype(int)
    pool = Pool(models={"a": Classifier(p), "b": Classifier(q)})

    def pvalue(seed):
        swapped = np.random.default_rng(seed).permutation(120)[:60]
        labels[:] = first
        labels[swapped] = 1 - first[swapped]
        found = sondage.compare(
            pool, "a", "b", labels=labels, budget=50, seed=seed, stop="significant", **{"batch": 50} | options
        )
        assert (found.pvalue <= 0.05) == (found.stopped == "significant")
        return found.pvalue

    assert rejections(runs, pvalue) <= most_of(runs)


def test_regressors_have_bets_only_where_losses_are_bounded(rng):
    mean = rng.normal(size=100)
    pool = Pool(models={"a": Regressor(mean, np.ones(100)), "b": Regressor(-mean, np.ones(100))})
    bounded = Loss(lambda f, y: 1.0 * (np.abs(f - y) > 1), "off", (0.0, 1.0))
    found = sondage.compare(pool, "a", "b", bounded, labels=mean, budget=60, stop="significant")
    assert (found.better, found.evalue.kind) == ("a", "betting")


@pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")
@pytest.mark.parametrize("seed", [207, 234])
def test_what_is_known_beforehand_wins_and_loses_no_bets(seed):
    # All labels are as believed, at costs that are not 0: steps are what rounding leaves, and bets on them are large.
    random = np.random.default_rng(seed)
    sure, weights = np.round(random.random(30)), np.ones(30)
    weights[random.integers(30)] = 1e6 if random.random() < 0.5 else 1e-6
    cost = ExpectedCost(costs=random.normal(size=(2, 2)).tolist())
    way = {"estimator": "horvitz_thompson", "belief": "model", "floor": 0.5, "stages": 1}
    found = sondage.evaluate(Pool(sure, weights=weights), cost, sure, 30, **way)
    ends = found.sequence()
    assert np.all(ends.low <= found.value + 1e-9)
    assert np.all(ends.high >= found.value - 1e-9)
