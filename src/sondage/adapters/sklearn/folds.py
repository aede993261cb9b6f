"""Folds, and what estimators trained without them score there."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.adapters.sklearn.scorers import MeasureScorer, row_count
from sondage.core.checks import require_count, require_whole
from sondage.core.measures import Measure, Task
from sondage.core.predictions import Floats
from sondage.errors import InputError, MeasureError
from sondage.pools.missing import as_array, require_given

__all__ = ["Held", "Splits", "hold_out", "make_splits"]

RowNumbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Splits:
    """Divisions of N items into those that train and those that are held out.

    Attributes
    ----------
    size : int
        N.
    pairs : list of (ndarray, ndarray)
        Rows that train, and rows held out.
    """

    size: int
    pairs: list[tuple[RowNumbers, RowNumbers]]

    @property
    def test_ratio(self) -> float:
        """Held-out over training items, on average."""
        return float(np.mean([len(test) / len(train) for train, test in self.pairs]))

    @property
    def note(self) -> str:
        """What a reader of any result must know."""
        trained = round(float(np.mean([len(train) for train, _ in self.pairs])))
        return (
            f"the {len(self.pairs)} folds are not independent, since they share training items: standard error and "
            f"interval are corrected for that, but only roughly; the value is that of models trained on {trained} items"
        )

    @property
    def once(self) -> bool:
        """Whether every item is held out exactly once."""
        held = np.concatenate([test for _, test in self.pairs])
        return bool(np.array_equal(np.sort(held), np.arange(self.size)))


def make_splits(estimator: Any, X: Any, y: Any, *, cv: Any, repeats: int, seed: int, groups: Any) -> Splits:
    """Return the divisions that `cross_validate` describes."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv

    labels = as_array(y, "y")
    if labels.ndim != 1:
        raise InputError(f"y has shape {labels.shape}; it must be one column")
    size = row_count(X)
    if len(labels) != size:
        raise InputError(f"y has {len(labels)} rows; X has {size}")
    require_given(y, labels, "label", "row {}".format)
    require_count("repeats", repeats)
    if not isinstance(seed, Integral) or not 0 <= seed < 2**32:  # as scikit-learn takes them
        raise InputError(f"seed={seed!r} must be a whole number from 0 to {2**32 - 1}")
    if isinstance(cv, Real):
        splitter = _random_folds(cv, repeats, seed, classify=is_classifier(estimator), grouped=groups is not None)
    elif repeats != 1:
        raise InputError(f"repeats={repeats} is for cv= as a number of folds; a splitter has its own")
    else:
        splitter = None
    try:
        splitter = splitter or check_cv(cv, labels, classifier=is_classifier(estimator))
        given = [(train, test) for train, test in splitter.split(X, labels, groups)]
    except ValueError as error:
        raise InputError(f"cv={cv!r}: {error}") from None
    pairs = [(_numbers(train, size, fold), _numbers(test, size, fold)) for fold, (train, test) in enumerate(given, 1)]
    if len(pairs) < 2:
        raise InputError(
            "one division has no spread between folds: make a pool of the held-out items with pool_of, and use "
            "sondage.evaluate or sondage.compare with target='population'"
        )
    return Splits(size, pairs)


def _numbers(rows: Any, size: int, fold: int) -> RowNumbers:
    """Return the numbers of rows, also of those that a mask marks."""
    found = np.asarray(rows)
    if found.dtype == np.bool_ and found.shape == (size,):
        found = np.flatnonzero(found)
    whole = found.ndim == 1 and len(found) and found.dtype.kind in "iu"
    if not whole or found.min() < -size or found.max() >= size:
        rule = f"it needs numbers from 0 to {size - 1}, or a mask of {size} rows"
        raise InputError(f"cv: a part of fold {fold} has the rows {brief(found.tolist())}; {rule}")
    return found % size  # those counted from the end too


def _random_folds(count: Any, repeats: int, seed: int, *, classify: bool, grouped: bool) -> Any:
    """Return scikit-learn's splitter into so many folds: of classes in equal shares, and of groups as a whole."""
    from sklearn.model_selection import GroupKFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedGroupKFold

    require_whole("cv", count)
    if count < 2:
        raise InputError(f"cv={count}: at least 2 folds are needed")
    if grouped:
        if repeats != 1:
            raise InputError(f"repeats={repeats} with groups=: give a splitter as cv=")
        if classify or "shuffle" in signature(GroupKFold).parameters:
            return (StratifiedGroupKFold if classify else GroupKFold)(count, shuffle=True, random_state=seed)
        return GroupKFold(count)  # of scikit-learn before 1.6, where it has one division only
    kind = RepeatedStratifiedKFold if classify else RepeatedKFold
    return kind(n_splits=count, n_repeats=repeats, random_state=seed)


@dataclass(frozen=True, eq=False)
class Held:
    """One estimator's scores on the folds, with the models that were trained for them.

    Attributes
    ----------
    measure : str
        Name of the measure, `positive`, `bounds` and `higher_is_better` as of the measure.
    scores : ndarray of float, shape (J,)
        The measure on each fold's held-out items; NaN where undefined.
    """

    measure: str
    positive: Any
    bounds: tuple[float, float]
    higher_is_better: bool | None
    scores: Floats
    fitted: list[Any]
    X: Any
    y: NDArray[Any]

    def right(self, splits: Splits) -> NDArray[np.bool_]:
        """Return whether each item's held-out prediction is right, shape (N,)."""
        from sklearn.utils import _safe_indexing

        if self.measure not in ("error_rate", "accuracy"):
            raise InputError(f"test 'mcnemar' is for error_rate and accuracy, not {self.measure!r}; use 't'")
        if not splits.once:
            raise InputError("test 'mcnemar' needs each item held out exactly once: one division into folds")
        right = np.zeros(splits.size, dtype=np.bool_)
        for model, (_, test) in zip(self.fitted, splits.pairs, strict=True):
            right[test] = np.asarray(model.predict(_safe_indexing(self.X, test))) == self.y[test]
        return right


def hold_out(estimator: Any, X: Any, y: Any, *, measure: Measure, splits: Splits, n_jobs: int | None) -> Held:
    """Return an estimator's scores on the folds."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import cross_validate

    labels = np.asarray(y)
    classes = tuple(np.unique(labels).tolist()) if is_classifier(estimator) else ()
    task = Task("classification", classes) if classes else Task("regression")
    functional = measure.ready(task)
    if functional.corrected is not None:
        raise MeasureError(
            f"measure {functional.name!r} is biased on the few items of a fold: make a pool of held-out probabilities "
            "(cross_val_predict) and use sondage.evaluate"
        )
    scorer = MeasureScorer(measure, classes or None, signed=False)
    found = cross_validate(
        estimator,
        X,
        labels,
        scoring=scorer,
        cv=splits.pairs,
        n_jobs=n_jobs,
        error_score="raise",
        return_estimator=True,
    )
    return Held(
        measure=functional.name,
        positive=functional.positive,
        bounds=functional.bounds,
        higher_is_better=functional.higher_is_better,
        scores=np.asarray(found["test_score"], dtype=np.float64),
        fitted=found["estimator"],
        X=X,
        y=labels,
    )
