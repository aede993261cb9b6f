"""The table of warnings in docs/choosing.md has the words of the package, and every remark of an estimate."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sondage"
REMARKS = ast.parse((SOURCE / "studies" / "remarks.py").read_text(encoding="utf-8"))
SECTION = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8").partition("\n## Warnings\n")[2]
ROWS = re.findall(r"^\| `([^`]+)` \|", SECTION, re.MULTILINE)


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the constant texts below a node."""
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    yield from (value for value in constants if isinstance(value, str))


def remarks() -> Iterator[list[str]]:
    """Yield the texts of every message that remarks.py yields; those of variables as they were assigned."""
    assigned: dict[str, list[str]] = {}
    for node in ast.walk(REMARKS):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).extend(texts(node.value))
    for node in ast.walk(REMARKS):
        if isinstance(node, ast.Yield):
            named = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
            yield [*texts(node), *(text for name in named for text in assigned.get(name, ()))]


@pytest.fixture(scope="module")
def all_texts():
    """Return every constant text of the package."""
    return {text for file in SOURCE.rglob("*.py") for text in texts(ast.parse(file.read_text(encoding="utf-8")))}


def test_words_of_the_table_are_those_of_the_package(all_texts):
    assert len(ROWS) == len(set(ROWS))
    assert [words for words in ROWS if not any(words in text for text in all_texts)] == []


def test_every_remark_has_a_row():
    found = list(remarks())
    assert len(found) > 10
    assert [parts for parts in found if not any(words in text for words in ROWS for text in parts)] == []
