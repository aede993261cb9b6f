"""A session and the database that keeps it: what other processes wrote is read before anything is said or done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from threading import RLock
from typing import TYPE_CHECKING, Any

from sondage.core.measures import Measure, Task
from sondage.errors import InputError, StudyError, warn
from sondage.pools import Pool, require_pool
from sondage.studies import records
from sondage.studies.ballots import PENDING, Ballots
from sondage.studies.filing import load_session
from sondage.studies.method import Method, Question
from sondage.studies.session import Session
from sondage.studies.sharing import Sharing

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger
    from sondage.studies.store import Store

__all__ = ["Kept"]


class Kept:
    """A session that is kept: its facts, and the one way to read and to write it.

    Parameters
    ----------
    store : Store
        The database.
    pool : Pool, optional
        The study's pool, where it is at hand.
    own : mapping of str to Measure
        The user's own measures, by name.
    """

    def __init__(self, store: Store, pool: Pool | None, own: Mapping[str, Measure]) -> None:
        self._store, self._pool, self._own = store, pool, own
        self._lock = RLock()
        self._facts: Mapping[str, Any] = {}
        self._fields: dict[Any, dict[str, Any]] = {}
        self._session: Session
        self._ballots: Ballots
        self._positions: dict[str, int]
        self._asked: list[int]
        self._last_asked: int
        with self._reading():
            pass
        if pool is not None:
            self._require_same(pool)

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
    def sharing(self) -> Sharing:
        """How labellers share the items: how many label an item, and how long a claim holds."""
        return Sharing(**{name: self._facts[name] for name in ("raters", "overlap", "lease")})

    @property
    def facts(self) -> dict[str, Any]:
        """What the file says of itself: schema, version, created, fingerprint and source of the pool."""
        return {name: self._facts[name] for name in ("schema", "version", "created", "fingerprint", "source")}

    @property
    def reading(self) -> dict[str, Any]:
        """Options with which the pool was read from its file."""
        return dict(json.loads(self._facts["reading"]))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make every call quicker for a while; for a process that serves others, and does not fork."""
        with self._store.held():
            yield

    @contextmanager
    def _reading(self) -> Iterator[tuple[Session, Ledger]]:
        """Open one state of the study, to read."""
        with self._lock, self._store.reading() as ledger:
            yield self._refresh(ledger), ledger

    @contextmanager
    def _writing(self) -> Iterator[tuple[Session, Ledger]]:
        """Open a transaction that writes, one after the other; if it fails, the session is as the database is."""
        with self._lock:
            try:
                with self._store.writing() as ledger:
                    yield self._refresh(ledger, lock=True), ledger
            except BaseException:
                self._forget()
                raise

    def _forget(self) -> None:
        """Read everything again before the next use."""
        self._facts = {**self._facts, "revision": None}

    def _refresh(self, ledger: Ledger, *, lock: bool = False) -> Session:
        """Read what other processes have written since."""
        facts = ledger.study(lock=lock)
        with self._store.damage_told():
            if facts["revision"] != self._facts.get("revision"):
                self._session, self._fields = load_session(facts, ledger, self._own)
                names = map(records.id_to_text, self._session.ids)
                self._positions = {name: position for position, name in enumerate(names)}
                self._ballots, self._asked, self._last_asked = Ballots(self._session.task), [], 0
                self._facts = facts
            self._bring_up(ledger)
        return self._session

    def _bring_up(self, ledger: Ledger) -> None:
        """Take what was asked and told since; both have one order, since writers queue."""
        session, ballots = self._session, self._ballots
        for row in ledger.asked(after=self._last_asked):
            self._asked.append(self._positions[row["id"]])
            self._last_asked = row["number"]
        session.asked = list(self._asked)
        told = ledger.labels(after=ballots.last)
        for row in told:
            ballots.add(row)
        session.labellers = len(ballots.people)
        for item in dict.fromkeys(row["id"] for row in told):
            position, label, opinions = self._positions[item], ballots.label(item), ballots.opinions(item)
            session.answers.pop(position, None)
            session.opinions.pop(position, None)
            if label is not PENDING:
                session.answers[position] = label
            if len(opinions) > 1:
                session.opinions[position] = opinions

    def _written(self, session: Session, names: Iterable[Any], *, labels: bool = False) -> list[str]:
        """Return the ids of items that were asked for, as they are written."""
        return [records.id_to_text(session.ids[position]) for position in session.located(names, labels=labels)]

    def _shown(self, name: Any) -> dict[str, Any]:
        """Return what the pool shows of an item, as the caller's own."""
        return deepcopy(self._fields[name])

    def _present_pool(self, pool: Pool | None = None) -> Pool:
        """Return the pool, as given, kept, or read again, if it is the study's own; it is kept from then on."""
        pool = self._pool if pool is None else pool
        pool = self._read_pool() if pool is None else pool
        self._require_same(pool)
        self._pool = pool
        return pool

    def _pool_at_hand(self) -> Pool | None:
        """Return the study's pool if it is kept, or its file is there and the same; else say why not."""
        try:
            return self._present_pool()
        except StudyError as error:
            message = f"{error}; the present order goes on, and nothing is chosen from the labels so far"
            warn(message)
            return None

    def _require_same(self, pool: Pool) -> None:
        require_pool(pool)
        if pool.fingerprint != self._facts["fingerprint"]:
            told = "ids, outputs, weights, costs or groups differ"
            if not pool.equal_weights:  # an engine's sum of them is rounded
                told += ", or it is read with lazy= in the other way"
            raise StudyError(f"{self._store.name} is a study of another pool: {told}")

    def _read_pool(self) -> Pool:
        """Read the pool again from the file that it came from."""
        source = self._facts["source"]
        if source is None:
            raise StudyError(
                f"{self._store.name}: the next draw needs the pool, and it did not come from a file: "
                "give it to Study.open or to extend"
            )
        from sondage.pools.files import read_pool

        classes = self.task.classes
        numbered = self.task.kind == "classification" and classes == tuple(range(len(classes)))
        as_numbered = {"classes": list(classes)} if numbered else {}  # by release 0.1 without a 0 among them, too
        try:
            return read_pool(source, **as_numbered | self.reading)
        except InputError as error:
            rule = "if it has moved, extend takes its new place, at the present budget too"
            raise StudyError(f"{self._store.name}: the next draw needs the pool: {error}; {rule}") from None
