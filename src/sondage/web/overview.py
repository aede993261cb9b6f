"""What the owner of a study sees while others label: the answer so far, what to expect of it, who does what."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from sondage.core.results import Estimate
from sondage.core.selections import Selection
from sondage.reports.text import all_warnings, answers, details, leading_estimate, quantity
from sondage.reports.wording import label_words
from sondage.studies.chronicle import Progress
from sondage.studies.prospects import Prospect, prospect
from sondage.studies.study import Study
from sondage.web.chart import Chart, draw_chart
from sondage.web.images import Images
from sondage.web.showing import ShownItem, shown_item

__all__ = ["Dispute", "Overview", "overview"]

LEVEL = 0.95
MOST_DISPUTES = 20
LOOKS = 16  # fewer than for a picture to keep: they are computed anew every few seconds


@dataclass(frozen=True)
class Dispute:
    """An item of which labellers disagree.

    Attributes
    ----------
    item : str
        Its id, as text.
    said : list of (str, str)
        Who says what.
    shown : ShownItem
        What is seen of it.
    request : str
        Name of the request that will settle it.
    last : int
        Number of the last label, of whatever item, that the page knows of.
    """

    item: str
    said: list[tuple[str, str]]
    shown: ShownItem
    request: str
    last: int


@dataclass(frozen=True)
class Overview:
    """The owner's page.

    Attributes
    ----------
    answer : str
        The answer in a sentence.
    details, notes : list of str
        What it rests on, and what a reader must know.
    chart : Chart or None
        Estimate and interval label by label.
    ahead : str
        What is to be expected at the end; empty where it cannot be told.
    people : list of (str, str)
        Who did what.
    disputes : list of Dispute
        What is to be settled.
    """

    answer: str
    details: list[str]
    notes: list[str]
    chart: Chart | None
    ahead: str
    people: list[tuple[str, str]]
    disputes: list[Dispute]


def overview(study: Study, images: Images) -> Overview:
    """Return what the owner sees of a study now."""
    people = [(who or "no name", _did(done)) for who, done in study.progress().items()]
    last = max((row["number"] for row in study.history()), default=0)  # read first: what comes now is not shown
    disputes = [
        Dispute(
            str(one.id),
            [(who or "no name", label_words(label, study.models)) for who, label in one.labels],
            shown_item(one.id, one.fields, images),
            str(uuid4()),
            last,
        )
        for one in study.disagreements()[:MOST_DISPUTES]
    ]
    status = study.status
    if not status.labelled:
        return Overview("No labels yet: there is nothing to estimate from.", [], [], None, "", people, disputes)
    result = study.estimate()
    answer, *others = answers(result, LEVEL)
    below, notes = [*others, *details(result, LEVEL)], all_warnings(result)
    leading = None if isinstance(result, Selection) else leading_estimate(result)
    chart, ahead = _course(leading, status.labelled + status.pending + status.remaining)
    return Overview(answer, below, notes, chart, ahead, people, disputes)


def _course(estimate: Estimate | None, end: int) -> tuple[Chart | None, str]:
    """Return the drawing of an estimate's course, and what is to be expected at the end; nothing of a selection."""
    if estimate is None:
        return None, ""
    seen = prospect(estimate, end, LEVEL, LOOKS)
    return draw_chart(seen, estimate.measure), _ahead(seen, estimate)


def _ahead(seen: Prospect, estimate: Estimate) -> str:
    if seen.end <= estimate.n_labels or not np.isfinite(seen.width):
        return ""
    now = estimate.interval(LEVEL).width
    widths = [quantity(width, estimate.measure, width, " points") for width in (now, seen.width)]
    return f"The interval is {widths[0]} wide now; after all {seen.end:,} labels it should be about {widths[1]}."


def _did(done: Progress) -> str:
    parts = [f"{done.labelled:,} labelled"]
    parts += [f"{done.skipped:,} skipped"] if done.skipped else []
    return ", ".join([*parts, "at work now"] if done.claimed else parts)
