"""What a report says: one content, which `lines`, `data` and `html` put into their forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sondage.core.predictions import Floats
from sondage.core.reliability import Reliability
from sondage.core.results import Interval
from sondage.studies.account import Status
from sondage.studies.chronicle import Progress
from sondage.studies.sharing import Sharing

__all__ = ["Breakdown", "Contributor", "Figure", "Report", "TeamStatus", "Uniform", "Weights"]


@dataclass(frozen=True)
class TeamStatus(Status):
    """Where a study stands, and who labelled how much.

    Attributes
    ----------
    people : mapping of str to Progress
        What each labeller has done; the name is empty where none was given.
    sharing : Sharing or None
        How labellers share the items.
    """

    people: Mapping[str, Progress] = field(default_factory=dict)
    sharing: Sharing | None = None

    @property
    def team(self) -> tuple[str, ...]:
        """Who labelled how much, where several people do, and what is open between them."""
        lines = []
        if len(self.people) > 1 or (self.people and self.several):
            counts = (f"{who or 'without a name'} {done.labelled}" for who, done in self.people.items())
            lines.append(f"labels by {', '.join(counts)}")
        if self.several and self.sharing is not None:
            labels = f"{self.wanted} more label{'' if self.wanted == 1 else 's'}"
            lines.append(
                f"{self.sharing.raters} people label {self.sharing.overlap:.0%} of the items; {labels} wanted for the "
                "items asked"
            )
        if self.disputed:
            plural = "" if self.disputed == 1 else "s"
            lines.append(f"{self.disputed} disagreement{plural} to resolve")
        return tuple(lines)

    @property
    def several(self) -> bool:
        """Whether items are to be labelled by several people."""
        return self.sharing is not None and self.sharing.raters > 1


@dataclass(frozen=True)
class Figure:
    """One number of the result with its uncertainty.

    Attributes
    ----------
    name : str
        What it is of, for people: a measure, a model, a difference.
    measure : str
        Name of the measure.
    value, std_error : float
        In the units of the measure; NaN where undefined.
    interval : Interval
        Confidence interval.
    n_labels : int
        Labels it rests on.
    unit : str
        What stands behind shares in per cent: ``" %"`` or ``" points"`` of a difference.
    note : str
        What else is to be said of it, such as a p-value.
    """

    name: str
    measure: str
    value: float
    std_error: float
    interval: Interval
    n_labels: int
    unit: str = " %"
    note: str = ""


@dataclass(frozen=True)
class Uniform:
    """What uniform random sampling would have needed.

    Attributes
    ----------
    subject : str
        What the standard error is of.
    labels, used : float
        Labels for the same standard error without a choice of items, and labels used.
    pool : float
        Items in the pool.
    sentence : str
        The same in words.
    """

    subject: str
    labels: float
    used: float
    pool: float
    sentence: str


@dataclass(frozen=True, eq=False)
class Weights:
    """How evenly the estimate rests on its labels.

    Attributes
    ----------
    shares : ndarray of float, shape (n,)
        Share of each label in the estimate, summing to 1.
    n_effective, largest : float
        Effective number of labels, and the largest share.
    sentence : str
        The same in words.
    """

    shares: Floats
    n_effective: float
    largest: float
    sentence: str

    @property
    def uneven(self) -> bool:
        """Whether some labels count more than others."""
        return self.n_effective < 0.99 * len(self.shares)


@dataclass(frozen=True)
class Contributor:
    """A label that moved the result.

    Attributes
    ----------
    id : object
        The item.
    label : str
        Its label.
    expected : str
        What was believed of it before any label.
    moved : float
        By how much it moved the result, in the units of the measure.
    share : float
        Share of the estimate that rests on it.
    fields : mapping
        What the pool shows of it.
    """

    id: Any
    label: str
    expected: str
    moved: float
    share: float
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Breakdown:
    """The result on the parts of the pool that one field makes.

    Attributes
    ----------
    field : str
        Name of the field.
    figures : tuple of Figure
        One a value of the field.
    note : str
        What the parts leave out.
    """

    field: str
    figures: tuple[Figure, ...]
    note: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """All that is to be said of a question and its answer so far.

    Attributes
    ----------
    question : str
        In words.
    answers : tuple of str
        A sentence each; where there is no label yet, that.
    basis : tuple of str
        What the answers rest on, in short.
    level : float
        Confidence level of the intervals.
    result : Estimate, dict of str to Estimate, Comparison, Selection, Slices or None
        What the report is of.
    figures : tuple of Figure
        The numbers of the result.
    gaps : tuple of Figure
        Of a selection: the models' differences from the best, in intervals that hold together.
    standing : TeamStatus or None
        Where the study stands; None of labels drawn elsewhere.
    chosen : tuple of str
        How the items were chosen.
    uniform : Uniform or None
        What uniform sampling would have needed.
    weights : Weights or None
        How evenly the estimate rests on its labels.
    reliability : Reliability or None
        What was believed before any label against the labels.
    believed : str
        What that says, in words.
    contributors : tuple of Contributor
        The labels that moved the result most.
    moved : str
        What they moved.
    parts : tuple of Breakdown
        The result by the pool's fields.
    warnings : tuple of str
        What a reader must know.
    settings : mapping
        All that it takes to do it again.
    """

    question: str
    answers: tuple[str, ...] = ("No labels yet: there is nothing to estimate from.",)
    basis: tuple[str, ...] = ()
    level: float
    result: Any
    figures: tuple[Figure, ...] = ()
    gaps: tuple[Figure, ...] = ()
    standing: TeamStatus | None = None
    chosen: tuple[str, ...] = ()
    uniform: Uniform | None = None
    weights: Weights | None = None
    reliability: Reliability | None = None
    believed: str = ""
    contributors: tuple[Contributor, ...] = ()
    moved: str = ""
    parts: tuple[Breakdown, ...] = ()
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        from sondage.reports.lines import report_lines

        return "\n".join(report_lines(self))

    def to_data(self) -> dict[str, Any]:
        """Return the report as data for JSON; numbers that are not finite are None."""
        from sondage.reports.data import report_data

        return report_data(self)

    def to_html(self) -> str:
        """Return the report as one page of HTML that needs no other file; needs matplotlib and Jinja2.

        Raises
        ------
        InputError
            If one of them is not installed.
        """
        from sondage.reports.html import report_page

        return report_page(self)

    def _repr_html_(self) -> str:
        from sondage.reports.notebook import report_html

        return report_html(self)
