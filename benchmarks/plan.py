"""CPU time and memory of planning a draw, against what NumPy needs at the least.

    python benchmarks/plan.py                        all tables
    python benchmarks/plan.py draw --rows 1e6        one of them, one size

Modes: ``draw`` plans and draws from a pool in memory, ``strings`` does so from text ids, ``pool`` builds and checks
the pool, ``batch`` extends a draw, ``evaluate`` runs a whole evaluation, ``classes`` one of many classes, ``select``
a selection. Times are medians of CPU seconds; the contenders of one row of a table take turns, so that a busy machine
slows all of them. The peak is what is allocated above the pool, in float64 columns.
"""

from __future__ import annotations

import argparse
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from cells import whole_number
from scipy.special import softmax

import sondage
from sondage.core.hashing import coefficients
from sondage.core.measures import parse_measure
from sondage.studies.method import Method, Question, choose_method
from sondage.studies.planning import draw_stage, make_plan
from sondage.studies.session import Session

BLOCK, PRIME, OTHER_PRIME = 65536, 2**31 - 1, 2147483629
COUNT, SEED, FLOOR, CAP = 1000, 1, 0.2, 0.995
CHECKED = ("single", "thesis")
CURVES = ("auc", "average_precision", "ece")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", choices=["all", *MODES], default="all")
    parser.add_argument("--rows", type=float, nargs="+", help="numbers of rows, such as 1e5 1e6 1e7")
    parser.add_argument("--repeats", type=whole_number, default=5)
    options = parser.parse_args()
    if options.rows and min(options.rows) <= 2 * COUNT:
        parser.error(f"rows {min(options.rows):g}: more than {2 * COUNT:,}, since so many are drawn")
    for name, (table, rows) in MODES.items():
        if options.mode in (name, "all"):
            chosen = [int(n) for n in options.rows or rows]
            table(chosen, options.repeats)


def draw(rows: list[int], repeats: int) -> None:
    """Plan and draw 1,000 items from a pool already built."""
    header("draw", "rows", "measure", "method", "CPU s", "x sum", "x cumsum draw", "x by hand", "peak, columns")
    for n in rows:
        probabilities, ids = columns(n)
        pool = sondage.Pool(probabilities, ids=ids)
        for measure, method in cases():
            if method in CHECKED:
                check(pool, measure, method)
            contenders = [
                partial(planned, pool, measure, method),
                partial(summed, pool),
                partial(cumulative_draw, pool),
            ]
            package, *others = timed(repeats, *contenders, partial(by_hand, pool, measure, method))
            row(n, measure, method, package, *(package / other for other in others), peak_columns(contenders[0], n))


def strings(rows: list[int], repeats: int) -> None:
    """Build a pool with text ids, plan and draw from it."""
    header("strings", "rows", "pool, CPU s", "plan and draw, CPU s", "pool, peak, columns")
    for n in rows:
        probabilities, ids = columns(n)
        names = np.array([f"item-{i}" for i in ids.tolist()], dtype=object)
        make = partial(sondage.Pool, probabilities, ids=names)
        row(n, *timed(repeats, make, partial(planned, make(), "f1", "default")), peak_columns(make, n))


def build(rows: list[int], repeats: int) -> None:
    """Build and check a pool with integer ids, in order and scrambled."""
    header("pool", "rows", "ids", "CPU s", "x sum", "peak, columns")
    for n in rows:
        probabilities, ids = columns(n)
        orders = {"none": None, "in order": ids, "scrambled": np.random.default_rng(1).permutation(ids)}
        for name, given in orders.items():
            make = partial(sondage.Pool, probabilities, ids=given)
            took, total = timed(repeats, make, partial(summed, make()))
            row(n, name, took, took / total, peak_columns(make, n))


def batch(rows: list[int], repeats: int) -> None:
    """Raise a budget from 1,000 to 2,000: the next 1,000 items of the same order."""
    header("batch", "rows", "first 1,000, CPU s", "next 1,000 of a plan, CPU s", "budget raised, CPU s")
    method = chosen("single")
    for n in rows:
        probabilities, ids = columns(n)
        pool = sondage.Pool(probabilities, ids=ids)
        plan = make_plan(pool, question("f1"), method)
        kept = draw_stage(pool, plan, method, budget=COUNT, seed=SEED).drawn.settings
        further = partial(draw_stage, pool, plan, method, budget=2 * COUNT, seed=SEED, settings=kept)
        sessions = [Session.start(pool, question("f1"), method, budget=COUNT, seed=SEED) for _ in range(repeats + 1)]
        row(n, *timed(repeats, partial(planned, pool, "f1", "single"), further, partial(extend, sessions, pool)))


