"""Tables of Spark, in the user's own session."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from numpy.typing import NDArray

from sondage.errors import InputError
from sondage.pools.engines import Join, Kernel, ProgressHook, Result, Rows, in_wholes, of_arrow
from sondage.pools.schema import NAMES, Column
from sondage.pools.sql.text import Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Spark"]

_KINDS = {
    "int": ("tinyint", "smallint", "int", "bigint"),
    "float": ("float", "double", "decimal"),
    "text": ("string", "varchar", "char"),
    "bool": ("boolean",),
}
_UTC = (
    "CAST(TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    "CAST(unix_micros({0}) AS DECIMAL(20, 0)) / 1000000) AS STRING)"
)
_IN_UTC = (  # a time as Python writes it, 2026-03-01T12:00:00+00:00, whatever the session's zone is
    f"concat(rpad(replace({_UTC}, ' ', 'T'), IF(unix_micros({{0}}) % 1000000 = 0, 19, 26), '0'), '+00:00')"
)
_TICK = 0.5
"""Seconds between two looks at how far a query is."""


class Spark:
    """A table of Spark.

    Parameters
    ----------
    table : pyspark.sql.DataFrame
        The table; its columns may have any names.
    progress : callable, optional
        Hears how far a query is.
    """

    name = ""

    def __init__(self, table: DataFrame, progress: ProgressHook | None = None) -> None:
        zoned = [kind == "timestamp" and name not in NAMES for name, kind in table.dtypes]
        self.columns = [
            Column(place, name, "text" if zoned[place] else _kind(kind), type=kind)
            for place, (name, (_, kind)) in enumerate(zip(table.columns, table.dtypes, strict=True))
        ]
        raw = [column.raw for column in self.columns]
        shown = [f"{_IN_UTC.format(name)} AS {name}" if zoned[place] else name for place, name in enumerate(raw)]
        self._table = table.toDF(*raw).selectExpr(*shown)
        self._session, self._progress = table.sparkSession, progress

    def text_key(self, text: str) -> str:
        return f"CAST(conv(substr(md5({text}), 1, 15), 16, 10) AS BIGINT)"

    def gathering(self, columns: Sequence[str], condition: str) -> str | None:
        return None  # lists keep Spark from compiling the sums beside them

    def kept(self, text: str, condition: str) -> str:
        # A plain condition would move to the scan, and there each name be what it stands for, layer in layer: with five
        # classes this is more than memory holds. One on a column that an array was unfolded to stays where it is.
        return f"SELECT t.* FROM ({text}) t LATERAL VIEW explode(array({condition})) k AS kept WHERE k.kept"

    def query(self, text: str, tables: Tables, step: str) -> Rows:
        with self._watched(step):
            return of_arrow(self._run(text, tables).toArrow())

    def mapped(
        self,
        text: str,
        tables: Tables,
        kernel: Kernel[Result],
        step: str,
        *,
        join: Join[Result] | None = None,
        whole: str | None = None,
    ) -> Iterator[Result]:
        def pickled(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            results: Iterator[Result] = map(kernel, in_wholes(map(of_arrow, batches), whole))
            if join is not None:
                first = next(results, None)
                results = iter(() if first is None else (reduce(join, results, first),))
            for result in results:
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array([pickle.dumps(result)])], ["result"])

        with self._watched(step):
            table = self._run(text, tables)
            table = table.repartition(whole).sortWithinPartitions(whole) if whole else table
            found = table.mapInArrow(pickled, "result binary").collect()
        yield from (pickle.loads(row["result"]) for row in found)

    def _run(self, text: str, tables: Tables) -> DataFrame:
        frames: dict[str, Any] = {name: self._small(table) for name, table in tables.items()}
        return self._session.sql(text, source=self._table, **frames)

    def _small(self, table: Mapping[str, NDArray[Any]]) -> DataFrame:
        import pyarrow

        return self._session.createDataFrame(pyarrow.table({name: _arrow(column) for name, column in table.items()}))

    @contextmanager
    def _watched(self, step: str) -> Iterator[None]:
        """Tell how far the query is while it runs; Ctrl-C ends its jobs."""
        context, tag = self._session.sparkContext, f"sondage-{uuid4().hex[:8]}"
        done = Event()
        context.addJobTag(tag)
        context.setInterruptOnCancel(True)
        watcher = Thread(target=self._watch, args=(step, done), daemon=True)
        if self._progress is not None:
            self._progress(step, 0.0)
            watcher.start()
        try:
            yield
        except KeyboardInterrupt:
            context.cancelJobsWithTag(tag)
            raise
        except Exception as error:
            raise _readable(error) from None
        finally:
            done.set()
            context.removeJobTag(tag)
        if self._progress is not None:
            self._progress(step, 1.0)

    def _watch(self, step: str, done: Event) -> None:
        tracker = self._session.sparkContext.statusTracker()
        while not done.wait(_TICK):
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            tasks = sum(stage.numTasks for stage in stages if stage is not None)
            ready = sum(stage.numCompletedTasks for stage in stages if stage is not None)
            if tasks and self._progress is not None:
                self._progress(step, ready / tasks)


def _kind(name: str) -> str:
    plain = name.partition("(")[0]  # of decimal(10,2)
    return next((kind for kind, names in _KINDS.items() if plain in names), "other")


def _arrow(column: NDArray[Any]) -> Any:
    import pyarrow

    return pyarrow.array(column.tolist() if column.dtype.kind in "OU" else column)


def _readable(error: Exception) -> Exception:
    """Return Spark's own errors as one line of ours, others as they are."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if not isinstance(error, PySparkException | Py4JError):
        return error
    lines = [line for line in str(error).splitlines() if line.strip()]
    traceback = next((at for at, line in enumerate(lines) if line.startswith("Traceback")), None)
    if traceback is not None:  # of a worker: what it ends with is what went wrong
        lines[1:] = [line for line in lines[traceback + 1 :] if not line.startswith(" ")]
    return InputError(f"Spark: {' '.join(line.strip() for line in lines[:2])}")
