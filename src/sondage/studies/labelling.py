"""Labels for a session in memory: from an array, a mapping or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import is_listed
from sondage.errors import InputError, LabelError, LabelingInterrupted, unsaid
from sondage.pools import Pool
from sondage.pools.missing import as_array, is_missing, require_listed
from sondage.pools.orders import by_index, named_in_another_order, require_class_order, require_order_of, tell_numbering
from sondage.pools.stored import StoredPool
from sondage.pools.table import WHOLE
from sondage.studies.judging import pool_judgements
from sondage.studies.labels import require_by_id
from sondage.studies.session import Session
from sondage.studies.stopping import Rule, check_rule

__all__ = ["carrying", "label_all", "label_function", "require_labels"]

BATCH = 100
"""Ids that a labelling function gets at once."""


def require_labels(labels: Any, start: Any = None) -> None:
    """Refuse to go on without labels, unless there are some already."""
    if labels is None and start is None:
        raise InputError("labels= is missing: give an array over the pool, or a function from ids to labels")


@contextmanager
def carrying(got: Mapping[Any, Any]) -> Iterator[None]:
    """Let a refusal, or Ctrl-C, carry the labels that were got before it: somebody has paid for them."""
    try:
        yield
    except (InputError, LabelingInterrupted) as error:
        error.labels = dict(got)
        raise
    except KeyboardInterrupt as stop:
        vars(stop)["labels"] = dict(got)
        stop.add_note(f"{len(got)} labels were got before: this exception has them as .labels, id -> label")
        raise


def label_all(
    session: Session, pool: Pool, labels: Any, rule: Rule | None = None, *, got: dict[Any, Any] | None = None
) -> str | None:
    """Ask, look up or call, tell, until the budget is spent or a rule is met.

    Parameters
    ----------
    session : Session
        What asks.
    pool : Pool
        The pool that it draws from.
    labels : array-like, mapping or callable
        As `sondage.evaluate` takes them.
    rule : Rule, optional
        What ends labelling early.
    got : dict, optional
        Labels of other sessions of the same call, id -> label, to which these are added.

    Returns
    -------
    str or None
        What ended labelling, if there is a rule.

    Raises
    ------
    LabelingInterrupted
        If the labelling function raises; it carries the labels already got.
    LabelError
        If one of its answers cannot be used; it carries all others.
    """
    label = label_function(pool, labels)
    check_rule(rule, session, pool)
    most = 1 if session.online else BATCH if callable(labels) else len(pool)
    got = {} if got is None else got
    if rule is not None and session.n_labels and (stopped := _looked(rule, session)):
        return stopped  # labels that there were already are enough
    while ids := session.ask_stage(pool, most if rule is None else min(most, rule.most(session))):
        said: list[Any] = []
        try:
            answers = _answers(label, ids, said)
        except BaseException as error:
            got.update(_usable(session, ids[: len(said)], said))
            if isinstance(error, Exception):
                raise LabelingInterrupted(f"labelling stopped after {len(got)} labels: {error}", got) from error
            raise
        try:
            _require_alike_in_files(pool, labels, ids)
            answers = _as_list(answers, ids)
            session.tell(ids, answers)
        except LabelError as error:
            got.update(_usable(session, ids, answers))
            error.labels = dict(got)
            raise
        got.update(zip(ids, answers, strict=True))
        stopped = None if rule is None or not session.n_labels else _looked(rule, session)
        if stopped:
            return stopped
    return None if rule is None else "budget"


def _answers(label: Callable[[Sequence[Any]], Any], ids: Sequence[Any], said: list[Any]) -> Any:
    """Return what a labelling function answers; what it yields one by one is in `said` as soon as it comes."""
    answers = label(ids)
    if not isinstance(answers, Iterator):
        return answers
    for answer in answers:
        said.append(answer)
    return said


def _looked(rule: Rule, session: Session) -> str | None:
    """Return what ends labelling; what is to be said of a look is said once, of the last one."""
    with unsaid():
        return rule.met(session)


def _usable(session: Session, ids: Sequence[Any], answers: Any) -> dict[Any, Any]:
    """Return those of refused answers that can be used, by id."""
    if isinstance(answers, Mapping):
        ids = [name for name in ids if _key(answers, name) in answers]
        answers = [answers[_key(answers, name)] for name in ids]
    if not isinstance(answers, list) or len(answers) != len(ids):
        return {}
    usable: dict[Any, Any] = {}
    for name, answer in zip(ids, answers, strict=True):
        with suppress(LabelError):
            session.coded(session.positions[name], answer, name)
            usable[name] = answer
    return usable


def _plain(label: Any) -> Any:
    """Return a label of an array as Python has it, but for times, of which NumPy may make numbers."""
    arrays = isinstance(label, np.generic | np.ndarray) and label.dtype.kind not in "mM"
    return label.tolist() if arrays else label


def _as_list(answers: Any, ids: Sequence[Any]) -> list[Any]:
    """Return a labelling function's answers in the order of the ids, or refuse them."""
    if hasattr(answers, "columns"):
        raise LabelError(f"the labelling function returned a table for {len(ids)} ids; it must return their labels")
    if named_in_another_order(answers, ids):
        answers = dict(zip(answers.index.tolist(), answers, strict=True))
    if isinstance(answers, Mapping):
        keys = [_key(answers, name) for name in ids]
        missing = [name for name, key in zip(ids, keys, strict=True) if key not in answers]
        if missing:
            raise LabelError(f"there is no label for id {missing[0]!r}; None would be a skip", ids=tuple(missing))
        return [answers[key] for key in keys]
    if not is_listed(answers):
        raise LabelError(f"the labelling function returned {answers!r} for {len(ids)} ids; it must return their labels")
    found = list(answers)
    if len(found) != len(ids):
        raise LabelError(f"the labelling function returned {len(found)} labels for {len(ids)} ids")
    return found


