"""CPU time and memory of a ranking pool's sampling distributions, against one pass over the grade model.

    python benchmarks/ranking.py                          30,000 queries, about 119 documents each, 5 grades
    python benchmarks/ranking.py --queries 3000 --repeats 5
    python benchmarks/ranking.py --queries 3000 --systems 3 10 30 100      selections among so many systems

Lists have the spread of lengths of a large search engine's (gamma, up to 1,251), two systems rank all documents at
random, and the grade model's probabilities are random or, with ``--grades rare``, those of mostly useless documents.
Times are medians of CPU seconds on one core; the floor is a sum over all probabilities, block by block. `moments` is
the mean and the variance of every query's measure, all that the thesis's distributions 6.10 and 6.11 need beside the
pool's mean; `plan` is everything up to the default design's sizes. The peak is what is allocated above the pool, in
megabytes. With ``--systems`` whole selections with 100 labels are timed instead, as multiples of the evaluation of one
system of the same pool, which is their floor.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from cells import whole_number

import sondage
from sondage.core.beliefs import RankingBelief
from sondage.core.measures import parse_measure
from sondage.studies.judging import as_asked
from sondage.studies.method import METHODS, Question
from sondage.studies.planning import make_plan

GRADES, LONGEST, BLOCK = 5, 1251, 1 << 17
LABELS = 100
CASES = (
    ("dcg", 1), ("dcg", 2), ("dcg@10", 2), ("err", 1), ("err@10", 2), ("err", 2), ("ndcg@10", 1), ("ndcg@10", 2),
)  # fmt: skip
RARE = np.array([20.0, 4.0, 1.0, 0.3, 0.1])


def made_pool(queries: int, rare: bool, systems: int = 2, costs: float | None = 1.0, seed: int = 0) -> sondage.Pool:
    """Return a pool of so many systems."""
    random = np.random.default_rng(seed)
    counts = np.clip(random.gamma(2.2, 54.1, queries).astype(np.int64), 1, LONGEST)
    size = int(counts.sum())
    query = np.repeat(np.arange(queries), counts)
    document = np.arange(size) - np.repeat(np.cumsum(counts) - counts, counts)
    p = random.random((size, GRADES), dtype=np.float32)
    if rare:
        p *= RARE.astype(np.float32)
    p /= p.sum(axis=1, keepdims=True)
    models = {}
    for system in range(systems):
        ranks = np.empty(size, dtype=np.int32)
        ranks[np.lexsort((random.random(size), query))] = document + 1
        models[f"system {system}"] = sondage.Ranking(ranks=ranks)
    return sondage.Pool(models=models, queries=query, documents=document, grades=p, costs=costs)


def floor(pool: sondage.Pool) -> float:
    """Return the sum of all probabilities."""
    p: Any = pool.items.models[0].documents.probabilities  # type: ignore[union-attr]
    return sum(float(p[start : start + BLOCK].sum(dtype=np.float64)) for start in range(0, len(p), BLOCK))


def moments(pool: sondage.Pool, measure: str, models: int) -> None:
    """Compute the mean and the variance of every query's measure, or difference of two."""
    basis: Any = parse_measure(measure).ready(pool.task).basis
    terms = ((0, 1.0), (1, -1.0))[:models]
    for _, items in pool.blocks():
        basis.spread(items, terms, RankingBelief(GRADES))


def plan(pool: sondage.Pool, measure: str, models: int) -> None:
    """Plan the first stage of the default method."""
    question = Question("evaluate" if models == 1 else "compare", pool.models[:models], (parse_measure(measure),))
    make_plan(as_asked(pool, question), question, METHODS["default"])


def judged(pool: sondage.Pool, queries: Any) -> list[dict[int, int]]:
    """Return grades of all documents of these queries, which follow from their numbers."""
    counts = np.diff(pool.items.models[0].documents.offsets)  # type: ignore[union-attr]
    grades = (np.random.default_rng(int(query)).integers(0, GRADES, counts[query]) for query in queries)
    return [dict(enumerate(of_query.tolist())) for of_query in grades]


def selections(queries: int, counts: list[int], rare: bool, repeats: int) -> None:
    """Print the time of selections among so many systems."""
    print(f"{'measure':10} {'systems':>7} {'one system, s':>14} {'selection, s':>13} {'x one':>7}")
    for count in counts:
        pool = made_pool(queries, rare, count, costs=None)
        for measure in ("dcg@10", "ndcg@10", "err@10"):
            options = {"labels": partial(judged, pool), "budget": LABELS}
            one = seconds(partial(sondage.evaluate, pool, measure, model=pool.models[0], **options), repeats)
            every = seconds(partial(sondage.select, pool, measure, **options), repeats)
            print(f"{measure:10} {count:7d} {one:14.3f} {every:13.3f} {every / one:7.1f}", flush=True)


def seconds(action: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = process_time()
        action()
        times.append(process_time() - start)
    return median(times)


def peak(action: Callable[[], Any]) -> float:
    tracemalloc.start()
    action()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=whole_number, default=30_000)
    parser.add_argument("--repeats", type=whole_number, default=3)
    parser.add_argument("--grades", choices=["random", "rare"], default="random")
    parser.add_argument("--measures", nargs="+", choices=sorted({name for name, _ in CASES}), help="only these")
    parser.add_argument("--moments", action="store_true", help="leave the planning out")
    parser.add_argument("--systems", type=whole_number, nargs="+", help="time selections among so many systems")
    options = parser.parse_args()
    if options.systems:
        selections(options.queries, options.systems, options.grades == "rare", options.repeats)
        return
    start = process_time()
    pool = made_pool(options.queries, options.grades == "rare")
    table: Any = pool.items.models[0].documents  # type: ignore[union-attr]
    pairs = float(np.square(np.diff(table.offsets), dtype=np.float64).sum())
    print(f"{pool}, {GRADES} grades, {pairs:.2g} pairs of positions; made in {process_time() - start:.1f} s")
    print(f"probabilities {table.probabilities.nbytes / 1e6:.0f} MB, ranks {2 * 4 * len(table.names) / 1e6:.0f} MB")
    least = seconds(lambda: floor(pool), max(options.repeats, 5))
    print(f"floor: {least:.4f} s\n")
    print(
        f"{'measure':10} {'systems':>7} {'moments, s':>11} {'x floor':>8} {'peak MB':>9} {'plan, s':>8} {'peak MB':>9}"
    )
    for measure, models in CASES:
        if options.measures and measure not in options.measures:
            continue
        one, all_of_it = (partial(action, pool, measure, models) for action in (moments, plan))
        time = seconds(one, options.repeats)
        line = f"{measure:10} {models:7d} {time:11.3f} {time / least:8.1f} {peak(one):9.1f}"
        if not options.moments:
            line += f" {seconds(all_of_it, 1):8.2f} {peak(all_of_it):9.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
