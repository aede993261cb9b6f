"""What comes back: frozen data and the few questions one asks of it."""

from sondage.core.results.comparison import Comparison
from sondage.core.results.estimate import Estimate
from sondage.core.results.statements import Interval, Significance

__all__ = ["Comparison", "Estimate", "Interval", "Significance"]
