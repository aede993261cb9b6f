"""A study: a session that is kept in a file, survives everything, and is shared by processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.measures import Measure, Task, parse_measure
from sondage.core.results import Comparison, Estimate, Selection
from sondage.errors import InputError, StudyError
from sondage.pools import Pool
from sondage.studies import records
from sondage.studies.answers import compare_session, estimate_session, select_session
from sondage.studies.labels import Label, decode_label
from sondage.studies.method import Method, Question, choose_method
from sondage.studies.session import Session
from sondage.version import __version__

if TYPE_CHECKING:
    from sondage.studies.store import Records, Store

__all__ = ["Status", "Study"]

Result = Estimate | dict[str, Estimate] | Comparison | Selection


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
    >>> import tempfile
    >>> pool = Pool(probabilities=[0.1, 0.9, 0.4, 0.7])
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Study.create(folder.name + "/study.db", pool, measure="error_rate", budget=4) as study:
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

        several = isinstance(measure, Sequence) and not isinstance(measure, str)
        named: Any = measure if several else [measure]
        wanted = tuple(parse_measure(one, positive) for one in named)
        kind = _kind(compare, select or models is not None)
        names = _models(pool, kind, model, compare, models)
        question = Question(kind, names, wanted, alpha, alternative, margin)
        store = Store(place)
        store.create()
        session = Session.start(pool, question, choose_method(method, **parts), budget=budget, seed=seed)
        facts, drawn = _study_row(pool, session, several), _stage_rows(session, pool)
        store.begin()
        with store.writing() as new:
            new.make_tables()
            new.add_study(facts)
            new.replace_stage(*drawn)
        return cls(store, pool, _by_name(wanted))

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
        return f"<Study {self.place}: {question.kind} {measures}, {status.labelled} of {status.budget:g} labelled>"

    @property
    def place(self) -> str:
        """Path or URL."""
        return self._store.place

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
        return self._session.stage.seed

    @property
    def facts(self) -> dict[str, Any]:
        """What the file says of itself: schema, version, created, fingerprint and source of the pool."""
        return {name: self._facts[name] for name in ("schema", "version", "created", "fingerprint", "source")}

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
            How many; by default all that the budget still pays.

        Returns
        -------
        list
            Ids, as the pool has them; empty when everything is labelled.
        """
        with self._lock, self._store.writing() as found:
            session = self._refresh(found, lock=True)
            before = len(session.asked)
            ids = session.ask(n)
            at = _now()
            fresh = [session.ids[position] for position in session.asked[before:]]
            found.add_asked([{"id": records.id_to_text(name), "at": at} for name in fresh])
        return ids

    def tell(
        self, ids: Iterable[Any], labels: Iterable[Any], *, correct: bool = False, who: str | None = None
    ) -> int:
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
        return {"id": records.id_to_text(name), "label": records.dump(value), "who": who, "at": _now()}

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
        """Raise the budget: the same order goes on, nothing asked so far changes.

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
        pool = pool or self._pool or self._read_pool()
        self._require_same(pool)
        with self._lock, self._store.writing() as found:
            session = self._refresh(found, lock=True)
            session.extend(pool, budget)
            self._session = session
            found.replace_stage(*_stage_rows(session, pool))
            found.raise_budget(session.budget)

    def fields(self, ids: Iterable[Any]) -> list[dict[str, Any]]:
        """Return what the pool shows to a labeller of these items."""
        return [self._fields[self._session.ids[self._session.position(name)]] for name in ids]

    def history(self) -> list[dict[str, Any]]:
        """Return all labels ever told, first to last: number, id, label, who, at, supersedes."""
        with self._store.reading() as found:
            rows = [dict(row) for row in found.labels()]
        return [row | {"id": records.id_from_text(row["id"]), "label": json.loads(row["label"])} for row in rows]

    def _refresh(self, found: Records, *, lock: bool = False) -> Session:
        """Read what other processes have written since."""
        facts = found.study(lock=lock)
        if facts["revision"] != self._facts.get("revision"):
            self._session, self._fields = _load(facts, found, self._own)
            self._facts = facts
        session = self._session
        positions = {records.id_to_text(name): position for position, name in enumerate(session.ids)}
        session.asked = [positions[row["id"]] for row in found.asked()]
        labels = ((positions[row["id"]], json.loads(row["label"])) for row in found.labels())
        session.answers = {position: _coded(label, session.task) for position, label in labels}
        return session

    def _require_same(self, pool: Pool) -> None:
        if pool.fingerprint != self._facts["fingerprint"]:
            raise StudyError(
                f"{self.place} is a study of another pool: ids, outputs, weights, costs or groups have changed since"
            )

    def _read_pool(self) -> Pool:
        source = self._facts["source"]
        if source is None:
            raise StudyError(f"{self.place}: to extend it, the pool is needed, and it did not come from a file: pass pool=")
        from sondage.pools.files import read_pool

        try:
            self._pool = read_pool(source, **json.loads(self._facts["reading"]))
        except InputError as error:
            raise StudyError(f"{self.place}: to extend it, the pool is needed: {error}") from None
        return self._pool


def _kind(compare: Sequence[str] | None, select: bool) -> str:
    if compare is not None and select:
        raise InputError("a study compares two models or selects from all; give compare or select, not both")
    return "compare" if compare is not None else "select" if select else "evaluate"


def _models(
    pool: Pool, kind: str, model: str | None, compare: Sequence[str] | None, models: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the models asked about."""
    if kind == "evaluate":
        if model is None and len(pool.models) > 1:
            raise InputError(
                f"the pool has several models {list(pool.models)}: name one with model=, or two with compare="
            )
        return (pool.models[0 if model is None else pool.model(model)],)
    if model is not None:
        raise InputError(f"model={model!r} is for one model; this study is to {kind} several")
    names = tuple(compare or models or pool.models)
    for name in names:
        pool.model(name)
    if len(set(names)) != len(names) or len(names) < 2 or (kind == "compare" and len(names) != 2):
        raise InputError(f"{kind} needs {'two' if kind == 'compare' else 'two or more'} different models, not {list(names)}")
    return names


