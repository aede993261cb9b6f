"""Run the blocks of documentation pages, one after the other, and write what they print into the pages.

``python docs/pages.py README.md docs/tutorial.md docs/choosing.md docs/...`` brings the outputs up to date; a
test checks that they are. Blocks marked ``python`` are executed, lines of ``console`` blocks that begin with
``$ sondage`` are run, and a ``text`` block after a python block is what that one prints. Other blocks are left alone.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sondage.cli import main as command_line

BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(text: str) -> str:
    """Return a page with the outputs that its blocks have now; files are made in the current folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: list[str] = []

    def run(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(body, names)
            printed[:] = [stream.getvalue()]
        elif kind == "console":
            printed.clear()
            commands = re.findall(r"^\$ (sondage .*)$", body, re.MULTILINE)
            body = "".join(f"$ {command}\n{_output(command)}" for command in commands)
        elif printed:
            body = printed.pop()
        return f"```{kind}\n{body}```"

    return BLOCK.sub(run, text)


def _output(command: str) -> str:
    """Return what a command prints, to the terminal and as errors."""
    return CliRunner().invoke(command_line, shlex.split(command)[1:], catch_exceptions=False).output


def main() -> None:
    for page in map(Path, sys.argv[1:]):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = run_page(text)
        page.write_text(new, encoding="utf-8")
        print(f"{page}: {'changed' if new != text else 'as before'}")


if __name__ == "__main__":
    main()