def evaluate(rows: list[int], repeats: int) -> None:
    """Evaluate with 300 labels, start to interval."""
    header("evaluate", "rows", "measure", "method", "CPU s")
    for n in rows:
        probabilities, ids = columns(n)
        labels = (np.random.default_rng(2).random(n) < probabilities[:, 1]).astype(np.int64)
        pool = sondage.Pool(probabilities, ids=ids)
        for measure, method in (*cases(), *((curve, "default") for curve in CURVES)):
            row(n, measure, method, *timed(repeats, partial(evaluated, pool, labels, measure, method)))


def classes(rows: list[int], repeats: int) -> None:
    """Evaluate with 300 labels of ten to a thousand classes; "sum" reads all probabilities once."""
    header("classes", "rows", "classes", "measure", "CPU s", "x sum")
    for n in rows:
        for count in (10, 100, 1000):
            random = np.random.default_rng(0)
            logits = random.normal(size=(n, count)).astype(np.float32)
            logits[np.arange(n), random.integers(0, count, n)] += 3 * np.log10(count)
            probabilities = softmax(logits, axis=1)
            labels = np.argmax(logits + random.gumbel(size=(n, count)), axis=1)
            pool = sondage.Pool(probabilities)
            for measure in ("error_rate", "macro_f"):
                run = partial(evaluated, pool, labels, measure, "default")
                took, read = timed(repeats, run, lambda told=probabilities: float(told.sum()))
                row(n, count, measure, took, took / read)


