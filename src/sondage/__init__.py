"""Tell how good prediction models are, and which is better, from the fewest labels."""

from sondage.core.predictions import Classifier, Outcome, Regressor
from sondage.pools import Pool
from sondage.studies.evaluate import compare, evaluate, select

__version__ = "0.1.0"
__all__ = ["Classifier", "Outcome", "Pool", "Regressor", "compare", "evaluate", "select"]
