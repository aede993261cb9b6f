"""How a result shows itself, as text, in a notebook and as plain data; upper layers register the forms of each kind."""

from __future__ import annotations

from functools import singledispatch
from html import escape
from typing import Any

__all__ = ["Result", "Shown", "label_count", "to_data", "to_html"]


@singledispatch
def to_html(result: object) -> str:
    """Return a result as HTML; ``to_html.register(kind)`` adds the form of a kind.

    Examples
    --------
    >>> to_html("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(str(result))}</pre>"


@singledispatch
def to_data(result: object, level: float) -> dict[str, Any]:
    """Return a result as data for JSON; ``to_data.register(kind)`` adds the form of a kind.

    Parameters
    ----------
    result : Estimate, mapping of str to Estimate, Comparison, Selection or Slices
        The result.
    level : float
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    dict
        With ``kind``: ``"estimate"``, ``"estimates"``, ``"comparison"``, ``"selection"`` or ``"slices"``.

    Raises
    ------
    TypeError
        If it is of no such kind.

    Examples
    --------
    >>> class Tally(list[int]):
    ...     pass
    >>> register = to_data.register(Tally, lambda result, level: {"kind": "tally", "of": list(result)})
    >>> to_data(Tally([3, 1]), 0.95)
    {'kind': 'tally', 'of': [3, 1]}
    """
    raise TypeError(f"a {type(result).__name__} has no form as data")


def label_count(count: int) -> str:
    """Return a number of labels in words.

    Examples
    --------
    >>> label_count(1), label_count(1200)
    ('1 label', '1,200 labels')
    """
    return f"{count:,} label{'' if count == 1 else 's'}"


class Shown:
    """Something that a notebook shows by `to_html`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return to_html(self)


class Result(Shown):
    """A result, which is also to be had as plain data."""

    __slots__ = ()

    def to_data(self, level: float = 0.95) -> dict[str, Any]:
        """Return it as plain data, which JSON knows: what ``--json`` prints on the command line.

        Parameters
        ----------
        level : float
            Confidence level of the intervals, in (0, 1).

        Returns
        -------
        dict
            Of numbers, texts, lists and dicts, with the result's ``kind``; missing numbers are None. Of more than ten
            models only the pairs with the best are among the comparisons.

        Raises
        ------
        InputError
            If the level is not in (0, 1).

        Examples
        --------
        >>> import json, sondage
        >>> found = sondage.evaluate(sondage.Pool([0.2, 0.9, 0.7]), "accuracy", labels=[0, 1, 0], budget=3).to_data()
        >>> found["kind"], round(found["value"], 3), found["interval"]["level"]
        ('estimate', 0.667, 0.95)
        >>> text = json.dumps(found)
        """
        return to_data(self, level)
