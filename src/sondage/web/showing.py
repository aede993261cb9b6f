"""What of an item is shown, and how: short facts, long texts, pictures; and the way to answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sondage.core.checks import exactly
from sondage.core.measures import Task
from sondage.errors import InputError
from sondage.web.images import Images

__all__ = ["Choice", "ShownItem", "choices", "document_parts", "shown", "shown_item", "system_parts"]

SHORT = 90
"""Longest text, in characters, that stands in the table of facts."""

KEYS = "1234567890abcdefghijklmnopqrtvwxyz"
"""Keys of labels, in their order; s and u are for skip and undo."""

FAMILIAR: Mapping[tuple[float, ...], tuple[str, ...]] = {(0.0, 1.0): ("wrong", "right")}


Fields = dict[str, Any]


@dataclass
class ShownItem:
    """An item, or a part of one, as the page shows it.

    Attributes
    ----------
    facts : list of (str, str)
        Names and short values, for a table.
    texts : list of (str, str)
        Names and long texts.
    pictures : list of (str, str, str)
        Name, address, and what is said in place of the picture.
    refused : list of str
        Why a picture is not shown.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    pictures: list[tuple[str, str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Choice:
    """One of the labels that a button gives.

    Attributes
    ----------
    value : str
        The label as it is sent.
    name : str
        As it is read.
    key : str
        The key that chooses it; empty for none.
    """

    value: str
    name: str
    key: str


def shown(fields: Mapping[str, Any], images: Images) -> ShownItem:
    """Return fields sorted by how they are shown; a text that is alone is long whatever its length."""
    found = ShownItem()
    for name, value in fields.items():
        text = _text(value)
        try:
            link = images.link(text) if isinstance(value, str) else None
        except InputError as error:
            found.refused.append(f"{name}: {error}")
            continue
        if link is not None:
            found.pictures.append((name, link, f"{name}: {text}"))
        elif len(text) > SHORT or "\n" in text.strip() or (len(fields) == 1 and isinstance(value, str)):
            found.texts.append((name, _trimmed(text)))
        else:
            found.facts.append((name, _trimmed(text)))
    return found


def shown_item(name: Any, fields: Mapping[str, Any], images: Images) -> ShownItem:
    """Return what is seen of an item: its fields or, where it has none, its id, which may name a picture."""
    if fields:
        return shown(fields, images)
    found = shown({"id": str(name)}, images)
    return replace(found, facts=found.texts, texts=[])


def system_parts(fields: Fields, systems: Sequence[str]) -> tuple[Fields, dict[str, Fields]]:
    """Return the fields of an item itself, and those of each system, whose names begin with the system's.

    One that begins with several systems' names is that of the longest: ``gpt-4.1.answer`` is none of gpt-4's. Of a
    system without fields its name is seen: else nobody could tell which it is.

    Examples
    --------
    >>> system_parts({"question": "1 + 1?", "a.answer": "2", "a.1.answer": "3"}, ["a", "a.1"])
    ({'question': '1 + 1?'}, {'a': {'answer': '2'}, 'a.1': {'answer': '3'}})
    """
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {system: {} for system in systems}
    for name, value in fields.items():
        owner = max((system for system in systems if name.startswith(f"{system}.")), key=len, default=None)
        if owner is None:
            own[name] = value
        else:
            parts[owner][name.removeprefix(f"{owner}.")] = value
    return own, {system: part or {"name": f"system {system}"} for system, part in parts.items()}


def document_parts(query: Any, fields: Fields, documents: Sequence[Any]) -> tuple[Fields, dict[str, Fields]]:
    """Return the fields of a query itself, and those of each document; a field of documents has a value for each.

    One that is the same for several documents, all that the query lists, is the query's: its text, say, which long
    tables repeat in every row.

    Examples
    --------
    >>> fields = {"title": {"7": "Dig", "9": "Saw"}, "text": {"7": "trial dig", "9": "trial dig"}}
    >>> document_parts("probe", fields, [7, 9])
    ({'query': 'probe', 'text': 'trial dig'}, {'7': {'title': 'Dig'}, '9': {'title': 'Saw'}})
    """
    own: dict[str, Any] = {"query": query}
    listed: dict[str, Mapping[str, Any]] = {}
    for name, value in fields.items():
        if not isinstance(value, Mapping):
            own[name] = value
            continue
        told = list(value.values())
        if len(told) > 1 and all(one == told[0] for one in told):
            own[name] = told[0]
        else:
            listed[name] = value
    parts = {
        str(document): {name: value[str(document)] for name, value in listed.items() if str(document) in value}
        for document in documents
    }
    return own, parts


def _text(value: Any) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return json.dumps(value, indent=1, ensure_ascii=False)
    return str(value)


def _trimmed(text: str) -> str:
    r"""Return a text without the white space around it; what its first line is indented by is part of it.

    Examples
    --------
    >>> _trimmed("\n  \n  if x:\n    y\n ")
    '  if x:\n    y'
    """
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def choices(task: Task) -> list[Choice]:
    """Return the labels of a task: its classes or its grades; none where labels are numbers."""
    if task.kind == "classification":
        values = names = [str(name) for name in task.classes]
    else:
        values = [exactly(grade) for grade in task.grades]
        short = [f"{grade:g}" for grade in task.grades]
        names = list(FAMILIAR.get(task.grades, short if len({*short}) == len(short) else values))
    return [Choice(*one) for one in zip(values, names, _keys(values), strict=True)]


def _keys(labels: Sequence[str]) -> list[str]:
    """Return a key for each label, as far as there are keys; none that says another label.

    Examples
    --------
    >>> _keys(["ham", "spam"]), _keys(["-1", "0", "1"]), _keys(["no stars", "1 star", "2 stars"]), _keys(["B", "A"])
    (['1', '2'], ['a', '0', '1'], ['a', '1', '2'], ['b', 'a'])
    """
    said = [_said(label) for label in labels]
    own = [
        key if key in {*KEYS} and (key == label or said.count(key) == 1) else ""
        for key, label in zip(said, labels, strict=True)
    ]
    numbers = any(map(str.isnumeric, "".join(labels)))  # then no digit stands for a label that does not say it
    first = {label[:1].lower() for label in labels}
    free = [key for key in KEYS if key not in said and not (numbers and key.isdigit())]
    others = iter(sorted(free, key=lambda key: key in first))
    return [key or next(others, "") for key in own]


def _said(label: str) -> str:
    """Return what one takes for a label's key: its number if it has one, else itself, in small letters."""
    numbers = re.findall(r"[-\u2212\u2013]?\d*\.?\d+", label)
    return numbers[0].removesuffix(".0") if len(numbers) == 1 else label.lower()
