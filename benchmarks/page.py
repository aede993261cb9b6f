"""The labelling page: from the command to its first answer, and from a key to the next item, in a headless Chromium.

``python benchmarks/page.py`` prints both for a study of 300 items drawn from 100,000. Needs chromium and playwright.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

import sondage

POOL, BUDGET = 100_000, 300
STARTS, KEYS = 5, 200
TOKEN = "benchmark" * 3
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

# From the key's own time stamp to the first frame that shows another item.
WATCH = """
window.took = [];
let pressed = 0;
document.addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
document.addEventListener("htmx:afterSwap", () => requestAnimationFrame(() => {
  window.took.push(performance.now() - pressed);
}));
"""


def make_study(folder: Path) -> Path:
    """Write a pool to a file, and a study of it."""
    import duckdb

    random = np.random.default_rng(20261121)
    score = random.normal(-2.0, 2.0, size=POOL)
    columns = {  # noqa: F841 - DuckDB finds it by its name
        "id": np.arange(POOL),
        "p_spam": 1 / (1 + np.exp(-score)),
        "text": np.array([f"Message {row}: " + "words and more words " * 40 for row in range(POOL)], dtype=object),
    }
    duckdb.sql(f"COPY (SELECT * FROM columns) TO '{folder / 'pool.parquet'}' (FORMAT parquet)")
    pool = sondage.read_pool(str(folder / "pool.parquet"))
    with sondage.Study.create(folder / "study.db", pool, "f1", budget=BUDGET):
        return folder / "study.db"


def start(study: Path) -> tuple[subprocess.Popen[str], str, float]:
    """Start the page; return it, its address and the seconds to the first answer."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "sondage", "serve", str(study), "--port", "0"]
    page = subprocess.Popen(command, env=os.environ | {"SONDAGE_TOKEN": TOKEN}, stdout=subprocess.PIPE, text=True)
    assert page.stdout is not None
    link = page.stdout.readline().split()[-1]
    with urllib.request.urlopen(link) as answer:
        answer.read()
    return page, link, time.perf_counter() - began


def press_keys(page: Page, link: str) -> list[float]:
    """Label items by key; return the milliseconds from each key to the next item."""
    page.goto(link)
    page.fill("#who", "anna")
    page.click("button.primary")
    page.wait_for_load_state()
    page.evaluate(WATCH)
    for number in range(KEYS):
        page.keyboard.press("12"[number % 2])
        page.wait_for_function("count => window.took.length >= count", arg=number + 1)
    took: list[float] = page.evaluate("window.took")
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        study = make_study(Path(folder))
        starts = []
        for _ in range(STARTS):
            page, link, seconds = start(study)
            page.kill()
            page.communicate()
            starts.append(seconds)
        chromium = os.environ.get("SONDAGE_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        page, link, _ = start(study)
        took = np.array(press_keys(browser.new_page(), link))
        browser.close()
        page.kill()
        page.communicate()
    low, middle, high = np.quantile(took, [0.05, 0.5, 0.95])
    print(f"command to first answer, {STARTS} times: median {np.median(starts):.2f} s, most {max(starts):.2f} s")
    print(f"key to next item, {KEYS} keys: median {middle:.0f} ms, 5 to 95 % {low:.0f} to {high:.0f} ms")
    print(f"slowest, where a stage is planned: {took.max():.0f} ms")


if __name__ == "__main__":
    main()
