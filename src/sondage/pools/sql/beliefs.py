"""Beliefs as SQL: for each supposed label its weight, as `Belief.supposed` gives them to NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import product
from typing import Any, cast

import numpy as np

from sondage.core.beliefs import (
    Belief,
    ClassBelief,
    GaussianBelief,
    LearnedClassBelief,
    LearnedGaussianBelief,
    LearnedOutcomeBelief,
    OutcomeBelief,
)
from sondage.core.beliefs.columns import LEAST_LEFT, LEAST_POOLED, LEAST_TOLD, SURE
from sondage.core.beliefs.learned.gaussian import LEAST_HEIGHT, MOST_HEIGHT
from sondage.core.beliefs.learned.sources import LARGEST_ODDS
from sondage.core.beliefs.votes import voted_column
from sondage.core.learning import NONE, Correction, places
from sondage.core.predictions import Classes, Items
from sondage.pools.schema import Probabilities, Schema, Source
from sondage.pools.sql.text import NoForm, Select, clipped, log_odds, number, product_sum, total

__all__ = ["Supposed", "allowed", "gaussians", "supposed"]

Supposed = list[tuple[Any, str]]
"""Labels, class codes, vectors of outcomes or expressions of numbers, with the expressions of their weights."""


@singledispatch
def supposed(belief: Belief, select: Select, schema: Schema, models: Sequence[int], nodes: int) -> Supposed:
    """Return labels and weights under a belief; layers are added to the query.

    Raises
    ------
    NoForm
        If there is no SQL for the belief.
    """
    raise NoForm(type(belief).__name__)


@singledispatch
def allowed(belief: Belief, schema: Schema, models: Sequence[int]) -> list[Any]:
    """Return labels that tell whether any can matter, as `Belief.allowed`."""
    raise NoForm(type(belief).__name__)


@allowed.register
def _(belief: ClassBelief, schema: Schema, models: Sequence[int]) -> list[Any]:
    return list(range(belief.n_classes))


@allowed.register
def _(belief: GaussianBelief, schema: Schema, models: Sequence[int]) -> list[Any]:
    return [*map(number, (-1.0, 0.0, 1.0)), *(schema.models[model].code for model in models)]


@allowed.register
def _(belief: OutcomeBelief, schema: Schema, models: Sequence[int]) -> list[Any]:
    return [label for label, _ in _outcomes(schema, models)]


@supposed.register
def _(belief: ClassBelief, select: Select, schema: Schema, models: Sequence[int], nodes: int) -> Supposed:
    if belief in select.memo:
        return list(select.memo[belief])
    columns = _columns(belief, select, schema)
    correction = belief.correction if isinstance(belief, LearnedClassBelief) else NONE
    if not belief.as_given:
        columns = _moved(belief, correction, select, schema, columns)
    select.memo[belief] = list(enumerate(columns))
    return list(enumerate(columns))


def _columns(belief: ClassBelief, select: Select, schema: Schema) -> list[str]:
    """Return the columns before that of the reference class is calibrated, as `ClassBelief._columns`."""
    columns = _mixture(belief, select, schema)
    if not belief.class_shifts:
        return columns
    least, slope = number(LEAST_TOLD), number(belief.class_slope)
    powers = select.let(
        [
            f"{number(float(np.exp(shift)))} * power(greatest({column}, {least}), {slope})"
            for shift, column in zip(belief.class_shifts, columns, strict=True)
        ]
    )
    whole = select.one(total(powers))
    return select.let([f"{column} / {whole}" for column in powers])


def _mixture(belief: ClassBelief, select: Select, schema: Schema) -> list[str]:
    """Return the columns of the believed probabilities before calibration, as `ClassBelief.probability`."""
    if belief.counts:
        return _voted(belief, select, schema)
    if not belief.judge:
        return select.let([total(part) for part in _of_models(belief, schema)])
    judges = select.let([total(part) for part in _of_judges(belief, schema)])
    if not belief.others:
        return judges
    models = select.let([total(part) for part in _of_models(belief, schema)])
    w, least = belief.judge / (belief.judge + belief.others), number(LEAST_POOLED)
    pooled = select.let(
        [
            f"power(greatest({p} / {number(belief.others)}, {least}), {number(1.0 - w)})"
            f" * power(greatest({q}, {least}), {number(w)})"
            for p, q in zip(models, judges, strict=True)
        ]
    )
    whole = select.one(total(pooled))
    return select.let([f"{column} / {whole}" for column in pooled])


def _of_models(belief: ClassBelief, schema: Schema) -> list[list[str]]:
    """Return for every class what all but the judges say of it, times their share, as terms of a sum."""
    labels = range(belief.n_classes)
    parts: list[list[str]] = [[] for _ in labels]
    for index, share in belief.models:
        told = _probabilities_of(schema.models[index])
        for label in labels:
            column = _doubted(told.of(label), belief.doubts, index, belief.n_classes)
            parts[label].append(column if share == 1 else f"{number(share)} * {column}")
    for index, share in belief.sure:
        code = schema.models[index].code
        for label in labels:
            parts[label].append(f"CASE WHEN {code} = {label} THEN {number(share)} ELSE 0e0 END")
    for label in labels:
        flat = belief.uniform / belief.n_classes + (belief.prior[label] if belief.prior else 0.0)
        if flat or not parts[label]:
            parts[label].append(number(flat))
    return parts


def _of_judges(belief: ClassBelief, schema: Schema) -> list[list[str]]:
    """Return for every class what the judges say of it, in their shares, as terms of a sum."""
    shares = belief.among or (1.0 / len(schema.judges),) * len(schema.judges)
    told = [(at, share, _probabilities_of(schema.judges[at])) for at, share in enumerate(shares) if share]
    k = belief.n_classes
    return [
        [f"{number(share)} * {_doubted(one.of(label), belief.judge_doubts, at, k)}" for at, share, one in told]
        for label in range(k)
    ]


def _doubted(column: str, doubts: Sequence[float], index: int, n_classes: int) -> str:
    """Return a source's probabilities of a class, as `sondage.core.beliefs.columns.doubted`."""
    doubt = doubts[index] if doubts else 0.0
    return f"({number(1.0 - doubt)} * {column} + {number(doubt / n_classes)})" if doubt else column


