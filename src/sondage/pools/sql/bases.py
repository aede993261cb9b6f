"""Item statistics as SQL: believed totals, and projections on coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from sondage.core.beliefs import Belief, GaussianBelief
from sondage.core.measures.bases import LOG_CLIP, Basis, ClassLoss, Confusion, OutcomeValue, Residuals
from sondage.core.predictions import Floats
from sondage.pools.schema import Probabilities, Schema
from sondage.pools.sql.beliefs import Supposed, gaussians
from sondage.pools.sql.text import NoForm, Select, clipped, number, product_sum, total

__all__ = ["believed_sums", "projected"]


@singledispatch
def projected(
    basis: Basis, select: Select, schema: Schema, model: int, labels: Sequence[Any], coefficients: Floats
) -> list[str]:
    """Return the inner product of the statistic with coefficients, for each label.

    Raises
    ------
    NoForm
        If there is no SQL for the statistic.
    """
    raise NoForm(basis.name)


@projected.register
def _(basis: Confusion, select: Select, schema: Schema, model: int, labels: Sequence[Any], a: Floats) -> list[str]:
    code, table = schema.models[model].code, np.asarray(a)[:, list(labels)]
    known = (code, table.shape, table.tobytes())
    if known not in select.memo:
        select.memo[known] = select.let(select.looked_up(code, table))
    return list(select.memo[known])


@projected.register
def _(basis: ClassLoss, select: Select, schema: Schema, model: int, labels: Sequence[Any], a: Floats) -> list[str]:
    return [f"{number(a[0])} * {loss}" for loss in _losses(basis, select, schema, model, labels)]


def _losses(basis: ClassLoss, select: Select, schema: Schema, model: int, labels: Sequence[int]) -> list[str]:
    told = schema.models[model].probabilities
    if told is None:
        raise NoForm("a model without probabilities")
    return select.let(_CLASS_LOSSES[basis.kind](select, told, labels))


def _log_losses(select: Select, told: Probabilities, labels: Sequence[int]) -> list[str]:
    return [f"-ln({clipped(told.of(label), LOG_CLIP, 1.0 - LOG_CLIP)})" for label in labels]


def _brier_losses(select: Select, told: Probabilities, labels: Sequence[int]) -> list[str]:
    if len(told.columns) <= 2:
        return [f"(1e0 - {told.of(label)}) * (1e0 - {told.of(label)})" for label in labels]
    squares = select.one(product_sum(told.names, told.names))
    return [f"1e0 - 2e0 * {told.of(label)} + {squares}" for label in labels]


_CLASS_LOSSES: dict[str, Callable[[Select, Probabilities, Sequence[int]], list[str]]] = {
    "log": _log_losses,
    "brier": _brier_losses,
}


@projected.register
def _(basis: Residuals, select: Select, schema: Schema, model: int, labels: Sequence[Any], a: Floats) -> list[str]:
    square, plain, absolute, first, second = (float(value) for value in a)
    residuals = select.let([f"{schema.models[model].code} - {label}" for label in labels])
    found = []
    for r, y in zip(residuals, labels, strict=True):
        terms = [f"({number(square)} * {r} + {number(plain)}) * {r}"]
        terms += [f"{number(absolute)} * abs({r})"] if absolute else []
        y = f"({y} - {number(basis.centre)})" if basis.centre else y
        terms += [f"({number(second)} * {y} + {number(first)}) * {y}"] if first or second else []
        found.append(total(terms))
    return found


@projected.register
def _(basis: OutcomeValue, select: Select, schema: Schema, model: int, labels: Sequence[Any], a: Floats) -> list[str]:
    return [number(float(a[0]) * float(label[model])) for label in labels]


def believed_sums(
    basis: Basis, belief: Belief, select: Select, schema: Schema, model: int, labelled: Supposed
) -> list[str]:
    """Return what is to be summed up, row by row, for the statistic's believed totals; not of a confusion matrix.

    Parameters
    ----------
    labelled : list of (label, expression)
        Supposed labels of this model with their weights.
    """
    labels, weights = [label for label, _ in labelled], [weight for _, weight in labelled]
    if isinstance(basis, ClassLoss):
        return [product_sum(weights, _losses(basis, select, schema, model, labels))]
    if isinstance(basis, OutcomeValue):
        return [product_sum(weights, [number(float(label[model])) for label in labels])]
    if isinstance(basis, Residuals) and isinstance(belief, GaussianBelief):
        return _residual_sums(belief, select, schema, model, basis.centre)
    raise NoForm(basis.name)


def _residual_sums(belief: GaussianBelief, select: Select, schema: Schema, model: int, centre: float) -> list[str]:
    """Return the closed forms of the five statistics' means under a mixture of Gaussians."""
    parts: list[list[str]] = []
    for share, mean, deviation in gaussians(belief, select, schema):
        spread = "0e0" if belief.peaked else deviation
        gap = select.one(f"{schema.models[model].code} - {mean}")
        label = select.one(f"{mean} - {number(centre)}") if centre else mean
        known = [
            f"{gap} * {gap} + {spread} * {spread}",
            gap,
            f"abs({gap})" if belief.peaked else _folded(select, gap, deviation),
            label,
            f"{label} * {label} + {spread} * {spread}",
        ]
        parts.append([f"{number(share)} * ({value})" for value in known])
    return [total(column) for column in zip(*parts, strict=True)]


def _folded(select: Select, gap: str, deviation: str) -> str:
    r"""Return a folded normal's mean: :math:`|d| + 2 \sigma (\varphi(z) - z (1 - \Phi(z)))` with z = |d| / sigma."""
    z = select.one(f"least(abs({gap}) / greatest({deviation}, {number(1e-300)}), 4e1)")
    density, tail = select.let([f"exp(-5e-1 * {z} * {z}) * {number(1 / np.sqrt(2 * np.pi))}", _upper_tail(z)])
    return f"abs({gap}) + 2e0 * {deviation} * ({density} - {z} * {tail})"


def _upper_tail(z: str) -> str:
    """Return the normal probability above z >= 0, to 1e-14 (G. West, Better approximations, Wilmott 2005, 70-76)."""
    top = (
        3.52624965998911e-02,
        0.700383064443688,
        6.37396220353165,
        33.912866078383,
        112.079291497871,
        221.213596169931,
        220.206867912376,
    )
    bottom = (
        8.83883476483184e-02,
        1.75566716318264,
        16.064177579207,
        86.7807322029461,
        296.564248779674,
        637.333633378831,
        793.826512519948,
        440.413735824752,
    )
    near = f"exp(-5e-1 * {z} * {z}) * {_horner(z, top)} / {_horner(z, bottom)}"
    build = f"({z} + {number(0.65)})"
    for step in (4, 3, 2, 1):
        build = f"({z} + {step} / {build})"
    far = f"exp(-5e-1 * {z} * {z}) / {build} / {number(2.506628274631)}"
    return f"CASE WHEN {z} < {number(7.07106781186547)} THEN {near} ELSE {far} END"


def _horner(x: str, powers: Sequence[float]) -> str:
    value = number(powers[0])
    for power in powers[1:]:
        value = f"({value} * {x} + {number(power)})"
    return value
