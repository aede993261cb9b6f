"""What is asked, and how it is answered: both plain data that a study keeps for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sondage.core.assisted import Assisted
from sondage.core.catalogue.designs import DESIGNS, design_names
from sondage.core.catalogue.estimators import ESTIMATORS
from sondage.core.catalogue.intervals import INTERVALS
from sondage.core.catalogue.significance import TESTS
from sondage.core.checks import TARGETS, is_number, listed, require_known, require_level
from sondage.core.measures import Functional, Measure, Task
from sondage.core.significance import null_difference
from sondage.errors import InputError
from sondage.studies.drawing import DRAWS, KeyOrder, Stratified

__all__ = ["METHODS", "Method", "Question", "check_part", "choose_method"]


@dataclass(frozen=True)
class Method:
    """The parts of a method, by name.

    Attributes
    ----------
    design : str
        Name from the catalogue.
    floor : float
        Share of the draw spread over all items that can matter.
    draw, estimator, interval, test : str
        Names from the catalogue.
    belief : str, tuple of float, mapping, or None
        Belief by name, or shares of classes or models; None for what the pool has: judges, features, models
        (`named_belief`).
    target : str
        ``"pool"`` or ``"population"``.
    stages : tuple of float
        Shares of the budget, summing to 1: each stage is planned from the labels of those before it.

    Raises
    ------
    InputError
        If there is no part of such a name, the floor is not in [0, 1], or the stages do not sum to 1.

    Examples
    --------
    >>> METHODS["default"].stages, Method(stages=1).staged
    ((0.2, 0.3, 0.5), False)
    """

    design: str = "optimal"
    floor: float = 0.2
    draw: str = "without_replacement"
    estimator: str = "assisted"
    interval: str = "auto"
    test: str = "auto"
    belief: Any = None
    target: str = "pool"
    stages: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        for name in _CHOICES:
            check_part(name, getattr(self, name))
        design_names(self.design)
        if not is_number(self.floor) or not 0 <= self.floor <= 1:
            raise InputError(f"floor={self.floor!r} must be in [0, 1]")
        object.__setattr__(self, "belief", _checked_belief(self.belief))
        object.__setattr__(self, "stages", _checked_stages(self.stages))

    @property
    def staged(self) -> bool:
        """Whether later draws follow from earlier labels."""
        return len(self.stages) > 1

    @property
    def assisted(self) -> bool:
        """Whether the estimator knows the believed means of the pool."""
        return isinstance(ESTIMATORS[self.estimator], Assisted)

    @property
    def believing(self) -> bool:
        """Whether draw or estimator follow what labels are expected to be."""
        return self.assisted or self.draws_by_belief

    @property
    def draws_by_belief(self) -> bool:
        """Whether the draw follows what labels are expected to be."""
        designed = any(DESIGNS[name].believes for name in design_names(self.design))
        return designed or isinstance(DRAWS[self.draw], Stratified)

    def to_data(self) -> dict[str, Any]:
        """Return the method as data for JSON."""
        return asdict(self)


_STRATIFIED = tuple(name for name, draw in DRAWS.items() if isinstance(draw, Stratified))
_IN_ORDER = tuple(name for name, draw in DRAWS.items() if isinstance(draw, KeyOrder))

_CHOICES: dict[str, Sequence[str]] = {
    "draw": tuple(DRAWS),
    "estimator": tuple(ESTIMATORS),
    "interval": tuple(INTERVALS),
    "test": tuple(TESTS),
    "target": TARGETS,
}


def check_part(name: str, chosen: Any) -> None:
    """Refuse a part of a method that there is not.

    Parameters
    ----------
    name : str
        ``"draw"``, ``"estimator"``, ``"interval"``, ``"test"`` or ``"target"``.
    chosen : object
        What was given for it.
    """
    require_known(name, chosen, _CHOICES[name])


def _checked_belief(belief: Any) -> Any:
    """Return a belief by name, or shares by name or as numbers."""
    if belief is None or isinstance(belief, str | Mapping):
        return belief
    try:
        return tuple(float(share) for share in listed("belief", belief))
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"belief={belief!r} must be a name, or probabilities of the classes") from None


def _checked_stages(stages: Any) -> tuple[float, ...]:
    """Return the shares of the stages, or refuse them."""
    try:
        shares = tuple(
            float(share) for share in (listed("stages", stages) if isinstance(stages, Iterable) else (stages,))
        )
    except (TypeError, ValueError, OverflowError):
        shares = ()
    if not shares or not min(shares) > 0 or not abs(sum(shares) - 1.0) <= 1e-6:
        raise InputError(
            f"stages={stages} must be positive shares of the budget that sum to 1; stages=1 is a single one"
        )
    return shares


METHODS: dict[str, Method] = {
    "default": Method(design="adaptive", estimator="anchored", stages=(0.2, 0.3, 0.5)),
    "thesis": Method(
        floor=0.0, draw="with_replacement", estimator="self_normalised", interval="wald", test="wald", belief="model"
    ),
    "passive": Method(design="passive", floor=0.0, estimator="hajek"),
}


def choose_method(method: str | Method | None = None, **parts: Any) -> Method:
    """Return a method with some of its parts replaced.

    Parameters
    ----------
    method : str or Method, optional
        ``"default"``, ``"thesis"`` (Algorithms 2 and 3 to the letter) or ``"passive"``.
    **parts
        Parts named one by one; None leaves them as they are.

    Raises
    ------
    InputError
        If there is no such method or part; an argument of another function is none either.

    Examples
    --------
    >>> choose_method("thesis", interval="wilson_effective").estimator
    'self_normalised'
    """
    method = "default" if method is None else method
    if not isinstance(method, Method):
        require_known("method", method, METHODS)
    base = method if isinstance(method, Method) else METHODS[method]
    chosen = {name: part for name, part in parts.items() if part is not None}
    for name in chosen:
        if name not in Method.__dataclass_fields__:
            parts_there = ", ".join(Method.__dataclass_fields__)
            raise InputError(f"{name}= is not taken here; the parts of a method are {parts_there}")
    if isinstance(chosen.get("design"), str) and chosen["design"] in _STRATIFIED:
        chosen = {"draw": chosen["design"], "estimator": "hajek"} | chosen | {"design": "passive"}
    if "design" in chosen:
        design_names(chosen["design"], also=_STRATIFIED)
    made = replace(base, **chosen)
    if made.staged and made.draw not in _IN_ORDER:
        if "stages" in chosen:
            raise InputError(f"draw={made.draw!r} has one stage; stages go with {' and '.join(_IN_ORDER)}")
        made = replace(made, stages=(1.0,))
    if made.draw in _STRATIFIED and "design" in chosen and chosen["design"] != "passive":
        raise InputError(f"draw={made.draw!r} spreads labels over strata by itself; leave design= out")
    return made


@dataclass(frozen=True)
class Question:
    """What is to be found out.

    Attributes
    ----------
    kind : str
        ``"evaluate"``, ``"compare"`` or ``"select"``.
    models : tuple of str
        The model, the two models, or all of them.
    measures : tuple of Measure
        What is estimated; the design serves the first.
    alpha : float
        Level of the tests.
    alternative : str
        ``"two-sided"``, ``"less"`` or ``"greater"``, of the difference first minus second.
    margin : float
        Of one-sided tests: by how much the null hypothesis is moved (non-inferiority).

    Raises
    ------
    InputError
        If there is no measure, the level is not in (0, 1), or the margin does not fit the alternative.
    """

    kind: str
    models: tuple[str, ...]
    measures: tuple[Measure, ...]
    alpha: float = 0.05
    alternative: str = "two-sided"
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not self.measures:
            raise InputError("there is no measure: name at least one")
        require_level("alpha", self.alpha)
        null_difference(self.alternative, self.margin)  # refuses what no test takes

    @property
    def null(self) -> float:
        """The difference under the null hypothesis."""
        return null_difference(self.alternative, self.margin)

    def functionals(self, task: Task) -> tuple[Functional, ...]:
        """Return the measures, ready for a task."""
        return tuple(measure.ready(task) for measure in self.measures)

    def to_data(self) -> dict[str, Any]:
        """Return the question as data for JSON; measures by their names."""
        return {
            "kind": self.kind,
            "models": list(self.models),
            "measures": [measure.name for measure in self.measures],
            "alpha": self.alpha,
            "alternative": self.alternative,
            "margin": self.margin,
        }
