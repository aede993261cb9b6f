"""Planning and drawing from pools of a million rows and more, against reading the same columns once.

    python benchmarks/scale.py --rows 1e6 1e7               arrays and DuckDB
    python benchmarks/scale.py --rows 1e8 --engines duckdb --memory 250MB
    python benchmarks/scale.py --rows 1e6 --engines spark
    python benchmarks/scale.py --table                       print what was measured

Pools are made as Parquet in a scratch folder, and deleted after. A job is the plan and one draw of 300 items by the
default's design, from opening the files to the drawn items; a scan sums up all columns in the same engine. Jobs and
scans are made in turn, and medians are kept: of the seconds that pass, and of those that processors are busy, which
other work on the machine changes less. Each row is measured in a process of its own; the peak is that of its resident
memory above what it is after importing, and for DuckDB covers the engine. A pass without a time was not made: where
the first one meets the rows of the draw, there is no third. Rows already in the results are not measured again.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import duckdb

RESULTS = Path(__file__).parent / "results" / "scale.csv"
FIELDS = ["rows", "classes", "engine", "memory", "threads", "scan", "first", "second", "third", "job", "peak_mb"]
FIELDS += ["scan_cpu", "job_cpu"]
BUDGET, SEED = 300, 1
STEPS = {"pass 1": "first", "pass 2": "second", "pass 3": "third"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--engines", nargs="+", default=["arrays", "duckdb"], choices=list(ENGINES))
    parser.add_argument("--memory", default="1GB", help="DuckDB's memory_limit, Spark's heap")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scratch", help="folder for the Parquet files")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not options.table:
        measure(options)
    print_table()


def measure(options: argparse.Namespace) -> None:
    done = {tuple(row[name] for name in FIELDS[:5]) for row in measured()}
    for rows in map(int, options.rows):
        for classes in options.classes:
            keys = {e: (str(rows), str(classes), e, options.memory, str(options.threads)) for e in options.engines}
            wanted = [engine for engine, key in keys.items() if key not in done]
            if wanted:
                with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
                    path = generate(Path(folder), rows, classes)
                    for engine in wanted:
                        keep(dict(zip(FIELDS, keys[engine], strict=False)) | apart(engine, path, options))


def generate(folder: Path, rows: int, classes: int) -> str:
    """Write ids and probabilities, and a shuffled order of ids, in files of up to ten million rows."""
    step = 10_000_000
    with duckdb.connect(config={"memory_limit": "1GB", "temp_directory": str(folder)}) as connection:
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            scores = ", ".join(
                f"pow((hash(i * {classes} + {y}) % 1000003 + 1) / 1000004e0, 3) AS s{y}" for y in range(classes)
            )
            total = " + ".join(f"s{y}" for y in range(classes))
            columns = ", ".join(f"s{y} / ({total}) AS p_{y}" for y in range(classes))
            query = f"SELECT i AS id, {columns} FROM (SELECT range AS i, {scores} FROM range({start}, {stop}))"
            connection.execute(f"COPY ({query}) TO '{folder}/{start}.parquet' (COMPRESSION snappy)")
    return f"{folder}/*.parquet"


def apart(engine: str, path: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure in a new process."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(job, (engine, path, options.memory, options.threads, options.repeats))


def job(engine: str, path: str, memory: str, threads: int, repeats: int) -> dict[str, Any]:
    """Return seconds of a scan, of each pass and of the whole, and the peak of memory."""
    import sondage  # noqa: F401

    before = peak()
    found: list[dict[str, float]] = []
    with_engine = ENGINES[engine](path, memory, threads)
    next(with_engine)
    for _ in range(repeats):
        passes: dict[str, float] = {}
        begun: dict[str, float] = {}

        def progress(step: str, share: float, begun: dict = begun, passes: dict = passes) -> None:
            name = STEPS.get(step.split(":")[0])
            if name and share == 0.0:
                begun.setdefault(step, perf_counter())
            if name and share == 1.0 and step in begun:
                passes[name] = passes.get(name, 0.0) + perf_counter() - begun.pop(step)

        start, busy = perf_counter(), busy_seconds(engine)
        pool = with_engine.send(progress)
        plan_and_draw(pool)
        row = passes | {"job": perf_counter() - start, "job_cpu": busy_seconds(engine) - busy}
        start, busy = perf_counter(), busy_seconds(engine)
        with_engine.send(None)
        row |= {"scan": perf_counter() - start, "scan_cpu": busy_seconds(engine) - busy}
        found.append(row | {"peak_mb": peak() - before})
    names = set.intersection(*(set(one) for one in found))
    return {name: median([one[name] for one in found]) for name in names} | {"peak_mb": found[-1]["peak_mb"]}


def plan_and_draw(pool: Any) -> Any:
    from sondage.core.measures import parse_measure
    from sondage.studies.method import Question, choose_method
    from sondage.studies.planning import draw_stage, make_plan

    method = choose_method(None, stages=1)
    pool.expect(SEED, 0, BUDGET)
    plan = make_plan(pool, Question("evaluate", ("model",), (parse_measure("error_rate"),)), method)
    stage = draw_stage(pool, plan, method, budget=BUDGET, seed=SEED)
    return pool.taken(stage.drawn.units)


def on_arrays(path: str, memory: str, threads: int) -> Iterator[Any]:
    """From arrays: reading the files is not counted."""
    import sondage

    pool = sondage.read_pool(path, lazy=False)
    output: Any = pool.items.models[0]
    told = yield None
    while True:
        told = yield pool if told else float(output.probabilities.sum() + pool.keys.sum())


def on_duckdb(path: str, memory: str, threads: int) -> Iterator[Any]:
    import sondage

    settings = {"memory_limit": memory, "threads": threads}
    told = yield None
    while True:
        if told:
            told = yield sondage.read_pool(path, lazy=True, settings=settings, progress=told)
        else:
            with duckdb.connect(config=settings) as connection:
                columns = connection.sql(f"SELECT * FROM '{path}'").columns
                connection.sql(f"SELECT {sums(columns)} FROM '{path}'").fetchall()
            told = yield None


def on_spark(path: str, memory: str, threads: int) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    import sondage

    builder = SparkSession.builder.master(f"local[{threads}]").config("spark.driver.memory", memory.lower().rstrip("b"))
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    table = session.read.parquet(os.path.dirname(path))
    told = yield None
    while True:
        if told:
            told = yield sondage.read_pool(table, progress=told)
        else:
            table.selectExpr(*(f"sum({name})" for name in table.columns)).collect()
            told = yield None


ENGINES = {"arrays": on_arrays, "duckdb": on_duckdb, "spark": on_spark}


def sums(columns: list[str]) -> str:
    return ", ".join(f'sum("{name}")' for name in columns)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def busy_seconds(engine: str) -> float:
    """Return how long processors have worked for this process, or for Spark's."""
    if engine == "spark":
        from pyspark import SparkContext

        jvm: Any = SparkContext._jvm
        return float(jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis()) / 1000
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def keep(row: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()})


def print_table() -> None:
    """Print seconds and their ratios to the scan."""
    names = ["rows", "classes", "engine", "memory", "scan, s", "pass 1", "pass 2", "draw", "whole job", "processors"]
    print("|", " | ".join([*names, "job, s", "peak, MB"]), "|")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in sorted(measured(), key=lambda row: (row["engine"], int(row["classes"]), int(row["rows"]))):
        ratios = [times(row[name], row["scan"]) for name in ("first", "second", "third", "job")]
        ratios.append(times(row["job_cpu"], row["scan_cpu"]))
        named = [f"{int(row['rows']):,}", row["classes"], row["engine"], row["memory"]]
        shown = [*named, f"{float(row['scan']):.3f}", *ratios]
        print("|", " | ".join([*shown, f"{float(row['job']):.2f}", f"{float(row['peak_mb']):.0f}"]), "|")


def times(seconds: str, scan: str) -> str:
    """Return seconds over those of the scan; nothing of a pass that was not made, or of a scan too short to measure."""
    return f"{float(seconds) / float(scan):.1f} x" if seconds and float(scan) else ""


if __name__ == "__main__":
    main()
