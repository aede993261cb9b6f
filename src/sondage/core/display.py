"""How a result shows itself in a notebook: as its text, unless an upper layer registers a better form."""

from __future__ import annotations

from functools import singledispatch
from html import escape

__all__ = ["Shown", "to_html"]


@singledispatch
def to_html(result: object) -> str:
    """Return a result as HTML; ``to_html.register(kind)`` adds the form of a kind.

    Examples
    --------
    >>> to_html("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(str(result))}</pre>"


class Shown:
    """Something that a notebook shows by `to_html`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return to_html(self)
