"""Confidence sequences: how wide, and how often they miss at any number of labels.

    python benchmarks/sequences.py                     both tables, 400 runs for the misses
    python benchmarks/sequences.py --runs 2000

Widths are means over 20 runs from pools of 10,000, over that of the Wald interval at a fixed number of labels with the
true variance of the difference or the Hajek estimator, whichever is smaller. Misses are runs in which the sequence at
95 % loses the truth at any number of labels up to 1,000. The asymptotic sequence and the Wald interval take the
estimated error of the difference estimator and are looked at 200 times from 30 labels on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from cells import whole_number
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import optimize

from sondage.core.sequences import (
    Stage,
    Steps,
    Units,
    asymptotic_sequence,
    betting_sequence,
    draw_steps,
    rest_of,
)

Floats = NDArray[np.float64]

ITEMS, LABELS, WIDTH_RUNS, FIRST_LOOK = 10_000, 1_000, 20, 30
SHOWN = (20, 50, 100, 300, 1000)
NODES = np.array([0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Pool:
    """Labels, belief and rates of one simulated pool of equal base weights; the measure is the mean label."""

    labels: Floats
    belief: Floats
    rates: Floats


def equal(generator: np.random.Generator, rate: float) -> Pool:
    return Pool((generator.random(ITEMS) < rate).astype(float), np.full(ITEMS, rate), np.ones(ITEMS))


def sized(truth: Floats, belief: Floats, floor: float, generator: np.random.Generator) -> Pool:
    deviation = np.sqrt(belief * (1 - belief))
    rates = (1 - floor) * deviation / deviation.sum() + floor / ITEMS
    return Pool((generator.random(ITEMS) < truth).astype(float), belief, rates)


POOLS: dict[str, Callable[[np.random.Generator, Floats, Floats], Pool]] = {
    "equal draws, rate .2": lambda generator, common, rare: equal(generator, 0.2),
    "equal draws, rate .02": lambda generator, common, rare: equal(generator, 0.02),
    "optimal sizes, floor .2": lambda generator, common, rare: sized(common, common, 0.2, generator),
    "optimal sizes, floor .5": lambda generator, common, rare: sized(common, common, 0.5, generator),
    "wrong belief, floor .2": lambda generator, common, rare: sized(common[::-1], common, 0.2, generator),
    "rare and sure, floor .2": lambda generator, common, rare: sized(rare, rare, 0.2, generator),
    "rare and sure, floor .5": lambda generator, common, rare: sized(rare, rare, 0.5, generator),
}
"""Each from random numbers and two beliefs, in common labels and in rare ones."""


def made(name: str, generator: np.random.Generator) -> Pool:
    return POOLS[name](generator, generator.beta(0.4, 2.0, ITEMS), generator.beta(0.05, 5.0, ITEMS))


@dataclass(frozen=True, eq=False)
class Draw:
    """Items in key order, with their keys."""

    items: NDArray[np.int64]
    keys: Floats


def draw(pool: Pool, generator: np.random.Generator) -> Draw:
    keys = generator.exponential(size=ITEMS) / pool.rates
    items = np.argsort(keys)
    return Draw(items, keys[items])


def steps_of(pool: Pool, items: NDArray[np.int64]) -> Steps:
    share = np.full(ITEMS, 1 / ITEMS)
    variance = share**2 * pool.belief * (1 - pool.belief)
    ranges = np.outer(share, -NODES), np.outer(share, 1 - NODES)
    units = Units(pool.rates, share * pool.belief, share, *ranges, variance)
    head, rest = items[:LABELS], rest_of(units.take(items[LABELS:]), NODES)
    return draw_steps([Stage(units.take(head), (share * pool.labels)[head], share[head], rest)], NODES)


def fixed_width(pool: Pool, n: int) -> float:
    """Return the width of the Wald interval at n labels, with the true variance."""
    tau = optimize.brentq(lambda t: np.sum(-np.expm1(-pool.rates * t)) - n, 0, 100 * ITEMS / pool.rates.min())
    pi, variances = -np.expm1(-pool.rates * tau), []
    for residual in (pool.labels - pool.belief, pool.labels):
        centre = np.sum(residual * (1 - pi)) / np.sum((1 - pi) * pi)
        variances.append(np.sum((1 - pi) / pi * (residual - centre * pi) ** 2) / ITEMS**2)
    return 2 * 1.96 * float(np.sqrt(min(variances)))


def running_estimate(pool: Pool, drawn: Draw) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the difference estimate and its standard error at many numbers of labels."""
    n = np.unique(np.geomspace(FIRST_LOOK, LABELS, 200).astype(np.int64))
    values, errors = [], []
    for count in n.tolist():
        head = drawn.items[:count]
        pi = -np.expm1(-pool.rates[head] * drawn.keys[count])
        residual = pool.labels[head] - pool.belief[head]
        mean = np.sum(residual / pi) / np.sum(1 / pi)
        values.append(pool.belief.mean() + mean)
        errors.append(np.sqrt(count / (count - 1) * np.sum((1 - pi) / pi**2 * (residual - mean) ** 2)) / ITEMS)
    return np.array(values), np.array(errors), n


def widths(console: Console) -> None:
    table = Table("width over the fixed one, n =", *(str(n) for n in SHOWN))
    for name in POOLS:
        ratios = []
        for seed in range(WIDTH_RUNS):
            generator = np.random.default_rng(seed)
            pool = made(name, generator)
            found = betting_sequence(steps_of(pool, draw(pool, generator).items))
            ratios.append([(found.high[n - 1] - found.low[n - 1]) / fixed_width(pool, n) for n in SHOWN])
        table.add_row(name, *(f"{ratio:.2f}" for ratio in np.mean(ratios, axis=0)))
    console.print(table)


def misses(console: Console, runs: int) -> None:
    table = Table("lost the truth at any time", "betting", "asymptotic", "Wald at every look")
    for name in POOLS:
        lost = np.zeros(3)
        for seed in range(runs):
            generator = np.random.default_rng(1_000_000 + seed)
            pool = made(name, generator)
            truth = float(pool.labels.mean())
            drawn = draw(pool, generator)
            found = betting_sequence(steps_of(pool, drawn.items))
            values, errors, n = running_estimate(pool, drawn)
            smooth = asymptotic_sequence(values, errors, n, tightest=300, pool_size=ITEMS)
            lost += [
                np.any((found.low > truth + 1e-12) | (found.high < truth - 1e-12)),
                np.any((smooth.low > truth) | (smooth.high < truth)),
                np.any(np.abs(values - truth) > 1.96 * errors),
            ]
        table.add_row(name, *(f"{share:.3f}" for share in lost / runs))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=whole_number, default=400, help="runs for the misses (default: 400)")
    options = parser.parse_args()
    console = Console(width=110)
    widths(console)
    misses(console, options.runs)


if __name__ == "__main__":
    main()
