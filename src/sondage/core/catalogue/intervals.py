"""Intervals of an estimate, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sondage.core.catalogue.significance import UNCOUNTED
from sondage.core.checks import require_generator, require_known, require_level
from sondage.core.estimators import Fit
from sondage.core.evidence import Evidence
from sondage.core.intervals import (
    clopper_pearson_interval,
    fieller_interval,
    inverted_interval,
    percentile_interval,
    score_interval,
    t_interval,
    wald_interval,
    wilson_effective_interval,
    wilson_interval,
)
from sondage.core.measures.bases import ROUNDING
from sondage.core.measures.functionals import Functional
from sondage.core.possible import outward
from sondage.core.predictions import Floats
from sondage.core.ratios import denominator_labels, estimated_ratios, with_unseen_ratios
from sondage.core.results import Estimate, Interval
from sondage.core.significance import counted_interval
from sondage.core.unexpected import with_unexpected
from sondage.errors import InputError

__all__ = ["INTERVALS", "OWN", "named_interval", "require_interval"]

OWN = ("auto", "anytime")
"""The package's own intervals; all others are kept to the letter of their sources."""

_OF_SHARES = ("wilson", "wilson_effective", "clopper_pearson")
_OF_COUNTS = ("wilson", "clopper_pearson")
"""Of which the number of labels is all that they need beside the value."""


def named_interval(
    estimate: Estimate, level: float, kind: str, generator: np.random.Generator | None = None
) -> Interval:
    """Return the interval of this name; exact results give a point, undefined ones all values of the measure.

    The package's own are cut to what the labels leave possible; one that misses all of it is known to be one of the few
    that miss, and is replaced by it.

    Parameters
    ----------
    estimate : Estimate
        What it is of.
    level : float
        Confidence level, in (0, 1).
    kind : str
        One of `INTERVALS`.
    generator : numpy.random.Generator, optional
        Source of the resamples of ``"bootstrap"``; by default the estimate's own.

    Raises
    ------
    InputError
        If there is no such interval, it does not fit, or the level is not in (0, 1).
    """
    require_known("interval", kind, INTERVALS)
    require_level("level", level)
    require_generator(generator)
    if estimate.exact and estimate.target == "pool" and np.isfinite(estimate.value):
        return Interval(estimate.value, estimate.value, level, "exact")
    counted = _countable(estimate) and (kind == "auto" or (kind in _OF_COUNTS and _equally_drawn(estimate)))
    if not np.isfinite(estimate.value) or not (np.isfinite(estimate.std_error) or counted):
        return Interval(*(estimate.possible if kind in OWN else estimate.bounds), level, "undefined")
    if not np.isfinite(estimate.std_error):  # expanded, labels that agree may stand for more than there is
        estimate = replace(estimate, value=float(np.clip(estimate.value, *estimate.bounds)))
    found = INTERVALS[kind](estimate, level, generator)
    if kind not in OWN:
        return replace(found, kind=kind)
    least, most = estimate.possible
    low, high = max(found.low, least), min(found.high, most)
    holds = low < high or (low == high and estimate.std_error > 0)  # less than the value's last digit
    return replace(found, low=low, high=high) if holds else replace(found, low=least, high=most)


def require_interval(kind: str, functional: Functional, *, compares: bool) -> None:
    """Refuse an interval that does not fit a measure, whatever the labels are.

    Parameters
    ----------
    kind : str
        Name of the interval.
    functional : Functional
        What is estimated.
    compares : bool
        Whether it is a difference of two models.

    Raises
    ------
    InputError
        If the interval does not fit; the message says for what it is.
    """
    name = f"differences of {functional.name!r}" if compares else repr(functional.name)
    if kind in _OF_SHARES and (compares or not functional.proportion):
        raise InputError(f"interval {kind!r} is for proportions, not {name}; use 't'")
    if kind == "fieller" and (compares or functional.ratio is None):
        raise InputError(f"interval 'fieller' is for ratios (F, precision, recall) of one model, not {name}; use 't'")
    if kind == "bootstrap" and functional.corrected is not None:
        raise InputError(f"interval 'bootstrap' does not hold for {name}, which has kinks; use 't'")


