"""The passes over a pool as queries: survey, believed totals, masses of sizes, the rows that a draw may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.beliefs import Belief, ClassBelief
from sondage.core.comparisons import Influence
from sondage.core.designs import Term
from sondage.core.hashing import PRIMES
from sondage.core.measures.bases import Basis, Confusion
from sondage.core.predictions import Floats
from sondage.core.samples import SumKey
from sondage.pools.schema import Schema
from sondage.pools.sql.bases import believed_sums
from sondage.pools.sql.beliefs import supposed
from sondage.pools.sql.canonical import prepared, survey
from sondage.pools.sql.hashing import leading
from sondage.pools.sql.terms import ALL, masked, matter, sized
from sondage.pools.sql.text import NoForm, Select, literal, number, total

__all__ = [
    "Base",
    "Chosen",
    "Mixed",
    "SizePart",
    "believed",
    "found_totals",
    "head",
    "masses",
    "near",
    "rows_of",
    "weighed",
]

MOST_GROUPS = 4096
"""Combinations of predicted classes, at most, by which confusion matrices are summed up."""
MOST_APART = 4
"""Models of two classes whose confusion matrices are summed up cell by cell."""
MOST_CLASSES = 200
"""More classes go through the kernel: engines plan sums of so many terms for longer than they take."""
MOST_TEXT = 60_000
"""Characters of what a pass computes row by row: more, as of many pairs of models, goes through the kernel too."""
TextKey = Callable[[str], str]
Filter = Callable[[str, str], str]
"""From a query and a condition on what it computes to the query of the rows that fulfil it."""
Gather = Callable[[Select, Sequence[str]], str]
"""From a query and names of its columns to the aggregate of some rows."""


@dataclass(frozen=True, eq=False)
class SizePart:
    """A term of a size with its factor, over the rows that can matter only or over all."""

    factor: float
    term: Term
    restricted: bool


@dataclass(frozen=True, eq=False)
class Mixed:
    """Sizes as data: parts, and the influences that tell which rows can matter (None: all can)."""

    parts: tuple[SizePart, ...]
    moving: tuple[Influence, ...] | None
    belief: Belief


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some rows: not those of these units (ids or groups), only those that can matter, only those whose size is 0."""

    asked: NDArray[Any] | None = None
    moving: tuple[Influence, ...] | None = None
    belief: Belief | None = None
    unsized: Mixed | None = None


@dataclass(frozen=True)
class Base:
    """What every pass starts from: the schema, what engines write in their own way, and a condition on the source."""

    schema: Schema
    text_key: TextKey
    kept: Filter
    within: tuple[str, Any] | None = None

    def require_rows(self) -> None:
        """Refuse items that are not rows of the table."""
        if self.schema.lists is not None:
            raise NoForm("ranked lists")

    def require_form(self) -> None:
        """Refuse what is too long to be spelled out, or is no row."""
        self.require_rows()
        if len(self.schema.task.classes) > MOST_CLASSES:
            raise NoForm(f"{len(self.schema.task.classes)} classes")

    def select(self) -> Select:
        """Return the query of all rows as numbers and codes."""
        select = prepared(self.schema, self.text_key, self.within)
        select.room = MOST_TEXT
        return select


def rows_of(base: Base, asked: NDArray[Any] | None = None) -> Select:
    """Return the query of all rows but those of the units that these ids, or groups, name."""
    select = base.select()
    if asked is not None and len(asked):
        select.apart(base.schema.unit, "asked", asked)
    return select


def weighed(base: Base, chosen: Chosen) -> tuple[Select, str]:
    """Return a query of rows, and the weight that each has if it is among the chosen, else 0.

    A condition in its place keeps some optimisers busy for minutes: they copy what its names mean, layer by layer.
    """
    base.require_rows()
    select, schema = rows_of(base, chosen.asked), base.schema
    weight = "w" if schema.weight is not None else "1e0"
    if chosen.moving is not None and chosen.belief is not None:
        moves = matter(chosen.moving, chosen.belief, select, schema)
        weight = select.one(f"CASE WHEN {moves} THEN {weight} ELSE 0e0 END")
    if chosen.unsized is not None:
        size = mixed_sizes(chosen.unsized, select, schema)
        weight = select.one(f"CASE WHEN {size} > 0e0 THEN 0e0 ELSE {weight} END")
    return select, weight


