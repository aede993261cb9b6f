"""Questions, methods, beliefs and pool sums as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from sondage.core.beliefs import (
    Belief,
    ClassBelief,
    GaussianBelief,
    LearnedClassBelief,
    LearnedGaussianBelief,
    LearnedOutcomeBelief,
    OutcomeBelief,
    RankingBelief,
)
from sondage.core.learning import Correction
from sondage.core.measures import NAMES, Measure
from sondage.core.predictions import Floats
from sondage.core.samples import SumKey
from sondage.errors import StudyError
from sondage.studies.method import Method, Question

__all__ = [
    "belief_from_data",
    "belief_to_data",
    "method_from_data",
    "method_to_data",
    "question_from_data",
    "question_to_data",
    "sums_from_data",
    "sums_to_data",
    "tuples",
]

Data = dict[str, Any]

_PLAIN = (ClassBelief, GaussianBelief, OutcomeBelief, RankingBelief)
_LEARNED = (LearnedClassBelief, LearnedGaussianBelief, LearnedOutcomeBelief)
_BELIEFS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*_PLAIN, *_LEARNED)}


def question_to_data(question: Question) -> Data:
    """Return a question as data; a measure as its name and parameters, a user's own one by its name only."""
    return question.to_data() | {"measures": [_measure_to_data(measure) for measure in question.measures]}


def _measure_to_data(measure: Measure) -> Data:
    for name, kind in NAMES.items():
        if type(measure) is kind:
            options = {field.name: getattr(measure, field.name) for field in fields(NAMES[name])}
            return {"kind": name, "options": {key: value for key, value in options.items() if value is not None}}
    return {"own": measure.name}


def question_from_data(data: Mapping[str, Any], own: Mapping[str, Measure]) -> Question:
    """Return a question kept as data.

    Raises
    ------
    StudyError
        If a measure is the user's own and not among `own`.
    """
    measures = tuple(_measure_from_data(measure, own) for measure in data["measures"])
    told = dict(data) | {"models": tuple(data["models"]), "measures": measures}
    if told["alternative"] == "two-sided":
        told["margin"] = 0.0  # earlier releases wrote one down, which no two-sided test takes; the labels are good
    return Question(**told)


def _measure_from_data(data: Mapping[str, Any], own: Mapping[str, Measure]) -> Measure:
    if "own" not in data:
        measure: Measure = NAMES[data["kind"]](**data["options"])
        return measure
    if data["own"] not in own:
        raise StudyError(f"measure {data['own']!r} is your own and not in the study file: give it again with measures=")
    return own[data["own"]]


def method_to_data(method: Method) -> Data:
    """Return a method as data; a class prior as pairs or numbers."""
    prior = method.belief
    if isinstance(prior, Mapping):
        prior = {"prior": [[name, float(share)] for name, share in prior.items()]}
    elif prior is not None and not isinstance(prior, str):
        prior = np.asarray(prior, dtype=np.float64).tolist()
    return method.to_data() | {"belief": prior}


def method_from_data(data: Mapping[str, Any]) -> Method:
    """Return a method kept as data."""
    prior = data["belief"]
    if isinstance(prior, Mapping):
        prior = dict(prior["prior"])
    stages = tuple(data.get("stages", (1.0,)))  # a study of an early release has one stage
    return Method(**dict(data) | {"belief": tuple(prior) if isinstance(prior, list) else prior, "stages": stages})


def belief_to_data(belief: Belief | None) -> Data | None:
    """Return a belief as data."""
    if belief is None:
        return None
    if type(belief).__name__ not in _BELIEFS:
        raise StudyError(f"a study cannot keep a belief of the type {type(belief).__name__}; it keeps {list(_BELIEFS)}")
    data: Any = belief
    return {"kind": type(belief).__name__} | asdict(data)


def belief_from_data(data: Mapping[str, Any] | None) -> Belief | None:
    """Return a belief kept as data."""
    if data is None:
        return None
    options = {name: tuples(value) for name, value in data.items() if name != "kind"}
    belief: Belief = _BELIEFS[data["kind"]](**options)
    return belief


def sums_to_data(sums: Mapping[SumKey, Floats]) -> list[list[Any]]:
    """Return pool sums as data for JSON."""
    return [[name, model, np.asarray(total).tolist()] for (name, model), total in sums.items()]


def sums_from_data(data: list[list[Any]]) -> dict[SumKey, Floats]:
    """Return pool sums kept as data."""
    return {(name, int(model)): np.asarray(total, dtype=np.float64) for name, model, total in data}


def tuples(value: Any) -> Any:
    """Return lists as tuples and the data of a correction as one, all the way down."""
    if isinstance(value, dict):
        return Correction(**{name: tuples(part) for name, part in value.items()})
    return tuple(tuples(part) for part in value) if isinstance(value, list) else value
