"""One labeller at work: the item held, the answer given, how far the study is; the study decides what is allowed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

from sondage.core.checks import exactly
from sondage.errors import ConflictError, LabelError
from sondage.reports.wording import label_words
from sondage.studies.account import Status
from sondage.studies.chronicle import Progress
from sondage.studies.claims import Claim
from sondage.studies.sharing import Sharing
from sondage.studies.study import Study
from sondage.web.images import Images
from sondage.web.showing import Choice, ShownItem, choices, document_parts, shown, shown_item, system_parts

__all__ = ["Card", "Form", "Labelling", "Place", "Row", "StudyProgress"]

QUESTIONS = {
    "classification": "Which label is right?",
    "regression": "Which number is right?",
    "outcomes": "How good is each answer?",
    "ranking": "How good is each document?",
}
QUESTION_OF_ONE = "How good is the answer?"
MOST_BUTTONS = 34
ROW = "row:"

Form = Mapping[str, str]
"""Fields of a form by name, as a browser sent them."""


@dataclass(frozen=True)
class Row:
    """A part of an item with a grade of its own: one system's answer, or one document.

    Attributes
    ----------
    value : str
        The system or document, as its grade is sent.
    name : str
        As the page names it.
    shown : ShownItem
        What is seen of it.
    answer : str
        The grade that was taken back; empty for none.
    required : bool
        Whether it must have a grade.
    """

    value: str
    name: str
    shown: ShownItem
    answer: str = ""
    required: bool = True


@dataclass(frozen=True)
class Card:
    """An item on the page, with the name of the request that will answer it.

    Attributes
    ----------
    item : str
        The item's id, as text.
    request : str
        The same answer sent twice counts once.
    shown : ShownItem
        What is seen of it.
    rows : tuple of Row
        Its parts, where each gets a grade; else empty.
    answer : str
        The answer that was taken back; empty for none.
    named : str
        Name of the field of the form that has the answer, where there are no rows.
    """

    item: str
    request: str
    shown: ShownItem
    rows: tuple[Row, ...] = ()
    answer: str = ""
    named: str = "label"


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is: a sentence, two numbers of the same unit, and what else is to be known."""

    done: str
    at: float
    of: float
    more: str


@dataclass(frozen=True)
class Place:
    """What a labeller finds: a card, or why there is none; progress; whether there is something to undo.

    Attributes
    ----------
    card : Card or None
        The item held.
    waiting : str
        Why there is none though labels are wanted; empty when all is done.
    progress : StudyProgress
        Of the study.
    undo : str
        Name of the request that would take the last answer back; empty if there is none.
    """

    card: Card | None
    waiting: str
    progress: StudyProgress
    undo: str


