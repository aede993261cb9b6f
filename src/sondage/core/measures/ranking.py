r"""Measures of rankings: the mean over queries of DCG, ERR, nDCG or RBP.

``"dcg@10"`` counts the first ten positions. Grades y are the pool's, the least of them is to be 0. Where gains are
:math:`2^y - 1` the greatest is to be 116 or less, so that no gain is above 1e35.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.core.checks import LARGEST_NUMBER, exactly, is_number, is_whole
from sondage.core.measures.cascades import Cascade
from sondage.core.measures.functionals import Functional, Task, linear, require_kind
from sondage.core.measures.lists import Additive, Normalised
from sondage.errors import MeasureError

__all__ = ["DCG", "ERR", "NDCG", "RBP"]

DEEPEST = 1_000_000
"""Largest cut-off."""
LARGEST_GRADE = int(np.log2(LARGEST_NUMBER))
"""Whose exponential gain is a number that is allowed."""
GAINS = {"exponential": lambda y: 2.0**y - 1.0, "linear": lambda y: y}


def _gains(task: Task, name: str, kind: str) -> tuple[float, ...]:
    """Return the gain of each grade."""
    grades = np.array(task.grades)
    if grades.min() != 0:
        raise MeasureError(f"measure {name!r} needs grades from 0 (irrelevant) upwards; they are {list(task.grades)}")
    if kind == "exponential" and grades.max() > LARGEST_GRADE:
        most = f"takes 2^y - 1 of grades y up to {LARGEST_GRADE}"
        raise MeasureError(f"measure {name!r} {most}; there is a grade {grades.max():g}")
    return tuple(GAINS[kind](grades).tolist())


@dataclass(frozen=True)
class _Cut:
    """A measure with a cut-off.

    Parameters
    ----------
    k : int, optional
        Positions that count; by default all.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is None:
            return
        if not is_whole(self.k) or not 1 <= self.k <= DEEPEST:
            raise MeasureError(f"cut-off k={str(self.k).removesuffix('.0')} must be a whole number, 1 to {DEEPEST:,}")
        object.__setattr__(self, "k", int(self.k))

    def _name(self, base: str, **options: object) -> str:
        told = ",".join(
            f"{key}={exactly(value) if isinstance(value, float) else value}" for key, value in options.items()
        )
        return f"{base}{'' if self.k is None else f'@{self.k}'}{':' * bool(told)}{told}"


@dataclass(frozen=True)
class _Gained(_Cut):
    """A measure of discounted gains.

    Parameters
    ----------
    k : int, optional
        Positions that count; by default all.
    gain : {"exponential", "linear"}
        Gain of grade y: :math:`2^y - 1`, or y, as trec_eval has it.
    """

    gain: str = "exponential"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.gain, str) or self.gain not in GAINS:
            raise MeasureError(f"gain={self.gain!r} must be one of {list(GAINS)}")

    def _options(self) -> dict[str, object]:
        return {} if self.gain == "exponential" else {"gain": self.gain}


@dataclass(frozen=True)
class DCG(_Gained):
    r"""Discounted cumulative gain, :math:`\sum_i (2^{y_i} - 1) / \log_2(i + 1)` (thesis 6.1), mean over queries.

    The document at position i has grade :math:`y_i`. It is 0 or more, and bounded where there is a cut-off.

    Parameters
    ----------
    k : int, optional
        Positions that count, from the first; by default all.
    gain : {"exponential", "linear"}
        Gain of grade y: :math:`2^y - 1`, of grades up to 116, or y, as trec_eval has it.

    Raises
    ------
    MeasureError
        If k is no whole number from 1, or there is no such gain.

    Examples
    --------
    >>> DCG(k=10).name, DCG(gain="linear").name
    ('dcg@10', 'dcg:gain=linear')
    """

    @property
    def name(self) -> str:
        """The measure's name, with its parameters."""
        return self._name("dcg", **self._options())

    def ready(self, task: Task) -> Functional:
        """Return the measure for rankings."""
        require_kind("ranking", task, self.name)
        basis = Additive(self.name, _gains(task, self.name, self.gain), self.k)
        most = np.inf
        if self.k is not None:
            most = float(max(basis.gains) * basis.discounts(np.arange(1, self.k + 1)).sum())
        return linear(self.name, basis, [1.0], bounds=(0.0, most), higher_is_better=True)


