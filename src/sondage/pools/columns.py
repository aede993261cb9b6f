"""From the named columns of a table to a pool: which column means what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import require_column, require_known, some_of, those_there
from sondage.core.measures.functionals import spelled
from sondage.core.predictions import Classifier, Outcome, Regressor
from sondage.errors import InputError, warn
from sondage.pools.arrays import Pool
from sondage.pools.classes import class_names
from sondage.pools.long import means_rankings, pool_from_long, read_grade
from sondage.pools.table import WHOLE, Columns, Table, is_row_index, pointed, reads_as_number, warn_of_letters

__all__ = ["MOST_CLASSES", "Layout", "ModelColumns", "layout_of", "pool_from_columns", "read_models"]

TASKS = ("classification", "regression", "outcomes", "ranking")
MOST_CLASSES = 1000
"""More different whole numbers are not taken for classes."""

_ONE = "model"  # the name of a single model whose columns carry none
_OUTPUT = re.compile(r"(?:(?P<model>(?!p_).+?)\.)?(?:(?P<part>prediction|variance)|p_(?P<class>.*))", re.DOTALL)
_PROXY = re.compile(r"judge(?:\.(?P<judge>(?!p_).+?))?\.(?:prediction|p_(?P<class>.*))", re.DOTALL)
_FEATURE = "feature."
_OF_ROWS = ("id", "cost", "weight", "group")
_JUDGE = re.compile(r"(?P<model>.+)\.judge(?:\.p_(?P<class>.*))?", re.DOTALL)
_JUDGING = re.compile(r"(?<![^\W_])judge(?![^\W_])")


Built = tuple[dict[str, Any], Any]


@dataclass
class ModelColumns:
    """One model's columns, by what they say; of probabilities class -> column."""

    prediction: str | None = None
    variance: str | None = None
    judge: str | None = None
    probabilities: dict[str, str] = field(default_factory=dict)

    def take(self, column: str, part: str, label: str | None) -> None:
        """Take a column that says this part of the model, or the probability of a class."""
        if label is None:
            setattr(self, part, column)
        elif label in self.probabilities:
            raise InputError(
                f"columns {self.probabilities[label]!r} and {column!r} say the same of one model: drop one"
            )
        else:
            self.probabilities[label] = column


@dataclass
class Layout:
    """What the columns of a table mean."""

    models: dict[str, ModelColumns] = field(default_factory=dict)
    judges: dict[str, ModelColumns] = field(default_factory=dict)
    features: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)


def pool_from_columns(
    columns: Columns,
    *,
    classes: Any = None,
    task: str | None = None,
    features: Sequence[str] = (),
    typed: bool = True,
) -> Pool:
    """Return the pool that a table's columns describe.

    Parameters
    ----------
    columns : mapping of str to ndarray
        ``id``; ``prediction``, ``variance`` and ``p_<class>``, for several models ``<model>.prediction`` and so
        on; ``judge.p_<class>`` or ``judge.prediction``, for several judges ``judge.<name>.p_<class>`` and so on;
        ``<model>.judge`` or ``<model>.judge.p_<grade>`` for systems with an outcome of their own;
        ``feature.<name>``; ``cost``, ``weight``, ``group``. All others are shown to the labeller, but for the index
        that pandas leaves in Parquet files. Missing values are masked; text may stand for numbers. Of rankings as
        for `pool_from_long`.
    classes : sequence, optional
        The classes in their order; by default in that of the columns.
    task : str, optional
        ``"classification"``, ``"regression"``, ``"outcomes"`` or ``"ranking"``, where the columns leave it
        open: predictions without probabilities are numbers where there is a variance, or a fraction and no `classes`,
        else classes.
    features : sequence of str
        More columns that are features: numbers, or lists of equally many numbers.
    typed : bool
        Whether text is meant as text; False for CSV, where ids and predictions written as numbers are numbers.

    Raises
    ------
    InputError
        If a column is missing or a value is not allowed; the message names column, row and id.
    """
    if task is not None:
        require_known("task", task, TASKS)
    if means_rankings(columns, task, features):
        return pool_from_long(columns, classes=classes, typed=typed)
    require_column("id", columns)
    if not len(columns["id"]):
        raise InputError("the pool is empty: it has no rows")
    table = Table(columns, typed)
    for name in features:
        require_column(name, columns, " for features")
    layout = layout_of([name for name in columns if name not in features])
    layout.features += features
    models, names = read_models(table, layout, classes, task)
    options = {"costs": "cost", "weights": "weight"}
    return Pool(
        models=models,
        classes=names,
        judge=_judges(table, layout, names),
        ids=table.ids,
        groups=table.names("group") if "group" in columns else None,
        fields={name: table.shown(name) for name in layout.fields},
        features=np.column_stack([table.feature(name) for name in layout.features]) if layout.features else None,
        **{option: table.numbers(name) for option, name in options.items() if name in columns},
    )


