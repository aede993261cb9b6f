"""Measures, and studies, in the form that scikit-learn calls a scorer: ``scorer(estimator, X, y)``."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.adapters.sklearn.pools import models_of, pool_of
from sondage.core.measures import Functional, Measure, parse_measure, settled
from sondage.core.results import Estimate
from sondage.errors import InputError, MeasureError
from sondage.pools import Pool
from sondage.pools.classes import code_labels
from sondage.pools.missing import require_given
from sondage.pools.numeric import numeric
from sondage.pools.orders import in_another_order
from sondage.studies.other_models import estimate_other
from sondage.studies.session import Session
from sondage.studies.start import left_out
from sondage.studies.study import Study

__all__ = ["MeasureScorer", "StudyScorer", "measure_scorer", "row_count", "study_scorer"]


@dataclass(frozen=True)
class MeasureScorer:
    """A measure of a fitted estimator on labelled items.

    Attributes
    ----------
    measure : Measure
        What is measured.
    classes : tuple, optional
        All classes, where X may miss some.
    signed : bool
        Whether losses are negated, so that greater is always better.
    """

    measure: Measure
    classes: tuple[Any, ...] | None = None
    signed: bool = True

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the measure of the estimator on the items X with labels y."""
        require_given(y, np.asarray(y), "label", "row {}".format)
        if len(y) != row_count(X):
            raise InputError(f"y has {len(y)} rows; X has {row_count(X)}")
        names = self.classes
        if names is None and hasattr(estimator, "classes_"):
            names = tuple(np.union1d(estimator.classes_, y).tolist())
        pool = pool_of(estimator, X, classes=names)
        functional = self._functional(pool)
        labels = _coded(y, pool.task.classes)
        value = functional.value(functional.basis.totals(pool.items, 0, labels, pool.items.weights))
        return _signed(value, functional) if self.signed else value

    def _functional(self, pool: Pool) -> Functional:
        functional = settled(self.measure, pool.task, pool.items, (0,)).ready(pool.task)
        if functional.corrected is not None:
            raise MeasureError(f"measure {functional.name!r} is biased on a few items; use sondage.evaluate")
        return functional


def measure_scorer(measure: str | Measure, *, positive: Any = None) -> MeasureScorer:
    """Return a measure as a scorer, to tune or cross-validate by it in scikit-learn.

    Parameters
    ----------
    measure, positive
        As for `sondage.evaluate`.

    Returns
    -------
    MeasureScorer
        ``scorer(estimator, X, y)`` returns the measure; that of a loss is negated, so that greater is better.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="constant", constant=1).fit([[0], [0]], [0, 1])
    >>> measure_scorer("error_rate")(model, [[0]] * 4, [1, 1, 1, 0])
    -0.25
    """
    return MeasureScorer(parse_measure(measure, positive))


@dataclass(frozen=True, eq=False)
class StudyScorer:
    """A study's labels, with the probabilities of their draw, as a judge of other estimators.

    Attributes
    ----------
    study : Study
        With labels.
    measure : Measure
        What is measured.
    ids : ndarray, optional
        Ids of the rows of X; by default the row numbers.
    """

    study: Study
    measure: Measure
    ids: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the estimated measure of the estimator on the study's pool; losses negated. `y` is not used."""
        found = self.estimate(estimator, X)
        return _signed(found.value, self.measure.ready(self.study.task))

    def estimate(self, estimator: Any, X: Any) -> Estimate:
        """Return the estimate for an estimator, with its interval.

        Parameters
        ----------
        estimator : scikit-learn estimator
            A fitted one.
        X : array-like, shape (N, d)
            The rows of the pool, of which only labelled ones are predicted.

        Raises
        ------
        InputError
            If there are no labels yet, or X has not the pool's rows, or without `ids` these are not named by their
            numbers.
        """
        from sklearn.utils import _safe_indexing

        session = self.study.snapshot()
        asked = session.labelled_ids
        if not asked:
            raise InputError("there are no labels yet: nothing can be estimated")
        rows = _rows(asked, self.ids, row_count(X))
        if self.ids is None:
            _require_row_numbers(session, rows, row_count(X))
        elif in_another_order(X, self.ids):
            raise InputError("the index of X has the ids in another order: put its rows in that of ids=")
        part = _safe_indexing(X, rows)
        models, _ = models_of({"model": estimator}, part, self.study.task.classes or None)
        return estimate_other(session, models["model"], self.measure)


