"""Tables of the label-efficiency benchmark, from the kept rows or from the committed summary of them.

    python benchmarks/summary.py                       plain tables
    python benchmarks/summary.py --markdown            the tables of docs/efficiency.md

Each run has a row in benchmarks/results/labels/<problem>.csv (not committed), each problem, budget and method a line in
summary.csv (committed). Problems without rows keep the lines they have in summary.csv, so that the table can be printed
from it alone; so does a line that rests on more seeds than there are rows. An undefined F-measure counts as 0, an
undefined interval as one that misses. Coverage is flagged where even a one-sided 99.9 % binomial bound lies outside
[0.93, 0.985]; above it only where fewer than 5 % of the intervals end at a limit of the measure or of what the labels
leave possible, which cannot miss: those are one-sided.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cells import table
from problems import Problem, load, names
from rich.console import Console
from rich.table import Table
from scipy.stats import binom

__all__ = ["RESULTS", "cells", "coverage_flag", "print_tables", "result_file", "rows_of", "write_summary"]

RESULTS = Path(__file__).resolve().parent / "results" / "labels"
SUMMARY = RESULTS / "summary.csv"
LOW, HIGH, BOUND, ONE_SIDED = 0.93, 0.985, 0.001, 0.05
DIGITS = 5
"""Of what the summary keeps."""
SONDAGE = ("default", "thesis", "passive")
LEAST_RATIO = 0.1

Key = tuple[str, int, str]
Cell = dict[str, Any]


def result_file(problem: str) -> Path:
    """Return the CSV file of a problem's runs."""
    return RESULTS / f"{problem.replace('/', '--')}.csv"


def rows_of(problem: str) -> list[dict[str, str]]:
    """Return the rows of a problem's runs; one that a stopped run left unfinished, or that is damaged, is none."""
    if not result_file(problem).exists():
        return []
    with result_file(problem).open(newline="") as file:
        head, *rows = list(csv.reader(line for line in file if line.endswith("\n"))) or [[]]
    return [dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)]


def _cell(problem: Problem, rows: Sequence[Mapping[str, str]]) -> Cell:
    """Return what the runs of one problem, budget and method say."""
    columns = [[float(row[name]) for row in rows] for name in ("estimate", "low", "high", "n_labels", "seconds")]
    estimate, low, high, labels, seconds = np.array(columns)
    undefined = ~np.isfinite(estimate)
    error = np.where(undefined, 0.0, estimate) - problem.truth
    size = np.abs(error)
    has = bool(np.isfinite(low).any())
    slack = 1e-9 * max(1.0, abs(problem.truth))
    top = math.inf if problem.measure == "mse" else 1.0
    inside = (low - slack <= problem.truth) & (problem.truth <= high + slack)
    known = np.isfinite(low) & ~np.isnan(high)
    proven = np.array([row.get("one_sided") == "1" for row in rows])
    return {
        "truth": problem.truth,
        "seeds": len(rows),
        "mae": size.mean(),
        "mae_se": size.std(ddof=1) / math.sqrt(len(size)) if len(size) > 1 else math.nan,
        "bias": error.mean(),
        "undefined": int(undefined.sum()),
        "covered": int(inside.sum()) if has else "",
        "width": float(np.mean((high - low)[known])) if has else "",
        "one_sided": float(np.mean((low <= 0) | (high >= top) | proven)) if has else "",
        "labels": labels.mean(),
        "seconds": float(np.median(seconds)),
        "codes": len({row["code"] for row in rows}),
    }


FIELDS = (
    *("truth", "seeds", "mae", "mae_se", "bias", "undefined"),
    *("covered", "width", "one_sided", "labels", "seconds", "codes"),
)


def _from_rows(name: str) -> Iterator[tuple[Key, Cell]]:
    groups: dict[tuple[int, str], dict[str, Mapping[str, str]]] = defaultdict(dict)
    for row in rows_of(name):
        groups[int(row["budget"]), row["method"]][row["seed"]] = row
    problem = load(name)
    for (budget, method), rows in sorted(groups.items()):
        cell = _cell(problem, list(rows.values()))
        yield (name, budget, method), {key: _as_kept(value) for key, value in cell.items()}