def mixed_sizes(sizes: Mixed, select: Select, schema: Schema) -> str:
    """Return the expression of the sizes; layers are added."""
    relevant, parts = _parts(sizes, select, schema)
    return select.one(total([_over(part, relevant, f"{number(part.factor)} * {text}") for part, text in parts]))


def _parts(sizes: Mixed, select: Select, schema: Schema) -> tuple[str, list[tuple[SizePart, str]]]:
    """Return the condition of a row that can matter, and each part with the expression of its sizes."""
    if schema.group is not None:
        raise NoForm("sizes of rows that share labels")
    relevant = ALL if sizes.moving is None else matter(sizes.moving, sizes.belief, select, schema)
    return relevant, [(part, sized(part.term, select, schema)) for part in sizes.parts]


def _flag(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _sum(value: str, weight: str = "1e0") -> str:
    """Return the sum of a column; of a number, which need not be added up row by row."""
    if literal(weight) is None:
        return f"SUM({weight})" if literal(value) == 1.0 else f"SUM({value} * {weight})"
    return f"SUM({value})" if literal(value) is None else f"COUNT(*) * {value}"


def _over(part: SizePart, relevant: str, size: str) -> str:
    """Return a part's size over the rows that it is spread over."""
    return masked(relevant, size) if part.restricted else size


def believed(
    base: Base,
    requests: Sequence[tuple[Basis, Sequence[int]]],
    belief: Belief,
    chosen: Chosen | None,
    surveyed: bool,
    gather: Gather | None = None,
) -> tuple[str, Select]:
    """Return the query of believed totals, with the survey and rows for the draw in the same pass where wanted.

    Raises
    ------
    NoForm
        If there is no SQL for a statistic or the belief.
    """
    base.require_form()
    select, weight = weighed(base, chosen or Chosen())
    schema, columns = base.schema, survey(base.schema) if surveyed else {}
    shared = supposed(belief, select, schema, (), 3) if isinstance(belief, ClassBelief) else None
    groups: list[str] = []
    for place, (basis, models) in enumerate(requests):
        if not isinstance(basis, Confusion):
            for model in models:
                labelled = supposed(belief, select, schema, (model,), basis.nodes) if shared is None else shared
                for at, text in enumerate(believed_sums(basis, belief, select, schema, model, labelled)):
                    columns[f"s{place}_{model}_{at}"] = f"SUM({_times(weight, f'({text})')})"
        elif shared is not None and len(shared) == 2 and len(models) <= MOST_APART:
            columns |= _cells(place, models, [chance for _, chance in shared], weight, select, schema)
        elif shared is not None and len(schema.task.classes) ** len(models) <= MOST_GROUPS:
            groups = [schema.models[model].code for model in models]
            columns |= {f"s{place}_{label}": f"SUM({_times(weight, chance)})" for label, chance in shared}
        else:
            raise NoForm("a confusion matrix of many models")
    if gather is not None:
        columns["near"] = gather(select, schema.columns)
    return select.aggregated(columns, groups), select


def near(digits: str, reach: float) -> str:
    """Return the condition of a row whose number, by its leading digits, may be within a reach of 1."""
    return f"{digits} >= {number(PRIMES[0] - 1 - np.ceil(reach * PRIMES[0] * (1 + 1e-9)))}"


def _times(weight: str, value: str) -> str:
    return value if literal(weight) == 1.0 else f"{weight} * {value}"


def _cells(
    place: int, models: Sequence[int], chances: Sequence[str], weight: str, select: Select, schema: Schema
) -> dict[str, str]:
    """Return the sums of two classes' confusion matrices, a cell each: quicker than groups."""
    weighted = select.let([_times(weight, chance) for chance in chances])
    flags = select.let([f"CAST({schema.models[model].code} AS DOUBLE)" for model in models])
    return {
        f"s{place}_{model}_{2 * row + label}": f"SUM({chance} * {flag})"
        for model, second in zip(models, flags, strict=True)
        for row, flag in enumerate((f"(1e0 - {second})", second))
        for label, chance in enumerate(weighted)
    }


def found_totals(
    requests: Sequence[tuple[Basis, Sequence[int]]], schema: Schema, rows: Mapping[str, NDArray[Any]], unit: float
) -> dict[SumKey, Floats]:
    """Return the totals from the rows of the answer, times the base weight of a unit of weight."""
    totals: dict[SumKey, Floats] = {}
    for place, (basis, models) in enumerate(requests):
        for model in models:
            if isinstance(basis, Confusion) and f"s{place}_{model}_0" not in rows:
                k = basis.n_classes
                table = np.zeros((k, k))
                by_label = np.column_stack([rows[f"s{place}_{label}"] for label in range(k)])
                codes = rows[schema.models[model].code].astype(np.int64)
                np.add.at(table, codes, np.asarray(by_label, dtype=np.float64))
                totals[basis.name, model] = table * unit
            else:
                names = [name for name in rows if name.startswith(f"s{place}_{model}_")]
                sums = [np.sum(rows[name]) for name in sorted(names, key=lambda name: int(name.split("_")[-1]))]
                shape = (2, 2) if isinstance(basis, Confusion) else (-1,)
                totals[basis.name, model] = np.array(sums, dtype=np.float64).reshape(shape) * unit
    return totals


def masses(base: Base, sizes: Mixed, asked: NDArray[Any] | None) -> tuple[str, Select]:
    """Return the query of what each part of the sizes sums to, and of the rows that have a size.

    The factors of the parts are left out.
    """
    base.require_form()
    schema, select = base.schema, rows_of(base, asked)
    relevant, texts = _parts(sizes, select, schema)
    parts = select.let([_over(part, relevant, text) for part, text in texts])
    everywhere = any((literal(part) or 0.0) > 0 for part in parts)
    there = "1" if everywhere else select.one(_flag(" OR ".join(f"{part} > 0e0" for part in parts) or "1 = 0"))
    can = "1" if relevant == ALL else select.one(_flag(relevant))
    columns = {
        "n": "COUNT(*)",
        "n_relevant": _sum(can),
        "n_sized": _sum(there),
        "n_missed": "0" if everywhere else f"SUM({_flag(f'{can} = 1 AND {there} = 0')})",
        "sum_w": _sum("1e0" if everywhere else there, "1e0" if schema.weight is None else "w"),
    }
    for at, part in enumerate(parts):
        columns[f"sum_{at}"] = _sum(part)
        columns[f"max_{at}"] = f"MAX({part})"
        columns[f"min_{at}"] = f"MIN({part})" if everywhere else f"MIN(CASE WHEN {there} = 1 THEN {part} END)"
        if schema.cost is not None:
            columns[f"sum_c{at}"] = f"SUM(c * {part})"
    if schema.cost is not None:
        columns |= {
            "sum_c": f"SUM({there} * c)",
            "min_c": f"MIN(CASE WHEN {there} = 1 THEN c END)",
            "max_c": f"MAX(CASE WHEN {there} = 1 THEN c END)",
        }
    return select.aggregated(columns), select


def head(
    base: Base,
    sizes: Mixed,
    *,
    seed: int,
    stage: int,
    least: float,
    slope: float,
    largest: float,
    small: bool,
) -> tuple[str, Select]:
    r"""Return the query of the rows that a draw may take: of at least a size, or with :math:`1 - h < u \, \beta`.

    All rows whose key is below a limit are among them, where the rate of a smaller size is at most
    :math:`\beta` times it over the limit: :math:`-\ln h \ge 1 - h`. Rows asked for before are not
    left out: beside a join, a condition on a size keeps some optimisers busy for longer than the pass takes.
    """
    base.require_form()
    select, schema = base.select(), base.schema
    if not least > 0:
        size = mixed_sizes(sizes, select, schema)
        condition = f"{size} > 0e0"
    else:
        if largest < least:  # the number alone leaves few rows, whose sizes are then computed
            select.where(near(leading(select, seed, stage, small=small), largest * slope))
        digits = leading(select, seed, stage, small=small)
        # Each part stands once: optimisers that move a condition to the scan copy what its names mean.
        rest = f"({PRIMES[0] - 1} - {digits}) * {number(1.0 / (slope * PRIMES[0]))}"
        size = mixed_sizes(sizes, select, schema)
        condition = f"{size} > least({number(least * (1 - 1e-12))}, {rest})"
    select.kept(lambda text: base.kept(text, condition))
    return select.only(schema.columns), select