def study_scorer(
    study: Study, measure: str | Measure | None = None, *, positive: Any = None, ids: Any = None
) -> StudyScorer:
    """Return a scorer that estimates other estimators' measure from a study's labels.

    The labels were drawn with known probabilities, so that they estimate the measure of any model on the same pool: a
    retrained one, or the next candidate. They were drawn for the study's own models; for others they are an unbiased
    sample, not the best one. A model that was trained or tuned on these labels must not be judged by them.

    Parameters
    ----------
    study : Study
        With labels, one for each item of its pool that was asked.
    measure : str or Measure, optional
        By default that of the study.
    positive : optional
        The positive class.
    ids : array-like, optional
        Ids of the rows of the X that the scorer will be called with; by default the row numbers, where these are the
        ids of the study's pool too. Then X has all its rows, in its order.

    Returns
    -------
    StudyScorer
        ``scorer(estimator, X)`` returns a number, greater is better; ``scorer.estimate(estimator, X)`` an Estimate.

    Raises
    ------
    InputError
        When it is called: if there are no labels yet, an id has no row in X, or the study could draw only a part of its
        pool (two models' disagreements, say), so that other models cannot be judged on all of it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(8.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1]
    >>> old, new = DummyClassifier().fit(X, y), GaussianNB().fit(X, y)
    >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool_of(old, X), budget=8) as study:
    ...     _ = study.tell(ids := study.ask(8), [y[row] for row in ids])
    ...     study_scorer(study, "accuracy")(new, X)
    0.75
    """
    chosen = study.question.measures[0] if measure is None else parse_measure(measure, positive)
    return StudyScorer(study, chosen, None if ids is None else np.asarray(ids))


def _signed(value: float, functional: Functional) -> float:
    """Return the value so that greater is better."""
    return -value if functional.higher_is_better is False else value


def _coded(y: Any, classes: tuple[Any, ...]) -> np.ndarray:
    """Return labels as codes, or numbers where there are no classes."""
    array = np.asarray(y)
    where = "row {}".format
    return code_labels(array, classes, "label", where) if classes else numeric(array, "label", where)


def row_count(X: Any) -> int:
    """Return how many items estimators are given."""
    shape = getattr(X, "shape", None)
    if shape == () or (shape is None and not isinstance(X, Sized)):
        raise InputError(f"X is of the type {type(X).__name__}; it must be a table with a row for each item")
    return int(shape[0]) if shape else len(X)


def _rows(wanted: list[Any], ids: Any, size: int) -> np.ndarray:
    """Return the rows of X that have these ids."""
    names = range(size) if ids is None else np.asarray(ids).tolist()
    if len(names) != size:
        raise InputError(f"there are {len(names)} ids; X has {size} rows")
    places = {name: row for row, name in enumerate(names)}
    if len(places) != size:
        twice = next(name for row, name in enumerate(names) if places[name] != row)
        raise InputError(f"id {twice!r} comes twice in ids=; each row of X has its own")
    missing = [name for name in wanted if name not in places]
    if missing:
        known = "ids are the row numbers; name others with ids=" if ids is None else "X must have every labelled item"
        raise InputError(f"id {missing[0]!r} has a label in the study and no row in X; {known}")
    return np.array([places[name] for name in wanted], dtype=np.int64)


def _require_row_numbers(session: Session, rows: np.ndarray, size: int) -> None:
    """Refuse to take ids for the numbers of rows that they are not in the study's pool, or if X has more or fewer."""
    units = np.concatenate([stage.drawn.units for stage in session.stages])[session.labelled]
    odd = np.flatnonzero(units != rows)
    if len(odd):
        raise InputError(
            f"id {rows[odd[0]]} is not the number of its row in the study's pool: name the rows of X with ids="
        )
    there = session.reach
    if not left_out(session.stages) and np.isfinite(there) and size != there:
        raise InputError(f"X has {size} rows; the study's pool has {there:.0f}: name the rows of X with ids=")
