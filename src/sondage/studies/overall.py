"""One estimate of the whole from the sessions of its slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sondage.core.biases import corrected_value
from sondage.core.catalogue.beliefs import Expectation, uninformed_belief
from sondage.core.comparisons import Contrast, Sums
from sondage.core.estimators import Fit
from sondage.core.measures.bases import ROUNDING
from sondage.core.possible import outward, unrefuted_limits, within
from sondage.core.predictions import Floats
from sondage.core.ratios import believed_stages, denominator_labels, ratios_from_labels
from sondage.core.residuals import joint_degrees, of_population
from sondage.core.results import Estimate
from sondage.core.samples import LabelledStage, Sample
from sondage.core.unexpected import unexpected
from sondage.pools import Pool
from sondage.studies.fitting import immovable
from sondage.studies.proven import proven_range
from sondage.studies.remarks import of_undefined
from sondage.studies.responses import Labelled
from sondage.studies.session import Session
from sondage.studies.uncertainty import FittedContrast, before_labels, plausible_errors_of, slope_at, squared_error

__all__ = ["LabelledSlice", "overall_estimate"]

NEEDS_SAMPLE = ("fieller", "bootstrap", "anytime")
"""Intervals that go back to one sample, which slices have not."""


@dataclass(frozen=True, eq=False)
class LabelledSlice:
    """A slice with its labels.

    Attributes
    ----------
    name : object
        What it is called.
    pool : Pool
        What was drawn from.
    share : float
        Its base weight in the whole; those of all slices sum to 1.
    session : Session
        The draw and its labels.
    labelled : Labelled
        These, ready for estimators.
    """

    name: Any
    pool: Pool
    share: float
    session: Session
    labelled: Labelled


@dataclass(frozen=True, eq=False)
class _Slice(LabelledSlice):
    """The same with its fit and its estimate by one measure."""

    fit: Fit
    estimate: Estimate


@dataclass(frozen=True, eq=False)
class _Whole:
    """What the slices make together.

    `before` and `sums` are the joined pool means, believed before any label and estimated; `moved` has each slice's fit
    linearised at the latter, `bias` bounds what is left of a bias in the value.
    """

    slices: Sequence[_Slice]
    contrast: Contrast
    before: Sums
    sums: Sums
    value: float
    bias: float
    moved: Sequence[FittedContrast]

    @property
    def samples(self) -> list[tuple[float, Sample]]:
        """Each slice's share, and its labelled rows with the weights that these have in it."""
        return [(one.share, one.labelled.estimation.merged(one.fit.shares)) for one in self.slices]

    @property
    def stages(self) -> list[LabelledStage]:
        """The stages of all slices, and what was believed before them, where estimates use it."""
        return [stage for one in self.slices for stage in believed_stages(one.fit, one.labelled.estimation)]


