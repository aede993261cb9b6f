"""A session as the rows of a study's tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.measures import Measure, Task
from sondage.errors import InputError
from sondage.pools import Pool
from sondage.pools.texts import HALF, is_text
from sondage.studies import forms, records
from sondage.studies.labels import decode_label
from sondage.studies.rests import kept_rests
from sondage.studies.session import Session
from sondage.studies.sharing import Sharing
from sondage.studies.times import now
from sondage.version import __version__

if TYPE_CHECKING:
    from sondage.studies.ledger import Ledger

__all__ = [
    "creation_event",
    "load_session",
    "plan_event",
    "stage_row",
    "stage_rows",
    "study_row",
    "told_rows",
]

Row = dict[str, Any]


def creation_event(facts: Row) -> Row:
    """Return the log's first entry."""
    names = ("version", "fingerprint", "source", "budget", "raters", "overlap", "lease")
    return {"at": facts["created"], "kind": "created", "details": {name: facts[name] for name in names}}


def plan_event(session: Session, at: str, labelled: int = 0, pending: int = 0, *, number: int = -1) -> Row:
    """Return the log's entry for a stage, by default the last: from how many labels and pending items, and how."""
    stage, method = session.stages[number], session.method
    details = {
        "stage": stage.number,
        "seed": stage.seed,
        "drawn": len(stage.drawn),
        "labelled": labelled,
        "pending": pending,
        "budget": session.budget,
        "design": method.design,
        "draw": method.draw,
        "settings": dict(stage.drawn.settings),
        "belief": type(stage.known.belief).__name__,
    }
    return {"at": at, "kind": "planned", "details": details}


def study_row(pool: Pool, session: Session, several: bool, sharing: Sharing) -> Row:
    """Return the row of a new study."""
    from sondage.studies.tables import SCHEMA

    task = session.task
    return {
        "number": 1,
        "schema": SCHEMA,
        "version": __version__,
        "created": now(),
        "fingerprint": pool.fingerprint,
        "source": pool.source,
        "reading": records.dump(pool.reading),
        "question": records.dump(forms.question_to_data(session.question)),
        "method": records.dump(forms.method_to_data(session.method)),
        "task": records.dump({"kind": task.kind, "classes": task.classes, "grades": task.grades}),
        "models": records.dump(session.models),
        "several": int(several),
        "budget": session.budget,
        "revision": 0,
    } | asdict(sharing)


def stage_row(session: Session, number: int) -> Row:
    """Return the row of a stage."""
    stage = session.stages[number]
    return records.stage_to_data(stage, kept_rests(session.rests.get(stage.number))) | {
        "layout": records.dump(records.items_layout(session.items)),
        "grouped": int(session.units is not None),
    }


def stage_rows(session: Session, pool: Pool, number: int, sharing: Sharing) -> tuple[Row, list[Row], list[Row]]:
    """Return the rows of a stage, its drawn items, and their rows of the pool."""
    stage, first = session.stages[number], session.firsts[number]
    drawn, positions = stage.drawn, np.arange(first, session.firsts[number + 1])
    ids = [records.id_to_text(session.ids[position]) for position in positions]
    raters = sharing.of([session.ids[position] for position in positions], session.seed)
    columns = pool.shown(drawn.units)
    draws = [
        {
            "id": name,
            "stage": stage.number,
            "position": first + place,
            "unit": int(drawn.units[place]),
            "key": float(drawn.keys[place]),
            "rate": float(drawn.rates[place]),
            "size": float(drawn.sizes[place]),
            "cost": None if session.costs is None else float(session.costs[first + place]),
            "fields": _shown(name, {field: column[place] for field, column in columns.items()}),
            "raters": raters[place],
        }
        for place, name in enumerate(ids)
    ]
    items, _, units = session.rows(positions, {})
    places = range(len(ids)) if units is None else units.tolist()
    before = first if session.units is None else int(np.searchsorted(session.units, first))
    rows = [
        row | {"id": ids[place], "number": before + row["number"]}
        for place, row in zip(places, records.items_to_rows(items), strict=True)
    ]
    return stage_row(session, number), draws, rows


def _shown(name: str, fields: Row) -> str:
    """Return the fields of an item as text; refuse half a character within lists, which pools do not look into."""
    text = records.dump(fields)
    if not is_text(text):
        broken = next(field for field, value in fields.items() if not is_text(records.dump(value)))
        raise InputError(f"field {broken!r} of id {records.id_from_text(name)!r} {HALF}")
    return text


def told_rows(session: Session) -> dict[str, str]:
    """Return the answers of a session that is not kept yet, id -> label, as they are written."""
    asked = [(records.id_to_text(session.ids[position]), session.answers[position]) for position in session.asked]
    return {name: records.dump(decode_label(label, session.task)) for name, label in asked}


def load_session(
    facts: Mapping[str, Any], ledger: Ledger, own: Mapping[str, Measure]
) -> tuple[Session, dict[Any, Row]]:
    """Return the session and the fields of its items, from the rows of a study; any error is that of a damaged one."""
    planned, draws = ledger.stages(), ledger.draws()
    layout = json.loads(planned[0]["layout"])
    if not {draw["stage"] for draw in draws} <= {row["number"] for row in planned}:
        raise ValueError("items were drawn in stages that are not there")
    stages = [
        records.stage_from_data(row, [draw for draw in draws if draw["stage"] == row["number"]]) for row in planned
    ]
    method = forms.method_from_data(json.loads(facts["method"]))
    if method.belief is None and layout.get("judge"):  # release 0.1 believed a judge alone
        method = replace(method, belief="judge")
    session = Session(
        forms.question_from_data(json.loads(facts["question"]), own),
        method,
        Task(**{name: forms.tuples(value) for name, value in json.loads(facts["task"]).items()}),
        tuple(json.loads(facts["models"])),
        budget=facts["budget"],
        seed=stages[0].seed,
        stages=stages,
        columns=_drawn_columns(draws, ledger.rows(), layout, grouped=planned[0]["grouped"]),
        kept=True,
    )
    for row in planned:
        rests = records.rests_from_data(row)
        if rests is not None:
            session.rests[row["number"]] = partial(dict, rests)
    fields = {name: json.loads(draw["fields"]) for name, draw in zip(session.ids, draws, strict=True)}
    return session, fields


def _drawn_columns(
    draws: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], layout: Row, *, grouped: bool
) -> Row:
    """Return the columns of a session from the rows of its drawn items, and of their rows of the pool."""
    positions = {draw["id"]: position for position, draw in enumerate(draws)}
    if {row["id"] for row in rows} != positions.keys() or not (grouped or len(rows) == len(draws)):
        raise ValueError("drawn items are not those of the rows")
    return {
        "ids": [records.id_from_text(draw["id"]) for draw in draws],
        "items": records.items_from_rows(rows, layout),
        "units": np.array([positions[row["id"]] for row in rows], dtype=np.int64) if grouped else None,
        "costs": np.array([draw["cost"] for draw in draws], np.float64)
        if draws and draws[0]["cost"] is not None
        else None,
    }