@dataclass(frozen=True)
class NDCG(_Gained):
    r"""DCG over that of the ideal order of all documents that the pool has of the query; 0 where none is relevant.

    It is in [0, 1]; the mean over queries.

    Parameters
    ----------
    k, gain
        As for `DCG`, with its errors.

    References
    ----------
    K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM Transactions on Information
    Systems, 2002, 422-446.

    Examples
    --------
    >>> NDCG(k=5).name
    'ndcg@5'
    """

    @property
    def name(self) -> str:
        """The measure's name, with its parameters."""
        return self._name("ndcg", **self._options())

    def ready(self, task: Task) -> Functional:
        """Return the measure for rankings."""
        require_kind("ranking", task, self.name)
        gains = _gains(task, self.name, self.gain)
        return linear(self.name, Normalised(self.name, gains, self.k), [1.0], bounds=(0.0, 1.0), higher_is_better=True)


@dataclass(frozen=True)
class ERR(_Cut):
    r"""Expected reciprocal rank of the document at which a reader stops (thesis 6.2), mean over queries.

    .. math:: \sum_i \frac{\kappa_i}{i} \prod_{j < i} (1 - \kappa_j), \qquad \kappa_i = (2^{y_i} - 1) / 2^{y_{max}},

    where :math:`y_i` is the grade at position i and :math:`y_{max}` the greatest of the pool's grades, at most 116.
    It is in [0, 1].

    Parameters
    ----------
    k : int, optional
        Positions that count, from the first; by default all.

    Raises
    ------
    MeasureError
        If k is no whole number from 1.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009,
    621-630.

    Examples
    --------
    >>> ERR().name
    'err'
    """

    @property
    def name(self) -> str:
        """The measure's name, with its parameters."""
        return self._name("err")

    def ready(self, task: Task) -> Functional:
        """Return the measure for rankings."""
        require_kind("ranking", task, self.name)
        gains = _gains(task, self.name, "exponential")
        stops = tuple(gain / (max(gains) + 1.0) for gain in gains)
        return linear(self.name, Cascade(self.name, stops, self.k), [1.0], bounds=(0.0, 1.0), higher_is_better=True)


@dataclass(frozen=True)
class RBP(_Cut):
    r"""Rank-biased precision, :math:`(1 - p) \sum_i p^{i-1} y_i / y_{max}` (Moffat and Zobel, 2008).

    Parameters
    ----------
    k : int, optional
        Positions that count; by default all.
    persistence : float
        p, in (0, 1): the probability that a reader goes on to the next document.

    Raises
    ------
    MeasureError
        If k is no whole number from 1, or p is not in (0, 1).

    Examples
    --------
    >>> RBP(persistence=0.5).name
    'rbp:persistence=0.5'
    """

    persistence: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.persistence) or not 0 < self.persistence < 1:
            raise MeasureError(f"persistence={str(self.persistence).removesuffix('.0')} must be between 0 and 1")

    @property
    def name(self) -> str:
        """The measure's name, with its parameters."""
        return self._name("rbp", persistence=float(self.persistence))

    def ready(self, task: Task) -> Functional:
        """Return the measure for rankings."""
        require_kind("ranking", task, self.name)
        gains = _gains(task, self.name, "linear")
        shares = tuple(gain / max(gains) for gain in gains)
        basis = Additive(self.name, shares, self.k, float(self.persistence))
        return linear(self.name, basis, [1.0], bounds=(0.0, 1.0), higher_is_better=True)
