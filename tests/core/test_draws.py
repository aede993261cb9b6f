"""Drawing: the hash, water-filling, key order, arrivals; probabilities by enumeration and integration."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from sondage.core.draws import arrivals, inclusion, key_order, poisson_rates, successive_rates, waterfill
from sondage.core.hashing import PRIMES, hash_ids, uniforms
from sondage.core.samples import from_counts, from_inclusion
from sondage.core.strata import next_stratum, neyman_allocation, strata_by_score
from sondage.core.urns import ArrayUrn
from sondage.errors import InputError, SondageWarning
from sondage.studies.drawing import DRAWS, Drawing, Drawn

Floats = NDArray[np.float64]
P = 2**31 - 1
SIZES = np.array([0.05, 0.3, 0.1, 0.25, 0.12, 0.18])


# The hash


def by_hand(row: int, seed: int, stage: int, arrival: int) -> float:
    """DESIGN section 5 in whole numbers of any size."""
    digest = b"".join(sha256(f"sondage:{seed}:{stage}:{arrival}:{part}".encode()).digest() for part in range(2))
    a = [int.from_bytes(digest[8 * i : 8 * i + 8], "big") % P for i in range(8)]
    x, z = row % P, row % 2147483629
    high = (((a[0] * x + a[1]) * x + a[2]) * x + a[3]) % P
    low = (((a[4] * z + a[5]) * z + a[6]) * z + a[7]) % P
    return (float((high + low) % P * P + low) + 0.5) / float(P * P)


EDGES = [0, 1, PRIMES[1] - 1, PRIMES[1], P - 1, P, P + 1, 2 * P, 2**32, 2**62 - 1, P * P, 2**63 - 1]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.integers(0, 2**40), st.integers(0, 9), st.integers(0, 9))
def test_hash_is_the_integer_formula(ids: list[int], seed: int, stage: int, arrival: int) -> None:
    rows = np.array([*EDGES, *ids], dtype=np.int64)
    found = uniforms(rows, seed, stage, arrival)
    assert found.tolist() == [by_hand(row, seed, stage, arrival) for row in rows.tolist()]


def test_hash_of_small_ids_takes_the_short_way() -> None:
    rows = np.array([0, 5, 2**31 - 30])
    assert uniforms(rows, 3, 1).tolist() == [by_hand(row, 3, 1, 0) for row in rows.tolist()]
    assert len(uniforms(rows[:0], 3, 1)) == 0


IDS: dict[str, NDArray[Any]] = {
    "consecutive": np.arange(100_000),
    "far apart": np.arange(100_000) * 10**13,
    "equal modulo the first prime": np.arange(100_000) * P + 7,
    "equal modulo the second prime": np.arange(100_000) * PRIMES[1] + 7,
    "texts": hash_ids(np.array([f"item-{i}" for i in range(100_000)])),
}


@pytest.mark.parametrize("name", IDS)
def test_numbers_are_uniform(name: str) -> None:
    h = uniforms(IDS[name].astype(np.int64), seed=1, stage=0)
    assert stats.kstest(h, "uniform").pvalue > 1e-3
    assert stats.kstest((h * 1000) % 1, "uniform").pvalue > 1e-3  # later digits as well
    assert abs(np.corrcoef(h[:-1], h[1:])[0, 1]) < 4 / np.sqrt(len(h))
    # Ids that are equal in one reduction have 31 bits left: n^2 / 2^32 pairs agree, 2.3 here.
    assert len(np.unique(h)) >= len(h) - (15 if "equal" in name else 0)


def test_stages_arrivals_and_seeds_are_independent() -> None:
    ids = np.arange(50_000)
    base = uniforms(ids, 0, 0, 0)
    for other in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        h = uniforms(ids, *other)
        assert abs(np.corrcoef(base, h)[0, 1]) < 4 / np.sqrt(len(ids))
        assert stats.kstest((base + h) % 1, "uniform").pvalue > 1e-3


def test_ids_as_they_are_or_by_md5() -> None:
    # md5("a") = 0cc175b9c0f1b6a831c399e269772661, by RFC 1321.
    assert hash_ids(np.array(["a"])).tolist() == [int("0cc175b9c0f1b6a", 16)]
    assert hash_ids(np.array([7, 2**62])).tolist() == [7, 2**62]
    assert hash_ids(np.array([3], dtype=np.uint8)).tolist() == [3]
    assert hash_ids(np.array(["-1"])).tolist() == hash_ids(np.array([-1])).tolist()
    assert hash_ids(np.array([2**63], dtype=np.uint64)).tolist() == hash_ids(np.array([str(2**63)])).tolist()


# Water-filling


def spent(k: float, sizes: Floats, costs: Floats) -> float:
    return float(np.sum(costs * np.minimum(1.0, k * sizes)))


@given(
    st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(0.01, 50)), min_size=1, max_size=30),
    st.floats(0.001, 0.999),
    st.booleans(),
)
def test_waterfill_is_the_root(items: list[tuple[float, float]], share: float, with_costs: bool) -> None:
    sizes, costs = np.array(items).T
    costs = costs if with_costs else np.ones(len(sizes))
    total = share * costs.sum()
    k = waterfill(sizes, total, costs if with_costs else None)
    assert spent(k, sizes, costs) == pytest.approx(total, rel=1e-12)
    brute = optimize.brentq(lambda t: spent(t, sizes, costs) - total, 0, 1.1 / sizes.min(), xtol=1e-300, rtol=1e-14)
    np.testing.assert_allclose(np.minimum(1, k * sizes), np.minimum(1, brute * sizes), rtol=1e-9)


def test_waterfill_by_hand() -> None:
    # 8 is certain; 2 of 3 units of probability left for sizes 1, 1, 2: k = 1/2.
    assert waterfill(np.array([1.0, 1.0, 2.0, 8.0]), 3.0) == 0.5
    # Costs 1, 2, 4: min(1, k u) c sums to 3.5 at k = 0.5 with u = (1, 1, 1).
    assert waterfill(np.ones(3), 3.5, np.array([1.0, 2.0, 4.0])) == 0.5
    assert waterfill(np.array([1.0, 0.0, 2.0]), 2.0) == np.inf  # all that have a size
    assert waterfill(np.array([1.0, 5.0]), 3.0) == np.inf


def test_waterfill_of_sizes_that_differ_in_their_last_bits() -> None:
    # The certain ones were now five, now six, for ever.
    u = 0.5957734900293399
    sizes = np.array([u, 2 * u, 1.19154698005868, 0.5957734900293395, 0.5957734900293401, 0.5957734900293404])
    assert spent(waterfill(sizes, 4.0), sizes, np.ones(6)) == pytest.approx(4.0, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=12), st.integers(1, 12), st.floats(0.1, 1.0))
def test_waterfill_ends_where_sizes_are_nearly_equal(bits: list[int], total: int, base: float) -> None:
    sizes = base * (1.0 + np.spacing(1.0) * np.array(bits))
    wanted = min(total, len(bits))
    k = waterfill(sizes, float(wanted))
    assert spent(min(k, 1.0 / sizes.min()), sizes, np.ones(len(bits))) == pytest.approx(wanted, rel=1e-9)


@given(st.lists(st.floats(1e-3, 10), min_size=2, max_size=8), st.floats(0.05, 0.95))
def test_waterfilled_probabilities_have_the_least_variance(sizes: list[float], share: float) -> None:
    # FORMULAS 5: pi = min(1, k sigma) minimises sum sigma^2 (1 - pi) / pi among those of the same sum.
    u = np.array(sizes)
    pi = np.minimum(1, waterfill(u, share * len(u)) * u)

    def variance(p: Floats) -> float:
        return float(np.sum(u**2 * (1 - p) / p))

    for i, j in permutations(range(len(u)), 2):
        step = 1e-3 * min(pi[i], 1 - pi[j])
        moved = pi + step * (np.eye(len(u))[j] - np.eye(len(u))[i])
        assert variance(moved) >= variance(pi) * (1 - 1e-12) - 1e-12


def test_rates_follow_probabilities_up_to_certainty() -> None:
    target = np.array([0.0, 0.1, 0.5, 0.99, 0.995])
    np.testing.assert_allclose(-np.expm1(-poisson_rates(target, 1.0)), target, rtol=1e-12)
    beyond = poisson_rates(np.array([0.995, 0.9951, 1.0, 3.0, 1e6]), 1.0)
    assert np.all(np.diff(beyond) > 0)
    assert beyond[2] == pytest.approx(-np.log(0.005) + 1.0, rel=1e-12)
    np.testing.assert_allclose(successive_rates(target, 3.0), 3 * target)


# The key order


def order_of(sizes: Floats, ids: Any, count: int, seed: int = 0, stage: int = 0, **options: Any) -> Any:
    return key_order(sizes, np.asarray(ids), to_rates=lambda u: u, seed=seed, stage=stage, count=count, **options)


def test_order_is_by_key() -> None:
    rng = np.random.default_rng(0)
    sizes, ids = rng.exponential(size=500), rng.permutation(10_000)[:500]
    keys = -np.log([by_hand(i, 4, 2, 0) for i in ids.tolist()]) / sizes
    expected = np.argsort(keys)
    for count in (0, 1, 20, 499, 500, 900):
        found = order_of(sizes, ids, count, seed=4, stage=2)
        assert found.rows.tolist() == expected[:count].tolist()
        np.testing.assert_allclose(found.keys, keys[found.rows], rtol=1e-14)
        assert found.tau == pytest.approx(np.append(np.sort(keys), [np.inf] * 401)[count], rel=1e-14)


def test_prefixes_and_extensions() -> None:
    rng = np.random.default_rng(1)
    sizes, ids = rng.lognormal(0, 2, size=3000), np.arange(3000)
    longest = order_of(sizes, ids, 2000).rows.tolist()
    for count in (1, 10, 333, 1999):
        assert order_of(sizes, ids, count).rows.tolist() == longest[:count]


def test_order_of_rows_is_irrelevant() -> None:
    rng = np.random.default_rng(2)
    sizes, ids = rng.lognormal(0, 2, size=1000), np.arange(1000) * 7919
    shuffled = rng.permutation(1000)
    one, other = order_of(sizes, ids, 100), order_of(sizes[shuffled], ids[shuffled], 100)
    assert ids[one.rows].tolist() == ids[shuffled][other.rows].tolist()
    assert one.tau == other.tau


def test_ties_go_to_the_smaller_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sondage.core.draws.uniforms", lambda ids, *_: np.full(len(ids), 0.5))
    found = order_of(np.ones(6), [5, 3, 9, 1, 7, 2], 4)
    assert found.rows.tolist() == [3, 5, 1, 0]


def test_zero_sizes_are_never_taken() -> None:
    sizes = np.array([0.0, 1.0, 0.0, 2.0])
    found = order_of(sizes, np.arange(4), 4)
    assert sorted(found.rows.tolist()) == [1, 3]
    assert found.tau == np.inf


def test_stages_order_anew() -> None:
    # Given that an item was not drawn, its number is not uniform: stages must not share numbers (DESIGN section 5).
    orders = [order_of(np.ones(200), np.arange(200), 200, stage=stage).rows for stage in (0, 1)]
    assert abs(stats.kendalltau(np.argsort(orders[0]), np.argsort(orders[1])).statistic) < 0.15


def subsets(count: int, size: int) -> Iterator[tuple[list[int], list[int]]]:
    for taken in combinations(range(count), size):
        yield list(taken), [i for i in range(count) if i not in taken]


def over_tau(rates: Floats, taken: list[int], left: list[int], of_tau: Any) -> float:
    """Integrate over the first key not taken: all of `taken` come before it, the rest after it."""

    def density(t: float) -> float:
        before = np.prod(-np.expm1(-rates[taken] * t))
        after = rates[left].sum() * np.exp(-rates[left].sum() * t)
        return float(before * after * of_tau(t))

    return float(integrate.quad(density, 0, np.inf, epsabs=1e-13, epsrel=1e-11, limit=200)[0])


@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize("kind", ["poisson", "successive"])
def test_inclusion_given_tau_is_exactly_unbiased(n: int, kind: str) -> None:
    # STYLE section 4, point 2: all samples of n of 6 items, each integrated over the key tau of the next item.
    rates = poisson_rates(SIZES, waterfill(SIZES, n)) if kind == "poisson" else SIZES * 1.0
    y = np.array([3.0, -1.0, 4.0, 1.5, 9.0, -2.6])
    chance = total = 0.0
    for taken, left in subsets(6, n):
        chance += over_tau(rates, taken, left, lambda t: 1.0)
        total += over_tau(rates, taken, left, lambda t, s=taken: float(np.sum(y[s] / inclusion(rates[s], t))))
    assert chance == pytest.approx(1.0, rel=1e-9)
    assert total == pytest.approx(y.sum(), rel=1e-8)


@pytest.mark.parametrize("n", [2, 4])
def test_successive_sampling_has_the_probabilities_of_its_orders(n: int) -> None:
    # The next item is i with probability a_i over what is left: the chance of a set is the sum over its orders.
    rates = SIZES
    for taken, left in subsets(6, n):
        chance = 0.0
        for order in permutations(taken):
            rest = rates.sum() - np.concatenate([[0.0], np.cumsum(rates[list(order)])[:-1]])
            chance += float(np.prod(rates[list(order)] / rest))
        assert over_tau(rates, taken, left, lambda t: 1.0) == pytest.approx(chance, rel=1e-9)


@pytest.mark.slow
def test_the_seeded_order_is_successive_sampling() -> None:
    runs = 40_000
    first = np.zeros((6, 6))
    for seed in range(runs):
        rows = order_of(SIZES, np.arange(6), 2, seed=seed).rows
        first[rows[0], rows[1]] += 1
    expected = np.array([[0 if i == j else SIZES[i] * SIZES[j] / (1 - SIZES[i]) for j in range(6)] for i in range(6)])
    off = ~np.eye(6, dtype=bool)
    assert stats.chisquare(first[off], runs * expected[off]).pvalue > 1e-3


def test_equal_sizes_are_a_simple_random_sample() -> None:
    drawing = Drawing(ArrayUrn(np.full(50, 0.02), np.arange(50), None), 0, 0)
    drawn = DRAWS["without_replacement"].take(drawing, 20)
    for count in (1, 7, 20):
        expansion = DRAWS["without_replacement"].expansion(drawn, np.arange(count))
        np.testing.assert_allclose(expansion.weights, 50 / count, rtol=1e-14)


def test_every_item_of_a_passive_draw_comes_as_often() -> None:
    counts = np.zeros(20)
    for seed in range(3000):
        counts[order_of(np.ones(20), np.arange(20), 5, seed=seed).rows] += 1
    # Sum over items of squared deviations, of a simple random sample: chi^2 with 19 df after scaling by N/(N-1).
    statistic = np.sum((counts - 750) ** 2) / (3000 * 0.25 * 0.75 * 20 / 19)
    assert stats.chi2.sf(statistic, 19) > 1e-3


def test_prefix_weights_use_the_key_of_the_next_item() -> None:
    drawing = Drawing(ArrayUrn(SIZES, np.arange(6), None), 5, 0)
    drawn = DRAWS["without_replacement"].take(drawing, 4)
    for count in (1, 2, 3, 4):
        tau = drawn.keys[count] if count < 4 else drawn.tau
        chance = -np.expm1(-drawn.rates[:count] * tau)
        found = DRAWS["without_replacement"].expansion(drawn, np.arange(count))
        np.testing.assert_allclose(found.weights, 1 / chance, rtol=1e-13)
        np.testing.assert_allclose(found.spread, (1 - chance) / chance**2, rtol=1e-11)


def test_a_draw_of_everything_is_certain() -> None:
    for name in ("without_replacement", "successive", "with_replacement"):
        drawn = DRAWS[name].take(Drawing(ArrayUrn(SIZES, np.arange(6), None), 5, 0), 6)
        expansion = DRAWS[name].expansion(drawn, np.arange(6))
        assert expansion.weights.tolist() == [1.0] * 6
        assert not expansion.spread.any()


COSTS = np.array([1.0, 3.0, 2.0, 1.0, 5.0, 2.5])


def test_costs_stop_at_the_first_item_that_does_not_fit() -> None:
    for seed in range(50):
        drawn = DRAWS["without_replacement"].take(Drawing(ArrayUrn(SIZES, np.arange(6), COSTS), seed, 0), 8.0)
        rates = poisson_rates(SIZES, waterfill(SIZES, 8.0, COSTS))
        keys = -np.log(uniforms(np.arange(6), seed, 0)) / rates
        order = np.argsort(keys)
        count = int(np.argmax(np.cumsum(COSTS[order]) > 8.0))
        assert drawn.units.tolist() == order[:count].tolist()
        assert drawn.tau == pytest.approx(keys[order[count]], rel=1e-14)


def test_a_cost_limit_is_exactly_unbiased() -> None:
    # All orders up to the first item that does not fit; its key tau is a sum of exponentials with the rates left.
    y = np.array([3.0, -1.0, 4.0, 1.5, 9.0, -2.6])
    total = chance = 0.0
    for head in _heads(8.0):
        rates = SIZES[head]
        rest = SIZES.sum() - np.concatenate([[0.0], np.cumsum(rates)[:-1]])
        tau, weights = _positive_grid()
        weights = weights * _hypoexponential(tau, rest) * float(np.prod(rates / rest))
        taken = head[:-1]
        chance += float(weights.sum())
        total += float(weights @ np.sum(y[taken] / -np.expm1(-np.outer(tau, SIZES[taken])), axis=1))
    assert chance == pytest.approx(1.0, rel=1e-8)
    assert total == pytest.approx(y.sum(), rel=1e-6)


def _heads(budget: float) -> list[list[int]]:
    """Return the orders of the items drawn, followed by the first that does not fit."""
    found = set()
    for order in permutations(range(6)):
        found.add(order[: int(np.argmax(np.cumsum(COSTS[list(order)]) > budget)) + 1])
    return [list(head) for head in sorted(found)]


def _positive_grid() -> tuple[Floats, Floats]:
    """Return nodes and weights on (0, infinity), dense at 0."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    x = (nodes + 1) / 2
    return -np.log1p(-(x**3)) * 12, weights / 2 * 12 * 3 * x**2 / (1 - x**3)


