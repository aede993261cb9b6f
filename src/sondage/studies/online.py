"""Online stratified sampling: the next stratum follows the deviations seen so far (Bennett and Carvalho)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import ROUNDING
from sondage.core.predictions import Floats
from sondage.core.strata import next_stratum, stratum_deviations
from sondage.studies.labels import label_array

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["next_position"]


def next_position(session: Session) -> int:
    """Return the position of the next item: a stratum by its weight times its deviation, then its next item by key."""
    drawn = session.stage.drawn
    strata, numbers = drawn.strata, np.asarray(drawn.settings["numbers"])
    taken = np.bincount(strata[session.asked], minlength=len(numbers))
    sizes = numbers * _base_weights(session, strata, len(numbers)) * _deviations(session, strata, len(numbers))
    left = taken < np.bincount(strata, minlength=len(numbers))
    sizes = np.where(left, sizes, 0.0)
    if not sizes.any():  # beside the weights of others those of what is left are next to nothing
        sizes = left.astype(np.float64)
    chosen = next_stratum(sizes, session.stage.seed, session.stage.number, len(session.asked))
    return int(np.flatnonzero(strata == chosen)[taken[chosen]])


def _base_weights(session: Session, strata: NDArray[np.int64], n_strata: int) -> Floats:
    """Return the root of each stratum's mean square base weight, over the units drawn from it."""
    units = np.arange(len(strata)) if session.units is None else session.units
    base = np.bincount(units, weights=np.broadcast_to(session.items.weights, len(units)), minlength=len(strata))
    counts = np.bincount(strata, minlength=n_strata)
    return np.asarray(np.bincount(strata, weights=base**2, minlength=n_strata) / np.maximum(counts, 1)) ** 0.5


def _deviations(session: Session, strata: NDArray[np.int64], n_strata: int) -> Floats:
    """Return each stratum's deviation of the influence of the labels so far; 1 each before any."""
    contrast = session.contrasts[0]
    basis, sums = contrast.functional.basis, session.stage.known.means_of(contrast)
    # Where influences cancel, the last bits of the sums would be all that is left.
    influence = contrast.influence({model: basis.rounded(mu) for model, mu in sums.items()})
    influence = replace(influence, constant=0.0)  # beside that of variances beyond all bounds nothing shows
    given = {p: label for p in session.asked if (label := session.answers.get(p)) is not None}
    answered = list(given)
    if not answered:
        return np.ones(n_strata)
    rows = np.array(answered) if session.units is None else np.searchsorted(session.units, answered)
    labels = label_array(list(given.values()), session.task)
    psi = np.asarray(influence.at(session.items.take(rows), labels), dtype=np.float64)
    prior = max(float(np.var(psi)), ROUNDING * float(np.mean(np.square(psi)))) or 1.0
    return stratum_deviations(psi, strata[answered], n_strata, prior)
