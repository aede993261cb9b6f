"""Designs by the names that the thesis's reader knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.core.beliefs import Belief, GaussianBelief, is_broad
from sondage.core.checks import require_known
from sondage.core.comparisons import Contrast, Influence, Sums
from sondage.core.contenders import Contention, Standing
from sondage.core.designs import (
    COST_EXPONENT,
    Design,
    Deviation,
    Equal,
    MeanAbsolute,
    Mixture,
    PairwiseDisagreement,
    Range,
    RootMeanSquare,
    Term,
    mixed,
    mixture,
)
from sondage.core.measures import ErrorRate, Task
from sondage.core.measures.bases import Confusion, rounded
from sondage.core.measures.functionals import Functional
from sondage.core.predictions import Floats
from sondage.errors import InputError

__all__ = ["DESIGNS", "Setting", "design_names", "named_design", "shrunk"]

LABELS_PER_SURPRISE = 3.0
"""Surprises are few while there are more labels than this for each of them."""
MOST_PAIRS = 1000
"""Of how many pairs of models the first stage of a selection takes the mixture."""
FIRST_OWN, OWN = 0.5, 0.25
"""Share of the models' own values in the design of a difference of ratios: before any label, and later."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What designs are made from.

    Attributes
    ----------
    contrasts : sequence of Contrast
        What is to be estimated: one model's measure, one difference, or the differences of all pairs.
    models : tuple of int
        The models concerned, ascending.
    belief : Belief
        What the labels are expected to be.
    task : Task
        The pool's task.
    expect : callable
        ``expect(contrast, belief)`` returns the believed pool means of the contrast's statistic.
    assisted : bool
        Whether the estimator knows the believed means, so that only the deviation from them costs.
    uninformed : Belief
        The belief that holds every label for possible.
    standing : Standing, optional
        Of several models: what earlier labels say of them.
    labels : int
        How many the belief was calibrated on.
    squared : callable
        Returns the sum of squares of the base weights, of equal ones 1 / N; for some pools that takes a pass.
    """

    contrasts: Sequence[Contrast]
    models: tuple[int, ...]
    belief: Belief
    task: Task
    expect: Callable[[Contrast, Belief], Sums]
    assisted: bool
    uninformed: Belief
    standing: Standing | None = None
    labels: int = 0
    squared: Callable[[], float] = lambda: 1.0

    @property
    def functional(self) -> Functional:
        """The measure."""
        return self.contrasts[0].functional

    @property
    def served(self) -> Sequence[Contrast]:
        """The contrasts that designs serve; of a measure with kinks each model, whose influences' signs may change."""
        if self.functional.corrected is None:
            return self.contrasts
        return tuple(Contrast(self.functional, ((model, 1.0),)) for model in self.models)

    def influence(self, contrast: Contrast, belief: Belief | None = None) -> Influence:
        """Return the influence at the believed pool means.

        Where variances are beyond all bounds no distance between models counts, and they have the same means.
        """
        belief = belief or self.belief
        sums = self.expect(contrast, belief)
        if is_broad(belief):
            mean = np.asarray(np.mean(list(sums.values()), axis=0))
            sums = dict.fromkeys(sums, mean)
        return contrast.influence(self._rounded(sums))

    @property
    def curved(self) -> bool:
        """Whether it is a difference that an error in the models' own pool means multiplies, as of F but not of losses.

        Of measures with kinks each model is served already.
        """
        functional = self.functional
        return self.contrasts[0].compares and not functional.linear and functional.corrected is None

    @property
    def rests_on_model(self) -> bool:
        """Whether what is to be estimated rests on how sure the model itself is."""
        return self.contrasts[0].rests_on_model(self.belief)

    @property
    def surprises(self) -> float:
        """How many predictions of the pool are believed to be wrong; infinite where that is not what is estimated."""
        contrast = self.contrasts[0]
        if len(self.models) > 1 or not isinstance(contrast.functional.basis, Confusion):
            return np.inf
        (matrix,) = self.expect(contrast, self.belief).values()
        return float(rounded(1.0 - np.trace(matrix) / np.sum(matrix))) / self.squared()

    def shrunk_influence(self, contrast: Contrast) -> Influence:
        """Return the influence where the believed pool means are moved a tenth of the way to the uninformed ones.

        Numbers have no uninformed mean, since nothing says how large they are: there it is the believed one.
        """
        if self.task.kind == "regression":
            return self.influence(contrast)
        at, flat = self.expect(contrast, self.belief), self.expect(contrast, self.uninformed)
        return contrast.influence(self._rounded(shrunk(at, flat)))

    def _rounded(self, sums: Sums) -> Sums:
        return {model: self.functional.basis.rounded(mu) for model, mu in sums.items()}

    def term(
        self, contrast: Contrast, *, belief: Belief | None = None, cost_exponent: float = COST_EXPONENT
    ) -> RootMeanSquare:
        """Return the thesis's optimal term; for an assisted estimator its assisted form, unless a belief is given."""
        kind = Deviation if self.assisted and belief is None else RootMeanSquare
        return kind(
            cost_exponent=cost_exponent,
            influence=self.influence(contrast, belief),
            belief=belief or self.belief,
        )