def _hypoexponential(t: Floats, rates: Floats) -> Floats:
    """Density of a sum of independent exponentials with different rates."""
    value = np.zeros_like(t)
    for i, rate in enumerate(rates):
        others = np.delete(rates, i)
        value += rate * np.exp(-rate * t) * float(np.prod(others / (others - rate)))
    return value


# Arrivals


def test_arrivals_are_a_race_by_hand() -> None:
    ids, seed = np.arange(6), 3
    times = np.cumsum([[-np.log(by_hand(i, seed, 0, a)) / SIZES[i] for a in range(60)] for i in range(6)], axis=1)
    expected = sorted((times[i, a], i) for i in range(6) for a in range(60))
    found = arrivals(SIZES * 7.0, ids, seed=seed, stage=0, distinct=5)
    rows = [row for _, row in expected[: len(found.rows)]]
    assert found.rows.tolist() == rows
    np.testing.assert_allclose(found.times, [t for t, _ in expected[: len(rows)]], rtol=1e-12)
    assert len(set(rows)) == 5
    assert len(set(rows[:-1])) == 4  # up to the draw that brings the last distinct row


def test_a_short_draw_is_a_prefix_of_a_long_one() -> None:
    rng = np.random.default_rng(3)
    sizes, ids = rng.exponential(size=400), rng.permutation(400)
    longest = arrivals(sizes, ids, seed=1, stage=0, distinct=200).rows.tolist()
    for distinct in (1, 5, 60, 199):
        shorter = arrivals(sizes, ids, seed=1, stage=0, distinct=distinct).rows.tolist()
        assert shorter == longest[: len(shorter)]
        assert len(set(shorter)) == distinct