def _by_name(measures: Iterable[Measure]) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _study_row(pool: Pool, session: Session, several: bool) -> dict[str, Any]:
    from sondage.studies.tables import SCHEMA

    task = session.task
    return {
        "number": 1,
        "schema": SCHEMA,
        "version": __version__,
        "created": _now(),
        "fingerprint": pool.fingerprint,
        "source": pool.source,
        "reading": records.dump(pool.reading),
        "question": records.dump(records.question_to_data(session.question)),
        "method": records.dump(records.method_to_data(session.method)),
        "task": records.dump({"kind": task.kind, "classes": task.classes, "grades": task.grades}),
        "models": records.dump(session.models),
        "several": int(several),
        "budget": session.budget,
        "revision": 0,
    }


def _stage_rows(session: Session, pool: Pool) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of the stage, its drawn items, and their rows of the pool."""
    stage, drawn = session.stage, session.stage.drawn
    ids = [records.id_to_text(name) for name in session.ids]
    shown = drawn.units if pool.unit_rows is None else pool.unit_rows[drawn.units]
    columns = {name: column[shown] for name, column in pool.fields.items()}
    stage_row = records.stage_to_data(stage) | {
        "layout": records.dump(records.layout_of(session.items)),
        "grouped": int(session.units is not None),
    }
    draws = [
        {
            "id": name,
            "stage": stage.number,
            "position": position,
            "unit": int(drawn.units[position]),
            "key": float(drawn.keys[position]),
            "rate": float(drawn.rates[position]),
            "size": float(drawn.sizes[position]),
            "cost": None if session.costs is None else float(session.costs[position]),
            "fields": records.dump({field: column[position] for field, column in columns.items()}),
        }
        for position, name in enumerate(ids)
    ]
    units = range(len(ids)) if session.units is None else session.units.tolist()
    rows = [
        row | {"id": ids[unit]} for row, unit in zip(records.items_to_rows(session.items), units, strict=True)
    ]
    return stage_row, draws, rows


def _load(
    facts: Mapping[str, Any], found: Records, own: Mapping[str, Measure]
) -> tuple[Session, dict[Any, dict[str, Any]]]:
    """Return the session and the fields of its items, from the rows of a study."""
    stage_row, draws, rows = found.stage(), found.draws(), found.rows()
    positions = {draw["id"]: position for position, draw in enumerate(draws)}
    units = np.array([positions[row["id"]] for row in rows], dtype=np.int64) if stage_row["grouped"] else None
    costs = None if not draws or draws[0]["cost"] is None else np.array([draw["cost"] for draw in draws])
    ids = [records.id_from_text(draw["id"]) for draw in draws]
    session = Session(
        records.question_from_data(json.loads(facts["question"]), own),
        records.method_from_data(json.loads(facts["method"])),
        Task(**{name: records.tuples(value) for name, value in json.loads(facts["task"]).items()}),
        tuple(json.loads(facts["models"])),
        records.stage_from_data(stage_row, draws),
        ids=ids,
        items=records.items_from_rows(rows, json.loads(stage_row["layout"])),
        units=units,
        costs=costs,
        budget=facts["budget"],
    )
    fields = {name: json.loads(draw["fields"]) for name, draw in zip(ids, draws, strict=True)}
    return session, fields


def _coded(label: Any, task: Task) -> Label | None:
    """Return a stored label as the session has it."""
    if label is None:
        return None
    if task.kind == "classification":
        return task.classes.index(label)
    return tuple(label) if isinstance(label, list) else label
