"""From a pool and a question to a stage: belief, sums, design, draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief
from sondage.core.catalogue.beliefs import Expectation, named_belief, uninformed_belief
from sondage.core.catalogue.designs import Setting, named_design, shrunk
from sondage.core.comparisons import Contrast, Sums, believed_totals, moments
from sondage.core.contenders import Standing
from sondage.core.designs import Design, Equal
from sondage.core.measures import Functional, parse_measure
from sondage.core.measures.bases import Basis, Confusion
from sondage.core.predictions import Floats, Items
from sondage.core.samples import Known, SumKey, bin_sums
from sondage.core.strata import N_STRATA, strata_by_score
from sondage.core.urns import ArrayUrn, Urn
from sondage.errors import InputError, MeasureError
from sondage.pools import Pool
from sondage.pools.parts import Filled
from sondage.studies.drawing import DRAWS, Drawing, Drawn, Stratified
from sondage.studies.method import Method, Question

__all__ = [
    "LEAST_IN_STAGE",
    "Past",
    "Plan",
    "Stage",
    "check_amount",
    "check_budget",
    "check_target",
    "contrasts_of",
    "design_of",
    "make_plan",
    "open_stage",
    "settle",
    "stage_end",
]

LEAST_IN_STAGE = 10


@dataclass(frozen=True, eq=False)
class Past:
    """What earlier stages asked for.

    Attributes
    ----------
    rest : rows of the pool
        Those that were not asked for.
    answered : Items
        Labelled rows.
    labels : ndarray, shape (n,) or (n, M)
        Their labels.
    units : ndarray of int, shape (n,), or None
        Which of them share a label.
    unanswered : Items
        Rows asked for and pending or skipped.
    standing : Standing, optional
        Of several models: what these labels say of them.
    """

    rest: Any
    answered: Items
    labels: NDArray[Any]
    units: NDArray[np.int64] | None
    unanswered: Items
    standing: Standing | None = None


def calibrated(belief: Belief, items: Items, labels: NDArray[Any], units: NDArray[np.int64] | None) -> Belief:
    """Return the belief calibrated on labelled rows; of rows that share a label on the first."""
    if units is not None:
        first = np.unique(units, return_index=True)[1]
        items, labels = items.take(first), labels[first]
    return belief.calibrated(items, labels)


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed from the pool before anything is drawn.

    Attributes
    ----------
    functionals : tuple of Functional
        The measures, ready for the task.
    contrasts : tuple of Contrast
        What the design serves: one model, a difference, or all pairs.
    belief : Belief
        What the labels are expected to be.
    known : Known
        Pool sums under it.
    urn : Urn
        Every unit with its size.
    covers : bool
        Whether every item that can matter has a size, so that labelling all of them is exact.
    setting : Setting
        What the design was made from.
    """

    functionals: tuple[Functional, ...]
    contrasts: tuple[Contrast, ...]
    belief: Belief
    known: Known
    urn: Urn
    covers: bool
    setting: Setting

    @property
    def sizes(self) -> Floats:
        """Sizes of the units of a pool in memory, shape (U,), summing to 1."""
        assert isinstance(self.urn, ArrayUrn)
        return self.urn.sizes


@dataclass(frozen=True, eq=False)
class Stage:
    """A draw with everything that estimating from it needs; the pool is not.

    Attributes
    ----------
    number, seed : int
        Of the hash.
    known : Known
        Pool sums and belief.
    drawn : Drawn
        Units in the order of asking.
    covers : bool
        Whether the labels of all that could be drawn make the result exact.
    """

    number: int
    seed: int
    known: Known
    drawn: Drawn
    covers: bool


def settle(pool: Pool, question: Question) -> Question:
    """Return the question with measures that have taken from the pool what they need of it, such as bins."""
    models = tuple(pool.model(name) for name in question.models)
    measures = (pool.settled(parse_measure(measure), models) for measure in question.measures)
    return replace(question, measures=tuple(measures))


def check_target(functional: Functional, target: str) -> None:
    """Refuse a population's value of a measure with kinks: the pool itself would bias it."""
    if target == "population" and functional.corrected is not None:
        raise MeasureError(f"measure {functional.name!r} is of the pool itself; target='population' does not fit it")


