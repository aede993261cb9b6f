"""From what a user hands over of models to checked, coded arrays. Nothing is copied that need not be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.blocks import row_blocks
from sondage.core.checks import BOUNDED, LARGEST_NUMBER
from sondage.core.measures import Task
from sondage.core.measures.functionals import spelled
from sondage.core.predictions import Classes, Classifier, Floats, Grades, Means, Outcome, Outputs, Regressor
from sondage.errors import InputError
from sondage.pools.classes import classes_of, code_labels, code_type
from sondage.pools.given import require_classifiers
from sondage.pools.missing import as_array, in_microseconds, require_given
from sondage.pools.numeric import LARGEST_VARIANCE, LEAST_VARIANCE, Where, as_column, floats, numeric, require_each
from sondage.pools.orders import require_class_order

__all__ = ["SUM_ROUNDING", "SUM_TOLERANCE", "code_models", "code_probabilities"]

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may sum."""
SUM_ROUNDING = 1e-6
"""How far their sums are off by rounding; where one is off by more, all are divided by theirs."""


def code_probabilities(values: Any, name: str, where: Where) -> NDArray[Any]:
    """Return probabilities (N, k) or (N,), in [0, 1], rows summing to 1 within 1e-3 (then renormalised).

    One column is the probability of the second of two classes.
    """
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(f"{name} has shape {array.shape}; it must be (N, k), or (N,) for two classes")
    array = numeric(array, name, where)
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    blocks = row_blocks(len(array), array.size // max(len(array), 1))
    worst = max((_sum_error(array[part], part.start, name, where) for part in blocks), default=0.0)
    if worst > SUM_ROUNDING:
        array = array / array.sum(axis=1, dtype=np.float64)[:, None]
    return array


def _sum_error(block: NDArray[Any], start: int, name: str, where: Where) -> float:
    """Return how far rows, which begin at this one, are from a sum of 1; refuse those too far, and no probabilities."""
    if block.min(initial=0) < 0 or block.max(initial=1) > 1:
        outside = (block < 0) | (block > 1)
        row = int(np.argmax(outside.any(axis=1) if outside.ndim == 2 else outside))
        raise InputError(f"{name} of {where(start + row)} is {block[row].tolist()}; it must be in [0, 1]")
    if block.ndim == 1:
        return 0.0
    sums = np.einsum("ij->i", block, dtype=np.float64)
    off = np.abs(sums - 1)
    if off.max() > SUM_TOLERANCE:
        row = int(np.argmax(off > SUM_TOLERANCE))
        wanted = f"they must sum to 1 within {SUM_TOLERANCE} over the {block.shape[1]} classes"
        if not sums[row]:  # as scikit-learn's OneVsRestClassifier has where no class is likely
            wanted += f"; where nothing is known give each 1/{block.shape[1]}"
        raise InputError(f"{name} of {where(start + row)} sum to {sums[row]:.6g}; {wanted}")
    return float(off.max())


def code_models(
    models: Mapping[str, Any], classes: Any, judges: Judges, where: Where
) -> tuple[Task, tuple[Outputs, ...], int]:
    """Return the task, the coded outputs of every model and the number of rows.

    Raises
    ------
    InputError
        If the models are of different kinds or lengths, or an output is not allowed.
    """
    kinds = {type(model) for model in models.values()}
    if len(kinds) != 1 or not kinds <= set(_CODERS):
        names = ", ".join(f"{name}: {type(model).__name__}" for name, model in models.items())
        wanted = "models must be all Classifier(probabilities), all Regressor(means) or all Outcome()"
        raise InputError(f"{wanted}; they are {names or 'none'}")
    require_classifiers(models, classes, judges or None)
    task, outputs, sizes = _CODERS[kinds.pop()](models, classes, judges, where)
    if len(set(sizes.values())) > 1:
        raise InputError(f"models have different numbers of rows: {sizes}")
    size = next(iter(sizes.values()))
    if not size:
        raise InputError("the pool is empty: it has no rows")
    return task, outputs, size


Judges = Sequence[NDArray[Any]]
Coded = tuple[Task, tuple[Outputs, ...], dict[str, int]]


def _code_classifiers(models: Mapping[str, Classifier], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return task, outputs and numbers of rows of classifiers."""
    probabilities: dict[str, NDArray[Any] | None] = {}
    predicted: dict[str, NDArray[Any] | None] = {}
    for name, model in models.items():
        if model.probabilities is None and model.predictions is None:
            raise InputError(f"model {name!r} has neither probabilities nor predictions")
        given = model.probabilities
        probabilities[name] = None if given is None else code_probabilities(given, f"probabilities of {name!r}", where)
        hard = model.predictions
        if hard is not None:
            hard = in_microseconds(as_column(hard, f"predictions of {name!r}", None))
            require_given(model.predictions, hard, f"prediction of {name!r}", where)
        predicted[name] = hard
    columns = [p.shape[1] if p.ndim == 2 else 2 for p in probabilities.values() if p is not None]
    columns += [p.shape[1] if p.ndim == 2 else 2 for p in judges if p.dtype.kind == "f"]
    names = classes_of(classes, columns, [p for p in predicted.values() if p is not None])
    outputs = []
    for name in models:
        p, hard = probabilities[name], predicted[name]
        if p is not None and hard is not None and len(p) != len(hard):
            raise InputError(f"model {name!r} has {len(p)} probabilities and {len(hard)} predictions")
        require_class_order(models[name].probabilities, names, f"probabilities of {name!r}")
        if hard is not None:
            codes = code_labels(hard, names, f"prediction of {name!r}", where)
        else:
            assert p is not None
            codes = _argmax(p, len(names))
        outputs.append(Classes(codes, p))
    sizes = {name: len(output.predictions) for name, output in zip(models, outputs, strict=True)}
    return Task("classification", names), tuple(outputs), sizes


def _argmax(probabilities: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return the first most probable class of every row, as small integers."""
    kind = code_type(n_classes)
    if probabilities.ndim == 1:
        return (probabilities > 0.5).astype(kind)
    if n_classes == 2:
        return (probabilities[:, 1] > probabilities[:, 0]).astype(kind)
    codes = np.empty(len(probabilities), dtype=kind)
    for part in row_blocks(len(codes), n_classes):
        codes[part] = probabilities[part].argmax(axis=1)
    return codes


def _code_regressors(models: Mapping[str, Regressor], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return the same of regressors."""
    outputs = []
    for name, model in models.items():
        means = numeric(as_column(model.means, f"means of {name!r}", None), f"mean of {name!r}", where)
        if means.dtype.kind != "f":
            means = means.astype(np.float64)
        require_each(
            means, lambda part: np.abs(part) <= LARGEST_NUMBER, name=f"mean of {name!r}", where=where, allowed=BOUNDED
        )
        variances = model.variances
        if variances is not None:
            label = f"variance of {name!r}"
            variances = numeric(as_column(variances, label, len(means)), label, where)
            if variances.min(initial=0) < 0:
                row = int(np.argmax(variances < 0))
                raise InputError(f"{label} of {where(row)} is {variances[row]}; it must not be negative")
            require_each(
                variances,
                lambda part: floats(part) <= LARGEST_VARIANCE,
                name=label,
                where=where,
                allowed=f"at most {LARGEST_VARIANCE:g}",
            )
            tiny = (variances > 0) & (variances < LEAST_VARIANCE)
            variances = np.where(tiny, LEAST_VARIANCE, variances) if tiny.any() else variances
        outputs.append(Means(means, variances))
    sizes = {name: len(output.means) for name, output in zip(models, outputs, strict=True)}
    return Task("regression"), tuple(outputs), sizes


def _code_outcomes(models: Mapping[str, Outcome], classes: Any, judges: Judges, where: Where) -> Coded:
    """Return the same of systems whose own outcome is the label."""
    outputs = []
    for name, model in models.items():
        given = None if model.grades is None else _grades(model.grades, name)
        if given is not None and len(given) > 2 and model.judge is not None:
            _require_columns(model.judge, len(given), name)
        p = None if model.judge is None else code_probabilities(model.judge, f"judge of {name!r}", where)
        width = 2 if p is None or p.ndim == 1 else p.shape[1]
        grades = np.arange(width, dtype=np.float64) if given is None else given
        if p is not None and len(grades) != width:
            columns = "one column, as of two grades," if p.ndim == 1 else f"{width} columns"
            raise InputError(f"judge of {name!r} has {columns} for {len(grades)} grades")
        judged = f"probabilities of the judge of {name!r}"
        require_class_order(model.judge, [spelled(grade) for grade in grades.tolist()], judged, "grades")
        outputs.append(Grades(grades, p))
    sizes = {name: len(o.judge) for name, o in zip(models, outputs, strict=True) if o.judge is not None}
    values = sorted({float(grade) for output in outputs for grade in output.grades})
    return Task("outcomes", grades=tuple(values)), tuple(outputs), sizes or {"": -1}


def _require_columns(judge: Any, count: int, name: str) -> None:
    """Refuse a judge that is one column for several grades: those that it names, say."""
    if as_array(judge, f"judge of {name!r}").ndim == 1:
        rule = "give one for each grade, of its probability, or with 1 where the judge names it and 0 elsewhere"
        raise InputError(f"judge of {name!r} is one column for {count} grades; {rule}")


def _grades(given: Any, name: str) -> Floats:
    """Return the grades of a system's outcome; refuse what is no number, by the judge's column of which it is."""
    what, where = f"grade of {name!r}", "column {}".format
    grades = floats(numeric(as_column(given, f"grades of {name!r}", None), what, where))
    if not len(grades):
        raise InputError(f"grades of {name!r} are []; an outcome has one or more that it can be")
    require_each(grades, lambda part: np.abs(part) <= LARGEST_NUMBER, name=what, where=where, allowed=BOUNDED)
    return grades


_CODERS: dict[type, Callable[[Mapping[str, Any], Any, Judges, Where], Coded]] = {
    Classifier: _code_classifiers,
    Regressor: _code_regressors,
    Outcome: _code_outcomes,
}
