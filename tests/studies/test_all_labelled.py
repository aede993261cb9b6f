"""What is exact: a pool of which all is labelled, and nothing else."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score, roc_auc_score

from sondage import Classifier, Outcome, Pool, Regressor, Study, compare, estimate_from, evaluate, select
from sondage.core.domains import domain_estimate
from sondage.core.measures import ConfusionMeasure
from sondage.errors import MeasureError

pytestmark = pytest.mark.filterwarnings("ignore:.*the draw is passive")

WAYS = [
    {},
    {"method": "passive"},
    {"method": "thesis"},
    {"estimator": "hajek"},
    {"estimator": "self_normalised"},
    {"estimator": "assisted"},
    {"estimator": "difference"},
]


@pytest.fixture(scope="module")
def two_of_four():
    """Return probabilities of four classes, weights, and labels of which none is of the last two classes."""
    random = np.random.default_rng(0)
    return random.dirichlet(np.ones(4), 60), random.lognormal(0.0, 1.0, 60), random.choice([0, 1], 60)


@pytest.mark.filterwarnings("ignore:y_pred contains classes")
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("told", ["probabilities", "predictions"])
@pytest.mark.parametrize("predicted", [2, 3, 4])
def test_classes_that_no_item_has_do_not_occur(two_of_four, predicted, told, way):
    probabilities, weights, labels = two_of_four
    predictions = probabilities[:, :predicted].argmax(axis=1)
    outputs = {"classes": [0, 1, 2, 3]} if told == "predictions" else {"probabilities": probabilities}
    pool = Pool(predictions=predictions, weights=weights, **outputs)
    found = evaluate(pool, "balanced_accuracy", labels, 60, **way)
    truth = balanced_accuracy_score(labels, predictions, sample_weight=weights)
    assert found.exact
    assert found.value == pytest.approx(truth, abs=1e-12)
    if way.get("method") != "thesis":
        assert found.possible[1] == pytest.approx(truth, abs=1e-12)
    assert not [text for text in found.warnings if "no labelled item tells" in text]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_measure_of_ones_own_sees_no_rounding(two_of_four, way):
    probabilities, weights, labels = two_of_four
    occurring = ConfusionMeasure(lambda m: float(np.count_nonzero(m.sum(axis=0))), name="classes that occur")
    assert evaluate(Pool(probabilities, weights=weights), occurring, labels, 60, **way).value == 2.0


@pytest.mark.parametrize("measure", ["recall", "mcc", "auc", "average_precision"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_without_positives_recall_and_its_like_are_undefined(measure, way):
    random = np.random.default_rng(1)
    pool = Pool(random.random(50), weights=random.lognormal(0.0, 1.0, 50))
    found = evaluate(pool, measure, np.zeros(50, dtype=int), 50, **way)
    assert np.isnan(found.value)
    assert [text for text in found.warnings if "undefined" in text and "label more" not in text]


@pytest.mark.parametrize("level", [0.0, 7.3, 1e5 + 0.1])
def test_labels_that_do_not_vary_leave_r2_undefined(level):
    labels = np.full(50, level)
    pool = Pool(means=labels + np.random.default_rng(0).normal(size=50))
    assert np.isnan(evaluate(pool, "r2", labels, 50).value)


def test_r2_of_labels_far_from_0():
    random = np.random.default_rng(0)
    labels = 1e5 + random.normal(size=200)
    means = labels + random.normal(size=200)
    truth = 1.0 - np.mean((means - labels) ** 2) / np.var(labels)
    assert evaluate(Pool(means=means), "r2", labels, 200).value == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("method", ["default", "passive", "thesis"])
def test_items_that_are_sure_to_be_drawn_tell_nothing_of_others(method, tmp_path):
    random = np.random.default_rng(0)
    weights, p = np.where(np.arange(200) < 5, 200.0, 1.0), random.random(200)
    labels = (random.random(200) < p).astype(int)
    truth = np.average((p > 0.5) != labels, weights=weights)
    with Study.create(tmp_path / "study.db", Pool(p, weights=weights), budget=20, seed=1, method=method) as study:
        for _ in range(20):
            ids = study.ask(1)
            study.tell(ids, [int(labels[int(i)]) for i in ids])
            found = study.estimate()
            assert not found.exact
            if method != "thesis":
                assert found.interval().low <= truth <= found.interval().high


def test_what_could_not_be_paid_for_is_not_labelled():
    weights, costs = [0.7, 1.5, 0.3, 2.6, 2.3], [5.0, 5.0, 5.0, 5.0, 1.0]
    models = {"a": Classifier(predictions=[0, 0, 0, 1, 0]), "b": Classifier(predictions=[0, 0, 0, 0, 0])}
    pool = Pool(models=models, weights=weights, costs=costs, classes=[0, 1])
    for seed in range(40):
        found = compare(pool, "a", "b", "macro_f", labels=np.zeros(5, dtype=int), budget=10, seed=seed).estimate
        assert not found.exact
        assert found.interval().width > 0


def test_one_outcome_of_two_is_not_both(tmp_path):
    pool = Pool(models={"a": Outcome()}, ids=["x", "y"], weights=[0.1, 2.9])
    with Study.create(tmp_path / "study.db", pool, "accuracy", budget=1) as study:
        ids = study.ask(1)
        study.tell(ids, [{"a": 0.0} for _ in ids])
        assert not study.estimate().exact


@pytest.mark.parametrize("measure", ["mae", "mse", "bias"])
@pytest.mark.parametrize("variances", [None, 1.0])
def test_one_number_or_two_leave_an_interval(measure, variances):
    random = np.random.default_rng(0)
    labels = random.normal(size=100)
    spread = None if variances is None else np.full(100, variances)
    pool = Pool(models={"a": Regressor(np.zeros(100), spread)})
    for budget in (1, 2):
        for seed in range(10):
            found = evaluate(pool, measure, labels, budget, seed)
            assert np.isnan(found.std_error) or found.interval().width > 0.01


def test_a_sample_of_sure_items_is_exact_if_the_pool_has_no_others():
    told = {"predictions": [0, 1, 1], "labels": [0, 1, 0], "inclusion": [1.0, 1.0, 1.0]}
    assert estimate_from("error_rate", **told).exact
    assert estimate_from("error_rate", **told, pool_size=3).exact
    found = estimate_from("error_rate", **told, pool_size=30)
    assert not found.exact
    assert np.isnan(found.std_error)


def test_a_part_of_a_sample_is_exact_if_all_is_labelled():
    told = {"predictions": [0, 1, 1], "labels": [0, 1, 0]}
    inside = np.array([True, True, False])
    some = estimate_from("error_rate", **told, inclusion=[1.0, 1.0, 0.1])
    assert not domain_estimate(some, inside).exact
    assert domain_estimate(estimate_from("error_rate", **told, inclusion=[1.0, 1.0, 1.0]), inside).exact


@pytest.mark.parametrize("weights", [None, "lognormal"])
def test_recall_with_all_labelled_is_scikit_learns(weights):
    random = np.random.default_rng(2)
    p, base = random.random(80), None if weights is None else random.lognormal(0.0, 1.0, 80)
    labels = (random.random(80) < p).astype(int)
    truth = recall_score(labels, (p > 0.5).astype(int), sample_weight=base)
    assert evaluate(Pool(p, weights=base), "recall", labels, 80).value == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("measure", ["error_rate", "micro_f", "accuracy"])
@pytest.mark.parametrize(
    "way", [{}, {"method": "passive"}, {"method": "thesis"}, {"draw": "with_replacement"}], ids=str
)
def test_models_that_are_equally_often_wrong_are_equal(measure, way):
    for seed in range(8):
        random = np.random.default_rng(seed)
        labels = random.integers(0, 3, 100)
        wrong = random.permutation(100)[:6].reshape(2, 3)
        told = [np.where(np.isin(np.arange(100), rows), (labels + 1) % 3, labels) for rows in wrong]
        models = {"a": Classifier(predictions=told[0]), "b": Classifier(predictions=told[1])}
        pool = Pool(models=models, classes=[0, 1, 2], weights=np.full(100, 1 / 3))
        found = compare(pool, "a", "b", measure, labels=labels, budget=100, seed=seed, **way)
        assert (found.difference, found.pvalue, found.better) == (0.0, 1.0, None)


@pytest.mark.parametrize("way", [{}, {"estimator": "horvitz_thompson"}, {"draw": "strata"}], ids=str)
def test_so_are_those_of_a_selection(way):
    for seed in range(30):
        random = np.random.default_rng(seed)
        labels = random.integers(0, 2, 9)
        models = {name: Classifier(predictions=labels ^ (random.permutation(9) < 3)) for name in "abc"}
        pool = Pool(models=models, classes=[0, 1])
        found = select(pool, "accuracy", labels=labels, budget=9, seed=seed, **way)
        assert all(
            (pair.difference, pair.pvalue, pair.better) == (0.0, 1.0, None) for pair in found.comparisons.values()
        )
        assert set(found.pvalues.values()) == {1.0}


def test_a_model_that_is_worse_by_just_the_margin_is_not_worse_by_more():
    labels = np.arange(70) % 2
    for wrong in range(1, 8):
        told = np.where(np.arange(70) < wrong, 1 - labels, labels)
        models = {"a": Classifier(predictions=told), "b": Classifier(predictions=labels)}
        options = {"labels": labels, "budget": 70, "alternative": "less", "margin": wrong / 70}
        found = compare(Pool(models=models, classes=[0, 1]), "a", "b", "error_rate", **options)
        assert (found.pvalue, found.estimate.exact) == (1.0, True)


@pytest.mark.parametrize("options", [{}, {"stages": 1}])
@pytest.mark.parametrize("scores", [[0.9, 0.2, 0.4], [0.1, 0.5, 0.9] * 20, [0.1, 0.3, 0.7, 0.9] * 15], ids=len)
def test_the_middle_of_symmetric_scores_counts_in_their_area(scores, options):
    # Moved by a label by as much in either direction, as the scores have it: its influence is flat there by chance.
    scores = np.array(scores)
    labels = (np.random.default_rng(0).random(len(scores)) < np.where(scores == 0.5, 0.95, scores)).astype(int)
    labels[:2] = 1, 0
    found = evaluate(Pool(scores), "auc", labels, len(scores), **options)
    assert found.value == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    few = evaluate(Pool(scores), "auc", labels, len(scores) - 1, **options)
    assert few.n_labels == len(scores) - 1
    assert not few.exact


def small_question(random, size):
    """Return two models of a few items with round numbers, labels, and a measure."""
    if random.random() < 0.25:
        models = [Regressor(random.integers(-2, 3, size) * 1.0, random.choice([0.0, 1.0, 0.25], size)) for _ in "ab"]
        measure = random.choice(["mse", "rmse", "mae", "r2"])
        return Pool(models=dict(zip("ab", models, strict=True))), random.normal(size=size).round(1), str(measure)
    labels, told = random.integers(0, 2, size), random.random() < 0.7
    half = [np.round(random.random((size + 1) // 2), 1) for _ in "ab"]
    scores = [random.permutation(np.concatenate([one, 1.0 - one])[:size]) for one in half]
    models = [Classifier(p) if told else Classifier(predictions=(p > 0.5).astype(int)) for p in scores]
    measures = ["balanced_accuracy", "mcc", "kappa", "macro_f", "f1", "recall"] + ["auc", "average_precision"] * told
    pool = Pool(models=dict(zip("ab", models, strict=True)), classes=[0, 1])
    return pool, labels, str(random.choice(measures))


@pytest.mark.filterwarnings("ignore:.*all scores are")
@pytest.mark.parametrize("seed", range(40))
def test_what_is_exact_is_right(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(3, 12))
    pool, labels, measure = small_question(random, size)
    options = {} if random.random() < 0.5 else {"stages": 1}
    for budget in (size, int(random.integers(1, size + 1))):
        try:
            truth = compare(pool, "a", "b", measure, labels=labels, budget=size, method="passive").difference
            found = compare(pool, "a", "b", measure, labels=labels, budget=budget, seed=seed, **options).estimate
        except MeasureError:  # undefined whatever the labels are
            return
        if np.isfinite(truth) and (found.exact or budget == size):
            assert found.value == pytest.approx(truth, abs=1e-9)
