"""Cross-validation: estimates and tests from labelled data that also trains the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sondage.adapters.sklearn.folds import Held, Splits, hold_out, make_splits
from sondage.adapters.sklearn.pools import require_models
from sondage.core.catalogue.significance import named_test
from sondage.core.checks import require_known, require_level
from sondage.core.contenders import best_first
from sondage.core.folds import fold_roots
from sondage.core.measures import Measure, parse_measure
from sondage.core.measures.functionals import require_better
from sondage.core.predictions import Floats
from sondage.core.results import Comparison, Estimate, Significance
from sondage.core.selections import Pairs, Selection
from sondage.core.significance import JointErrors, holm, mcnemar_test, null_difference
from sondage.errors import InputError

__all__ = ["cross_compare", "cross_select", "cross_validate"]

TAKER = "cross-validation"


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    measure: str | Measure = "error_rate",
    *,
    cv: Any = 10,
    repeats: int = 1,
    seed: int = 0,
    groups: Any = None,
    positive: Any = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate by cross-validation how good a way of training models is.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A classifier or regressor; a copy of it is trained for each fold. One that tunes itself (``GridSearchCV``, say)
        makes this a nested cross-validation: it tunes on each fold's training items only.
    X : array-like, sparse matrix or frame of N rows
        Items, as the estimator takes them.
    y : array-like, shape (N,)
        Their labels.
    measure
        As for `sondage.evaluate`.
    cv : int, splitter or iterable of (train, test)
        How many folds, drawn at random by `seed`, for classifiers with equal shares of the classes in each; or
        scikit-learn's own.
    repeats : int
        How often the items are divided anew into folds; for a number of folds only.
    seed : int
        Of the division into a number of folds; a splitter has its own `random_state`.
    groups : array-like, shape (N,), optional
        Items of one group are never divided between training and held out.
    positive
        As for `sondage.evaluate`.
    n_jobs : int, optional
        Processes, as in scikit-learn.

    Returns
    -------
    Estimate
        The mean over folds. Its standard error and t interval are those of Nadeau and Bengio, see `fold_roots`.

    Raises
    ------
    InputError
        If there are fewer than 2 folds or the arguments do not fit. What an estimator raises is not caught.

    Notes
    -----
    The value is that of models trained on a part of the data, averaged; the model that is trained on all of it is
    usually a little better. No estimate of the variance over folds is unbiased; this one is meant to be too large
    rather than too small.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning, 2003, 239-281.
    Y. Bengio and Y. Grandvalet, No unbiased estimator of the variance of k-fold cross-validation, Journal of
    Machine Learning Research, 2004, 1089-1105.
    N. A. Smith, Practical Issues, lecture CSE 446, 2017, algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cross_validate(GaussianNB(), X, y, "accuracy", cv=5)
    >>> print(found)
    accuracy of GaussianNB: 0.96 +- 0.01 (150 labels)
    """
    name = type(estimator).__name__
    require_models({"model": estimator}, TAKER)
    splits = make_splits(estimator, X, y, cv=cv, repeats=repeats, seed=seed, groups=groups)
    return _validate(
        {name: estimator}, X, y, measure=parse_measure(measure, positive), splits=splits, n_jobs=n_jobs
    ).estimate(name)


