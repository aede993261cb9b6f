"""Designs as SQL: what makes a row's size, and whether any label can move an influence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import combinations

import numpy as np

from sondage.core.beliefs import Belief, ClassBelief, GaussianBelief, OutcomeBelief, is_broad
from sondage.core.comparisons import Influence
from sondage.core.contenders import LEAST_VARIANCE, Contention
from sondage.core.designs import (
    Deviation,
    Equal,
    MeanAbsolute,
    PairwiseDisagreement,
    Range,
    RootMeanSquare,
    Term,
    extent,
    vanishes,
)
from sondage.core.measures.bases import ROUNDING, Confusion, Residuals
from sondage.core.suppositions import right_or_wrong
from sondage.pools.schema import Schema, Source
from sondage.pools.sql.argmax import top_and_rest
from sondage.pools.sql.bases import projected
from sondage.pools.sql.beliefs import Supposed, allowed, supposed
from sondage.pools.sql.text import NoForm, Select, chosen, literal, number, positive, product_sum, total

__all__ = ["ALL", "masked", "matter", "sized"]

ALL = "1 = 1"
"""The condition that every row fulfils."""


def sized(term: Term, select: Select, schema: Schema) -> str:
    """Return the expression of a term's sizes, base weights up to their common factor; layers are added."""
    parts = [select.one(relevance(term, select, schema))]
    if schema.weight is not None:
        parts.append("w")
    if schema.cost is not None and term.cost_exponent:
        parts.append(f"power(c, {number(-term.cost_exponent)})")
    return " * ".join(parts)


@singledispatch
def relevance(term: Term, select: Select, schema: Schema) -> str:
    """Return the expression of a term before base weights and costs, as `Term.relevance`.

    Raises
    ------
    NoForm
        If there is no SQL for the term.
    """
    raise NoForm(type(term).__name__)


@relevance.register
def _(term: Equal, select: Select, schema: Schema) -> str:
    return "1e0"


@relevance.register
def _(term: PairwiseDisagreement, select: Select, schema: Schema) -> str:
    pairs = list(combinations([schema.models[model].code for model in term.models], 2))
    differ = total([f"CASE WHEN {a} <> {b} THEN 1e0 ELSE 0e0 END" for a, b in pairs])
    return f"{differ} / {number(len(pairs))}"


@relevance.register
def _(term: RootMeanSquare, select: Select, schema: Schema) -> str:
    if is_broad(term.belief):
        return _broad_root(term.influence, schema)
    weights, psi = _influences(term.influence, term.belief, select, schema)
    return f"sqrt({_second(weights, psi)})"


@relevance.register
def _(term: Deviation, select: Select, schema: Schema) -> str:
    if is_broad(term.belief):
        return _broad_root(term.influence, schema)
    weights, psi = _influences(term.influence, term.belief, select, schema)
    mean, second = select.one(product_sum(weights, psi)), select.one(_second(weights, psi))
    variance = select.one(f"{second} - {mean} * {mean}")
    return masked(matter([term.influence], term.belief, select, schema), f"sqrt({positive(variance)})")


@relevance.register
def _(term: MeanAbsolute, select: Select, schema: Schema) -> str:
    if is_broad(term.belief):
        return _broad_root(term.influence, schema)
    weights, psi = _influences(term.influence, term.belief, select, schema)
    mean = select.one(product_sum(weights, psi))
    weights, psi = _influences(term.influence, term.belief, select, schema, finer=2)
    distance = product_sum(weights, [f"abs({value} - {mean})" for value in psi])
    return masked(matter([term.influence], term.belief, select, schema), distance)


@relevance.register
def _(term: Range, select: Select, schema: Schema) -> str:
    if isinstance(term.belief, GaussianBelief):
        return _broad_root(term.influence, schema)
    if len(term.influence.terms) == 1 and isinstance(term.influence.basis, Confusion):
        ((model, a),) = term.influence.terms
        span = np.ptp(a, axis=1)
        least = ROUNDING * extent([term.influence])
        return select.looked_up(schema.models[model].code, np.where(span > least, span, 0.0)[:, None])[0]
    psi = _at(term.influence, allowed(term.belief, schema, term.influence.models), select, schema)
    return masked(matter([term.influence], term.belief, select, schema), _spread(psi))


@relevance.register
def _(term: Contention, select: Select, schema: Schema) -> str:
    influences, belief = term.influences, term.belief
    if isinstance(belief, OutcomeBelief):
        raise NoForm("contention of outcomes")
    _require_smooth(influences, belief)
    models = [model for influence in influences for model in influence.models]
    labelled = supposed(belief, select, schema, models, 2 * influences[0].basis.nodes)
    labels, weights = [label for label, _ in labelled], [weight for _, weight in labelled]
    psi = [select.let(_at(influence, labels, select, schema)) for influence in influences]
    gaps = [select.let([f"{v} - {c}" for v, c in zip(column, psi[term.leader], strict=True)]) for column in psi]
    means = select.let([product_sum(weights, column) for column in gaps])
    variances = []
    for share, column, mean in zip(term.weights, gaps, means, strict=True):
        squares = [f"{w} * ({gap} - {mean}) * ({gap} - {mean})" for w, gap in zip(weights, column, strict=True)]
        variances += [f"{number(share)} * {total(squares)}"] if share else []
    variance = select.one(total(variances))
    shares = list(map(number, term.weights))
    size = total([number(extent(influences) ** 2), product_sum(shares, [f"{mean} * {mean}" for mean in means])])
    return f"CASE WHEN {variance} > {number(LEAST_VARIANCE)} * ({size}) THEN sqrt({variance}) ELSE 0e0 END"


def masked(condition: str, size: str) -> str:
    """Return a size where a condition is fulfilled, else 0."""
    return size if condition == ALL else f"CASE WHEN {condition} THEN {size} ELSE 0e0 END"


