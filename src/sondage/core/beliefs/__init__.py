"""What we expect the labels to be.

A belief supposes labels: for every item a few labels with weights that sum to 1. Classes are supposed one by
one; a Gaussian by the nodes of a Gauss-Hermite rule, exact for polynomial losses, and split at the points where
a loss has a kink; outcomes by every combination of the grades of the systems concerned; the grades of a query's
documents by a sample of them, since measures of rankings know their moments exactly. Expectations of whatever
a measure computes from labels are then plain weighted sums, and nothing else in `core` knows of distributions.
"""

from sondage.core.beliefs.classes import ClassBelief
from sondage.core.beliefs.columns import Doubts
from sondage.core.beliefs.divided import Divided, predicted_apart
from sondage.core.beliefs.gaussian import GaussianBelief, is_broad, is_limit, tells_nothing
from sondage.core.beliefs.grades import RankingBelief
from sondage.core.beliefs.lapses import Lapsing, Mistaken
from sondage.core.beliefs.learned import LearnedClassBelief, LearnedGaussianBelief, LearnedOutcomeBelief, rests_on
from sondage.core.beliefs.outcomes import OutcomeBelief
from sondage.core.beliefs.protocol import Belief, Distribution, Supposed

__all__ = [
    "Belief",
    "ClassBelief",
    "Distribution",
    "Divided",
    "Doubts",
    "GaussianBelief",
    "Lapsing",
    "LearnedClassBelief",
    "LearnedGaussianBelief",
    "LearnedOutcomeBelief",
    "Mistaken",
    "OutcomeBelief",
    "RankingBelief",
    "Supposed",
    "is_broad",
    "is_limit",
    "predicted_apart",
    "rests_on",
    "tells_nothing",
]