def cross_compare(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    measure: str | Measure = "error_rate",
    *,
    cv: Any = 10,
    repeats: int = 1,
    seed: int = 0,
    groups: Any = None,
    positive: Any = None,
    n_jobs: int | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    margin: float = 0.0,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two ways of training models on the same folds.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Two, by name; the difference is the first minus the second.
    X, y, measure, cv, repeats, seed, groups, positive, n_jobs
        As for `cross_validate`.
    test : {"t", "mcnemar"}
        ``"t"``: Student's t with the corrected standard error of the folds' differences. ``"mcnemar"``: of two
        classifiers, whether one of them is right on more of the held-out items than the other, each item being held
        out once. It takes the items as independent although folds share training items: it is about these models,
        not about training anew.
    alternative, margin, alpha
        As for `sondage.compare`; a margin for ``"t"`` only.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        As for `cross_validate`, if there are not two estimators, or the test does not fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    >>> cross_compare(models, X, y, "accuracy", cv=5).better
    'bayes'
    """
    require_known("test of folds", test, _TESTS)
    require_level("alpha", alpha)
    _require_named(estimators)
    if len(estimators) != 2:
        raise InputError(f"{len(estimators)} estimators {list(estimators)}; a comparison takes two, cross_select more")
    splits = make_splits(next(iter(estimators.values())), X, y, cv=cv, repeats=repeats, seed=seed, groups=groups)
    found = _validate(estimators, X, y, measure=parse_measure(measure, positive), splits=splits, n_jobs=n_jobs)
    first, second = estimators
    return found.compared(first, second, _TESTS[test], alternative, margin, alpha)


def cross_select(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    measure: str | Measure = "error_rate",
    *,
    cv: Any = 10,
    repeats: int = 1,
    seed: int = 0,
    groups: Any = None,
    positive: Any = None,
    n_jobs: int | None = None,
    alpha: float = 0.05,
) -> Selection:
    """Rank several ways of training models on the same folds.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Two or more, by name.
    X, y, measure, cv, repeats, seed, groups, positive, n_jobs
        As for `cross_validate`.
    alpha : float
        Level of the tests.

    Returns
    -------
    Selection
        Its p-values, of each difference from the best, are adjusted by Holm's method for all pairs, since the scores
        chose the best. For the same reason the best one's own estimate is a little too good: the more candidates, the
        more so. An honest number for the whole procedure is `cross_validate` of an estimator that selects by itself.

    Raises
    ------
    InputError
        As for `cross_validate`, or if there are fewer than two estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> trees = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 2, 3)}
    >>> cross_select(trees, X, y, cv=5).contenders()
    ('depth 2', 'depth 3')
    """
    _require_named(estimators)
    require_level("alpha", alpha)
    if len(estimators) < 2:
        raise InputError(f"{len(estimators)} estimator to select from; at least two are needed")
    splits = make_splits(next(iter(estimators.values())), X, y, cv=cv, repeats=repeats, seed=seed, groups=groups)
    found = _validate(estimators, X, y, measure=parse_measure(measure, positive), splits=splits, n_jobs=n_jobs)
    estimates = {name: found.estimate(name) for name in estimators}
    higher = require_better(found.first.measure, found.first.higher_is_better)
    names, values = list(estimators), np.array([estimates[name].value for name in estimators])
    ranking = tuple(names[at] for at in best_first(values, higher))
    pairs = Pairs(ranking, partial(found.compared, test=_student, alternative="two-sided", margin=0.0, alpha=alpha))
    adjusted = holm([pairs[ranking[0], name].pvalue for name in ranking[1:]], len(pairs))
    return Selection(
        estimates=estimates,
        ranking=ranking,
        pvalues=dict(zip(ranking[1:], adjusted.tolist(), strict=True)),
        comparisons=pairs,
        overall=None,
        alpha=alpha,
        errors=JointErrors(found.roots, np.zeros((len(estimators), 0))),
        generator=partial(np.random.default_rng, [seed, len(estimators)]),
        higher_is_better=higher,
    )


def _require_named(estimators: Any) -> None:
    """Refuse estimators without names, and what is none."""
    if not isinstance(estimators, Mapping):
        raise InputError(f"estimators are a {type(estimators).__name__}; they must be a mapping of name to estimator")
    require_models(estimators, TAKER)


@dataclass(frozen=True, eq=False)
class _Validated:
    """Scores of several models on the same folds."""

    held: Mapping[str, Held]
    splits: Splits

    @property
    def first(self) -> Held:
        """One of them, for what all have in common: measure and direction."""
        return next(iter(self.held.values()))

    @property
    def roots(self) -> Floats:
        """What the models' errors have in common, as `fold_roots`."""
        return fold_roots([held.scores for held in self.held.values()], self.splits.test_ratio)

    def estimate(self, name: str) -> Estimate:
        """Return one model's estimate."""
        held = self.held[name]
        return self._estimate((name,), held.scores, held.bounds)

    def compared(
        self, first: str, second: str, test: Test, alternative: str, margin: float, alpha: float
    ) -> Comparison:
        """Return the comparison of two models."""
        one, other = self.held[first], self.held[second]
        span = other.bounds[1] - other.bounds[0]
        estimate = self._estimate((first, second), one.scores - other.scores, (-span, span))
        found = test(estimate, one, other, self.splits, alternative, margin)
        return Comparison(estimate, found, alpha, one.higher_is_better, null_difference(alternative, margin))

    def _estimate(self, models: tuple[str, ...], scores: Floats, bounds: tuple[float, float]) -> Estimate:
        """Return the mean of scores over folds as an estimate, with what a reader must know."""
        folds, items = len(scores), self.splits.size
        notes = [self.splits.note]
        undefined = np.flatnonzero(~np.isfinite(scores))
        error = float(np.sqrt(np.sum(np.square(fold_roots([scores], self.splits.test_ratio)))))
        if len(undefined):
            where = f"fold {undefined[0] + 1} of {folds}"
            notes.append(f"{self.first.measure} is undefined on {where}: use fewer folds, or stratify them")
        elif error == 0:
            notes.append("all folds score the same, so their spread says nothing: the standard error is not known")
        return Estimate(
            measure=self.first.measure,
            positive=self.first.positive,
            models=models,
            value=float(scores.mean()),
            std_error=error if error > 0 and not len(undefined) else float("nan"),
            n_labels=items,
            target="population",
            exact=False,
            df=float(folds - 1),
            bounds=bounds,
            possible=bounds,
            proportion=False,
            interval_kind="t",
            spent=float(items),
            warnings=tuple(notes),
        )


def _validate(
    estimators: Mapping[str, Any], X: Any, y: Any, *, measure: Measure, splits: Splits, n_jobs: int | None
) -> _Validated:
    held = {
        name: hold_out(estimator, X, y, measure=measure, splits=splits, n_jobs=n_jobs)
        for name, estimator in estimators.items()
    }
    return _Validated(held, splits)


Test = Callable[[Estimate, Held, Held, Splits, str, float], Significance]


def _student(
    estimate: Estimate, first: Held, second: Held, splits: Splits, alternative: str, margin: float
) -> Significance:
    return named_test(estimate, "t", alternative, margin=margin)


def _mcnemar(
    estimate: Estimate, first: Held, second: Held, splits: Splits, alternative: str, margin: float
) -> Significance:
    if margin:
        raise InputError("test 'mcnemar' tests against 0 only; use 't' for a margin")
    one, other = first.right(splits), second.right(splits)
    better, worse = int(np.sum(one & ~other)), int(np.sum(other & ~one))
    if first.higher_is_better is False:  # of error rates, the first is greater where it is right less often
        better, worse = worse, better
    return mcnemar_test(better, worse, alternative)


_TESTS: dict[str, Test] = {"t": _student, "mcnemar": _mcnemar}