def _second(weights: Sequence[str], psi: Sequence[str]) -> str:
    return product_sum(weights, [_square(value) for value in psi])


def _square(value: str) -> str:
    known = literal(value)
    return f"({value} * {value})" if known is None else number(known * known)


def _spread(values: Sequence[str]) -> str:
    return f"(greatest({', '.join(values)}) - least({', '.join(values)}))"


def _require_smooth(influences: Sequence[Influence], belief: Belief) -> None:
    """Refuse influences with kinks under a Gaussian: their nodes depend on where the kinks are."""
    kinked = (
        any(np.asarray(a)[2] for influence in influences for _, a in influence.terms)
        if isinstance(influences[0].basis, Residuals)
        else False
    )
    if kinked and isinstance(belief, GaussianBelief) and not belief.peaked:
        raise NoForm("kinks")


def _influences(
    influence: Influence, belief: Belief, select: Select, schema: Schema, finer: int = 1
) -> tuple[list[str], list[str]]:
    """Return the weights of the supposed labels, and the influence at each, as columns."""
    _require_smooth([influence], belief)
    key = (_content(influence), belief, finer if isinstance(belief, GaussianBelief) else 1)
    values = right_or_wrong(influence) if isinstance(belief, ClassBelief) else None
    if key not in select.memo and values is not None:
        ((model, _),) = influence.terms
        chances = [weight for _, weight in supposed(belief, select, schema, influence.models, influence.basis.nodes)]
        psi = select.let(select.looked_up(schema.models[model].code, values))
        select.memo[key] = _hits(select, schema.models[model], chances), psi
    if key not in select.memo:
        labelled: Supposed = supposed(belief, select, schema, influence.models, finer * influence.basis.nodes)
        psi = select.let(_at(influence, [label for label, _ in labelled], select, schema))
        select.memo[key] = [weight for _, weight in labelled], psi
    found: tuple[list[str], list[str]] = select.memo[key]
    return found


def _hits(select: Select, source: Source, chances: Sequence[str]) -> list[str]:
    """Return the believed probability of the predicted class, and of all others."""
    key = ("hits", source.number, tuple(chances))
    if key not in select.memo:
        told, k = source.probabilities, len(chances)
        if source.prediction is None and told is not None and list(chances) == [told.of(y) for y in range(k)]:
            select.memo[key] = top_and_rest(select, source)
        elif k == 2:
            flag = select.one(f"CAST({source.code} AS DOUBLE)")
            select.memo[key] = select.let([chosen(flag, *chances[::-1]), chosen(flag, *chances)])
        else:
            flags = select.let([f"CAST({source.code} = {label} AS DOUBLE)" for label in range(k)])
            others = [f"(1e0 - {flag})" for flag in flags]
            select.memo[key] = select.let([product_sum(flags, chances), product_sum(others, chances)])
    return list(select.memo[key])


def _content(influence: Influence) -> tuple[object, ...]:
    """Return what tells an influence from others in one query: equal ones are computed once."""
    terms = tuple((model, np.asarray(a).tobytes()) for model, a in influence.terms)
    return type(influence.basis), influence.basis.name, terms, influence.constant


def _at(influence: Influence, labels: Sequence[object], select: Select, schema: Schema) -> list[str]:
    """Return the influence at every label."""
    parts = [projected(influence.basis, select, schema, model, labels, a) for model, a in influence.terms]
    constant = [number(-influence.constant)] if influence.constant else []
    return [total([*column, *constant]) for column in zip(*parts, strict=True)]


def matter(influences: Sequence[Influence], belief: Belief, select: Select, schema: Schema) -> str:
    """Return the condition that any allowed label moves any of these influences, as `designs.matters`."""
    key = ("matter", type(belief), *map(_content, influences))
    if key not in select.memo:
        select.memo[key] = _any_moves(influences, belief, select, schema)
    return str(select.memo[key])


def _any_moves(influences: Sequence[Influence], belief: Belief, select: Select, schema: Schema) -> str:
    """Return the condition; what it is made of is added to the query."""
    conditions = []
    for influence in influences:
        if isinstance(influence.basis, Residuals):
            root = _broad_root(influence, schema)
            if root == "1e0":
                return ALL
            conditions.append(f"{root} > 0e0")
            continue
        least = ROUNDING * extent([influence])
        if len(influence.terms) == 1 and isinstance(influence.basis, Confusion):
            ((model, a),) = influence.terms
            moved = np.ptp(a, axis=1) > least
            if moved.all():
                return ALL
            (flag,) = select.looked_up(schema.models[model].code, moved[:, None].astype(np.float64))
            conditions.append(f"{flag} > 5e-1")
        else:
            psi = select.let(_at(influence, allowed(belief, schema, influence.models), select, schema))
            conditions.append(f"{_spread(psi)} > {number(least)}")
    return f"({' OR '.join(conditions)})" if conditions else ALL


def _broad_root(influence: Influence, schema: Schema) -> str:
    """Return the leading coefficient of the root second moment, as `core.designs.broad_root`."""
    if not isinstance(influence.basis, Residuals):
        return "1e0"
    square, plain, absolute, first, second = np.array([a for _, a in influence.terms]).T
    if not all(map(vanishes, (square, absolute, second))):
        return "1e0"
    slopes = absolute - 2.0 * square
    parts = [f"{number(s)} * {schema.models[m].code}" for s, m in zip(slopes, influence.models, strict=True)]
    parts.append(number(float(np.sum(first - plain))))
    slope, size = f"abs({total(parts)})", total([f"abs({part})" for part in parts])
    return f"CASE WHEN {slope} > {number(ROUNDING)} * ({size}) THEN {slope} ELSE 0e0 END"
