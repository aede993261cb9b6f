"""Who is at work on what: items are leased to labellers, and come back.

An item has one assignment for each label that it is to get. A claim takes open ones in the order of asking, by a lock
on the assignment itself (PostgreSQL: FOR UPDATE SKIP LOCKED, so that claims pass each other; SQLite has one writer).
The lease is in the locked row itself: PostgreSQL checks a row again once it has its lock, and no other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, func, insert, or_, select, update

from sondage.studies import tables

__all__ = ["Assignments", "statements_of"]

AT_ONCE = 500
"""How many ids go into one statement; databases bound its parameters."""

MOST = 2**31 - 1
"""Rows that are asked for; databases bound that too."""

Row = dict[str, Any]

_ROW = tables.assignments
_OPEN = _ROW.c.done == 0


class Assignments:
    """The assignments of a study within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, ids: Iterable[str]) -> None:
        """Append open assignments, one for each id given."""
        rows = [{"id": name} for name in ids]
        if rows:
            self._connection.execute(insert(_ROW), rows)

    def take(self, who: str, count: int, now: str, until: str) -> tuple[list[Row], list[Row]]:
        """Lease up to so many items to a person.

        Returns
        -------
        taken : list of dict
            The assignments: those that the person holds already, first, with the end of their lease as it was; of the
            others `fresh` is true.
        expired : list of dict
            Assignments as they were before, of which another person's lease had run out.
        """
        count = min(count, MOST)
        if self._connection.dialect.name == "postgresql":  # one claim of a person at a time
            self._connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(who))))
        held = and_(_OPEN, _ROW.c.who == who, _ROW.c.until > now)
        taken: list[Row] = self._all(select(_ROW).where(held).order_by(_ROW.c.number).limit(count))
        expired: list[Row] = []
        while len(taken) < count and (found := self._free(who, count - len(taken), now)):
            first = list({row["id"]: row for row in reversed(found)}.values())[::-1]  # one of an item's assignments
            numbers = [row["number"] for row in first]
            for some in statements_of(numbers):
                self._connection.execute(update(_ROW).where(_ROW.c.number.in_(some)).values(who=who, until=until))
            expired += [row for row in first if row["who"] not in (None, who)]
            taken += [row | {"who": who, "until": until, "fresh": True} for row in first]
        return taken, expired

    def _free(self, who: str, count: int, now: str) -> list[Row]:
        """Return open assignments that nobody holds, of items which the person has no other assignment of; locked."""
        other = _ROW.alias()
        own = exists().where(other.c.id == _ROW.c.id, other.c.who == who, other.c.number != _ROW.c.number)
        query = select(_ROW).where(_OPEN, _lapsed(now), ~own).order_by(_ROW.c.number).limit(count)
        return self._all(query.with_for_update(skip_locked=True))

    def free(self, now: str) -> set[str]:
        """Return the items with an open assignment that nobody holds."""
        return set(self._connection.execute(select(_ROW.c.id).where(_OPEN, _lapsed(now))).scalars())

    def of(self, ids: Sequence[str]) -> dict[str, list[Row]]:
        """Return all assignments of these items, in their order; locked."""
        found: dict[str, list[Row]] = {name: [] for name in ids}
        for names in statements_of(ids):
            query = select(_ROW).where(_ROW.c.id.in_(names)).order_by(_ROW.c.number)
            for row in self._all(query.with_for_update()):
                found[row["id"]].append(row)
        return found

    def open(self) -> list[Row]:
        """Return all that are not done."""
        return list(self._all(select(_ROW).where(_OPEN).order_by(_ROW.c.number)))

    def finish(self, done: Iterable[Row]) -> None:
        """Write that these were done by a person: number and who; without a number a further one."""
        rows = [{"done": 1, "until": None} | row for row in done]
        further = [{name: row[name] for name in row if name != "number"} for row in rows if row["number"] is None]
        given = [{"at": row["number"], "by": row["who"]} for row in rows if row["number"] is not None]
        if further:
            self._connection.execute(insert(_ROW), further)
        if given:
            values: dict[str, Any] = {"who": bindparam("by"), "until": None, "done": 1}
            self._connection.execute(update(_ROW).where(_ROW.c.number == bindparam("at")).values(values), given)

    def reopen(self, name: str, who: str, until: str) -> None:
        """Give an item that a person has labelled back to that person."""
        mine = and_(_ROW.c.id == name, _ROW.c.who == who, _ROW.c.done == 1)
        self._connection.execute(update(_ROW).where(mine).values(done=0, until=until))

    def release(self, who: str, ids: Sequence[str] | None) -> list[str]:
        """Give up what a person holds, all or these items; return which."""
        mine = and_(_OPEN, _ROW.c.who == who)
        held = [row["id"] for row in self._all(select(_ROW).where(mine).with_for_update())]
        wanted = set(held if ids is None else ids)
        let_go = [name for name in held if name in wanted]
        for name in let_go:
            self._connection.execute(update(_ROW).where(mine, _ROW.c.id == name).values(who=None, until=None))
        return let_go

    def _all(self, query: Any) -> list[Row]:
        return [dict(row) for row in self._connection.execute(query).mappings()]


def statements_of(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the parts of these that go into one statement each."""
    return (values[first : first + AT_ONCE] for first in range(0, len(values), AT_ONCE))


def _lapsed(now: str) -> Any:
    return or_(_ROW.c.until.is_(None), _ROW.c.until <= now)
