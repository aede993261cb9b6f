"""What MkDocs does beside its own: formulas as MathML, and the pages that stand outside this folder.

Links are written as they are right in the repository; those to the pages outside are turned to where the site has them.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {f"{name}.md": f"{name.lower()}.md" for name in ("CHANGELOG", "CONTRIBUTING", "README", "SECURITY")}

FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
LINK = re.compile(r"\]\(((?:\.\./)+)([A-Z]+\.md)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand in the repository's root."""
    for name, page in OUTSIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        # From the root a page is docs/page.md, from this folder page.md; LICENSE and the like have no page here.
        text = re.sub(r"\]\(docs/([^)]*)\)", r"](\1)", text)
        text = re.sub(r'src="docs/([^"]*)"', r'src="\1"', text)
        text = re.sub(r"\[([^\]]*)\]\((?:LICENSE|CITATION\.cff|benchmarks[^)]*|src/[^)]*)\)", r"\1", text)
        for other, place in OUTSIDE.items():
            text = text.replace(f"]({other})", f"]({place})")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to pages outside the folder to where the site has them."""
    depth = page.file.src_uri.count("/")

    def turned(link: re.Match[str]) -> str:
        ups, name, anchor = link.groups()
        if ups.count("/") != depth + 1 or name not in OUTSIDE:
            return link[0]
        return f"]({'../' * depth}{OUTSIDE[name]}{anchor or ''})"

    return LINK.sub(turned, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas, which arithmatex has marked, to MathML."""
    return FORMULA.sub(lambda found: _mathml(found[2], "block" if found[1] == "div" else "inline"), content)


def _mathml(text: str, display: str) -> str:
    formula = html.unescape(text).strip().removeprefix("\\(").removesuffix("\\)")
    return convert(formula.removeprefix("\\[").removesuffix("\\]").strip(), display=display)