def _probabilities_of(source: Source) -> Probabilities:
    if source.probabilities is None:
        raise NoForm("a model without probabilities")
    return source.probabilities


def _voted(belief: ClassBelief, select: Select, schema: Schema) -> list[str]:
    """Return what the models' predictions mean: every table of a model, looked up by agreement and prediction."""
    k, codes = belief.n_classes, [schema.models[model].code for model in belief.votes]
    agree = " AND ".join(f"{code} = {codes[0]}" for code in codes) if len(codes) > 1 else "1 = 1"
    keys = select.let([f"{code} + CASE WHEN {agree} THEN {k} ELSE 0 END" for code in codes])
    columns: list[list[str]] = [[] for _ in range(k)]
    for model, key in zip(belief.votes, keys, strict=True):
        for label, text in enumerate(select.looked_up(key, _vote_table(belief, model))):
            columns[label].append(f"{text} * {number(1.0 / len(codes))}")
    return select.let([total(column) for column in columns])


def _vote_table(belief: ClassBelief, model: int) -> Any:
    """Return a model's table, rows by prediction, first where the models differ, then where they agree."""
    k = belief.n_classes
    own = tuple((0, together, f, y, n) for m, together, f, y, n in belief.counts if m == model)
    tables = []
    for together in (0, 1):
        seen = tuple((0, 1, f, y, n) for _, t, f, y, n in own if t == together)
        items = Items((Classes(np.arange(k), None),), np.ones(k))
        tables.append(np.column_stack([voted_column(seen, (0,), k, items, label) for label in range(k)]))
    return np.concatenate(tables)


def _moved(
    belief: ClassBelief, correction: Correction, select: Select, schema: Schema, columns: list[str]
) -> list[str]:
    """Return the columns after the reference class's log odds are moved, as `ClassBelief._moved_columns`."""
    if belief.n_classes == 2:
        reference, at = "1", columns[1]
    else:
        cases = " ".join(f"WHEN {column} THEN {label}" for label, column in enumerate(columns))
        largest = select.one(f"greatest({', '.join(columns)})")
        reference, at = select.one(f"CASE {largest} {cases} END"), largest
    odds = select.one(log_odds(at))
    terms, k = [number(belief.shift), f"{number(belief.slope)} * {_bent(odds, belief.bend)}"], belief.n_classes
    if isinstance(belief, LearnedClassBelief) and correction != NONE:
        sources = [odds] + [
            select.one(log_odds(select.one(_doubted(_of_class(source, reference, k), doubts, index, k))))
            for source, doubts, index in (
                *((schema.judges[index], belief.judge_doubts, index) for index in belief.source_judges),
                *((schema.models[index], belief.doubts, index) for index in belief.source_models),
            )
        ]
        terms.append(_correction(correction, [clipped(source, -LARGEST_ODDS, LARGEST_ODDS) for source in sources]))
    moved = select.one(_expit(total(terms)))
    if belief.n_classes == 2:
        return select.let([f"1e0 - {moved}", moved])
    least = number(LEAST_LEFT)
    others = total([f"CASE WHEN {reference} = {y} THEN 0e0 ELSE {c} END" for y, c in enumerate(columns)])
    rest = select.one(f"(1e0 - {moved}) / ({others} + {number((belief.n_classes - 1) * LEAST_LEFT)})")
    return select.let(
        [f"CASE WHEN {reference} = {y} THEN {moved} ELSE ({c} + {least}) * {rest} END" for y, c in enumerate(columns)]
    )


