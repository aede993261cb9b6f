"""The tables of docs/coverage.md are those that its commands print from the results kept in the repository."""

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
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tables = [block.strip() for block in printed.split("\n\n") if block.strip().startswith("|")]
    assert len(tables) == max(len(names), 1)
    assert [table for table in tables if table not in PAGE] == []
