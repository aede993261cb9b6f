"""The AUC, which the items decide whose labels are surest: its design, how stages are weighed, and its interval."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from sondage import Classifier, Pool, estimate_from, evaluate
from sondage.core.beliefs import ClassBelief, LearnedClassBelief
from sondage.core.comparisons import Contrast
from sondage.core.intervals import wilson_interval
from sondage.core.learning import Correction
from sondage.core.measures import parse_measure, settled
from sondage.core.ratios import denominator_labels
from sondage.studies.method import METHODS, Question
from sondage.studies.planning import make_plan

Floats = NDArray[np.float64]
P = np.array([0.02, 0.98, 0.35, 0.61, 0.5, 0.77, 0.13, 0.9, 0.44, 0.3])
HELP = np.array([0.4, 0.7, 0.65, 0.38, 0.9, 0.81, 0.76, 0.2, 0.05, 0.1])


def sizes_of(pool: Pool, measure: str, **parts: object) -> Floats:
    found = settled(parse_measure(measure), pool.task, pool.items, (0,))
    method = METHODS["default"] if not parts else METHODS["default"].__class__(**{"floor": 0.0} | parts)
    return np.asarray(make_plan(pool, Question("evaluate", pool.models, (found,)), method).sizes)


def influences(p: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the influences of a negative and of a positive label at these chances, from pairs one by one."""
    total = {1: b @ p, 0: b @ (1 - p)}
    order = np.sign(P[:, None] - P[None, :]) / 2 + 0.5
    area = sum(b[i] * p[i] * b[j] * (1 - p[j]) * order[i, j] for i, j in product(range(10), repeat=2))
    area /= total[0] * total[1]
    below = order @ (b * (1 - p)) / total[0]
    above = (b * p) @ order / total[1]
    return (above - area) / total[0], (below - area) / total[1]


@pytest.mark.parametrize("weights", [None, np.array([1.0, 3, 0.5, 2, 1, 0.5, 4, 2, 5, 1])], ids=["equal", "unequal"])
def test_the_design_is_equal_parts_of_optimal_bounded_and_equal_draws(weights: Floats | None) -> None:
    b = np.full(10, 0.1) if weights is None else weights / weights.sum()
    parts = [b]
    for p in (P, 0.9 * P + 0.05):  # the believed means, and moved a tenth of the way to those of a half everywhere
        negative, positive = influences(p, b)
        root = b * np.sqrt(P * positive**2 + (1 - P) * negative**2)
        parts.append(root / root.sum())
    expected = 0.8 * sum(parts) / 3 + 0.2 * b
    np.testing.assert_allclose(sizes_of(Pool(P, weights=weights), "auc"), expected, rtol=1e-7)


def as_ever(pool: Pool, measure: str) -> Floats:
    three = [sizes_of(pool, measure, design=name) for name in ("optimal", "absolute", "bounded")]
    return np.asarray(sum(three)) / 3


def test_for_other_measures_it_is_as_ever() -> None:
    plain = sizes_of(Pool(P), "average_precision", design="adaptive")
    np.testing.assert_allclose(plain, as_ever(Pool(P), "average_precision"), rtol=1e-9)


def test_with_a_judge_it_is_as_ever() -> None:
    helped = Pool(P, judge=HELP)
    plain = sizes_of(helped, "auc", design="adaptive")
    np.testing.assert_allclose(plain, as_ever(helped, "auc"), rtol=1e-9)


OWN = LearnedClassBelief(2, models=((0, 1.0),))


@pytest.mark.parametrize(
    ("belief", "own"),
    [
        (ClassBelief(2, models=((0, 1.0),)), True),
        (OWN, True),
        (replace(OWN, correction=Correction(unneeded=0.6)), True),
        (replace(OWN, correction=Correction(unneeded=0.4)), False),
        (replace(OWN, models=((0, 0.6), (1, 0.4))), True),
        (replace(OWN, models=((0, 0.4), (1, 0.6))), False),
        (replace(OWN, judge=0.5), False),
    ],
)
def test_it_rests_on_the_model_until_labels_turn_the_belief_to_others(belief: ClassBelief, own: bool) -> None:
    pool = Pool(P)
    auc = settled(parse_measure("auc"), pool.task, pool.items, (0,))
    assert Contrast(auc, ((0, 1.0),)).rests_on_model(belief) is own
    assert not Contrast(auc, ((0, 1.0), (1, -1.0))).rests_on_model(belief)


