"""Differences of two models that no label shows, and those whose variance grows with them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import sondage
from sondage.core.comparisons import Contrast
from sondage.core.domains import domain_estimate
from sondage.core.measures import MCC, BalancedAccuracy, ErrorRate, FMeasure, MacroF, Measure, Task
from sondage.core.predictions import Classes, Items
from sondage.core.ratios import unknown_variance
from sondage.core.samples import Sample, from_inclusion
from sondage.core.variances import unseen_variance

TASK = Task("classification", (0, 1, 2))
MEASURES = [ErrorRate(), FMeasure(positive=1), BalancedAccuracy(), MacroF(), MCC()]


def all_right(random: np.random.Generator, size: int = 5_000) -> tuple[sondage.Pool, np.ndarray]:
    """Return two models that are right but for one item in 250 each, and the labels."""
    truth = random.integers(3, size=size)
    wrong = random.choice(size, size=(2, size // 250), replace=False)
    first, second = truth.copy(), truth.copy()
    first[wrong[0]], second[wrong[1]] = (first[wrong[0]] + 1) % 3, (second[wrong[1]] + 2) % 3
    return sondage.Pool(
        models={"a": sondage.Classifier(predictions=first), "b": sondage.Classifier(predictions=second)}
    ), truth


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_labels_without_a_difference_leave_open_what_the_worst_items_would_make(measure: Measure) -> None:
    pool, truth = all_right(np.random.default_rng(1))
    seed = next(seed for seed in range(99) if _agreed(pool, truth, measure, seed))
    found = sondage.compare(pool, "a", "b", measure, labels=truth, budget=40, seed=seed, method="passive").estimate
    evidence = found.evidence
    assert evidence is not None
    sample, sums, influence = evidence.sample, evidence.fit.sums, evidence.contrast.influence(evidence.fit.sums)
    cells = [
        sum(a[j, y] for (_, a), j in zip(influence.terms, predicted, strict=True)) - influence.constant
        for y in range(3)
        for predicted in np.ndindex(3, 3)
    ]
    shown = influence.at(sample.items, sample.labels)
    most = max(max(cells) - shown.min(), shown.max() - min(cells))
    rest = 2 * (5_000 - 40) / 5_000 / (40 + 4)
    assert unseen_variance(evidence.contrast, sample, sums) == pytest.approx((rest * most) ** 2)
    assert found.std_error == pytest.approx(rest * most)
    alone = Contrast(evidence.contrast.functional, ((0, 1.0),))
    assert unseen_variance(alone, sample, sums) == 0.0


def _agreed(pool: sondage.Pool, truth: np.ndarray, measure: Measure, seed: int) -> bool:
    found = sondage.compare(pool, "a", "b", measure, labels=truth, budget=40, seed=seed, method="passive")
    return any("all labels agree" in text for text in found.estimate.warnings)


@pytest.mark.parametrize("measure", [ErrorRate(), FMeasure(positive=1), MCC()], ids=lambda measure: measure.name)
def test_equal_draws_hold_the_difference_though_most_of_them_show_none(measure: Measure) -> None:
    # One is wrong on 30 of 1,500 items, and the probabilities of both are sure: 50 labels show none in .3 of the runs.
    random = np.random.default_rng(5)
    truth = random.integers(2, size=1_500)
    wrong = np.isin(np.arange(1_500), random.choice(1_500, size=30, replace=False))
    p, q = np.where(truth > 0, 0.999, 0.001), np.where((truth > 0) ^ wrong, 0.999, 0.001)
    pool = sondage.Pool(models={"a": sondage.Classifier(p), "b": sondage.Classifier(q)})
    exact = sondage.compare(pool, "a", "b", measure, labels=truth, budget=1_500).difference
    found = [
        sondage.compare(pool, "a", "b", measure, labels=truth, budget=50, seed=seed, method="passive")
        for seed in range(100)
    ]
    assert (
        np.mean([exact in one.interval(0.95) for one in found]) >= 0.93
    )  # of F1 and MCC .7 by what the belief expects alone
    assert np.mean([one.pvalue < 0.05 for one in found]) <= 0.05


def of_labels(labels: list[int]) -> Sample:
    """Return items drawn equally from twice as many, which two models predict alike and right."""
    y = np.array(labels)
    alike = Classes(y, np.eye(3)[y])
    return Sample(Items((alike, alike), np.full(len(y), 0.5 / len(y))), y, from_inclusion(np.full(len(y), 0.5)))


def test_a_class_that_nothing_tells_of_may_make_all_the_difference() -> None:
    measure, sample = MacroF().ready(TASK), of_labels([0, 1])
    both = Contrast(measure, ((0, 1.0), (1, -1.0)))
    first, second = np.diag([0.5, 0.5, 0.0]), np.diag([0.4, 0.5, 0.1])
    assert unknown_variance(both, sample, {0: first, 1: second}) == pytest.approx((1 / 3 / 2) ** 2)
    assert unknown_variance(both, sample, {0: second, 1: second}) == 0.0
    assert unknown_variance(Contrast(measure, ((0, 1.0),)), sample, {0: first}) == 0.0
    nearly = replace(sample, expansion=from_inclusion(np.full(2, 0.95)))
    assert unknown_variance(both, nearly, {0: first, 1: second}) == pytest.approx(2 / 19 / 3 / 9)
    error = ErrorRate().ready(TASK)
    assert unknown_variance(Contrast(error, both.weights), sample, {0: first, 1: second}) == 0.0


def test_a_class_that_a_belief_alone_tells_of_may_not_occur() -> None:
    both = Contrast(BalancedAccuracy().ready(TASK), ((0, 1.0), (1, -1.0)))
    first = np.array([[0.4, 0.0, 0.0], [0.1, 0.4, 0.0], [0.0, 0.0, 0.1]])  # recalls .8, 1, 1
    second = np.array([[0.5, 0.2, 0.05], [0.0, 0.2, 0.0], [0.0, 0.0, 0.05]])  # 1, .5, .5
    sums = {0: first, 1: second}
    assert both.value(sums) == pytest.approx(0.8 / 3)
    assert unknown_variance(both, of_labels([0, 1]), sums) == pytest.approx((0.8 / 3 - 0.3 / 2) ** 2 / 2)
    assert unknown_variance(both, of_labels([0, 1, 2]), sums) == 0.0
    macro = Contrast(MacroF().ready(TASK), both.weights)  # of which classes count that do not occur
    assert unknown_variance(macro, of_labels([0, 1]), sums) == 0.0


def probabilities_of(*predicted: np.ndarray) -> list[np.ndarray]:
    """Return probabilities of four classes, .9 for those predicted."""
    return [0.025 + 0.9 * np.eye(4)[one] for one in predicted]


def test_a_class_that_does_not_occur_is_in_the_interval_of_a_difference() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(3, size=600)
    other = np.where(random.random(600) < 0.2, (truth + 1) % 3, truth)
    pool = sondage.Pool(
        models={name: sondage.Classifier(p) for name, p in zip("ab", probabilities_of(truth, other), strict=True)}
    )
    exact = sondage.compare(pool, "a", "b", "balanced_accuracy", labels=truth, budget=600).difference
    for budget in (100, 300, 590):
        found = sondage.compare(pool, "a", "b", "balanced_accuracy", labels=truth, budget=budget)
        assert exact in found.interval(0.95)
    assert found.std_error < 0.04  # of ten items one may be of a class that none of 590 is of, which is not likely


def sure_and_wrong(seed: int) -> tuple[sondage.Pool, np.ndarray]:
    """Return a model that is all but perfect, one that is not, and labels of which some are wrong by chance."""
    random = np.random.default_rng(seed)
    logits = random.normal(0.0, 6.0, size=3_000)
    labels = (random.random(3_000) < 0.995 * expit(logits) + 0.0025).astype(int)
    other = expit(logits + random.normal(0.0, 3.0, size=3_000))
    return sondage.Pool(models={"a": sondage.Classifier(expit(logits)), "b": sondage.Classifier(other)}), labels


def test_the_interval_of_a_difference_of_areas_is_longer_where_its_variance_grows() -> None:
    pool, labels = sure_and_wrong(3)
    found = sondage.compare(pool, "a", "b", "auc", labels=labels, budget=100, seed=1).estimate
    assert found.slope != 0
    slopes = {
        measure: sondage.compare(pool, "a", "b", measure, labels=labels, budget=100, seed=1).estimate.slope
        for measure in ("brier", "log_loss", "average_precision", "balanced_accuracy")
    }
    assert [measure for measure, slope in slopes.items() if slope != 0] == ["brier"]
    both = sondage.select(pool, "auc", labels=labels, budget=100, seed=1)
    assert [one.slope for one in both.estimates.values()] == [0.0, 0.0]
    for slope in (found.slope, -found.slope):
        grown, student = replace(found, slope=slope).interval(0.9), replace(found, slope=0.0).interval(0.9)
        longer, same = (grown.high, grown.low) if slope > 0 else (-grown.low, -grown.high)
        ends = (student.high, student.low) if slope > 0 else (-student.low, -student.high)
        assert longer > ends[0] + 1e-6
        assert same == pytest.approx(ends[1])


@pytest.mark.parametrize("alternative", ["less", "greater"])
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.03])
def test_the_test_of_a_difference_of_areas_rejects_what_its_interval_leaves_out(
    alternative: str, margin: float
) -> None:
    pool, labels = sure_and_wrong(3)
    pair = ("a", "b") if alternative == "less" else ("b", "a")
    how = {"labels": labels, "budget": 100, "alternative": alternative, "margin": margin}
    found = [sondage.compare(pool, *pair, "auc", seed=seed, **how) for seed in range(12)]
    for one in found:
        interval, null = one.interval(0.9), margin if alternative == "less" else -margin
        outside = interval.high < null if alternative == "less" else interval.low > null
        assert outside == (one.pvalue < 0.05)


def test_so_does_a_part_of_the_pool() -> None:
    pool, truth = all_right(np.random.default_rng(1))
    measure = FMeasure(positive=1)
    seed = next(seed for seed in range(99) if _agreed(pool, truth, measure, seed))
    found = sondage.compare(pool, "a", "b", measure, labels=truth, budget=40, seed=seed, method="passive").estimate
    inside = np.arange(40) >= 30
    part = domain_estimate(found, inside)
    assert part.evidence is not None
    evidence = part.evidence
    least = unseen_variance(evidence.contrast, evidence.sample, evidence.fit.sums) ** 0.5
    assert part.std_error == pytest.approx(least)
    assert part.std_error > 1.5 * found.std_error  # ten labels in place of forty
    assert part.slope == 0.0


def found_apart(budget: int, method: str) -> tuple[sondage.Estimate, float]:
    """Return a difference in specificity of two models of which one finds more positives, and what it is."""
    random = np.random.default_rng(3)
    truth = (random.random(2_000) < 0.02).astype(int)
    first = truth * (random.random(2_000) < 0.3)
    second = truth * (random.random(2_000) < 0.7)
    p, q = (np.where(one > 0, 0.9, 0.02) for one in (first, second))
    pool = sondage.Pool(models={"a": sondage.Classifier(p), "b": sondage.Classifier(q)})
    how = {"labels": truth, "method": method, "seed": 2}
    exact = sondage.compare(pool, "a", "b", "specificity", budget=2_000, **how).difference
    return sondage.compare(pool, "a", "b", "specificity", budget=budget, **how).estimate, exact


def test_no_difference_is_open_where_all_items_are_labelled_that_models_predict_differently() -> None:
    found, exact = found_apart(300, "default")
    assert any("all labels agree" in text for text in found.warnings)
    assert abs(found.value - exact) < 1e-9
    assert 0 < found.std_error < 1e-3  # 2 / 304 of all others otherwise


def test_of_items_predicted_differently_no_more_are_open_than_equal_draws_say() -> None:
    found, _ = found_apart(200, "passive")
    evidence = found.evidence
    assert evidence is not None
    sample, sums = evidence.sample, evidence.fit.sums
    p, q = (sample.items.classes(model).predictions for model in (0, 1))
    step = 1.0 / sums[0][:, 0].sum()  # what an item predicted differently makes if it is no positive
    apart = int(np.sum(p != q))
    assert apart > 0
    assert np.all(sample.labels[p != q] == 1)
    n, size = 200, 2_000
    rest = apart * (size / n - 1) / size * step
    spread = np.sqrt(apart * (1 - n / size) * (size / n) ** 2) / size * step
    expected = 2 * (rest + 2 * spread) / (apart + 4)
    assert unseen_variance(evidence.contrast, sample, sums) == pytest.approx(expected**2, rel=0.02)


@pytest.mark.parametrize("measure", ["auc", "average_precision"])
def test_areas_under_curves_are_open_by_the_number_of_labels_of_the_rarer_class(measure: str) -> None:
    random = np.random.default_rng(8)
    truth = (random.random(1_000) < 0.2).astype(int)
    first = np.where(truth > 0, 0.9, 0.1) + random.uniform(-0.05, 0.05, size=1_000)
    misplaced = random.random(1_000) < 0.03
    second = np.where(misplaced, 1.0 - first, first)
    pool = sondage.Pool(models={"a": sondage.Classifier(first), "b": sondage.Classifier(second)})
    how = {"labels": truth, "method": "passive", "positive": 1}
    exact = sondage.compare(pool, "a", "b", measure, budget=1_000, **how).difference
    found = [sondage.compare(pool, "a", "b", measure, budget=40, seed=seed, **how).estimate for seed in range(40)]
    agreed = [one for one in found if any("all labels agree" in text for text in one.warnings)]
    assert len(agreed) > 5
    for one in agreed:
        assert one.evidence is not None
        rarer = int(np.sum(one.evidence.sample.labels))
        assert one.std_error == pytest.approx(2 * (1 - 40 / 1_000) / (rarer + 4))
        assert exact in one.interval(0.95)