def read_models(table: Table, layout: Layout, classes: Any, task: str | None) -> Built:
    """Return the models that columns describe, and the names of the classes; `task` where they leave it open."""
    return _BUILDERS[_task(table, layout, classes, task)](table, layout, classes)


def layout_of(names: Sequence[str]) -> Layout:
    """Return what each column means, by its name; warn of those that would mean something in small letters."""
    found = Layout()
    for name in names:
        if name in _OF_ROWS or is_row_index(name):
            continue
        if name.startswith(_FEATURE):
            found.features.append(name)
        elif proxy := _PROXY.fullmatch(name):
            _columns_of(found.judges, proxy["judge"] or "judge").take(name, "prediction", proxy["class"])
        elif judge := _JUDGE.fullmatch(name):
            model = _columns_of(found.models, judge["model"])
            model.take(name, "judge", judge["class"])
            model.judge = model.judge or name
        elif output := _OUTPUT.fullmatch(name):
            _columns_of(found.models, output["model"] or _ONE).take(name, output["part"], output["class"])
        else:
            found.fields.append(name)
    if found.models:  # else there is no pool
        warn_of_letters(found.fields, _means_something)
        _warn_of_judges(found)
    return found


def _warn_of_judges(layout: Layout) -> None:
    """Warn of fields that look like further judges of a system: it has one."""
    judged = [name for name, model in layout.models.items() if model.judge]
    for name in layout.fields:
        if any(name.startswith(f"{model}.judge.") for model in judged):
            rule = "a system has one judge; others are columns 'feature.<name>'"
            warn(f"column {name!r} is shown to labellers, and counts for nothing: {rule}")


def _means_something(name: str) -> bool:
    """Return whether a column of this name is no field."""
    told = any(pattern.fullmatch(name) for pattern in (_PROXY, _JUDGE, _OUTPUT))
    return told or name in _OF_ROWS or name.startswith(_FEATURE)


def _columns_of(sources: dict[str, ModelColumns], name: str) -> ModelColumns:
    return sources.setdefault(name, ModelColumns())


def _task(table: Table, layout: Layout, classes: Any, task: str | None) -> str:
    """Return the task: as named, else by the columns there are, and whether there are classes."""
    models = layout.models
    if not models:
        wanted = "'prediction', 'p_<class>' or '<model>.judge'"
        raise InputError(f"no column {wanted}; there are {some_of(table.columns)}{_nearly(table.columns)}")
    bare = [name for name in table.columns if name in ("prediction", "variance") or name.startswith("p_")]
    if bare and len(models) > 1:
        other = next(model for model in models if model != _ONE)
        raise InputError(
            f"columns {bare[0]!r} and those of model {other!r}: all models need a name, as in 'a.{bare[0]}'"
        )
    if task is not None:
        return task
    if any(model.judge for model in models.values()):
        return "outcomes"
    if any(model.variance for model in models.values()):
        return "regression"
    if classes is not None or any(model.probabilities for model in models.values()):
        return "classification"
    return _task_of_predictions(table, [str(model.prediction) for model in models.values()])


def _nearly(names: Iterable[str]) -> str:
    """Return what to add where the name of a column is nearly that of an output."""
    others = [name for name in names if not _PROXY.fullmatch(name)]
    near = next((name for name in others if _tells_of_a_model(name.strip().casefold())), None)
    if near is not None:
        return f": {_spelling(near)}"
    judge = next((name for name in others if _JUDGING.search(name.casefold())), None)
    return "" if judge is None else f": {judge!r} is called '<model>.judge', if it judges a system's answers"


