"""Estimates from labels that somebody else drew, with known probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.catalogue.estimators import ESTIMATORS, UNASSISTED
from sondage.core.catalogue.intervals import OWN, require_interval
from sondage.core.checks import is_whole, require
from sondage.core.comparisons import Contrast
from sondage.core.evidence import Evidence
from sondage.core.measures import Functional, Measure, Task, settled
from sondage.core.possible import unrefuted_limits, unrounded, within
from sondage.core.predictions import Classifier, Floats, Items, Outputs, Regressor
from sondage.core.residuals import LEAST_DF, of_population
from sondage.core.results import Estimate
from sondage.core.samples import Expansion, Known, LabelledStage, Sample, effective_number, from_counts, from_inclusion
from sondage.core.stages import Estimation
from sondage.core.unexpected import unexpected
from sondage.errors import InputError, LabelError
from sondage.pools.coding import code_models
from sondage.pools.missing import as_array, converted, is_blank, is_missing, require_listed
from sondage.pools.numeric import Where, as_column, floats, numeric, positive_column
from sondage.pools.orders import require_one_order
from sondage.studies.labels import code_label, label_array
from sondage.studies.method import check_part
from sondage.studies.planning import check_target
from sondage.studies.questions import parse_measures
from sondage.studies.remarks import ONLY_SURE, of_interval, of_one_label, of_undefined, of_untold
from sondage.studies.uncertainty import AGREED

__all__ = ["estimate_from", "ready_on", "result_of"]

OF_DRAWS = ("anytime", "hypergeometric")
"""Intervals that follow from how, and in which order, items were drawn."""
FAR_OFF, LITTLE = 6.0, 0.01
"""Standard errors, and share of the pool, by which the items that labels stand for may differ from those there are."""


def estimate_from(
    measure: str | Measure = "error_rate",
    *,
    labels: Any,
    predictions: Any = None,
    probabilities: Any = None,
    means: Any = None,
    variances: Any = None,
    inclusion: Any = None,
    draw_probability: Any = None,
    pool_size: int | None = None,
    weights: Any = None,
    ids: Any = None,
    classes: Any = None,
    positive: Any = None,
    estimator: str = "hajek",
    interval: str = "auto",
    target: str = "pool",
) -> Estimate:
    r"""Estimate a measure from a labelled sample with known probabilities of selection.

    Parameters
    ----------
    measure
        As for `evaluate`, but for one measure a call.
    labels : array-like, shape (n,)
        Labels of the items drawn.
    predictions, probabilities, means, variances : array-like, shape (n,) or (n, k), optional
        What the model says of them, as for `Pool`.
    inclusion : array-like of float, shape (n,), optional
        Probability, in (0, 1], that each item was drawn; draws independent or nearly so.
    draw_probability : array-like of float, shape (n,), optional
        In place of `inclusion`, for draws with replacement: each draw's probability, in (0, 1], of this item.
    pool_size : int, optional
        Number of items of the pool; by default estimated, which Horvitz-Thompson does not allow.
    weights : array-like of float, shape (n,), optional
        Base weights of the items, where the pool itself is a weighted sample. What all its items weigh is estimated,
        which Horvitz-Thompson does not allow either.
    ids : array-like, shape (n,), optional
        Names of the items, for messages.
    classes
        As for `Pool`.
    positive
        As for `evaluate`.
    estimator : str
        ``"hajek"`` (default), ``"self_normalised"`` or ``"horvitz_thompson"``.
    interval, target
        As for `evaluate`.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If neither probability is given, or a value is not allowed. Labels without a probability of being drawn
        cannot be corrected for how they were chosen, and are refused.

    Notes
    -----
    With expansion weights :math:`w = 1 / \pi`, or :math:`1 / (n q)` with replacement, base weights :math:`b` and the
    measure's statistic :math:`s` the estimate is :math:`g(\sum w b s / \sum w b)`, Hajek's; Horvitz and Thompson's
    divides by what the pool weighs in place of :math:`\sum w b`. Variances are in docs/statistics.md, section 7.

    References
    ----------
    D. G. Horvitz and D. J. Thompson, A generalization of sampling without replacement from a finite universe, Journal
    of the American Statistical Association, 1952, 663-685.
    J. Hajek, comment on D. Basu, in Foundations of Statistical Inference, 1971, 236.

    Examples
    --------
    >>> estimate_from("error_rate", predictions=[0, 1, 1], labels=[0, 1, 0], inclusion=[0.25, 0.5, 0.5]).value
    0.25
    """
    _require_one_probability(inclusion, draw_probability)
    _require_parts(estimator, interval, target, total_known=pool_size is not None and weights is None)
    outputs_given = {"predictions": predictions, "probabilities": probabilities, "means": means, "variances": variances}
    chances = {"inclusion": inclusion, "draw_probability": draw_probability, "weights": weights}
    require_one_order({"labels": labels} | outputs_given | chances)
    model = Regressor(means, variances) if means is not None else Classifier(probabilities, predictions)
    task, outputs, coded = _coded(model, labels, predictions=predictions, classes=classes, ids=ids)
    size, where = len(coded), _where(ids)
    expansion = _expansion(inclusion, draw_probability, size, where)
    _check_pool_size(pool_size, 1 if inclusion is None else size)  # with replacement an item may come twice
    base = np.ones(size)
    if weights is not None:
        base = np.asarray(positive_column(weights, "weight", size, where), dtype=np.float64)
    total = float(pool_size) if pool_size is not None and weights is None else float(np.sum(base * expansion.weights))
    items = Items(outputs, base / total)
    sample = Sample(items, coded, expansion)
    known = Known(1.0, None, {}, {}, float(np.sum(items.weights**2 * expansion.weights)))
    (wanted,) = parse_measures([measure], positive, task)
    functional = ready_on(sample, wanted, task)
    check_target(functional, target)
    require_interval(interval, functional, compares=False)
    contrast = Contrast(functional, ((0, 1.0),))
    estimation = Estimation(sample, (LabelledStage(sample, known),), ESTIMATORS[estimator])
    notes = [] if pool_size is None else _of_size(expansion, pool_size)
    return result_of(
        contrast,
        estimation,
        interval=interval,
        target=target,
        notes=notes,
        complete=pool_size is None or pool_size <= size,
        name_of=where,
    )


def _of_size(expansion: Expansion, pool_size: int) -> list[str]:
    """Return what to say where the probabilities are those of a pool of another size, beyond any chance."""
    found = float(np.sum(expansion.weights))
    std_error = float(np.sqrt(np.sum(expansion.spread * expansion.deviations(np.ones(len(expansion.weights))) ** 2)))
    if abs(found - pool_size) <= FAR_OFF * std_error + LITTLE * pool_size:
        return []
    off = "labels are missing, or one of the two is wrong"
    return [f"by their probabilities the labels stand for {found:,.0f} items, and pool_size={pool_size:,}: {off}"]


def _require_one_probability(inclusion: Any, draw_probability: Any) -> None:
    """Refuse labels of which it is not told with what probability they were drawn, or told in two ways."""
    if inclusion is not None and draw_probability is not None:
        raise InputError("give inclusion= (drawn without replacement) or draw_probability= (with it), not both")
    if inclusion is None and draw_probability is None:
        raise InputError(
            "give inclusion= (probability of being drawn) or draw_probability= (with replacement): labels without a "
            "probability cannot be corrected for how they were chosen"
        )


def _require_parts(estimator: str, interval: str, target: str, *, total_known: bool) -> None:
    """Refuse parts of a method that need a pool, a draw, or what all items weigh where that is not known."""
    if not isinstance(estimator, str) or estimator not in UNASSISTED:
        raise InputError(f"no estimator {estimator!r} without a pool; there are {', '.join(UNASSISTED)}")
    if estimator == "horvitz_thompson" and not total_known:
        raise InputError("estimator 'horvitz_thompson' needs pool_size=, and items of equal weight: no weights=")
    check_part("interval", interval)
    check_part("target", target)
    if interval in OF_DRAWS:
        raise InputError(
            f"interval {interval!r} needs to know the draw, and these labels were drawn elsewhere; use 'auto'"
        )


def _coded(
    model: Classifier | Regressor, labels: Any, *, predictions: Any, classes: Any, ids: Any
) -> tuple[Task, tuple[Outputs, ...], NDArray[Any]]:
    """Return the task, the model's outputs and the labels, as core reads them."""
    where = _where(ids)
    told = _given_labels(labels, where)
    if not told:
        raise LabelError("there are no labels: nothing can be estimated")
    task, outputs, size = code_models({"model": model}, _classes(classes, predictions, told, where), (), where)
    if len(told) != size:
        raise LabelError(f"there are {len(told)} labels for {size} items")
    if ids is not None:
        as_column(ids, "ids", size)
    coded = [code_label(label, task, ("model",), name=row, place=where(row)) for row, label in enumerate(told)]
    return task, outputs, label_array([label for label in coded if label is not None], task)


