"""The table as core reads it: codes, numbers, the ids' hash keys; what is checked and counted of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.core.beliefs.columns import NOTHING, SURE
from sondage.core.checks import BOUNDED, LARGEST_NUMBER
from sondage.pools.classes import class_texts
from sondage.pools.coding import SUM_TOLERANCE
from sondage.pools.numeric import AMOUNTS, LARGEST_VARIANCE, LEAST_VARIANCE
from sondage.pools.schema import Column, Probabilities, Schema, Source
from sondage.pools.side import LARGEST_FEATURE
from sondage.pools.sql.argmax import add_predicted
from sondage.pools.sql.text import MOST_CASES, Select, number, total

__all__ = ["Check", "checks", "extremes", "prepared", "raw_rows", "survey"]


@dataclass(frozen=True)
class Check:
    """What every row must fulfil: a condition, and what messages say of a row that does not.

    `several` tells conditions on one of several probabilities, which are quicker checked together.
    """

    name: str
    condition: str
    shown: str
    allowed: str
    several: bool = False


def raw_rows(within: tuple[str, Any] | None = None) -> Select:
    """Return the query of a table's columns as they are, of all rows or those with a value in a column."""
    select = Select("SELECT * FROM {source}")
    if within is not None:
        column, value = within
        select.among(column, "slices", np.array([value]))
    return select


def prepared(
    schema: Schema,
    text_key: Callable[[str], str],
    within: tuple[str, Any] | None = None,
) -> Select:
    """Return the query of a table's columns as numbers and codes; what is not a number or class is NULL.

    Parameters
    ----------
    schema : Schema
        The table.
    text_key : callable
        The engine's expression of the hash key of a text.
    within : (str, value), optional
        Keep rows with this value in a column of the source.
    """
    select, columns = raw_rows(within), _of_items(schema, text_key)
    for source in schema.sources:
        if source.variance is not None:
            columns[source.spread] = _variance(_double(source.variance))
        columns |= _probabilities(select, schema, source)
    if schema.task.kind == "regression":
        columns |= {source.code: _double(source.prediction) for source in schema.models if source.prediction}
    if schema.task.kind == "classification":
        columns |= {s.code: _code(select, schema, s.prediction) for s in schema.models if s.prediction is not None}
    select.choose(columns)
    told = [source.probabilities for source in schema.models if source.probabilities]
    if uneven := [one for one in told if one.stem in schema.even]:
        _divided(select, list(columns), uneven)
    for source in schema.models:
        if schema.task.kind == "classification" and source.prediction is None and source.probabilities:
            add_predicted(select, source)
    return select


def _of_items(schema: Schema, text_key: Callable[[str], str]) -> dict[str, str]:
    """Return the columns that are read as they stand: names, documents, weight, cost, features, what is predicted."""
    raw = schema.id.raw
    whole = f"CASE WHEN {raw} < {2**63} THEN CAST({raw} AS BIGINT) ELSE -1 END" if schema.id.unsigned else raw
    key = text_key(f"CAST({raw} AS STRING)") if schema.hashed else f"CAST({whole} AS BIGINT)"
    columns = {"id": raw, "key": key} | ({} if schema.group is None else {"g": schema.group.raw})
    columns |= {s.prediction.raw: s.prediction.raw for s in schema.sources if s.prediction is not None}
    if schema.lists is not None:
        columns |= {"d": schema.lists.document.raw}
        columns |= {f"r{at}": _double(column) for at, column in enumerate(schema.lists.ranks)}
    if schema.weight is not None:
        columns["w"] = _double(schema.weight)
    if schema.cost is not None:
        columns["c"] = _double(schema.cost)
    return columns | {f"x{at}": _double(column) for at, column in enumerate(schema.features)}


def _double(column: Column) -> str:
    return f"CAST({column.raw} AS DOUBLE)" if column.kind != "bool" else f"CAST(CAST({column.raw} AS INT) AS DOUBLE)"


def _variance(told: str) -> str:
    least = number(LEAST_VARIANCE)
    return f"CASE WHEN {told} > 0e0 AND {told} < {least} THEN {least} ELSE {told} END"


def _code(select: Select, schema: Schema, column: Column) -> str:
    """Return the code of the class that a column names; NULL where it names none."""
    classes = schema.task.classes
    if column.kind in ("int", "bool") and classes == tuple(range(len(classes))):
        whole = column.raw if column.kind == "int" else f"CAST({column.raw} AS INT)"
        return f"CASE WHEN {whole} >= 0 AND {whole} < {len(classes)} THEN CAST({whole} AS INT) END"
    table, texts = f"names{len(select.tables)}", class_texts(classes)
    if column.kind == "bool":  # which are 0 and 1, where these name classes in another order, or as fractions
        texts |= {str(flag): classes.index(flag) for flag in (False, True) if flag in classes}
    select.tables[table] = {
        f"{table}_text": np.array(list(texts), dtype=object),
        f"{table}_code": np.array(list(texts.values())),
    }
    select.joined([f"{table}_code"], table, f"m.{table}_text = {_class_text(column)}")
    return f"CAST({table}_code AS INT)"