def _passive(setting: Setting) -> Mixture:
    """Return base weights: thesis 3.9."""
    return mixture([Equal(cost_exponent=0.0)])


def _cost_only(setting: Setting) -> Mixture:
    """Return base weight over root cost (section 4.4.1, with the sign of the exponent corrected)."""
    return mixture([Equal()])


def _optimal(setting: Setting) -> Mixture:
    """Return Theorems 4.1, 4.2 and 5.1; for several pairs of models the mixture 5.16."""
    return mixture([setting.term(contrast) for contrast in setting.served])


def _uniform_cost(setting: Setting) -> Mixture:
    """Return Theorem 4.1 with costs left out of account."""
    return mixture([setting.term(contrast, cost_exponent=0.0) for contrast in setting.served])


def _uniform_grades(setting: Setting) -> Mixture:
    """Return the optimal design under the belief that every label is equally likely (section 6.3)."""
    belief = setting.uninformed
    return mixture([setting.term(contrast, belief=belief) for contrast in setting.served])


def _absolute(setting: Setting) -> Mixture:
    """Return the mean absolute deviation of the influence, which trusts the belief's tails less than the optimal."""
    influences = [setting.influence(contrast) for contrast in setting.served]
    return mixture([MeanAbsolute(influence=psi, belief=setting.belief) for psi in influences])


def _bounded(setting: Setting) -> Mixture:
    """Return the optimal design at a bounded intrinsic risk (section 4.2.2): no item is taken for sure.

    The believed pool means are moved a tenth of the way to the uninformed ones, which bounds the intrinsic error
    rate below by a tenth of that of guessing.
    """
    influences = [setting.shrunk_influence(contrast) for contrast in setting.served]
    return mixture([RootMeanSquare(influence=psi, belief=setting.belief) for psi in influences])


def _adaptive(setting: Setting) -> Mixture:
    r"""Return optimal, absolute and bounded in equal parts, of which absolute's grows where surprises are few.

    After n labels, with K surprises believed to be in the pool, it is :math:`1/3 + 2/3 \, (1 - (3 K / n)^2)_+`: the
    error is then made of the few surprises that were not drawn, which are best sought where they are likeliest.

    Items on which two models agree hardly move a difference of ratios, but it is multiplied by what their labels say of
    both denominators. So that these are known, half of the first stage of such a difference and a quarter of the
    others serves each model's own value.

    Where the estimate rests on how sure one model is, which its probabilities say least of, they are `_even`.
    """
    if setting.rests_on_model:
        return _even(setting)
    few = max(0.0, 1.0 - (LABELS_PER_SURPRISE * setting.surprises / setting.labels) ** 2) if setting.labels else 0.0
    others = (1.0 - few) / 3.0
    parts = [(others, _optimal(setting)), ((1.0 + 2.0 * few) / 3.0, _absolute(setting)), (others, _bounded(setting))]
    if setting.curved:
        own = OWN if setting.labels else FIRST_OWN
        parts = [*(((1.0 - own) * share, design) for share, design in parts), (own, _active_risk(setting))]
    return mixed(parts)


def _even(setting: Setting) -> Mixture:
    """Return the thesis's optimal design, bounded and equal draws in equal parts.

    It is for measures that the surest items decide: how uncertain an item is says little of how much its label tells.
    """
    optimal = mixture([setting.term(contrast, belief=setting.belief) for contrast in setting.served])
    return mixed([(1.0 / 3.0, part) for part in (optimal, _bounded(setting), _cost_only(setting))])


def _active_err(setting: Setting) -> Mixture:
    """Return the error rate's design (4.14), whatever the measure."""
    error_rate = ErrorRate().ready(setting.task)
    return mixture([setting.term(Contrast(error_rate, c.weights)) for c in setting.contrasts])


def _active_risk(setting: Setting) -> Mixture:
    """Return the equal mixture of the designs that estimate each model by itself (section 5.4)."""
    singles = [Contrast(setting.functional, ((model, 1.0),)) for model in setting.models]
    return mixture([setting.term(single) for single in singles])


