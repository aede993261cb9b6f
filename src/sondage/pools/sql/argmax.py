"""The most probable class, its probability, and that of all others, as SQL without branches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from sondage.pools.schema import Source
from sondage.pools.sql.text import Select, chosen, number, total

__all__ = ["add_predicted", "top_and_rest"]

MOST_PLAYERS = 8
"""Classes that meet in pairs; engines plan the columns of more for longer than these save."""


def add_predicted(select: Select, source: Source) -> None:
    """Add the column of the first most probable class, and where it costs little those of `top_and_rest`.

    Up to eight classes meet in pairs, as in a knock-out: each meeting is arithmetic with a 0 or 1, which engines
    compute for thousands of rows at a time. All three are exact: the sum of the others is added up, never what
    is left of 1.
    """
    told = source.probabilities
    assert told is not None
    columns = [told.of(label) for label in range(2)] if len(told.columns) == 1 else list(told.names)
    if len(columns) > MOST_PLAYERS:
        _by_search(select, source, columns)
        return
    fresh = (f"{told.stem}_{name}" for name in map("m{}".format, count()))
    players = [(column, number(label), "") for label, column in enumerate(columns)]
    while len(players) > 1:
        pairs = list(zip(players[::2], players[1::2], strict=False))
        winners = []
        for one, two in pairs:
            flag = next(fresh)
            select.add({flag: f"CAST({two[0]} > {one[0]} AS DOUBLE)"})
            beaten = chosen(flag, one[0], two[0])
            texts = [chosen(flag, two[0], one[0]), chosen(flag, two[1], one[1])]
            texts.append(total([beaten, *(rest for rest in (one[2], two[2]) if rest)]))
            winners.append((next(fresh), next(fresh), next(fresh)))
            select.add(dict(zip(winners[-1], texts, strict=True)))
        players = winners + players[2 * len(pairs) :]
    ((top, label, rest),) = players
    select.add({source.code: f"CAST({label} AS TINYINT)", told.top: top, told.rest: rest})


def top_and_rest(select: Select, source: Source) -> list[str]:
    """Return the columns of the probability of the most probable class, and of the sum of the others."""
    told = source.probabilities
    assert told is not None
    names = told.names
    if len(names) <= MOST_PLAYERS:
        return [told.top, told.rest]
    top = select.one(f"greatest({', '.join(names)})")
    # Where the difference has lost its digits, the others are added up.
    left = select.one(f"{total(names)} - {top}")
    others = total([f"CASE WHEN {source.code} = {label} THEN 0e0 ELSE {name} END" for label, name in enumerate(names)])
    return [top, select.one(f"CASE WHEN {left} > {number(1e-6)} THEN {left} ELSE {others} END")]


def _by_search(select: Select, source: Source, columns: Sequence[str]) -> None:
    top = select.one(f"greatest({', '.join(columns)})")  # a name: engines copy what a CASE compares
    cases = " ".join(f"WHEN {name} THEN {label}" for label, name in enumerate(columns))
    select.add({source.code: f"CAST(CASE {top} {cases} END AS SMALLINT)"})