def _bent(odds: str, bend: float) -> str:
    """Return log odds bent at 0."""
    if not bend:
        return odds
    above, below = (number(float(factor)) for factor in np.exp([bend, -bend]))
    return f"({odds} * CASE WHEN {odds} >= 0e0 THEN {above} ELSE {below} END)"


def _of_class(source: Source, reference: str, k: int) -> str:
    """Return a source's probability of the reference class; without probabilities nearly sure of its prediction."""
    if source.probabilities is None:
        return f"CASE WHEN {source.code} = {reference} THEN {number(SURE)} ELSE {number((1.0 - SURE) / (k - 1))} END"
    if k == 2:
        return source.probabilities.of(1)
    cases = " ".join(f"WHEN {label} THEN {source.probabilities.of(label)}" for label in range(k))
    return f"CASE {reference} {cases} END"


def _correction(correction: Correction, sources: Sequence[str]) -> str:
    """Return the bounded linear function of sources and features."""
    terms = [number(correction.constant)]
    terms += [f"{number(a)} * {source}" for a, source in zip(correction.sources, sources, strict=False)]
    terms += [f"{number(a)} * x{at}" for at, a in enumerate(correction.features)]
    return clipped(total(terms), correction.low, correction.high)


def _expit(odds: str) -> str:
    return f"1e0 / (1e0 + exp(-{clipped(odds, -700.0, 700.0)}))"


@supposed.register
def _(belief: GaussianBelief, select: Select, schema: Schema, models: Sequence[int], nodes: int) -> Supposed:
    """Return Gauss-Hermite nodes: exact for what is smooth, and for nothing else."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    found: Supposed = []
    for share, mean, deviation in gaussians(belief, select, schema):
        if belief.peaked:
            found.append((mean, number(share)))
            continue
        labels = select.let([f"{mean} + {number(point)} * {deviation}" for point in points])
        found += [(label, number(share * w)) for label, w in zip(labels, weights / weights.sum(), strict=True)]
    return found


def gaussians(belief: GaussianBelief, select: Select, schema: Schema) -> list[tuple[float, str, str]]:
    """Return the share of each part of the mixture, and the columns of its mean and deviation."""
    parts = belief.parts(lambda index: schema.models[index].variance is not None)
    centres = [schema.models[index].code for index, _ in parts]
    if isinstance(belief, LearnedGaussianBelief) and (belief.stacked or belief.correction != NONE):
        mixed = select.one(total([f"{number(share)} * {schema.models[index].code}" for index, share in belief.models]))
        sources = [f"({schema.models[index].code} - {mixed})" for index in belief.source_models]
        moved = select.one(_correction(belief.correction, sources))
        centres = select.let([f"{mixed if belief.stacked else centre} + {moved}" for centre in centres])
    deviations = _deviations(belief, [index for index, _ in parts], select, schema)
    return list(zip([share for _, share in parts], centres, deviations, strict=True))


def _deviations(belief: GaussianBelief, models: Sequence[int], select: Select, schema: Schema) -> list[str]:
    """Return the columns of the standard deviations of these models' parts."""
    if belief.broad or belief.peaked:
        return ["1e0" for _ in models]
    found = []
    for index in models:
        source = schema.models[index]
        if source.variance is not None:
            variance = source.spread
            if isinstance(belief, LearnedGaussianBelief) and belief.sure:
                variance = f"case when {variance} > 0 then {variance} else {number(belief.sure)} end"
        elif isinstance(belief, LearnedGaussianBelief):
            variance = _untold(belief, source.code)
        else:
            raise NoForm("no variances")
        if (belief.shift, belief.slope) == (0.0, 1.0):
            found.append(f"sqrt({variance})")
        else:
            scale = number(float(np.exp(0.5 * belief.shift)))
            found.append(f"{scale} * power(greatest({variance}, {number(1e-300)}), {number(0.5 * belief.slope)})")
    return select.let(found)


def _untold(belief: LearnedGaussianBelief, mean: str) -> str:
    """Return the variance of a model that tells none, from the column of its predicted numbers."""
    if not belief.power:
        return number(belief.square)
    above = clipped(f"({mean} - {number(belief.lowest)}) / {number(belief.unit)}", 0.0, MOST_HEIGHT)
    return f"{number(belief.square)} * power({above} + {number(LEAST_HEIGHT)}, {number(belief.power)})"


