"""Which of two classes stands second decides nothing: what is asked for, and what is said of it, are the same."""

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool, compare, evaluate, select

from .noting import noting

pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")

ITEMS, BUDGET = 200, 40


def classified(random, shift):
    """Return labels, and what two classifiers say of the second class, which are `shift` too high in log odds."""
    scores = 2.0 * random.normal(size=ITEMS) - 1.0
    labels = (random.random(ITEMS) < 1.0 / (1.0 + np.exp(-scores))).astype(int)
    return labels, {name: 1.0 / (1.0 + np.exp(-scores - shift - random.normal(size=ITEMS))) for name in "ab"}


def asked_twice(question, measure, labels, chances, seed, **options):
    """Return what is asked for and said where 1 is the second class, and where 0 is."""
    found = []
    for classes in ([0, 1], [1, 0]):
        models = {
            name: Classifier(np.stack([p if one else 1.0 - p for one in classes], axis=1), (p > 0.5).astype(int))
            for name, p in chances.items()
        }
        pool, (answer, asked) = Pool(models=models, classes=classes), noting(labels)
        if question == "evaluate":
            said = [evaluate(pool, measure, answer, BUDGET, seed, model="a", **options)]
        elif question == "compare":
            said = [compare(pool, "a", "b", measure, labels=answer, budget=BUDGET, seed=seed, **options).estimate]
        else:
            said = select(pool, measure, labels=answer, budget=BUDGET, seed=seed, **options).estimates.values()
        ends = [one.interval(level) for one in said for level in (0.8, 0.95)]
        numbers = [(one.value, one.std_error, one.df) for one in said] + [(end.low, end.high, 0.0) for end in ends]
        found.append((asked, np.ravel(numbers)))
    return found


@pytest.mark.parametrize("shift", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize(
    "measure", ["error_rate", "f1", "recall", "mcc", "balanced_accuracy", "auc", "brier", "log_loss"]
)
@pytest.mark.parametrize("question", ["evaluate", "compare", "select"])
def test_order_of_two_classes(question, measure, shift):
    named = {"positive": 1} if measure in ("f1", "recall", "auc") else {}
    for seed in range(2):
        labels, chances = classified(np.random.default_rng(seed), shift)
        one, other = asked_twice(question, measure, labels, chances, seed, **named)
        assert one[0] == other[0]
        np.testing.assert_allclose(one[1], other[1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", ["default", "passive"])
def test_outcomes_and_their_complements(method):
    for seed in range(4):
        random, found = np.random.default_rng(seed), []
        chances = random.random(ITEMS)
        labels = (random.random(ITEMS) < chances**0.3).astype(float)
        for own, p in ((labels, chances), (1.0 - labels, 1.0 - chances)):
            pool = Pool(models={"a": Outcome(judge=p)})
            one = evaluate(pool, "mean_outcome", own.tolist(), BUDGET, seed, method=method)
            found.append((one.value, one.std_error))
        assert found[0][0] == pytest.approx(1.0 - found[1][0], rel=1e-6)
        assert found[0][1] == pytest.approx(found[1][1], rel=1e-5)
