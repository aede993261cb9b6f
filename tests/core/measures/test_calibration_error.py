"""Expected calibration error: its value by loops, its bias by quadrature, and what may not be asked of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sondage import Classifier, Pool, Study, compare, estimate_from, evaluate, select
from sondage.core.measures import ECE, Task, parse_measure
from sondage.core.plausible import reckoned_with
from sondage.errors import InputError, MeasureError
from sondage.studies.method import Method, Question
from sondage.studies.planning import make_plan, settle

Floats = NDArray[np.float64]


def problem(size: int = 3000, slope: float = 1.0, seed: int = 1) -> tuple[Floats, NDArray[np.int64]]:
    """Probabilities with the right log odds times the slope, and labels."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 1.0, size)
    return 1 / (1 + np.exp(-slope * odds)), (rng.uniform(size=size) < 1 / (1 + np.exp(-odds))).astype(np.int64)


def by_loops(confidence: Floats, right: NDArray[Any], weights: Floats, edges: Floats) -> float:
    total, low = 0.0, -np.inf
    for high in edges:
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            share = weights[inside].sum() / weights.sum()
            gap = np.average(confidence[inside], weights=weights[inside]) - np.average(
                right[inside], weights=weights[inside]
            )
            total, low = total + share * abs(gap), high
    return total


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_widths_by_loops(k: int, weighted: bool, rng: np.random.Generator) -> None:
    p, labels = rng.dirichlet(np.ones(k), size=300), rng.integers(0, k, 300)
    weights = rng.uniform(0.2, 3.0, 300) if weighted else np.ones(300)
    found = evaluate(Pool(p, weights=weights), "ece:bins=10,spacing=width", labels=labels, budget=300)
    assert found.exact
    assert found.std_error == 0
    expected = by_loops(p.max(axis=1), p.argmax(axis=1) == labels, weights, np.arange(1, 11) / 10)
    assert found.value == pytest.approx(expected, rel=1e-12)


def test_equal_masses_by_loops() -> None:
    p, labels = problem(600)
    confidence = np.maximum(p, 1 - p)
    edges = np.sort(confidence)[np.arange(1, 13) * 50 - 1]
    found = evaluate(Pool(p), ECE(bins=12), labels=labels, budget=600)
    assert found.value == pytest.approx(by_loops(confidence, (p > 0.5) == labels, np.ones(600), edges), rel=1e-12)


def test_confidence_is_that_of_the_prediction() -> None:
    # Three quarters sure of a class that is not the one predicted: confidence .25, and never right.
    pool = Pool([[0.25, 0.75]] * 4, predictions=[0] * 4)
    assert evaluate(pool, "ece", labels=[1] * 4, budget=4).value == pytest.approx(0.25, rel=1e-12)


def test_bias_that_is_left_is_as_small_as_promised() -> None:
    corrected = ECE().ready(Task("classification", (0, 1))).corrected
    assert corrected is not None
    noise = np.linspace(-8, 8, 1601)
    density = np.exp(-0.5 * noise**2) / np.sqrt(2 * np.pi) * (noise[1] - noise[0])

    def mean(mu: float) -> tuple[float, float]:
        # Beside a bin far from 0, which has no bias, so that the sum is never cut off at 0.
        pairs = [corrected(np.array([mu + z, 100.0]), np.ones(2)) for z in noise]
        value, left = np.array(pairs).T
        return float(density @ value) - 100.0 - mu, float(density @ left)

    found = {mu: mean(mu) for mu in (0.0, 0.5, 1.0, 1.25, 2.0, 3.0, 4.0)}
    assert found[0.0][0] == pytest.approx((2 - np.sqrt(2)) * np.sqrt(2 / np.pi) * (1 - np.sqrt(1 / 8)), rel=1e-4)
    assert all(-0.21 < bias < 0.31 for bias, _ in found.values())
    assert all(abs(bias) < left + 0.06 for bias, left in found.values())
    assert abs(found[4.0][0]) < 0.01