def contrasts_of(question: Question, functional: Functional, names: tuple[str, ...]) -> tuple[Contrast, ...]:
    """Return the contrasts a question asks for of one measure: one, or all pairs of models."""
    index = [names.index(name) for name in question.models]
    if question.kind == "evaluate":
        return (Contrast(functional, ((index[0], 1.0),)),)
    pairs = [(a, b) for i, a in enumerate(index) for b in index[i + 1 :]]
    return tuple(Contrast(functional, ((a, 1.0), (b, -1.0))) for a, b in pairs)


def make_plan(pool: Pool, question: Question, method: Method, past: Past | None = None) -> Plan:
    """Return belief, pool sums and sizes: two passes over the pool.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how.
    past : Past, optional
        Earlier stages: their labels calibrate the belief, and what they asked for is not drawn again.

    Raises
    ------
    MeasureError
        If a measure does not fit the task, or is undefined whatever the labels.
    """
    functionals = tuple(parse_measure(measure).ready(pool.task) for measure in question.measures)
    for functional in functionals:
        check_target(functional, method.target)
    names = tuple(functional.name for functional in functionals)
    if len(set(names)) < len(names):
        raise MeasureError(f"a measure is named twice: {list(names)}")
    wanted = [contrasts_of(question, functional, pool.models) for functional in functionals]
    models = tuple(sorted({model for contrasts in wanted for c in contrasts for model in c.models}))
    standing = None if past is None else past.standing
    shares = {} if standing is None else standing.shares
    expectation = Expectation(pool.task, pool.outline, models, pool.models, shares)
    belief, uninformed = named_belief(method.belief, expectation), uninformed_belief(expectation)
    if past is not None and len(past.labels):
        belief = calibrated(belief, past.answered, past.labels, past.units)
    pass_one = _Sums(pool, models, functionals, belief, uninformed, past)
    setting = Setting(wanted[0], belief, pool.task, pass_one.expect, method.assisted, uninformed, standing)
    from_first = [_from_first(contrasts) for contrasts in wanted]
    for contrasts in from_first:
        _require_defined(contrasts, pass_one, uninformed)
    relevant = _relevant(pool, [c for contrasts in from_first for c in contrasts], pass_one, belief, uninformed)
    design = design_of(method, setting, len(functionals))
    filled = pool.filled(design, relevant, None if past is None else past.rest, strict=method.assisted)
    return _plan(pool, functionals, setting, pass_one, filled)


def design_of(method: Method, setting: Setting, n_measures: int = 1) -> Design:
    """Return the method's design; of several measures it serves the first, and the floor none."""
    design = named_design(method.design, method.floor, setting)
    # What moves the first measure says nothing of the others.
    return replace(design, ground=Equal()) if n_measures > 1 else design


def _from_first(contrasts: tuple[Contrast, ...]) -> tuple[Contrast, ...]:
    """Return the contrasts with the first model: what moves any pair moves one of these."""
    return tuple(contrast for contrast in contrasts if contrast.models[0] == contrasts[0].models[0])


class _Sums:
    """Believed pool sums, each computed once; those of the uninformed belief without a pass where that can be."""

    def __init__(
        self,
        pool: Pool,
        models: tuple[int, ...],
        functionals: tuple[Functional, ...],
        belief: Belief,
        uninformed: Belief,
        past: Past | None,
    ) -> None:
        self.pool, self.models, self.belief, self.uninformed, self.past = pool, models, belief, uninformed, past
        self.bases = {functional.basis.name: functional.basis for functional in functionals}
        self._sums: dict[Belief, dict[SumKey, Floats]] = {}
        self._whole: dict[Belief, dict[SumKey, Floats]] = {}

    def rest(self, belief: Belief) -> dict[SumKey, Floats]:
        """Return the sums over what was not asked for yet."""
        if belief not in self._sums:
            rows = None if self.past is None else self.past.rest
            requests = [(basis, self.models) for basis in self.bases.values()]
            self._sums[belief] = self.pool.believed(requests, belief, rows)
        return self._sums[belief]

    def of(self, belief: Belief) -> dict[SumKey, Floats]:
        """Return the sums over the whole pool, labelled items as they are."""
        rest, past = self.rest(belief), self.past
        if past is None:
            return rest
        if belief not in self._whole:
            self._whole[belief] = {key: rest[key] + total for key, total in self._asked(past, belief).items()}
        return self._whole[belief]

    def _asked(self, past: Past, belief: Belief) -> dict[SumKey, Floats]:
        return carried_totals(self.bases.values(), self.models, belief, past.answered, past.labels, past.unanswered)

    def expect(self, contrast: Contrast, belief: Belief) -> Sums:
        basis = contrast.functional.basis
        if basis.name not in self.bases:
            self.bases[basis.name] = basis
            self._sums.clear()
            self._whole.clear()
        if belief is self.uninformed and isinstance(basis, Confusion):
            sums = self.of(self.belief)
            return {model: basis.evened(sums[basis.name, model]) for model in contrast.models}
        sums = self.of(belief)
        return {model: sums[basis.name, model] for model in contrast.models}