def _as_kept(value: Any) -> Any:
    """Return a value as the summary keeps it, so that tables from rows and from the summary are the same."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _kept() -> dict[Key, Cell]:
    if not SUMMARY.exists():
        return {}
    with SUMMARY.open(newline="") as file:
        return {
            (row["problem"], int(row["budget"]), row["method"]): {
                name: float(row[name]) if row[name] else "" for name in FIELDS
            }
            for row in csv.DictReader(file)
        }


def cells(chosen: Iterable[str] | None = None) -> dict[Key, Cell]:
    """Return every (problem, budget, method): of the chosen problems from their rows, of others from the summary."""
    found = _kept()
    for name in names() if chosen is None else chosen:
        if result_file(name).exists():
            found |= dict(_from_rows(name))
    return found


def write_summary(chosen: Iterable[str] | None = None) -> list[Key]:
    """Write summary.csv anew; methods with changed parts are left to the rows.

    Lines that rest on more seeds than there are rows stay as they are. Returns which.
    """
    rows = {key: cell for key, cell in cells(chosen).items() if "+" not in key[2]}
    firmer = {key: kept for key, kept in _kept().items() if kept["seeds"] > rows[key]["seeds"]}
    rows |= firmer
    SUMMARY.parent.mkdir(parents=True, exist_ok=True)
    unfinished = SUMMARY.with_suffix(".part")
    with unfinished.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", "budget", "method", *FIELDS))
        for key in sorted(rows, key=_order):
            values = [rows[key][field] for field in FIELDS]
            writer.writerow((*key, *(f"{v:.{DIGITS}g}" if isinstance(v, float) else v for v in values)))
    unfinished.replace(SUMMARY)  # a stop in the middle of writing loses nothing
    return list(firmer)


def _order(key: Key) -> tuple[int, int, str]:
    known = names()
    return known.index(key[0]) if key[0] in known else len(known), key[1], key[2]


def coverage_flag(cell: Mapping[str, Any]) -> str:
    """Return "low" or "high" where coverage lies outside the band beyond doubt, else ""."""
    if cell["covered"] == "":
        return ""
    hits, runs = int(cell["covered"]), int(cell["seeds"])
    if binom.cdf(hits, runs, LOW) < BOUND:
        return "low"
    if binom.sf(hits - 1, runs, HIGH) < BOUND and cell["width"] > 0 and cell["one_sided"] < ONE_SIDED:
        return "high"
    return ""


def _ratio(cell: Mapping[str, Any], other: Mapping[str, Any] | None) -> float:
    """Return the ratio of mean absolute errors, NaN where there is nothing to compare with."""
    if other is None:
        return math.nan
    if other["mae"] == 0:
        return 1.0 if cell["mae"] == 0 else math.inf
    return float(cell["mae"] / other["mae"])


def _ratio_error(cell: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the standard error of the ratio's logarithm."""
    if not (cell["mae"] and other["mae"]):
        return 0.0
    return math.hypot(cell["mae_se"] / cell["mae"], other["mae_se"] / other["mae"])


def _wilson_width(p: float, n: int, z: float = 1.959963984540054) -> float:
    return 2 * z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))


def _relative_width(key: Key, cell: Mapping[str, Any], found: Mapping[Key, Cell]) -> float:
    """Return width over Wilson's on a uniform sample for error rates, over passive's for the others."""
    passive = found.get((key[0], key[1], "passive"))
    if key[0].endswith("error_rate"):
        return float(cell["width"] / _wilson_width(cell["truth"], key[1]))
    return float(cell["width"] / passive["width"]) if passive and passive["width"] else math.nan


def _best_peer(found: Mapping[Key, Cell], name: str, budget: int) -> tuple[str, Cell] | tuple[None, None]:
    rivals = [
        (method, cell)
        for (problem, n, method), cell in found.items()
        if problem == name and n == budget and method.split("+")[0] not in (*SONDAGE, "lure")
    ]
    return min(rivals, key=lambda pair: pair[1]["mae"]) if rivals else (None, None)


