"""Tell how good prediction models are, and which is better, from the fewest labels."""

from sondage import measures
from sondage.adapters.frames import read_pool
from sondage.adapters.sklearn import cross_compare, cross_select, cross_validate
from sondage.core.predictions import Classifier, Outcome, Ranking, Regressor
from sondage.core.results import Comparison, Estimate, Interval
from sondage.core.selections import Selection
from sondage.core.slices import Slices
from sondage.pools import Pool
from sondage.reports.making import make_report as report
from sondage.reports.plots import plot
from sondage.studies.advise import advise
from sondage.studies.drawn_elsewhere import estimate_from
from sondage.studies.evaluate import compare, evaluate, select
from sondage.studies.study import Study
from sondage.version import __version__ as __version__

__all__ = [
    "Classifier",
    "Comparison",
    "Estimate",
    "Interval",
    "Outcome",
    "Pool",
    "Ranking",
    "Regressor",
    "Selection",
    "Slices",
    "Study",
    "advise",
    "compare",
    "cross_compare",
    "cross_select",
    "cross_validate",
    "estimate_from",
    "evaluate",
    "measures",
    "plot",
    "read_pool",
    "report",
    "select",
]
