"""Docstrings are reStructuredText as NumPy writes it; the site reads Markdown: formulas and literal blocks."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import griffe

ROLE = re.compile(r":math:`([^`]*)`", re.DOTALL)
BLOCK = re.compile(r"^( *)\.\. math:: *(.*?)(?=\n\s*\n(?!\1 )|\n\1?\S|\Z)", re.MULTILINE | re.DOTALL)
LITERAL = re.compile(r"::$", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Return a docstring with its formulas between dollars and its literal blocks as Markdown has them."""

    def block(found: re.Match[str]) -> str:
        indent, body = found.groups()
        return f"{indent}$$\n{indent}{' '.join(dedent(body).split())}\n{indent}$$"

    text = BLOCK.sub(block, text)
    text = ROLE.sub(lambda found: f"${' '.join(found[1].split())}$", text)
    return LITERAL.sub(":", text)


class Docstrings(griffe.Extension):
    """Turns every docstring before it is parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Turn the docstring of one object."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