def _geometric(ratios: Iterable[float]) -> float:
    """Return the geometric mean of the finite ratios, exact cells counted as `LEAST_RATIO` so that none decides it."""
    good = [math.log(max(LEAST_RATIO, ratio)) for ratio in ratios if math.isfinite(ratio)]
    return math.exp(sum(good) / len(good)) if good else math.nan


def print_tables(
    chosen: Sequence[str] | None = None, methods: Sequence[str] | None = None, *, markdown: bool = False
) -> None:
    """Print the tables of some problems (all) and of some methods (those there are)."""
    wanted = set(chosen or names())
    found = {
        key: cell for key, cell in cells(wanted).items() if key[0] in wanted and (not methods or key[2] in methods)
    }
    show = _markdown if markdown else _plain
    mine = [key for key in sorted(found, key=_order) if key[2] == "default"]
    if mine:
        show("The default method", _HEAD, [_line(key, found) for key in mine])
        show("Geometric means of MAE ratios", _MEANS_HEAD, list(_means(found)))
    show("All methods", _METHODS_HEAD, list(_methods(found)))
    print(_notes(found))


_HEAD = [
    "problem",
    "truth",
    "labels",
    "MAE",
    "/thesis",
    "/passive",
    "/LURE",
    "/best peer",
    "coverage",
    "width",
    "rel. width",
]


def _line(key: Key, found: Mapping[Key, Cell]) -> list[str]:
    name, budget, _ = key
    cell = found[key]
    thesis = found.get((name, budget, "thesis"))
    ratio = _ratio(cell, thesis)
    worse = thesis is not None and ratio * math.exp(-3 * _ratio_error(cell, thesis)) > 1.05
    peer, theirs = _best_peer(found, name, budget)
    beaten = theirs is not None and _ratio(cell, theirs) * math.exp(-3 * _ratio_error(cell, theirs)) > 1.0
    return [
        name,
        f"{cell['truth']:.4g}",
        str(budget),
        f"{cell['mae']:.3g}",
        _number(ratio) + ("!" if worse else ""),
        *(_number(_ratio(cell, found.get((name, budget, other)))) for other in ("passive", "lure")),
        f"{_number(_ratio(cell, theirs))}{'!' * beaten} {peer}" if peer else "",
        _coverage(cell),
        f"{cell['width']:.3g}",
        _number(_relative_width(key, cell, found)),
    ]


def _coverage(cell: Mapping[str, Any]) -> str:
    if cell["covered"] == "":
        return "none"
    flag = {"low": " LOW", "high": " HIGH", "": ""}[coverage_flag(cell)]
    return f"{cell['covered'] / cell['seeds']:.3f}{flag}"


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else ""


_MEANS_HEAD = ["cells", "labels", "number", "/thesis", "/passive", "/LURE", "/best peer", "median /thesis", "worst"]


def _means(found: Mapping[Key, Cell]) -> Iterator[list[str]]:
    """Yield geometric means over kinds of problems and budgets; "pools" counts each pool once."""
    mine = [key for key in found if key[2] == "default"]
    budgets = sorted({key[1] for key in mine})
    for kind, part in (("error rate", "/error_rate"), ("F1", "/f1"), ("squared loss", "/mse"), ("all", "/")):
        for budget in (*budgets, None):
            keys = [key for key in mine if part in key[0] and budget in (None, key[1])]
            if keys:
                yield [kind, str(budget or "all"), str(len(keys)), *_mean_ratios(found, [[key] for key in keys])]
    pools: dict[str, list[Key]] = defaultdict(list)
    for key in mine:
        pools[key[0].split("/")[0]].append(key)
    yield ["pools", "all", str(len(pools)), *_mean_ratios(found, list(pools.values()))]


