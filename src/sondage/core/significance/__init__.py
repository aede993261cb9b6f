r"""Tests of differences: between two models, on the items where they disagree, among k models.

A difference is the first model's minus the second's, so that ``"greater"`` asks whether the first has the larger
value. The tests of one look return a `Significance`, or hold one; there are planned looks (`pocock_bounds`, ...) and
tests at every label (`disagreement_log_evalues`, ...) as well.
"""

from sondage.core.significance.adjustments import bonferroni, holm
from sondage.core.significance.anytime import (
    decisive_log_evalues,
    disagreement_log_evalues,
    disagreement_sequence,
    disagreement_steps,
)
from sondage.core.significance.counted import Counts, counted_interval, counted_test, hypergeometric_test, mcnemar_test
from sondage.core.significance.differences import t_test, wald_test
from sondage.core.significance.disagreement import DisagreementResult, disagreement_test
from sondage.core.significance.looks import (
    exit_probabilities,
    obrien_fleming_bounds,
    obrien_fleming_spending,
    pocock_bounds,
    pocock_spending,
    spending_bounds,
)
from sondage.core.significance.repeated import repeated_interval, repeated_pvalues
from sondage.core.significance.resampling import bootstrap_test, permutation_test
from sondage.core.significance.several import anova_test, range_test, tukey_test
from sondage.core.significance.simultaneous import (
    JointErrors,
    best_models,
    simultaneous_gaps,
    simultaneous_widths,
)
from sondage.core.significance.tails import null_difference, refutes

__all__ = [
    "Counts",
    "DisagreementResult",
    "JointErrors",
    "anova_test",
    "best_models",
    "bonferroni",
    "bootstrap_test",
    "counted_interval",
    "counted_test",
    "decisive_log_evalues",
    "disagreement_log_evalues",
    "disagreement_sequence",
    "disagreement_steps",
    "disagreement_test",
    "exit_probabilities",
    "holm",
    "hypergeometric_test",
    "mcnemar_test",
    "null_difference",
    "obrien_fleming_bounds",
    "obrien_fleming_spending",
    "permutation_test",
    "pocock_bounds",
    "pocock_spending",
    "range_test",
    "refutes",
    "repeated_interval",
    "repeated_pvalues",
    "simultaneous_gaps",
    "simultaneous_widths",
    "spending_bounds",
    "t_test",
    "tukey_test",
    "wald_test",
]
