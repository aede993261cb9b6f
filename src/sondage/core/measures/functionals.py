"""A measure made ready for one task: its item statistic, its value and its gradient."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sondage.core.measures.bases import Basis, clean_sum
from sondage.core.measures.binned import ItemValues, Values
from sondage.core.predictions import Floats, Items
from sondage.errors import MeasureError

__all__ = [
    "ClassRatios",
    "Functional",
    "Measure",
    "OfPool",
    "Task",
    "linear",
    "named",
    "numerical_gradient",
    "require_better",
    "require_kind",
    "settled",
    "spelled",
]

_WHOLE = re.compile(r"-?\d+\.0*")


@dataclass(frozen=True)
class Task:
    """What kind of labels a pool asks for.

    Attributes
    ----------
    kind : str
        ``"classification"``, ``"regression"``, ``"outcomes"`` or ``"ranking"``.
    classes : tuple
        The classes, in the order of the probabilities; empty unless classification.
    grades : tuple of float
        Values an outcome can take, or relevance grades, ascending; empty for classes and numbers.
    """

    kind: str
    classes: tuple[Any, ...] = ()
    grades: tuple[float, ...] = ()

    def positive(self, named: Any = None) -> int:
        """Return the code of the positive class: the named one, by default the second of two."""
        if named is None:
            if len(self.classes) != 2:
                raise MeasureError(f"name the positive class with positive=, one of {list(self.classes)}")
            return 1
        code = self.code(named)
        if code is None:
            told = f"; they are {list(self.classes)}" if self.classes else f", which is for {self.kind}"
            raise MeasureError(f"positive={named!r} is not a class of the pool{told}")
        return code

    def code(self, name: Any) -> int | None:
        """Return the code of a class by its name, else by the text of its name, else as `spelled`; None if none is it.

        Examples
        --------
        >>> [Task("classification", ("0.0", "1.0")).code(label) for label in ("1.0", 1, " 1 ", 2)]
        [1, 1, 1, None]
        """
        if isinstance(name, np.ndarray) and name.ndim:
            return None
        for form in (lambda value: value, str, spelled):
            wanted = form(name)
            code = next((code for code, own in enumerate(self.classes) if form(own) == wanted), None)
            if code is not None:
                return code
        return None


def spelled(name: Any) -> str:
    r"""Return the text of a class's name as people and files may have it: white space is one space, and 1.0 is 1.

    Times are in UTC where they have a zone, and dates where it is midnight and they have none.

    Examples
    --------
    >>> spelled(" not\nspam"), spelled(1.0), spelled("2.50")
    ('not spam', '1', '2.50')
    >>> spelled(date(2026, 3, 1)), spelled(datetime(2026, 3, 1)), spelled(datetime(2026, 3, 1, 12))
    ('2026-03-01', '2026-03-01', '2026-03-01T12:00:00')
    """
    if isinstance(name, datetime):
        name = name.astimezone(UTC) if name.tzinfo else name
        name = name.date() if name == datetime.combine(name, time.min) else name
    text = name.isoformat() if isinstance(name, date) else " ".join(str(name).split())
    return text.split(".")[0] if _WHOLE.fullmatch(text) else text


@dataclass(frozen=True)
class ClassRatios:
    r"""A ratio of each class, :math:`M_{cc} / (a P_c + b L_c)`: recall with a = 0 and b = 1, F1 with a half each.

    With the shares :math:`M` of items by prediction and label, shape (k, k), and :math:`P_c` and :math:`L_c` those of
    the prediction and the label :math:`c`.

    Attributes
    ----------
    classes : tuple
        Their names, k.
    predicted, labelled : float
        a and b, not negative.
    occurring : bool
        Whether their mean is of those only whose denominator is positive: of the classes that occur.

    Examples
    --------
    >>> above, below = ClassRatios(("a", "b"), predicted=0.5, labelled=0.5).at(np.array([[0.5, 0.2], [0.1, 0.2]]))
    >>> above.tolist(), below.round(2).tolist()
    ([0.5, 0.2], [0.65, 0.35])
    """

    classes: tuple[Any, ...]
    predicted: float
    labelled: float
    occurring: bool = False

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def binomial(self) -> bool:
        """Whether denominators count items once, or not at all."""
        return not (self.predicted and self.labelled)

    def at(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return numerators and denominators at these pool means, shape (k,) each."""
        return np.diag(sums), clean_sum(np.concatenate([self.predicted * sums.T, self.labelled * sums]), axis=0)

    def counted(self, code: int, predictions: NDArray[Any], labels: NDArray[Any]) -> Floats:
        """Return how often items with these predictions and labels count in the denominator of a class, shape (n,)."""
        return np.asarray(self.predicted * (predictions == code) + self.labelled * (labels == code))


