"""Intervals from the labels themselves: bootstrap by hand, exact coverage of the bound when no error was seen."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sondage
from sondage.core import resampling
from sondage.core.intervals import bootstrap_interval, unseen_bound
from sondage.core.results import Interval
from sondage.errors import InputError

Agrees = Callable[[int, int, float], bool]
ROWS = np.ones((4, 2))
RNG = np.random.default_rng(0)


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def subsets(n: int) -> Iterator[np.ndarray]:
    return (np.array(chosen) for chosen in product([False, True], repeat=n))


# Bootstrap


def test_bootstrap_of_two_units_has_three_values(rng: np.random.Generator) -> None:
    # With weights 1 and 3 the means are 0, 3/4 and 1, with probabilities 1/4, 1/2, 1/4.
    def interval(level: float) -> Interval:
        return bootstrap_interval(np.array([[0.0], [1.0]]), [1, 3], lambda mean: mean[0], level, generator=rng)

    assert ends(interval(0.4)) == (0.75, 0.75)
    assert ends(interval(0.6)) == (0, 1)


def test_bootstrap_of_a_measure_without_a_least_value(rng: np.random.Generator) -> None:
    # Half of the samples of two labels hold one of them twice: R2 is undefined on these.
    pool = sondage.Pool(means=np.arange(20.0))
    found = sondage.evaluate(pool, "r2", np.arange(20.0) + rng.normal(size=20), 2, method="passive")
    for level in (0.5, 0.95):
        interval = found.interval(level, "bootstrap", generator=rng)
        assert (interval.low, interval.high) == (-np.inf, 1.0)
    with pytest.raises(InputError, match=r"resamples 1999 are too few for level 0.9999; at least 19999"):
        found.interval(0.9999, "bootstrap", generator=rng)


def test_bootstrap_samples_have_some_of_every_stage() -> None:
    answers = [None if row % 5 else row % 2 for row in range(40)]  # stages of two labels or three
    pool = sondage.Pool(np.linspace(0.05, 0.95, 40))
    found = sondage.evaluate(pool, "error_rate", labels=lambda ids: [answers[row] for row in ids], budget=40)
    assert min(part.sample.size for part in found.evidence.estimation.stages) < 4  # type: ignore[union-attr]
    interval = found.interval(kind="bootstrap")
    assert 0.0 <= interval.low < found.value < interval.high <= 1.0


def test_bootstrap_of_a_study_is_that_of_its_losses() -> None:
    labels, wrong = np.arange(60) % 2, np.arange(60) % 7 == 0
    pool = sondage.Pool(predictions=np.where(wrong, 1 - labels, labels))
    found = sondage.evaluate(pool, "error_rate", labels, 40, method="passive")
    assert found.evidence is not None
    losses = (found.evidence.fit.residuals > 0).astype(float)[:, None]
    assert losses.mean() == pytest.approx(found.value)
    for level in (0.5, 0.95, 0.999):
        of_arrays = bootstrap_interval(
            losses, np.ones(40), lambda mean: mean[0], level, generator=np.random.default_rng(1), resamples=1999
        )
        of_study = found.interval(level, "bootstrap", generator=np.random.default_rng(1))
        assert ends(of_study) == pytest.approx(ends(of_arrays))


def test_bootstrap_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def interval() -> Interval:
        rows = np.column_stack([np.arange(20.0), np.arange(20.0) % 3 + 1])
        generator = np.random.default_rng(3)
        return bootstrap_interval(rows, np.arange(1, 21), lambda mean: mean[0] / mean[1], generator=generator)

    whole = interval()
    monkeypatch.setattr(resampling, "BLOCK", 60)
    assert interval() == whole


def test_bootstrap_counts_undefined_values_on_both_sides(rng: np.random.Generator) -> None:
    # Precision where two of six are predicted positive: (4/6)^6 = 9 % of the resamples have none, above 2.5 %.
    rows = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [0, 0], [0, 0]], dtype=float)

    def precision(chosen: np.ndarray) -> tuple[float, float]:
        options: dict[str, Any] = {"generator": rng, "resamples": 9999, "bounds": (0, 1)}
        return ends(bootstrap_interval(chosen, np.ones(len(chosen)), lambda mean: mean[0] / mean[1], **options))

    assert precision(rows) == precision(rows[3:]) == (0, 1)
    assert precision(rows[:1]) == (1, 1)


# No error seen


def test_unseen_bound_is_told_of_each_item_whether_it_is_labelled() -> None:
    with pytest.raises(InputError, match=r"labelled of shape \(2,\) for 3 weights"):
        unseen_bound(np.ones(3), np.full(3, 0.1), labelled=[True, False])


def test_unseen_bound_of_equal_probabilities() -> None:
    found = unseen_bound(np.full(500, 7.0), np.full(500, 0.2), 0.9)
    assert ends(found) == pytest.approx((0, math.log(0.1) / math.log(0.8) / 500), rel=1e-12)
    # Few of many items: the rule of three, n at -ln(0.05) = 2.9957.
    assert unseen_bound(np.ones(10**5), np.full(10**5, 1e-3)).high == pytest.approx(2.9957 / 100, rel=1e-3)


def test_unseen_bound_fills_the_cheapest_items_first() -> None:
    # Costs are ln 2, 2 ln 2, 3 ln 2 for shares 1/6, 3/6, 2/6; the budget ln 8 holds the second item and the first.
    found = unseen_bound([1, 3, 2], [1 / 2, 3 / 4, 7 / 8], 7 / 8)
    assert found.high == pytest.approx(4 / 6, rel=1e-12)
    # With ln 4 the second alone, with ln 6 besides it a part of the first.
    part = math.log(6 / 4) / math.log(2)
    assert unseen_bound([1, 3, 2], [1 / 2, 3 / 4, 7 / 8], 5 / 6).high == pytest.approx((3 + part) / 6, rel=1e-12)


def test_unseen_bound_at_probabilities_zero_and_one() -> None:
    assert unseen_bound([1, 1, 2], [0, 1, 1]).high == 0.25
    assert unseen_bound([1, 1, 2], [0, 0, 0]).high == 1
    assert unseen_bound([1, 1], [0.5, 0.5], labelled=[True, True]).high == 0


def test_unseen_bound_is_between_the_best_set_and_one_item_more(rng: np.random.Generator) -> None:
    for _ in range(20):
        b, pi = rng.dirichlet(np.ones(7)), rng.uniform(0, 0.9, 7)
        best = max(b[chosen].sum() for chosen in subsets(7) if np.prod(1 - pi[chosen]) >= 0.1)
        assert best - 1e-12 <= unseen_bound(b, pi, 0.9).high <= best + b.max()


@pytest.mark.parametrize("use_labels", [False, True])
def test_unseen_bound_covers_exactly_under_poisson_sampling(rng: np.random.Generator, use_labels: bool) -> None:
    level = 0.7
    b, pi = rng.dirichlet(np.ones(6)), rng.uniform(0.05, 0.9, 6)
    samples = [(drawn, np.prod(np.where(drawn, pi, 1 - pi))) for drawn in subsets(6)]
    bounds = [unseen_bound(b, pi, level, labelled=drawn if use_labels else None).high for drawn, _ in samples]
    for errors in subsets(6):
        missed = [
            chance
            for (drawn, chance), bound in zip(samples, bounds, strict=True)
            if not (drawn & errors).any() and bound < b[errors].sum() - 1e-12
        ]
        assert sum(missed) <= 1 - level


def test_unseen_bound_covers_simple_random_samples() -> None:
    pool, n, level = 30, 8, 0.9
    bound = unseen_bound(np.ones(pool), np.full(pool, n / pool), level).high
    missed = [stats.hypergeom.pmf(0, pool, total, n) for total in range(pool + 1) if total / pool > bound + 1e-12]
    assert max(missed) <= 1 - level


# Bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval(ROWS[0], [1, 1], np.sum, generator=RNG), r"statistics of shape \(2,\)"),
        (lambda: bootstrap_interval(ROWS, [1, 1], np.sum, generator=RNG), r"weights of shape \(2,\) for 4 units"),
        (lambda: bootstrap_interval(ROWS, [1, 1, 0, 1], np.sum, generator=RNG), r"weight \[0.\] is not above 0"),
        (lambda: bootstrap_interval(ROWS * np.nan, np.ones(4), np.sum, generator=RNG), r"must be finite"),
        (
            lambda: bootstrap_interval(ROWS, np.ones(4), np.sum, generator=RNG, resamples=38),
            r"resamples 38 are too few for level 0.95; at least 39",
        ),
        (lambda: unseen_bound([], []), r"weights of shape \(0,\)"),
        (lambda: unseen_bound([1, 1], [0.5]), r"inclusion of shape \(1,\) for 2 weights"),
        (lambda: unseen_bound([1, 1], [0.5, 1.5]), r"inclusion \[1.5\] is outside \[0, 1\]"),
        (lambda: unseen_bound([1, -1], [0.5, 0.5]), r"weight \[-1.\] is not above 0"),
        (lambda: unseen_bound([1, 1], [0.5, 0.5], 0), "level=0 must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# Simulation


@pytest.mark.slow
def test_bootstrap_covers_a_weighted_mean(rng: np.random.Generator, agrees: Agrees) -> None:
    # Ratio of means of 200 units with unequal weights; the true weighted mean of the uniform losses is 1/2.
    runs, hits = 1000, 0
    for _ in range(runs):
        weights, losses = rng.uniform(0.5, 2, 200), rng.uniform(size=(200, 1))
        found = bootstrap_interval(losses, weights, lambda m: m[0], 0.9, generator=rng, resamples=399)
        hits += 0.5 in found
    assert agrees(hits, runs, 0.9)