def test_first_arrivals_are_independent_draws() -> None:
    # Chi-square of the pair (1st, 2nd) against q_i q_j, and of the 4th against q, over seeds.
    runs, pairs, fourth = 4000, np.zeros((6, 6)), np.zeros(6)
    for seed in range(runs):
        rows = arrivals(SIZES, np.arange(6), seed=seed, stage=0, distinct=4).rows
        pairs[rows[0], rows[1]] += 1
        fourth[rows[3]] += 1
    assert stats.chisquare(pairs.ravel(), runs * np.outer(SIZES, SIZES).ravel()).pvalue > 1e-3
    assert stats.chisquare(fourth, runs * SIZES).pvalue > 1e-3


def test_nothing_can_be_drawn_from_nothing() -> None:
    with pytest.raises(InputError, match="all sizes are 0"):
        arrivals(np.zeros(3), np.arange(3), seed=0, stage=0, distinct=1)


def test_repeated_draws_end_somewhere() -> None:
    # One row has all but 1e-9 of the mass: the second may take a billion draws, which stop at 200 for each.
    found = arrivals(np.array([1.0, 1e-9]), np.arange(2), seed=0, stage=0, distinct=2)
    assert len(found.rows) <= 400
    assert set(found.rows.tolist()) == {0}


def with_replacement(count: int, seed: int = 0, costs: Floats | None = None, sizes: Floats = SIZES) -> Drawn:
    return DRAWS["with_replacement"].take(Drawing(ArrayUrn(sizes, np.arange(6), costs), seed, 0), count)


