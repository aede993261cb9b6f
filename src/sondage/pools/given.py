"""From the arguments of a pool to its models, weights and the names of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Classifier, Floats, Outcome, Regressor
from sondage.errors import InputError
from sondage.pools.missing import converted
from sondage.pools.numeric import Where, floats, positive_column
from sondage.pools.texts import HALF, is_text

__all__ = ["base_weights", "by_name", "namer", "no_others", "one_kind", "require_classifiers", "shares_of"]


def one_kind(
    *, probabilities: Any, predictions: Any, means: Any, variances: Any, models: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the models by name; a single unnamed one is called "model"."""
    if isinstance(probabilities, Mapping):
        raise InputError("probabilities are an array of shape (N, k), or (N,); several models by name are models={...}")
    single = [value is not None for value in (probabilities, predictions, means, variances)]
    if models is not None:
        if any(single):
            raise InputError("give models=, or one model's probabilities, predictions, means; not both")
        found = by_name("model", models)
        if not found:
            raise InputError("models= is empty; a pool needs at least one model")
        blank = next((name for name in found if not name.strip()), None)
        if blank is not None:
            raise InputError(f"models= has the name {blank!r}; a name needs a letter, a digit or another sign")
        return found
    if means is not None:
        if probabilities is not None or predictions is not None:
            raise InputError("give means (regression) or probabilities and predictions (classification), not both")
        return {"model": Regressor(means, variances)}
    if probabilities is None and predictions is None:
        raise InputError("a pool needs probabilities=, predictions=, means= or models=")
    return {"model": Classifier(probabilities, predictions)}


def by_name(what: str, values: Any) -> dict[str, Any]:
    """Return models or fields by name, or refuse those that have none."""
    if not isinstance(values, Mapping):
        raise InputError(f"{what}s= is a {type(values).__name__}: give each {what} a name, {what}s={{'name': ...}}")
    unnamed = [name for name in values if not isinstance(name, str)]
    if unnamed:
        raise InputError(f"{what}s= has the name {unnamed[0]!r}; names must be text, such as '{unnamed[0]}'")
    broken = next((name for name in values if not is_text(name)), None)
    if broken is not None:
        raise InputError(f"{what} {broken!r} {HALF}")
    return dict(values)


def no_others(reason: str = " does not go with rankings", **given: Any) -> None:
    """Refuse arguments that belong to another kind of pool."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}={reason}")


def require_classifiers(models: Mapping[str, Any], classes: Any, judge: Any) -> None:
    """Refuse classes and a judge of models that are no classifiers, whatever these hold."""
    kind, *others = {type(model) for model in models.values()}
    if not others and kind in _WITHOUT_CLASSES and not (classes is None and judge is None):
        raise InputError(_WITHOUT_CLASSES[kind])


_WITHOUT_CLASSES: dict[type, str] = {
    Regressor: "classes and judge are for classifiers; these models are regressors",
    Outcome: "outcomes take a judge and grades each, Outcome(judge=..., grades=...), and no classes",
}


def namer(ids: Any) -> Where:
    """Return a function that names a row in messages."""

    def where(row: int) -> str:
        if ids is None or row >= len(ids):
            return f"row {row}"
        return f"row {row} (id {converted(ids)[row]})"

    return where


def base_weights(weights: Any, size: int, where: Where) -> NDArray[Any]:
    """Return base weights that sum to 1; equal ones take no memory."""
    if weights is None:
        return np.broadcast_to(np.float64(1.0 / size), size)
    return shares_of(floats(positive_column(weights, "weight", size, where)))


def shares_of(weights: Floats) -> Floats:
    """Return weights that sum to 1."""
    return np.asarray(weights / np.sort(weights).sum())  # sorted, so that the order of rows does not show