@dataclass
class Labelling:
    """A study as the page works on it.

    Attributes
    ----------
    study : Study
        The study.
    images : Images
        Where pictures are.
    question : str
        What is asked of the labeller; by default by the kind of labels.
    guide : str
        How to label, for the help.
    choices : list of Choice
        What the label may be.
    """

    study: Study
    images: Images
    question: str = ""
    guide: str = ""
    choices: list[Choice] = field(init=False)

    def __post_init__(self) -> None:
        self.choices = choices(self.study.task)
        self.question = self.question or (QUESTION_OF_ONE if self.alone else QUESTIONS[self.kind])

    @property
    def kind(self) -> str:
        """Kind of labels."""
        return self.study.task.kind

    @property
    def many(self) -> bool:
        """Whether there are too many classes for a button each."""
        return len(self.choices) > MOST_BUTTONS

    @property
    def alone(self) -> bool:
        """Whether items are one system's answers: a grade is then a button, as a class is."""
        return self.kind == "outcomes" and len(self.study.models) == 1 and not self.many

    @property
    def title(self) -> str:
        """The study's name."""
        return Path(self.study.name).stem or self.study.name

    def place(self, who: str, *, undone: bool = False) -> Place:
        """Return what a labeller finds: the item held, else the next one; `undone` with the answer taken back."""
        claims = self.study.claim(who)
        status, people = self.study.status, self.study.progress()
        mine = people.get(who, Progress())
        if mine.claimed > 1:
            claims = [self._taken_back_last(self.study.claim(who, mine.claimed), who)]
        card = self._card(claims[0], who, undone) if claims else None
        undo = _request_name() if mine.labelled + mine.skipped else ""
        progress = _progress(status, people.values(), self.study.sharing, [(mine.labelled, "by you")])
        return Place(card, "" if card else _waiting(status), progress, undo)

    def progress(self) -> StudyProgress:
        """Return how far the study is, for its owner: labellers are not told of disputes, so that each judges alone."""
        status, people = self.study.status, self.study.progress()
        return _progress(status, people.values(), self.study.sharing, [(status.disputed, "disputed")])

    def answer(self, who: str, form: Form) -> None:
        """Take a label or a skip, for the item that the form names and no other.

        Raises
        ------
        LabelError
            If there is none, it is not allowed, or the item has another one already.
        """
        item, request = _item(form), form.get("request") or None
        try:
            if "skip" in form:
                self.study.skip(item, who, _reason(form), request=request)
            else:
                self.study.tell([item], [self._label(form)], who=who, request=request)
        except ConflictError:
            raise ConflictError(self._kept(item, who)) from None

    def undo(self, who: str, form: Form) -> None:
        """Take a labeller's last answer back."""
        self.study.undo(who, request=form.get("request") or None)

    def resolve(self, who: str, form: Form) -> None:
        """Settle an item of which labellers disagree.

        Raises
        ------
        LabelError
            If the label is missing or not allowed, or something was said of the item since the page was shown.
        """
        item, request = _item(form), form.get("request") or None
        news = self._since(item, who, form.get("last", ""))
        if news:
            raise ConflictError(f"Since this page was shown {news}. Send your label again to settle it all the same.")
        try:
            self.study.resolve(item, self._label(form), who, request=request)
        except ConflictError:
            raise ConflictError("You have settled this item already, and this page sent another label then.") from None

    def leave(self, who: str) -> None:
        """Give back what a labeller holds."""
        self.study.release(who)

    def _kept(self, item: str, who: str) -> str:
        """Return whose other answer an item has: one from a second tab, say, or one that was lost on the way."""
        told = [row for row in self.study.history(item) if row["kind"] != "resolution"]
        own = [row["kind"] for row in told if row["who"] == who]
        if own and own[-1] == "undo" and len(own) == len(told):
            return "You took the answer back that this page sent. Reload it, and answer again."
        if own and own[-1] == "label":
            return "You have answered this item already. That answer stays, this one was not taken: undo to change it."
        return "Somebody else has answered this item already. That answer stays, yours was not taken."

    def _since(self, item: str, who: str, last: str) -> str:
        """Return what others said of an item after the label of this number; empty for nothing."""
        if not last.isdecimal():
            return ""
        news = [row for row in self.study.history(item) if row["number"] > int(last)]
        others = [row for row in news if (row["who"], row["kind"]) != (who, "resolution")]
        if not others:
            return ""
        by, kind, label = (others[-1][name] for name in ("who", "kind", "label"))
        words = label_words(label, self.study.models)
        said = "skipped this item" if label is None else f"said {words} of this item"
        did = {"undo": "took an answer to this item back", "resolution": f"settled this item as {words}"}
        return f"{by or 'somebody'} {did.get(kind, said)}"

    def _label(self, form: Form) -> Any:
        """Return the label of a form: a text, or a grade for each row that has one."""
        if self.kind in ("classification", "regression"):
            label = form.get("label", "").strip()
            if not label:
                raise LabelError("the label is missing")
            return label.replace("\N{MINUS SIGN}", "-") if self.kind == "regression" else label
        given = {name: grade for name, grade in form.items() if name.startswith(ROW) and grade}
        grades = {unquote(name.removeprefix(ROW)): grade for name, grade in given.items()}
        if not grades:
            raise LabelError("give at least one grade, or skip")
        if self.kind == "outcomes" and not grades.keys() >= self._asked_about:
            raise LabelError("give a grade to every answer that the study asks about, or skip")
        return grades

    def _card(self, claim: Claim, who: str, undone: bool) -> Card:
        """Return a claimed item as the page shows it."""
        before = self._before(claim.id, who) if undone else None
        if self.kind in ("classification", "regression"):
            answer = "" if before is None else str(before)
            return Card(str(claim.id), _request_name(), shown_item(claim.id, claim.fields, self.images), (), answer)
        grades = before if isinstance(before, Mapping) else dict(zip(self.study.models, before or (), strict=False))
        if self.alone:
            return self._card_of_one(claim, _grade(grades.get(self.study.models[0])))
        own, parts = self._parts(claim)
        required = set(parts) if self.kind == "ranking" else self._asked_about
        order = sorted(parts, key=lambda part: (part not in required, sha256(f"{claim.id}\n{part}".encode()).digest()))
        rows = [
            Row(
                part,
                self._row_name(part, place),
                shown(parts[part], self.images),
                _grade(grades.get(part)),
                part in required,
            )
            for place, part in enumerate(order)
        ]
        return Card(str(claim.id), _request_name(), shown_item(claim.id, own, self.images), tuple(rows))

    def _card_of_one(self, claim: Claim, answer: str) -> Card:
        """Return an item of one system: what its answers are is shown with the rest."""
        (system,) = self.study.models
        short = {name: name.removeprefix(f"{system}.") for name in claim.fields}
        fields = {name if short[name] in claim.fields else short[name]: value for name, value in claim.fields.items()}
        item = shown_item(claim.id, fields, self.images)
        return Card(str(claim.id), _request_name(), item, (), answer, ROW + quote(system, safe=""))

    def _parts(self, claim: Claim) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the fields of an item itself, and those of each part that gets a grade."""
        if self.kind == "outcomes":
            return system_parts(claim.fields, self.study.models)
        return document_parts(claim.id, claim.fields, self.study.documents([claim.id])[0])

    @property
    def _asked_about(self) -> set[str]:
        """The systems in question; nothing is to be known of others."""
        return set(self.study.question.models)

    def _row_name(self, part: str, place: int) -> str:
        """Return how a part is called: systems are not named, so that nobody judges a name."""
        if self.kind != "outcomes":
            return part
        return f"Answer {chr(ord('A') + place) if place < 26 else place + 1}"

    def _taken_back_last(self, claims: Sequence[Claim], who: str) -> Claim:
        """Return the item whose answer a labeller took back last, or the first where none was."""
        undone = {
            row["id"]: row["number"] for row in self.study.history() if (row["kind"], row["who"]) == ("undo", who)
        }
        return max(claims, key=lambda claim: undone.get(claim.id, 0))

    def _before(self, name: Any, who: str) -> Any:
        """Return the label that a labeller took back."""
        told = {row["number"]: row for row in self.study.history(name)}
        undone = [row for row in told.values() if row["kind"] == "undo" and row["who"] == who]
        return told[undone[-1]["supersedes"]]["label"] if undone else None


def _reason(form: Form) -> str:
    """Return why an item is skipped."""
    reason = form.get("reason", "").strip()
    if not reason:
        raise LabelError("say why the item is skipped")
    return reason


def _item(form: Form) -> str:
    """Return an item's id; it is sent percent-encoded, as rows are, for browsers change line breaks."""
    return unquote(form.get("item", ""))