def carried_totals(
    bases: Iterable[Basis],
    models: Iterable[int],
    belief: Belief | None,
    answered: Items,
    labels: NDArray[Any],
    unanswered: Items,
) -> dict[SumKey, Floats]:
    """Return the pool totals of rows asked for: the labelled as they are, the others as they are believed."""
    totals: dict[SumKey, Floats] = {}
    models = tuple(models)
    for basis in bases:
        for model in models:
            totals[basis.name, model] = np.asarray(basis.totals(answered, model, labels, answered.weights))
        if len(unanswered) and belief is not None:
            for model, total in believed_totals(basis, models, belief, unanswered, unanswered.weights).items():
                totals[basis.name, model] = totals[basis.name, model] + total
    return totals


def _require_defined(contrasts: tuple[Contrast, ...], sums: _Sums, uninformed: Belief) -> None:
    """Refuse a measure that no label can define, such as the precision of a model that predicts no positive."""
    for contrast in contrasts:
        if not contrast.functional.linear and not np.isfinite(contrast.value(sums.expect(contrast, uninformed))):
            name = contrast.functional.name
            raise MeasureError(
                f"measure {name!r} is undefined on this pool whatever the labels are: its denominator is 0"
            )


def _relevant(pool: Pool, contrasts: list[Contrast], sums: _Sums, belief: Belief, uninformed: Belief) -> Any:
    """Return which rows can matter, seen from two places: at the belief, and moved towards the uninformed one."""
    influences = []
    for contrast in contrasts:
        at = sums.expect(contrast, belief)
        influences.append(contrast.influence(at))
        if contrast.functional.corrected is not None:  # signs may differ anywhere: no item is known not to matter
            return pool.all_rows
        if not contrast.functional.linear:
            influences.append(contrast.influence(shrunk(at, sums.expect(contrast, uninformed))))
    return pool.relevant(influences, uninformed)


def _plan(pool: Pool, functionals: tuple[Functional, ...], setting: Setting, sums: _Sums, filled: Filled) -> Plan:
    outside: dict[SumKey, Floats] = {}
    if filled.outside is not None:
        outside = pool.believed([(basis, sums.models) for basis in sums.bases.values()], setting.belief, filled.outside)
    known = Known(
        share=filled.share,
        belief=setting.belief,
        expected=sums.rest(setting.belief),
        outside=outside,
        squared=pool.squared_weights,
    )
    return Plan(functionals, setting.contrasts, setting.belief, known, filled.urn, filled.covers, setting)


def open_stage(
    pool: Pool,
    plan: Plan,
    method: Method,
    *,
    budget: float,
    seed: int,
    number: int = 0,
    settings: Any = None,
    target: float | None = None,
) -> Stage:
    """Return a stage drawn for this budget; with settings of an earlier draw, the longer head of the same order.

    With a target below the budget the stage is meant for that part, and what follows is drawn in reserve.
    """
    draw = DRAWS[method.draw]
    strata = deviations = None
    if isinstance(draw, Stratified):
        # A label each at least; an extended draw keeps the strata it has.
        most = int(budget) if settings is None else len(settings["numbers"])
        strata, deviations = _strata(pool, plan, most)
    drawing = Drawing(plan.urn, seed, number, strata, deviations, target)
    return Stage(number, seed, plan.known, draw.take(drawing, budget, settings), plan.covers)


