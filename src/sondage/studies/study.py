"""A study: a session that is kept in a file, survives everything, and is shared by processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.measures import Measure, Task
from sondage.errors import InputError, StudyError
from sondage.pools import Pool
from sondage.studies import records
from sondage.studies.answers import compare_session, estimate_session
from sondage.studies.filing import bring_up, load_session, now, stage_row, stage_rows, study_row
from sondage.studies.labels import Label, decode_label
from sondage.studies.method import Method, Question, choose_method
from sondage.studies.questions import make_question
from sondage.studies.selecting import select_session
from sondage.studies.session import Session

if TYPE_CHECKING:
    from sondage.studies.store import Records, Store

__all__ = ["Status", "Study"]


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
    """

    budget: float
    spent: float
    asked: int
    labelled: int
    skipped: int
    pending: int
    remaining: int

    @property
    def complete(self) -> bool:
        """Whether everything was asked for and answered."""
        return not self.remaining and not self.pending


class Study:
    """A question, its drawn items and their labels, in one file; made by `create`, found again by `open`.

    Every `ask`, `tell` and `extend` is one transaction: what returned is on the disk, what was interrupted left
    nothing. Several processes may hold the same study.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> with TemporaryDirectory() as folder:
    ...     study = Study.create(f"{folder}/study.db", pool, measure="error_rate", budget=4)
    ...     study.tell(study.ask(4), [0, 0, 0, 0])
    ...     study.estimate().value
    4
    0.5
    """

    def __init__(self, store: Store, pool: Pool | None, own: Mapping[str, Measure]) -> None:
        self._store, self._pool, self._own = store, pool, own
        self._lock = RLock()
        self._facts: Mapping[str, Any] = {}
        self._fields: dict[Any, dict[str, Any]] = {}
        self._session: Session
        with store.reading() as found:
            self._refresh(found)
        if pool is not None:
            self._require_same(pool)

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        pool: Pool,
        measure: str | Measure | Sequence[str | Measure] = "error_rate",
        budget: float = 0,
        seed: int = 0,
        *,
        model: str | None = None,
        compare: Sequence[str] | None = None,
        select: bool = False,
        models: Sequence[str] | None = None,
        positive: Any = None,
        method: str | Method | None = None,
        alpha: float = 0.05,
        alternative: str = "two-sided",
        margin: float = 0.0,
        **parts: Any,
    ) -> Study:
        """Plan a study, draw its items and write it.

        Parameters
        ----------
        place : str or path
            The file to make, or a database URL.
        pool, measure, budget, seed, model, positive, method
            As for `sondage.evaluate`.
        compare : (str, str), optional
            Compare these two models, as `sondage.compare`.
        select : bool
            Rank all models, or those of `models`, as `sondage.select`.
        models : sequence of str, optional
            Which models to rank.
        alpha, alternative, margin
            As for `sondage.compare`.
        **parts
            Parts of the method by name: ``design``, ``floor``, ``draw``, ``estimator``, ``interval``, ``test``,
            ``belief``, ``target``. A study keeps the method it began with.

        Returns
        -------
        Study

        Raises
        ------
        StudyError
            If there is a study already, or the place cannot be written.
        InputError
            If an argument is not allowed; nothing is written.
        """
        from sondage.studies.store import Store  # here, for SQLAlchemy takes a third of the time to import sondage

        question = make_question(
            pool,
            measure,
            model=model,
            compare=compare,
            select=select,
            models=models,
            positive=positive,
            alpha=alpha,
            alternative=alternative,
            margin=margin,
        )
        store = Store(place)
        store.create()
        session = Session.start(pool, question, choose_method(method, **parts), budget=budget, seed=seed)
        several = isinstance(measure, Sequence) and not isinstance(measure, str)
        facts, drawn = study_row(pool, session, several), stage_rows(session, pool, 0)
        store.begin()
        with store.writing() as new:
            new.make_tables()
            new.add_study(facts)
            new.add_stage(*drawn)
        return cls(store, pool, _by_name(question.measures))

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        pool: Pool | None = None,
        measures: Measure | Iterable[Measure] | None = None,
    ) -> Study:
        """Open a study.

        Parameters
        ----------
        place : str or path
            The file, or a database URL.
        pool : Pool, optional
            The pool, to be checked against the study's and for `extend`.
        measures : Measure or iterable of Measure, optional
            Your own measures, which a file cannot hold.

        Returns
        -------
        Study

        Raises
        ------
        StudyError
            If there is no study, it is of another pool or of a newer release, or needs your own measure.
        """
        from sondage.studies.store import Store  # here, for SQLAlchemy takes a third of the time to import sondage

        given = () if measures is None else measures if isinstance(measures, Iterable) else (measures,)
        store = Store(place)
        store.exists()
        return cls(store, pool, _by_name(given))

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()

    def __repr__(self) -> str:
        status, question = self.status, self.question
        measures = ", ".join(measure.name for measure in question.measures)
        return (
            f"<Study {self._store.name}: {question.kind} {measures}, {status.labelled} of {status.budget:g} labelled>"
        )

    @property
    def place(self) -> str:
        """Path or URL."""
        return self._store.place

    @property
    def name(self) -> str:
        """The place without a password, for people to read."""
        return self._store.name

    @property
    def question(self) -> Question:
        """What is asked."""
        return self._session.question

    @property
    def method(self) -> Method:
        """How it is answered."""
        return self._session.method

    @property
    def task(self) -> Task:
        """What kind of labels are wanted, and the classes."""
        return self._session.task

    @property
    def models(self) -> tuple[str, ...]:
        """All models of the pool."""
        return self._session.models

    @property
    def seed(self) -> int:
        """Seed of the draw."""
        return self._session.seed

    @property
    def facts(self) -> dict[str, Any]:
        """What the file says of itself: schema, version, created, fingerprint and source of the pool."""
        return {name: self._facts[name] for name in ("schema", "version", "created", "fingerprint", "source")}

    @property
    def reading(self) -> dict[str, Any]:
        """Options with which the pool was read from its file."""
        return dict(json.loads(self._facts["reading"]))

    @property
    def session(self) -> Session:
        """A copy of what has been drawn, asked and answered, as it is in the file now."""
        with self._lock, self._store.reading() as found:
            return self._refresh(found).copied()

    @property
    def status(self) -> Status:
        """Counts, as they are in the file now."""
        with self._lock, self._store.reading() as found:
            session = self._refresh(found)
        skipped = sum(label is None for label in session.answers.values())
        return Status(
            session.budget,
            session.spent,
            len(session.asked),
            session.n_labels,
            skipped,
            len(session.pending),
            session.remaining,
        )

    def ask(self, n: int | None = None) -> list[Any]:
        """Return ids to label: pending ones first, then the next of the draw.

        Parameters
        ----------
        n : int, optional
            How many; by default all that the budget still pays. A staged method gives fewer at the end of a stage,
            since the next one is planned from these labels; a request for all that remains is taken at its word.
            Where the pool is not at hand, the present stage's order goes on instead.

        Returns
        -------
        list
            Ids, as the pool has them; empty when everything is labelled.

        Raises
        ------
        InputError
            If n is not positive, or the pool is needed and not at hand: after an extension.
        """
        with self._lock, self._store.writing() as found:
            session = self._refresh(found, lock=True)
            before, at, due = len(session.asked), now(), session.due(n)
            ids = self._ask_beyond(session, n, found) if due else session.ask(n)
            fresh = [session.ids[position] for position in session.asked[before:]]
            found.add_asked([{"id": records.id_to_text(name), "at": at} for name in fresh])
        return ids

    def _ask_beyond(self, session: Session, n: int | None, found: Records) -> list[Any]:
        """Ask past the end of a stage, and write what that changes of the draws."""
        self._facts = {**self._facts, "revision": None}  # whatever happens now, read the draws again
        pool, last = self._pool_at_hand(), len(session.stages) - 1
        ids = session.ask(n, pool)
        found.end_stage(stage_row(session, last), session.firsts[last + 1])
        if pool is not None:
            found.add_stage(*stage_rows(session, pool, last + 1))
        found.count_revision()
        return ids

    def tell(self, ids: Iterable[Any], labels: Iterable[Any], *, correct: bool = False, who: str | None = None) -> int:
        """Take labels; all of them or, if one is refused, none.

        Parameters
        ----------
        ids : iterable
            Ids that were asked for, or their texts.
        labels : iterable
            Their labels; None is a skip.
        correct : bool
            Let a label replace an earlier, different one, which is kept in the file.
        who : str, optional
            Who says so.

        Returns
        -------
        int
            Number of answers that are new or changed.

        Raises
        ------
        LabelError
            If an id was never asked for, a label is not allowed, or it contradicts an earlier one.
        """
        with self._lock, self._store.writing() as found:
            session = self._refresh(found, lock=True)
            new = session.check(ids, labels, correct=correct)
            found.add_labels([self._label_row(position, label, who) for position, label in new.items()])
        return len(new)

    def _label_row(self, position: int, label: Label | None, who: str | None) -> dict[str, Any]:
        name, value = self._session.ids[position], decode_label(label, self.task)
        return {"id": records.id_to_text(name), "label": records.dump(value), "who": who, "at": now()}

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
        with self._lock, self._store.reading() as found:
            session = self._refresh(found)
            if self.question.kind == "compare":
                return compare_session(session, generator)
            if self.question.kind == "select":
                return select_session(session)
            estimates = estimate_session(session)
        return estimates if self._facts["several"] else next(iter(estimates.values()))

    def extend(self, budget: float, pool: Pool | None = None) -> None:
        """Raise the budget; nothing asked so far changes.

        A single draw goes on in the same order; a staged method plans further stages from the labels.

        Parameters
        ----------
        budget : float
            The new budget, above the present one.
        pool : Pool, optional
            The pool; by default the one the study was opened with, or the file it came from, read again.

        Raises
        ------
        StudyError
            If the pool is not there, or not the same.
        InputError
            If the budget is not above the present one, or above the pool.
        """
        pool = self._present_pool(pool)
        with self._lock, self._store.writing() as found:
            session = self._refresh(found, lock=True)
            self._facts = {**self._facts, "revision": None}
            session.extend(pool, budget)
            if session.method.staged:
                found.end_stage(stage_row(session, len(session.stages) - 1), len(session.ids))
            else:
                found.drop_stages()
                found.add_stage(*stage_rows(session, pool, 0))
            found.raise_budget(session.budget)
            found.count_revision()

    def fields(self, ids: Iterable[Any]) -> list[dict[str, Any]]:
        """Return what the pool shows to a labeller of these items."""
        with self._lock, self._store.reading() as found:
            session = self._refresh(found)
            return [self._fields[session.ids[session.position(name)]] for name in ids]

    def history(self) -> list[dict[str, Any]]:
        """Return all labels ever told, first to last: number, id, label, who, at, supersedes."""
        with self._store.reading() as found:
            rows = [dict(row) for row in found.labels()]
        return [row | {"id": records.id_from_text(row["id"]), "label": json.loads(row["label"])} for row in rows]

    def _refresh(self, found: Records, *, lock: bool = False) -> Session:
        """Read what other processes have written since."""
        facts = found.study(lock=lock)
        if facts["revision"] != self._facts.get("revision"):
            self._session, self._fields = load_session(facts, found, self._own)
            self._facts = facts
        bring_up(self._session, found)
        return self._session

    def _present_pool(self, pool: Pool | None = None) -> Pool:
        """Return the pool, as given, kept, or read again, if it is the study's own."""
        pool = pool or self._pool or self._read_pool()
        self._require_same(pool)
        return pool

    def _pool_at_hand(self) -> Pool | None:
        """Return the study's pool if it is kept, or its file is there and the same."""
        try:
            return self._present_pool()
        except StudyError:
            return None

    def _require_same(self, pool: Pool) -> None:
        if pool.fingerprint != self._facts["fingerprint"]:
            raise StudyError(
                f"{self._store.name} is a study of another pool: ids, outputs, weights, costs or groups differ"
            )

    def _read_pool(self) -> Pool:
        source = self._facts["source"]
        if source is None:
            raise StudyError(
                f"{self._store.name}: the next draw needs the pool, and it did not come from a file: pass pool="
            )
        from sondage.pools.files import read_pool

        try:
            self._pool = read_pool(source, **self.reading)
        except InputError as error:
            raise StudyError(f"{self._store.name}: the next draw needs the pool: {error}") from None
        return self._pool


def _by_name(measures: Iterable[Measure]) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}
