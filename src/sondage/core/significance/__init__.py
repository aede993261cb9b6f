r"""Tests of differences: between two models, on the items where they disagree, among k models.

A difference is the first model's minus the second's, so that ``"greater"`` asks whether the first has the larger
value. Every function returns a `Significance`, or holds one.
"""

from sondage.core.significance.adjustments import bonferroni, holm
from sondage.core.significance.counts import hypergeometric_test, mcnemar_test
from sondage.core.significance.differences import t_test, wald_test
from sondage.core.significance.disagreement import Disagreement, disagreement_test
from sondage.core.significance.resampling import bootstrap_test, permutation_test
from sondage.core.significance.several import anova_test, tukey_test

__all__ = [
    "Disagreement",
    "anova_test",
    "bonferroni",
    "bootstrap_test",
    "disagreement_test",
    "holm",
    "hypergeometric_test",
    "mcnemar_test",
    "permutation_test",
    "t_test",
    "tukey_test",
    "wald_test",
]
