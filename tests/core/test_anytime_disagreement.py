"""Disagreement sets at any time: enumeration, exact probabilities of ever rejecting, inversion by brute force."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import comb, exp, log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from sondage.core.sequences import betting_sequence, log_evalues
from sondage.core.significance import (
    decisive_log_evalues,
    disagreement_log_evalues,
    disagreement_sequence,
    disagreement_steps,
)
from sondage.errors import InputError

Evidence = Callable[[list[int]], NDArray[np.float64]]


def probability(outcomes: tuple[int, ...], numbers: dict[int, int]) -> float:
    """Of a sequence drawn without replacement from items with these numbers of outcomes."""
    left, found = dict(numbers), 1.0
    for outcome in outcomes:
        found *= max(left[outcome], 0) / sum(left.values())
        left[outcome] -= 1
    return found


def test_evidence_is_the_ratio_of_probabilities() -> None:
    # S = 3, F = 1, M = 10, K = 5: P = 5 4 3 5 / (10 9 8 7); Q = mean of B(a+3, a+1) / B(a, a).
    given = 300 / 5040
    mixture = np.mean([special.beta(a + 3, a + 1) / special.beta(a, a) for a in (2, 10, 50)])
    assert disagreement_log_evalues([1, 1, -1, 1], 10)[-1] == pytest.approx(log(mixture / given), rel=1e-12)
    # M = 11: K is 5 or 6, which gives the larger P to three of four.
    given = 6 * 5 * 4 * 5 / (11 * 10 * 9 * 8)
    assert disagreement_log_evalues([1, 1, -1, 1], 11)[-1] == pytest.approx(log(mixture / given), rel=1e-12)


@pytest.mark.parametrize("size", [6, 7])
def test_expected_evidence_is_at_most_1_under_each_null_value(size: int) -> None:
    for total in range(size + 1):
        numbers = {1: total, -1: size - total}
        null = 2 * total / size - 1
        nulls = {"two-sided": [total], "greater": range(total + 1), "less": range(total, size + 1)}
        for alternative, truths in nulls.items():
            for truth, t in product(truths, range(1, size + 1)):
                numbers = {1: truth, -1: size - truth}
                expected = 0.0
                for outcomes in product((1, -1), repeat=t):
                    chance = probability(outcomes, numbers)
                    if chance > 0:
                        expected += chance * exp(disagreement_log_evalues(outcomes, size, alternative, null=null)[-1])
                assert expected <= 1 + 1e-12
                if t == 1 and alternative == "two-sided" and 0 < total < size:
                    assert expected == pytest.approx(1.0, rel=1e-12)


def ever_rejects(evidence: Evidence, numbers: tuple[int, int, int], alpha: float) -> float:
    """Probability that e reaches 1 / alpha at any number of labels, exactly, over all paths."""

    @cache
    def rejects(counts: tuple[int, int, int]) -> bool:
        order = [1] * counts[0] + [-1] * counts[1] + [0] * counts[2]
        return bool(order) and bool(evidence(order)[-1] >= -log(alpha))

    @cache
    def chance(counts: tuple[int, int, int]) -> float:
        if rejects(counts):
            return 1.0
        left = sum(numbers) - sum(counts)
        return sum(
            (n - c) / left * chance(step(counts, k))
            for k, (n, c) in enumerate(zip(numbers, counts, strict=True))
            if c < n
        )

    return chance((0, 0, 0))


def step(counts: tuple[int, int, int], k: int) -> tuple[int, int, int]:
    first, second, neither = (c + (i == k) for i, c in enumerate(counts))
    return first, second, neither


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_looking_after_every_label_keeps_the_level_exactly(alternative: str) -> None:
    found = ever_rejects(lambda order: disagreement_log_evalues(order, 60, alternative), (30, 30, 0), 0.05)
    assert 0.015 < found <= 0.05


def test_a_margin_keeps_the_level_at_its_edge_and_has_power_beyond() -> None:
    # Not more than 6 of 40 items worse: K = 17 on the edge of the null hypothesis, K = 30 far in the alternative.
    def evidence(order: list[int]) -> NDArray[np.float64]:
        return disagreement_log_evalues(order, 40, "greater", null=-6 / 40)

    assert ever_rejects(evidence, (17, 23, 0), 0.05) <= 0.05
    assert ever_rejects(evidence, (15, 25, 0), 0.05) <= 0.02
    assert ever_rejects(evidence, (30, 10, 0), 0.05) > 0.9


def decisive_by_hand(first: int, second: int, neither: int, size: int, alternative: str) -> float:
    """Q over the largest P of all numbers of decisive items."""
    largest = 0.0
    for total in range(first + second, size - neither + 1):
        for k in range(total + 1):
            allowed = 2 * k == total if alternative == "two-sided" else 2 * k <= total
            if allowed and k >= first and total - k >= second:
                ways = comb(k, first) * comb(total - k, second) / comb(total, first + second)
                largest = max(largest, ways / comb(first + second, first))
    mixed = 0.0
    for a in (2, 10, 50):
        part = special.beta(a + first, a + second) / special.beta(a, a)
        mixed += part / 3 * (1 if alternative == "two-sided" else 2 * stats.beta.sf(0.5, a + first, a + second))
    return mixed / largest if largest else np.inf


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_decisive_evidence_is_the_smallest_over_all_numbers_of_decisive_items(alternative: str) -> None:
    size = 21
    for first, second, neither in product(range(9), range(9), range(5)):
        order = [1] * first + [-1] * second + [0] * neither
        if not 0 < len(order) <= size:
            continue
        found = exp(decisive_log_evalues(order, size, alternative)[-1])
        wanted = decisive_by_hand(first, second, neither, size, alternative)
        if alternative == "greater" and second >= first:
            assert found <= wanted * (1 + 1e-9)
        else:
            assert found == pytest.approx(wanted, rel=1e-9), (first, second, neither)
        mirrored = decisive_log_evalues(
            [-outcome for outcome in order], size, {"greater": "less"}.get(alternative, "two-sided")
        )
        assert exp(mirrored[-1]) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("numbers", [(8, 8, 8), (12, 12, 0), (3, 3, 18)])
def test_decisive_evidence_keeps_the_level_exactly(numbers: tuple[int, int, int]) -> None:
    for alternative in ("two-sided", "greater"):
        chance = ever_rejects(lambda order, side=alternative: decisive_log_evalues(order, 24, side), numbers, 0.1)
        assert chance <= 0.1


def test_sequence_is_the_inversion_over_all_numbers() -> None:
    size, level = 37, 0.9
    generator = np.random.default_rng(1)
    for total in (3, 18, 30):
        order = generator.permutation(np.repeat([1, -1], [total, size - total]))
        found = disagreement_sequence(order, size, level)
        low, high = 0, size
        for t in range(1, size + 1):
            first = int(np.sum(order[:t] == 1))
            mixture = np.mean([special.beta(a + first, a + t - first) / special.beta(a, a) for a in (2, 10, 50)])
            chances = [probability(tuple(order[:t]), {1: k, -1: size - k}) for k in range(size + 1)]
            kept = [k for k, chance in enumerate(chances) if chance > 0.1 * mixture]
            low, high = max(low, min(kept)), min(high, max(kept))
            ends = (2 * low / size - 1, 2 * high / size - 1)
            assert (found.low[t - 1], found.high[t - 1]) == pytest.approx(ends, abs=1e-12)
        assert found.low[-1] == found.high[-1] == pytest.approx(2 * total / size - 1)


def test_sequence_and_evidence_agree_about_no_difference() -> None:
    order = np.random.default_rng(0).choice([1, -1], 200, p=[0.7, 0.3])
    found = disagreement_sequence(order, 400)
    rejected = np.maximum.accumulate(disagreement_log_evalues(order, 400)) >= log(20)
    assert rejected.any()
    assert ((found.low > 0) == rejected).all()


def all_orders(values: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], float]]:
    numbers = {k: values.count(k) for k in (1, -1, 0)}
    for order in product((1, -1, 0), repeat=len(values)):
        chance = probability(order, numbers)
        if chance > 0:
            yield order, chance


def test_steps_with_three_outcomes_are_fair_bets() -> None:
    values = (1, 1, 1, -1, 0, 0)
    mean = sum(values) / 6
    for side in ("two-sided", "greater", "less"):
        expected = sum(p * np.exp(log_evalues(disagreement_steps(o, 6), mean, side)) for o, p in all_orders(values))
        assert expected == pytest.approx(np.ones(6), rel=1e-10)


def test_steps_with_three_outcomes_make_a_sequence_that_ends_in_the_truth() -> None:
    order = np.random.default_rng(0).permutation(np.repeat([1, -1, 0], [60, 30, 60]))
    found = betting_sequence(disagreement_steps(order, 150))
    assert (found.low[-1], found.high[-1]) == pytest.approx((0.2, 0.2), abs=1e-12)
    assert found.low[99] < 0.2 < found.high[99] < 0.5


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match=r"outcome .*0.* is none of"):
        disagreement_log_evalues([1, 0], 10)
    with pytest.raises(InputError, match=r"outcome .*2.* is none of"):
        decisive_log_evalues([1, 2], 10)
    with pytest.raises(InputError, match="3 labels for a disagreement set of 2"):
        disagreement_sequence([1, 1, -1], 2)
    with pytest.raises(InputError, match=r"null 1\.5"):
        disagreement_log_evalues([1], 10, null=1.5)
    with pytest.raises(InputError, match="alternative 'more'"):
        decisive_log_evalues([1], 10, "more")
    with pytest.raises(InputError, match="level=0"):
        disagreement_sequence([1], 10, 0.0)
    with pytest.raises(InputError, match="shape"):
        decisive_log_evalues([[1]], 10)
    with pytest.raises(InputError, match="no outcome"):
        disagreement_steps([], 10)


def test_a_sequence_is_never_empty_and_ends_at_the_truth() -> None:
    random = np.random.default_rng(0)
    missed = 0
    for _ in range(300):
        order = random.permutation(np.repeat([1, -1], 20))
        found = disagreement_sequence(order, 40, 0.8)
        assert np.all(found.low <= found.high)
        assert (found.low[-1], found.high[-1]) == (0.0, 0.0)
        missed += bool(np.any((found.low > 0) | (found.high < 0)))
    assert 0 < missed < 300 * 0.2 + 3 * np.sqrt(300 * 0.2 * 0.8)  # those would have ended empty
