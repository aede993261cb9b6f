"""From the arguments of a call, or of a study, to its question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.core.checks import listed, require
from sondage.core.measures import Measure, Task, parse_measure
from sondage.errors import InputError
from sondage.pools import Pool, one_model, require_pool
from sondage.studies.method import Question

__all__ = ["are_several", "make_question", "parse_measures"]


def are_several(measure: Any) -> bool:
    """Return whether a list of measures is given, of one perhaps, in place of one."""
    return isinstance(measure, Sequence) and not isinstance(measure, str)


def make_question(
    pool: Pool,
    measure: str | Measure | Sequence[str | Measure],
    *,
    model: str | None = None,
    compare: Sequence[str] | None = None,
    select: bool = False,
    models: Sequence[str] | None = None,
    positive: Any = None,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    margin: float = 0.0,
) -> Question:
    """Return the question: of one model, of two, or of several.

    Raises
    ------
    InputError
        If a model or a measure does not exist, or the arguments ask different questions.
    """
    require_pool(pool)
    named: Any = measure if are_several(measure) else [measure]
    require(isinstance(select, bool | np.bool_), f"select={select!r} must be True or False")
    kind = _kind(compare, bool(select) or models is not None)
    if kind != "evaluate" and len(named) > 1:
        raise InputError(f"to {kind} takes one measure, not {len(named)}")
    names = _models(pool, kind, model=model, compare=compare, models=models)
    wanted = parse_measures(named, positive, pool.task)
    question = Question(kind, names, wanted, alpha, alternative, margin)
    if kind != "compare" and alternative != "two-sided":
        raise InputError(f"alternative= and margin= go with compare=; this study is to {kind}")
    return question


def parse_measures(named: Sequence[str | Measure], positive: Any, task: Task) -> tuple[Measure, ...]:
    """Return what names and objects mean; `positive` must be a class, also where no measure has a positive one."""
    found = tuple(parse_measure(one, positive) for one in named)
    if positive is not None:
        task.positive(positive)
    return found


def _kind(compare: Sequence[str] | None, select: bool) -> str:
    if compare is not None and select:
        raise InputError("a study compares two models or selects from all; give compare or select, not both")
    return "compare" if compare is not None else "select" if select else "evaluate"


def _models(
    pool: Pool, kind: str, *, model: str | None, compare: Sequence[str] | None, models: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the models asked about."""
    if kind == "evaluate":
        return (pool.models[one_model(pool, model, ", or two with compare=")],)
    if model is not None:
        raise InputError(f"model={model!r} is for one model; this study is to {kind} several")
    given = models if compare is None else compare
    names = pool.models if given is None else tuple(listed("compare" if compare is not None else "models", given))
    for name in names:
        pool.model(name)
    if len(set(names)) != len(names) or len(names) < 2 or (kind == "compare" and len(names) != 2):
        raise InputError(
            f"{kind} needs {'two' if kind == 'compare' else 'two or more'} different models, not {list(names)}"
        )
    return names
