r"""Estimates on parts of a labelled sample: the items of a language, a customer, a month.

What was drawn for the whole pool is, restricted to a part, a sample of that part with the same probabilities. The
Hajek estimate divides by the part's own weight, which is unknown:
:math:`\hat\mu_S = \sum_{u \in S} w_u b_u s_u / \sum_{u \in S} w_u b_u`. Nothing of the pool's part is believed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.comparisons import Contrast
from sondage.core.estimators import Fit, hajek
from sondage.core.evidence import Evidence
from sondage.core.measures.bases import ROUNDING
from sondage.core.plausible import PlausibleErrors, errors_with_kinks, plausible_errors, reckoned_with
from sondage.core.possible import unrefuted_limits
from sondage.core.predictions import Floats
from sondage.core.ratios import unknown_variance
from sondage.core.residuals import larger_variance
from sondage.core.results import Estimate
from sondage.core.samples import Expansion, Known, LabelledStage, Sample, effective_number
from sondage.core.stages import Estimation
from sondage.core.unexpected import unexpected
from sondage.core.variances import plausible_variance, unseen_variance, variance_slope
from sondage.errors import InputError

__all__ = ["domain_estimate", "is_known_of_parts"]


def domain_estimate(estimate: Estimate, inside: NDArray[np.bool_], *, drawable: bool = False) -> Estimate:
    """Return the estimate of the same measure on the part of the pool that some labelled units stand for.

    Parameters
    ----------
    estimate : Estimate
        Of the whole pool, with its evidence.
    inside : ndarray of bool, shape (n,)
        Which labelled units are of the part.
    drawable : bool
        Of the items of the part that could be drawn only; of two models these may be those on which they differ.

    Returns
    -------
    Estimate
        With target "pool"; the value is NaN where the part's labels leave it undefined.

    Raises
    ------
    InputError
        If no unit is inside, or the items that could not be drawn, of which the part's share is not known, matter.

    Examples
    --------
    >>> from sondage import estimate_from
    >>> f, y = [0, 0, 1, 1], [0, 1, 1, 1]
    >>> found = estimate_from("error_rate", predictions=f, labels=y, inclusion=[0.5, 0.25, 1, 1])
    >>> round(domain_estimate(found, np.array([True, True, False, False])).value, 4)
    0.6667
    """
    evidence = estimate.evidence
    if evidence is None or not inside.any():
        raise InputError("an estimate of a part needs labelled items of it")
    if not drawable and not is_known_of_parts(evidence):
        raise InputError(
            "items that could not be drawn matter, and how many of them are in a part of the pool is not known"
        )
    contrast, belief = evidence.contrast, evidence.estimation.belief
    sample = _restricted(evidence.sample, inside)
    known = Known(1.0, None, {}, {}, float(np.sum(sample.row_weights * sample.items.weights)))
    fit = hajek(contrast, sample, known)
    exact = estimate.exact and not np.any(sample.expansion.spread)
    weights = sample.unit_expanded
    return replace(
        estimate,
        value=fit.value,
        **_uncertainty(evidence, sample, fit, exact),
        pivot=None,
        n_labels=sample.size,
        target="pool",
        exact=exact,
        interval_kind="auto",
        possible=estimate.bounds,
        unrefuted=unrefuted_limits(contrast, [(1.0, sample)]),
        unexpected=unexpected(contrast, [(1.0, sample, belief)], fit.sums, "pool"),
        n_effective=effective_number(weights),
        largest_weight=float(weights.max() / weights.sum()),
        n_pending=0,
        n_skipped=0,
        if_skipped=None,
        warnings=(),
        counts=None,
        evidence=Evidence(contrast, Estimation(sample, (LabelledStage(sample, known),), hajek, belief), fit),
        course=None,
    )


def _uncertainty(evidence: Evidence, sample: Sample, fit: Fit, exact: bool) -> dict[str, Any]:
    """Return what an estimate says of its error, from the part's labels and the belief that all labels leave."""
    contrast, belief, told = evidence.contrast, evidence.estimation.belief, evidence.sample
    variance, df, errors, slope, defined = fit.variance, fit.df, None, 0.0, np.isfinite(fit.value)
    if not exact and belief is not None and defined:
        believed = plausible_variance(contrast, sample, fit.sums, belief, told=told)
        if contrast.compares and variance <= ROUNDING * believed:  # no label shows a difference
            variance, df = max(believed, unseen_variance(contrast, sample, fit.sums)), max(sample.size - 1.0, 1.0)
        else:
            variance, df = map(float, larger_variance(variance, df, believed))
        variance += unknown_variance(contrast, sample, fit.sums)
        beliefs = reckoned_with(contrast, belief, told)

        def off(part: Contrast) -> PlausibleErrors | None:
            return plausible_errors(part, sample, fit.sums, beliefs)

        errors = errors_with_kinks(contrast, fit.sums, fit.value, off)
    std_error = float(np.sqrt(variance + fit.bias**2)) if variance > 0 or exact else float("nan")
    if std_error > 0 and defined and contrast.has_slope:
        inclusion = sample.expansion.inclusion
        slope = variance_slope(
            contrast, sample, fit.sums, fit.residuals, belief=belief, inclusion=inclusion, std_error=std_error
        )
    return {"std_error": std_error, "df": df, "slope": slope, "plausible": errors}


def is_known_of_parts(evidence: Evidence) -> bool:
    """Return whether every item that matters could be drawn, whatever a part's share of the others."""
    known, contrast = evidence.before, evidence.contrast
    if known.all_drawable or not known.outside:
        return True
    ratio, basis = contrast.functional.ratio, contrast.functional.basis.name
    return not (ratio is None or contrast.compares or any(_touches(known, basis, contrast, part) for part in ratio))


def _touches(known: Known, basis: str, contrast: Contrast, coefficients: Floats) -> bool:
    outside = known.outside[basis, contrast.models[0]]
    return bool(np.sum(np.abs(coefficients * outside)) > 1e-9)


def _restricted(sample: Sample, inside: NDArray[np.bool_]) -> Sample:
    """Return the units inside, their rows' base weights scaled to sum to 1 over the part."""
    rows = np.flatnonzero(sample.of_rows(inside))
    units = None if sample.units is None else (np.cumsum(inside) - 1)[sample.units[rows]]
    strata = None if sample.expansion.strata is None else sample.expansion.strata[inside]
    expansion = Expansion(sample.expansion.weights[inside], sample.expansion.spread[inside], strata)
    kept = Sample(sample.items.take(rows), sample.labels[rows], expansion, units)
    scaled = kept.items.weights / float(np.sum(kept.row_weights))
    return replace(kept, items=replace(kept.items, weights=scaled))
