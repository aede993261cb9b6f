"""The labelling tutorial: gone through in a browser, it prints what the page says it prints."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_way_to_the_report(data_dir, absent, tmp_path):
    pytest.importorskip("sklearn")
    if not os.environ.get("SONDAGE_CHROMIUM") and shutil.which("chromium") is None:
        absent("chromium", "no chromium: install it, or set SONDAGE_CHROMIUM")
    command = [sys.executable, str(ROOT / "docs" / "figures" / "labelling.py"), data_dir / "enron_spam", tmp_path]
    environment = {name: value for name, value in os.environ.items() if "TOKEN" not in name}
    environment["PYTHONPATH"] = str(ROOT / "src")
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    page = (ROOT / "docs" / "labelling.md").read_text()
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    quoted = [line for block in blocks for line in block.splitlines() if not line.startswith(("$ ", "..."))]
    assert quoted
    assert [line for line in quoted if line not in printed.splitlines()] == []
    assert {path.name for path in tmp_path.iterdir()} == {
        f"labelling-{name}.png" for name in ("item", "help", "estimate", "phone")
    }
