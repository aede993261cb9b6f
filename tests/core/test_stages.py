"""Several stages into one estimate, against sums by hand and against the truth."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sondage import Classifier, Pool, evaluate
from sondage.core.assisted import Assisted, near_one
from sondage.core.catalogue.estimators import ESTIMATORS
from sondage.core.centres import normalising
from sondage.core.comparisons import Contrast
from sondage.core.contenders import Focus
from sondage.core.estimators import linearise
from sondage.core.measures import parse_measure
from sondage.core.predictions import Items
from sondage.core.samples import Expansion, Known, LabelledStage, Sample, from_inclusion
from sondage.core.stages import Estimation
from sondage.core.weighing import uncontradicted
from sondage.studies.budgets import stage_end
from sondage.studies.method import Question, choose_method
from sondage.studies.responses import labelled
from sondage.studies.session import Session


def problem(n: int = 400, seed: int = 0, slope: float = 1.0) -> tuple[Pool, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    logit = rng.normal(-0.5, 2, size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))) * 1
    return Pool(1 / (1 + np.exp(-slope * logit)), weights=rng.uniform(0.5, 2, size=n)), y


def several(n: int = 400, seed: int = 0, apart: float = 4.0, doubt: float = 1.0) -> tuple[Pool, NDArray[np.int64]]:
    """Return three models that differ on some items and are `doubt` times as sure as is right, and labels."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-0.5, apart, size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))) * 1
    own = {name: doubt * (logit + rng.normal(0, 1, size=n)) for name in "abc"}
    return Pool(models={name: Classifier(1 / (1 + np.exp(-x))) for name, x in own.items()}), y


def answered(
    pool: Pool, y: Any, measure: str = "error_rate", budget: int = 60, kind: str = "evaluate", **parts: Any
) -> Session:
    question = Question(kind, pool.models, (parse_measure(measure),))
    session = Session.start(pool, question, choose_method(**parts), budget=budget, seed=3)
    while ids := session.ask_stage(pool, 100):
        session.tell(ids, y[ids].tolist())
    return session


@pytest.mark.parametrize(
    ("budget", "ends"),
    [(300, [60, 150, 300]), (100, [20, 50, 100]), (25, [12, 25]), (15, [15]), (1000, [200, 500, 1000])],
)
def test_stages_end_where_their_shares_say(budget: int, ends: list[int]) -> None:
    found = [0.0]
    while found[-1] < budget:
        found.append(stage_end((0.2, 0.3, 0.5), budget, found[-1], 10))
    assert found[1:] == ends


def test_each_stage_is_drawn_from_the_rest_and_believes_the_labels() -> None:
    pool, y = problem(slope=3.0)
    session = answered(pool, y)
    assert [len(stage.drawn) for stage in session.stages] == [12, 18, 30]
    assert len(set(session.ids)) == 60
    beliefs: list[Any] = [stage.known.belief for stage in session.stages]
    assert beliefs[0].slope == 1.0
    for number in (1, 2):
        positions = np.arange(session.firsts[number])
        items, labels, _ = session.rows(positions)
        assert beliefs[number] == beliefs[0].calibrated(items, labels)


def test_one_stage_is_the_estimator_itself() -> None:
    pool, y = problem()
    session = answered(pool, y, "f1", stages=1)
    found = labelled(session).estimation
    contrast = evaluate(pool, "f1", y, budget=60, seed=3, stages=1).evidence.contrast  # type: ignore[union-attr]
    (stage,) = found.stages
    fit, normal = found.fit(contrast), normalising(stage.sample, stage.known)
    assert fit.value == ESTIMATORS["anchored"](contrast, stage.sample, stage.known).value
    coefficient = near_one([contrast], stage.sample, stage.known, normal)
    assert fit.value != Assisted.by(contrast, stage.sample, stage.known, coefficient, normal).value
    assert found.around(contrast, fit).variance == pytest.approx(fit.variance, rel=1e-12)


@pytest.mark.parametrize("parts", [{}, {"stages": 1}, {"draw": "neyman"}, {"estimator": "self_normalised"}], ids=str)
def test_residuals_of_stages_have_the_variance_of_their_fit(parts: dict[str, Any]) -> None:
    pool, y = problem()
    found = labelled(answered(pool, y, "f1", **parts)).estimation
    fit = found.fit(Contrast(parse_measure("f1").ready(pool.task), ((0, 1.0),)))
    assert found.variance(fit, fit.residuals) == pytest.approx(fit.variance, rel=1e-12)
    assert np.sum((found.roots(fit) * fit.residuals) ** 2) >= fit.variance * (1 - 1e-12)