def overall_estimate(drawn: Sequence[LabelledSlice], contrast: Contrast, estimates: Mapping[Any, Estimate]) -> Estimate:
    r"""Return the value at the joined pool means, :math:`g(\sum_h W_h \hat\mu_h)`, and its uncertainty.

    The measure is linearised once, at the joined means; slices are drawn independently given the past, so the
    variances of their parts add, :math:`\sum_h W_h^2 V_h`.

    Parameters
    ----------
    drawn : sequence of LabelledSlice
        The slices, all with the same question and task.
    contrast : Contrast
        One of the question's measures.
    estimates : mapping of name to Estimate
        Of each slice by it.
    """
    whole = _whole_of(drawn, contrast, estimates)
    slices, value, samples = whole.slices, whole.value, whole.samples
    method, own, effective = slices[0].session.method, [one.estimate for one in slices], _effective(whole)
    squares, degrees = _squared_errors(whole)
    total, df = float(squares.sum()) + whole.bias**2, joint_degrees(squares, degrees)
    if method.target == "population":
        total, df = of_population(total, df, _population_part(whole), effective)
    beyond = [str(one.name) for one in slices if _matters_beyond(one, contrast, whole.sums)]
    beliefs = [(*told, one.labelled.belief) for told, one in zip(samples, slices, strict=True)]
    possible = proven_range([(one.share, one.session, one.labelled) for one in slices], contrast)
    exact = all(one.labelled.exact for one in slices) and not beyond
    if possible[1] - possible[0] <= ROUNDING:
        exact, total = True, 0.0
    return replace(
        own[0],
        value=within(value, *possible),
        std_error=float(np.sqrt(total)) if np.isfinite(value) and not beyond else float("nan"),
        n_labels=sum(one.n_labels for one in own),
        exact=exact,
        interval_kind="auto" if method.interval in NEEDS_SAMPLE else method.interval,
        possible=outward(*possible, contrast.bounds),
        unrefuted=unrefuted_limits(contrast, samples),
        ratios=ratios_from_labels(contrast, samples, whole.sums[contrast.models[0]], whole.stages),
        slope=_slope(whole, squares, total),
        plausible=plausible_errors_of(
            *((one.share, fitted) for one, fitted in zip(slices, whole.moved, strict=True)), value=value
        ),
        unexpected=unexpected(contrast, beliefs, whole.sums, method.target),
        pivot=None,
        df=df,
        n_effective=effective,
        largest_weight=max(one.share * one.estimate.largest_weight for one in slices),
        n_pending=sum(one.n_pending for one in own),
        n_skipped=sum(one.n_skipped for one in own),
        if_skipped=None,
        spent=float(sum(one.spent for one in own)),
        warnings=(*_remarks(slices, beyond), *of_undefined(contrast, value, more=not exact)),
        evidence=None,
        course=None,
    )


def _whole_of(drawn: Sequence[LabelledSlice], contrast: Contrast, estimates: Mapping[Any, Estimate]) -> _Whole:
    """Return the slices joined at their pool means: those before any label if no label can move any."""
    slices = [
        _Slice(**vars(one), fit=one.labelled.estimation.fit(contrast), estimate=estimates[one.name]) for one in drawn
    ]
    before = _joined(slices, contrast, [before_labels(one.session, contrast) for one in slices])
    slices = [replace(one, labelled=replace(one.labelled, exact=_exact(one, contrast, before))) for one in slices]
    told = all(immovable(one.session) and not _share_that_matters(one, contrast, before) for one in slices)
    sums = before if told else _joined(slices, contrast, [one.fit.sums for one in slices])
    value, bias = _value(slices, contrast, sums)
    moved = [FittedContrast(one.session, one.labelled, contrast, _at(one, contrast, sums, value)) for one in slices]
    return _Whole(slices, contrast, before, sums, value, bias, moved)


def _squared_errors(whole: _Whole) -> tuple[Floats, Floats]:
    """Return each slice's part of the whole's variance, and its degrees of freedom."""
    parts = [_squared_error(*both, whole.before) for both in zip(whole.slices, whole.moved, strict=True)]
    squares = [one.share**2 * part[0] for one, part in zip(whole.slices, parts, strict=True)]
    return np.array(squares), np.array([part[1] for part in parts])


def _squared_error(one: _Slice, fitted: FittedContrast, before: Sums) -> tuple[float, float]:
    """Return the same of one slice, in units of the whole: nothing beside a far larger value, it may be known."""
    variance, df, agreed = squared_error(fitted, before)
    if agreed and np.isnan(variance) and not squared_error(replace(fitted, fit=one.fit))[2]:
        variance, df, _ = squared_error(fitted, before, spread=True)
    return variance, df


def _remarks(slices: Sequence[_Slice], beyond: Sequence[str]) -> Iterator[str]:
    """Yield what a reader must know of each slice, and of those where items matter for the whole only."""
    for one in slices:
        yield from (f"{one.name}: {text}" for text in one.estimate.warnings)
    if beyond:
        value_rests = "items that matter for the whole only were not drawn: its value rests on predicted labels there"
        yield f"{', '.join(beyond)}: {value_rests}"


