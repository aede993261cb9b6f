"""From the columns of a table that stays where it is to its schema: names and types decide, no row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import require_column
from sondage.errors import InputError
from sondage.pools.arrays import Pool
from sondage.pools.columns import Layout, ModelColumns, layout_of, pool_from_columns
from sondage.pools.long import layout_of_long, means_rankings, pool_from_long
from sondage.pools.schema import NUMBERS, Column, Lists, Probabilities, Schema, Source

__all__ = ["schema_of"]

Distinct = Callable[[Column], NDArray[Any]]
"""Returns the values of a column, as far as there can be classes."""


def schema_of(
    columns: Sequence[Column], distinct: Distinct, *, classes: Any, task: str | None, features: Sequence[str]
) -> tuple[Schema, Pool]:
    """Return the schema of a table, and a small pool of the same make.

    Parameters
    ----------
    columns : sequence of Column
        The table's.
    distinct : callable
        As `Distinct`.
    classes, task, features
        As for `read_pool`.

    Raises
    ------
    InputError
        If a column is missing, of a wrong type, or of a kind that is read into memory only.
    """
    by_name = {column.name: column for column in columns}
    if len(by_name) < len(columns):
        twice = next(name for name in by_name if [column.name for column in columns].count(name) > 1)
        raise InputError(f"column {twice!r} stands twice")
    if means_rankings(by_name, task, features):
        return _of_lists(by_name, classes)
    require_column("id", by_name)
    _require_names(by_name, ("id", "group"))
    layout = layout_of([name for name in by_name if name not in features])
    layout.features += features
    for name in features:
        require_column(name, by_name, " for features")
    _require_numbers(by_name, _numeric(layout, by_name))
    outline = _outline(by_name, layout, distinct=distinct, classes=classes, task=task, features=features)
    kind, names = outline.task.kind, outline.task.classes
    models = tuple(_model(n, m, by_name, kind=kind, classes=names) for n, m in enumerate(layout.models.values()))
    judges = tuple(_judge(n, j, by_name, names) for n, j in enumerate(layout.judges.values()))
    schema = Schema(
        task=outline.task,
        id=by_name["id"],
        models=models,
        judges=judges,
        features=tuple(by_name[name] for name in layout.features),
        weight=by_name.get("weight"),
        cost=by_name.get("cost"),
        fields=tuple(by_name[name] for name in layout.fields),
        group=by_name.get("group"),
        hashed=by_name["id"].kind == "text",
    )
    return schema, outline


def _of_lists(by_name: Mapping[str, Column], classes: Any) -> tuple[Schema, Pool]:
    """Return the schema of a long table of rankings, and a pool of one query."""
    _require_names(by_name, ("query", "document"))
    layout = layout_of_long(list(by_name), classes)
    told = [name for name in ("cost", "weight") if name in by_name]
    _require_numbers(by_name, (*layout.ranks.values(), *layout.grades.values(), *told))
    even = dict.fromkeys(layout.grades.values(), 1.0 / max(len(layout.grades), 1))
    values: dict[str, Any] = dict.fromkeys(by_name, 1.0) | {"query": 0, "document": 0} | even
    outline = pool_from_long({name: np.array([value]) for name, value in values.items()}, classes=classes)
    graded = tuple(by_name[name] for name in layout.grades.values())
    lists = Lists(
        by_name["document"],
        tuple(by_name[name] for name in layout.ranks.values()),
        Probabilities("p", graded) if graded else None,
    )
    schema = Schema(
        task=outline.task,
        id=by_name["query"],
        models=(),
        judges=(),
        features=(),
        weight=by_name.get("weight"),
        cost=by_name.get("cost"),
        fields=tuple(by_name[name] for name in layout.fields),
        hashed=by_name["query"].kind == "text",
        lists=lists,
    )
    return schema, outline


def _require_names(by_name: Mapping[str, Column], columns: Sequence[str]) -> None:
    """Refuse columns of names that are neither whole numbers nor text."""
    for name in columns:
        if name in by_name and by_name[name].kind not in ("int", "text"):
            raise InputError(
                f"column {name!r} must be whole numbers or text; it is {by_name[name].described}: cast it, or read the "
                "pool with lazy=False"
            )


def _require_numbers(by_name: Mapping[str, Column], columns: Sequence[str]) -> None:
    """Refuse columns of numbers that hold something else."""
    for name in columns:
        column = by_name[name]
        if column.kind not in NUMBERS:
            raise InputError(
                f"column {name!r} must be numbers; it is {column.described}: cast it, or read the pool with lazy=False"
            )


def _numeric(layout: Layout, by_name: Mapping[str, Column]) -> list[str]:
    """Return the names of the columns that must be numbers."""
    names = [name for name in ("cost", "weight") if name in by_name] + layout.features
    for model in (*layout.models.values(), *layout.judges.values()):
        names += [*model.probabilities.values(), *([model.variance] if model.variance else [])]
        names += [model.judge] if model.judge and not model.probabilities else []
        if model.variance and model.prediction:
            names.append(model.prediction)
    return names


def _outline(
    by_name: Mapping[str, Column],
    layout: Layout,
    *,
    distinct: Distinct,
    classes: Any,
    task: str | None,
    features: Sequence[str],
) -> Pool:
    """Return a pool in memory with the same columns and every predicted class: it decides what a whole one would."""
    sources = [*layout.models.values(), *layout.judges.values()]
    seen = _predictions(by_name, sources, distinct, classes=classes, task=task)
    size = max([1, *map(len, seen.values())])
    columns: dict[str, NDArray[Any]] = {}
    for name, column in by_name.items():
        values = seen.get(name)
        if values is None:
            values = np.arange(size) if name == "id" else np.array([1.0 if column.kind in NUMBERS else ""])
        columns[name] = np.resize(values, size)
    for source in sources:
        even = 1.0 / max(len(source.probabilities), 2)
        for name in [*source.probabilities.values(), *([source.judge] if source.judge else [])]:
            columns[name] = np.full(size, even)
    return pool_from_columns(columns, classes=classes, task=task, features=features)


def _predictions(
    by_name: Mapping[str, Column],
    sources: Sequence[ModelColumns],
    distinct: Distinct,
    *,
    classes: Any,
    task: str | None,
) -> dict[str, NDArray[Any]]:
    """Return values of the columns of predictions: a number, one named class, or every class if none is named."""
    told = classes is not None or any(len(source.probabilities) > 1 for source in sources)
    found: dict[str, NDArray[Any]] = {}
    for source in sources:
        if source.prediction is None:
            continue
        column = by_name[source.prediction]
        if (task == "regression" and column.kind in NUMBERS) or (source.variance and column.kind == "float"):
            found[column.name] = np.array([0.5])
        else:
            found[column.name] = np.array(_named(classes, sources)) if told else distinct(column)
    return found


def _named(classes: Any, sources: Sequence[ModelColumns]) -> list[Any]:
    """Return one class that is surely named, as a prediction that is allowed."""
    if classes is not None:
        return list(classes)[:1]
    texts = [list(source.probabilities) for source in sources]
    return [max(texts, key=len)[0]]


def _model(
    number: int, model: ModelColumns, by_name: Mapping[str, Column], *, kind: str, classes: Sequence[Any]
) -> Source:
    prediction = None if model.prediction is None else by_name[model.prediction]
    variance = None if model.variance is None else by_name[model.variance]
    if kind == "regression":
        if prediction is None or prediction.kind not in NUMBERS:
            raise InputError(f"column {model.prediction!r} must be numbers")
        return Source(number, prediction, variance)
    if kind == "outcomes":
        return _outcome(number, model, by_name)
    told = _probabilities(f"p{number}", model.probabilities, by_name, classes) if model.probabilities else None
    return Source(number, prediction, None, told)


def _outcome(number: int, model: ModelColumns, by_name: Mapping[str, Column]) -> Source:
    texts = model.probabilities
    columns = tuple(by_name[name] for name in texts.values()) or (by_name[str(model.judge)],)
    grades = tuple(float(text) for text in texts) or (0.0, 1.0)
    return Source(number, None, None, Probabilities(f"p{number}", columns), grades)


def _judge(number: int, judge: ModelColumns, by_name: Mapping[str, Column], classes: Sequence[Any]) -> Source:
    stem = f"j{number}"
    if judge.probabilities:
        return Source(number, None, None, _probabilities(stem, judge.probabilities, by_name, classes))
    named = by_name[str(judge.prediction)]
    return Source(
        number, named, None, Probabilities(stem, (named,) * (1 if len(classes) == 2 else len(classes)), named=True)
    )


def _probabilities(
    stem: str, columns: Mapping[str, str], by_name: Mapping[str, Column], classes: Sequence[Any]
) -> Probabilities:
    """Return the columns in the order of the classes; the outline's pool has refused what does not fit."""
    if len(columns) == len(classes):
        return Probabilities(stem, tuple(by_name[columns[str(name)]] for name in classes))
    ((text, column),) = columns.items()
    return Probabilities(stem, (by_name[column],), first=text != str(classes[1]))
