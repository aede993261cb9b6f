"""Tables that DuckDB reads: Parquet files, and relations of the user's own connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from glob import escape
from importlib import import_module
from itertools import count, groupby
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sondage.core.checks import refusals_of
from sondage.errors import InputError
from sondage.pools.engines import Join, Kernel, ProgressHook, Result, Rows, in_wholes, of_arrow, plain
from sondage.pools.schema import NAMES, Column
from sondage.pools.sql.text import Tables, number

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "DuckDB",
    "as_they_are",
    "connected",
    "connected_errors",
    "parquet",
    "plainly_named",
    "quoted",
    "reason",
    "require_apart",
]

_KINDS = {
    "int": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT"),
    "float": ("FLOAT", "DOUBLE", "DECIMAL"),
    "text": ("VARCHAR", "ENUM", "UUID"),
    "bool": ("BOOLEAN",),
}
_OF_NAMES = {
    "HUGEINT": "CAST({0} AS BIGINT)",
    "UHUGEINT": "CAST({0} AS BIGINT)",
    "UUID": "CAST({0} AS VARCHAR)",
    "DECIMAL": "CAST({0} AS BIGINT)",
}
_IN_UTC = (  # as Python writes it, 2026-03-01T12:00:00+00:00; infinity as it is
    "coalesce(strftime(make_timestamp(epoch_us({0})), '%Y-%m-%dT%H:%M:%S') || CASE WHEN epoch_us({0}) % 1000000 = 0 "
    "THEN '' ELSE strftime(make_timestamp(epoch_us({0})), '.%f') END || '+00:00', CAST({0} AS VARCHAR))"
)
_OF_OTHERS = {
    "TIMESTAMP WITH TIME ZONE": _IN_UTC,
    "TIMESTAMPTZ_NS": _IN_UTC.replace("{0}", "CAST({0} AS TIMESTAMPTZ)"),
    "TIMESTAMP_NS": "CAST({0} AS TIMESTAMP)",
    "UHUGEINT": "CAST({0} AS DOUBLE)",  # as NumPy has HUGEINT
}
_WHOLE = re.compile(r"(DECIMAL)\(\d+,0\)")
BATCH = 1 << 16
"""Rows that are handed over at a time."""
LONGEST = 300
"""Characters of a line of what DuckDB says, which may repeat a whole line of a file."""
_UNFOLDING = "partial_aggregate_pushdown"
_OPTIMISERS = (
    "SELECT current_setting('disabled_optimizers'), current_setting('lock_configuration'), "
    f"'{_UNFOLDING}' IN (SELECT name FROM duckdb_optimizers())"
)
_TICK = 0.2
"""Seconds between two looks at how far a query is."""
_QUERY = re.compile(r"^LINE \d+: ", re.MULTILINE)
_USED = re.compile(r"[\d.]+ \w+/[\d.]+ \w+ used")
_LINE = re.compile(r"CSV Error on Line: (\d+)")


class DuckDB:
    """Parquet files, or a relation.

    Parameters
    ----------
    source : sequence of str, or duckdb.DuckDBPyRelation
        Files, or a relation, which is read on its own connection.
    settings : mapping
        Settings of DuckDB for files, such as ``memory_limit`` and ``threads``.
    progress : callable, optional
        Hears how far a query is.
    name : str
        Of the files, for messages.
    """

    def __init__(
        self,
        source: Sequence[str] | duckdb.DuckDBPyRelation,
        settings: Mapping[str, Any] | None = None,
        progress: ProgressHook | None = None,
        *,
        name: str = "",
    ) -> None:
        self.name = name
        self._own: duckdb.DuckDBPyConnection | None = None
        self._progress, self._numbers = progress, count()
        if isinstance(source, Sequence):
            self._own = connected(settings or {})
            with connected_errors():
                self._own.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
                self._relation = parquet(self._own, source)
        else:
            self._relation = plainly_named(source)
        names = self._relation.columns
        self.columns = [
            Column(place, name, _kind(kind), unsigned=kind == "UBIGINT", type=kind)
            for place, (name, kind) in enumerate(zip(names, map(str, self._relation.types), strict=True))
        ]
        self._aliases = ", ".join(column.raw for column in self.columns)

    def text_key(self, text: str) -> str:
        return f"CAST('0x' || substr(md5({text}), 1, 15) AS BIGINT)"

    def kept(self, text: str, condition: str) -> str:
        return f"SELECT t.* FROM ({text}) t WHERE {condition}"

    def gathering(self, columns: Sequence[str], condition: str) -> str | None:
        row = ", ".join(f"'{name}': {name}" for name in columns)
        return f"list({{{{{row}}}}}) FILTER (WHERE {condition})"

    def query(self, text: str, tables: Tables, step: str) -> Rows:
        with refusals_of(self.name), connected_errors(), self._watched(step), self._run(text, tables) as relation:
            return plain(relation.fetchnumpy())

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
        try:
            import_module("pyarrow")
        except ModuleNotFoundError:
            raise InputError(
                "this goes through Arrow batches: pip install 'sondage[arrow]', or .load() the pool"
            ) from None
        text = f"SELECT * FROM ({text}) t ORDER BY {whole}" if whole else text
        with refusals_of(self.name), connected_errors(), self._watched(step), self._run(text, tables) as relation:
            read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # by release
            for block in in_wholes(map(of_arrow, read(BATCH)), whole):
                yield kernel(block)

    @contextmanager
    def _run(self, text: str, tables: Tables) -> Iterator[duckdb.DuckDBPyRelation]:
        """Yield what a query finds; its tables are known until that is fetched."""
        places = {"source": f"(SELECT * FROM the_source t({self._aliases}))"}
        if self._own is None:
            places |= {name: _spelled(table) for name, table in tables.items()}
            with self._without_unfolding():
                yield self._found(text.format(**places))
            return
        self._relation.create_view("the_source", replace=True)
        views = {name: f"table_{next(self._numbers)}" for name in tables}
        try:
            for name, view in views.items():
                self._own.register(view, dict(tables[name]))
            with self._without_unfolding():
                yield self._own.sql(text.format(**places, **views))
        finally:
            for view in views.values():
                self._own.unregister(view)

    def _found(self, text: str) -> duckdb.DuckDBPyRelation:
        """Return what a query on the relation's connection finds."""
        found = self._relation.query("the_source", text)
        assert found is not None
        return found

    @contextmanager
    def _without_unfolding(self) -> Iterator[None]:
        """Do without an optimiser that moves sums below joins, where this release has it, for the time of a query.

        It copies what the sums' names mean, layer in layer: each model more that names classes makes planning four
        times as long.
        """
        import duckdb

        ((before, locked, known),) = self._found(_OPTIMISERS).fetchall()
        if locked or not known:
            yield
            return
        self._found(f"SET disabled_optimizers = '{','.join(filter(None, (before, _UNFOLDING)))}'")
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # of a transaction that has failed
                self._found(f"SET disabled_optimizers = '{before}'")

    @contextmanager
    def _watched(self, step: str) -> Iterator[None]:
        """Tell how far the query is while it runs."""
        if self._progress is None:
            yield
            return
        self._progress(step, 0.0)
        done = Event()
        watcher = Thread(target=self._watch, args=(step, done), daemon=True)
        watcher.start()
        try:
            yield
            self._progress(step, 1.0)
        finally:
            done.set()
            watcher.join()

    def _watch(self, step: str, done: Event) -> None:
        while not done.wait(_TICK):
            share = self._own.query_progress() if self._own is not None else -1.0
            if share >= 0 and self._progress is not None:
                self._progress(step, share / 100)