def _contenders(setting: Setting) -> Mixture:
    """Return the size that tells the leader from its contenders; before any label the mixture 5.16, as `_optimal`.

    Of very many models that mixture takes pairs at equal steps of their list.
    """
    models, standing = setting.models, setting.standing
    if standing is None:
        pairs = setting.served
        return mixture([setting.term(pair) for pair in pairs[:: -(-len(pairs) // MOST_PAIRS)]])
    influences = tuple(setting.influence(Contrast(setting.functional, ((m, 1.0),))) for m in models)
    belief, weights = setting.belief, tuple(float(standing.weights[m]) for m in models)
    if is_broad(belief):  # no distance between models counts: one stands for all
        belief = GaussianBelief(((belief.models[0][0], 1.0),), broad=True)
    leader = models.index(standing.leader)
    return mixture([Contention(influences=influences, belief=belief, weights=weights, leader=leader)])


def _disagreement(setting: Setting) -> Mixture:
    """Return the share of disagreeing pairs of models (5.18): of two, equal draws where they do (section 5.2.2)."""
    return mixture([PairwiseDisagreement(models=setting.models)])


def _limit(name: str, **limit: bool) -> Callable[[Setting], Mixture]:
    def build(setting: Setting) -> Mixture:
        """Return the optimal design under predictive variances in the limit (section 5.2.2)."""
        if setting.task.kind != "regression":
            raise InputError(f"design {name!r} is for regression; this pool is for {setting.task.kind}")
        shares = tuple((model, 1.0 / len(setting.models)) for model in setting.models)
        belief = GaussianBelief(shares, **limit)
        return mixture([setting.term(contrast, belief=belief) for contrast in setting.contrasts])

    return build


@dataclass(frozen=True)
class Named:
    """A design that has a name.

    Attributes
    ----------
    of : callable
        Returns its terms in a setting.
    believes : bool
        Whether it follows what labels are expected to be; else it asks for predictions and costs at most.
    heeds_costs : bool
        Whether of two items that tell as much the cheaper one is preferred.
    of_several : bool
        Whether it is for two models or more.
    """

    of: Callable[[Setting], Mixture]
    believes: bool = True
    heeds_costs: bool = True
    of_several: bool = False


DESIGNS: dict[str, Named] = {
    "passive": Named(_passive, believes=False, heeds_costs=False),
    "optimal": Named(_optimal),
    "absolute": Named(_absolute),
    "bounded": Named(_bounded),
    "adaptive": Named(_adaptive),
    "uniform_cost": Named(_uniform_cost, heeds_costs=False),
    "cost_only": Named(_cost_only, believes=False),
    "active_uniC": Named(_uniform_cost, heeds_costs=False),
    "active_uniD": Named(_uniform_grades),
    "active_lambda": Named(_cost_only, believes=False),
    "active_err": Named(_active_err),
    "active_neq": Named(_disagreement, believes=False, of_several=True),
    "active_0": Named(_limit("active_0", peaked=True)),
    "active_inf": Named(_limit("active_inf", broad=True)),
    "active_risk": Named(_active_risk),
    "pairwise": Named(_optimal),
    "disagreement": Named(_disagreement, believes=False, of_several=True),
    "contenders": Named(_contenders, of_several=True),
}


def design_names(design: Any, also: Iterable[str] = ()) -> list[str]:
    """Return the names of the designs that a name joins by ``+``.

    Parameters
    ----------
    design : str
        One of `DESIGNS`, or several joined by ``+``.
    also : iterable of str
        Further names that an error tells, which are no designs.

    Raises
    ------
    InputError
        If there is no such design.

    Examples
    --------
    >>> design_names("optimal + passive"), DESIGNS["optimal"].believes
    (['optimal', 'passive'], True)
    """
    names = [part.strip() for part in design.split("+")] if isinstance(design, str) else [design]
    for name in names:
        require_known("design", name, DESIGNS, also=also)
    return names


def named_design(name: str, floor: float, setting: Setting) -> Design:
    """Return the design of this name; names joined by + are mixed in equal shares.

    Parameters
    ----------
    name : str
        One of `DESIGNS`, or several joined by ``+``.
    floor : float
        Share of the mass spread over all items that can matter, in [0, 1].
    setting : Setting
        What it is for.

    Raises
    ------
    InputError
        If there is no such design, or it does not fit.
    """
    parts = design_names(name)
    for part in parts:
        if DESIGNS[part].of_several and len(setting.models) < 2:
            raise InputError(f"design {part!r} is for two models or more; there is {len(setting.models)}")
    terms = mixed([(1.0 / len(parts), DESIGNS[part].of(setting)) for part in parts])
    return Design(name, terms, float(floor), _ground(setting) if floor else Equal())


def _ground(setting: Setting) -> Term:
    """Return what the floor follows: how far a label can move one contrast, or base weights.

    These of several contrasts, and where the estimate rests on the model: there what a label moves vanishes between the
    classes, and the model's probabilities decide where that is.
    """
    if len(setting.contrasts) > 1 or setting.rests_on_model:
        return Equal()
    (contrast,) = setting.contrasts
    influence = setting.influence(contrast) if contrast.functional.linear else setting.shrunk_influence(contrast)
    return Range(influence=influence, belief=setting.belief)


def shrunk(sums: Sums, towards: Sums) -> dict[int, Floats]:
    """Return pool means moved a tenth of the way, where an influence cannot be flat by coincidence."""
    return {model: 0.9 * mu + 0.1 * towards[model] for model, mu in sums.items()}