def test_without_noise_nothing_is_corrected() -> None:
    corrected = ECE().ready(Task("classification", (0, 1))).corrected
    assert corrected is not None
    assert corrected(np.array([-0.25, 0.0, 0.5]), np.zeros(3)) == (0.75, 0.0)
    assert corrected(np.zeros(2), np.ones(2))[0] == 0.0  # never negative


@pytest.mark.parametrize("slope", [1.0, 1.4, 2.0])
def test_intervals_hold_where_bins_are_calibrated_and_where_not(slope: float) -> None:
    # 40 draws of 250 of 3,000. In 150 runs each, the smallest coverage of .95 over ten settings was .933; the plug-in's
    # mean is .103 at slope 1.4 where the truth is .060.
    p, labels = problem(slope=slope)
    pool = Pool(p)
    truth = evaluate(pool, "ece", labels=labels, budget=3000).value
    found = [evaluate(pool, "ece", labels=labels, budget=250, seed=seed) for seed in range(40)]
    ends = [one.interval(0.95) for one in found]
    assert sum(one.low <= truth <= one.high for one in ends) >= 36
    values, errors = [one.value for one in found], [one.std_error for one in found]
    assert abs(np.mean(values) - truth) < 0.5 * np.mean(errors)
    if slope < 2:  # the plug-in's bias
        plug_in = np.mean([np.abs(one.evidence.fit.sums[0]).sum() for one in found])  # type: ignore[union-attr]
        assert abs(np.mean(values) - truth) < 0.4 * (plug_in - truth)


def test_plausible_values_are_those_of_pools_with_labels_from_each_belief() -> None:
    # Ten items like each that is labelled: the label that it has, and nine that the belief tells.
    p, labels = problem(600, slope=2.5)
    asked: list[int] = []

    def answer(ids: list[int]) -> list[int]:
        asked.extend(ids)
        return [int(labels[one]) for one in ids]

    found = evaluate(Pool(p), "ece:bins=4", labels=answer, budget=60, method="passive", seed=3)
    evidence, plausible = found.evidence, found.plausible
    assert evidence is not None
    assert plausible is not None
    sample, belief = evidence.sample, evidence.estimation.belief
    assert belief is not None
    beliefs = reckoned_with(evidence.contrast, belief, sample)
    assert len(beliefs) == len(plausible.means)
    probability, random = p[asked], np.random.default_rng(4)
    confidence, predicted = np.maximum(probability, 1 - probability), (probability > 0.5).astype(int)
    edges = np.quantile(np.maximum(p, 1 - p), [0.25, 0.5, 0.75], method="inverted_cdf")
    member = np.searchsorted(edges, confidence)[:, None] == np.arange(4)
    right = (predicted == sample.labels).astype(float)
    for at in (0, 20, 40, 59):
        told = dict(beliefs[at].supposed(sample.items, (0,)))
        chance = np.where(predicted == 1, told[1], told[0])
        others = random.binomial(9, chance, size=(20_000, 60))
        gaps = (10 * confidence - right - others) @ member / 600
        values = np.abs(gaps).sum(axis=1) - found.value
        assert plausible.means[at] == pytest.approx(values.mean(), abs=0.0008)
        assert plausible.deviations[at] == pytest.approx(values.std(), rel=0.06)


@pytest.mark.parametrize("labels", [60, 100])
def test_intervals_reach_for_rare_items_of_which_the_model_is_far_too_sure(labels: int) -> None:
    rng = np.random.default_rng(5)
    odds = rng.normal(-4.0, 2.0, 4000)
    given = (rng.random(4000) < 1 / (1 + np.exp(-odds))).astype(int)
    pool, held, without = Pool(1 / (1 + np.exp(-3.0 * odds))), [], []
    truth = evaluate(pool, "ece", labels=given, budget=4000).value
    for seed in range(80):
        found = evaluate(pool, "ece", labels=given, budget=labels, seed=seed)
        held.append(truth in found.interval())
        without.append(truth in replace(found, plausible=None).interval())
    assert np.mean(held) >= 0.9
    assert np.mean(without) < 0.85


