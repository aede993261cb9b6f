"""From a pool and a question to a stage: belief, sums, design, draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import Any

import numpy as np

from sondage.core.beliefs import Belief, is_broad
from sondage.core.catalogue.beliefs import Expectation, named_belief, uninformed_belief
from sondage.core.catalogue.designs import Setting, named_design, shrunk
from sondage.core.comparisons import Contrast, Differences, Sums
from sondage.core.designs import Design, Equal
from sondage.core.measures import Functional, Measure, Task
from sondage.core.measures.binned import JoinedValues
from sondage.core.measures.functionals import OfPool, require_better
from sondage.core.predictions import Floats
from sondage.core.samples import Known, SumKey
from sondage.core.strata import N_STRATA, Strata
from sondage.core.urns import ArrayUrn, Urn
from sondage.errors import InputError, MeasureError
from sondage.pools import Pool
from sondage.pools.results import Filled, RowChoice
from sondage.studies.drawing import DRAWS, Drawing, Drawn, Stratified
from sondage.studies.method import Method, Question
from sondage.studies.opposed import tell_opposed
from sondage.studies.sums import Past, PoolSums, calibrated

__all__ = [
    "DrawnStage",
    "Plan",
    "check_target",
    "design_of",
    "draw_stage",
    "main_contrasts",
    "make_plan",
    "oriented",
    "require_defined",
    "settle",
]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed from the pool before anything is drawn.

    Attributes
    ----------
    functionals : tuple of Functional
        The measures, ready for the task.
    setting : Setting
        What the design was made from.
    known : Known
        Pool sums under its belief.
    urn : Urn
        Every unit with its size.
    covers : bool
        Whether every item that can matter has a size, so that labelling all of them is exact.
    """

    functionals: tuple[Functional, ...]
    setting: Setting
    known: Known
    urn: Urn
    covers: bool

    @property
    def contrasts(self) -> Sequence[Contrast]:
        """What the design serves: one model, a difference, or all pairs."""
        return self.setting.contrasts

    @property
    def belief(self) -> Belief:
        """What the labels are expected to be."""
        return self.setting.belief

    @property
    def sizes(self) -> Floats:
        """Sizes of the units of a pool in memory, shape (U,), summing to 1."""
        assert isinstance(self.urn, ArrayUrn)
        return self.urn.sizes


@dataclass(frozen=True, eq=False)
class DrawnStage:
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


def settle(pool: Pool, question: Question, *others: Pool) -> Question:
    """Return the question with measures that have taken from the pool, or several, what they need, such as bins."""
    models, task = tuple(pool.model(name) for name in question.models), pool.task

    def settled(measure: Measure) -> Measure:
        if not isinstance(measure, OfPool):
            return measure
        parts = [one.values for one in (pool, *others)]
        return measure.settled(task, JoinedValues(measure.name, parts) if others else parts[0], models)

    return replace(question, measures=tuple(map(settled, question.measures)))


def check_target(functional: Functional, target: str) -> None:
    """Refuse a population's value of a measure with kinks: the pool itself would bias it."""
    if target == "population" and functional.corrected is not None:
        raise MeasureError(f"measure {functional.name!r} is of the pool itself; target='population' does not fit it")


def _contrasts_of(question: Question, functional: Functional, names: tuple[str, ...]) -> Sequence[Contrast]:
    """Return the contrasts a question asks for of one measure: one, or all pairs of models."""
    index = [names.index(name) for name in question.models]
    if question.kind == "evaluate":
        return (Contrast(functional, ((index[0], 1.0),)),)
    return Differences(functional, tuple(combinations(index, 2)))


def main_contrasts(question: Question, task: Task, names: tuple[str, ...]) -> list[Contrast]:
    """Return a question's contrast of each measure; of more than two models that of the first pair."""
    return [_contrasts_of(question, functional, names)[0] for functional in question.functionals(task)]


def oriented(contrast: Contrast, names: tuple[str, ...]) -> Contrast:
    """Return a difference as first minus second by name, and of a mean that is better when higher what it leaves.

    Parts of equal numbers by it are the same either way round, and the same by accuracy as by error rate.
    """
    ordered = tuple(sorted(contrast.weights, key=lambda term: names[term[0]]))
    gain = contrast.functional.linear and bool(contrast.functional.higher_is_better)
    if gain == (ordered != contrast.weights):
        return replace(contrast, weights=ordered)
    return replace(contrast, weights=tuple((model, -weight) for model, weight in ordered))


