"""Labels come in: told, corrected, skipped, taken back, resolved; nothing twice, and nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sondage.core.checks import listed
from sondage.errors import LabelError
from sondage.pools.texts import require_texts
from sondage.studies import records
from sondage.studies.claims import Lending
from sondage.studies.labels import Label, ambiguity, contradiction, decode_label, paired, said_alike
from sondage.studies.names import require_name
from sondage.studies.session import Session
from sondage.studies.times import now

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger

__all__ = ["Desk"]


class Desk(Lending):
    """The side of a study where labellers work: items go out, labels come in."""

    def tell(
        self,
        ids: Iterable[Any] | Mapping[Any, Any],
        labels: Iterable[Any] | None = None,
        *,
        correct: bool = False,
        who: str | Sequence[str | None] | None = None,
        further: bool = False,
        reason: str | None = None,
        request: str | None = None,
    ) -> int:
        """Take labels; all of them or, if one is refused, none.

        Where an item is to be labelled by several people, each one's label is kept as theirs. Everywhere else a second
        person's different label is a contradiction.

        Parameters
        ----------
        ids : iterable or mapping
            Ids that were asked for, or their texts; or id -> label, without `labels`.
        labels : iterable, optional
            Their labels; None is a skip.
        correct : bool
            Let a label replace an earlier, different one, which is kept in the file: one's own or, where the item
            has all its labels, the last one's.
        who : str or sequence of str, optional
            Who says so: of all labels, or of each.
        further : bool
            Take these as further opinions, on items that have all the labels they were to get.
        reason : str, optional
            Why items are skipped.
        request : str, optional
            A name for this call. The same call with the same name again writes nothing and returns what it returned.

        Returns
        -------
        int
            Number of answers that are new or changed.

        Raises
        ------
        LabelError
            If an id was never asked for, a label is not allowed, or it contradicts an earlier one.
        InputError
            If the request's name was used for other labels.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3)
        ...     told = study.tell({"a": "ham", "b": "spam", "c": None}, who="anna")  # None is a skip
        ...     told, study.tell(["a"], ["spam"], correct=True), study.labels()["a"]
        (3, 1, 'spam')
        """
        require_texts(reason=reason, request=request)
        names, told = paired(ids, labels)
        who = who if who is None or isinstance(who, str) else listed("who", who)
        people = _by_person(names, told, who)
        for person in people:
            if person is not None:
                require_name(person)

        def write(session: Session, ledger: Ledger) -> int:
            count = 0
            for person, (own, said) in people.items():
                coded = self._coded(session, own, said)
                assigned = ledger.assignments.of(list(coded))
                rows = [
                    row
                    for item, label in coded.items()
                    if (row := self._row(item, label, assigned[item], who=person, correct=correct, further=further))
                    is not None
                ]
                self._write(ledger, rows, assigned, reason)
                self._bring_up(ledger)  # what the next person says is told after this
                count += len(rows)
            return count

        return int(self._once(request, ["tell", names, told, correct, who, further, reason], write))

    def replaced(
        self, ids: Iterable[Any], who: str | Sequence[str | None] | None = None, *, further: bool = False
    ) -> list[Any]:
        """Return of each item the label that `tell` would replace; None where that is a skip, or there is none.

        Parameters
        ----------
        ids : iterable
            Ids that were asked for, or their texts.
        who, further
            As in `tell`.

        Raises
        ------
        LabelError
            If an item was never asked for, or there are not as many names as ids.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell(["a"], ["ham"])
        ...     study.replaced(["a", "b"])
        ['ham', None]
        """
        names = listed("ids", ids)
        people = _of_each(names, who)
        with self._reading() as (session, ledger):
            items = self._written(session, names, labels=True)
            assigned = ledger.assignments.of(items)
            rows = [
                self._replaced(item, assigned[item], person, further)
                for item, person in zip(items, people, strict=True)
            ]
        return [None if row is None else decode_label(row["label"], self.task) for row in rows]

    def skip(self, name: Any, who: str | None, reason: str | None = None, *, request: str | None = None) -> int:
        """Leave an item unanswered for good; it is counted, and can still be answered later.

        Parameters
        ----------
        name : str or number
            The item.
        who : str or None
            Who skips it.
        reason : str, optional
            Why.
        request : str, optional
            As in `tell`.

        Returns
        -------
        int
            1, or 0 if it was skipped by the same person already.

        Raises
        ------
        LabelError
            If the item was never asked for, or is labelled.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3)
        ...     study.skip("a", "anna", reason="cannot be read"), study.status.skipped
        (1, 1)
        """
        return self.tell([name], [None], who=who, reason=reason, request=request)

    def undo(self, labeller: str, *, request: str | None = None) -> Any:
        """Take a labeller's last answer back; the item is theirs to answer again, and the answer is kept in the file.

        Parameters
        ----------
        labeller : str
            Who answered.
        request : str, optional
            As in `tell`.

        Returns
        -------
        str, number or None
            The item; None if there is nothing to take back.

        Raises
        ------
        InputError
            If the labeller's name is not allowed.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3) as study:
        ...     _ = study.ask(3), study.tell(["a"], ["spam"], who="anna")
        ...     study.undo("anna"), study.labels(), study.undo("anna")
        ('a', {}, None)
        """
        require_texts(request=request)
        require_name(labeller)

        def write(session: Session, ledger: Ledger) -> Any:
            last = self._ballots.last_of(labeller)
            if last is None:
                return None
            at, item = now(), last["id"]
            row = {"id": item, "label": "null", "who": labeller, "at": at, "supersedes": last["number"], "kind": "undo"}
            (number,) = ledger.add_labels([row])
            ledger.assignments.reopen(item, labeller, now(self._facts["lease"]))
            ledger.add_events([{"at": at, "kind": "undone", "id": item, "who": labeller, "label": number}])
            return records.id_from_text(item)

        return self._once(request, ["undo", labeller], write)

    def resolve(
        self, name: Any, label: Any, who: str | None = None, *, reason: str | None = None, request: str | None = None
    ) -> None:
        """Settle what an item's label is, whatever its labellers say; their labels are kept, and count as theirs.

        Parameters
        ----------
        name : str or number
            The item.
        label : object
            Its label.
        who : str, optional
            Who settles it.
        reason : str, optional
            Why so.
        request : str, optional
            As in `tell`.

        Raises
        ------
        LabelError
            If the item was never asked for, nobody has labelled it, or the label is not allowed.
        InputError
            If the labeller's name is not allowed.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sondage import Pool, Study
        >>> pool = Pool([0.1, 0.9, 0.4], ids=["a", "b", "c"], classes=["ham", "spam"])
        >>> with TemporaryDirectory() as folder, Study.create(f"{folder}/study.db", pool, budget=3, raters=2) as study:
        ...     _ = study.ask(3)
        ...     _ = study.tell(["a", "a"], ["ham", "spam"], who=["anna", "ben"])
        ...     before = study.status.disputed
        ...     study.resolve("a", "spam", who="carla")
        ...     before, study.status.disputed, study.labels()
        (1, 0, {'a': 'spam'})
        """
        require_texts(reason=reason, request=request)
        if who is not None:
            require_name(who)

        def write(session: Session, ledger: Ledger) -> None:
            ((item, coded),) = self._coded(session, [name], [label]).items()
            if not self._ballots.of(item):
                raise LabelError(
                    f"id {name!r} has no label yet: there is nothing to resolve, tell its label", ids=(name,)
                )
            if coded is None:
                raise LabelError(f"id {name!r} cannot be resolved by a skip", ids=(name,), refused=(label,))
            settled, at = self._ballots.resolution(item), now()
            row = {
                "id": item,
                "label": records.dump(decode_label(coded, self.task)),
                "who": who,
                "at": at,
                "supersedes": None if settled is None else settled["number"],
                "kind": "resolution",
                "reason": reason,
            }
            (number,) = ledger.add_labels([row])
            ledger.add_events([{"at": at, "kind": "resolved", "id": item, "who": who, "label": number}])

        self._once(request, ["resolve", name, label, who, reason], write)

    def _once(self, request: str | None, wanted: Sequence[Any], write: Callable[[Session, Ledger], Any]) -> Any:
        """Write, unless the same request was answered before; return its answer."""
        digest = sha256(records.dump(wanted).encode(errors="surrogatepass")).hexdigest()  # what is no text is refused
        with self._writing() as (session, ledger):
            if request is not None and (known := ledger.answer(request, digest)):
                return known[0]
            answer = write(session, ledger)
            if request is not None:
                ledger.add_answer(request, digest, answer, now())
        return answer

    def _coded(self, session: Session, ids: Sequence[Any], labels: Sequence[Any]) -> dict[str, Label | None]:
        """Return coded labels by the written ids; the same item twice must have the same label."""
        coded: dict[str, Label | None] = {}
        for name, position, label in zip(ids, session.located(ids, labels=True), labels, strict=True):
            item = records.id_to_text(session.ids[position])
            value = session.coded(position, label, name)
            if item in coded and not said_alike(coded[item], value):
                raise ambiguity(name, coded[item], value, self.task)
            coded[item] = value
        return coded

    def _row(
        self, item: str, label: Label | None, assigned: Sequence[Any], *, who: str | None, correct: bool, further: bool
    ) -> dict[str, Any] | None:
        """Return the row that a label makes; None if it says nothing new.

        Raises
        ------
        LabelError
            If it contradicts a label and may not replace it.
        """
        earlier = self._replaced(item, assigned, who, further)
        if earlier is not None:
            if said_alike(earlier["label"], label):
                return None
            if earlier["label"] is not None and not correct:
                name, by = records.id_from_text(item), (earlier["who"], who)
                raise contradiction(name, earlier["label"], label, self.task, by=by)
        return {
            "id": item,
            "label": records.dump(decode_label(label, self.task)),
            "who": who,
            "at": now(),
            "supersedes": None if earlier is None else earlier["number"],
            "kind": "label",
        }

    def _replaced(self, item: str, assigned: Sequence[Any], who: str | None, further: bool) -> Any:
        """Return the row that a label takes the place of: one's own or, where the item has all its labels, the last."""
        given = self._ballots.of(item)
        own = next((row for row in given if row["who"] == who), None)
        if own is None and given and not further and all(row["done"] for row in assigned):
            return given[-1]
        return own

    def _write(self, ledger: Ledger, rows: Sequence[dict[str, Any]], assigned: Any, reason: str | None) -> None:
        """Write labels, that they are done, and the log."""
        for row in rows:
            row["reason"] = reason if row["label"] == "null" else None
        told = {one["number"]: one["who"] for row in rows for one in self._ballots.of(row["id"])}
        numbers = ledger.add_labels(rows)
        ledger.assignments.finish(
            [done for row in rows for done in _done(row, assigned[row["id"]], told.get(row["supersedes"]))]
        )
        ledger.add_events(
            [
                {
                    "at": row["at"],
                    "kind": "corrected" if row["supersedes"] else "skipped" if row["label"] == "null" else "labelled",
                    "id": row["id"],
                    "who": row["who"],
                    "label": number,
                }
                for row, number in zip(rows, numbers, strict=True)
            ]
        )


