"""Slices of a pool, or several pools, that share a budget: how it is divided, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from sondage.core.beliefs import Belief
from sondage.core.catalogue.designs import Setting
from sondage.core.checks import require_known, require_whole, some_of
from sondage.core.comparisons import Contrast, Sums
from sondage.core.predictions import Floats
from sondage.core.slices import Slices
from sondage.core.strata import further_allocation, mixed_stakes
from sondage.errors import InputError, MeasureError
from sondage.pools import Pool
from sondage.studies.answers import estimate_of
from sondage.studies.budgets import LEAST_IN_SLICE, check_amount, labels_for, least_in_stage, one_price, stage_end
from sondage.studies.judging import as_asked
from sondage.studies.labelling import carrying, label_all, label_function
from sondage.studies.method import Method, Question
from sondage.studies.overall import LabelledSlice, overall_estimate
from sondage.studies.planning import Plan, design_of, main_contrasts, require_defined, settle
from sondage.studies.responses import labelled
from sondage.studies.session import Session

__all__ = ["SHARES", "evaluate_slices"]

SHARES = {"overall": 1.0, "each": 2.0}
"""What a budget is divided for -> the power of what a slice has at stake."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A slice: its name, rows, share of the whole by base weight, where its labels are, and those got, by id."""

    name: Any
    pool: Pool
    share: float
    labels: Any
    got: dict[Any, Any]


def evaluate_slices(
    pool: Pool | Mapping[Any, Pool],
    question: Question,
    method: Method,
    *,
    labels: Any,
    budget: float,
    seed: int,
    slices: Any = None,
    share: str = "overall",
) -> list[Slices]:
    """Return each measure's estimates on slices of a pool, or on several pools, from one budget.

    Every slice is a session of its own. Before each stage all of them are planned from their labels so far, the stage's
    labels are divided by what the plans have at stake, and each session draws its part.

    Parameters
    ----------
    pool : Pool, or mapping of name to Pool
        What is sliced, or the slices.
    question, method
        What is asked of each slice, and how.
    labels : array-like, mapping or callable
        As for `sondage.evaluate`; for several pools a mapping of name to these.
    budget : float
        Labels, in all.
    seed : int
        Of the draws, with the slice's name.
    slices : str or array-like, shape (N,), optional
        A field of the pool, or each row's slice.
    share : str
        ``"overall"`` or ``"each"``: the smallest error of the whole, or equal errors of the slices.

    Raises
    ------
    InputError
        If the slices, pools, labels or budget do not fit; the message says what would.
    LabelingInterrupted
        If a labelling function raises.

    Notes
    -----
    Errors carry the labels already got, for several pools name -> (id -> label).
    """
    require_whole("seed", seed)
    require_known("share", share, SHARES)
    if isinstance(pool, Mapping):
        parts = _parts_of_pools(pool, labels, slices)
        first, *others = pool.values()
        question = settle(first, question, *others)
    else:
        question = settle(pool, question)
        parts = _parts_of_slices(pool, labels, slices)
    number = _labels_for(parts, question, budget)
    single, task, models = replace(method, stages=(1.0,)), parts[0].pool.task, parts[0].pool.models
    sessions = [Session(question, single, task, models, budget=0, seed=_seed(seed, part.name)) for part in parts]
    with carrying({part.name: part.got for part in parts} if isinstance(pool, Mapping) else parts[0].got):
        _label_slices(parts, sessions, method, budget=number, share=share)
        drawn = [
            LabelledSlice(part.name, part.pool, part.share, session, labelled(session))
            for part, session in zip(parts, sessions, strict=True)
        ]
        return [_answer(drawn, contrast) for contrast in main_contrasts(question, task, models)]


def _answer(drawn: Sequence[LabelledSlice], contrast: Contrast) -> Slices:
    """Return the estimates by one measure."""
    estimates = {one.name: estimate_of(one.session, one.labelled, contrast) for one in drawn}
    shares = {one.name: one.share for one in drawn}
    return Slices(estimates, overall_estimate(drawn, contrast, estimates), shares)


def _parts_of_slices(pool: Pool, labels: Any, slices: Any) -> list[_Part]:
    """Return the slices of a pool."""
    look = label_function(pool, labels)
    got: dict[Any, Any] = {}
    found = pool.cut(slices)
    total = sum(mass for mass, _ in found.values())
    return [_Part(name, part, mass / total, look, got) for name, (mass, part) in found.items()]


def _parts_of_pools(pools: Mapping[Any, Pool], labels: Any, slices: Any) -> list[_Part]:
    """Return several pools as slices of one whole, each weighing as many items as it has."""
    if slices is not None:
        raise InputError("several pools are the slices: leave slices= out, or give one pool")
    if len(pools) < 2:
        raise InputError(f"several pools share a budget; there is {len(pools)}")
    if not isinstance(labels, Mapping) or set(labels) != set(pools):
        odd = [name for name in pools if name not in labels] if isinstance(labels, Mapping) else []
        raise InputError(
            f"labels of several pools are a mapping with their names, {list(pools)}, to each pool's labels"
            + (f"; there are none of {odd[0]!r}" if odd else "")
        )
    first = next(iter(pools.values()))
    for name, pool in pools.items():
        if (pool.task, pool.models) != (first.task, first.models):
            raise InputError(
                f"pool {name!r} is {pool!r} of models {some_of(pool.models)}, not {first!r} of "
                f"{some_of(first.models)}: pools that share a budget have the same task and models"
            )
    size = sum(map(len, pools.values()))
    return [_Part(name, pool, len(pool) / size, labels[name], {}) for name, pool in pools.items()]


