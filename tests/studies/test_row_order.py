"""Last bits follow the order of a pool's rows; what is asked for, and what is said of it, does not."""

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool, Regressor, compare, evaluate, select

from .biases import LeastBias
from .noting import noting

pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")

ITEMS = 60


def classified(random):
    """Return classes that classifiers only name, some of them rare: few labels tell nothing of these."""
    scores = random.normal(size=(ITEMS, 6)) - 0.5 * np.arange(6)
    labels = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    named = {name: np.argmax(scores + random.normal(size=scores.shape), axis=1) for name in "abc"}
    return labels, lambda rows: {name: Classifier(predictions=own[rows]) for name, own in named.items()}


def counted(random):
    """Return numbers, and predictions that are off by a constant each."""
    labels = random.normal(size=ITEMS)
    means = {name: labels + random.normal(size=ITEMS) for name in "abc"}
    return labels, lambda rows: {name: Regressor(own[rows]) for name, own in means.items()}


def judged(random):
    """Return outcomes of systems, of which two are as often right."""
    labels = (random.random((ITEMS, 3)) < 0.8).astype(float)
    labels[:, 2] = labels[:, 1]
    return labels, lambda rows: {name: Outcome() for name in "abc"}


def in_order(rows, labels, models, **options):
    """Return a pool with its rows in this order, what is asked of it, and a labelling function that notes it."""
    asked = []

    def answer(ids):
        asked.extend(ids)
        found = labels[np.array(ids)]
        return [dict(zip("abc", row, strict=True)) for row in found] if found.ndim == 2 else found.tolist()

    if labels.dtype.kind == "i":
        options["classes"] = range(6)
    return Pool(models=models(rows), ids=rows, **options), answer, asked


@pytest.mark.parametrize("measure", ["balanced_accuracy", "macro_f", "recall", "f1"])
@pytest.mark.parametrize("draw", ["without_replacement", "successive"])
def test_classes_of_which_no_label_tells(measure, draw):
    for seed in range(10):
        random, found = np.random.default_rng(seed), []
        labels, models = classified(random)
        own = {"positive": 5} if measure in ("recall", "f1") else {}
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            pool, answer, _ = in_order(rows, labels, models)
            one = evaluate(pool, measure, answer, 12, seed, model="a", draw=draw, **own)
            interval = one.interval()
            found.append((one.value, one.std_error, one.df, interval.low, interval.high))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("target", ["pool", "population"])
@pytest.mark.parametrize(
    ("make", "measure"),
    [(classified, "error_rate"), (counted, LeastBias()), (counted, "mse"), (judged, "error_rate")],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_models_that_are_equal_or_nearly_so(make, measure, target):
    for seed in range(6):
        random = np.random.default_rng(seed)
        labels, models = make(random)
        costs, found = random.choice([1.0, 2.0], size=ITEMS), []
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            priced = {} if isinstance(measure, LeastBias) else {"costs": costs[rows]}
            pool, answer, asked = in_order(rows, labels, models, **priced)
            best = select(pool, measure, labels=answer, budget=30, seed=seed, target=target)
            gaps = [(gap.low, gap.high) for gap in best.gaps().values()]
            pairs = [(pair.pvalue, pair.estimate.std_error, pair.estimate.df) for pair in best.comparisons.values()]
            values = [(one.value, one.std_error, one.n_effective) for one in best.estimates.values()]
            found.append((asked, best.ranking, best.contenders(), np.concatenate([np.ravel(gaps), *pairs, *values])))
        assert found[0][:3] == found[1][:3]
        np.testing.assert_allclose(found[0][3], found[1][3], rtol=1e-7, atol=1e-9)


def test_a_difference_that_no_label_moves_is_of_the_same_certainty():
    for seed in range(20):
        random, found = np.random.default_rng(seed), []
        labels, models = counted(random)
        features, weights = random.normal(size=(ITEMS, 3)), random.lognormal(size=ITEMS)
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            pool, answer, _ = in_order(rows, labels, models, features=features[rows], weights=weights[rows])
            one = compare(pool, "a", "b", "bias", labels=answer, budget=30, seed=seed, target="population").estimate
            found.append((one.value, one.std_error, one.df, one.n_effective))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-7)


def test_a_calibration_error_that_none_is_expected_of():
    for seed in range(10):
        random, found = np.random.default_rng(seed), []
        chances = random.random(300)
        labels = (random.random(300) < chances).astype(int)
        for rows in (np.arange(300), random.permutation(300)):
            answer, asked = noting(labels)
            pool = Pool(probabilities=chances[rows], ids=rows)
            found.append((evaluate(pool, "ece", answer, 60, seed, draw="strata").value, asked))
        assert found[0][1] == found[1][1]
        assert found[0][0] == pytest.approx(found[1][0])


def test_strata_of_a_model_that_predicts_one_number():
    # Its squared errors are the squares of the labels: r2 is 0 whatever they are, and no label moves it.
    for seed in range(10):
        random, found = np.random.default_rng(seed), []
        labels, variances = random.normal(size=ITEMS), random.gamma(1.0, size=ITEMS)
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            answer, asked = noting(labels)
            pool = Pool(means=np.zeros(ITEMS), variances=variances[rows], ids=rows)
            found.append((evaluate(pool, "r2", answer, 25, seed, draw="strata").value, asked))
        assert found[0][1] == found[1][1]
        assert found[0][0] == pytest.approx(found[1][0])


def test_a_belief_that_tells_two_models_not_apart():
    for seed in range(30):
        random, found = np.random.default_rng(seed), []
        labels, models = classified(random)
        features = random.normal(size=(ITEMS, 3))
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            pool, answer, _ = in_order(rows, labels, models, features=features[rows])
            one = compare(pool, "a", "b", "micro_f", labels=answer, budget=3, seed=seed).estimate
            found.append((one.value, one.std_error, *one.possible))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-9)


def test_skipped_items_of_equal_belief():
    # Hard predictions are alike to a belief that knows nothing: skips are made up for within cells of equal belief.
    for seed in range(8):
        random, found = np.random.default_rng(seed), []
        labels, models = classified(random)
        for rows in (np.arange(ITEMS), random.permutation(ITEMS)):
            pool, answer, _ = in_order(rows, labels, models)

            def skipping(ids, answer=answer):
                return [None if one % 5 == 0 else label for one, label in zip(ids, answer(ids), strict=True)]

            for method in ("passive", "default"):
                best = select(pool, "kappa", labels=skipping, budget=30, seed=seed, method=method)
                found.append([(one.value, one.std_error, one.n_effective) for one in best.estimates.values()])
        np.testing.assert_allclose(found[:2], found[2:], rtol=1e-7, atol=1e-9)


def test_skipped_items_whose_labels_are_believed_to_be_sure():
    # A belief in every prediction expects no influence of any item: cells of equal belief are not made of rounding.
    for seed in range(20):
        random, found = np.random.default_rng(seed), []
        sure = (random.random(20) < 0.2).astype(float)
        labels = np.where(random.random(20) < 0.8, sure, 1.0 - sure)
        for rows in (np.arange(20), random.permutation(20)):

            def told(ids, labels=labels):
                return [None if one % 4 == 0 else labels[one] for one in ids]

            one = evaluate(Pool(sure[rows], ids=rows), "mcc", told, 20, belief="model", stages=1)
            found.append((one.value, one.std_error, one.n_effective))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-9)