def sure_and_wrong(size: int = 2000) -> tuple[Floats, NDArray[np.int64]]:
    """Log odds three times too large, as those of naive Bayes, and two labels of a hundred by chance."""
    random = np.random.default_rng(3)
    odds = random.normal(-1, 4, size)
    labels = random.random(size) < 1 / (1 + np.exp(-odds))
    return 1 / (1 + np.exp(-3 * odds)), np.where(random.random(size) < 0.02, ~labels, labels).astype(int)


def test_stages_count_by_their_labels_unless_others_help() -> None:
    p, labels = sure_and_wrong()
    random = np.random.default_rng(0)
    told = np.clip(labels + random.normal(0, 0.2, len(p)), 0.02, 0.98)
    others = {"alone": (), "noise": (random.random(len(p)),), "told": (told,)}
    pools = {name: Pool(models=dict(zip("ab", map(Classifier, (p, *of)), strict=False))) for name, of in others.items()}
    shares = {}
    for name, pool in pools.items():
        estimate = evaluate(pool, "auc", labels=labels, budget=100, model="a")
        assert estimate.evidence is not None
        shares[name] = estimate.evidence.fit.shares
    np.testing.assert_allclose(shares["alone"], [0.2, 0.3, 0.5], rtol=1e-12)
    np.testing.assert_allclose(shares["noise"], [0.2, 0.3, 0.5], rtol=1e-12)
    assert not np.allclose(shares["told"], [0.2, 0.3, 0.5], atol=1e-3)


def test_of_a_model_that_is_sure_and_wrong_the_design_is_hardly_worse_than_equal_draws() -> None:
    p, labels = sure_and_wrong()
    order = np.sign(p[:, None] - p[None, :]) / 2 + 0.5
    positive, negative = labels == 1, labels == 0
    below, above = order[:, negative].mean(axis=1), order[positive].mean(axis=0)
    placement = np.where(positive, below / positive.mean(), above / negative.mean())
    residual = placement - np.where(
        positive, below[positive].mean() / positive.mean(), above[negative].mean() / negative.mean()
    )

    def variance(sizes: Floats, n: int = 100) -> float:
        chance = np.minimum(n * sizes, 1.0)
        return float(np.sum((1 / chance - 1) * residual**2))

    equal, pool = np.full(len(p), 1 / len(p)), Pool(p)
    uncertain = 0.8 * (sizes_of(pool, "auc", estimator="assisted", design="optimal")) + 0.2 * equal
    assert variance(sizes_of(pool, "auc")) < 1.2 * variance(equal)
    assert variance(uncertain) > 1.5 * variance(equal)


def test_coverage_of_a_model_that_is_sure_and_wrong() -> None:
    p, labels = sure_and_wrong()
    truth, pool, held = roc_auc_score(labels, p), Pool(p), []
    for seed in range(60):
        interval = evaluate(pool, "auc", labels=labels, budget=200, seed=seed).interval()
        held.append(interval.low <= truth <= interval.high)
    assert np.mean(held) > 0.88


@pytest.mark.parametrize("measure", ["auc", "average_precision"])
@pytest.mark.parametrize("rare", [0, 1])
def test_pairs_are_as_many_as_the_rarer_class_has_labels(measure: str, rare: int) -> None:
    labels = np.where(np.arange(100) < 5, rare, 1 - rare)
    scores = np.where(labels == 1, 0.9, 0.1)
    found = estimate_from(measure, probabilities=scores, labels=labels, inclusion=np.full(100, 0.01), pool_size=10_000)
    assert denominator_labels(found) == pytest.approx(5)
    assert found.value == 1.0
    assert found.interval().high == 1.0
    assert found.interval().low == pytest.approx(wilson_interval(1.0, 5).low)


def test_doubt_is_not_taken_for_fewer_labels_than_the_rarer_class_has() -> None:
    random = np.random.default_rng(4)
    labels = (np.arange(3000) < 90).astype(int)
    scores = np.where(
        labels == 1, random.choice([0.3, 0.6, 0.9], 3000), random.choice([0.0, 0.1], 3000, p=[0.95, 0.05])
    )
    scores[:2] = 0.05  # two positives below a few negatives
    for seed in range(5):
        estimate = evaluate(Pool(scores), "auc", labels=labels, budget=300, seed=seed)
        n, interval = denominator_labels(estimate), estimate.interval()
        if estimate.value < 1:
            explained = estimate.value * (1 - estimate.value) / estimate.std_error**2
            assert interval.low >= wilson_interval(estimate.value, min(n, explained)).low - 1e-9
            assert interval.width < 0.6