def _slope(whole: _Whole, squares: Floats, total: float) -> float:
    """Return how fast the variance grows with the value: the slices' third cumulants over their variances."""
    if not (np.isfinite(total) and squares.sum() > 0):
        return 0.0
    std_error, both = float(np.sqrt(total)), zip(whole.slices, whole.moved, strict=True)
    slopes = [one.share * slope_at(fitted, std_error / one.share) for one, fitted in both]
    return float(np.average(slopes, weights=squares / squares.sum()))


def _joined(slices: Sequence[_Slice], contrast: Contrast, sums: Sequence[Sums]) -> dict[int, Floats]:
    """Return the pool means of the whole from those of the slices."""
    return {
        model: np.sum([one.share * mu[model] for one, mu in zip(slices, sums, strict=True)], axis=0)
        for model in contrast.models
    }


def _value(slices: Sequence[_Slice], contrast: Contrast, sums: Sums) -> tuple[float, float]:
    """Return the value of the whole, and the bound of its bias where the measure has kinks."""

    def variance_of(part: Contrast) -> float:
        return sum(one.share**2 * one.labelled.estimation.around(part, one.fit).variance for one in slices)

    return corrected_value(contrast, dict(sums), variance_of)


def _at(one: _Slice, contrast: Contrast, sums: dict[int, Floats], value: float) -> Fit:
    """Return a slice's fit linearised at the joined pool means; a linear measure's is the same everywhere."""
    if contrast.functional.linear:
        return one.fit
    return replace(one.labelled.estimation.around(contrast, replace(one.fit, sums=sums)), value=value)


def _exact(one: _Slice, contrast: Contrast, before: Sums) -> bool:
    """Return whether a slice's part in the whole is known; that no label moves the slice's own ratio is not enough."""
    if one.labelled.exact or not one.estimate.exact:
        return one.labelled.exact
    return contrast.functional.linear or not _share_that_matters(one, contrast, before)


def _matters_beyond(one: _Slice, contrast: Contrast, sums: Sums) -> bool:
    """Return whether items can move the value of the whole that, unable to move the slice's, were never drawn from."""
    known, functional = one.session.stages[0].known, contrast.functional
    if functional.linear or functional.corrected is not None or not one.labelled.covers or known.all_drawable:
        return False
    return _share_that_matters(one, contrast, sums) > known.share + 1e-9


def _share_that_matters(one: _Slice, contrast: Contrast, sums: Sums) -> float:
    """Return the share of a slice's items whose labels can move the value of the whole."""
    models = tuple(one.pool.model(name) for name in one.session.question.models)
    uninformed = uninformed_belief(Expectation(one.pool.task, one.pool.outline, models, one.pool.models))
    return one.pool.share_of(one.pool.relevant([contrast.influence(sums)], uninformed))


def _population_part(whole: _Whole) -> float:
    """Return the whole pool's share in the error for a population: the influence varies within and between slices."""
    influence = whole.contrast.influence(whole.sums)
    squared = spread = 0.0
    for one, fitted in zip(whole.slices, whole.moved, strict=True):
        mean = sum(float(np.sum(a * one.fit.sums[model])) for model, a in influence.terms) - influence.constant
        squared += one.share**2 * one.labelled.known.squared
        spread += one.share * (fitted.fit.spread + fitted.sample.together * mean**2)
    return squared * spread


def _effective(whole: _Whole) -> float:
    """Return the effective number of labels; of a proportion those in its denominator, as for one pool."""
    slices, ratio, model = whole.slices, whole.contrast.functional.ratio, whole.contrast.models[0]
    parts = np.array([1.0 if ratio is None else float(np.sum(ratio[1] * one.fit.sums[model])) for one in slices])
    parts = parts * np.array([one.share for one in slices])
    counts = np.array([denominator_labels(one.estimate) for one in slices])
    there = (parts > 0) & (counts > 0)
    return float(parts[there].sum() ** 2 / np.sum(parts[there] ** 2 / counts[there])) if there.any() else 0.0
