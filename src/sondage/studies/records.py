"""Drawn stages, items and ids as rows, and back, bit for bit.

Numbers are written with as many digits as bring the same bits back; arrays come back in the type they had.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Classes, Grades, Items, Means
from sondage.core.samples import Known
from sondage.core.sequences import Rest
from sondage.errors import InputError
from sondage.studies.drawing import Drawn
from sondage.studies.forms import belief_from_data, belief_to_data, sums_from_data, sums_to_data
from sondage.studies.listings import has_ranks, listing_layout, listings_from_data, listings_to_data
from sondage.studies.planning import DrawnStage
from sondage.studies.rests import Rests

__all__ = [
    "dump",
    "id_from_text",
    "id_to_text",
    "items_from_rows",
    "items_layout",
    "items_to_rows",
    "rests_from_data",
    "stage_from_data",
    "stage_to_data",
]

Data = dict[str, Any]

_OUTPUTS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Classes, Means, Grades)}
_SHARED = {"grades"}  # the same for all rows


def dump(value: Any) -> str:
    r"""Return a value as one line of JSON; times and bytes as text, missing numbers as they are.

    Keys of mappings may be of any kind, as a user's labels of documents are.

    Examples
    --------
    >>> print(dump([datetime(2026, 3, 1), datetime(2026, 3, 1, 12), b"caf\xc3\xa9 \xff"]))
    ["2026-03-01", "2026-03-01T12:00:00", "café \\xff"]
    >>> print(dump({np.int64(7): 1}))
    {"7": 1}
    """
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False)
    except TypeError:  # of keys, which `default` does not see
        return json.dumps(_with_plain_keys(value), default=_plain, ensure_ascii=False)


def _with_plain_keys(value: Any) -> Any:
    """Return a value in which all keys of mappings are of kinds that JSON takes."""
    if isinstance(value, Mapping):
        return {_plain_key(key): _with_plain_keys(part) for key, part in value.items()}
    return [_with_plain_keys(part) for part in value] if isinstance(value, list | tuple) else value


def _plain_key(key: Any) -> Any:
    plain = key if isinstance(key, str | int | float) else _plain(key)
    return plain if isinstance(plain, str | int | float | None) else str(plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, datetime) and value == datetime.combine(value, time.min):  # of no zone: a date
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="backslashreplace")
    return None if value is None else str(value)


def id_to_text(name: Any) -> str:
    """Return an id as JSON, so that 5 and "5" stay apart.

    Raises
    ------
    InputError
        If the id is neither text nor a number.
    """
    if isinstance(name, np.generic):  # as arrays of objects hold numbers
        name = name.item()
    if not isinstance(name, str | int | float):
        raise InputError(f"id {name!r} is a {type(name).__name__}; the ids of a study must be text or numbers")
    return json.dumps(name, ensure_ascii=False)


def id_from_text(text: str) -> Any:
    """Return the id of a text made by `id_to_text`."""
    return json.loads(text)


def stage_to_data(stage: DrawnStage, rests: Rests | None) -> Data:
    """Return what a stage knows, but for the drawn items, as a row; and what it left undrawn."""
    known = stage.known
    sums = {"expected": sums_to_data(known.expected), "outside": sums_to_data(known.outside)}
    facts = {field.name: getattr(known, field.name) for field in fields(known)}
    return {
        "number": stage.number,
        "seed": dump(stage.seed),
        "tau": dump(stage.drawn.tau),
        "covers": int(stage.covers),
        "settings": dump(dict(stage.drawn.settings)),
        "known": dump(facts | sums | {"belief": belief_to_data(known.belief), "rests": _rests_to_data(rests)}),
    }


def stage_from_data(data: Mapping[str, Any], draws: Sequence[Mapping[str, Any]]) -> DrawnStage:
    """Return a stage from its row and those of the drawn items, in their order."""
    known = json.loads(data["known"])
    known.pop("rests", None)
    known |= {name: sums_from_data(known[name]) for name in ("expected", "outside")}
    known["belief"] = belief_from_data(known["belief"])
    columns = {name: np.array([draw[name] for draw in draws], dtype=np.float64) for name in ("key", "rate", "size")}
    units = np.array([draw["unit"] for draw in draws], dtype=np.int64)
    settings, tau = json.loads(data["settings"]), float(json.loads(data["tau"]))
    drawn = Drawn(units, columns["key"], columns["rate"], columns["size"], tau, settings)
    return DrawnStage(data["number"], int(json.loads(data["seed"])), Known(**known), drawn, bool(data["covers"]))


def _rests_to_data(rests: Rests | None) -> Data | None:
    """Return rests as data."""
    if rests is None:
        return None
    return {key: {field.name: getattr(rest, field.name) for field in fields(rest)} for key, rest in rests.items()}


def rests_from_data(data: Mapping[str, Any]) -> Rests | None:
    """Return what a stage left undrawn, from its row; None if it was not kept (an early release)."""
    rests = json.loads(data["known"]).get("rests")
    if rests is None:
        return None
    return {key: Rest(**{name: _array(value) for name, value in rest.items()}) for key, rest in rests.items()}


def _array(value: Any) -> Any:
    """Return a list as an array, a number as it is."""
    return np.array(value, dtype=np.float64) if isinstance(value, list) else value


def items_layout(items: Items) -> Data:
    """Return the kinds of the models' outputs and the types of all their arrays."""
    listed = has_ranks(items)
    return {
        **({"listed": listing_layout(items)} if listed else {}),
        "models": [_kinds(output) for output in items.models] if not listed else [],
        "costs": _type(items.costs),
        "judges": [_type(judge) for judge in items.judges],
        "features": _type(items.features),
    }