@pytest.mark.parametrize("measure", ["error_rate", "brier"])
def test_differences_of_several_models_are_expanded_and_the_best_one_is_normalised(measure: str) -> None:
    pool, y = several()
    found = labelled(answered(pool, y, measure, kind="select", stages=1)).estimation
    functional = parse_measure(measure).ready(pool.task)
    (stage,) = found.stages
    single = [Contrast(functional, ((model, 1.0),)) for model in range(3)]
    joint = found.joint(single)
    fits = joint.apart
    for first, second in combinations(range(3), 2):
        pair = Contrast(functional, ((first, 1.0), (second, -1.0)))
        alone = Assisted.by(pair, stage.sample, stage.known, fits[0].coefficient, None)
        assert fits[first].value - fits[second].value == pytest.approx(alone.value, abs=1e-12)
        assert fits[first].residuals - fits[second].residuals == pytest.approx(alone.residuals, abs=1e-12)
    best = int(np.argmin([fit.value for fit in fits]))
    normal = normalising(stage.sample, stage.known)
    alone = Assisted.by(single[best], stage.sample, stage.known, fits[0].coefficient, normal)
    assert fits[best].value == pytest.approx(alone.value, rel=1e-12)
    assert joint.own[best].residuals == pytest.approx(alone.residuals, abs=1e-12)
    for fit in joint.own:
        assert fit.variance == pytest.approx(np.sum((found.roots(fit) * fit.residuals) ** 2), rel=1e-12)


def test_stages_have_weights_of_their_own_for_what_models_have_in_common() -> None:
    pool, y = several()
    session = answered(pool, y, "f1", kind="select")
    found, functional = labelled(session).estimation, parse_measure("f1").ready(pool.task)
    single = [Contrast(functional, ((model, 1.0),)) for model in range(3)]
    joint = found.joint(single, lambda fits: Focus(0, (0.0, 0.5, 0.5)))
    assert joint.best == int(np.argmax([fit.value for fit in joint.own]))
    assert [fit.value for fit in joint.own] == [fit.value for fit in joint.apart]
    assert not np.allclose(joint.own[0].shares, joint.apart[0].shares, rtol=0.05)  # type: ignore[arg-type]
    # Whichever weights residuals are written with, the errors of differences are the same ones.
    for first, second in combinations(range(3), 2):
        errors = [
            (fits[first].residuals - fits[second].residuals) * found.roots(fits[first])
            for fits in (joint.apart, joint.own)
        ]
        np.testing.assert_allclose(*errors, rtol=1e-9, atol=1e-15)
    best, alone = joint.own[joint.best], []
    for stage, fit in zip(found.stages, best.stages, strict=True):
        normal = normalising(stage.sample, stage.known)
        alone.append(Assisted.by(single[joint.best], stage.sample, stage.known, fit.coefficient, normal))
    sums = np.sum([a * fit.sums[joint.best] for a, fit in zip(best.shares, alone, strict=True)], axis=0)  # type: ignore[arg-type]
    assert best.value == pytest.approx(single[joint.best].value({joint.best: sums}), rel=1e-12)


@pytest.mark.parametrize("stages", [1, (0.5, 0.5)])
def test_differences_stay_where_values_would_be_out_of_range(stages: Any) -> None:
    # Models that are better than they say: by few labels some have an F1 above 1.
    beyond = []
    for seed in range(8):
        pool, y = several(seed=seed, apart=8.0, doubt=0.2)
        found = labelled(answered(pool, y, "f1", kind="select", budget=30, stages=stages)).estimation
        functional = parse_measure("f1").ready(pool.task)
        single = [Contrast(functional, ((model, 1.0),)) for model in range(3)]
        fits = found.joint(single).apart
        values = np.array([fit.value for fit in fits])
        expanded = np.array([one.value(fit.sums) for one, fit in zip(single, fits, strict=True)])
        beyond.append(expanded.max() > 1)
        assert values.max() <= 1
        assert np.diff(values) == pytest.approx(np.diff(expanded), abs=1e-12)
    assert any(beyond)