def _request_name() -> str:
    """Return a name that no other request has."""
    return str(uuid4())


def _grade(value: Any) -> str:
    return "" if value is None or value != value else exactly(value)


def _progress(
    status: Status, people: Collection[Progress], sharing: Sharing, more: Sequence[tuple[int, str]]
) -> StudyProgress:
    """Return counts in words: of items or, where several people label an item, of labels; with costs of what is spent.

    How many labels the next items are to get is not known before they are asked for, unless it is the same of all.
    """
    labelled, skipped = status.labelled, status.skipped
    at: float = labelled + skipped
    of: float = at + status.pending + status.remaining
    done = f"{labelled:,} of {of:,} labelled"
    if sharing.raters > 1:
        labelled, skipped = sum(one.labelled for one in people), sum(one.skipped for one in people)
        at = labelled + skipped
        of = at + status.wanted + round(status.remaining * sharing.labels_each)
        about = "about " if status.remaining and (sharing.overlap < 1 or status.costs) else ""
        done = f"{labelled:,} of {about}{of:,} labels given"
    elif status.costs:
        at, of = status.spent, status.budget
        done = f"{labelled:,} labelled, cost {at:g} of {of:g}"
    counts = [(skipped, "skipped"), *more]
    return StudyProgress(done, at, max(of, 1), " · ".join(f"{count:,} {what}" for count, what in counts if count))


def _waiting(status: Status) -> str:
    """Return why there is nothing to label, while labels are wanted."""
    if status.claimed:
        return "Other labellers hold the last items. This page looks again by itself."
    if status.wanted or status.remaining:
        return "The remaining items are for other labellers: you have labelled your share."
    return ""
