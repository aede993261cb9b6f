"""Estimators by name."""

from __future__ import annotations

from sondage.core.assisted import Assisted, all_of_it, least_variance, near_one
from sondage.core.centres import least_uncertain, normalising
from sondage.core.estimators import Estimator, hajek, horvitz_thompson, self_normalised

__all__ = ["ESTIMATORS", "UNASSISTED"]

ESTIMATORS: dict[str, Estimator] = {
    "hajek": hajek,
    "self_normalised": self_normalised,
    "horvitz_thompson": horvitz_thompson,
    "assisted": Assisted(least_variance, normalising),
    "anchored": Assisted(near_one, least_uncertain),
    "difference": Assisted(all_of_it, least_uncertain),
}

UNASSISTED = tuple(name for name, estimator in ESTIMATORS.items() if not isinstance(estimator, Assisted))
"""Those that use no belief, and so need no pool."""
