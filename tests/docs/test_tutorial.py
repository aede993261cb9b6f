"""The pages run as they are written, one block after the other, and print what they say they print."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_runner():
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial.md",
        "docs/choosing.md",
        "docs/cookbook.md",
        "docs/teams.md",
        "docs/cross_validation.md",
    ],
)
def test_page_prints_what_it_says(page, monkeypatch, tmp_path):
    text = (ROOT / page).read_text()
    monkeypatch.chdir(tmp_path)
    # After a wanted change: python docs/pages.py and the page
    assert load_runner().run_page(text) == text
