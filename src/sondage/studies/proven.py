"""What a session's labels prove of a measure, whatever the labels are that it has not asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.core.catalogue.intervals import OWN
from sondage.core.comparisons import Contrast
from sondage.core.measures.bases import Confusion, OutcomeValue
from sondage.core.possible import possible_mean, possible_values
from sondage.studies.responses import Labelled
from sondage.studies.session import Session

__all__ = ["proven_range"]


def proven_range(slices: Sequence[tuple[float, Session, Labelled]], contrast: Contrast) -> tuple[float, float]:
    """Return the least and the greatest value of one model's measure that the labels leave possible.

    Parameters
    ----------
    slices : sequence of (share, Session, Labelled)
        What the pool consists of, with shares that sum to 1; one for a pool that was not sliced.
    contrast : Contrast
        The measure.

    Returns
    -------
    tuple of float
        The measure's bounds where the labels prove nothing: of a population, several models, items that several people
        labelled, or measures of which `possible_values` knows no end; and with a method whose interval is named, for
        that is kept to the letter.
    """
    basis = contrast.functional.basis
    if not isinstance(basis, Confusion | OutcomeValue) or not all(_proves(one, found) for _, one, found in slices):
        return contrast.bounds
    (model,) = contrast.models
    if isinstance(basis, OutcomeValue):
        wholes = [(share, found.estimation.whole) for share, _, found in slices]
        sums = [share * basis.totals(one.items, model, one.labels, one.items.weights) for share, one in wholes]
        known = sum(share * float(np.sum(one.items.weights)) for share, one in wholes)
        return possible_mean(contrast.functional, np.sum(sums, axis=0), known)
    k = basis.n_classes
    labelled, predicted = np.zeros((k, k)), np.zeros(k)
    for share, session, found in slices:
        sample = found.estimation.whole
        labelled += share * basis.totals(sample.items, model, sample.labels, sample.items.weights)
        believed = session.stages[0].known.expected[basis.name, model]  # an item's probabilities sum to 1
        predicted += share * believed.sum(axis=1)
    return possible_values(contrast.functional, labelled, predicted)


def _proves(session: Session, found: Labelled) -> bool:
    """Return whether labels are facts of the pool, and the method is free to use them."""
    method = session.method
    return (
        method.interval in OWN
        and method.target == "pool"
        and session.question.kind == "evaluate"
        and found.opinions is None
    )