def _kinds(output: Any) -> Data:
    """Return the kind of a model's outputs and the types of their arrays."""
    return (
        {"kind": type(output).__name__}
        | {name: _type(value) for name, value in vars(output).items() if name not in _SHARED}
        | {name: value.tolist() for name, value in vars(output).items() if name in _SHARED}
    )


def _type(array: Any) -> str | None:
    return None if array is None else array.dtype.str


def items_to_rows(items: Items) -> list[Data]:
    """Return each row's weight, cost, outputs and judge."""
    outputs = listings_to_data(items) if has_ranks(items) else _outputs_to_data(items)
    weights = np.asarray(items.weights, dtype=np.float64).tolist()
    costs = None if items.costs is None else items.costs.tolist()
    side = _side_to_cells(items)
    return [
        {
            "number": row,
            "weight": weights[row],
            "cost": None if costs is None else costs[row],
            "outputs": dump(outputs[row]),
            "judge": side[row],
        }
        for row in range(len(items))
    ]


def _outputs_to_data(items: Items) -> list[list[Data]]:
    """Return what each model says of each row."""
    outputs = [
        {name: value.tolist() for name, value in vars(output).items() if value is not None and name not in _SHARED}
        for output in items.models
    ]
    return [
        [{name: column[row] for name, column in columns.items()} for columns in outputs] for row in range(len(items))
    ]


def items_from_rows(rows: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Items:
    """Return items from their rows, in the types they had."""
    outputs = [json.loads(row["outputs"]) for row in rows]
    judges, features = _side_from_cells([row["judge"] for row in rows], layout)
    models: tuple[Any, ...]
    if "listed" in layout:
        models = listings_from_data(outputs, layout["listed"])
    else:
        models = tuple(_output(shape, [row[index] for row in outputs]) for index, shape in enumerate(layout["models"]))
    return Items(
        models,
        np.array([row["weight"] for row in rows], dtype=np.float64),
        None if layout["costs"] is None else np.array([row["cost"] for row in rows], dtype=layout["costs"]),
        judges,
        features,
    )


def _side_to_cells(items: Items) -> list[str | None]:
    """Return each row's side information as text: what the judges say, and the bytes of its features."""
    if not items.judges and items.features is None:
        return [None] * len(items)
    judges = [judge.tolist() for judge in items.judges]
    features = items.features
    return [
        dump(
            {
                "judges": [judge[row] for judge in judges],
                "features": None if features is None else b64encode(features[row].tobytes()).decode(),
            }
        )
        for row in range(len(items))
    ]


def _side_from_cells(
    cells: Sequence[Any], layout: Mapping[str, Any]
) -> tuple[tuple[NDArray[Any], ...], NDArray[Any] | None]:
    """Return judges and features in the types they had; a study of release 0.1 has at most one judge's numbers."""
    if "judges" not in layout:
        one = layout["judge"]
        return () if one is None else (np.array([json.loads(cell) for cell in cells], dtype=one),), None
    sides = [json.loads(cell) for cell in cells] if layout["judges"] or layout["features"] else []
    judges = tuple(
        np.array([side["judges"][index] for side in sides], dtype=kind) for index, kind in enumerate(layout["judges"])
    )
    kind = layout["features"]
    if kind is None:
        return judges, None
    return judges, np.stack([np.frombuffer(b64decode(side["features"]), dtype=kind) for side in sides])


def _output(shape: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return one model's outputs."""
    columns: Data = {}
    for name, kind in shape.items():
        if name in _SHARED:
            columns[name] = np.array(kind, dtype=np.float64)
        elif name != "kind":
            columns[name] = None if kind is None else np.array([row[name] for row in rows], dtype=kind)
    return _OUTPUTS[shape["kind"]](**columns)