def _auto(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    """Count where the sample allows it, else follow the variance as far as no label speaks against a limit.

    Differences of two ratios are held against the variance that they would have.
    """
    if estimate.counts is not None and estimate.target == "pool":
        found = counted_interval(estimate.counts, level)
        low, high = outward(found.low, found.high, estimate.bounds)
        return replace(found, low=low, high=high)
    if estimate.pivot is not None:
        return _fieller(estimate, level, generator)
    found, (least, most), (lowest, highest) = _of_variance(estimate, level), estimate.bounds, estimate.unrefuted
    found = with_unexpected(_as_plausible(with_unseen_ratios(found, estimate), estimate), estimate)
    low, high = (least if lowest else found.low), (most if highest else found.high)
    if estimate.proportion and lowest != highest:
        unseen = wilson_interval(0.0 if lowest else 1.0, max(denominator_labels(estimate), 1.0), level)
        low, high = min(low, unseen.low), max(high, unseen.high)
    return replace(found, low=low, high=high)


def _as_plausible(found: Interval, estimate: Estimate) -> Interval:
    """Return the interval that reaches as far as the labels leave errors plausible, from their median."""
    if estimate.plausible is None:
        return found
    tail = (1 - found.level) / 2
    least, middle, most = (estimate.plausible.quantile(probability) for probability in (tail, 0.5, 1 - tail))
    low, high = estimate.value + least - middle, estimate.value + most - middle
    return replace(found, low=min(found.low, low), high=max(found.high, high))


def _countable(estimate: Estimate) -> bool:
    """Return whether labels that all agree, with no belief behind them, are told by their number: at one limit."""
    alone = estimate.evidence is not None and estimate.evidence.estimation.belief is None
    return alone and estimate.proportion and estimate.unrefuted in ((True, False), (False, True))


def _equally_drawn(estimate: Estimate) -> bool:
    """Return whether every label tells of the share as much as any other."""
    return bool(np.isclose(denominator_labels(estimate), estimate.n_labels))


def _of_variance(estimate: Estimate, level: float) -> Interval:
    """Return Wilson on the effective sample size for proportions, or t.

    Where the variance grows faster with the value than these have it, its slope takes their place; of a difference,
    which is tested too, it moves no end nearer.
    """
    value, std_error = estimate.value, estimate.std_error
    if len(estimate.models) > 1:
        student = _t(estimate, level, None)
        grown = score_interval(value, std_error, estimate.slope, level, df=estimate.df, bounds=estimate.bounds)
        return replace(student, low=min(student.low, grown.low), high=max(student.high, grown.high))
    inside = estimate.proportion and 0 < value < 1 and std_error > 0
    explained = value * (1 - value) / std_error**2 if inside else np.inf
    slope, n = _parabola(estimate, explained) if inside else (0.0, explained)
    steeper = abs(estimate.slope) >= abs(slope) and estimate.slope != 0
    if n != explained or (steeper and (inside or not estimate.proportion)):
        slope = estimate.slope if steeper else slope
        return score_interval(value, std_error, slope, level, df=estimate.df, n=n, bounds=estimate.bounds)
    return (_wilson_effective if estimate.proportion and 0 <= value <= 1 else _t)(estimate, level, None)


def _parabola(estimate: Estimate, explained: float) -> tuple[float, float]:
    """Return the slope of a proportion's variance and the n that bends it, by as many labels as explain it.

    Near a limit that no label speaks against, and of measures that sure items decide, a large standard error is the
    belief's doubt, which is not that of fewer labels than there are. A mean of proportions has what follows from them.
    """
    n = explained
    if any(estimate.unrefuted) or (estimate.evidence is not None and estimate.evidence.contrast.sure_decide):
        n = max(explained, denominator_labels(estimate))
    elif (ratios := estimated_ratios(estimate)) is not None:
        of_ratios = ratios.parabola(estimate.std_error**2)
        if of_ratios is not None:
            return of_ratios
    return (1 - 2 * estimate.value) / n, n


def _hypergeometric(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    if estimate.counts is None or estimate.target != "pool":
        raise InputError(UNCOUNTED.format("interval"))
    return counted_interval(estimate.counts, level)


def _wald(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    return wald_interval(estimate.value, estimate.std_error, level, bounds=estimate.bounds)


def _t(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    return t_interval(estimate.value, estimate.std_error, estimate.df, level, bounds=estimate.bounds)


def _wilson(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    _require_proportion(estimate, "wilson")
    return wilson_interval(estimate.value, estimate.n_labels, level)


def _wilson_effective(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    """Wilson's interval with the n that would give this standard error, its z widened to t's quantile."""
    _require_proportion(estimate, "wilson_effective")
    fallback = denominator_labels(estimate)
    if fallback == 0 and estimate.std_error > 0:  # as many labels as would explain the standard error of a half
        fallback = 0.25 / estimate.std_error**2
    if not estimate.std_error > 0:  # all labels agreed with the estimate: their number is all there is to go by
        return wilson_interval(estimate.value, max(fallback, 1.0), level)
    return wilson_effective_interval(estimate.value, estimate.std_error, level, df=estimate.df, n=fallback)


def _clopper_pearson(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    _require_proportion(estimate, "clopper_pearson")
    return clopper_pearson_interval(estimate.value * estimate.n_labels, estimate.n_labels, level)


def _fieller(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    """Fieller's interval for a ratio of pool means, from the estimated covariance of its parts, or for two ratios."""
    if estimate.pivot is not None:
        return inverted_interval(estimate.value, estimate.pivot.at, level, bounds=estimate.bounds)
    evidence = _evidence(estimate, "fieller")
    require_interval("fieller", evidence.contrast.functional, compares=evidence.contrast.compares)
    ratio = evidence.contrast.functional.ratio
    assert ratio is not None
    (model, _), fit = evidence.contrast.weights[0], evidence.fit
    parts = [_linear_fit(evidence, coefficients, model) for coefficients in ratio]
    residuals = np.stack([part.residuals for part in parts])
    spread = evidence.sample.expansion.spread
    covariance = np.einsum("u,au,bu->ab", spread, residuals, residuals)
    own = float(np.sum(spread * fit.residuals**2))
    top, bottom = (part.value for part in parts)
    if own > ROUNDING * estimate.std_error**2:
        covariance *= estimate.std_error**2 / own
    else:  # labels that all agree do not show the standard error, which is that of the numerator then
        covariance[0, 0] += (estimate.std_error * bottom) ** 2
    return fieller_interval(
        top, bottom, covariance[0, 0], covariance[1, 1], covariance[0, 1], level, bounds=estimate.bounds
    )


def _linear_fit(evidence: Evidence, coefficients: Floats, model: int) -> Fit:
    """Return the estimate of a linear function of the same pool means."""
    return evidence.estimation.around(evidence.contrast.part(model, coefficients), evidence.fit)


def _bootstrap(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    """Percentiles of the estimate over samples whose units are drawn again with replacement, some of every stage.

    Labels that all agree are alike however they are drawn again, and do not show the standard error: it is Student's.
    """
    evidence = _evidence(estimate, "bootstrap")
    if generator is None and estimate.generator is None:
        raise InputError("interval 'bootstrap' needs generator=numpy.random.default_rng(...)")
    require_interval("bootstrap", evidence.contrast.functional, compares=evidence.contrast.compares)
    values = estimate.resampled if generator is None else evidence.resampled(generator)
    found = percentile_interval(values, level, estimate.bounds)
    alike = found.width <= ROUNDING * max(abs(estimate.value), estimate.std_error)
    return _t(estimate, level, None) if alike else found


def _require_proportion(estimate: Estimate, kind: str) -> None:
    if not estimate.proportion:
        raise InputError(f"interval {kind!r} is for proportions, not {estimate.measure!r}; use 't'")


def _evidence(estimate: Estimate, kind: str) -> Evidence:
    if estimate.evidence is None:
        raise InputError(f"interval {kind!r} needs the labelled sample, which this estimate does not carry")
    return estimate.evidence


def _anytime(estimate: Estimate, level: float, generator: np.random.Generator | None) -> Interval:
    return estimate.in_order().interval(level)


INTERVALS: dict[str, Callable[[Estimate, float, np.random.Generator | None], Interval]] = {
    "auto": _auto,
    "wald": _wald,
    "t": _t,
    "wilson": _wilson,
    "wilson_effective": _wilson_effective,
    "clopper_pearson": _clopper_pearson,
    "hypergeometric": _hypergeometric,
    "fieller": _fieller,
    "bootstrap": _bootstrap,
    "anytime": _anytime,
}
