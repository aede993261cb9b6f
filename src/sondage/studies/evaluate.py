"""The front door: evaluate, compare and select, each a session in memory from the first draw to the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from sondage.core.checks import require_generator
from sondage.core.measures import Measure, parse_measure
from sondage.core.results import Comparison, Estimate
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.errors import InputError
from sondage.pools import Pool, one_model, require_pool
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.labelling import carrying, label_all, require_labels
from sondage.studies.method import Method, Question, choose_method
from sondage.studies.questions import are_several, make_question, parse_measures
from sondage.studies.selecting import select_session
from sondage.studies.session import Session
from sondage.studies.sliced import evaluate_slices
from sondage.studies.stopping import WIDTH_LEVEL, Rule, concluded, make_rule, stopping_method

__all__ = ["compare", "evaluate", "select"]

_Answer = TypeVar("_Answer")


@overload
def evaluate(
    pool: Pool,
    measure: str | Measure = ...,
    labels: Any = ...,
    budget: float = ...,
    seed: int = ...,
    *,
    slices: None = ...,
    **options: Any,
) -> Estimate: ...
@overload
def evaluate(
    pool: Pool | Mapping[Any, Pool],
    measure: str | Measure = ...,
    labels: Any = ...,
    budget: float = ...,
    seed: int = ...,
    *,
    slices: Any = ...,
    **options: Any,
) -> Slices: ...
@overload
def evaluate(
    pool: Pool,
    measure: Sequence[str | Measure],
    labels: Any,
    budget: float,
    seed: int = ...,
    *,
    slices: None = ...,
    **options: Any,
) -> dict[str, Estimate]: ...
@overload
def evaluate(
    pool: Pool | Mapping[Any, Pool],
    measure: Sequence[str | Measure],
    labels: Any,
    budget: float,
    seed: int = ...,
    *,
    slices: Any = ...,
    **options: Any,
) -> dict[str, Slices]: ...
def evaluate(
    pool: Pool | Mapping[Any, Pool],
    measure: Any = "error_rate",
    labels: Any = None,
    budget: float = 0,
    seed: int = 0,
    *,
    model: str | None = None,
    positive: Any = None,
    method: str | Method | None = None,
    start: Any = None,
    stop: float | None = None,
    level: float = WIDTH_LEVEL,
    batch: int | None = None,
    slices: Any = None,
    share: str = "overall",
    **parts: Any,
) -> Any:
    r"""Estimate a measure of one model from few labels.

    Items are drawn with probabilities that follow from how far their labels can move the measure, and the estimate
    corrects for the draw, whatever the model and its probabilities.

    Parameters
    ----------
    pool : Pool, or mapping of name to Pool
        The unlabelled items; or several pools of one task, months for instance, that share the budget.
    measure : str, Measure, or a list of them
        What to estimate; of a list, the draw serves the first. Names, such as ``"f1"`` or ``"f_measure:beta=2"``, are
        those of `sondage.measures`.
    labels : array-like, shape (N,) or (N, M), mapping, or callable
        Required, unless `start` has all. Labels of the whole pool, of which only those asked for are read; a mapping of
        id, or its text, to label; or a function from a list of up to 100 ids to their labels, in this order or by id
        (None is a skip). A pandas Series of another length is a mapping from its index. For several pools a mapping of
        each pool's name to its labels in one of these forms.
    budget : float
        Required, unless there is a `start`. Distinct items to label, a whole number from 1 to those of the pool; or
        cost, above 0, where the pool has costs.
    seed : int
        Same pool, same seed: same items.
    model : str, optional
        Which of several models. Without judges and features up to seven others of the pool help: the default belief
        learns when to follow whom; ``belief="model"`` leaves them out.
    positive : optional
        The positive class of the measures that have one.
    method : str or Method, optional
        ``"default"``, ``"thesis"`` or ``"passive"``.
    start : mapping, or array-like of shape (N,) or (N, M), optional
        Labels that there are already, of items drawn from this pool with equal chances: id -> label (None is a skip),
        or an array over the pool in which the others are missing; a pandas Series of another length is a mapping from
        its index. They are part of the budget, by default all of it.
        Labels that were chosen in another way bias the estimate. Not for pools with groups.
    stop : float, optional
        Stop as soon as the any-time interval is narrower than this width, above 0; of several measures, all of them.
        Unless named, the floor is then 0.5. An item that is skipped ends that interval: the budget is then spent.
    level : float
        Level of that interval, in (0, 1).
    batch : int, optional
        Labels from look to look; by default 10, later 5 % of those so far.
    slices : str or array-like, shape (N,), optional
        Divide the budget over slices of the pool: a field's name, or the name of each row's slice.
    share : {"overall", "each"}
        Divide it for the smallest error of the whole, or for equal errors of the slices.
    **parts
        Parts of the method by name, each of which takes the place of the method's own: ``floor``, a share in [0, 1];
        ``stages``, shares of the budget that sum to 1; ``target``, ``"pool"`` or ``"population"``; and names for
        ``design``, ``draw``, ``estimator``, ``interval`` and ``belief``. docs/choosing.md tells which suit what,
        docs/statistics.md all names; a name that there is not is refused with those that there are.

    Returns
    -------
    Estimate
        With `slices` or several pools `Slices`, a mapping of name -> Estimate with the `overall` one. If `measure` is
        a list, a dict of measure's name as given -> one of these.

    Raises
    ------
    InputError
        If an argument is not allowed; the message says what is.
    LabelError
        If a label is not allowed; it carries the labels already got.
    LabelingInterrupted
        If the labelling function raises; it carries the labels already got. So does the KeyboardInterrupt of Ctrl-C.

    Notes
    -----
    A measure is :math:`\theta = g(\mu)` of pool means :math:`\mu = \sum_i b_i s(o_i, y_i)`, with base weights
    :math:`b` and a statistic :math:`s` of output and label; the influence of an item is
    :math:`\psi_i = \nabla g(\mu)^\top (s_i - \mu)`. Items are drawn by sizes such as
    :math:`u_i = b_i \sqrt{E[\psi_i^2] / c_i}` under the belief, without replacement and in three stages. With the
    believed statistics :math:`h` and the inclusion probabilities :math:`\pi` the estimate is :math:`g(\hat\mu)`,
    :math:`\hat\mu = \lambda \sum_i b_i h_i + \sum_u b_u (s_u - \lambda h_u) / \pi_u`, with residuals centred. All
    formulas are in docs/statistics.md.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, chapter 4.

    Examples
    --------
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> evaluate(pool, "error_rate", labels=[0, 1, 1, 1], budget=4).value
    0.25
    """
    require_labels(labels, start)
    several = are_several(measure)
    named: Any = measure if several else [measure]
    pools = list(pool.values()) if isinstance(pool, Mapping) else [pool]
    if not pools:
        raise InputError("there is no pool: the mapping is empty")
    for one in pools:
        require_pool(one)
    measures = parse_measures(named, positive, pools[0].task)
    question = Question("evaluate", (pools[0].models[one_model(pools[0], model)],), measures)
    rule = make_rule(stop, looks=None, level=level, batch=batch)
    if isinstance(pool, Mapping) or slices is not None:
        if rule is not None:
            raise InputError("stop= is for one pool as a whole: leave it out, or evaluate each slice alone")
        if start is not None:
            raise InputError("start= is for one pool as a whole: leave it out, or evaluate each slice alone")
        chosen = choose_method(method, **parts)
        found: list[Any] = evaluate_slices(
            pool, question, chosen, labels=labels, budget=budget, seed=seed, slices=slices, share=share
        )
    else:
        if not (isinstance(share, str) and share == "overall"):
            raise InputError(f"share={share!r} divides a budget over slices: give slices=, or several pools")
        chosen = stopping_method(method, parts, rule, pool)
        session = Session.start(pool, question, chosen, budget=budget, seed=seed, start=start)

        def answer(stopped: str | None) -> list[Any]:
            return [concluded(one, session, rule, stopped) for one in estimate_session(session).values()]

        found = _answered(session, pool, labels, rule, answer)
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
    start: Any = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    margin: float = 0.0,
    generator: np.random.Generator | None = None,
    stop: float | str | None = None,
    looks: int | Sequence[float] | None = None,
    level: float = WIDTH_LEVEL,
    batch: int | None = None,
    **parts: Any,
) -> Comparison:
    r"""Estimate the difference of two models' measures, first minus second, and test whether there is one.

    Parameters
    ----------
    pool
        As for `evaluate`, but one.
    first, second : str
        The models.
    measure, labels, budget, seed, positive, method, start
        As for `evaluate`; the draw serves the difference (thesis chapter 5). By default two classifiers are labelled
        uniformly where they differ, for an exact test, if the measure is error rate or accuracy, weights and costs are
        equal, and there are no groups, judge, features or `start`. ``belief="learned"`` takes the staged draw instead:
        a smaller error, and no exact test.
    alpha : float
        Level of the test, in (0, 1).
    alternative : str
        ``"two-sided"``, ``"less"`` or ``"greater"``.
    margin : float
        For one-sided tests, in the units of the measure: "greater" asks whether the difference is above -margin, "less"
        whether it is below margin (non-inferiority).
    generator : numpy.random.Generator, optional
        Randomness of ``test="permutation"`` and ``"bootstrap"``; by default it follows from the seed.
    stop : float or "significant", optional
        ``"significant"``: stop as soon as the evidence suffices at `alpha`, looking at each label; the type I error
        over all looks is at most `alpha`. A number: as for `evaluate`; the p-value then holds at any time too.
    looks : int or sequence of float, optional
        With ``stop="significant"``: look at so many equally spaced shares of the budget, or at these, only.
    level, batch
        As for `evaluate`.
    **parts
        As for `evaluate`, and ``test``.

    Returns
    -------
    Comparison
        The difference with its test; `Comparison.better` names the better model, or is None.

    Raises
    ------
    InputError, LabelError, LabelingInterrupted
        As for `evaluate`; also, before any label, if the test does not fit the measure, the draw or the target.

    Notes
    -----
    An influence on the difference is :math:`\psi_{i1} - \psi_{i2}` under a belief that asks both models.
    The exact test counts, among the items on which two classifiers differ, those on which the first is right and the
    second wrong; given the number of decisive labels this count is hypergeometric. Else the difference over its
    standard error is held against Student's t. docs/statistics.md has both, in sections 4 and 9.

    References
    ----------
    C. Sawade, N. Landwehr and T. Scheffer, Active comparison of prediction models, NIPS 2012.

    Examples
    --------
    >>> from sondage import Classifier
    >>> models = {"a": Classifier([0.1, 0.9, 0.4, 0.7]), "b": Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> compare(Pool(models=models), "a", "b", labels=[0, 1, 0, 1], budget=4).better
    'a'
    """
    require_labels(labels, start)
    require_generator(generator)
    models, parsed = (first, second), parse_measure(measure, positive)
    question = make_question(
        pool, parsed, compare=models, positive=positive, alpha=alpha, alternative=alternative, margin=margin
    )
    rule = make_rule(stop, looks=looks, level=level, batch=batch, generator=generator)
    if looks is not None and start is not None:
        raise InputError("looks= are planned before any label: leave them out, or start=")
    chosen = stopping_method(method, parts, rule, pool)
    session = Session.start(pool, question, chosen, budget=budget, seed=seed, start=start)

    def answer(stopped: str | None) -> Comparison:
        found: Comparison = concluded(compare_session(session, generator), session, rule, stopped)
        return found

    return _answered(session, pool, labels, rule, answer)


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
    start: Any = None,
    alpha: float = 0.05,
    **parts: Any,
) -> Selection:
    """Rank several models by one measure from one sample, drawn in stages for the models still in question.

    Parameters
    ----------
    pool, measure, labels, budget, seed
        As for `evaluate`, of one pool.
    models : sequence of str, optional
        Which models; by default all.
    positive, method, start
        As for `evaluate`.
    alpha : float
        Level of the pairwise tests, in (0, 1).
    **parts
        As for `compare`.

    Returns
    -------
    Selection
        Besides the ranking, which models may still be the best: `Selection.contenders`.

    Raises
    ------
    InputError, LabelError, LabelingInterrupted
        As for `evaluate`; also if there are fewer than two models.

    Notes
    -----
    The first stage is drawn for all pairs of models alike; later ones by the differences from the leader, each in
    proportion to how likely its model is still the best. P-values against the best are adjusted by Holm's method for
    all pairs, since the same labels chose the best. Formulas are in docs/statistics.md, sections 4 and 9.

    References
    ----------
    C. Sawade, Active Evaluation of Predictive Models, 2013, section 5.3.
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics, 1979, 65-70.

    Examples
    --------
    >>> from sondage import Classifier
    >>> models = {"a": Classifier([0.1, 0.9, 0.4, 0.7]), "b": Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> select(Pool(models=models), "accuracy", labels=[0, 1, 0, 1], budget=4).best
    'a'
    """
    require_labels(labels, start)
    question = make_question(pool, measure, select=True, models=models, positive=positive, alpha=alpha)
    session = Session.start(pool, question, choose_method(method, **parts), budget=budget, seed=seed, start=start)
    return _answered(session, pool, labels, None, lambda stopped: select_session(session))


def _answered(
    session: Session, pool: Pool, labels: Any, rule: Rule | None, answer: Callable[[str | None], _Answer]
) -> _Answer:
    """Label all, and return what is made of it, given what ended labelling; a refusal carries the labels."""
    got: dict[Any, Any] = {}
    if labels is None:
        if session.remaining:
            raise InputError(f"labels= is missing: those of start= leave {session.remaining} of the budget to label")
        labels = {}
    with carrying(got):
        return answer(label_all(session, pool, labels, rule, got=got))
