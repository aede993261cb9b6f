"""Several people label an item: its label is their majority or mean, and what they differ by is in the interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sondage import Classifier, Outcome, Pool, Study
from sondage.core.measures import Task
from sondage.errors import LabelError
from sondage.reports.team import team_lines
from sondage.studies.ballots import PENDING, verdict
from sondage.studies.sharing import Sharing

CLASSES = Task("classification", ("a", "b", "c"))
NUMBERS = Task("regression", ())
OUTCOMES = Task("outcomes", (), (0.0, 1.0))
NAN = float("nan")


def pool(size=60):
    return Pool(np.random.default_rng(5).random(size), classes=["no", "yes"], ids=np.arange(size))


def shared(place, labels, budget=6, **options):
    """Return a study of two raters an item, the first of which got these labels of anna, bert, ..."""
    study = Study.create(place, pool(), budget=budget, stages=1, **({"raters": 2} | options))
    ids = study.ask()
    for who, told in labels.items():
        study.tell(ids[: len(told)], told, who=who)
    return study, ids


@pytest.mark.parametrize(
    ("task", "labels", "expected"),
    [
        (CLASSES, [], PENDING),
        (CLASSES, [None], None),
        (CLASSES, [None, None], None),
        (CLASSES, [2, None], 2),
        (CLASSES, [0, 1], PENDING),
        (CLASSES, [0, 1, 1, 2], 1),
        (CLASSES, [0, 0, 1, 1, 2], PENDING),
        (NUMBERS, [1.0, 2.0, 6.0], 3.0),
        (NUMBERS, [1.0, None], 1.0),
        (OUTCOMES, [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], (1.0, 1.0)),
        (OUTCOMES, [(1.0, 0.0), (1.0, 1.0)], PENDING),
        (OUTCOMES, [(1.0, NAN), (1.0, 1.0)], (1.0, 1.0)),
    ],
)
def test_labels_make_a_verdict(task, labels, expected):
    found = verdict(labels, task)
    assert found is expected if expected is PENDING else found == expected


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_a_verdict_has_more_votes_than_any_other_and_no_order(labels, random):
    found = verdict(labels, CLASSES)
    counts = sorted(labels.count(label) for label in set(labels))
    assert (found is PENDING) == (len(counts) > 1 and counts[-1] == counts[-2])
    assert found is PENDING or labels.count(found) == counts[-1]
    random.shuffle(labels)
    assert verdict(labels, CLASSES) is found or verdict(labels, CLASSES) == found


def test_a_tie_is_pending_until_it_is_resolved(place):
    study, ids = shared(place, {"anna": ["yes"] * 6, "bert": ["yes", "no"] * 3})
    status = study.status
    assert (status.labelled, status.pending, status.disputed, status.wanted) == (3, 3, 3, 0)
    assert study.estimate().n_pending == 3
    assert study.ask() == []
    assert study.claim("cora") == []
    (first, *others) = study.disagreements()
    assert (first.id, first.labels, first.label, first.resolved) == (
        ids[1],
        (("anna", "yes"), ("bert", "no")),
        None,
        False,
    )
    for one in (first, *others):
        study.resolve(one.id, "no", "dora")
    assert study.status.complete
    assert study.disagreements() == []
    assert [one.label for one in study.disagreements(settled=True)] == ["no"] * 3
    assert study.labels() == dict(zip(ids, ["yes", "no"] * 3, strict=True))


def test_a_resolution_can_be_settled_anew_and_stands_above_later_labels(place):
    study, ids = shared(place, {"anna": ["yes"], "bert": ["no"]})
    study.resolve(ids[0], "no", "dora")
    study.resolve(ids[0], "yes", "emil", reason="dora is tired")
    assert study.labels()[ids[0]] == "yes"
    study.tell(ids[:1], ["no"], who="anna", correct=True)
    assert study.labels()[ids[0]] == "yes"
    kinds = [(row["kind"], row["supersedes"]) for row in study.history(ids[0])]
    assert kinds == [("label", None), ("label", None), ("resolution", None), ("resolution", 3), ("label", 1)]


@pytest.mark.parametrize(
    ("which", "label", "message"),
    [(1, "yes", "has no label yet"), (0, "perhaps", "not a class"), (0, None, "cannot be resolved by a skip")],
)
def test_resolutions_that_are_refused(which, label, message, tmp_path):
    study, ids = shared(tmp_path / "study.db", {"anna": ["yes"], "bert": ["no"]})
    with pytest.raises(LabelError, match=message):
        study.resolve(ids[which], label)


def test_further_opinions_are_taken_when_asked_for(place):
    study, ids = shared(place, {"anna": ["yes", "no"]}, raters=1)
    remedy = "pass further=True to take it as another opinion, correct=True to replace the first"
    with pytest.raises(LabelError, match=f"already labelled 'yes' by 'anna', now 'no' by 'bert': {remedy}"):
        study.tell(ids[:1], ["no"], who="bert")
    for who in ("anna", None):
        with pytest.raises(LabelError, match="already labelled 'yes', now 'no': pass correct=True to replace it"):
            study.tell(ids[:1], ["no"], who=who)
    assert study.tell(ids[:2], ["no", "no"], who="bert", further=True) == 2
    assert study.tell(ids[:1], ["no"], who="cora", further=True) == 1
    assert study.labels()[ids[0]] == "no"
    assert study.agreement().n_items == 2


def test_a_correction_takes_over_the_place_of_what_it_replaces(place):
    study, ids = shared(place, {"anna": ["no"], "bert": ["no"]})
    study.tell(ids[:1], ["yes"], who="carl", correct=True)
    assert study.status.wanted == 10
    assert study.undo("carl") == ids[0]
    assert study.status.wanted == 11
    assert [claim.id for claim in study.claim("carl")] == ids[:1]
    study.tell(ids[1:2], ["no"])
    study.tell(ids[1:2], ["yes"], correct=True)  # by nobody in particular: the second label is still wanted
    assert ids[1] in [claim.id for claim in study.claim("dora", 6)]


def test_a_skip_of_one_does_not_hide_the_label_of_another(place):
    study, _ = shared(place, {"anna": ["yes", None, None], "bert": [None, None, "no"]})
    assert list(study.labels().values()) == ["yes", None, "no"]
    assert (study.status.labelled, study.status.skipped) == (2, 1)
    assert study.disagreements() == []


def test_agreement_is_that_of_the_libraries(place):
    """The worked example of three coders and fifteen units, with nominal alpha 0.691, of the field's introductions."""
    table = [
        [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
        [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
        [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
    ]
    four = Pool(np.full((40, 4), 0.25), classes=[1, 2, 3, 4], ids=np.arange(40))
    study = Study.create(place, four, budget=15, raters=3, stages=1)
    ids = study.ask()
    for who, told in zip(("anna", "bert", "cora"), table, strict=True):
        pairs = [(name, label) for name, label in zip(ids, told, strict=True) if label is not None]
        study.tell(*zip(*pairs, strict=True), who=who)
    found = study.agreement()
    assert found.alpha == pytest.approx(0.691, abs=5e-4)
    assert found.n_items == 12
    assert set(found.kappas) == {("anna", "bert"), ("anna", "cora"), ("bert", "cora")}


def test_agreement_that_cannot_be_told(tmp_path):
    study, _ = shared(tmp_path / "study.db", {"anna": ["yes"] * 3})
    assert np.isnan(study.agreement().alpha)
    assert study.agreement().kappas == {}
    study, _ = shared(tmp_path / "same.db", {"anna": ["yes"] * 3, "bert": ["yes"] * 3})
    assert (study.agreement().same, study.agreement().n_items) == (1.0, 3)
    assert np.isnan(study.agreement().alpha)


def test_kappa_by_hand(tmp_path):
    """Agreement 4/6; chance: (4/6)(4/6) + (2/6)(2/6) = 5/9; kappa = (2/3 - 5/9) / (4/9) = 1/4."""
    said = {"anna": ["yes", "yes", "yes", "yes", "no", "no"], "bert": ["yes", "yes", "yes", "no", "no", "yes"]}
    study, _ = shared(tmp_path / "study.db", said)
    assert study.agreement().kappas["anna", "bert"] == pytest.approx(0.25)
    other, _ = shared(tmp_path / "other.db", {None: said["anna"], "bert": said["bert"]})
    assert list(other.agreement().kappas) == [("bert", None)]
    assert "Cohen's kappa of bert and who gave no name 0.25" in team_lines(other)


def test_the_interval_knows_that_people_differ(tmp_path):
    """Every item of the pool is labelled: by one person exactly known, by people who differ not."""
    one, _ = shared(tmp_path / "one.db", {"anna": ["yes", "no"] * 30}, budget=60, raters=1)
    assert one.estimate().exact
    said = {"anna": ["yes", "no"] * 30, "bert": ["yes", "no"] * 24 + ["no", "yes"] * 6}
    two, ids = shared(tmp_path / "two.db", said, budget=60)
    for found in two.disagreements():
        two.resolve(found.id, dict(zip(ids, said["anna"], strict=True))[found.id])
    estimate = two.estimate()
    assert estimate.value == pytest.approx(one.estimate().value)
    assert not estimate.exact
    assert estimate.std_error == pytest.approx(np.sqrt(12 * 0.5) / 60)  # twelve items, variance 1/2 each
    assert any("all that is uncertain is whether" in text for text in estimate.warnings)


def test_a_mean_of_numbers_has_half_the_variance(tmp_path):
    numbers = Pool(means=np.arange(8.0), ids=np.arange(8))
    study = Study.create(tmp_path / "study.db", numbers, "mse", budget=8, raters=2)
    ids = study.ask()
    study.tell(ids, [float(name) + 1 for name in ids], who="anna")
    study.tell(ids, [float(name) + 3 for name in ids], who="bert")
    estimate = study.estimate()
    assert estimate.value == pytest.approx(4.0)  # the mean label is 2 off
    assert estimate.std_error == pytest.approx(np.sqrt(8 * np.var([1.0, 9.0], ddof=1) / 2) / 8)


def test_people_whose_items_never_meet_are_told_of(tmp_path):
    study, ids = shared(tmp_path / "study.db", {"anna": ["yes", "no"]}, raters=1)
    assert not any("people label" in text for text in study.estimate().warnings)
    study.tell(ids[2:4], ["no", "no"], who="bert")
    assert any("2 people label and no item was labelled by two" in text for text in study.estimate().warnings)
    study.tell(ids[:1], ["no"], who="bert", further=True)
    assert any("2 people label and what two labelled is not resolved" in text for text in study.estimate().warnings)
    assert team_lines(study)[2] == "1 item with several labels, 0% of the pairs the same"
    study.resolve(ids[0], "no")
    assert not any("people label" in text for text in study.estimate().warnings)


def test_an_exact_comparison_gives_way_to_one_that_knows_of_raters(tmp_path):
    rng = np.random.default_rng(3)
    models = {"a": Classifier(predictions=rng.integers(0, 2, 80)), "b": Classifier(predictions=rng.integers(0, 2, 80))}
    study = Study.create(tmp_path / "study.db", Pool(models=models), compare=("a", "b"), budget=20, raters=2)
    ids = study.ask()
    labels = rng.integers(0, 2, len(ids))
    study.tell(ids, labels, who="anna")
    study.tell(ids, labels, who="bert")
    assert study.estimate().significance.kind.startswith("hypergeometric")
    study.tell(ids[:6], 1 - labels[:6], who="bert", correct=True)
    for found in study.disagreements():
        study.resolve(found.id, int(labels[ids.index(found.id)]))
    comparison = study.estimate()
    assert comparison.significance.kind == "t"
    assert any("but people disagree: Student's t is used" in text for text in comparison.estimate.warnings)


@pytest.mark.parametrize("budget", [20, 60])
def test_simultaneous_statements_know_of_raters(budget, tmp_path):
    random = np.random.default_rng(8)
    y, flipped = random.integers(0, 2, 60), random.random(60) < 0.3
    models = {name: Classifier(predictions=np.where(random.random(60) < 0.7, y, 1 - y)) for name in "abc"}
    found = {}
    for doubted in (False, True):
        place = tmp_path / f"{doubted}.db"
        with Study.create(place, Pool(models=models), "f1", select=True, budget=budget, stages=1, raters=2) as study:
            ids = study.ask()
            study.tell(ids, y[ids], who="anna")
            study.tell(ids, np.where(flipped[ids] & doubted, 1 - y[ids], y[ids]), who="bert")
            for one in study.disagreements():
                study.resolve(one.id, y[one.id])
            found[doubted] = study.estimate()
    alike, apart = found[False], found[True]
    assert apart.ranking == alike.ranking
    assert all(apart.gaps()[name].width > alike.gaps()[name].width + 0.01 for name in apart.ranking[1:])
    assert set(alike.contenders()) <= set(apart.contenders())
    names = list(apart.estimates)
    for (first, second), one in apart.comparisons.items():
        joint = apart.errors.variances()[names.index(first), names.index(second)]
        assert joint == pytest.approx(
            one.estimate.std_error**2, rel=0.15
        )  # doubts of single models, and of differences


def test_systems_are_judged_one_by_one(tmp_path):
    systems = Pool(models={"a": Outcome(np.full(10, 0.5)), "b": Outcome(np.full(10, 0.5))})
    study = Study.create(tmp_path / "study.db", systems, "accuracy", budget=4, raters=2, model="a")
    ids = study.ask()
    study.tell(ids[:2], [[1, 0], [1, 1]], who="anna")
    study.tell(ids[:2], [[1, 1], [1, 1]], who="bert")
    assert study.status.disputed == 1
    assert study.disagreements()[0].labels == (("anna", (1.0, 0.0)), ("bert", (1.0, 1.0)))
    study.resolve(ids[0], [1, 1])
    assert study.labels() == {ids[0]: (1.0, 1.0), ids[1]: (1.0, 1.0)}


@pytest.mark.parametrize("seed", range(6))
def test_people_who_are_off_by_as_much_do_not_disagree(seed, tmp_path):
    # By the mean absolute error, but for the last bits of the labels: a label is as far above the mean or below it.
    random = np.random.default_rng(seed)
    means, off = random.normal(size=12), 0.3 + random.random(12)
    study = Study.create(tmp_path / "study.db", Pool(means=means, variances=np.ones(12)), "mae", 12, raters=3)
    for who, sign in (("a", 1), ("b", -1), ("c", 1)):
        ids = [one.id for one in study.claim(who, 12)]
        study.tell(ids, [float(means[row] + sign * off[row]) for row in ids], who=who)
    found = study.estimate()
    assert found.std_error == 0.0
    assert found.interval().width == 0.0
    assert found.value in found.interval()


@pytest.mark.parametrize("other", [-1, "a", 2**64])
def test_how_many_people_label_an_item_is_for_no_other_item_to_decide(other):
    sharing = Sharing(raters=2, overlap=0.5)
    ids = list(range(100))
    alone = sharing.of(ids, 0)
    assert 30 < alone.count(2) < 70
    assert sharing.of([*ids, other], 0)[:100] == alone
    assert sharing.of(ids[::-1], 0)[::-1] == alone