def _key(answers: Mapping[Any, Any], name: Any) -> Any:
    """Return an id as a mapping spells it: as text, as JSON and qrels have it, as the whole number or NumPy's date."""
    if name in answers:
        return name
    if isinstance(name, str):
        return int(name) if len(name) < 40 and WHOLE.fullmatch(name) else name
    dated = np.datetime64(name) if isinstance(name, date) else name
    return dated if dated in answers else str(name)


def label_function(pool: Pool, labels: Any) -> Callable[[Sequence[Any]], Any]:
    """Return labels, as `sondage.evaluate` takes them, as a function from ids.

    Where items are named to a function or a mapping by row numbers, though an index names them, a warning says so.
    """
    if callable(labels) or isinstance(labels, Mapping):
        tell_numbering(pool)
    return labels if callable(labels) else _labels_by_id(pool, labels)


def _labels_by_id(pool: Pool, labels: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that looks labels of the whole pool up by id."""
    if pool.task.kind == "ranking":
        return pool_judgements(pool, labels)
    labels = by_index(labels, pool, "labels")
    if isinstance(labels, Mapping):
        require_by_id(labels, pool.models, pool.task, "labels")
        if pool.groups is not None:
            _require_agreement(pool.groups, [labels.get(_key(labels, name)) for name in pool.ids.tolist()])
        return lambda ids: labels
    if isinstance(labels, np.ma.MaskedArray):
        labels = np.asarray(labels.tolist(), dtype=object)  # None where it is masked
    require_listed(labels, "labels")
    column = as_array(labels, "labels")
    if len(column) != len(pool):
        raise InputError(f"labels have shape {column.shape}; the pool has {len(pool)} items")
    if column.ndim > 1 and pool.task.kind != "outcomes":
        by_id = "a mapping, or a Series whose index has the ids"
        raise InputError(f"labels have shape {column.shape}; they must be one column, or by id {by_id}")
    if pool.groups is not None:
        _require_agreement(pool.groups, column.tolist())
    values = pool.by_id(column)
    require_order_of(pool, labels, "labels")
    if column.ndim > 1:
        require_class_order(labels, pool.models, "labels", "systems")

    def look(ids: Sequence[Any]) -> list[Any]:
        return [_plain(row) for row in values(ids)]

    return look


def _require_alike_in_files(pool: Pool, labels: Any, ids: Sequence[Any]) -> None:
    """Refuse labels by id that differ among rows that share one with these items; of rows in memory all were seen."""
    if isinstance(labels, Mapping) and isinstance(pool, StoredPool) and pool.grouped:
        groups, names = pool.sharing(ids)
        _require_agreement(groups, [labels.get(_key(labels, name)) for name in names.tolist()])


def _require_agreement(groups: NDArray[Any], labels: Sequence[Any]) -> None:
    """Refuse labels of rows that differ within a group, which has one; some of its rows may have none."""
    told: dict[str, Any] = {}
    for group, label in zip(map(str, groups.tolist()), labels, strict=True):
        if is_missing(label):
            continue
        label = label.item() if isinstance(label, np.generic) else label
        was = told.setdefault(group, label)
        if was != label and str(was) != str(label):
            raise LabelError(f"rows of group {group} share one label; they have {was!r} and {label!r}")
