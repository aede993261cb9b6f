"""Labels that there are already, of items drawn from the pool with equal chances: they begin a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.checks import is_number
from sondage.core.predictions import Floats
from sondage.core.urns import Urn
from sondage.errors import InputError
from sondage.pools import Pool
from sondage.pools.missing import as_array, is_blank, require_listed
from sondage.pools.orders import by_index, require_order_of, tell_numbering
from sondage.studies.budgets import least_in_stage, stage_end
from sondage.studies.drawing import DRAWS, HEEDLESS, Drawn, KeyOrder
from sondage.studies.labels import require_by_id
from sondage.studies.likeness import unlike
from sondage.studies.method import Method
from sondage.studies.planning import DrawnStage, make_plan

if TYPE_CHECKING:
    from sondage.studies.session import Session

__all__ = ["Start", "begin", "begun_with", "came_with_labels", "left_out", "make_start", "notes_of"]

EQUAL: dict[str, Any] = {"design": "passive", "floor": 0.0, "estimator": "hajek"}
"""Parts of a method by which every item of a pool of equal weights is as likely, whether it can matter or not."""
WITH_LABELS = "came_with_labels"
"""The setting of a draw whose items came with their labels: what is to be said of these, or nothing."""
ORDER = 8
"""Stream of random numbers: of the order in which these labels are taken."""


@dataclass(frozen=True, eq=False)
class Start:
    """Labels that there are already.

    Attributes
    ----------
    units : ndarray of int, shape (n,)
        Units of the pool, in a random order.
    labels : list
        Their labels, as they were given.
    cost : float
        What these cost, or their number.
    method : Method
        By what such a draw is planned.
    """

    units: NDArray[np.int64]
    labels: list[Any]
    cost: float
    method: Method

    def __len__(self) -> int:
        return len(self.units)

    def budget(self, given: float) -> float:
        """Return the budget, of which these labels are a part, or by default what they cost; refuse less."""
        if is_number(given) and 0 < given < self.cost * (1 - 1e-12):
            rule = "which count towards it"
            raise InputError(f"budget={given:g} is less than the labels of start= take: {self.cost:g}, {rule}")
        return self.cost if given == 0 else given


def make_start(pool: Pool, given: Any, method: Method, seed: int) -> Start:
    """Return the labels that there are already, in an order that follows from the seed.

    Parameters
    ----------
    pool : Pool
        The pool that they were drawn from.
    given : mapping, or array-like of shape (N,) or (N, M)
        As `sondage.evaluate` takes them.
    method : Method
        How the session goes on.
    seed : int
        Of the session.

    Raises
    ------
    InputError
        If there is none, the pool has groups, or the method is not in stages.
    LabelError
        If an item is not in the pool.
    """
    if not method.staged:
        raise InputError(
            "start= begins a method in stages: leave out method= and stages=, or estimate_from takes these"
        )
    if pool.grouped:
        raise InputError("start= is for items that are drawn with equal chances: the pool must have no groups")
    labels = _by_id(pool, given)
    if not labels:
        raise InputError("start= has no labels: leave it out where there are none yet")
    names = sorted(labels, key=lambda name: (str(name), str(type(name))))
    order = np.random.default_rng([seed % 2**64, ORDER]).permutation(len(names))
    names = [names[place] for place in order]
    units = pool.located(names)
    costs = pool.taken(units).costs
    cost = float(len(units) if costs is None else costs.sum())
    return Start(units, [labels[name] for name in names], cost, replace(method, **EQUAL))


def _by_id(pool: Pool, given: Any) -> dict[Any, Any]:
    """Return labels by id; of an array over the pool those that are not missing."""
    given = by_index(given, pool, "start")
    if isinstance(given, Mapping):
        require_by_id(given, pool.models, pool.task, "start")
        tell_numbering(pool)
        return dict(given)
    require_listed(given, "start")
    column = as_array(given, "start")
    if len(column) != len(pool):
        raise InputError(
            f"start has shape {column.shape}; the pool has {len(pool)} items: missing ones are None or NaN"
        )
    require_order_of(pool, given, "start")
    ids = pool.ids.tolist()
    return {name: label for name, label in zip(ids, column.tolist(), strict=True) if not _is_missing(label)}


def _is_missing(label: Any) -> bool:
    parts = label if isinstance(label, list) else [label]
    return all(map(is_blank, parts))


def begin(session: Session, pool: Pool, start: Start) -> None:
    """Let a session take the labels that there are already, in stages: each belief is calibrated on those before it."""
    least = least_in_stage(pool.task, session.question.kind, len(pool.models))
    while (done := len(session.asked)) < len(start):
        end = int(stage_end(session.method.stages, len(start), done, least))
        past = session.past(pool)
        plan = make_plan(pool, session.question, start.method, past)
        drawn = _drawn_equally(plan.urn, start.units[done:end], session.method)
        if not pool.equal_weights:
            drawn = replace(drawn, settings={**drawn.settings, HEEDLESS: True})
        if end == len(start) and session.budget > start.cost:
            drawn = drawn.until(len(drawn))
        if not done and pool.equal_weights:
            said = unlike(pool, plan.belief, pool.taken(start.units).items, plan.setting.models)
            drawn = replace(drawn, settings={**drawn.settings, WITH_LABELS: said or ""})
        session.stages.append(DrawnStage(len(session.stages), session.seed, plan.known, drawn, plan.covers))
        session.take_up(pool, start.units[:end], plan, past, start.method)
        session.tell(session.ask(end - done), start.labels[done:end])


def _drawn_equally(urn: Urn, units: NDArray[np.int64], method: Method) -> Drawn:
    r"""Return a draw of these units, which were as likely as all others: the first arrivals of equal rates.

    Of N units the k-th key is taken to be the quantile :math:`k / (N + 1)` of theirs. The estimate follows from the
    share n / N that was drawn, and no key says more.

    Parameters
    ----------
    urn : Urn
        Every unit that could have been drawn, of which the number tells.
    units : ndarray of int, shape (n,)
        Those that were drawn, in a random order.
    method : Method
        The method of the session.
    """
    draw = DRAWS[method.draw]
    assert isinstance(draw, KeyOrder)
    count, total = len(units), urn.support
    sizes = np.full(count, urn.total / total)
    factor = count / urn.total
    rates = draw.rates(sizes, factor)
    keys: Floats = -np.log1p(-np.arange(1.0, min(count + 1, total) + 1) / (total + 1)) / rates[0]
    settings = {"factor": factor, "support": total, "equal": True, WITH_LABELS: ""}
    following = float(keys[count]) if count < total else float("inf")
    return Drawn(units, keys[:count], rates, sizes, following, settings)


def came_with_labels(stage: DrawnStage) -> bool:
    """Return whether a stage is of labels that there were already."""
    return WITH_LABELS in stage.drawn.settings


def begun_with(stages: Sequence[DrawnStage]) -> int:
    """Return how many of the items drawn in these stages came with their labels."""
    return sum(len(stage.drawn) for stage in stages if came_with_labels(stage))


def notes_of(stages: Sequence[DrawnStage]) -> list[str]:
    """Return what is to be said of items that came with their labels."""
    return [said for stage in stages if (said := stage.drawn.settings.get(WITH_LABELS))]


def left_out(stages: Sequence[DrawnStage]) -> float:
    """Return the base weight of the items that no draw could take, since their labels cannot matter; 0 without any.

    Labels that there were already may be of such items too.
    """
    own = [stage.known for stage in stages if not came_with_labels(stage)]
    known, before = (own or [stages[0].known])[0], begun_with(stages)
    if known.all_drawable or (before and not known.outside):
        return 0.0
    return 1.0 - known.share - (before / stages[0].drawn.settings["support"] if before else 0.0)
