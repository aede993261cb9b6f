"""Fitted estimators and their input make a pool."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from sondage.core.checks import those_there
from sondage.core.predictions import Classifier, Regressor
from sondage.errors import InputError
from sondage.pools import Pool

__all__ = ["models_of", "pool_of", "require_models"]


def pool_of(estimators: Any, X: Any, *, classes: Any = None, **columns: Any) -> Pool:
    """Return the pool of items X with what fitted estimators say of them.

    Parameters
    ----------
    estimators : estimator, or mapping of str to estimator
        Fitted classifiers, or fitted regressors; pipelines and searches too. Their training data must not be in X.
    X : array-like, sparse matrix or frame of N rows
        As the estimators take it.
    classes : sequence, optional
        The classes in their order; by default those that the estimators know, sorted.
    **columns
        Passed on to `Pool`: ``ids``, ``costs``, ``weights``, ``groups``, ``fields``, ``features``, ``judge``.

    Returns
    -------
    Pool
        Models are named as in the mapping; a single one is ``"model"``.

    Raises
    ------
    InputError
        If an estimator is not fitted, is neither a classifier nor a regressor, or predicts more than one column.

    Notes
    -----
    A classifier gives ``predict`` and, if it has it, ``predict_proba``. A ``decision_function`` is not a probability,
    and is not made one: such a model has predictions only, and labels tell what they mean; wrap it in
    ``CalibratedClassifierCV`` for probabilities.

    A regressor gives ``predict`` and, as variances, the squared ``return_std`` of Gaussian processes and Bayesian
    linear models, or the variance of a forest's trees. A Gaussian process counts the labels' noise where its kernel
    has it (``WhiteKernel``), not that of ``alpha``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"]
    >>> pool_of(LogisticRegression().fit(X, y), [[0.5], [2.5], [9.0]], ids=["a", "b", "c"])
    <Pool: 3 items, 1 model, classification ['ham', 'spam']>
    """
    named = estimators if isinstance(estimators, Mapping) else {"model": estimators}
    models, known = models_of(named, X, classes)
    return Pool(models=models, classes=known, **columns)


def models_of(
    estimators: Mapping[str, Any], X: Any, classes: Any = None
) -> tuple[dict[str, Classifier | Regressor], Any]:
    """Return what fitted estimators say of X, and the classes in the order of their columns; None for numbers."""
    from sklearn.base import is_classifier

    if not estimators:
        raise InputError("no estimators given; a pool needs at least one model")
    require_models(estimators, "a pool")
    for name, estimator in estimators.items():
        _require_fitted(name, estimator)
    if not all(is_classifier(estimator) for estimator in estimators.values()):
        if any(is_classifier(estimator) for estimator in estimators.values()):
            raise InputError(f"models {list(estimators)} must be all classifiers or all regressors")
        return {name: _regressor(name, estimator, X) for name, estimator in estimators.items()}, None
    known = _known_classes(estimators) if classes is None else list(classes)
    return {name: _classifier(name, estimator, X, known) for name, estimator in estimators.items()}, known


def require_models(estimators: Mapping[str, Any], taker: str) -> None:
    """Refuse what is neither a classifier nor a regressor, such as the class of one that was not called."""
    from sklearn.base import is_classifier, is_regressor

    for name, estimator in estimators.items():
        if isinstance(estimator, type):
            raise InputError(f"model {name!r} is the class {estimator.__name__}: write {estimator.__name__}()")
        if not hasattr(estimator, "predict") or not (is_classifier(estimator) or is_regressor(estimator)):
            kind = type(estimator).__name__
            raise InputError(f"model {name!r} is a {kind}; {taker} takes classifiers and regressors")


def _require_fitted(name: str, estimator: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise InputError(f"model {name!r} is not fitted; fit it on items that are not in the pool") from None


def _known_classes(estimators: Mapping[str, Any]) -> list[Any]:
    """Return all classes that the estimators know, sorted."""
    for name, estimator in estimators.items():
        if not isinstance(estimator.classes_, np.ndarray):
            raise InputError(f"model {name!r} has several outputs; make a pool of each")
    told = {name: estimator.classes_.tolist() for name, estimator in estimators.items()}
    if len({isinstance(label, str) for own in told.values() for label in own}) > 1:
        raise InputError(f"classes are text in one model and numbers in another: {told}; fit all on the same labels")
    return list(np.unique(np.concatenate([estimator.classes_ for estimator in estimators.values()])).tolist())


def _column(name: str, predicted: Any) -> np.ndarray:
    """Return predictions as one column."""
    array = np.asarray(predicted)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"model {name!r} predicts shape {array.shape}; make a pool of each output")
    return array


def _classifier(name: str, estimator: Any, X: Any, known: list[Any]) -> Classifier:
    """Return what a classifier says, probabilities in the order of all known classes."""
    predictions = _column(name, estimator.predict(X))
    if not hasattr(estimator, "predict_proba"):
        return Classifier(predictions=predictions)
    own, places = np.asarray(estimator.classes_).tolist(), {label: place for place, label in enumerate(known)}
    missing = [label for label in own if label not in places]
    if missing:
        raise InputError(f"model {name!r} knows the class {missing[0]!r}; {those_there(missing[0], known, 'classes')}")
    given = np.asarray(estimator.predict_proba(X))
    probabilities = np.zeros((len(given), len(known)), dtype=given.dtype)
    probabilities[:, [places[label] for label in own]] = given
    return Classifier(probabilities, predictions)


def _regressor(name: str, estimator: Any, X: Any) -> Regressor:
    return Regressor(_column(name, estimator.predict(X)), _variances(estimator, X))


def _variances(estimator: Any, X: Any) -> np.ndarray | None:
    """Return predictive variances, from the model inside searches and pipelines; None where it has none."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
    from sklearn.pipeline import Pipeline

    if hasattr(estimator, "best_estimator_"):
        return _variances(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        return _variances(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)
    if isinstance(estimator, RandomForestRegressor | ExtraTreesRegressor):
        rows = np.asarray(X) if hasattr(X, "columns") else X  # the trees know no names
        return np.asarray(np.var([tree.predict(rows) for tree in estimator.estimators_], axis=0))
    if "return_std" in inspect.signature(estimator.predict).parameters:
        return np.asarray(estimator.predict(X, return_std=True)[1]) ** 2
    return None
