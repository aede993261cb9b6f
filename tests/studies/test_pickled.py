"""Results come back from other processes: a pickle tells what the result told."""

import pickle

import numpy as np
import pytest

import sondage
from sondage import Classifier, Outcome, Pool, Ranking, Regressor
from sondage.core.checks import refusals_of
from sondage.core.measures import NAMES, ConfusionMeasure, Loss
from sondage.errors import ConflictError, InputError, LabelError, LabelingInterrupted

SIZE = 60
OF_NUMBERS, OF_LISTS = ("mse", "rmse", "mae", "bias", "r2"), ("dcg", "ndcg", "err", "rbp")


def unequal(outputs, labels):
    return 2.0 * (outputs != labels)


def lift(shares):
    return float(shares[1, 1] / (shares[1].sum() * shares[:, 1].sum()))


OWN = [Loss(unequal, "own loss", (0.0, 2.0)), ConfusionMeasure(lift, name="lift")]
pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")


def pool_for(measure, rng):
    """Return a pool of two models that the measure, or its name, is for, and labels."""
    p = rng.beta(0.5, 1.0, (SIZE, 2))
    if measure in OF_NUMBERS:
        return Pool(models={"a": Regressor(p[:, 0], p[:, 1]), "b": Regressor(p[:, 1])}), p.sum(axis=1)
    if measure in OF_LISTS:
        documents, ranks = np.tile(np.arange(4), SIZE), np.tile([1, 2, 3, 4], SIZE)
        grades = {"classes": [0, 1, 2], "queries": np.repeat(np.arange(SIZE), 4), "documents": documents}
        pool = Pool(models={"a": Ranking(ranks=ranks), "b": Ranking(ranks=5 - ranks)}, **grades)
        return pool, rng.integers(0, 3, 4 * SIZE)
    if measure == "mean_outcome":
        return Pool(models={"a": Outcome(p[:, 0]), "b": Outcome(p[:, 1])}), (rng.random((SIZE, 2)) < p).astype(float)
    return Pool(models={"a": Classifier(p[:, 0]), "b": Classifier(p[:, 1])}), (rng.random(SIZE) < p[:, 0]).astype(int)


def again(result):
    return pickle.loads(pickle.dumps(result))


def reported(result):
    return sondage.report(result).to_data()


def told(estimate):
    """Return what an estimate says, in words, numbers and rows; what it refuses by its reason."""
    sample = estimate.evidence.sample
    facts = [repr(estimate), estimate.interval(0.9), estimate.warnings, sample.row_weights.tolist()]
    for ask in (lambda: estimate.sequence(0.9), lambda: estimate.evalue(0.1)):
        try:
            facts.append(repr(ask()))
        except InputError as error:
            facts.append(str(error))
    return [*facts, estimate.course.session.asked_ids]


def ready_name(measure):
    return {"expected_cost": "expected_cost:costs=0/1/5/0"}.get(measure, measure)


@pytest.mark.parametrize("method", ["default", "thesis", "passive"])
@pytest.mark.parametrize("measure", [*NAMES, *OWN], ids=lambda one: getattr(one, "name", one))
def test_estimates(measure, method, rng):
    pool, labels = pool_for(measure, rng)
    found = sondage.evaluate(pool, ready_name(measure), labels=labels, budget=15, seed=1, model="a", method=method)
    assert told(again(found)) == told(found)


@pytest.mark.parametrize("measure", ["error_rate", "f1", "auc", "rmse", "mean_outcome", "dcg"])
def test_comparisons_and_selections(measure, rng):
    pool, labels = pool_for(measure, rng)
    compared = sondage.compare(pool, "a", "b", measure, labels=labels, budget=15, seed=1)
    assert repr(again(compared)) == repr(compared)
    assert told(again(compared).estimate) == told(compared.estimate)
    chosen = sondage.select(pool, measure, labels=labels, budget=15, seed=1)
    assert reported(again(chosen)) == reported(chosen)
    assert again(chosen).gaps(0.9) == chosen.gaps(0.9)


@pytest.mark.parametrize("options", [{"slices": ["x", "y"] * (SIZE // 2)}, {"stop": 0.5}, {"draw": "neyman"}], ids=list)
def test_other_results(options, rng):
    pool, labels = pool_for("f1", rng)
    found = sondage.evaluate(pool, "f1", labels=labels, budget=30, seed=1, model="a", **options)
    assert repr(again(found)) == repr(found)
    assert reported(again(found)) == reported(found)


def test_the_pool_stays_behind(rng):
    pool = Pool(rng.beta(0.5, 1.0, 100_000))
    found = sondage.evaluate(pool, "error_rate", labels=np.zeros(len(pool), dtype=int), budget=30, seed=1)
    assert len(pickle.dumps(found)) < 50_000


def test_a_sequence_that_is_refused_says_why(rng, monkeypatch):
    pool, labels = pool_for("f1", rng)
    found = sondage.evaluate(pool, "f1", labels=labels, budget=15, seed=1, model="a")
    monkeypatch.setattr(type(pool), "undrawn", lambda *_: (_ for _ in ()).throw(InputError("the file is gone")))
    with pytest.raises(InputError, match="the file is gone"):
        again(found).sequence()


def test_errors_bring_the_labels_home():
    for error in (LabelingInterrupted("stopped", {"a": 1}), LabelError("no such label", {"a": 1})):
        assert (str(again(error)), again(error).labels) == (str(error), {"a": 1})


def test_errors_keep_what_they_are_about_wherever_they_are_told():
    error = ConflictError("id 7 has another label", {"a": 1}, ids=(7,), refused=("spam",))
    for told in (again(error), error.at("labels.csv, line 2")):
        assert (type(told), told.labels, told.ids, told.refused) == (ConflictError, {"a": 1}, (7,), ("spam",))
    assert str(error.at("labels.csv, line 2")) == "labels.csv, line 2: id 7 has another label"
    assert str(error) == "id 7 has another label"
    with pytest.raises(ConflictError, match=r"^labels\.csv: id 7") as caught, refusals_of("labels.csv"):
        raise error
    assert caught.value.ids == (7,)
