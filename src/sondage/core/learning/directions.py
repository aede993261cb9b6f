"""Features as a few directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy  # scipy.linalg and scipy.sparse are loaded when they are used

from sondage.core.predictions import Floats

__all__ = ["RANK", "Directions", "leading_directions"]

RANK = 64
"""Leading directions of the labelled items' features that a fit uses."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Features as a few directions: scores (n, r) = (features - centre) @ loadings, rows of mean square 1."""

    scores: Floats
    loadings: Floats
    centre: Floats


def leading_directions(features: Floats) -> Iterator[Directions]:
    """Yield the leading directions of the features as they are, and of each on the scale of its own deviation."""
    centre = features.mean(axis=0)
    centred = features - centre
    deviations = np.sqrt(np.mean(np.square(centred), axis=0))
    if not deviations.any():
        return
    yield _leading(centred, np.ones(len(centre)), centre)
    if len(centre) > 1:
        yield _leading(centred, np.where(deviations > 0, deviations, np.inf), centre)


def _leading(centred: Floats, units: Floats, centre: Floats) -> Directions:
    """Return the `RANK` leading directions of centred features in these units."""
    scaled = centred / units
    tall = scaled.shape[0] > scaled.shape[1]
    gram = scaled.T @ scaled if tall else scaled @ scaled.T
    values, vectors = _leading_eigenvectors(gram)
    kept = values > 1e-10 * values.max()
    values, vectors = values[kept], vectors[:, kept]
    right = vectors if tall else scaled.T @ vectors / np.sqrt(values)
    loadings = right * np.sqrt(len(scaled) / np.trace(gram))
    return Directions(scaled @ loadings, loadings / units[:, None], centre)


def _leading_eigenvectors(gram: Floats) -> tuple[Floats, Floats]:
    """Return at most `RANK` largest eigenvalues and their vectors; large matrices by Lanczos from a fixed start."""
    if len(gram) <= 4 * RANK:
        first = max(len(gram) - RANK, 0)
        return tuple(scipy.linalg.eigh(gram, subset_by_index=(first, len(gram) - 1)))
    start = np.cos(np.arange(len(gram)))  # a start of ones is orthogonal to all that is centred
    return tuple(scipy.sparse.linalg.eigsh(gram, k=RANK, v0=start, tol=1e-6))
