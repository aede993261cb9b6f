"""What a study tells: where it stands, its answer, who did what."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.studies import records
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.ballots import PENDING
from sondage.studies.kept import Kept
from sondage.studies.labels import decode_label
from sondage.studies.selecting import select_session
from sondage.studies.times import now

__all__ = ["Account", "Disagreement", "Progress", "Status"]


@dataclass(frozen=True)
class Status:
    """Where a study stands.

    Attributes
    ----------
    budget, spent : float
        Labels, or cost.
    asked, labelled, skipped, pending : int
        Items asked for, and of these: answered, answered with a skip, not answered.
    remaining : int
        Items that can still be asked for.
    claimed : int
        Labels that somebody is at work on.
    wanted : int
        Labels that the items asked for are still to get; more than `pending` where several people label an item.
    disputed : int
        Items of which people disagree and which nobody has resolved; without a majority they are pending too.
    """

    budget: float
    spent: float
    asked: int
    labelled: int
    skipped: int
    pending: int
    remaining: int
    claimed: int = 0
    wanted: int = 0
    disputed: int = 0

    @property
    def complete(self) -> bool:
        """Whether everything was asked for and answered."""
        return not self.remaining and not self.pending and not self.wanted


@dataclass(frozen=True)
class Progress:
    """What a person has done.

    Attributes
    ----------
    labelled, skipped : int
        Items.
    claimed : int
        Items that the person holds now.
    """

    labelled: int = 0
    skipped: int = 0
    claimed: int = 0


@dataclass(frozen=True)
class Disagreement:
    """An item of which people disagree.

    Attributes
    ----------
    id : str or number
        The item.
    labels : tuple of (str or None, label)
        Who says what; skips are left out.
    label : object
        The item's label now: resolved, or the majority's; None if there is none.
    resolved : bool
        Whether somebody has settled it.
    fields : dict
        What the pool says of the item.
    """

    id: Any
    labels: tuple[tuple[str | None, Any], ...]
    label: Any
    resolved: bool
    fields: dict[str, Any]


class Account(Kept):
    """The side of a study that only reads."""

    def __repr__(self) -> str:
        status, question = self.status, self.question
        measures = ", ".join(measure.name for measure in question.measures)
        return (
            f"<Study {self._store.name}: {question.kind} {measures}, {status.labelled} of {status.budget:g} labelled>"
        )

    @property
    def status(self) -> Status:
        """Counts, as they are in the file now."""
        with self._reading() as (session, found):
            at_work, moment = found.assignments.open(), now()
            disputed = sum(self._ballots.disputed(item) for item in self._ballots.items())
        return Status(
            session.budget,
            session.spent,
            len(session.asked),
            session.n_labels,
            sum(label is None for label in session.answers.values()),
            len(session.pending),
            session.remaining,
            sum(row["until"] is not None and row["until"] > moment for row in at_work),
            len(at_work),
            disputed,
        )

    def estimate(self, generator: np.random.Generator | None = None) -> Any:
        """Return the answer from the labels so far; the pool is not needed.

        Parameters
        ----------
        generator : numpy.random.Generator, optional
            Randomness of a permutation or bootstrap test.

        Returns
        -------
        Estimate, dict of str to Estimate, Comparison or Selection
            By the question: of one measure, of several, of two models, of all.

        Raises
        ------
        InputError
            If there are no labels yet.
        """
        with self._reading() as (session, _):
            if self.question.kind == "compare":
                return compare_session(session, generator)
            if self.question.kind == "select":
                return select_session(session)
            estimates = estimate_session(session)
        return estimates if self._facts["several"] else next(iter(estimates.values()))

    def fields(self, ids: Any) -> list[dict[str, Any]]:
        """Return what the pool shows to a labeller of these items."""
        with self._reading() as (session, _):
            return [self._fields[session.ids[session.position(name)]] for name in ids]

    def history(self, name: Any = None) -> list[dict[str, Any]]:
        """Return all labels ever told, first to last.

        Parameters
        ----------
        name : str or number, optional
            Of this item only.

        Returns
        -------
        list of dict
            number, id, label (None is a skip), who, at, supersedes (the number of the label that it replaces), kind
            (``"label"``, ``"undo"`` or ``"resolution"``) and reason (of a skip).

        Raises
        ------
        LabelError
            If the item was never asked for.
        """
        with self._reading() as (session, found):
            item = None if name is None else self._text(session, name)
            rows = [dict(row) for row in found.labels() if item in (None, row["id"])]
        return [row | {"id": records.id_from_text(row["id"]), "label": json.loads(row["label"])} for row in rows]

    def audit(self, name: Any = None) -> list[dict[str, Any]]:
        """Return everything that happened, first to last: why the estimate is what it is.

        Parameters
        ----------
        name : str or number, optional
            To this item only.

        Returns
        -------
        list of dict
            number, at, kind, who, id, details. Kinds: ``created``, ``planned`` (a stage, with its settings),
            ``extended``, ``upgraded``; of items ``asked``, ``claimed``, ``released``, ``expired``, ``labelled``,
            ``skipped``, ``corrected``, ``undone``, ``resolved``.

        Raises
        ------
        LabelError
            If the item was never asked for.
        """
        with self._reading() as (session, found):
            item = None if name is None else self._text(session, name)
            rows = [dict(row) for row in found.events() if item in (None, row["id"])]
        return [_event(row) for row in rows]

    def progress(self) -> dict[str | None, Progress]:
        """Return what each person has done and holds, by name; None is who gave no name."""
        with self._reading() as (_, found):
            at_work, moment = found.assignments.open(), now()
            told = [row for item in self._ballots.items() for row in self._ballots.of(item)]
        labelled = Counter(row["who"] for row in told if row["label"] is not None)
        skipped = Counter(row["who"] for row in told if row["label"] is None)
        claimed = Counter(row["who"] for row in at_work if row["until"] is not None and row["until"] > moment)
        people = sorted({*labelled, *skipped, *claimed}, key=lambda who: (who is None, who or ""))
        return {who: Progress(labelled[who], skipped[who], claimed[who]) for who in people}

    def disagreements(self, *, resolved: bool = False) -> list[Disagreement]:
        """Return the items of which people disagree, in the order of asking.

        Parameters
        ----------
        resolved : bool
            With those that somebody has settled already.
        """
        with self._reading() as (session, _):
            found = [self._disagreement(position) for position in session.asked if position in session.opinions]
        return [one for one in found if one is not None and (resolved or not one.resolved)]

    def _disagreement(self, position: int) -> Disagreement | None:
        name, task, ballots = self._session.ids[position], self.task, self._ballots
        item = records.id_to_text(name)
        given = [row for row in ballots.of(item) if row["label"] is not None]
        if len({repr(row["label"]) for row in given}) < 2:
            return None
        label = ballots.label(item)
        return Disagreement(
            name,
            tuple((row["who"], decode_label(row["label"], task)) for row in given),
            None if label is PENDING else decode_label(label, task),
            ballots.resolution(item) is not None,
            self._fields[name],
        )


def _event(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the log as people read it."""
    details = json.loads(row["details"])
    if row["value"] is not None and row["kind"] != "undone":
        details = {"label": json.loads(row["value"])} | details
    if row["reason"] is not None:
        details |= {"reason": row["reason"]}
    event = {name: row[name] for name in ("number", "at", "kind", "who")}
    return event | {"id": None if row["id"] is None else records.id_from_text(row["id"]), "details": details}
