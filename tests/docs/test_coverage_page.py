"""The tables of docs/coverage.md and docs/efficiency.md are printed from the results kept here."""

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGE = (ROOT / "docs" / "coverage.md").read_text()
COMMANDS = re.findall(r"`python (benchmarks/\w+\.py)([^`]*?)(?: --table ([a-z_ ]+))?`", PAGE)


Printed = Callable[..., list[str]]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Return a function that gives the tables that a command prints."""
    monkeypatch.syspath_prepend(BENCHMARKS)

    def run(script: Path, *options: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [str(script), *options])
        runpy.run_path(str(script), run_name="__main__")
        return tables_in(capsys.readouterr().out)

    return run


@pytest.mark.parametrize(("script", "options"), sorted({(script, options) for script, options, _ in COMMANDS}))
def test_tables_are_those_that_the_commands_print(script: str, options: str, printed: Printed) -> None:
    names = " ".join(tables for *command, tables in COMMANDS if command == [script, options]).split()
    tables = printed(ROOT / script, *options.split(), *(["--table", *names] if names else []))
    assert len(tables) == max(len(names), 1)
    assert [table for table in tables if table not in PAGE] == []


def test_tables_of_the_problems_in_view() -> None:
    page = (ROOT / "docs" / "efficiency.md").read_text()
    command = [sys.executable, str(BENCHMARKS / "summary.py"), "--markdown"]  # as a process, as one is told to start it
    tables = tables_in(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert len(tables) == 3
    assert [table for table in tables if table not in page] == []


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("unseen.py", 3),
        ("unseen_measures.py", 3),
        ("unseen_pairs.py", 4),
        ("unseen_pair_measures.py", 2),
        ("unseen_peers.py", 1),
    ],
)
def test_tables_of_pools_that_nobody_looked_at(script: str, count: int, printed: Printed) -> None:
    page = (ROOT / "docs" / "efficiency.md").read_text()
    tables = printed(BENCHMARKS / script, "--table")
    assert len(tables) == count
    assert [table for table in tables if table not in page] == []


def tables_in(text: str) -> list[str]:
    """Return the tables of what a command printed."""
    return [block.strip() for block in text.split("\n\n") if block.strip().startswith("|")]
