"""The front door: evaluate, compare, select, and estimates from labels that somebody else drew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from sondage.core.measures import Measure, parse_measure
from sondage.core.results import Comparison, Estimate
from sondage.core.selections import Selection
from sondage.errors import InputError, LabelError, LabelingInterrupted
from sondage.pools import Pool
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.method import Method, Question, choose_method
from sondage.studies.selecting import select_session
from sondage.studies.session import Session
from sondage.studies.stopping import Rule, concluded, make_rule, stopping_method

__all__ = ["compare", "evaluate", "select"]

BATCH = 100


@overload
def evaluate(
    pool: Pool, measure: str | Measure = ..., labels: Any = ..., budget: float = ..., seed: int = ..., **options: Any
) -> Estimate: ...
@overload
def evaluate(
    pool: Pool, measure: Sequence[str | Measure], labels: Any, budget: float, seed: int = ..., **options: Any
) -> dict[str, Estimate]: ...
def evaluate(
    pool: Pool,
    measure: Any = "error_rate",
    labels: Any = None,
    budget: float = 0,
    seed: int = 0,
    *,
    model: str | None = None,
    positive: Any = None,
    method: str | Method | None = None,
    stop: float | None = None,
    level: float = 0.95,
    batch: int | None = None,
    **parts: Any,
) -> Any:
    """Estimate a measure of one model from few labels.

    Parameters
    ----------
    pool : Pool
        The unlabelled items.
    measure : str, Measure, or a list of them
        What to estimate; of a list, the draw serves the first.
    labels : array-like, shape (N,) or (N, M), mapping, or callable
        Labels of the whole pool, of which only those asked for are read; a mapping of id to label; or a function
        from a list of up to 100 ids to their labels (None is a skip).
    budget : float
        Distinct items to label, or cost where the pool has costs.
    seed : int
        Same pool, same seed: same items.
    model : str, optional
        Which of several models.
    positive : optional
        The positive class of the measures that have one.
    method : str or Method, optional
        ``"default"``, ``"thesis"``, ``"passive"``; parts may be named one by one: ``design``, ``floor``,
        ``draw``, ``estimator``, ``interval``, ``belief``, ``target``.
    stop : float, optional
        Stop as soon as the any-time interval is narrower than this; of several measures, all of them. Unless named, the
        floor is then 0.5.
    level : float
        Level of that interval, in (0, 1).
    batch : int, optional
        Labels from look to look; by default 10, later 5 % of those so far.

    Returns
    -------
    Estimate
        Or a dict, measure's name as given -> Estimate, if `measure` is a list.

    Raises
    ------
    InputError
        If an argument is not allowed; the message says what is.
    LabelingInterrupted
        If the labelling function raises; it carries the labels already got.

    Examples
    --------
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> evaluate(pool, "error_rate", labels=[0, 1, 1, 1], budget=4).value
    0.25
    """
    _require_labels(labels)
    several = isinstance(measure, Sequence) and not isinstance(measure, str)
    measures = tuple(parse_measure(one, positive) for one in (measure if several else [measure]))
    question = Question("evaluate", (_one_model(pool, model),), measures)
    rule = make_rule(stop, None, level, batch)
    session = Session.start(pool, question, stopping_method(method, parts, rule, pool), budget=budget, seed=seed)
    stopped = _label(session, pool, labels, rule)
    found = [concluded(one, session, rule, stopped) for one in estimate_session(session).values()]
    if not several:
        return found[0]
    return {one if isinstance(one, str) else one.name: made for one, made in zip(measure, found, strict=True)}


def compare(
    pool: Pool,
    first: str,
    second: str,
    measure: str | Measure = "error_rate",
    *,
    labels: Any = None,
    budget: float = 0,
    seed: int = 0,
    positive: Any = None,
    method: str | Method | None = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    margin: float = 0.0,
    generator: np.random.Generator | None = None,
    stop: float | str | None = None,
    looks: int | Sequence[float] | None = None,
    level: float = 0.95,
    batch: int | None = None,
    **parts: Any,
) -> Comparison:
    """Estimate the difference of two models' measures, first minus second, and test whether there is one.

    Parameters
    ----------
    pool, measure, labels, budget, seed, positive, method
        As for `evaluate`; the draw serves the difference (thesis chapter 5). Two classifiers are by default labelled
        uniformly where they differ, if error rate or accuracy, equal weights, no costs, groups and judge allow the
        exact test; ``belief="model"`` keeps the staged draw.
    first, second : str
        The models.
    alpha : float
        Level of the test, in (0, 1).
    alternative : str
        ``"two-sided"``, ``"less"`` or ``"greater"``.
    margin : float
        For one-sided tests: "greater" asks whether the difference is above -margin, "less" whether it is below
        margin (non-inferiority).
    generator : numpy.random.Generator, optional
        Randomness of ``test="permutation"`` and ``"bootstrap"``.
    stop : float or "significant", optional
        ``"significant"``: stop as soon as the evidence suffices at `alpha`, looking at each label; the type I error
        over all looks is at most `alpha`. A number: as for `evaluate`.
    looks : int or sequence of float, optional
        With ``stop="significant"``: look at so many equally spaced shares of the budget, or at these, only.
    level, batch
        As for `evaluate`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sondage import Classifier
    >>> models = {"a": Classifier([0.1, 0.9, 0.4, 0.7]), "b": Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> compare(Pool(models=models), "a", "b", labels=[0, 1, 0, 1], budget=4).better
    'a'
    """
    _require_labels(labels)
    if first == second:
        raise InputError(f"compare two different models; both are {first!r}")
    for name in (first, second):
        pool.model(name)
    question = Question("compare", (first, second), (parse_measure(measure, positive),), alpha, alternative, margin)
    rule = make_rule(stop, looks, level, batch)
    session = Session.start(pool, question, stopping_method(method, parts, rule, pool), budget=budget, seed=seed)
    stopped = _label(session, pool, labels, rule)
    found: Comparison = concluded(compare_session(session, generator), session, rule, stopped)
    return found


def select(
    pool: Pool,
    measure: str | Measure = "error_rate",
    *,
    labels: Any = None,
    budget: float = 0,
    seed: int = 0,
    models: Sequence[str] | None = None,
    positive: Any = None,
    method: str | Method | None = None,
    alpha: float = 0.05,
    **parts: Any,
) -> Selection:
    """Rank several models by one measure from one sample, drawn in stages for the models still in question.

    Parameters
    ----------
    pool, measure, labels, budget, seed, positive, method
        As for `evaluate`.
    models : sequence of str, optional
        Which models; by default all.
    alpha : float
        Level of the pairwise tests.

    Returns
    -------
    Selection
        Besides the ranking, which models may still be the best: `Selection.contenders`.

    Examples
    --------
    >>> from sondage import Classifier
    >>> models = {"a": Classifier([0.1, 0.9, 0.4, 0.7]), "b": Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> select(Pool(models=models), "accuracy", labels=[0, 1, 0, 1], budget=4).best
    'a'
    """
    _require_labels(labels)
    names = tuple(models or pool.models)
    for name in names:
        pool.model(name)
    if len(set(names)) < 2:
        raise InputError(f"select needs two or more different models; there are {list(names)}")
    question = Question("select", names, (parse_measure(measure, positive),), alpha)
    session = Session.start(pool, question, choose_method(method, **parts), budget=budget, seed=seed)
    _label(session, pool, labels)
    return select_session(session)


def _require_labels(labels: Any) -> None:
    if labels is None:
        raise InputError("labels= is missing: give an array over the pool, or a function from ids to labels")


def _one_model(pool: Pool, model: str | None) -> str:
    if model is None:
        if len(pool.models) > 1:
            raise InputError(f"the pool has several models {list(pool.models)}: name one with model=")
        return pool.models[0]
    return pool.models[pool.model(model)]


def _label(session: Session, pool: Pool, labels: Any, rule: Rule | None = None) -> str | None:
    """Ask, look up or call, tell, until the budget is spent or a rule is met; return which, if there is a rule."""
    label = labels if callable(labels) else _lookup(pool, labels)
    most = 1 if session.online else BATCH if callable(labels) else len(pool)
    got: dict[Any, Any] = {}
    while ids := session.ask_stage(pool, most if rule is None else min(most, rule.most(session))):
        try:
            answers = label(ids)
        except Exception as error:
            raise LabelingInterrupted(f"labelling stopped after {len(got)} labels: {error}", got) from error
        answers = _as_list(answers, ids)
        session.tell(ids, answers)
        got.update(zip(ids, answers, strict=True))
        stopped = None if rule is None or not session.n_labels else rule.met(session)
        if stopped:
            return stopped
    return None if rule is None else "budget"


def _as_list(answers: Any, ids: Sequence[Any]) -> list[Any]:
    if isinstance(answers, Mapping):
        missing = [name for name in ids if name not in answers]
        if missing:
            raise LabelError(f"there is no label for id {missing[0]!r}; None would be a skip")
        return [answers[name] for name in ids]
    found = list(answers)
    if len(found) != len(ids):
        raise LabelError(f"the labelling function returned {len(found)} labels for {len(ids)} ids")
    return found


def _lookup(pool: Pool, labels: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that looks labels of the whole pool up by id."""
    if isinstance(labels, Mapping):
        return lambda ids: labels
    column = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    if column.ndim == 0 or len(column) != len(pool):
        raise InputError(f"labels have shape {column.shape}; the pool has {len(pool)} items")
    rows = pool.rows_by_id()

    def look(ids: Sequence[Any]) -> list[Any]:
        return [row.tolist() if isinstance(row, np.generic | np.ndarray) else row for row in column[rows(ids)]]

    return look
