"""Results in words: the answer first, in a sentence; then what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sondage.core.checks import first_of
from sondage.core.display import label_count
from sondage.core.results import Comparison, Estimate, Interval
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.reports.contents import Figure

if TYPE_CHECKING:
    from sondage.studies.advise import Advice

__all__ = [
    "all_warnings",
    "answer",
    "answers",
    "basis_lines",
    "describe",
    "details",
    "figure_reach",
    "figure_value",
    "in_percent",
    "leading_estimate",
    "named_measure",
    "positive_lines",
    "pvalue_text",
    "quantity",
    "range_clause",
    "rounded",
    "unit_of",
    "warned",
]

PERCENT = ("error_rate", "accuracy", "precision", "recall", "specificity", "balanced_accuracy")
MOST_NAMED = 5
EXACT = 100.0
"""An exact value is told as if known to so small a part of it: to four or five digits."""
STRICTER = (
    "The p-values (Holm's method) and the intervals of the differences are stricter: they allow for every pair that "
    "could have been compared, in both directions."
)
NAMES = {
    "f1": "F1",
    "macro_f": "macro F",
    "micro_f": "micro F",
    "auc": "AUC",
    "brier": "Brier score",
    "ece": "ECE",
    "mcc": "MCC",
    "mse": "MSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R2",
    "kappa": "kappa",
    "dcg": "DCG",
    "ndcg": "nDCG",
    "err": "ERR",
    "rbp": "RBP",
}


def answer(result: Any, level: float = 0.95) -> str:
    """Return the answer of an estimate, a comparison or a selection as one sentence."""
    if isinstance(result, Comparison):
        return _compared(result, level)
    if isinstance(result, Selection):
        return _selected(result)
    return _estimated(result, level)


def describe(result: Any, level: float = 0.95) -> list[str]:
    """Return the answer and what it rests on, line by line; of several estimates, one after the other."""
    return [*answers(result, level), *details(result, level), *warned(all_warnings(result))]


def answers(result: Any, level: float = 0.95) -> list[str]:
    """Return the answer, of several measures one for each; of slices that of the whole."""
    return [answer(one, level) for one in _told_by_themselves(result)]


def details(result: Any, level: float = 0.95) -> list[str]:
    """Return what goes with the answer: of a selection its ranking, of others what they rest on."""
    return [*(_ranked(result, level) if isinstance(result, Selection) else []), *basis_lines(result)]


def all_warnings(result: Any) -> list[str]:
    """Return what a reader of a result must know, each thing once."""
    return list(dict.fromkeys(text for one in _told_by_themselves(result) for text in one.warnings))


def warned(warnings: Iterable[str]) -> list[str]:
    """Return warnings as lines."""
    return [f"note: {text}" for text in warnings]


def leading_estimate(result: Any) -> Estimate | None:
    """Return the estimate that a result is about: the first, the difference, the best model's from the second."""
    if isinstance(result, Comparison):
        return result.estimate
    if isinstance(result, Selection):
        return result.comparisons[result.ranking[0], result.ranking[1]].estimate
    if isinstance(result, Slices):
        return result.overall
    if isinstance(result, Mapping) and result:
        result = next(iter(result.values()))
    return result if isinstance(result, Estimate) else None


def _told_by_themselves(result: Any) -> list[Any]:
    if isinstance(result, Slices):
        return [result.overall]
    return list(result.values()) if isinstance(result, Mapping) else [result]


def figure_value(figure: Figure) -> str:
    """Return a figure's value in words."""
    return quantity(figure.value, figure.measure, figure.interval.width, figure.unit)


def figure_reach(figure: Figure) -> str:
    """Return a figure's interval in words."""
    if figure.interval.kind == "undefined":
        return "not known"
    return _between(figure.interval, figure.measure, figure.unit)


def quantity(value: float, measure: str, width: float = math.nan, unit: str = " %") -> str:
    """Return a value of a measure in words, with as many digits as its uncertainty leaves; shares in per cent.

    Examples
    --------
    >>> quantity(0.1362, "error_rate", width=0.05), quantity(0.5946, "f1", width=0.2)
    ('13.6 %', '0.59')
    >>> quantity(-0.0121, "error_rate", width=0.2, unit=" points")
    '-1 point'
    """
    if not math.isfinite(value):
        return "undefined"
    scale = 100.0 if in_percent(measure) else 1.0
    reach = width if math.isfinite(width) and width > 0 else abs(value) or 1.0
    digits = min(max(0, 2 - math.ceil(math.log10(scale * reach))), 8)
    if scale == 1.0 and reach <= 1:
        digits = max(digits, 2)
    told = f"{scale * value:.{digits}f}"
    told = told.removeprefix("-") if float(told) == 0 else told
    return told + _in_number(unit, told) if scale == 100.0 else told


def _in_number(unit: str, told: str) -> str:
    """Return a unit as it stands behind this number: a point, points."""
    return unit.removesuffix("s") if told in ("1", "-1") else unit