def _tells_of_a_model(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_OUTPUT, _JUDGE))


def _spelling(near: str) -> str:
    """Return how a column's name, which would be that of an output but for spaces or large letters, must be written."""
    if _tells_of_a_model(near.strip()):
        return f"write {near.strip()!r} for {near!r}"
    return f"{near!r} must be written in small letters, but for the class"


def _task_of_predictions(table: Table, names: Sequence[str]) -> str:
    """Return the task of predictions alone: numbers where there is a fraction, else classes."""
    columns = [table.predictions(name) for name in names]
    if any(column.dtype.kind == "f" for column in columns):
        return "regression"
    for name, column in zip(names, columns, strict=True):
        _require_points(table, name, column)
    if any(column.dtype.kind not in "iu" for column in columns):
        return "classification"
    distinct = max(len(np.unique(column)) for column in columns)
    if distinct > MOST_CLASSES:
        raise InputError(
            f"column {names[0]!r} has {distinct} whole numbers: say which task, 'regression' or 'classification'"
        )
    return "classification"


def _require_points(table: Table, name: str, column: NDArray[Any]) -> None:
    """Refuse predictions that are numbers, some of them with a decimal comma: they would be names of classes."""
    if column.dtype.kind in "iubf":
        return
    comma = next((row for row, text in enumerate(column.tolist()) if pointed(text)), None)
    if comma is not None and all(pointed(text) or reads_as_number(text) for text in column.tolist()):
        rule = f"{pointed(column[comma])}, or say that the task is 'classification'"
        raise InputError(f"{name} of {table.where(comma)} is {column[comma]!r}{rule}")


def _regressors(table: Table, layout: Layout, classes: Any) -> Built:
    """Return the regressors."""
    built: dict[str, Any] = {}
    for name, model in layout.models.items():
        if model.prediction is None or model.probabilities:
            there = model.variance or next(iter(model.probabilities.values()), None)
            raise InputError(f"model {name!r} of a regression needs a column 'prediction'; there is {there!r}")
        variance = None if model.variance is None else table.numbers(model.variance, low=0.0)
        built[name] = Regressor(table.numbers(model.prediction), variance)
    return built, classes


def _outcomes(table: Table, layout: Layout, classes: Any) -> Built:
    """Return the systems with an outcome of their own."""
    built: dict[str, Any] = {}
    shared = [
        column for judge in layout.judges.values() for column in (judge.prediction, *judge.probabilities.values())
    ]
    if shared:
        rule = "each system has its own judge, '<model>.judge'; give others as 'feature.<name>'"
        raise InputError(f"column {next(filter(None, shared))!r}: {rule}")
    for name, model in layout.models.items():
        if model.prediction or model.variance or not model.judge:
            raise InputError(f"system {name!r} needs a column '{name}.judge', and neither prediction nor variance")
        if not model.probabilities:
            rule = f", or a judge of grades has '{model.judge}.p_<grade>' for each"
            built[name] = Outcome(table.numbers(model.judge, 0.0, 1.0, above=rule))
            continue
        _require_grades(name, [*dict.fromkeys([model.judge, *model.probabilities.values()])])
        grades = [read_grade(text, column) for text, column in model.probabilities.items()]
        columns = [table.numbers(column, 0.0, 1.0) for column in model.probabilities.values()]
        built[name] = Outcome(np.column_stack(columns), grades)
    return built, classes


def _require_grades(name: str, columns: Sequence[str]) -> None:
    """Refuse a judge of one grade only, and one that is told in more ways than one."""
    odd = next((column for column in columns if not column.startswith(f"{name}.judge.p_")), None)
    if odd is not None or len(columns) == 1:
        rule = f"a system has '{name}.judge', or '{name}.judge.p_<grade>' for each of two or more grades"
        raise InputError(f"columns {list(columns)}: {rule}, and no probabilities of its own")