def ready_on(sample: Sample, measure: Measure, task: Task) -> Functional:
    """Return a measure of one model, ready: a sample's scores, weighted, make the bins of the measures that have some.

    The sample stands for the pool that it came from; a row is a unit.
    """
    expanded = replace(sample.items, weights=sample.items.weights * sample.expansion.weights)
    return settled(measure, task, expanded, (0,)).ready(task)


def result_of(
    contrast: Contrast,
    estimation: Estimation,
    *,
    interval: str,
    target: str,
    notes: Sequence[str] = (),
    complete: bool,
    name_of: Callable[[int], str],
) -> Estimate:
    """Return the result of an estimation without a belief, with its warnings after those given.

    Items that were sure to be drawn are exact if they are all there are (`complete`), and else tell nothing of others;
    a warning of one calls it by its name (`name_of`).
    """
    sample, squared = estimation.whole, estimation.stages[-1].known.squared
    fit = estimation.fit(contrast)
    weights = estimation.merged(fit.shares).row_weights
    effective = effective_number(weights)
    total, df = fit.variance + fit.bias**2, fit.df
    if interval in OWN and contrast.functional.proportion and np.isclose(effective, sample.size):
        df = max(df, LEAST_DF)  # of a share, labels of equal weight tell the variance by their number and the value
    if target == "population":
        total, df = of_population(total, df, squared * fit.spread, effective)
    exact = complete and not np.any(estimation.stages[-1].sample.expansion.spread)
    unknown = []
    if total <= AGREED**2 * fit.value**2 and not exact:
        sure = not np.any(sample.expansion.spread)
        agree = "all labels agree, so their spread says nothing: the standard error is not known"
        unknown.append(ONLY_SURE if sure else agree)
    unknown += of_undefined(contrast, fit.value, more=False)
    # Horvitz-Thompson's is unbiased beyond the range too; a bias that is taken off leads nowhere there.
    value = (unrounded if contrast.functional.curvature is None else within)(fit.value, *contrast.bounds)
    evidence = Evidence(contrast, estimation, fit)
    told = [] if exact else [*of_untold(contrast, sample), *of_interval(interval, contrast, effective, sample.size)]
    told += of_one_label(evidence, name_of)
    return Estimate(
        measure=contrast.functional.name,
        positive=contrast.functional.positive,
        models=("model",),
        value=value,
        std_error=float(np.sqrt(total)) if not unknown else float("nan"),
        n_labels=sample.size,
        target=target,
        exact=exact,
        df=df,
        bounds=contrast.bounds,
        possible=contrast.bounds,
        unrefuted=unrefuted_limits(contrast, [(1.0, sample)]),
        unexpected=unexpected(contrast, [(1.0, estimation.merged(fit.shares), None)], fit.sums, target),
        proportion=contrast.functional.proportion,
        interval_kind=interval,
        n_effective=effective,
        largest_weight=float(weights.max() / weights.sum()),
        spent=float(sample.size),
        warnings=(*notes, *unknown, *told),
        evidence=evidence,
    )


