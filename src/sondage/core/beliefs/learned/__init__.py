r"""Beliefs that learn from labels what side information is worth: judges, other models, features.

Before any label they believe what they start from. `calibrated` then does three things, each of which costs little
where it finds nothing: it mixes the possible starts (the judges, one of them, the models) in proportion to how well
each, calibrated, predicts the labels; it calibrates the mixture; and it corrects that by a penalised regression on
sources and features (`sondage.core.learning`).
"""

from sondage.core.beliefs.learned.classes import LearnedClassBelief, Start, rests_on
from sondage.core.beliefs.learned.gaussian import LearnedGaussianBelief
from sondage.core.beliefs.learned.outcomes import LearnedOutcomeBelief

__all__ = ["LearnedClassBelief", "LearnedGaussianBelief", "LearnedOutcomeBelief", "Start", "rests_on"]