def _mean_ratios(found: Mapping[Key, Cell], groups: Sequence[Sequence[Key]]) -> Iterator[str]:
    def against(pick: Callable[[Key], Cell | None]) -> list[float]:
        return [_geometric(_ratio(found[key], pick(key)) for key in group) for group in groups]

    def of(method: str) -> Callable[[Key], Cell | None]:
        return lambda key: found.get((key[0], key[1], method))

    for pick in (of("thesis"), of("passive"), of("lure"), lambda key: _best_peer(found, key[0], key[1])[1]):
        yield _number(_geometric(against(pick)))
    ratios = [ratio for ratio in against(of("thesis")) if math.isfinite(ratio)]
    yield _number(float(np.median(ratios)) if ratios else math.nan)
    yield _number(max(ratios, default=math.nan))


_METHODS_HEAD = ["method", "cells", "MAE /thesis", "coverage", "lowest", "LOW", "HIGH", "rel. width", "undefined", "ms"]


def _methods(found: Mapping[Key, Cell]) -> Iterator[list[str]]:
    """Yield a line for each method over all its cells."""
    for method in sorted({key[2] for key in found}, key=lambda m: (m.split("+")[0] not in SONDAGE, m)):
        some = {key: cell for key, cell in found.items() if key[2] == method}
        ranged = {key: cell for key, cell in some.items() if cell["covered"] != ""}
        rates = [cell["covered"] / cell["seeds"] for cell in ranged.values()]
        flags = [coverage_flag(cell) for cell in ranged.values()]
        yield [
            method,
            str(len(some)),
            _number(_geometric(_ratio(cell, found.get((*key[:2], "thesis"))) for key, cell in some.items())),
            f"{np.mean(rates):.3f}" if rates else "none",
            f"{min(rates):.3f}" if rates else "",
            str(flags.count("low")) if rates else "",
            str(flags.count("high")) if rates else "",
            _number(_geometric(_relative_width(key, cell, found) for key, cell in ranged.items())),
            f"{sum(c['undefined'] for c in some.values()) / sum(c['seeds'] for c in some.values()):.1%}",
            f"{1000 * np.median([cell['seconds'] for cell in some.values()]):.0f}",
        ]


def _notes(found: Mapping[Key, Cell]) -> str:
    seeds = sorted({int(cell["seeds"]) for cell in found.values()})
    span = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}" if seeds else "no"
    mine = [int(cell["seeds"]) for key, cell in found.items() if key[2] == "default"]
    lines = [
        f"{span} seeds a cell, 1,000 or more in {sum(n >= 1000 for n in mine)} of the default's {len(mine)}.",
        "Ratios are of mean absolute errors, below 1 where the default is nearer to the truth; '!' marks more than",
        "1.05 of the thesis, or 1 of the best peer, by three standard errors. Coverage is of 95 % intervals; LOW and",
        f"HIGH mark cells outside [{LOW}, {HIGH}] by a one-sided 99.9 % binomial bound. Relative width: over Wilson's",
        "interval on a uniform sample of the same size for error rates, over the passive method's for other measures.",
        f"A ratio below {LEAST_RATIO} counts as {LEAST_RATIO} in means; 'pools' counts each pool once. An",
        "undefined F1 counts as 0. LURE has the thesis's q. Peers are configured in benchmarks/peers/environments.py:",
        "ppi-python on a uniform sample, ssepy in 10 strata, glide-py's active statistical inference with at most as",
        "many labels, oasis for F-measures only and without intervals.",
    ]
    mixed = sorted({key[2] for key, cell in found.items() if cell["codes"] > 1})
    if mixed:
        lines.append(f"Rows of more than one version of the package: {', '.join(mixed)} (--fresh computes them again).")
    return "\n".join(lines)


def _plain(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    shown = Table(*head, title=title, box=None, title_justify="left", pad_edge=False)
    for row in rows:
        shown.add_row(*row)
    Console(width=160).print(shown, "")


def _markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"### {title}\n\n{table(head, rows)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true", help="as docs/efficiency.md has them")
    print_tables(markdown=parser.parse_args().markdown)


if __name__ == "__main__":
    main()