@supposed.register
def _(belief: OutcomeBelief, select: Select, schema: Schema, models: Sequence[int], nodes: int) -> Supposed:
    concerned = sorted(set(models))
    chances = {index: _chances(belief, select, schema, index) for index in concerned}
    return [
        (label, " * ".join(chances[index][grade] for index, grade in zip(concerned, choice, strict=True)))
        for label, choice in _outcomes(schema, models)
    ]


def _outcomes(schema: Schema, models: Sequence[int]) -> list[tuple[Any, tuple[int, ...]]]:
    """Return every combination of the systems' grades, as a label and as the grades' numbers."""
    concerned, found = sorted(set(models)), []
    for choice in product(*(range(len(schema.models[index].grades)) for index in concerned)):
        label = np.full(len(schema.models), np.nan)
        for index, grade in zip(concerned, choice, strict=True):
            label[index] = schema.models[index].grades[grade]
        found.append((label, choice))
    return found


def _chances(belief: OutcomeBelief, select: Select, schema: Schema, index: int) -> list[str]:
    """Return the probability of each of a system's grades."""
    source = schema.models[index]
    plain, told = _judged(belief, source), source.probabilities
    correction = belief.corrections[index] if isinstance(belief, LearnedOutcomeBelief) and belief.corrections else NONE
    moved = "0e0" if correction == NONE else _correction(correction, _of_others(belief, select, schema, index))
    if belief.graded(index):
        return _graded(belief, source, moved, select, plain)
    still = (belief.shift, belief.slope) == (0.0, 1.0) or belief.uniform or told is None
    if len(source.grades) != 2 or (still and correction == NONE):
        return plain
    odds = select.one(log_odds(select.one(plain[1])))
    if not still:
        odds = select.one(f"{number(belief.shift)} + {number(belief.slope)} * {odds}")
    if correction != NONE:
        odds = select.one(f"{odds} + {moved}")
    second = select.one(_expit(odds))
    return select.let([f"1e0 - {second}", second])


def _judged(belief: OutcomeBelief, source: Source) -> list[str]:
    """Return what a judge says of each of a system's grades; without one they are alike."""
    k, told = len(source.grades), source.probabilities
    if belief.uniform or told is None:
        return [number(1.0 / k) for _ in range(k)]
    return [_doubted(told.of(grade), belief.doubts, source.number, k) for grade in range(k)]


def _of_others(belief: OutcomeBelief, select: Select, schema: Schema, index: int) -> list[str]:
    """Return what other systems' judges say, as `LearnedOutcomeBelief._sources`."""
    found = []
    for other in schema.models:
        asked = cast(LearnedOutcomeBelief, belief).others and other.number != index and len(other.grades) > 1
        if asked and other.probabilities is not None:
            height = select.one(_height(_judged(belief, other), _order(other)))
            found.append(clipped(select.one(log_odds(height)), -LARGEST_ODDS, LARGEST_ODDS))
    return found


def _height(told: Sequence[str], order: Sequence[int]) -> str:
    """Return the place of a judge's mean, as `LearnedOutcomeBelief._height`."""
    if len(told) == 2:
        return told[1]
    _, *above = order
    return product_sum([number(at / len(above)) for at in range(1, len(told))], [told[grade] for grade in above])


def _order(source: Source) -> list[int]:
    """Return the numbers of a system's grades from the lowest to the highest, as `Grades.order`."""
    return [int(grade) for grade in np.argsort(source.grades, kind="stable")]


def _graded(belief: OutcomeBelief, source: Source, moved: str, select: Select, plain: list[str]) -> list[str]:
    """Return the probabilities of several grades, calibrated and corrected, as `OutcomeBelief._grades`."""
    index, order = source.number, _order(source)
    told = select.let([f"greatest({plain[grade]}, {number(LEAST_TOLD)})" for grade in order])
    at = [number(float(place)) for place in places(len(told))]
    lift = select.one(f"{number(belief.grade_lifts[index])} * ({product_sum(at, told)})")
    more, slope = select.one(moved), number(belief.grade_slopes[index])
    logits = select.let(
        [
            f"{number(shift)} + {slope} * ln({column}) + ({lift} + {more}) * {place}"
            for shift, column, place in zip(belief.grade_shifts[index], told, at, strict=True)
        ]
    )
    largest = select.one(f"greatest({', '.join(logits)})")
    powers = select.let([f"exp({logit} - {largest})" for logit in logits])
    whole = select.one(total(powers))
    columns = dict(zip(order, select.let([f"{power} / {whole}" for power in powers]), strict=True))
    return [columns[grade] for grade in range(len(order))]