def make_plan(
    pool: Pool, question: Question, method: Method, past: Past | None = None, *, defined: bool = True
) -> Plan:
    """Return belief, pool sums and sizes: two passes over the pool.

    Of the first stage a warning tells where the probabilities speak against the predictions.

    Parameters
    ----------
    pool, question, method
        What is asked of what, and how.
    past : Past, optional
        Earlier stages: their labels calibrate the belief, and what they asked for is not drawn again.
    defined : bool
        Whether to refuse a measure that no label can define.

    Raises
    ------
    MeasureError
        If a measure does not fit the task, or is undefined whatever the labels.
    """
    functionals = _functionals(pool.task, question, method)
    wanted = [_contrasts_of(question, functional, pool.models) for functional in functionals]
    models = tuple(sorted({pool.model(name) for name in question.models}))
    belief, uninformed = _beliefs(pool, method, models, past)
    sums = PoolSums(pool, models, functionals, belief, uninformed, past)
    if past is None:
        tell_opposed(pool, sums)
    from_first = [_from_first(contrasts) for contrasts in wanted]
    for contrasts in from_first if defined else []:
        require_defined(contrasts, sums.expect, sums.uninformed)
    rest = None if past is None else past.rest
    relevant = _relevant(pool, [contrast for contrasts in from_first for contrast in contrasts], sums, rest)
    setting = _setting(pool, wanted[0], method, sums, past)
    design = design_of(method, setting, len(functionals))
    filled = pool.filled(design, relevant, rest, strict=method.assisted)
    return _plan(pool, functionals, setting, sums, filled)


def _beliefs(pool: Pool, method: Method, models: tuple[int, ...], past: Past | None) -> tuple[Belief, Belief]:
    """Return the method's belief, calibrated on the labels so far, and the uninformed one."""
    shares = {} if past is None or past.standing is None else past.standing.shares
    expectation = Expectation(pool.task, pool.outline, models, pool.models, shares, pool.doubts)
    belief, uninformed = named_belief(method.belief, expectation), uninformed_belief(expectation)
    if past is not None and len(past.labels):
        belief = calibrated(belief, past.answered, past.labels, past.units)
    return belief, uninformed


def _setting(pool: Pool, contrasts: Sequence[Contrast], method: Method, sums: PoolSums, past: Past | None) -> Setting:
    """Return what the design is made from."""
    setting = Setting(
        contrasts=contrasts,
        models=sums.models,
        belief=sums.belief,
        task=pool.task,
        expect=sums.expect,
        assisted=method.assisted,
        uninformed=sums.uninformed,
        squared=lambda: pool.squared_weights,
    )
    if past is None:
        return setting
    return replace(setting, standing=past.standing, labels=past.n_labels)


def _functionals(task: Task, question: Question, method: Method) -> tuple[Functional, ...]:
    """Return the question's measures of this task, each of which fits question and target and is named once."""
    functionals = question.functionals(task)
    for functional in functionals:
        check_target(functional, method.target)
        if question.kind == "select":
            require_better(functional.name, functional.higher_is_better)
    names = [functional.name for functional in functionals]
    if len(set(names)) < len(names):
        raise MeasureError(f"a measure is named twice: {names}")
    return functionals


def design_of(method: Method, setting: Setting, n_measures: int = 1) -> Design:
    """Return the method's design; of several measures it serves the first, and the floor none."""
    design = named_design(method.design, method.floor, setting)
    # What moves the first measure says nothing of the others.
    return replace(design, ground=Equal()) if n_measures > 1 else design


