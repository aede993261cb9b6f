"""The measures by their public name: ``from sondage.measures import FMeasure``."""

from sondage.core.measures import *  # noqa: F403
from sondage.core.measures import __all__ as __all__