def rounded(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that mean something, large ones whole in place of an exponent.

    Examples
    --------
    >>> rounded(0.03417), rounded(-84713.2), rounded(84713.2, 6)
    ('0.0342', '-84713', '84713.2')
    """
    told = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in told and abs(value) < 1e15 else told


def unit_of(estimate: Estimate) -> str:
    """Return what stands behind an estimate's shares in per cent."""
    return " points" if len(estimate.models) > 1 else " %"


def in_percent(measure: str) -> bool:
    """Return whether a measure, whatever its parameters, is a share that one says in per cent."""
    return measure.partition(":")[0] in PERCENT


def named_measure(measure: str) -> str:
    """Return a measure's name as a reader knows it.

    Examples
    --------
    >>> named_measure("brier"), named_measure("ece:bins=5,spacing=width")
    ('Brier score', 'ECE (bins = 5, spacing = width)')
    """
    head, _, options = measure.partition(":")
    name, at, depth = head.partition("@")
    words = NAMES.get(name, name.replace("_", " ")) + at + depth
    return (
        f"{words} ({options.replace('positive=', 'of ').replace('=', ' = ').replace(',', ', ')})" if options else words
    )


def _level(level: float) -> str:
    return f"{100 * level:g} %"


def _between(interval: Interval, measure: str, unit: str = " %") -> str:
    ends = ((interval.low, ""), (interval.high, unit))
    return " to ".join(
        quantity(end, measure, interval.width, told) if math.isfinite(end) else "unbounded" for end, told in ends
    )


def _estimated(estimate: Estimate, level: float) -> str:
    """Return an estimate as a sentence."""
    subject = f"The {named_measure(estimate.measure)} of {estimate.models[0]!r}"
    where = "in this pool" if estimate.target == "pool" else "in the population"
    if not math.isfinite(estimate.value):
        return f"{subject} {where} cannot be told from {label_count(estimate.n_labels)}."
    interval = estimate.interval(level)
    value = quantity(estimate.value, estimate.measure, interval.width)
    if estimate.exact and estimate.target == "pool":
        told = label_count(estimate.n_labels)
        value = quantity(estimate.value, estimate.measure, abs(estimate.value) / EXACT)
        return f"{subject} {where} is exactly {value}: everything that matters is labelled ({told})."
    reach = range_clause(interval, estimate.measure)
    return f"{subject} {where} is {value}, with {_level(level)} confidence {reach} ({label_count(estimate.n_labels)})."


def range_clause(interval: Interval, measure: str, unit: str = " %") -> str:
    """Return an interval as a clause."""
    low, high = (quantity(end, measure, interval.width, unit) for end in (interval.low, interval.high))
    if math.isinf(interval.low) or math.isinf(interval.high):
        bounded = [f"at least {low}"] if math.isfinite(interval.low) else []
        bounded += [f"at most {high}"] if math.isfinite(interval.high) else []
        return " and ".join(bounded) or "anywhere"
    return f"between {low} and {high}"


def _compared(comparison: Comparison, level: float) -> str:
    """Return a comparison as a sentence."""
    estimate, (first, second) = comparison.estimate, comparison.estimate.models
    measure = named_measure(estimate.measure)
    if not math.isfinite(estimate.value):
        return f"Whether {first!r} or {second!r} is better cannot be told from {label_count(estimate.n_labels)}."
    evidence = f"p {pvalue_text(comparison.pvalue)}, {label_count(estimate.n_labels)}"
    interval = comparison.interval(level)
    difference = quantity(estimate.value, estimate.measure, interval.width, " points")
    reach = f"{_level(level)} interval {_between(interval, estimate.measure, ' points')}"
    if estimate.exact and estimate.value == 0 and estimate.target == "pool":
        told = label_count(estimate.n_labels)
        return f"Neither is better: the {measure} of {first!r} and that of {second!r} are the same ({told})."
    return (
        f"{_decided(comparison)}: the {measure} of {first!r} minus that of {second!r}"
        f" is {difference} ({reach}; {evidence})."
    )


def _decided(comparison: Comparison) -> str:
    """Return what the test says: which model is better, or of a margin whether one is not worse by so much."""
    models, null, better = comparison.estimate.models, comparison.null, comparison.better
    if not null:
        other = models[0] if better == models[1] else models[1]
        return "No winner yet" if better is None else f"{better!r} is better than {other!r}"
    above = comparison.significance.alternative == "greater"
    percent = in_percent(comparison.estimate.measure)
    margin = f"{100 * abs(null) if percent else abs(null):g}"
    if percent:
        margin += _in_number(" points", margin)
    if comparison.higher_is_better is None:
        claim = f"the difference is {'above' if above else 'below'} {'-' if null < 0 else ''}{margin}"
    else:
        first, second = models if above == comparison.higher_is_better else models[::-1]
        far = f"not worse than {second!r} by {margin} or more"
        claim = f"{first!r} is {far if above == (null < 0) else f'better than {second!r} by more than {margin}'}"
    shown = claim if comparison.significant else f"not shown that {claim}"
    return shown[0].upper() + shown[1:]


def pvalue_text(pvalue: float) -> str:
    """Return a p-value with its sign of equality."""
    return f"= {pvalue:.2g}" if pvalue >= 1e-4 else "< 0.0001"


def _selected(selection: Selection) -> str:
    best = selection.estimates[selection.best]
    value = quantity(best.value, best.measure, best.interval(0.95).width)
    rivals = [name for name in selection.contenders() if name != selection.best]
    lead = f"{selection.best!r} has the best {named_measure(best.measure)}, {value} ({label_count(selection.n_labels)})"
    if not rivals:
        alone = f"{lead}, and with {_level(1.0 - selection.alpha)} confidence is the best: no other is a contender."
        return alone if _shown_by_each(selection) else f"{alone} {STRICTER}"
    return f"{lead}, but is not shown to be better than {first_of(map(repr, rivals), MOST_NAMED)}."


def _shown_by_each(selection: Selection) -> bool:
    """Return whether p-values and intervals, too, tell every other model from the best."""
    significant = all(pvalue < selection.alpha for pvalue in selection.pvalues.values())
    return significant and not any(0.0 in gap for gap in selection.gaps(1.0 - selection.alpha).values())


def _ranked(selection: Selection, level: float) -> list[str]:
    """Return one line a model, best first; the differences from the best hold together at this level."""
    width = max(len(name) for name in selection.ranking)
    gaps, best = selection.gaps(level), selection.estimates[selection.best]
    lines = []
    for rank, name in enumerate(selection.ranking, 1):
        estimate = selection.estimates[name]
        interval = estimate.interval(level)
        own = f"  ({_between(interval, estimate.measure)})" if interval.kind != "undefined" else ""
        line = f"{rank}. {name:<{width}}  {quantity(estimate.value, estimate.measure, interval.width)}{own}"
        if name != selection.best:
            gap = estimate.value - best.value
            behind = quantity(gap, estimate.measure, gaps[name].width, " points")
            reach = _between(gaps[name], estimate.measure, " points")
            line += f"  {behind} from the best ({reach}), p {pvalue_text(selection.pvalues[name])}"
        lines.append(line)
    return lines


def basis_lines(result: Any) -> list[str]:
    """Return what an answer rests on; of several measures each one's, by its name; of a selection the class alone."""
    if isinstance(result, Selection):
        return positive_lines(result.estimates.values())
    if isinstance(result, Mapping) and not isinstance(result, Slices):
        lines = [f"{named_measure(one.measure)}: {line}" for one in result.values() for line in _basis_lines(one)]
        return lines + positive_lines(result.values())
    (one,) = _told_by_themselves(result)
    estimate = one.estimate if isinstance(one, Comparison) else one
    return _basis_lines(estimate) + positive_lines([estimate])


def positive_lines(results: Iterable[Estimate | Advice]) -> list[str]:
    """Return which class is the positive one, where a measure has one that its name does not tell."""
    told = [one.positive for one in results if one.positive is not None and "positive=" not in one.measure]
    return [f"positive: {told[0]}, the second class"] if told else []


def _basis_lines(estimate: Estimate) -> list[str]:
    """Return what one estimate rests on."""
    parts = [f"standard error {rounded(estimate.std_error)}"] if math.isfinite(estimate.std_error) else []
    if math.isfinite(estimate.n_effective):
        parts.append(f"effective number of labels {estimate.n_effective:.0f}")
    if estimate.spent != estimate.n_labels and math.isfinite(estimate.spent):
        parts.append(f"cost {estimate.spent:g}")
    lines = ["; ".join(parts)] if parts and not estimate.exact else []
    lines += [] if estimate.exact else _certain(estimate)
    if estimate.if_skipped is not None:
        skipped = estimate.if_skipped
        ends = (quantity(end, estimate.measure, unit=unit_of(estimate)) for end in (skipped.low, skipped.high))
        lines.append(f"with every skipped label as bad and as good as can be: {' to '.join(ends)}")
    return lines


def _certain(estimate: Estimate) -> list[str]:
    """Return what the labels prove near the estimate, whatever the others are, as far as its digits show it."""
    (least, most), (lowest, highest), reach = estimate.possible, estimate.bounds, 2.0 * estimate.std_error
    told = partial(quantity, measure=estimate.measure, width=reach, unit=unit_of(estimate))
    ends = [f"at least {told(least)}"] if least >= estimate.value - reach and told(least) != told(lowest) else []
    ends += [f"at most {told(most)}"] if most <= estimate.value + reach and told(most) != told(highest) else []
    return [f"whatever the other labels are, it is {' and '.join(ends)}"] if ends else []