@pytest.mark.parametrize(("estimator", "lost"), [("self_normalised", 0), ("hajek", 1), ("horvitz_thompson", 0)])
def test_a_stage_keeps_the_variance_of_its_estimator(estimator: str, lost: int) -> None:
    # Thesis 3.14 has no degree of freedom for the mean that was taken out, in one stage and in several.
    pool, y = problem()
    contrast = evaluate(pool, "error_rate", y, budget=60).evidence.contrast  # type: ignore[union-attr]
    for stages in (1, (0.5, 0.5)):
        found = labelled(answered(pool, y, estimator=estimator, stages=stages)).estimation
        fit, ends = found.fit(contrast), np.cumsum([stage.sample.size for stage in found.stages])[:-1]
        shares = np.ones(1) if fit.shares is None else fit.shares
        expected = 0.0
        for stage, share, residuals in zip(found.stages, shares, np.split(fit.residuals, ends), strict=True):
            drawn = np.count_nonzero(stage.sample.expansion.spread)
            square = np.sum(stage.sample.expansion.spread * residuals**2)
            expected += share**2 * drawn / (drawn - lost) * square
        assert fit.variance == pytest.approx(expected, rel=1e-12)
        assert found.around(contrast, fit).variance == pytest.approx(fit.variance, rel=1e-12)


def test_merged_weights_give_the_estimate_of_a_mean() -> None:
    # Without the belief's help the estimate is the weighted sum of losses; the weights sum to the pool.
    pool, y = problem()
    estimate = evaluate(pool, "error_rate", y, budget=60, seed=3, estimator="hajek")
    evidence = estimate.evidence
    assert evidence is not None
    sample = evidence.sample
    wrong = (np.asarray(sample.items.models[0].probabilities) > 0.5) != sample.labels  # type: ignore[union-attr]
    assert np.sum(sample.row_weights * wrong) == pytest.approx(estimate.value, rel=1e-12)
    assert np.sum(sample.row_weights) == pytest.approx(1.0, rel=1e-12)


def test_each_stage_tells_of_what_none_drew() -> None:
    # Three stages of independent draws from what is left: on average each has the total that is left at the end.
    rng = np.random.default_rng(2)
    totals, runs = rng.uniform(0.5, 2, size=12), []
    chances = np.array([rng.uniform(0.2, 0.7, size=12) for _ in range(3)])
    for _ in range(4000):
        left, stages, drawn = np.ones(12, dtype=bool), [], []
        for chance in chances:
            here = left & (rng.random(12) < chance)
            left &= ~here
            drawn.append(np.flatnonzero(here))
            stages.append(stage_of(chance[here]))
        expansion = Estimation(stages[0].sample, tuple(stages), lambda *_: None).merged(np.full(3, 1 / 3)).expansion
        assert expansion.left is not None
        runs.append(expansion.left @ totals[np.concatenate(drawn)] - totals[left].sum())
    errors = np.array(runs)
    assert np.all(np.abs(errors.mean(axis=0)) < 3.5 * errors.std(axis=0) / np.sqrt(len(runs)))


def stage_of(inclusion: NDArray[np.float64]) -> LabelledStage:
    """Return a stage of units drawn with these probabilities, of which nothing else is known."""
    items = Items((), np.ones(len(inclusion)))
    return LabelledStage(
        Sample(items, np.zeros(len(inclusion)), from_inclusion(inclusion)), Known(1.0, None, {}, {}, 1.0)
    )


def test_a_stage_that_drew_nothing_of_a_total_does_not_tell_of_its_rest() -> None:
    left = np.array([[1.5, 1.5, -1.0, -1.0], [0.0, 0.0, 9.0, 9.0]])
    expansion = Expansion(np.ones(4), np.zeros(4), left=left)
    totals = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    rest = expansion.rest(totals)
    assert rest[[0, 1, 3]].tolist() == pytest.approx([3.0, 18.0, 0.0])
    both = (1.5 - 1) / (1.5 * 2.5 + 1) + 9 / (90 + 1)
    assert rest[2] == pytest.approx(both / (1 / (1.5 * 2.5 + 1) + 1 / (90 + 1)), rel=1e-12)
    assert Expansion(np.ones(4), np.zeros(4)).rest(totals).tolist() == [0.0] * 4