def connected(settings: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return a connection with these settings, or refuse them."""
    import duckdb

    try:
        return duckdb.connect(config=dict(settings))
    except (duckdb.Error, RuntimeError) as error:  # RuntimeError: of a text with half a character
        raise InputError(f"settings={dict(settings)}: {reason(error)}") from None


def _kind(name: str) -> str:
    if name.endswith("]"):  # a list of them
        return "other"
    return next((kind for kind, starts in _KINDS.items() if name.startswith(starts)), "other")


def parquet(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Return files as one table; ``month=2024-01`` in their folders' names is a column too, unless they have it."""
    found, names = as_they_are(files), _partitions(files)
    told = "SELECT file_name, name, coalesce(num_children, 0) FROM parquet_schema($1)"
    for name, parts in groupby(connection.execute(told, [found]).fetchall(), itemgetter(0)):
        with refusals_of(name):  # here, for a table made of the file has other names for such columns
            require_apart(_outermost(parts))
    relation = connection.read_parquet(found)
    if names and names.isdisjoint(column.lower() for column in relation.columns):
        relation = connection.read_parquet(found, hive_partitioning=True)
    return plainly_named(relation)


def _outermost(parts: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Yield the names of a file's columns from file, name and number of children of all their parts, depth first."""
    inner = 0
    for _, name, children in list(parts)[1:]:  # the first is the whole
        if not inner:
            yield name
        inner += children - bool(inner)


def require_apart(names: Iterable[str]) -> None:
    """Refuse names that are the same, or differ in upper and lower case only: DuckDB does not tell them apart.

    Examples
    --------
    >>> require_apart(["id", "p_A", "p_a"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sondage.errors.InputError: columns 'p_A' and 'p_a' differ in upper and lower case only: rename one, or ...
    """
    known: dict[bytes, str] = {}
    for name in names:
        small = name.encode().lower()  # of A to Z only, as there
        if small in known:
            both = f"columns {known[small]!r} and {name!r} differ in upper and lower case only"
            rule = "rename one, or read the table with pandas and give read_pool the frame"
            raise InputError(f"column {name!r} stands twice" if known[small] == name else f"{both}: {rule}")
        known[small] = name


def as_they_are(files: Sequence[str]) -> list[str]:
    """Return names by which DuckDB reads these files and no others: it takes every name for a glob.

    Examples
    --------
    >>> as_they_are(["pool[1].csv", "pool.csv"])
    ['pool[[]1].csv', 'pool.csv']
    """
    return [escape(name) for name in files]


def _partitions(files: Sequence[str]) -> set[str]:
    """Return what folders' names tell by ``name=value``, where all files have the same names and these differ."""
    told = {tuple(part for part in Path(file).parent.parts if "=" in part) for file in files}
    names = {tuple(part.split("=")[0].lower() if part.count("=") == 1 else "" for part in parts) for parts in told}
    (first, *others) = names
    return set() if others or len(told) == 1 or "" in first else set(first)


def plainly_named(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation whose names of rows are text or whole numbers of 64 bits: NumPy rounds others.

    Times with a time zone, which NumPy does not know, are text in UTC: whoever reads them can tell, and the zone of the
    connection changes nothing. Nanoseconds, which Python's times do not have, are cut off.

    Raises
    ------
    InputError
        If names of columns are the same, but perhaps for upper and lower case.
    """
    require_apart(relation.columns)
    forms = {
        name: (_OF_NAMES if name in NAMES else _OF_OTHERS).get(_WHOLE.sub(r"\1", str(kind)))
        for name, kind in zip(relation.columns, relation.types, strict=True)
    }
    cast = ", ".join(f"{form.format(quoted(name))} AS {quoted(name)}" for name, form in forms.items() if form)
    return relation.project(f"* REPLACE ({cast})") if cast else relation


def quoted(name: str) -> str:
    """Return a column's name as queries have it.

    Examples
    --------
    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def _spelled(table: Mapping[str, NDArray[Any]]) -> str:
    """Return a table as a list of values, for a connection that takes no others."""
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    values = ", ".join(f"({', '.join(map(_value, row))})" for row in rows)
    return f"(SELECT * FROM (VALUES {values}) v({', '.join(table)}))"


def _value(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    text = str(value).replace("'", "''")
    return f"TIMESTAMP '{text}'" if isinstance(value, date) else f"'{text}'"


@contextmanager
def connected_errors() -> Iterator[None]:
    """Turn DuckDB's errors into ours; Ctrl-C, which it makes an error, is Ctrl-C again."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise InputError(reason(error)) from None
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


def reason(error: Exception) -> str:
    """Return what DuckDB says as one line without the query, and what it means where it only says that it is lost."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException):
        used = _USED.search(str(error))
        size = f" ({used[0]})" if used else ""
        return f"its rows need more memory than they may have{size}; allow more: settings={{'memory_limit': '2GB'}}"
    if "reached an invalid state" in str(error):
        return "lines that end in different ways, or quotation marks that do not pair; save it as CSV once more"
    if "not utf-8 encoded" in str(error) and (place := _LINE.search(str(error))):
        return f"line {place[1]} is not UTF-8; save the file as UTF-8 (spreadsheets: CSV UTF-8)"
    text = _QUERY.split(str(error))[0]
    lines = [line.strip()[:LONGEST] for line in text.splitlines() if line.strip()]
    return lines[0] if len(lines) == 1 else " ".join(lines[:3])