def _labels_for(parts: Sequence[_Part], question: Question, budget: float) -> int:
    """Return how many labels the budget pays; refuse costs that differ, and a budget below ten labels a slice."""
    asked = [as_asked(part.pool, question) for part in parts]
    (price, *others) = {one_price(pool) for pool in asked}
    if others or price is None:
        raise InputError("slices share a number of labels, which must all cost the same: else evaluate each alone")
    units, priced = [pool.n_units for pool in asked], any(pool.prices is not None for pool in asked)
    check_amount(budget, price * sum(units), "cost" if priced else "labels")
    number, needed = int(labels_for(budget, price)), sum(min(LEAST_IN_SLICE, count) for count in units)
    if number < needed:
        raise InputError(
            f"budget={budget:g} is too small for {len(parts)} slices: {needed} labels give each {LEAST_IN_SLICE}, "
            "or all it has"
        )
    return number


def _seed(seed: int, name: Any) -> int:
    """Return a slice's own seed: pools may have ids in common, and their draws must not."""
    return int.from_bytes(sha256(f"{seed}:{name}".encode()).digest()[:6], "big")


def _label_slices(
    parts: Sequence[_Part], sessions: Sequence[Session], method: Method, *, budget: int, share: str
) -> None:
    """Plan all slices, divide a stage's labels, draw and label; until the budget is spent or all is labelled."""
    plans: list[Plan | None] = [None] * len(parts)
    left = np.ones(len(parts), dtype=np.bool_)
    asked = np.zeros(len(parts), dtype=np.int64)
    first = parts[0].pool
    least = max(least_in_stage(first.task, "evaluate", len(first.models)), LEAST_IN_SLICE * len(parts))
    while left.any() and asked.sum() < budget:
        plans = [
            _planned(part, session) if more else plan
            for part, session, plan, more in zip(parts, sessions, plans, left, strict=True)
        ]
        planned = [plan for plan in plans if plan is not None]
        if not asked.any():
            _require_defined(parts, planned, main_contrasts(sessions[0].question, first.task, first.models))
        capacities = np.array([plan.urn.support for plan in planned]) * left
        end = int(stage_end(method.stages, budget, float(asked.sum()), float(least)))
        fresh = further_allocation(
            _stakes(parts, planned, method, share) * left, asked, total=end, capacities=capacities, least=LEAST_IN_SLICE
        )
        for part, session, plan, count in zip(parts, sessions, planned, fresh.tolist(), strict=True):
            if count:
                session.draw(part.pool, plan, count)
                label_all(session, part.pool, part.labels, got=part.got)
        asked, left = asked + fresh, fresh < capacities


def _require_defined(parts: Sequence[_Part], plans: Sequence[Plan], contrasts: Sequence[Contrast]) -> None:
    """Refuse a measure that no label can define on the whole; on a slice it may stay undefined."""
    settings, shares = [plan.setting for plan in plans], np.array([part.share for part in parts])
    require_defined(contrasts, _Joined(settings[0], settings, shares), settings[0].uninformed)


def _planned(part: _Part, session: Session) -> Plan:
    """Return a slice's next plan; where no label can move its own value, one that draws passively for the whole."""
    try:
        plan = session.plan(part.pool, defined=False)
    except MeasureError as error:
        raise MeasureError(f"slice {part.name!r}: {error}") from error
    if plan.urn.support or session.stages:
        return plan
    session.method = replace(session.method, design="passive", floor=0.0)
    return session.plan(part.pool, defined=False)


def _stakes(parts: Sequence[_Part], plans: Sequence[Plan], method: Method, share: str) -> Floats:
    """Return what each slice has at stake: its share of the sizes that the method's design gives to all."""
    settings, scale = [plan.setting for plan in plans], np.ones(len(parts))
    if share == "overall":
        scale = np.array([part.share for part in parts])
        settings = [replace(setting, expect=_Joined(setting, settings, scale)) for setting in settings]
    designs = [design_of(method, setting, len(plan.functionals)) for setting, plan in zip(settings, plans, strict=True)]
    sums = np.empty((len(designs[0].terms) + 1, len(parts)))
    for h, (part, plan, design) in enumerate(zip(parts, plans, designs, strict=True)):
        terms = [*(term for _, term in design.terms), design.ground]
        sums[:, h] = [scale[h] * mass for mass in part.pool.masses(terms, plan.urn)]
    mixed = [*(portion * (1.0 - method.floor) for portion, _ in designs[0].terms), method.floor]
    # Rounded, so that the last bits of a sum, which follow the order of rows, break no ties.
    return np.round(mixed_stakes(sums, np.array(mixed), SHARES[share]), 9)


@dataclass(frozen=True, eq=False)
class _Joined:
    """Believed pool means of the whole, each slice's under its own belief; what a design of the whole is made at."""

    setting: Setting
    settings: Sequence[Setting]
    weights: Floats

    def __call__(self, contrast: Contrast, belief: Belief) -> Sums:
        found = [one.expect(contrast, self._of(one, belief)) for one in self.settings]
        return {
            model: np.sum([w * sums[model] for w, sums in zip(self.weights, found, strict=True)], axis=0)
            for model in contrast.models
        }

    def _of(self, other: Setting, belief: Belief) -> Belief:
        """Return another slice's belief of the same kind."""
        if belief is self.setting.belief:
            return other.belief
        return other.uninformed if belief is self.setting.uninformed else belief
