"""Calibrations that events, or labels, leave possible, with lapses: quantiles of their posterior distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sondage.core.calibration.events import CountedOdds, counted_odds, likelihood
from sondage.core.calibration.grid import (
    CELL_SHIFTS,
    CELL_SLOPES,
    IDENTITY,
    LAPSES,
    Calibration,
    Lapses,
    log_priors,
    posterior_mean,
)
from sondage.core.predictions import Floats

__all__ = ["plausible_events", "plausible_lapses"]

MOST_LAPSES = 0.5
"""The largest share of lapses."""
LEAST_SHIFT = 1e-9
"""A smaller shift is none, but for rounding."""

_IN_ORDER, _MIRRORED = np.lexsort((CELL_SHIFTS, CELL_SLOPES)), np.lexsort((-CELL_SHIFTS, CELL_SLOPES))
"""Cells by slope and then shift, ascending and descending."""


def plausible_events(
    logits: Floats,
    events: NDArray[np.bool_],
    weights: Floats,
    count: int,
    *,
    offsets: Floats | None = None,
    chance: float = 0.5,
    prior: Lapses = LAPSES,
    among: Floats | None = None,
) -> tuple[Calibration, ...]:
    r"""Return calibrations that such events leave possible, each as likely as another.

    An event of log odds x and offset o happens with :math:`(1 - \lambda) q + \lambda c`, where
    :math:`\mathrm{logit} \, q = a + b x + o`. The points are quantiles
    of the posterior in the order of lapses, slope and shift, at the middles of `count` equal shares; without events
    nothing is known to be moved, and only the identity is returned.

    With `among` lapses are of two kinds, as likely one as the other before any label. Either labels that are not the
    event have the shares r of these that were believed, and events alone tell of lapses. Or each label is as likely:
    one that is not the event has :math:`(1 - \lambda) (1 - q) r + \lambda c`.

    Parameters
    ----------
    logits, events
        As for `calibrate_events`.
    weights : ndarray of float, shape (n,)
        How many events each stands for, on any scale: lapses are measured by the doubt that the pool's events leave, or
        the least that the prior takes.
    count : int
        How many points, at least 1.
    offsets : ndarray of float, shape (n,), optional
        What is added to the log odds after calibration.
    chance : float
        The probability c of an event that was told nothing, in (0, 1).
    prior : Lapses
        What is believed of lapses before any label.
    among : ndarray of float, shape (n,), optional
        r of the labels that are not the event, in (0, 1]; the others' is not looked at.

    Returns
    -------
    tuple of Calibration, of length `count` or 1
        Without log evidence, which is that of `calibrate_events`.

    Examples
    --------
    >>> sure = np.full(50, 9.0)
    >>> [round(point.lapse, 4) for point in plausible_events(sure, np.ones(50, dtype=bool), np.ones(50), 4)]
    [0.0, 0.0, 0.0, 0.0005]
    """
    if not len(logits):
        return (IDENTITY,)
    beyond = np.zeros(len(logits)) if offsets is None else offsets
    counted = counted_odds(logits, events, beyond)
    log_likelihood = likelihood(counted)
    mean = posterior_mean(log_likelihood)
    surprise = expit(-np.abs(mean.shift + mean.slope * logits + beyond))
    lapses = _shares(surprise, weights, chance, prior)
    kinds = {False: _of_misses(counted, lapses, chance)}  # by whether other labels are in proportion
    if among is not None:
        missed = np.flatnonzero(~events)
        kinds = {True: kinds[False], False: _of_labels(logits[missed], beyond[missed], chance / among[missed], lapses)}
    priors, order = log_priors(prior), _MIRRORED if chance == 0.5 and mean.shift < -LEAST_SHIFT else _IN_ORDER
    log_likelihoods = _of_hits(counted, lapses, chance)[:, None] + np.stack(list(kinds.values()), axis=1)
    lapsing = priors[1:, None] + log_likelihoods - np.log(len(kinds))
    log_posterior = np.vstack([priors[0] + log_likelihood, *lapsing])[:, order].ravel()
    which, cells = np.divmod(_quantiles(log_posterior, count), len(order))
    found = [IDENTITY, *(Calibration(lapse=lapse, in_proportion=kind) for lapse in lapses.tolist() for kind in kinds)]
    return tuple(
        replace(found[row], shift=float(CELL_SHIFTS[cell]), slope=float(CELL_SLOPES[cell]))
        for row, cell in zip(which, order[cells], strict=True)
    )


def plausible_lapses(
    told: Floats, surprises: Floats, weights: Floats, count: int, *, chance: Floats, prior: Lapses = LAPSES
) -> tuple[Calibration, ...]:
    r"""Return lapses that such labels leave possible, each as likely as another: calibrations that move nothing else.

    A label of probability p, which one of k by chance has with c = 1 / k, has :math:`(1 - \lambda) p + \lambda c`.

    Parameters
    ----------
    told, surprises : ndarray of float, shape (n,)
        The believed probability of each label, and of all but the likeliest that it could have been.
    weights, count, prior
        As for `plausible_events`.
    chance : ndarray of float, shape (n,)
        c.

    Examples
    --------
    >>> sure, third = np.full(50, 0.999), np.full(50, 1 / 3)
    >>> [round(one.lapse, 4) for one in plausible_lapses(sure, 1 - sure, np.ones(50), 4, chance=third)]
    [0.0, 0.0, 0.0, 0.0015]
    """
    if not len(told):
        return (IDENTITY,)
    lapses = np.append(0.0, _shares(surprises, weights, float(np.mean(chance)), prior))
    log_likelihoods = np.log(np.outer(1.0 - lapses, told) + np.outer(lapses, chance)).sum(axis=1)
    which = _quantiles(np.logaddexp.reduce(log_priors(prior), axis=1) + log_likelihoods, count)
    return tuple(Calibration(lapse=float(lapse)) for lapse in lapses[which])


def _shares(surprises: Floats, weights: Floats, chance: float, prior: Lapses) -> Floats:
    """Return the positive shares of lapses that there may be."""
    doubt = max(float(np.sum(weights * surprises) / np.sum(weights)), prior.least) / (1.0 - chance)
    return np.minimum(np.multiply(prior.rates, doubt), MOST_LAPSES)


def _quantiles(log_posterior: Floats, count: int) -> NDArray[np.int64]:
    """Return which of these are at the middles of so many equal shares of their distribution."""
    reached = np.cumsum(np.exp(log_posterior - log_posterior.max()))
    return np.asarray(np.searchsorted(reached, reached[-1] * (np.arange(count) + 0.5) / count))


def _of_hits(counted: CountedOdds, lapses: Floats, chance: float) -> Floats:
    """Return the log likelihood of the events under every calibration with each share of lapses, (lapses, cells)."""
    hit = counted.hits > 0
    return _with_lapses(expit(counted.moved[hit]), counted.hits[hit], lapses, chance)


def _of_misses(counted: CountedOdds, lapses: Floats, chance: float) -> Floats:
    """Return the same of what was not the event, whichever labels these are."""
    missed = counted.misses > 0
    return _with_lapses(expit(-counted.moved[missed]), counted.misses[missed], lapses, 1.0 - chance)


def _of_labels(logits: Floats, offsets: Floats, chances: Floats, lapses: Floats) -> Floats:
    """Return the same of labels that are not the event, which have these chances in units of their shares r."""
    rows = np.round(np.column_stack([logits, offsets, np.log(chances)]), 1)
    values, counts = np.unique(rows, axis=0, return_counts=True)
    odds, beyond, logs = values.T[:, :, None]
    told = expit(-(CELL_SHIFTS + CELL_SLOPES * odds + beyond))
    return _with_lapses(told, counts.astype(np.float64), lapses, np.exp(logs))


def _with_lapses(told: Floats, counts: Floats, lapses: Floats, chance: float | Floats) -> Floats:
    """Return the same of what happened so often, each with a probability that was told, (U, cells), or by chance."""
    logs, found = np.empty_like(told), []
    for lapse in lapses:
        np.multiply(told, 1.0 - lapse, out=logs)
        logs += lapse * chance
        found.append(counts @ np.log(logs, out=logs))
    return np.stack(found)