def _class_text(column: Column) -> str:
    """Return the text of the class that a column names, as Python writes it: of numbers, and True and False."""
    raw = f"t.{column.raw}"
    if column.kind == "bool":
        return f"CASE WHEN {raw} THEN 'True' WHEN NOT {raw} THEN 'False' END"
    if column.kind == "float":
        whole = f"abs({raw}) < {number(2.0**53)} AND {raw} = floor({raw})"
        fraction = f"CAST(CAST({raw} AS DOUBLE) AS STRING)"
        return f"CASE WHEN {whole} THEN CAST(CAST({raw} AS BIGINT) AS STRING) ELSE {fraction} END"
    return f"CAST({raw} AS STRING)"


def _probabilities(select: Select, schema: Schema, source: Source) -> dict[str, str]:
    """Return the expressions of a source's probabilities; of a judge that names classes nearly sure ones."""
    told = source.probabilities
    if told is None:
        return {}
    if told.named and source.prediction is not None:
        code = _code(select, schema, source.prediction)
        if len(told.columns) == 1:
            return {
                told.names[0]: f"CASE WHEN {code} = 1 THEN {number(SURE)} WHEN {code} = 0 THEN {number(1 - SURE)} END"
            }
        other, sure = (float(np.float32(p)) for p in ((1.0 - SURE) / (len(told.columns) - 1), SURE))
        return {
            name: f"CASE WHEN {code} = {label} THEN {number(sure)} WHEN {code} >= 0 THEN {number(other)} END"
            for label, name in enumerate(told.names)
        }
    if told.first:
        return {told.names[0]: f"(1e0 - {_double(told.columns[0])})"}
    return {name: _double(column) for name, column in zip(told.names, told.columns, strict=True)}


def _divided(select: Select, columns: Sequence[str], told: Sequence[Probabilities]) -> None:
    """Divide each of several lists of probabilities by their sum."""
    divided = {name: f"{name} / {one.stem}_sum" for one in told for name in one.names}
    select.add({f"{one.stem}_sum": total(one.names) for one in told})
    select.choose({name: divided.get(name, name) for name in columns})


def sum_error(told: Probabilities) -> str:
    """Return how far the probabilities are from a sum of 1."""
    return f"abs({total(told.names)} - 1e0)"


def checks(schema: Schema) -> list[Check]:
    """Return what every row must fulfil."""
    named = f"one of the classes {list(schema.task.classes)}"
    return [
        *_of_names(schema),
        *(check for source in schema.sources for check in _of_source(source, named)),
        *(check for source in schema.models for check in _of_prediction(source, schema.task.kind, named)),
        *_of_numbers(schema),
    ]


def _of_names(schema: Schema) -> Iterator[Check]:
    """Yield checks of ids, groups, documents and their ranks."""
    yield Check(schema.id.name, "id IS NOT NULL", "id", "given")
    if schema.id.kind == "text":
        yield Check(schema.id.name, "trim(CAST(id AS STRING)) <> ''", "id", "more than spaces")
    if schema.group is not None:
        yield Check(schema.group.name, "g IS NOT NULL", "g", "given")
    if schema.lists is not None:
        yield Check(schema.lists.document.name, "d IS NOT NULL", "d", "given")
        for at, rank in enumerate(schema.lists.ranks):
            outside = f"(r{at} < 0e0 OR abs(r{at}) = CAST('Infinity' AS DOUBLE))"
            yield Check(rank.name, f"(r{at} IS NULL OR NOT {outside})", f"r{at}", "1 or more, or missing")


def _of_source(source: Source, named: str) -> Iterator[Check]:
    """Yield checks of a source's probabilities, or the classes that it names, and variances."""
    told = source.probabilities
    if told is not None:
        for name, column in zip(told.names, told.columns, strict=True):
            inside = f"({name} >= 0e0 AND {name} <= 1e0 AND {_number(name)})"
            shown, allowed = (column.raw, named) if told.named else (name, "in [0, 1]")
            yield Check(column.name, inside, shown, allowed, told.several)
        if told.several and not told.named:
            names = f"{told.columns[0].name}, {told.columns[1].name}, ..."
            near = f"{sum_error(told)} <= {number(SUM_TOLERANCE)}"
            yield Check(f"sum of {names}", near, total(told.names), f"1 within {SUM_TOLERANCE}", True)
    if source.variance is not None:
        most = number(LARGEST_VARIANCE)
        inside = f"({source.spread} >= 0e0 AND {source.spread} <= {most} AND {_number(source.spread)})"
        allowed = f"finite, not negative, at most {LARGEST_VARIANCE:g}"
        yield Check(source.variance.name, inside, source.spread, allowed)