def test_in_the_whole_of_slices_gaps_of_opposite_signs_cancel() -> None:
    rng = np.random.default_rng(6)
    side, p = np.arange(2000) % 2, rng.uniform(0.6, 0.8, 2000)
    labels = (rng.random(2000) < np.where(side == 1, p + 0.2, p - 0.2)).astype(int)
    found = evaluate(Pool(p), "ece:bins=1", labels=labels, budget=400, method="passive", seed=1, slices=side)
    middles = []
    for one in (found[0], found[1], found.overall):
        assert one.plausible is not None
        middles.append(one.value + one.plausible.quantile(0.5))
    assert middles[0] > 0.1
    assert middles[1] > 0.1
    assert middles[2] < 0.06


def two_models(size: int = 1500) -> tuple[Pool, NDArray[np.int64]]:
    p, labels = problem(size)
    over = 1 / (1 + ((1 - p) / p) ** 3)
    return Pool(models={"right": Classifier(p), "sure": Classifier(over)}), labels


def test_comparison_labels_items_on_which_models_agree() -> None:
    # Where both err to the same side their influences cancel, but the sides are not known: every item matters.
    pool, labels = two_models()
    question = settle(pool, Question("compare", ("right", "sure"), (parse_measure("ece"),)))
    plan = make_plan(pool, question, Method())
    assert plan.sizes.min() > 0.1 / len(pool)
    found = compare(pool, "right", "sure", "ece:bins=8", labels=labels, budget=1000)
    assert found.better == "right"
    assert select(pool, "ece:bins=8", labels=labels, budget=1000).best == "right"


def test_a_study_keeps_the_bins(tmp_path: Path) -> None:
    pool, labels = two_models(400)
    study = Study.create(tmp_path / "study.db", pool, "ece:bins=6", budget=100, model="sure", stages=1)
    ids = study.ask(100)
    study.tell(ids, labels[ids].tolist())
    again = Study.open(tmp_path / "study.db").estimate()
    directly = evaluate(pool, "ece:bins=6", labels=labels, budget=100, model="sure", stages=1)
    assert (again.value, again.std_error) == (directly.value, directly.std_error)  # type: ignore[union-attr]


def test_labels_drawn_elsewhere() -> None:
    p, labels = problem(500, slope=3.0)
    everything = estimate_from("ece", probabilities=p, labels=labels, inclusion=np.ones(500))
    assert everything.value == pytest.approx(evaluate(Pool(p), "ece", labels=labels, budget=500).value, rel=1e-12)
    tenth = estimate_from("ece", probabilities=p[:50], labels=labels[:50], inclusion=np.full(50, 0.1))
    assert tenth.std_error > 0.02


def test_what_does_not_hold_is_refused(rng: np.random.Generator) -> None:
    pool, labels = two_models(300)
    with pytest.raises(MeasureError, match="target='population' does not fit"):
        evaluate(pool, "ece", labels=labels, budget=100, model="sure", target="population")
    with pytest.raises(MeasureError, match="target='population' does not fit"):
        estimate_from("ece", probabilities=[0.1, 0.9], labels=[0, 1], inclusion=[0.5, 0.5], target="population")
    found = evaluate(pool, "ece", labels=labels, budget=100, model="sure")
    with pytest.raises(InputError, match="'bootstrap' does not hold for 'ece'"):
        found.interval(0.95, "bootstrap", generator=rng)
    with pytest.raises(InputError, match="'permutation' does not hold for 'ece'"):
        compare(pool, "right", "sure", "ece", labels=labels, budget=100, test="permutation")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ece:bins=2.5", "must be a whole number"),
        ("ece:bins=0", "must be a whole number"),
        ("ece:spacing=log", "no spacing 'log'; there are mass, width"),
    ],
)
def test_parameters_are_checked(name: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse_measure(name)


def test_names_say_what_is_not_the_default() -> None:
    assert [ECE().name, ECE(bins=5).name, ECE(spacing="width").name] == ["ece", "ece:bins=5", "ece:spacing=width"]
    assert parse_measure("ece:bins=5,spacing=width") == ECE(5, "width")