def test_a_draw_that_ends_early_says_so() -> None:
    heavy = np.array([1.0, *[1e-9] * 5])
    with pytest.warns(SondageWarning, match="stop at 1 of 3 different items"):
        assert len(with_replacement(3, sizes=heavy)) == 1


def test_prefix_of_draws_counts_repetitions() -> None:
    for seed in range(30):
        drawn = with_replacement(4, seed)
        rows = arrivals(SIZES, np.arange(6), seed=seed, stage=0, distinct=4).rows.tolist()
        for count in (1, 2, 3, 4):
            units = drawn.units[:count].tolist()
            draws = rows[: rows.index(units[-1]) + 1]
            found = DRAWS["with_replacement"].expansion(drawn, np.arange(count))
            expected = from_counts(np.array([draws.count(u) for u in units]), SIZES[units])
            np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-13)
            np.testing.assert_allclose(found.spread, expected.spread, rtol=1e-13)


def test_costs_with_replacement_stop_before_what_does_not_fit() -> None:
    for seed in range(50):
        drawn = with_replacement(8, seed, COSTS)
        rows = arrivals(SIZES, np.arange(6), seed=seed, stage=0, distinct=6).rows.tolist()
        firsts = list(dict.fromkeys(rows))
        count = int(np.argmax(np.cumsum(COSTS[firsts]) > 8))
        assert drawn.units.tolist() == firsts[:count]
        expected = rows[: rows.index(firsts[count])]
        assert drawn.units[drawn.settings["sequence"]].tolist() == expected


