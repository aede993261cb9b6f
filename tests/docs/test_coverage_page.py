"""The tables of docs/coverage.md and docs/efficiency.md are printed from the results kept here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "coverage.md").read_text()
COMMANDS = re.findall(r"`python (benchmarks/\w+\.py)([^`]*?)(?: --table ([a-z_ ]+))?`", PAGE)


@pytest.mark.parametrize(("script", "options"), sorted({(script, options) for script, options, _ in COMMANDS}))
def test_tables_are_those_that_the_commands_print(script: str, options: str) -> None:
    names = " ".join(tables for *command, tables in COMMANDS if command == [script, options]).split()
    command = [sys.executable, str(ROOT / script), *options.split(), *(["--table", *names] if names else [])]
    tables = printed(command)
    assert len(tables) == max(len(names), 1)
    assert [table for table in tables if table not in PAGE] == []


def test_tables_of_the_problems_in_view() -> None:
    page = (ROOT / "docs" / "efficiency.md").read_text()
    tables = printed([sys.executable, str(ROOT / "benchmarks" / "summary.py"), "--markdown"])
    assert len(tables) == 3
    assert [table for table in tables if table not in page] == []


@pytest.mark.parametrize(
    ("script", "count"), [("unseen.py", 3), ("unseen_measures.py", 3), ("unseen_pairs.py", 4), ("unseen_peers.py", 1)]
)
def test_tables_of_pools_that_nobody_looked_at(script: str, count: int) -> None:
    page = (ROOT / "docs" / "efficiency.md").read_text()
    tables = printed([sys.executable, str(ROOT / "benchmarks" / script), "--table"])
    assert len(tables) == count
    assert [table for table in tables if table not in page] == []


def printed(command: list[str]) -> list[str]:
    """Return the tables that a command prints."""
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [block.strip() for block in text.split("\n\n") if block.strip().startswith("|")]
