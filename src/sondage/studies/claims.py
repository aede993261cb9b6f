"""Items go out: in the order of asking, on lease where several people label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sondage.core.checks import listed, require_count
from sondage.studies import records
from sondage.studies.filing import plan_event, stage_row, stage_rows
from sondage.studies.kept import Kept
from sondage.studies.names import require_name
from sondage.studies.session import Session
from sondage.studies.times import now

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger

__all__ = ["Claim", "Lending"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """An item that a labeller holds.

    Attributes
    ----------
    id : str or number
        The item.
    fields : dict
        What the pool says of it.
    until : datetime
        When it goes to others, if it is not answered before; UTC.
    fresh : bool
        Whether it was not held before.
    """

    id: Any
    fields: dict[str, Any]
    until: datetime
    fresh: bool = field(default=False, compare=False)


class Lending(Kept):
    """The side of a study that gives items to labellers."""

    def ask(self, n: int | None = None) -> list[Any]:
        """Return ids to label: pending ones first, then the next of the draw; `claim` is for several labellers.

        Parameters
        ----------
        n : int, optional
            How many; by default all that the budget still pays. A staged method gives fewer at the end of a stage,
            since the next one is planned from these labels; a request for all that remains is taken at its word.
            Where the pool is not at hand, the present stage's order goes on instead, and a warning says so.

        Returns
        -------
        list
            Ids, as the pool has them; empty when everything is labelled. Items that somebody has claimed, and those
            that wait for a second opinion only, are left out.

        Raises
        ------
        InputError
            If n is not a whole number from 1.
        StudyError
            If the pool is needed and not at hand: after an extension.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     first = study.ask(2)
        ...     _ = study.tell(first[:1], ["ham"])
        ...     study.ask(2)[0] == first[1]  # which is pending
        True
        """
        if n is not None:
            require_count("n", n)
        with self._writing() as (session, ledger):
            free = ledger.assignments.free(now())
            session.held = {p for p in session.pending if records.id_to_text(session.ids[p]) not in free}
            return self._ask(session, n, ledger)

    def _ask(self, session: Session, n: int | None, ledger: Ledger) -> list[Any]:
        """Ask, and write what is new: items, stages."""
        before, at = len(session.asked), now()
        ids = self._ask_beyond(session, n, ledger) if session.needs_next_stage(n) else session.ask(n)
        fresh = [records.id_to_text(session.ids[position]) for position in session.asked[before:]]
        ledger.add_asked(fresh, at)
        ledger.add_events([{"at": at, "kind": "asked", "id": name} for name in fresh])
        return ids

    def _ask_beyond(self, session: Session, n: int | None, ledger: Ledger) -> list[Any]:
        """Ask past the end of a stage, and write what that changes of the draws."""
        self._forget()
        pool = self._pool_at_hand() if session.in_reserve else self._present_pool()
        last = len(session.stages) - 1
        planned_from = session.n_labels, len(session.pending)
        ids = session.ask(n, pool)
        ledger.end_stage(stage_row(session, last), session.firsts[last + 1])
        if pool is not None:
            ledger.add_stage(*stage_rows(session, pool, last + 1, self.sharing))
            ledger.add_events([plan_event(session, now(), *planned_from)])
        ledger.count_revision()
        return ids

    def claim(self, labeller: str, n: int = 1) -> list[Claim]:
        """Lease items to a labeller; nobody else gets them until they are answered, released, or time is up.

        What the labeller holds already comes first, then items that nobody holds, then the next of the draw.

        Parameters
        ----------
        labeller : str
            Who is to label.
        n : int
            How many items to hold at once.

        Returns
        -------
        list of Claim
            Up to n; empty when there is nothing that this labeller could do.

        Raises
        ------
        InputError
            If n is not a whole number from 1, or the name is empty.
        StudyError
            If the pool is needed for the next of the draw, and not at hand.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     (one,), (other,) = study.claim("anna"), study.claim("ben")
        ...     one.id != other.id, study.claim("anna")[0].id == one.id
        (True, True)
        """
        require_count("n", n)
        require_name(labeller)
        taken: list[Row] = []
        if not self._store.is_file:  # claims of items that were asked for already pass each other: nobody queues
            with self._lock, self._store.writing() as ledger:
                taken = self._take(ledger, labeller, n)
            if len(taken) == n:
                with self._reading():  # one state, later than the lease: another process may have opened a stage
                    return [self._claim(row) for row in taken]
        with self._writing() as (session, ledger):
            taken = self._take(ledger, labeller, n, taken)
            if len(taken) < n and session.remaining:
                session.held = set(session.pending)  # what this labeller could take is taken
                self._ask(session, n - len(taken), ledger)
                self._refresh(ledger)
                taken = self._take(ledger, labeller, n, taken)
            return [self._claim(row) for row in taken]

    def _take(self, ledger: Ledger, labeller: str, n: int, before: Sequence[Row] = ()) -> list[Row]:
        """Lease items, and log which leases ran out and which are new; what the same claim took before stays fresh."""
        at = now()
        taken, expired = ledger.assignments.take(labeller, n, at, now(self._facts["lease"]))
        fresh = [row for row in taken if row.get("fresh")]
        log = [{"at": at, "kind": "expired", "id": row["id"], "who": row["who"]} for row in expired]
        log += [
            {"at": at, "kind": "claimed", "id": row["id"], "who": labeller, "details": {"until": row["until"]}}
            for row in fresh
        ]
        ledger.add_events(log)
        earlier = {row["number"] for row in before if row.get("fresh")}
        return [row | {"fresh": True} if row["number"] in earlier else row for row in taken]

    def _claim(self, row: Row) -> Claim:
        name = records.id_from_text(row["id"])
        return Claim(name, self._shown(name), datetime.fromisoformat(row["until"]), bool(row.get("fresh")))

    def release(self, labeller: str, ids: Iterable[Any] | None = None) -> list[Any]:
        """Give up items that a labeller holds, so that others get them at once.

        Parameters
        ----------
        labeller : str
            Who holds them.
        ids : iterable, optional
            Which; by default all.

        Returns
        -------
        list
            Ids of the items that were held.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     held = [claim.id for claim in study.claim("anna", 2)]
        ...     study.release("anna", held[:1]) == held[:1], study.progress()
        (True, {'anna': Progress(labelled=0, skipped=0, claimed=1)})
        """
        require_name(labeller)
        with self._writing() as (session, ledger):
            names = None if ids is None else self._written(session, listed("ids", ids))
            let_go, at = ledger.assignments.release(labeller, names), now()
            ledger.add_events([{"at": at, "kind": "released", "id": name, "who": labeller} for name in let_go])
        return [records.id_from_text(name) for name in let_go]
