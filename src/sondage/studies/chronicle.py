"""What people did in a study, and what they say: every label ever told, who labelled how much, where they disagree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sondage.studies import records
from sondage.studies.agreement import Agreement, agreement_of
from sondage.studies.ballots import PENDING
from sondage.studies.kept import Kept
from sondage.studies.labels import decode_label, said_alike
from sondage.studies.times import now

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger

__all__ = ["Chronicle", "Disagreement", "Progress", "held_by"]

Row = Mapping[str, Any]


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
        The item's label now: resolved, the majority's or the mean; None if there is none.
    resolved : bool
        Whether somebody has resolved it.
    fields : dict
        What the pool says of the item.
    """

    id: Any
    labels: tuple[tuple[str | None, Any], ...]
    label: Any
    resolved: bool
    fields: dict[str, Any]


class Chronicle(Kept):
    """The side of a study that tells what happened, and who said what."""

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

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell(["a"], ["ham"], who="anna")
        ...     _ = study.tell(["a"], ["spam"], who="anna", correct=True)
        ...     [(row["number"], row["label"], row["supersedes"]) for row in study.history("a")]
        [(1, 'ham', None), (2, 'spam', 1)]
        """
        rows = self._rows(lambda ledger: ledger.labels(), name)
        return [{**row, "id": records.id_from_text(row["id"]), "label": json.loads(row["label"])} for row in rows]

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

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.skip("a", "anna")
        ...     [(event["kind"], event["who"]) for event in study.audit("a")]
        [('asked', None), ('skipped', 'anna')]
        """
        return [_event(row) for row in self._rows(lambda ledger: ledger.events(), name)]

    def _rows(self, table: Callable[[Ledger], Sequence[Row]], name: Any) -> list[Row]:
        """Return the rows of a table, all or those of an item."""
        with self._reading() as (session, ledger):
            item = None if name is None else self._written(session, [name])[0]
            return [row for row in table(ledger) if item in (None, row["id"])]

    def progress(self) -> dict[str | None, Progress]:
        """Return what each person has done and holds, by name; None is who gave no name.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell({"a": "ham", "b": None}, who="anna")
        ...     study.progress()
        {'anna': Progress(labelled=1, skipped=1, claimed=0)}
        """
        with self._reading() as (_, ledger):
            claimed = held_by(ledger.assignments.open())
            told = [row for item in self._ballots.items() for row in self._ballots.of(item)]
        labelled = Counter(row["who"] for row in told if row["label"] is not None)
        skipped = Counter(row["who"] for row in told if row["label"] is None)
        people = sorted({*labelled, *skipped, *claimed}, key=lambda who: (who is None, who or ""))
        return {who: Progress(labelled[who], skipped[who], claimed[who]) for who in people}

    def agreement(self) -> Agreement:
        """Return how far people agree on the items that several of them labelled: Krippendorff's alpha, Cohen's kappa.

        Raises
        ------
        InputError
            If the packages that compute it are not installed (extra ``agreement``).

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3, raters=2) as study:
        ...     _ = study.ask(3)
        ...     for who, labels in {"anna": ["ham", "spam", "ham"], "ben": ["ham", "spam", "spam"]}.items():
        ...         _ = study.tell(["a", "b", "c"], labels, who=who)
        ...     round(study.agreement().same, 2)
        0.67
        """
        with self._reading():
            told = [self._ballots.of(item) for item in self._ballots.items()]
        given = ({row["who"]: row["label"] for row in rows if row["label"] is not None} for rows in told)
        return agreement_of(given, self.task)

    def disagreements(self, *, settled: bool = False) -> list[Disagreement]:
        """Return the items of which people disagree without a majority, in the order of asking.

        Parameters
        ----------
        settled : bool
            With those that have a label all the same: by majority, as a mean of numbers, or since it was resolved.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3, raters=2) as study:
        ...     _ = study.ask(3)
        ...     _ = study.tell(["a", "a"], ["ham", "spam"], who=["anna", "ben"])
        ...     [(one.id, one.labels, one.resolved) for one in study.disagreements()]
        [('a', (('anna', 'ham'), ('ben', 'spam')), False)]
        """
        with self._reading() as (session, _):
            several = [position for position in session.asked if position in session.opinions]
            found = [self._disagreement(p) for p in several if settled or p not in session.answers]
        return [one for one in found if one is not None]

    def _disagreement(self, position: int) -> Disagreement | None:
        """Return what people say of an item; None where they agree."""
        name, task, ballots = self._session.ids[position], self.task, self._ballots
        item = records.id_to_text(name)
        given = [row for row in ballots.of(item) if row["label"] is not None]
        if all(said_alike(row["label"], given[0]["label"]) for row in given):
            return None
        label = ballots.label(item)
        return Disagreement(
            name,
            tuple((row["who"], decode_label(row["label"], task)) for row in given),
            None if label is PENDING else decode_label(label, task),
            ballots.resolution(item) is not None,
            self._shown(name),
        )


def held_by(assignments: Sequence[Row]) -> Counter[Any]:
    """Return how many of these each person holds now."""
    moment = now()
    return Counter(row["who"] for row in assignments if row["until"] is not None and row["until"] > moment)


def _event(row: Row) -> dict[str, Any]:
    """Return a row of the log as people read it."""
    details = json.loads(row["details"])
    if row["value"] is not None and row["kind"] != "undone":
        details = {"label": json.loads(row["value"])} | details
    if row["reason"] is not None:
        details |= {"reason": row["reason"]}
    event = {name: row[name] for name in ("number", "at", "kind", "who")}
    return event | {"id": None if row["id"] is None else records.id_from_text(row["id"]), "details": details}