@dataclass(frozen=True, eq=False)
class Functional:
    r"""A measure :math:`g(\mu)` of the pool means :math:`\mu` of one item statistic.

    Attributes
    ----------
    name : str
        The measure's name, with its parameters.
    basis : Basis
        The item statistic.
    value, gradient : callable
        :math:`g(\mu)`, NaN where undefined, and :math:`\nabla g(\mu)`, of the shape of :math:`\mu`: functions of a
        module, or partial ones, since results hold them and are pickled.
    bounds : (float, float)
        Smallest and largest possible value.
    higher_is_better : bool or None
        Direction; None where neither is better.
    proportion : bool
        Whether the value is a share in [0, 1] to which Wilson-type intervals apply.
    linear : bool
        Whether the gradient is the same everywhere, so that the influence follows without any pool mean.
    ratio : (ndarray, ndarray), optional
        Coefficients of numerator and denominator, where the measure is a ratio of linear functions.
    class_ratios : ClassRatios, optional
        The ratios whose mean the measure is, the classes' recalls or F1, each of them largest where all labels are as
        predicted.
    positive : object, optional
        The positive class, where the measure has one.
    own : bool
        Whether it is a user's function, of which only values are known: any item may matter.
    sure_decide : bool
        Whether the items whose labels are surest move the value most, as for the AUC: a belief tells least where it
        matters most.
    corrected : callable, optional
        For a measure that is not smooth: returns, from :math:`\hat\mu` and the variances of its entries, the value less
        its estimated bias, and a bound of the bias that is left. None where linearising is enough.
    moments : callable, optional
        For such a measure: returns, from pool means and the variances of their normal errors, shape (K, d) each, mean
        and variance of the value, shape (K,) each.
    curvature : callable, optional
        For a measure whose value on few labels is biased: returns, from :math:`\hat\mu`, signs :math:`\epsilon` and
        coefficients a, of the shape of :math:`\mu`; :math:`\tfrac12 \sum \epsilon \mathrm{Var}(a \cdot \hat\mu)` is the
        bias to second order. None where it does not matter.
    """

    name: str
    basis: Basis
    value: Callable[[Floats], float]
    gradient: Callable[[Floats], Floats]
    bounds: tuple[float, float] = (-np.inf, np.inf)
    higher_is_better: bool | None = False
    proportion: bool = False
    linear: bool = False
    ratio: tuple[Floats, Floats] | None = None
    class_ratios: ClassRatios | None = None
    positive: Any = None
    own: bool = False
    sure_decide: bool = False
    corrected: Callable[[Floats, Floats], tuple[float, float]] | None = None
    moments: Callable[[Floats, Floats], tuple[Floats, Floats]] | None = None
    curvature: Callable[[Floats], Sequence[tuple[float, Floats]]] | None = None


@runtime_checkable
class Measure(Protocol):
    """Anything with a name that can be made ready for a task."""

    @property
    def name(self) -> str:
        """The measure's name, with its parameters."""
        ...

    def ready(self, task: Task) -> Functional:
        """Return the measure as a function of the task's pool means, or raise `MeasureError`."""
        ...


@runtime_checkable
class OfPool(Protocol):
    """A measure that must see a pool's outputs before it can be made ready, such as for its bins."""

    def settled(self, task: Task, values: Values, models: tuple[int, ...]) -> Measure:
        """Return the measure with what it takes from the outputs of these models; plain data that a study keeps."""
        ...


def settled(measure: Measure, task: Task, items: Items, models: tuple[int, ...]) -> Measure:
    """Return the measure as it is for these items: itself, unless it is one `OfPool`."""
    return measure.settled(task, ItemValues(items), models) if isinstance(measure, OfPool) else measure


def numerical_gradient(value: Callable[[Floats], float], mu: Floats, step: float = 1e-6) -> Floats:
    """Return the gradient of a function of shares by differences, entry by entry; no share is made negative.

    Examples
    --------
    >>> numerical_gradient(lambda m: float(m[0] * m[1]), np.array([2.0, 3.0])).round(6).tolist()
    [3.0, 2.0]
    """
    gradient = np.zeros_like(mu, dtype=np.float64)
    for index in np.ndindex(mu.shape):
        moved = mu.astype(np.float64)
        at = []
        start = max(float(mu[index]) - step, 0.0)
        for k in range(3):
            moved[index] = start + k * step
            at.append(value(moved))
        # Second order either way: central, or one-sided where the share is 0.
        central = float(mu[index]) >= step
        gradient[index] = (at[2] - at[0] if central else 4 * at[1] - 3 * at[0] - at[2]) / (2 * step)
    return gradient


def linear(name: str, basis: Basis, coefficients: Any, **options: Any) -> Functional:
    """Return the measure that is a fixed linear function of the pool means."""
    a = np.asarray(coefficients, dtype=np.float64)
    return Functional(name, basis, partial(_weighted_sum, a), partial(_same, a), linear=True, **options)


def _weighted_sum(coefficients: Floats, mu: Floats) -> float:
    return float(np.sum(coefficients * mu))


def _same(coefficients: Floats, mu: Floats) -> Floats:
    return coefficients


def require_better(name: str, higher_is_better: bool | None) -> bool:
    """Return whether higher values are better, or refuse to rank models by a measure that has no better."""
    if higher_is_better is None:
        raise MeasureError(f"measure {name!r} has no better or worse, so that models cannot be ranked")
    return higher_is_better


def require_kind(kind: str, task: Task, name: str) -> None:
    """Raise `MeasureError` unless the task is of this kind."""
    if task.kind != kind:
        numbers = ": numbers are means=, in files with task='regression'" if kind == "regression" else ""
        raise MeasureError(f"measure {name!r} is for {kind}; this pool is for {task.kind}{numbers}")


def named(name: str, positive: Any) -> str:
    """Return a measure's name with its positive class, if it names one."""
    return name if positive is None else f"{name}{',' if ':' in name else ':'}positive={positive}"