def _from_first(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the contrasts with the first model, which come first: what moves any pair moves one of these."""
    first = contrasts[0].models[0]
    return list(takewhile(lambda contrast: contrast.models[0] == first, contrasts))


def require_defined(
    contrasts: Sequence[Contrast], expect: Callable[[Contrast, Belief], Sums], uninformed: Belief
) -> None:
    """Refuse a measure that no label can define, such as the precision of a model that predicts no positive.

    Parameters
    ----------
    contrasts : sequence of Contrast
        What is asked for.
    expect : callable
        From a contrast and a belief to the pool means that are expected.
    uninformed : Belief
        By which any label may be.

    Raises
    ------
    MeasureError
        If it has no value even so.
    """
    for contrast in contrasts:
        if not contrast.functional.linear and not np.isfinite(contrast.value(expect(contrast, uninformed))):
            name = contrast.functional.name
            raise MeasureError(
                f"measure {name!r} is undefined on this pool whatever the labels are: its denominator is 0"
            )


def _relevant(pool: Pool, contrasts: list[Contrast], sums: PoolSums, rest: RowChoice | None) -> RowChoice:
    """Return which rows can matter, seen from two places: at the belief, and moved towards labels of no pattern.

    An influence may be flat at the belief by coincidence, as in the middle of symmetric scores that of the area under
    the curve is. Where two models are believed to be equal in both, what they predict alike seems not to matter. If
    they differ anywhere in the rest it may: that is seen from where the first is right more often.
    """
    influences, elsewhere, uninformed = [], [], sums.uninformed
    for contrast in contrasts:
        if contrast.functional.corrected is not None or contrast.functional.own:
            # Signs may differ, or there may be steps, anywhere: no item is known not to matter.
            return pool.all_rows
        at = sums.expect(contrast, sums.belief)
        seen = [contrast.influence(at)]
        if not contrast.functional.linear:
            basis, flat = contrast.functional.basis, sums.expect(contrast, uninformed)
            seen.append(contrast.influence(shrunk(at, {model: basis.uneven(mu) for model, mu in flat.items()})))
            if all(influence.cancels for influence in seen):
                first = contrast.models[0]
                elsewhere.append(contrast.influence({**at, first: basis.improved(at[first])}))
        influences += seen
    rows = pool.relevant(influences, uninformed)
    if elsewhere and pool.share_of(pool.relevant(influences, uninformed, rest)) > 0:
        return pool.relevant([*influences, *elsewhere], uninformed)
    return rows


def _plan(pool: Pool, functionals: tuple[Functional, ...], setting: Setting, sums: PoolSums, filled: Filled) -> Plan:
    """Return the plan, with the pool sums of what cannot be drawn."""
    outside: dict[SumKey, Floats] = {}
    if filled.outside is not None:
        # Variances without an end have no unit: beside labels in a small one they would be all there is.
        belief = replace(setting.belief, broad=False, peaked=True) if is_broad(setting.belief) else setting.belief
        outside = pool.believed([(basis, sums.models) for basis in sums.bases.values()], belief, filled.outside)
    known = Known(
        share=filled.share,
        belief=setting.belief,
        expected=sums.rest(setting.belief),
        outside=outside,
        squared=pool.squared_weights,
        immovable=filled.immovable,
    )
    return Plan(functionals, setting, known, filled.urn, filled.covers)


def draw_stage(
    pool: Pool,
    plan: Plan,
    method: Method,
    *,
    budget: float,
    seed: int,
    number: int = 0,
    settings: Mapping[str, Any] | None = None,
    target: float | None = None,
) -> DrawnStage:
    """Return a stage drawn for this budget.

    Parameters
    ----------
    pool, plan, method
        What is drawn from, with what sizes, and how.
    budget : float
        Labels, or cost.
    seed, number : int
        Of the hash; the number is the stage's, from 0.
    settings : mapping, optional
        Of an earlier draw, of which a longer head is to be drawn in the same order.
    target : float, optional
        For which part of the budget the stage is meant; what follows is drawn in reserve. By default all.
    """
    draw = DRAWS[method.draw]
    strata = None
    if isinstance(draw, Stratified):
        # A label each at least; an extended draw keeps the strata it has.
        most = int(budget) if settings is None else len(settings["numbers"])
        strata = _strata(pool, plan, most)
    drawing = Drawing(plan.urn, seed, number, strata, target)
    return DrawnStage(number, seed, plan.known, draw.take(drawing, budget, settings), plan.covers)


def _strata(pool: Pool, plan: Plan, most: int) -> Strata:
    """Return strata of equal numbers by the believed mean influence."""
    if pool.prices is not None:
        raise InputError("stratified draws count labels, not costs; use another draw or a pool without costs")
    influence = plan.setting.influence(oriented(plan.contrasts[0], pool.models))
    return pool.strata(influence, plan.belief, min(N_STRATA, most))
