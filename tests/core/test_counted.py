"""Exact counts of two models where they differ: against enumeration of every small pool."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

from sondage.core.intervals import hypergeometric_interval
from sondage.core.significance import Counts, counted_interval, counted_test, mcnemar_test
from sondage.errors import InputError


def samples(up: int, down: int, same: int, n: int):
    """Yield every sample of n from a disagreement set, with its probability."""
    size = up + down + same
    for a, b in product(range(min(up, n) + 1), range(min(down, n) + 1)):
        zero = n - a - b
        if 0 <= zero <= same:
            yield a, b, zero, comb(up, a) * comb(down, b) * comb(same, zero) / comb(size, n)


def rejected(up: int, down: int, same: int, n: int, level: float, *, margin: float = 0.0, alternative: str = "greater"):
    """Return the probability of a rejection."""
    size = up + down + same
    return sum(
        share
        for a, b, zero, share in samples(up, down, same, n)
        if counted_test(Counts(a, b, zero, size, size, ties=True), alternative, margin=margin).pvalue <= level
    )


@pytest.mark.parametrize("n", [3, 5, 8, 9])
@pytest.mark.parametrize("margin", [0.0, 2 / 9, -2 / 9])
def test_type_one_error_is_at_most_the_level_for_every_pool_of_nine(n: int, margin: float):
    null = [(up, down, 9 - up - down) for up in range(10) for down in range(10 - up) if up - down <= -9 * margin + 1e-9]
    for level in (0.05, 0.2):
        assert max(rejected(*pool, n, level, margin=margin) for pool in null) <= level
        mirrored = [(down, up, same) for up, down, same in null[:12]]
        assert max(rejected(*pool, n, level, margin=margin, alternative="less") for pool in mirrored) <= level


@pytest.mark.parametrize(("size", "n"), [(6, 3), (9, 5), (9, 8)])
@pytest.mark.parametrize("ties", [False, True])
def test_the_interval_covers_every_small_pool(size: int, n: int, ties: bool):
    for up in range(size + 1):
        for down in range(size - up + 1) if ties else [size - up]:
            covered = 0.0
            for a, b, zero, share in samples(up, down, size - up - down, n):
                found = counted_interval(Counts(a, b, zero, size, 20, ties=ties), 0.8)
                covered += share * (found.low - 1e-12 <= (up - down) / 20 <= found.high + 1e-12)
            assert covered >= 0.8 - 1e-12


@pytest.mark.parametrize(("up", "down", "same"), [(9, 4, 12), (0, 5, 30), (30, 29, 41), (60, 2, 1)])
@pytest.mark.parametrize("size", [150, 300])
def test_the_ends_are_those_of_every_number_of_decisive_items_by_itself(up: int, down: int, same: int, size: int):
    n, tail = up + down + same, 0.025
    rest = hypergeometric_interval(up + down, n, size, 1 - 0.1 * 2 * tail)
    totals = np.arange(round(rest.low * size), round(rest.high * size) + 1)

    def least(wanted: int, total: int) -> int:
        favourable = np.arange(total + 1)
        return int(np.argmax(hypergeom.sf(wanted - 1, total, favourable, up + down) > 0.9 * tail))

    low = min(2 * least(up, total) - total for total in totals) / 10_000
    high = max(total - 2 * least(down, total) for total in totals) / 10_000
    found = counted_interval(Counts(up, down, same, size, 10_000, ties=True))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("level", [1 - 1e-11, 1 - 2e-12, 1 - 1e-12])
def test_the_surest_interval_reaches_for_all_numbers_of_decisive_items(level: float):
    # Its share of the error would be no level; a look planned early asks for 1 - 1e-11.
    found = counted_interval(Counts(9, 4, 12, 150, 1000, ties=True), level)
    assert found.low <= counted_interval(Counts(9, 4, 12, 150, 1000, ties=True), 1 - 1e-9).low
    assert -(150 - 12 - 9 - 9) / 1000 <= found.low < 0 < found.high <= (150 - 12 - 4 - 4) / 1000


def test_two_classes_are_the_hypergeometric_test_and_interval():
    counts = Counts(9, 3, 0, 20, 100)
    below, above = hypergeom.cdf(9, 20, 10, 12), hypergeom.sf(8, 20, 10, 12)
    for alternative, expected in {"two-sided": 2 * above, "less": below, "greater": above}.items():
        assert counted_test(counts, alternative).pvalue == pytest.approx(expected, rel=1e-12)
    known = hypergeometric_interval(9, 12, 20)
    found = counted_interval(counts)
    assert (found.low, found.high) == pytest.approx(((40 * known.low - 20) / 100, (40 * known.high - 20) / 100))


def test_all_labelled_is_a_point():
    found = counted_interval(Counts(5, 2, 3, 10, 50, ties=True))
    assert (found.low, found.high) == (0.06, 0.06)
    assert counted_test(Counts(5, 2, 3, 10, 50, ties=True), "greater").pvalue == 0.0
    assert counted_interval(Counts(0, 0, 0, 0, 50)).width == 0.0


def test_more_than_two_classes_are_sharper_than_mcnemar():
    counts = Counts(15, 6, 4, 40, 400, ties=True)
    assert counted_test(counts).pvalue < mcnemar_test(15, 6).pvalue
    assert counted_test(counts, target="population").pvalue == mcnemar_test(15, 6).pvalue


def test_tails_grow_with_the_number_of_decisive_items_but_for_its_parity():
    # Why the test looks at the two largest possible numbers only: no smaller one has a larger tail below a half.
    for n, shift in product(range(1, 15), (0, 1, 2, 5)):
        for a in range(n + 1):
            totals = np.arange(n, 50)
            wanted = (totals - shift) // 2
            tails = np.where(wanted >= 0, hypergeom.sf(a - 1, totals, np.maximum(wanted, 0), n), 0.0)
            largest, last = np.maximum.accumulate(tails)[2:], np.maximum(tails[2:], tails[1:-1])
            assert np.all((last >= largest - 1e-12) | (last > 0.5))


def test_refusals():
    with pytest.raises(InputError, match=r"margin 0\.1 needs alternative"):
        counted_test(Counts(1, 1, 0, 5, 9), margin=0.1)
    with pytest.raises(InputError, match="a population's difference against 0 only"):
        counted_test(Counts(1, 1, 0, 5, 9), "less", margin=0.1, target="population")
    with pytest.raises(InputError, match="target 'world'"):
        counted_test(Counts(1, 1, 0, 5, 9), target="world")
