"""Where surprises are few: what the default's design is a mixture of, and intervals that reckon with those unseen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from sondage import Classifier, Pool, evaluate, read_pool
from sondage.core.measures import parse_measure
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

PARTS = ("optimal", "absolute", "bounded")


def rare(spread: float = 4.0, n: int = 6000) -> tuple[NDArray[Any], NDArray[Any]]:
    """Probabilities, few of them in doubt where the spread of log odds is large, and labels that follow them."""
    rng = np.random.default_rng(3)
    p = 1 / (1 + np.exp(10 - spread * rng.standard_normal(n)))
    return p, (rng.random(n) < p).astype(np.int64)


def begun(pool: Pool, y: NDArray[Any], budget: int, measure: str = "f1") -> Session:
    """A session with so many labels; two models are compared."""
    kind = "compare" if len(pool.models) > 1 else "evaluate"
    question = Question(kind, pool.models, (parse_measure(measure),))
    session = Session.start(pool, question, choose_method(stages=1), budget=budget, seed=5)
    ids = session.ask()
    session.tell(ids, y[ids].tolist())
    return session


def sizes(session: Session, pool: Pool, design: str) -> NDArray[Any]:
    session.method = choose_method(design=design, floor=0.0)
    return session.plan(pool).sizes


def share_of_absolute(session: Session, pool: Pool, p: NDArray[Any], y: NDArray[Any]) -> float:
    """From the calibrated probabilities, without the package's sums."""
    session.method = choose_method(design="optimal")
    belief = session.plan(pool).belief
    odds = np.log(p / (1 - p))
    steeper = np.where(odds >= 0, np.exp(belief.bend), np.exp(-belief.bend))
    moved = 1 / (1 + np.exp(-(belief.shift + belief.slope * steeper * odds)))
    wrong = np.where(p > 0.5, 1 - moved, moved)
    asked = [session.ids[position] for position in session.asked]
    wrong[asked] = (p[asked] > 0.5) != (y[asked] == 1)
    return 1 / 3 + 2 / 3 * max(0.0, 1 - (3 * wrong.sum() / len(asked)) ** 2)


def test_the_part_of_absolute_follows_the_surprises_that_are_expected():
    p, y = rare()
    pool = Pool(p)
    for budget in (100, 200, 400):
        session = begun(pool, y, budget)
        part = share_of_absolute(session, pool, p, y)
        optimal, absolute, bounded = (sizes(session, pool, design) for design in PARTS)
        expected = (1 - part) / 2 * (optimal + bounded) + part * absolute
        np.testing.assert_allclose(sizes(session, pool, "adaptive"), expected, rtol=1e-7)
        assert (part > 0.4) == (budget > 100)


@pytest.mark.parametrize("case", ["first stage", "many surprises", "a loss of probabilities", "two models' losses"])
def test_elsewhere_the_parts_are_equal(case):
    p, y = rare()
    if case == "many surprises":
        p = p**0.25
    pool = Pool(models={"a": Classifier(p), "b": Classifier(p[::-1])}) if "two" in case else Pool(p)
    session = begun(pool, y, 300, "brier" if "loss" in case else "f1")
    if case == "first stage":
        session.stages, session.asked, session.answers = [], [], {}
    equal = np.mean([sizes(session, pool, design) for design in PARTS], axis=0)
    np.testing.assert_allclose(sizes(session, pool, "adaptive"), equal, rtol=1e-9)


@pytest.mark.parametrize("measure", ["f1", "balanced_accuracy", "mcc"])
def test_a_difference_of_ratios_serves_the_models_own_values_too(measure):
    p, y = rare()
    pool = Pool(models={"a": Classifier(p), "b": Classifier(p**1.5)})
    session = begun(pool, y, 300, measure)
    for own in (0.25, 0.5):  # later, and in the first stage
        if own == 0.5:
            session.stages, session.asked, session.answers = [], [], {}
        equal = np.mean([sizes(session, pool, design) for design in PARTS], axis=0)
        expected = (1 - own) * equal + own * sizes(session, pool, "active_risk")
        np.testing.assert_allclose(sizes(session, pool, "adaptive"), expected, rtol=1e-9)


def test_every_engine_draws_the_same(tmp_path):
    p, y = rare()
    pd.DataFrame({"id": np.arange(len(p)), "p_1": p}).to_parquet(tmp_path / "pool.parquet")
    far = read_pool(str(tmp_path / "pool.parquet"))
    drawn = []
    for pool in (far.load(), far):
        session = begun(pool, y, 300)
        session.method = choose_method()
        session.extend(pool, 600)
        drawn.append(session.ask(300, pool))
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 300


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
def test_intervals_reckon_with_surprises_that_were_not_drawn(measure):
    # Those that were drawn make the estimate and its standard error large together. Here nothing else is reckoned with.
    p, y = rare()
    pool, said = Pool(p), p > 0.5
    truth = {"error_rate": np.mean(said != y), "f1": 2 * np.sum(said & (y == 1)) / np.sum(said + y)}[measure]
    found = [replace(evaluate(pool, measure, y, 1000, seed), plausible=None) for seed in range(80)]
    straight = np.mean([truth in replace(one, slope=0.0).interval() for one in found])
    assert np.mean([truth in one.interval() for one in found]) > max(0.9, straight + 0.02)


def test_third_cumulants_of_slices_add_up():
    p = np.random.default_rng(1).beta(0.5, 2, size=3000)
    y, where = (np.random.default_rng(2).random(3000) < p).astype(int), np.arange(3000) % 3 == 0
    found = evaluate(Pool(p), "error_rate", y, 300, 1, slices=np.where(where, "few", "many"))
    parts = [(1 / 3, found["few"]), (2 / 3, found["many"])]
    second = sum(share**2 * one.std_error**2 for share, one in parts)
    third = sum(share**3 * one.std_error**2 * one.slope for share, one in parts)
    assert found.overall.slope == pytest.approx(third / second, rel=1e-9)
    assert third > 0
