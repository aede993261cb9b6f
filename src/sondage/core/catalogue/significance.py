"""Tests of a difference, by name."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sondage.core.checks import require_generator, require_known
from sondage.core.measures import Functional
from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.results import Estimate, Significance
from sondage.core.significance import (
    bootstrap_test,
    counted_test,
    mcnemar_test,
    null_difference,
    permutation_test,
    refutes,
    t_test,
    wald_test,
)
from sondage.errors import InputError

__all__ = ["TESTS", "UNCOUNTED", "named_test", "require_fit"]

UNCOUNTED = (
    "{} 'hypergeometric' counts answers to uniform draws among the items where two classifiers differ; "
    "use it with the default design, equal weights, error_rate or accuracy, and the pool as target"
)


def named_test(
    estimate: Estimate,
    kind: str,
    alternative: str = "two-sided",
    *,
    margin: float = 0.0,
    generator: np.random.Generator | None = None,
) -> Significance:
    """Return the test of this name that a difference is 0, or one-sided with a margin.

    An exact difference is not in doubt: its p-value is 0, or 1 where it does not contradict the null hypothesis. Labels
    that all agree tell nothing of a population's difference, unless they are counted.

    Parameters
    ----------
    estimate : Estimate
        Of the difference.
    kind : str
        One of `TESTS`.
    alternative : {"two-sided", "less", "greater"}
        What is to be shown about the difference.
    margin : float
        Of a one-sided test: by how much the null hypothesis is moved (`null_difference`).
    generator : numpy.random.Generator, optional
        Source of random numbers for ``"bootstrap"``, and for ``"permutation"`` of many items; by default the estimate's
        own.

    Raises
    ------
    InputError
        If there is no such test, it does not fit the draw or the measure, or the margin does not fit the alternative.
    """
    require_known("test", kind, TESTS)
    require_generator(generator)
    null = null_difference(alternative, margin)
    untold = estimate.std_error == 0 and estimate.target == "population" and estimate.counts is None
    if not np.isfinite(estimate.value) or np.isnan(estimate.std_error) or untold:
        return Significance(float("nan"), 1.0, alternative, "undefined")
    if estimate.exact and estimate.target == "pool":
        gap = estimate.value - null
        gap = 0.0 if abs(gap) <= ROUNDING * abs(null) else gap
        against = refutes(gap, alternative)
        return Significance(float(np.sign(gap) * np.inf) if gap else 0.0, 0.0 if against else 1.0, alternative, "exact")
    return TESTS[kind](estimate, alternative, margin, estimate.own_generator() if generator is None else generator)


def require_fit(kind: str, functional: Functional, margin: float) -> None:
    """Refuse a test of items one by one where it does not fit: with a margin, or the wrong kind of measure.

    None of them holds for a measure with kinks, and McNemar's only for the mean of a zero-one loss.

    Parameters
    ----------
    kind : str
        Name of the test.
    functional : Functional
        What is compared.
    margin : float
        Of the question.

    Raises
    ------
    InputError
        If the test does not fit, whatever the labels are.
    """
    if kind not in _ITEM_BY_ITEM:
        return
    if margin:
        raise InputError(f"test {kind!r} tests against 0 only; use 't' for a margin")
    if functional.corrected is not None:
        raise InputError(f"test {kind!r} does not hold for {functional.name!r}, which has kinks; use 't'")
    if kind == "mcnemar" and not functional.linear:
        raise InputError(f"test 'mcnemar' is for zero-one losses, not for {functional.name!r}; use 't'")


def _auto(estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None) -> Significance:
    """Count where the sample allows it, else Student's t; counts tell nothing of a margin in a population.

    The standard error of a difference of two ratios is that which it has if the null hypothesis is true; one that grows
    with the difference is so where that is larger.
    """
    null = null_difference(alternative, margin)
    if estimate.pivot is not None:
        variance, df = estimate.pivot.at(null)
        return t_test(estimate.value, math.sqrt(variance), float(df), alternative, margin=margin)
    if estimate.counts is not None and not (margin and estimate.target == "population"):
        return counted_test(estimate.counts, alternative, margin=margin, target=estimate.target)
    grown = max(estimate.slope * (null - estimate.value), 0.0)
    std_error = math.hypot(estimate.std_error, math.sqrt(grown))
    return t_test(estimate.value, std_error, estimate.df, alternative, margin=margin)


def _hypergeometric(
    estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None
) -> Significance:
    if estimate.counts is None or estimate.target != "pool":
        raise InputError(UNCOUNTED.format("test"))
    return counted_test(estimate.counts, alternative, margin=margin)


def _wald(estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None) -> Significance:
    return wald_test(estimate.value, estimate.std_error, alternative, margin=margin)


def _t(estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None) -> Significance:
    return t_test(estimate.value, estimate.std_error, estimate.df, alternative, margin=margin)


def _mcnemar(
    estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None
) -> Significance:
    differences, weights = _differences(estimate, "mcnemar", margin)
    decisive = differences[differences != 0]
    if len(decisive) and not np.allclose(np.abs(decisive), np.abs(decisive[0])):
        raise InputError("test 'mcnemar' is for zero-one losses and equal base weights")
    if not np.allclose(weights[differences != 0], weights[differences != 0][:1]):
        raise InputError(
            "test 'mcnemar' needs equal draws in one stage; use design='active_neq' or 'passive' with floor=0, stages=1"
        )
    return mcnemar_test(int(np.sum(decisive > 0)), int(np.sum(decisive < 0)), alternative)


def _permutation(
    estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None
) -> Significance:
    differences, weights = _differences(estimate, "permutation", margin)
    return permutation_test(differences, alternative, weights=weights, generator=generator)


def _bootstrap(
    estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None
) -> Significance:
    differences, weights = _differences(estimate, "bootstrap", margin)
    if generator is None:
        raise InputError("test 'bootstrap' needs generator=numpy.random.default_rng(...)")
    return bootstrap_test(differences, alternative, weights=weights, generator=generator)


def _anytime(
    estimate: Estimate, alternative: str, margin: float, generator: np.random.Generator | None
) -> Significance:
    found = estimate.in_order().evalue(null_difference(alternative, margin), alternative)
    return Significance(found.log_evalue, found.pvalue, alternative, "anytime")


def _differences(estimate: Estimate, kind: str, margin: float) -> tuple[Floats, Floats]:
    """Return each unit's difference in loss and its expansion weight."""
    if estimate.evidence is None:
        raise InputError(f"test {kind!r} needs the labelled sample, which this result does not carry")
    require_fit(kind, estimate.evidence.contrast.functional, margin)
    fit, sample = estimate.evidence.fit, estimate.evidence.sample
    weights = sample.unit_expanded
    differences = sample.unit_sums(sample.items.weights * (fit.influence + estimate.value)) / sample.unit_base
    return differences, weights


TESTS: dict[str, Callable[[Estimate, str, float, np.random.Generator | None], Significance]] = {
    "auto": _auto,
    "wald": _wald,
    "t": _t,
    "hypergeometric": _hypergeometric,
    "mcnemar": _mcnemar,
    "permutation": _permutation,
    "bootstrap": _bootstrap,
    "anytime": _anytime,
}

_ITEM_BY_ITEM = ("mcnemar", "permutation", "bootstrap")