@pytest.mark.parametrize("costs", [None, COSTS])
def test_the_whole_pool_keeps_the_order_of_arrival(costs: Floats | None) -> None:
    everything = 6 if costs is None else costs.sum()
    for seed in range(20):
        whole, part = with_replacement(everything, seed, costs), with_replacement(5, seed, costs)
        assert whole.units[: len(part)].tolist() == part.units.tolist()
        assert len(whole) == 6


def test_expansions_by_hand() -> None:
    pi = from_inclusion(np.array([0.2, 1.0]))
    np.testing.assert_allclose(pi.weights, [5.0, 1.0])
    np.testing.assert_allclose(pi.spread, [20.0, 0.0])
    q = from_counts(np.array([2, 1]), np.array([0.25, 0.1]))  # three draws: v / n = 1 / (3 q)
    np.testing.assert_allclose(q.weights, [2 / 0.75, 1 / 0.3])
    np.testing.assert_allclose(q.spread, [2 / 0.75**2, 1 / 0.3**2])


# Strata


def test_strata_are_equal_parts_by_score() -> None:
    scores, keys = np.array([0.5, 0.1, 0.5, 0.9, 0.5, 0.2, 0.7]), np.array([6, 1, 2, 3, 4, 5, 0])
    strata = strata_by_score(scores, keys, 3)
    assert strata.tolist() == [1, 0, 0, 2, 1, 0, 2]  # ties of 0.5 by key: 2, 4, 6
    assert np.bincount(strata).tolist() == [3, 2, 2]


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(1, 30)), min_size=1, max_size=8), st.data())
def test_neyman_allocation(strata: list[tuple[float, int]], data: st.DataObject) -> None:
    sizes, capacities = np.array([s for s, _ in strata]), np.array([c for _, c in strata])
    total = data.draw(st.integers(1, int(capacities.sum())))
    counts = neyman_allocation(sizes, total, capacities)
    assert counts.sum() == total
    assert np.all((counts >= 0) & (counts <= capacities))
    if total >= np.minimum(2, capacities).sum():
        assert np.all(counts >= np.minimum(2, capacities))
    more = neyman_allocation(sizes, min(total + 1, int(capacities.sum())), capacities)
    if total >= np.minimum(2, capacities).sum():
        assert np.all(more >= counts)  # a larger budget takes nothing back


