"""Scikit-learn: estimators make pools, studies make scorers, and cross-validation makes estimates."""

from sondage.adapters.sklearn.pools import pool_of
from sondage.adapters.sklearn.scorers import MeasureScorer, StudyScorer, measure_scorer, study_scorer
from sondage.adapters.sklearn.validation import cross_compare, cross_select, cross_validate

__all__ = [
    "MeasureScorer",
    "StudyScorer",
    "cross_compare",
    "cross_select",
    "cross_validate",
    "measure_scorer",
    "pool_of",
    "study_scorer",
]
