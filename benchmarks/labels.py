"""Label efficiency: how near estimates come to the truth, and how often their intervals hold it.

    python benchmarks/labels.py --problem abt-buy/f1 --seeds 300                sondage's methods and LURE
    python benchmarks/labels.py --problem 'enron*,tweets*' --seeds 1000 --methods default,thesis,passive
    python benchmarks/labels.py --seeds 100 --methods peers                     every problem, the other packages
    python benchmarks/labels.py --methods default --fresh default               again, after a change
    python benchmarks/labels.py --table [--problem ...]                         the tables only

One row for each seed, budget and method goes to benchmarks/results/labels/<problem>.csv; a stopped run goes on where
it was, and more seeds are added to those there are. Methods: ``default``, ``thesis``, ``passive`` of sondage, with
other parts as in ``default+estimator=hajek+floor=0.1``; ``lure``; the peers of benchmarks/peers/environments.py, each
in a virtual environment of its own made on first use; ``own``, ``peers`` and ``all`` are lists of them. Budgets are
those below half of the pool. One process; problems, data and cache as in benchmarks/problems.py, tables as in
benchmarks/summary.py. Do not run it twice at the same time on one problem.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from typing import Any

from cells import whole_number
from peers.environments import PEERS, PeerError, run_peer
from peers.lure import lure
from problems import Problem, load, names
from summary import print_tables, result_file, rows_of, write_summary

OWN = ("default", "thesis", "passive", "lure")
BASES = (*OWN, *PEERS)
GROUPS = {"own": OWN, "peers": tuple(PEERS), "all": BASES}
COLUMNS = ("seed", "budget", "method", "estimate", "low", "high", "n_labels", "kind", "seconds", "code", "one_sided")
Row = tuple[Any, ...]


def main() -> None:
    options = _options()
    chosen = [name for name in names() if any(fnmatch(name, part) for part in options.problem.split(","))]
    if not chosen:
        sys.exit(f"no problem is like {options.problem!r}; there are {', '.join(names())}")
    methods = _methods(options.methods)
    for method in methods if not options.table else ():
        if (base := method.partition("+")[0]) not in BASES:
            sys.exit(f"no method {base!r}; there are {', '.join((*BASES, *GROUPS))}")
    if not options.table:
        for name in chosen:
            _simulate(name, methods, options)
        if firmer := write_summary(chosen):
            print(f"summary.csv keeps {len(firmer)} lines that rest on more seeds than these rows", file=sys.stderr)
    print_tables(chosen, methods if options.only else None, markdown=options.markdown)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", default="*", help="names or patterns, separated by commas (default: all)")
    parser.add_argument("--seeds", type=whole_number, default=300, help="seeds 0 .. SEEDS-1 (default: 300)")
    parser.add_argument("--budgets", type=_numbers, default=[100, 300, 1000], help="labels (default: 100,300,1000)")
    parser.add_argument("--methods", default="own", help="methods or own, peers, all (default: own)")
    parser.add_argument("--fresh", default="", help="methods whose kept rows are computed again")
    parser.add_argument("--table", action="store_true", help="simulate nothing, print the tables")
    parser.add_argument("--only", action="store_true", help="tables with the named methods only")
    parser.add_argument("--markdown", action="store_true", help="tables as docs/efficiency.md has them")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    if not all(part.isdecimal() and int(part) for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not whole numbers above 0, separated by commas")
    return [int(part) for part in text.split(",")]


def _methods(text: str) -> list[str]:
    return list(dict.fromkeys(method for part in text.split(",") for method in GROUPS.get(part, (part,))))


def _simulate(name: str, methods: Sequence[str], options: argparse.Namespace) -> None:
    problem = load(name)
    budgets = [b for b in options.budgets if 2 * b < len(problem)]
    path = result_file(name)
    done = _done(name, set(_methods(options.fresh)) if options.fresh else set())
    for method in methods:
        jobs = [(seed, b) for seed in range(options.seeds) for b in budgets if (seed, b, method) not in done]
        if not jobs or (method in PEERS and problem.measure not in PEERS[method].measures):
            continue
        start = time.perf_counter()
        try:
            count = _append(path, _run(problem, method, jobs))
        except PeerError as error:
            print(f"{name:28} {error}", file=sys.stderr, flush=True)
            continue
        print(f"{name:28} {method:14} {count:5} runs {time.perf_counter() - start:7.1f} s", file=sys.stderr, flush=True)


def _done(problem: str, fresh: set[str]) -> set[tuple[int, int, str]]:
    """Return the (seed, budget, method) there are; all that is to be computed again is removed from the file."""
    path = result_file(problem)
    if not path.exists():
        return set()
    kept = [row for row in rows_of(problem) if row["method"] not in fresh]
    if len(path.read_text().splitlines()) != 1 + len(kept):
        unfinished = path.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        _append(unfinished, ([row.get(column, "") for column in COLUMNS] for row in kept))
        unfinished.replace(path)  # a stop in the middle of writing loses nothing
    return {(int(row["seed"]), int(row["budget"]), row["method"]) for row in kept}


def _append(path: Path, rows: Iterable[Sequence[Any]]) -> int:
    """Write rows as they come; return how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new, count = not path.exists(), 0
    with path.open("a", newline="", buffering=1) as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _run(problem: Problem, method: str, jobs: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """Yield the rows of one method."""
    if method not in PEERS and method != "lure":
        yield from _sondage(problem, method, jobs)
        return
    found = lure(problem, jobs) if method == "lure" else run_peer(method, problem.name, jobs)
    clock = time.perf_counter()
    for seed, budget, estimate, low, high, labels in found:
        now = time.perf_counter()
        yield (seed, budget, method, *_short(estimate, low, high), labels, "", f"{now - clock:.4f}", "", "")
        clock = now


def _sondage(problem: Problem, method: str, jobs: Sequence[tuple[int, int]]) -> Iterator[Row]:
    import sondage

    base, *changes = method.split("+")
    parts = {key: _value(text) for key, _, text in (change.partition("=") for change in changes)}
    pool, code = problem.pool(), _code()
    for seed, budget in jobs:
        start = time.perf_counter()
        estimate = sondage.evaluate(
            pool, problem.measure, problem.labels, budget, seed, positive=problem.positive, method=base, **parts
        )
        interval = estimate.interval(0.95)
        seconds = f"{time.perf_counter() - start:.4f}"
        numbers = _short(estimate.value, interval.low, interval.high)
        one_sided = int(interval.low <= estimate.possible[0] or interval.high >= estimate.possible[1])
        yield (seed, budget, method, *numbers, estimate.n_labels, interval.kind, seconds, code, one_sided)


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _short(*numbers: float) -> list[str]:
    return [f"{number:.12g}" for number in numbers]


def _code() -> str:
    """Return a short hash of the package's source, so that rows of different versions can be told apart."""
    import sondage

    files = sorted(Path(sondage.__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


if __name__ == "__main__":
    main()
