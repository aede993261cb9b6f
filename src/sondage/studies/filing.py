"""A session as the rows of a study's tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.core.measures import Measure, Task
from sondage.pools import Pool
from sondage.studies import records
from sondage.studies.labels import Label
from sondage.studies.rests import kept_rests
from sondage.studies.session import Session
from sondage.version import __version__

if TYPE_CHECKING:
    from sondage.studies.store import Records

__all__ = ["bring_up", "load_session", "now", "stage_row", "stage_rows", "study_row"]

Row = dict[str, Any]


def now() -> str:
    """Return the time as it is written in a study."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def study_row(pool: Pool, session: Session, several: bool) -> Row:
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
        "question": records.dump(records.question_to_data(session.question)),
        "method": records.dump(records.method_to_data(session.method)),
        "task": records.dump({"kind": task.kind, "classes": task.classes, "grades": task.grades}),
        "models": records.dump(session.models),
        "several": int(several),
        "budget": session.budget,
        "revision": 0,
    }


def stage_row(session: Session, number: int) -> Row:
    """Return the row of a stage."""
    stage = session.stages[number]
    return records.stage_to_data(stage, kept_rests(session.rests.get(stage.number))) | {
        "layout": records.dump(records.layout_of(session.items)),
        "grouped": int(session.units is not None),
    }


def stage_rows(session: Session, pool: Pool, number: int) -> tuple[Row, list[Row], list[Row]]:
    """Return the rows of a stage, its drawn items, and their rows of the pool."""
    stage, first = session.stages[number], session.firsts[number]
    drawn, positions = stage.drawn, np.arange(first, session.firsts[number + 1])
    ids = [records.id_to_text(session.ids[position]) for position in positions]
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
            "fields": records.dump({field: column[place] for field, column in columns.items()}),
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


def load_session(
    facts: Mapping[str, Any], found: Records, own: Mapping[str, Measure]
) -> tuple[Session, dict[Any, Row]]:
    """Return the session and the fields of its items, from the rows of a study."""
    stage_rows, draws, rows = found.stages(), found.draws(), found.rows()
    positions = {draw["id"]: position for position, draw in enumerate(draws)}
    grouped, layout = stage_rows[0]["grouped"], json.loads(stage_rows[0]["layout"])
    ids = [records.id_from_text(draw["id"]) for draw in draws]
    stages = [
        records.stage_from_data(row, [draw for draw in draws if draw["stage"] == row["number"]]) for row in stage_rows
    ]
    method = records.method_from_data(json.loads(facts["method"]))
    if method.belief is None and layout.get("judge"):  # release 0.1 believed a judge alone
        method = replace(method, belief="judge")
    session = Session(
        records.question_from_data(json.loads(facts["question"]), own),
        method,
        Task(**{name: records.tuples(value) for name, value in json.loads(facts["task"]).items()}),
        tuple(json.loads(facts["models"])),
        budget=facts["budget"],
        seed=stages[0].seed,
        stages=stages,
        columns={
            "ids": ids,
            "items": records.items_from_rows(rows, layout),
            "units": np.array([positions[row["id"]] for row in rows], dtype=np.int64) if grouped else None,
            "costs": None if not draws or draws[0]["cost"] is None else np.array([draw["cost"] for draw in draws]),
        },
    )
    for row in stage_rows:
        rests = records.rests_from_data(row)
        if rests is not None:
            session.rests[row["number"]] = partial(dict, rests)
    fields = {name: json.loads(draw["fields"]) for name, draw in zip(ids, draws, strict=True)}
    return session, fields


def _coded(label: Any, task: Task) -> Label | None:
    """Return a stored label as the session has it."""
    if label is None:
        return None
    if task.kind == "classification":
        return task.classes.index(label)
    return tuple(label) if isinstance(label, list) else label


def bring_up(session: Session, found: Records) -> None:
    """Bring a session up to what was asked and told since."""
    positions = {records.id_to_text(name): position for position, name in enumerate(session.ids)}
    session.asked = [positions[row["id"]] for row in found.asked()]
    labels = ((positions[row["id"]], json.loads(row["label"])) for row in found.labels())
    session.answers = {position: _coded(label, session.task) for position, label in labels}
