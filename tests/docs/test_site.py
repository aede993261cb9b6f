"""What the site is built from: every public name has an entry, formulas and links are turned as they must be."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import sondage
from sondage.core import intervals, measures, sequences, significance

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_entry():
    entries = set(re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE))
    names = {f"sondage.{name}" for name in sondage.__all__} - {"sondage.measures"}
    assert sorted(names - entries) == []
    for module in (intervals, measures, sequences, significance):
        assert module.__name__ in entries


def test_every_page_is_in_the_navigation():
    told = (ROOT / "mkdocs.yml").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(page for page in pages if not page.startswith("decisions/0") and f" {page}\n" not in told) == []


@pytest.mark.parametrize(
    ("docstring", "markdown"),
    [
        ("The mean :math:`\\mu_i` of it.", "The mean $\\mu_i$ of it."),
        ("Of\n\n.. math:: a_i \\, b_i\n\nand", "Of\n\n$$\na_i \\, b_i\n$$\n\nand"),
        ("Of\n\n.. math::\n\n    a_i\n    + b_i\n", "Of\n\n$$\na_i + b_i\n$$"),
        ("Of\n\n    .. math:: a\n        + b\n\n    and", "Of\n\n    $$\n    a + b\n    $$\n\n    and"),
        ("As follows::\n\n    code", "As follows:\n\n    code"),
    ],
)
def test_docstrings_become_markdown(docstring, markdown):
    assert load("docstrings").to_markdown(docstring) == markdown


def test_formulas_become_mathml():
    found = load("hooks").on_page_content('<p><span class="arithmatex">\\(a &lt; b_i\\)</span></p>')
    assert found.startswith("<p><math")
    assert "&lt;" in found or "&#x0003C;" in found
    assert "arithmatex" not in found
    assert 'display="block"' in load("hooks").on_page_content('<div class="arithmatex">\\[\\sum_i a_i\\]</div>')


class Page:
    def __init__(self, place):
        self.file = type("File", (), {"src_uri": place})()


def test_links_outside_the_folder_are_turned():
    turned = load("hooks").on_page_markdown
    assert turned("[c](../CHANGELOG.md)", Page("README.md")) == "[c](changelog.md)"
    assert turned("[c](../../CHANGELOG.md#x)", Page("decisions/a.md")) == "[c](../changelog.md#x)"
    assert turned("[s](../SECURITY.md)", Page("labelling.md")) == "[s](security.md)"
    assert turned("[c](../choosing.md)", Page("decisions/a.md")) == "[c](../choosing.md)"


def test_every_entry_is_there():
    for entry in re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE):
        module, _, name = entry.rpartition(".")
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.util.find_spec(entry), entry
