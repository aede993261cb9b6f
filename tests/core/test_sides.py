"""A model may be sure and wrong of one of its two classes and right of the other: each has a slope of its own."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit, logsumexp

from sondage import Classifier, Pool, evaluate, read_pool
from sondage.core.beliefs import ClassBelief, LearnedClassBelief
from sondage.core.calibration import PRIOR, SHIFTS, SLOPES, bent, calibrate_events, calibrate_sides
from sondage.core.catalogue.beliefs import Expectation, named_belief
from sondage.core.predictions import Classes, Items
from sondage.studies.forms import belief_from_data, belief_to_data


def one_sided(rng: np.random.Generator, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return log odds and labels: of the tenth called positive four in ten are not, however sure; the rest is right."""
    sure, called = 1.0 + rng.gamma(2.0, 4.0, n), np.arange(n) < n // 10
    odds = np.where(called, sure, -sure)
    return odds, np.where(called, rng.random(n) < 0.6, rng.random(n) < expit(odds)).astype(int)


def test_three_numbers_are_their_posterior_mean(rng: np.random.Generator) -> None:
    """By the whole grid of three numbers, slopes equal or independent with a probability of a half each."""
    odds = rng.normal(0, 4, 60).round(1)
    events = rng.random(60) < expit(np.where(odds > 0, 0.2, 1.2) * odds - 0.3)
    a, up, down = np.meshgrid(SHIFTS, np.log(SLOPES), np.log(SLOPES), indexing="ij")
    log_posterior, prior = np.zeros(a.shape), np.zeros(a.shape)
    for z, event in zip(odds, events, strict=True):
        moved = a + np.exp(up if z >= 0 else down) * z
        log_posterior += log_expit(moved if event else -moved)
    for share, of_shift, of_slope in PRIOR:
        shifts = np.exp(-0.5 * (SHIFTS / of_shift) ** 2) * np.gradient(SHIFTS)
        slopes = np.exp(-0.5 * (np.log(SLOPES) / of_slope) ** 2)
        shifts, slopes = shifts / shifts.sum(), slopes / slopes.sum()
        prior += share * shifts[:, None, None] * (np.diag(slopes) + np.outer(slopes, slopes)) / 2
    log_posterior += np.log(prior + 1e-300)
    evidence = logsumexp(log_posterior)
    posterior = np.exp(log_posterior - evidence)
    found = calibrate_sides(odds, events)
    wanted = [np.sum(posterior * number) for number in (a, (up + down) / 2, (up - down) / 2)]
    assert [found.shift, np.log(found.slope), found.bend] == pytest.approx(wanted, abs=0.01)
    assert found.log_evidence == pytest.approx(evidence, abs=0.02)
    assert found.bend < -0.2


def test_the_other_class_is_the_mirror_image(rng: np.random.Generator) -> None:
    odds, labels = one_sided(rng, 200)
    found, other = calibrate_sides(odds, labels == 1), calibrate_sides(-odds, labels == 0)
    assert (found.shift, found.bend) == pytest.approx((-other.shift, -other.bend), rel=1e-6)
    assert (found.slope, found.log_evidence) == pytest.approx((other.slope, other.log_evidence), rel=1e-6)


@pytest.mark.parametrize(("above", "below"), [(1.0, 1.0), (0.3, 1.5), (2.0, 0.7)])
def test_many_labels_show_both_slopes(above: float, below: float, rng: np.random.Generator) -> None:
    odds = rng.normal(0, 2, 20_000)
    found = calibrate_sides(odds, rng.random(20_000) < expit(np.where(odds >= 0, above, below) * odds))
    slopes = found.slope * np.exp([found.bend, -found.bend])
    np.testing.assert_allclose(slopes, [above, below], rtol=0.12)
    assert found.shift == pytest.approx(0.0, abs=0.1)


def test_no_events_move_nothing() -> None:
    found = calibrate_sides(np.zeros(0), np.zeros(0, dtype=bool))
    assert (found.shift, found.slope, found.bend) == (0.0, 1.0, 0.0)


def test_labels_are_better_foretold(rng: np.random.Generator) -> None:
    odds, labels = one_sided(rng)
    few = rng.permutation(2000)[:300]
    sided, plain = (fit(odds[few], labels[few] == 1) for fit in (calibrate_sides, calibrate_events))
    signs = np.where(labels == 1, 1.0, -1.0)
    bent_odds, moved = sided.shift + sided.slope * bent(odds, sided.bend), plain.shift + plain.slope * odds
    assert np.mean(log_expit(signs * bent_odds)) > np.mean(log_expit(signs * moved))


def belief_of(pool: Pool, name: str | None = None, models: tuple[int, ...] = (0,)) -> ClassBelief:
    found = named_belief(name, Expectation(pool.task, pool.items, models))
    assert isinstance(found, ClassBelief)
    return found


def test_one_model_alone_has_two_slopes(rng: np.random.Generator) -> None:
    odds, labels = one_sided(rng, 200)
    p = expit(odds)
    features = rng.normal(size=(200, 2))
    assert belief_of(Pool(p)).calibrated(Pool(p).items, labels).bend < 0
    assert belief_of(Pool(p, features=features)).sided
    two = Pool(models={"a": Classifier(p), "b": Classifier(p)})
    three = Pool(np.column_stack([p / 2, p / 2, 1 - p]))
    for pool in (two, three, Pool(p, judge=p)):
        belief = belief_of(pool)
        assert not belief.sided
        assert belief.calibrated(pool.items, labels).bend == 0
    assert belief_of(two, "model").sided
    assert not belief_of(two, "model", (0, 1)).sided
    assert isinstance(belief_of(Pool(p, features=features)), LearnedClassBelief)


def test_what_is_left_possible_follows_from_the_labels_that_are_asked(rng: np.random.Generator) -> None:
    odds, labels = one_sided(rng, 400)
    items = Items((Classes((odds > 0).astype(int), expit(odds)),), np.full(400, 1 / 400))
    start = ClassBelief(2, models=((0, 1.0),))
    some = np.arange(400) % 2 == 0
    here, told = items.take(some), labels[some]
    found = start.calibrated(items, labels).plausible(here, told, here.weights)
    wanted = start.calibrated(here, told).plausible(here, told, here.weights)
    assert found == wanted


def test_studies_keep_the_bend() -> None:
    belief = ClassBelief(2, models=((0, 1.0),), shift=-0.5, slope=0.7, bend=-0.4)
    data = belief_to_data(belief)
    assert belief_from_data(data) == belief
    assert data is not None
    del data["bend"]  # as in studies of earlier releases
    assert belief_from_data(data) == ClassBelief(2, models=((0, 1.0),), shift=-0.5, slope=0.7)


@pytest.mark.parametrize("measure", ["f1", "error_rate", "log_loss"])
def test_files_are_asked_for_the_same_items(tmp_path, measure, rng) -> None:
    odds, labels = one_sided(rng, 3000)
    pd.DataFrame({"id": np.arange(3000), "p_1": expit(odds)}).to_parquet(tmp_path / "pool.parquet")
    stored, found = read_pool(str(tmp_path / "pool.parquet"), lazy=True), []
    for pool in (stored, stored.load()):
        asked: list[int] = []

        def answer(ids, asked=asked):
            asked.extend(ids)
            return labels[ids].tolist()

        one = evaluate(pool, measure, answer, 200, seed=1)
        found.append((asked, one))
    assert found[0][0] == found[1][0]
    assert found[0][1].value == pytest.approx(found[1][1].value, rel=1e-12)
    assert found[0][1].std_error == pytest.approx(found[1][1].std_error, rel=1e-9)