def tempered(variances: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of stages of these expected variances: what a label errs by, half of any stage's at 15."""
    errors = sizes * variances
    drawn = (sizes**2 * errors + 225 * (sizes @ errors) / sizes.sum()) / (sizes**2 + 225)
    return np.asarray(sizes / drawn / np.sum(sizes / drawn))


def test_by_hand() -> None:
    # Two stages: labelled before as they are, the rest by Hajek, shares as expected squared residuals have it.
    pool, y = problem()
    estimation = labelled(answered(pool, y, estimator="hajek", stages=(0.4, 0.6))).estimation
    contrast = evaluate(pool, "error_rate", y, budget=60).evidence.contrast  # type: ignore[union-attr]
    b, p = np.asarray(pool.items.weights), np.asarray(pool.items.models[0].probabilities)  # type: ignore[union-attr]
    session = answered(pool, y, estimator="hajek", stages=(0.4, 0.6))
    rows = [np.array(session.ids[:24]), np.array(session.ids[24:])]
    loss = ((p > 0.5) != y) * 1.0
    values, expected = [], []
    for number, stage in enumerate(estimation.stages):
        own, before = b[rows[number]], np.concatenate([[], *rows[:number]]).astype(int)
        w = stage.sample.expansion.weights * own
        rest = 1.0 - b[before].sum()
        values.append(b[before] @ loss[before] + rest * (w @ loss[rows[number]]) / w.sum())
        one = next(weight for label, weight in estimation.belief.supposed(stage.sample.items, (0,)) if label == 1)  # type: ignore[union-attr]
        wrong = np.where(p[rows[number]] > 0.5, 1 - one, one)
        off = rest / w.sum() * (wrong - w @ wrong / w.sum())
        expected.append(stage.sample.expansion.spread @ (own**2 * (wrong * (1 - wrong) + off**2)))
    shares = tempered(np.array(expected), np.array([24.0, 36.0]))
    found = estimation.fit(contrast)
    assert found.shares == pytest.approx(shares, rel=1e-10)
    assert found.value == pytest.approx(shares @ values, rel=1e-10)


def test_stages_are_weighed_by_the_squares_that_the_belief_expects_of_their_own_residuals() -> None:
    # Every label of every unit enumerated: residuals of a difference need no centre, so each is its unit's own.
    pool, y = problem()
    half = np.random.default_rng(2).uniform(size=len(y))
    first = pool.items.models[0].probabilities  # type: ignore[union-attr]
    two = Pool(models={"a": Classifier(first), "b": Classifier(half)}, weights=pool.items.weights)
    question = Question("compare", two.models, (parse_measure("f1"),))
    session = Session.start(two, question, choose_method(), budget=100, seed=3)
    while ids := session.ask_stage(two, 100):
        session.tell(ids, y[ids].tolist())
    found = labelled(session).estimation
    alone = evaluate(two, "f1", y, budget=50, model="a").evidence
    assert alone is not None
    contrast = Contrast(alone.contrast.functional, ((0, 1.0), (1, -1.0)))
    fit = found.fit(contrast)
    sizes = np.array([float(stage.sample.size) for stage in found.stages])
    own = [found.estimator(contrast, stage.sample, stage.known) for stage in found.stages]
    sums = {m: np.average([one.sums[m] for one in own], axis=0, weights=sizes) for m in (0, 1)}
    expected = []
    for stage, one in zip(found.stages, own, strict=True):
        assert one.centre is None
        total = 0.0
        for label, chance in found.belief.supposed(stage.sample.items, (0, 1)):  # type: ignore[union-attr]
            sample = replace(stage.sample, labels=np.full(stage.sample.size, label))
            at = linearise(contrast, sample, stage.known, sums, centre=None, coefficient=one.coefficient)
            total += stage.sample.expansion.spread @ (chance * at.residuals**2)
        expected.append(total)
    assert len({one.coefficient for one in own}) > 1
    assert fit.shares == pytest.approx(tempered(np.array(expected), sizes), rel=1e-9)


@pytest.mark.parametrize("belief", ["peaked", "broad"])
def test_a_limit_tells_nothing_of_how_far_a_stage_was_off(belief: str) -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=400)
    pool = Pool(means=means, variances=np.ones(400))
    question = Question("evaluate", pool.models, (parse_measure("mse"),))
    method = choose_method(belief=belief, design="passive", stages=(0.2, 0.3, 0.5))
    session = Session.start(pool, question, method, budget=200, seed=3)
    while ids := session.ask_stage(pool, 200):
        session.tell(ids, (means + rng.normal(size=400))[ids].tolist())
    found = labelled(session).estimation
    contrast = evaluate(pool, "mse", means, budget=100).evidence.contrast  # type: ignore[union-attr]
    sizes = np.array([float(stage.sample.size) for stage in found.stages])
    shares = found.fit(contrast).shares
    assert shares is not None
    if belief == "peaked":
        assert shares == pytest.approx(sizes / sizes.sum(), rel=1e-12)
    else:  # squares of a standard normal have the variance 2, wherever its mean is
        b = np.asarray(pool.items.weights) + np.zeros(400)
        drawn = np.split(np.array(session.ids), np.cumsum(sizes).astype(int)[:-1])
        expected = [
            stage.sample.expansion.spread @ (2 * b[i] ** 2) for stage, i in zip(found.stages, drawn, strict=True)
        ]
        assert shares == pytest.approx(tempered(np.array(expected), sizes), rel=1e-9)


