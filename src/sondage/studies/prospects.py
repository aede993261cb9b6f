"""How an estimate came about, label by label, and how exact it is going to be when the budget is spent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats
from sondage.core.results import Estimate
from sondage.core.significance import Counts
from sondage.errors import InputError
from sondage.studies.anytime import LabelCourse
from sondage.studies.session import Session

__all__ = ["Prospect", "prospect"]

LOOKS, FIRST_LOOK = 24, 10
"""At how many numbers of labels an estimate is looked back at, and the first of them."""


@dataclass(frozen=True, eq=False)
class Prospect:
    """An estimate after some numbers of labels, and the width of its interval at the end.

    Attributes
    ----------
    labels : ndarray of int, shape (L,)
        Numbers of labels, ascending; the last is the present one.
    value, low, high : ndarray of float, shape (L,)
        Estimate and ends of its interval after so many labels.
    level : float
        Confidence level of each interval by itself.
    end : int
        Number of labels at the end.
    width : float
        Width of the interval that is to be expected then, in the units of the measure; NaN where it cannot be told.
    """

    labels: NDArray[np.int64]
    value: Floats
    low: Floats
    high: Floats
    level: float
    end: int
    width: float


def prospect(estimate: Estimate, end: int, level: float = 0.95, looks: int = LOOKS) -> Prospect:
    r"""Return how an estimate came about in the order of asking, and what is to be expected of it.

    The width at the end supposes that the labels to come are like those so far, so that the variance goes on falling as
    it does in simple random sampling from the :math:`N` items that can be drawn, infinitely many of a population:

    .. math:: \hat\sigma_\mathrm{end} = \hat\sigma_n \sqrt{(1/n_\mathrm{end} - 1/N) / (1/n - 1/N)},

    with degrees of freedom in proportion to the labels. Later stages are planned from more labels and may be worth more
    than that.

    Parameters
    ----------
    estimate : Estimate
        From a session's labels, as `Study.estimate` returns it.
    end : int
        Number of labels at the end, at least the present one.
    level : float
        Confidence level, in (0, 1).
    looks : int
        At how many numbers of labels, at most.

    Returns
    -------
    Prospect

    Raises
    ------
    InputError
        If the estimate did not come from a session, or `end` is below the present number of labels.

    References
    ----------
    W. G. Cochran, Sampling Techniques, 3rd edition, Wiley 1977, equation 2.8.

    Examples
    --------
    >>> import numpy as np, sondage
    >>> pool = sondage.Pool(probabilities=np.linspace(0.0, 1.0, 1000))
    >>> found = sondage.evaluate(pool, labels=np.arange(1000) >= 500, budget=100, method="passive")
    >>> ahead = prospect(found, 400)
    >>> bool(ahead.width < found.interval().width / 2)
    True
    """
    course = estimate.course
    if not isinstance(course, LabelCourse):
        raise InputError("only an estimate from a session's labels has a course to look back on")
    if end < estimate.n_labels:
        raise InputError(f"end={end} is below the {estimate.n_labels} labels so far")
    session = course.session
    answered = session.labelled
    last = len(answered)
    counts = np.unique(np.rint(np.linspace(min(FIRST_LOOK, last), last, looks)).astype(np.int64))
    asked = [session.asked.index(answered[count - 1]) + 1 for count in counts[:-1]]
    found = [course.estimate(session.early(count), course.contrast) for count in asked]
    intervals = [one.interval(level) for one in (*found, estimate)]
    return Prospect(
        labels=counts,
        value=np.array([one.value for one in (*found, estimate)]),
        low=np.array([one.low for one in intervals]),
        high=np.array([one.high for one in intervals]),
        level=level,
        end=end,
        width=_width(estimate, session, end, level),
    )


def _width(estimate: Estimate, session: Session, end: int, level: float) -> float:
    """Return the width of the interval that so many labels are going to give."""
    n, size = estimate.n_labels, session.reach if estimate.target == "pool" else np.inf
    if estimate.exact or end >= size:
        return 0.0
    more = end / n
    factor = (1 / end - 1 / size) / (1 / n - 1 / size) if n < size else 0.0
    ahead = replace(
        estimate,
        std_error=estimate.std_error * float(np.sqrt(factor)),
        slope=estimate.slope * factor,
        plausible=None if estimate.plausible is None else estimate.plausible.scaled(float(np.sqrt(factor))),
        pivot=None if estimate.pivot is None else estimate.pivot.scaled(factor),
        n_labels=end,
        df=estimate.df * more,
        n_effective=estimate.n_effective / factor if factor else estimate.n_effective,
        counts=None if estimate.counts is None else _scaled(estimate.counts, more),
    )
    kind = estimate.interval_kind
    interval = ahead.interval(level, None if kind in ("auto", "wald", "t", "wilson") else "auto")
    return float("nan") if interval.kind == "undefined" else interval.width


def _scaled(counts: Counts, more: float) -> Counts:
    """Return counts as they are to be expected of more labels."""
    kinds = [round(count * more) for count in (counts.positive, counts.negative, counts.zero)]
    while sum(kinds) > counts.disagreement_size:
        kinds[int(np.argmax(kinds))] -= 1
    return replace(counts, positive=kinds[0], negative=kinds[1], zero=kinds[2])