def _done(row: dict[str, Any], assigned: Sequence[Any], replaced: str | None) -> list[dict[str, Any]]:
    """Return the assignment that a label fulfils: one's own, else one that is open, first one that nobody holds.

    Who replaces another's label takes over that one's assignment: taken back, the item is theirs to answer.
    """
    own = [one for one in assigned if one["who"] == row["who"] and row["who"] is not None]
    if row["supersedes"]:
        theirs = [one for one in assigned if one["done"] and one["who"] == replaced]
        return [{"number": one["number"], "id": row["id"], "who": row["who"]} for one in (own or theirs)[:1]]
    free = sorted((one for one in assigned if not one["done"]), key=lambda one: one["until"] or "")
    number = (own or free or [{"number": None}])[0]["number"]
    return [{"number": number, "id": row["id"], "who": row["who"]}]


def _by_person(
    ids: Sequence[Any], labels: Sequence[Any], who: str | Sequence[str | None] | None
) -> dict[str | None, tuple[list[Any], list[Any]]]:
    """Return what each person says of which items, in the order in which people first speak."""
    if who is None or isinstance(who, str):
        return {who: (list(ids), list(labels))}
    people: dict[str | None, tuple[list[Any], list[Any]]] = {}
    for name, label, person in zip(ids, labels, _of_each(ids, who), strict=True):
        if not isinstance(person, str | None):
            require_name(person)
        told = people.setdefault(person, ([], []))
        told[0].append(name)
        told[1].append(label)
    return people


def _of_each(ids: Sequence[Any], who: str | Sequence[str | None] | None) -> list[Any]:
    """Return who says something of each of these ids."""
    people = [who] * len(ids) if who is None or isinstance(who, str) else listed("who", who)
    if len(people) != len(ids):
        raise LabelError(f"there are {len(ids)} ids and {len(people)} names in who=")
    return people