def select(rows: list[int], repeats: int) -> None:
    """Select the most accurate of many models with 300 labels; "sum" reads all their probabilities once.

    In memory, and left in a Parquet file.
    """
    header("select", "rows", "models", "CPU s", "x sum", "in a file, CPU s", "x in memory")
    for n in rows:
        for count in (3, 10, 30, 100):
            random = np.random.default_rng(0)
            score = random.normal(-1, 2, n)
            labels = (random.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
            told = [1 / (1 + np.exp(-score - random.normal(0, 0.3 + 0.02 * at, n))) for at in range(count)]
            pool = sondage.Pool(models={f"m{at}": sondage.Classifier(p) for at, p in enumerate(told)})
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / "pool.parquet"
                table = {"id": np.arange(n)} | {f"m{at}.p_1": p for at, p in enumerate(told)}
                pyarrow.parquet.write_table(pyarrow.table(table), place)
                contenders = [
                    partial(selected, pool, labels),
                    lambda told=told: sum(float(p.sum()) for p in told),
                    lambda place=place, labels=labels: selected(sondage.read_pool(place, lazy=True), labels),
                ]
                took, read, afar = timed(repeats, *contenders)
            row(n, count, took, took / read, afar, afar / took)


def selected(pool: sondage.Pool, labels: np.ndarray) -> Any:
    """Return the ranking; labels go by ids, since rows of a file have no order."""
    return sondage.select(pool, "accuracy", labels=lambda ids: labels[ids], budget=300, seed=SEED)


def columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (n, 2) and ids (n,) of a skewed problem."""
    probabilities = np.empty((n, 2))
    probabilities[:, 1] = np.random.default_rng(0).beta(0.5, 1.5, n)
    np.subtract(1.0, probabilities[:, 1], out=probabilities[:, 0])
    return probabilities, np.arange(n) * 7 + 3


def cases() -> Iterator[tuple[str, str]]:
    for measure in ("error_rate", "f1"):
        for method in ("default", *CHECKED):
            yield measure, method


def chosen(method: str) -> Method:
    """Return a method by name; ``"single"`` is one draw by standard deviations, as `by_hand` does it."""
    return choose_method("default", design="optimal", stages=1) if method == "single" else choose_method(method)


def question(measure: str) -> Question:
    return Question("evaluate", ("model",), (parse_measure(measure),))


def planned(pool: sondage.Pool, measure: str, method: Any) -> np.ndarray:
    """Return the rows that the package draws."""
    parts = chosen(method)
    plan = make_plan(pool, question(measure), parts)
    return draw_stage(pool, plan, parts, budget=COUNT, seed=SEED).drawn.units


def extend(sessions: list[Session], pool: sondage.Pool) -> None:
    """Raise the budget of a session that has not been used yet: plan again, draw further."""
    sessions.pop().extend(pool, 2 * COUNT)


def evaluated(pool: sondage.Pool, labels: np.ndarray, measure: str, method: str) -> Any:
    estimate = sondage.evaluate(pool, measure, labels=labels, budget=300, seed=SEED, method=chosen(method))
    return estimate.interval(0.95)


def summed(pool: sondage.Pool) -> float:
    """Read the same columns once."""
    output: Any = pool.items.models[0]
    return float(output.probabilities.sum() + output.predictions.sum() + pool.keys.sum())


def cumulative_draw(pool: sondage.Pool) -> np.ndarray:
    """Draw in plain NumPy: the error rate's q, its cumulative sum, a binary search."""
    output: Any = pool.items.models[0]
    q = np.sqrt(output.probabilities[:, 0] * output.probabilities[:, 1])
    reach = np.cumsum(q)
    return np.searchsorted(reach, np.random.default_rng(SEED).random(COUNT) * reach[-1])


def check(pool: sondage.Pool, measure: str, method: str) -> None:
    """Require that the plan by hand draws the package's items in the package's order."""
    ours, theirs = planned(pool, measure, method), by_hand(pool, measure, method)
    if not np.array_equal(ours, theirs):
        raise SystemExit(f"{measure}, {method}: the plan by hand draws other items than the package")


def by_hand(pool: sondage.Pool, measure: str, method: str) -> np.ndarray:
    """Return the same draw as `planned`, written out for two classes, equal weights and nothing else."""
    output: Any = pool.items.models[0]
    p, f, ids, n = output.probabilities, output.predictions, pool.keys, len(pool)
    table = hand_influence(hand_confusion(p, f), measure)
    even = hand_confusion(p, f)
    even = 0.9 * even + 0.1 * even.mean(axis=1, keepdims=True)
    sizes = hand_sizes(p, f, table, hand_influence(even, measure), method)
    if method == "thesis":
        return hand_arrivals(sizes, ids)
    k = hand_factor(sizes)
    limit = 1 + 6 / np.sqrt(COUNT + 1) + 20 / (COUNT + 1)
    steepest = -np.log1p(-CAP) / CAP * limit * k
    rows, h = [], []
    for start in range(0, n, BLOCK):
        u = hand_uniforms(ids[start : start + BLOCK], 0)
        size = sizes[start : start + BLOCK]
        near = np.flatnonzero((1 - u < steepest * size) | (size * k > CAP))
        rows.append(near + start)
        h.append(u[near])
    found, number = np.concatenate(rows), np.concatenate(h)
    target = sizes[found] * k
    keys = -np.log(number) / (-np.log1p(-np.minimum(target, CAP)) + np.maximum(target - CAP, 0) / (1 - CAP))
    return found[np.argsort(keys)[:COUNT]]


def hand_confusion(p: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the believed confusion matrix, to 9 digits."""
    ones, counts = np.zeros(2), np.zeros(2)
    for start in range(0, len(p), BLOCK):
        predicted = f[start : start + BLOCK].astype(np.intp)
        ones += np.bincount(predicted, weights=p[start : start + BLOCK, 1], minlength=2)
        counts += np.bincount(predicted, minlength=2)
    table = np.column_stack([counts - ones, ones]) / len(p)
    return np.array([[float(f"{cell:.8e}") for cell in line] for line in table])


def hand_influence(m: np.ndarray, measure: str) -> np.ndarray:
    """Return the influence by prediction and label."""
    if measure == "error_rate":
        return np.array([[0.0, 1.0], [1.0, 0.0]]) - (m[0, 1] + m[1, 0])
    double = 2 * m[1, 1] + m[0, 1] + m[1, 0]
    f1 = 2 * m[1, 1] / double
    return np.array([[0.0, -f1], [-f1, 2 - 2 * f1]]) / double


def hand_sizes(p: np.ndarray, f: np.ndarray, table: np.ndarray, ground: np.ndarray, method: str) -> np.ndarray:
    """Return sizes that sum to 1; the floor follows how far a label can move the result."""
    sizes, total = np.empty(len(p)), 0.0
    gap, squares = np.abs(table[:, 1] - table[:, 0]), table**2
    for start in range(0, len(p), BLOCK):
        part = slice(start, start + BLOCK)
        zero, one, size = p[part, 0], p[part, 1], sizes[part]
        if method == "thesis":
            np.multiply(zero, squares[:, 0].take(f[part]), out=size)
            size += one * squares[:, 1].take(f[part])
            np.sqrt(size, out=size)
        else:
            np.multiply(zero, one, out=size)
            np.sqrt(size, out=size)
            size *= gap.take(f[part])
        total += size.sum()
    if method == "thesis":
        sizes /= total
        return sizes
    reach = np.abs(ground[:, 1] - ground[:, 0])
    sizes *= (1 - FLOOR) / total
    sizes += (reach * FLOOR / (reach @ np.bincount(f.astype(np.intp), minlength=2))).take(f)
    return sizes


def hand_factor(sizes: np.ndarray) -> float:
    """Return k such that the capped sizes min(1, k u) sum to COUNT."""
    largest = np.zeros(0)
    k = float(COUNT)
    while np.count_nonzero(certain := sizes >= 1 / k) > len(largest):
        largest = sizes[certain]
        k = (COUNT - len(largest)) / (1 - largest.sum())
    return k


def hand_arrivals(sizes: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the first COUNT distinct rows of an exponential race."""
    limit = COUNT + 6 * np.sqrt(COUNT) + 20
    rows, h = [], []
    for start in range(0, len(ids), BLOCK):
        u = hand_uniforms(ids[start : start + BLOCK], 0)
        near = np.flatnonzero(1 - u < limit * sizes[start : start + BLOCK])
        rows.append(near + start)
        h.append(u[near])
    found, number = np.concatenate(rows), np.concatenate(h)
    return found[np.argsort(-np.log(number) / sizes[found])[:COUNT]]


def hand_uniforms(ids: np.ndarray, arrival: int) -> np.ndarray:
    """Return the seeded hash."""
    first, second = coefficients(SEED, 0, arrival)
    small = ids.max() < OTHER_PRIME
    low = hand_polynomial(ids if small else ids % OTHER_PRIME, second)
    high = hand_polynomial(ids if small else ids % PRIME, first)
    high += low
    np.minimum(high, high - np.uint64(PRIME), out=high)
    high *= PRIME
    high += low
    h = high.astype(np.float64)
    h += 0.5
    h /= float(PRIME * PRIME)
    return h


def hand_polynomial(x: np.ndarray, powers: tuple[int, ...]) -> np.ndarray:
    """Return a cubic modulo the Mersenne prime 2^31 - 1, in unsigned arithmetic and in place."""
    x = x.view(np.uint64)
    value = x * np.uint64(powers[0])
    for step, power in enumerate(powers[1:]):
        if step:
            value *= x
        value += np.uint64(power)
        high = value >> np.uint64(31)
        value &= np.uint64(PRIME)
        value += high
    high = value >> np.uint64(31)
    value &= np.uint64(PRIME)
    value += high
    return np.minimum(value, value - np.uint64(PRIME), out=value)


def timed(repeats: int, *contenders: Callable[[], Any]) -> list[float]:
    """Return each contender's median CPU seconds; they take turns, after one round that does not count."""
    seconds: list[list[float]] = [[] for _ in contenders]
    for _ in range(repeats + 1):
        for contender, mine in zip(contenders, seconds, strict=True):
            start = process_time()
            contender()
            mine.append(process_time() - start)
    return [median(mine[1:]) for mine in seconds]


def peak_columns(run: Callable[[], Any], n: int) -> float:
    """Return the most memory a run holds above what was there before, in float64 columns of n rows."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * n)


def header(title: str, *names: str) -> None:
    print(f"\n{title}: {(MODES[title][0].__doc__ or '').splitlines()[0]}\n")
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names), flush=True)


def row(*values: Any) -> None:
    texts = [f"{v:,}" if isinstance(v, int) else f"{v:.3g}" if isinstance(v, float) else str(v) for v in values]
    print("| " + " | ".join(texts) + " |", flush=True)


MODES: dict[str, tuple[Callable[[list[int], int], None], tuple[float, ...]]] = {
    "draw": (draw, (1e5, 1e6, 1e7)),
    "strings": (strings, (1e5, 1e6)),
    "pool": (build, (1e6, 1e7)),
    "batch": (batch, (1e6, 1e7)),
    "evaluate": (evaluate, (5e4,)),
    "classes": (classes, (2e4,)),
    "select": (select, (2e4, 2e5)),
}


if __name__ == "__main__":
    main()