@pytest.mark.parametrize(("measure", "slope"), [("error_rate", 1.0), ("error_rate", 4.0), ("f1", 0.3)])
def test_stages_are_unbiased_whatever_the_belief(measure: str, slope: float) -> None:
    pool, y = problem(300, 1, slope)
    truth = evaluate(pool, measure, y, budget=300).value
    found = [evaluate(pool, measure, y, budget=100, seed=seed) for seed in range(100)]
    values = np.array([estimate.value for estimate in found])
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(100))
    assert np.mean([e.interval().low <= truth <= e.interval().high for e in found]) > 0.88


def test_a_stage_that_takes_the_rest_is_exact() -> None:
    pool, y = problem(50)
    estimate = evaluate(pool, "error_rate", y, budget=50)
    p, b = np.asarray(pool.items.models[0].probabilities), np.asarray(pool.items.weights)  # type: ignore[union-attr]
    assert (estimate.exact, estimate.std_error, estimate.n_labels) == (True, 0.0, 50)
    assert estimate.value == pytest.approx(b @ ((p > 0.5) != y), rel=1e-12)


def test_without_the_pool_the_order_goes_on() -> None:
    pool, y = problem()
    question = Question("evaluate", pool.models, (parse_measure("error_rate"),))
    session = Session.start(pool, question, choose_method(), budget=60, seed=3)
    while ids := session.ask(7):
        session.tell(ids, y[ids].tolist())
    assert len(session.stages) == 1
    assert (session.n_labels, session.remaining, session.pending) == (60, 0, [])
    found = labelled(session).estimation
    assert isinstance(found, Estimation)
    assert [type(stage) for stage in found.stages] == [LabelledStage]
    # At once with the pool: no labels to plan by, so the rest is one draw.
    session = Session.start(pool, question, choose_method(), budget=60, seed=3)
    assert len(session.ask(None, pool)) == 60
    assert [len(stage.drawn) for stage in session.stages] == [12, 48]


def test_a_stage_that_the_later_ones_contradict_has_the_variance_that_its_distance_tells():
    values, variances = np.array([0.9, 0.5, 0.6]), np.array([1e-4, 2e-3, 2e-3])
    np.testing.assert_allclose(uncontradicted(values, variances), [0.35**2 - 1e-3, 2e-3, 2e-3])
    later = np.array([0.55, 0.9, 0.6]), np.array([1e-2, 1e-4, 1e-4])  # the second is contradicted by the third alone
    np.testing.assert_allclose(uncontradicted(*later), [1e-2, 0.3**2 - 1e-4, 1e-4])


def test_stages_within_four_standard_errors_and_without_a_value_stay():
    variances = np.array([1e-3, 2e-3, 1e-3])
    for first in (0.6 + 3.9 * np.sqrt(1e-3 + 1 / 1500), np.nan):
        assert uncontradicted(np.array([first, 0.6, 0.6]), variances).tolist() == variances.tolist()
    nothing = np.array([0.5, np.nan, 0.6])
    assert uncontradicted(nothing, np.full(3, 1e-9)).tolist() == [1e-9] * 3
    assert uncontradicted(np.array([0.3]), np.array([0.0])).tolist() == [0.0]


@pytest.mark.parametrize(("measure", "moved"), [("error_rate", True), ("f1", True), ("log_loss", False)])
def test_losses_of_probabilities_contradict_nobody(measure, moved, monkeypatch, rng):
    p = rng.beta(0.3, 0.3, size=2000)
    labels = (rng.random(2000) < 0.5 + 0.6 * (p - 0.5)).astype(int)
    before = evaluate(Pool(p), measure, labels, 100).value
    monkeypatch.setattr("sondage.core.weighing.CONTRADICTED", 0.0)
    assert (evaluate(Pool(p), measure, labels, 100).value != before) == moved