def _where(ids: Any) -> Where:
    """Return how messages name a row: with its id, where there are ids."""
    if ids is None:
        return "row {}".format
    names = as_column(ids, "ids", None).tolist()
    return lambda row: f"row {row} (id {names[row]})" if row < len(names) else f"row {row}"


def _expansion(inclusion: Any, draw_probability: Any, size: int, where: Where) -> Expansion:
    if inclusion is None:
        return from_counts(np.ones(size), _probabilities(draw_probability, "draw probability", size, where))
    return from_inclusion(_probabilities(inclusion, "inclusion probability", size, where))


def _probabilities(values: Any, name: str, size: int, where: Where) -> Floats:
    found = floats(numeric(as_column(values, name, size), name, where))
    wrong = ~((found > 0) & (found <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{name} of {where(row)} is {found[row]:g}; it must be in (0, 1]")
    return floats(positive_column(found, name, size, where))


def _check_pool_size(pool_size: Any, least: int) -> None:
    """Refuse what is no number of items, or fewer than are labelled."""
    if pool_size is not None and not (is_whole(pool_size) and pool_size >= least):
        raise InputError(f"pool_size={pool_size!r} must be a whole number, {least} or more: so many items are labelled")


def _classes(classes: Any, predictions: Any, labels: list[Any], where: Where) -> Any:
    """Return the classes: as given, or for predictions alone those that are predicted or labelled."""
    if classes is not None or predictions is None:
        return classes
    require_listed(predictions, "predictions")
    predicted = [value for value in np.ravel(as_array(predictions, "predictions")).tolist() if not is_missing(value)]
    if not all(isinstance(value, str) for value in (*predicted, *labels)):
        return None  # as for a pool: labels that are text are spelled like the numbers that are predicted, or refused
    _require_spelled_alike(labels, set(predicted), where)
    found = sorted({*predicted, *labels})
    require(len(found) > 1, f"predictions and labels have one class, {found}: name all classes with classes=")
    return found


def _require_spelled_alike(labels: list[str], predicted: set[str], where: Where) -> None:
    """Refuse a label that differs from a predicted class in case alone: it would be a class of its own."""
    alike = {name.casefold(): name for name in predicted}
    for row, label in enumerate(labels):
        if label not in predicted and label.casefold() in alike:
            near = alike[label.casefold()]
            raise LabelError(f"label {label!r} of {where(row)} is {near!r} as a prediction: name both with classes=")


def _given_labels(labels: Any, where: Where) -> list[Any]:
    """Return labels as a list, or refuse one that is missing: None, NaN, or an empty text as in files."""
    require_listed(labels, "labels")
    shape = getattr(labels, "shape", (0,))
    require(len(shape) == 1, f"labels have shape {shape}; they must be one column")
    found = list(converted(labels))
    for row, label in enumerate(found):
        if is_blank(label):
            raise LabelError(f"label of {where(row)} is missing; leave the row out only if it was skipped at random")
    return found
