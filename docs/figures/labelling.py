"""Label the messages of docs/labelling.md in a browser, by key, and take the pictures of that page.

``python docs/figures/labelling.py FOLDER`` goes the whole way that the page describes, in a headless Chromium, with
the known labels in the place of a person: ``spam_pool.py``, ``sondage plan``, ``serve``, ``report``. It prints what the
commands print, and writes ``docs/figures/labelling-*.png``. Needs chromium, playwright and scikit-learn.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
PLAN = "plan messages.parquet spam.db --measure f1 --classes ham,spam --budget 150 --seed 1"
SERVE = ["serve", "spam.db", "--owner", "--port", "0", "--question", "Is this message spam?"]
AFTER = 60  # labels at which the owner looks
BROWSER = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
KEYS = {"ham": "1", "spam": "2"}


def run(*command: str) -> str:
    """Run a command and return what it prints."""
    return subprocess.run([sys.executable, *command], check=True, stdout=-1, stderr=subprocess.STDOUT, text=True).stdout


def sign_in(browser: Browser, link: str, who: str, **screen: Any) -> Page:
    """Follow a link in a browser of its own, and give a name."""
    page = browser.new_page(**({"viewport": {"width": 1000, "height": 640}} | screen))
    page.goto(link)
    page.fill("#who", who)
    page.click("button.primary")
    page.wait_for_load_state()
    return page


def label(page: Page, truth: dict[str, str], count: int) -> None:
    """Label so many items by key."""
    for _ in range(count):
        item = page.get_attribute("#answer [name=item]", "value")
        page.keyboard.press(KEYS[truth[str(item)]])
        page.wait_for_function("old => document.querySelector('#answer [name=item]')?.value !== old", arg=item)


def photograph(browser: Browser, links: list[str], truth: dict[str, str], to: Path) -> None:
    """Label everything, with pictures on the way."""
    page = sign_in(browser, links[0], "Anna")
    label(page, truth, AFTER)
    page.screenshot(path=to / "labelling-item.png")
    page.keyboard.press("?")
    page.screenshot(path=to / "labelling-help.png")
    page.keyboard.press("Escape")
    owner = sign_in(browser, links[1], "Olga", viewport={"width": 1000, "height": 760})
    owner.screenshot(path=to / "labelling-estimate.png")
    small = sign_in(browser, links[0], "Berta", viewport={"width": 390, "height": 720}, color_scheme="dark")
    small.screenshot(path=to / "labelling-phone.png")
    small.click("text=Sign out")
    label(page, truth, 150 - AFTER)


def main(folder: str, to: Path) -> None:
    print(run(str(HERE.parent / "spam_pool.py"), folder), end="")
    print(run("-m", "sondage", *PLAN.split()), end="")
    with open("truth.csv", newline="") as file:
        truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    command = [sys.executable, "-m", "sondage", *SERVE]
    with sync_playwright() as playwright, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        links = [server.stdout.readline().split()[-1] for _ in range(2)]
        path = os.environ.get("SONDAGE_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER)
        photograph(browser, links, truth, to)
        browser.close()
        server.terminate()
    print(run("-m", "sondage", "report", "spam.db"), end="")


if __name__ == "__main__":
    source = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        main(source, Path(sys.argv[2]) if len(sys.argv) > 2 else HERE)