def _classifiers(table: Table, layout: Layout, classes: Any) -> Built:
    """Return the classifiers and the classes."""
    built: dict[str, Any] = {}
    predicted = {
        name: table.predictions(model.prediction)
        for name, model in layout.models.items()
        if model.prediction is not None
    }
    names = _classes(layout, list(predicted.values()), classes)
    for name, model in layout.models.items():
        if model.variance is not None:
            raise InputError(f"column {model.variance!r} is for regression; {name!r} is a classifier")
        p = _probabilities(table, model.probabilities, names) if model.probabilities else None
        built[name] = Classifier(p, predicted.get(name))
    return built, names


def _classes(layout: Layout, predicted: Sequence[NDArray[Any]], classes: Any) -> Any:
    """Return the classes: as given, else as the columns of probabilities name them; None if nothing does."""
    if classes is not None:
        return list(class_names(classes))
    sources = [model.probabilities for model in layout.models.values() if model.probabilities]
    sources += [judge.probabilities for judge in layout.judges.values() if judge.probabilities]
    if not sources:
        return None
    texts = max((list(source) for source in sources), key=len)
    whole = all(WHOLE.fullmatch(text) for text in texts)
    names: list[Any] = [int(text) for text in texts] if whole else list(texts)
    if len(names) > 1:
        return names
    other = _other(names[0], predicted)
    return [other, texts[0] if isinstance(other, str) else names[0]]


def _other(positive: Any, predicted: Sequence[NDArray[Any]]) -> Any:
    """Return the class that stands against the only one with probabilities."""
    seen = {value for column in predicted for value in _distinct(column)}
    others = sorted((value for value in seen if spelled(value) != spelled(positive)), key=str)
    if len(others) > 1:
        raise InputError(
            f"column 'p_{positive}' alone is enough for two classes only; predictions have {sorted(seen, key=str)}"
        )
    if others:
        return others[0]
    return {"1": 0, "1.0": "0.0"}.get(str(positive), f"not {positive}")


def _distinct(column: NDArray[Any]) -> list[Any]:
    """Return the different values of a column; those of objects may have no order."""
    return list(set(column.tolist()) if column.dtype == object else np.unique(column).tolist())


def _probabilities(table: Table, columns: Mapping[str, str], classes: Sequence[Any]) -> NDArray[Any]:
    """Return the probabilities in the order of the classes; of the second alone as one column."""
    by_class = {str(name): None for name in classes}
    unknown = [column for text, column in columns.items() if text not in by_class]
    if unknown:
        raise InputError(f"column {unknown[0]!r} is of no class; {those_there(unknown[0], classes, 'classes')}")
    read = {text: table.numbers(column, 0.0, 1.0) for text, column in columns.items()}
    if len(read) == len(classes):
        return np.column_stack([read[str(name)] for name in classes])
    if len(classes) == 2:
        text, column = next(iter(read.items()))
        return column if text == str(classes[1]) else 1.0 - column
    missing = next(name for name in classes if str(name) not in read)
    raise InputError(f"no column 'p_{missing}'; {those_there(f'p_{missing}', columns.values())}")


def _judges(table: Table, layout: Layout, classes: Any) -> dict[str, NDArray[Any]] | None:
    """Return what every judge says: probabilities, else the classes that it names; None without judges."""
    said: dict[str, NDArray[Any]] = {}
    for name, judge in layout.judges.items():
        if judge.probabilities:
            said[name] = _probabilities(table, judge.probabilities, classes or [])
        else:
            said[name] = _named(table, str(judge.prediction))
    return said or None


def _named(table: Table, name: str) -> NDArray[Any]:
    """Return the classes that a judge names; refuse fractions, which name none."""
    column = table.predictions(name)
    if column.dtype.kind == "f":
        row = int(np.argmax((column != np.round(column)) | (np.abs(column) >= 2**53)))
        rule = "it must be a class; columns of probabilities are called judge.p_<class>"
        raise InputError(f"{name} of {table.where(row)} is {column[row]}; {rule}")
    return column


_BUILDERS: dict[str, Callable[[Table, Layout, Any], Built]] = {
    "classification": _classifiers,
    "regression": _regressors,
    "outcomes": _outcomes,
}
