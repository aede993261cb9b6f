"""Estimators by name."""

from __future__ import annotations

from sondage.core.assisted import Assisted, all_of_it, least_variance, near_one
from sondage.core.centres import least_uncertain, normalising
from sondage.core.estimators import Estimator, hajek, horvitz_thompson, self_normalised

__all__ = ["ESTIMATORS"]

ESTIMATORS: dict[str, Estimator] = {
    "self_normalised": self_normalised,
    "hajek": hajek,
    "horvitz_thompson": horvitz_thompson,
    "assisted": Assisted(least_variance, normalising),
    "anchored": Assisted(near_one, least_uncertain),
    "difference": Assisted(all_of_it, least_uncertain),
}