def _of_prediction(model: Source, kind: str, named: str) -> Iterator[Check]:
    """Yield the check of a model's predictions: classes or numbers."""
    if model.prediction is not None and kind == "classification":
        yield Check(model.prediction.name, f"{model.code} IS NOT NULL", model.prediction.raw, named)
    elif model.prediction is not None:
        inside = f"(abs({model.code}) <= {number(LARGEST_NUMBER)} AND {_number(model.code)})"
        yield Check(model.prediction.name, inside, model.code, BOUNDED)


def _of_numbers(schema: Schema) -> Iterator[Check]:
    """Yield checks of weights, costs and features."""
    for name, positive in (("w", schema.weight), ("c", schema.cost)):
        if positive is not None:
            low, high = AMOUNTS
            yield Check(positive.name, f"({name} > 0e0 AND {_number(name)})", name, "positive and finite")
            inside = f"({name} >= {number(low)} AND {name} <= {number(high)})"
            yield Check(positive.name, inside, name, f"{low:g} to {high:g}")
    for at, column in enumerate(schema.features):
        inside = f"(abs(x{at}) <= {number(LARGEST_FEATURE)} AND {_number(f'x{at}')})"
        yield Check(column.name, inside, f"x{at}", f"finite, at most {LARGEST_FEATURE:g} either way")


def _number(name: str) -> str:
    """Return the condition that a double is a number and finite.

    Where a Parquet file's statistics are within bounds DuckDB does not look at the values, and they know nothing of
    NaN; nor is `isnan` looked at then.
    """
    return f"{name} - {name} = 0e0"


def sound(schema: Schema) -> str:
    """Return the condition that a row is as it must be, in short; `checks` tell what is wrong where it is not."""
    found = [check.condition for check in checks(schema) if not check.several]
    for source in schema.sources:
        told = source.probabilities
        if told is not None and told.several:
            if len(told.names) <= MOST_CASES:
                found += [f"{name} >= 0e0 AND {name} <= 1e0" for name in told.names]
            else:
                names = ", ".join(told.names)
                found.append(f"least({names}) >= 0e0 AND greatest({names}) <= 1e0")
            found.append(f"{sum_error(told)} <= {number(SUM_TOLERANCE)}")
    return " AND ".join(found)


def survey(schema: Schema) -> dict[str, str]:
    """Return the aggregates that say how many rows there are, what they weigh and cost, and how many are unsound."""
    sound_rows = f"COALESCE(COUNT_IF({sound(schema)}), 0)"  # NULL in DuckDB, if the condition is NULL in all rows
    columns = {
        "n": "COUNT(*)",
        "unsound": f"COUNT(*) - {sound_rows}",
        "min_key": "MIN(key)",
        "max_key": "MAX(key)",
    }
    if schema.hashed:  # 60 bits of a hash: no need to look
        columns |= {"min_key": "MIN(0)", "max_key": f"MAX({2**60})"}
    if schema.weight is not None:
        columns |= {"sum_w": "SUM(w)", "sum_ww": "SUM(w * w)", "min_w": "MIN(w)", "max_w": "MAX(w)"}
    if schema.cost is not None:
        columns |= {"sum_c": "SUM(c)", "min_c": "MIN(c)", "max_c": "MAX(c)"}
    for source in schema.sources:
        told = source.probabilities
        if told is not None and told.several and not told.named:
            columns[f"max_off_{told.stem}"] = f"MAX({sum_error(told)})"
        if told is not None and not told.named and schema.lists is None:
            every = told.names if told.several else (told.names[0], f"(1e0 - {told.names[0]})")
            columns[f"min_least_{told.stem}"] = _least(every)
            for name, bound in (("positive", 0.0), ("smallest", NOTHING)):
                above = [f"{p} + CAST({p} <= {number(bound)} AS DOUBLE)" for p in every]  # what is not above becomes 1
                columns[f"min_{name}_{told.stem}"] = _least(above)
    return columns


def extremes(schema: Schema) -> dict[str, str] | None:
    """Return the aggregates that say how near to 0 and 1 probabilities come; None if their columns are no numbers."""
    told = [s.probabilities for s in schema.sources if s.probabilities is not None and not s.probabilities.named]
    columns = [column for probabilities in told for column in probabilities.columns]
    if any(column.kind not in ("int", "float") for column in columns):
        return None
    alone = [probabilities.columns[0] for probabilities in told if not probabilities.several]
    least = {f"min_{at}": f"MIN({column.raw})" for at, column in enumerate(columns)}
    return least | {f"max_{at}": f"MAX({column.raw})" for at, column in enumerate(alone)}


def _least(expressions: Sequence[str]) -> str:
    """Return the aggregate of the least of all: one of each expression, which is quicker than one of their least."""
    return f"least({', '.join(f'MIN({text})' for text in expressions)})"
