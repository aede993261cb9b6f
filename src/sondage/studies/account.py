"""What a study tells: where it stands, its answer, who did what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sondage.core.checks import listed, require, require_generator
from sondage.studies import records
from sondage.studies.agreement import Agreement, agreement_of
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.ballots import PENDING
from sondage.studies.kept import Kept
from sondage.studies.labels import decode_label, said_alike
from sondage.studies.selecting import select_session
from sondage.studies.session import Session
from sondage.studies.times import now

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger

__all__ = ["Account", "Disagreement", "Progress", "Status"]

Row = Mapping[str, Any]


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
        Items of which people disagree without a majority; they are pending until somebody resolves them.
    costs : bool
        Whether `budget` and `spent` are cost.
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
    costs: bool = False

    @classmethod
    def of(cls, session: Session, **more: Any) -> Self:
        """Return the counts of a session, with what only its study knows."""
        return cls(
            budget=session.budget,
            spent=session.spent,
            asked=len(session.asked),
            labelled=session.n_labels,
            skipped=sum(label is None for label in session.answers.values()),
            pending=len(session.pending),
            remaining=session.remaining,
            costs=session.costs is not None,
            **more,
        )

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
        with self._reading() as (session, ledger):
            at_work = ledger.assignments.open()
            return Status.of(
                session,
                claimed=sum(_held(at_work).values()),
                wanted=len(at_work),
                disputed=sum(position not in session.answers for position in session.opinions),
            )

    def estimate(self, generator: np.random.Generator | None = None) -> Any:
        """Return the answer from the labels so far; the pool is not needed.

        Parameters
        ----------
        generator : numpy.random.Generator, optional
            Randomness of a permutation or bootstrap test; by default it follows from the study's seed.

        Returns
        -------
        Estimate, dict of str to Estimate, Comparison or Selection
            By the question: of one measure; of several, by their full names (``"f1:positive=spam"`` where the study
            has a positive class); of two models; of all.

        Raises
        ------
        InputError
            If there are no labels yet, or `generator` is no random generator.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.tell(study.ask(3), ["ham"] * 3)
        ...     print(study.estimate())
        error_rate of model: 0.3333 +- 0 (3 labels)
        """
        return self.answer_of(self.snapshot(), generator)

    def answer_of(self, session: Session, generator: np.random.Generator | None = None) -> Any:
        """Return the answer from the labels of a snapshot, as `estimate` does from those in the file now.

        Parts of an answer are worked out when they are asked for: what is told later does not change them, and nobody
        waits while they are.

        Raises
        ------
        InputError
            If `session` is no snapshot, or as for `estimate`.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell(["a"], ["ham"])
        ...     before = study.snapshot()
        ...     _ = study.tell(["b", "c"], ["spam", "spam"])
        ...     study.answer_of(before).n_labels, study.estimate().n_labels
        (1, 3)
        """
        rule = "it must be a snapshot of the study, as in study.answer_of(study.snapshot())"
        require(
            isinstance(session, Session), f"session={brief(session)}: {rule}; an item's label is study.labels()[id]"
        )
        require_generator(generator)
        if self.question.kind == "compare":
            return compare_session(session, generator)
        if self.question.kind == "select":
            return select_session(session)
        estimates = estimate_session(session)
        return estimates if self._facts["several"] else next(iter(estimates.values()))

    def snapshot(self) -> Session:
        """Return the session as it is in the file now; what happens later does not change it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     before = study.snapshot()
        ...     _ = study.ask(3)
        ...     len(before.asked), len(study.snapshot().asked)
        (0, 3)
        """
        with self._reading() as (session, _):
            return session.copied()

    def fields(self, ids: Any) -> list[dict[str, Any]]:
        """Return what the pool shows to a labeller of these items.

        Parameters
        ----------
        ids : iterable
            Ids that were asked for, or their texts.

        Returns
        -------
        list of dict
            For each item field -> value; of a ranking's documents field -> (document -> value).

        Raises
        ------
        LabelError
            If an item was never asked for.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9], ids=["a", "b"], fields={"text": ["see you", "win"]})
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=2) as study:
        ...     _ = study.ask(2)
        ...     study.fields(["b", "a"])
        [{'text': 'win'}, {'text': 'see you'}]
        """
        with self._reading() as (session, _):
            return [self._shown(session.ids[position]) for position in session.located(listed("ids", ids))]

    def documents(self, ids: Any) -> list[list[Any]]:
        """Return, of rankings, the documents of these queries; a label judges all of them.

        Parameters
        ----------
        ids : iterable
            Queries that were asked for, or their texts.

        Raises
        ------
        LabelError
            If a query was never asked for.
        """
        with self._reading() as (session, _):
            return [session.documents(position) for position in session.located(listed("ids", ids))]

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
            claimed = _held(ledger.assignments.open())
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

    def labels(self) -> dict[Any, Any]:
        """Return the labels that count, in the order of asking, by id; None is a skip, pending items are left out.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell({"a": "ham", "b": None})
        ...     sorted(study.labels().items())
        [('a', 'ham'), ('b', None)]
        """
        with self._reading() as (session, _):
            answers = {session.ids[p]: session.answers[p] for p in session.asked if p in session.answers}
        return {name: decode_label(label, self.task) for name, label in answers.items()}

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


def _held(assignments: Sequence[Row]) -> Counter[Any]:
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