def _strata(pool: Pool, plan: Plan, most: int) -> tuple[NDArray[np.int64], Floats]:
    """Return strata of equal numbers by the believed mean influence, and stratum weight times believed deviation."""
    if pool.prices is not None:
        raise InputError("stratified draws count labels, not costs; use another draw or a pool without costs")
    contrast = plan.contrasts[0]
    influence = contrast.influence({m: plan.known.expected[contrast.functional.basis.name, m] for m in contrast.models})
    mean, second = np.empty(len(pool)), np.empty(len(pool))
    for part, items in pool.blocks():
        mean[part], second[part] = moments(influence, plan.belief, items)
    weights = np.asarray(pool.items.weights)
    if pool.unit_of_row is not None:
        share = np.bincount(pool.unit_of_row, weights=weights)
        mean, second = (np.bincount(pool.unit_of_row, weights=weights * x) / share for x in (mean, second))
        weights = share
    # Rounded, so that the last bits of a sum over the pool, which follow the order of rows, break no ties.
    scores = np.round(mean / (float(np.sqrt(second.max())) or 1.0), 9)
    strata = strata_by_score(scores, pool.unit_keys, min(N_STRATA, most, len(mean)))
    mass, centre, spread = (bin_sums(strata, weights * x, int(strata.max()) + 1) for x in (1.0, mean, second))
    centre, spread = centre / mass, spread / mass - (centre / mass) ** 2
    return strata, mass * np.sqrt(np.maximum(spread, 0.0))


def check_budget(pool: Pool, budget: float) -> float:
    """Return the budget if the pool can spend it: labels, or cost where the pool has costs.

    Raises
    ------
    InputError
        If it is not positive, not whole where it counts labels, or more than the pool.
    """
    prices = pool.prices
    check_amount(budget, float(pool.n_units if prices is None else prices.total), "cost" if prices else "labels")
    if prices is not None and budget < prices.largest:  # a draw stops at what does not fit: this would never be in it
        raise InputError(
            f"budget={budget:g} is below the dearest label, {prices.largest:g}: raise it, or leave those out"
        )
    return float(budget)


def check_amount(budget: float, limit: float, unit: str) -> None:
    """Refuse a budget that is not positive, above the limit, or not whole where its unit is labels."""
    if not (np.isfinite(budget) and budget > 0):
        raise InputError(f"budget={budget} must be positive: the number of labels, or their cost")
    if unit == "labels" and budget != int(budget):
        raise InputError(f"budget={budget} counts labels and must be whole")
    if budget > limit * (1 + 1e-12):
        raise InputError(f"budget={budget:g} is above what the pool can take: {limit:g} ({unit})")


def stage_end(shares: Sequence[float], budget: float, spent: float, least: float) -> float:
    """Return up to which part of the budget the next stage goes.

    Parameters
    ----------
    shares : sequence of float
        Shares of the budget, summing to 1.
    budget, spent : float
        Labels, or cost: in all, and asked for so far.
    least : float
        Least of a stage: smaller ones are joined with the next.

    Examples
    --------
    >>> [stage_end((0.2, 0.3, 0.5), 300, spent, 10) for spent in (0, 60, 150)]
    [60.0, 150.0, 300.0]
    >>> stage_end((0.2, 0.3, 0.5), 30, 0, 10)
    15.0
    """
    for share in np.cumsum(shares)[:-1]:
        end = float(np.floor(share * budget + 1e-9)) if budget == int(budget) else float(share * budget)
        if end - spent >= least and budget - end >= least:
            return end
    return float(budget)


def sums_to_data(sums: Mapping[SumKey, Floats]) -> list[list[Any]]:
    """Return pool sums as data for JSON."""
    return [[name, model, np.asarray(total).tolist()] for (name, model), total in sums.items()]


def sums_from_data(data: list[list[Any]]) -> dict[SumKey, Floats]:
    """Return pool sums kept as data."""
    return {(name, int(model)): np.asarray(total, dtype=np.float64) for name, model, total in data}