@pytest.mark.parametrize("seed", range(20))
def test_neyman_allocation_is_that_of_labels_spread_one_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    many = int(random.integers(2, 40))
    sizes = random.random(many) * 10.0 ** random.integers(-14, 3, many) * (random.random(many) < 0.8)
    capacities, total = random.integers(1, 60, many), int(random.integers(2 * many, 20 * many))
    counts = np.minimum(2, capacities)
    weights = sizes if sizes.any() else capacities.astype(float)
    while counts.sum() < min(total, capacities.sum()):
        counts[np.argmax(np.where(counts < capacities, (weights + 1e-300) / (counts + 1), -1.0))] += 1
    assert neyman_allocation(sizes, total, capacities).tolist() == counts.tolist()


def test_neyman_allocation_has_the_least_variance() -> None:
    # Sum of W^2 s^2 / n_h, by brute force over all allocations of 12 to three strata.
    sizes, capacities = np.array([1.0, 2.5, 0.4]), np.array([20, 20, 20])
    options = [(i, j, 12 - i - j) for i in range(2, 9) for j in range(2, 11 - i)]
    best = min(options, key=lambda n: float(np.sum(sizes**2 / np.array(n))))
    found = neyman_allocation(sizes, 12, capacities)
    assert np.sum(sizes**2 / found) <= np.sum(sizes**2 / np.array(best)) * 1.01


def test_next_stratum_in_proportion_to_size() -> None:
    sizes = np.array([0.0, 1.0, 3.0, 0.0])
    counts = np.bincount([next_stratum(sizes, 0, 0, step) for step in range(4000)], minlength=4)
    assert counts[0] == counts[3] == 0
    assert stats.binomtest(int(counts[2]), 4000, 0.75).pvalue > 1e-3
