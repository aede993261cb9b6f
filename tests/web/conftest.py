import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import uvicorn
from starlette.testclient import TestClient

import sondage
from sondage.studies.study import Study
from sondage.web.app import create_app

TOKEN, OWNER = "l" * 24, "o" * 24
HERE = "http://127.0.0.1:8417"
FORM = {"origin": HERE}


@pytest.fixture(scope="session")
def pool() -> sondage.Pool:
    """Messages with a text, two classes."""
    random = np.random.default_rng(11)
    texts = np.array([f"letter {number}" for number in range(200)], dtype=object)
    return sondage.Pool(
        probabilities=random.beta(0.5, 0.5, size=200),
        classes=["ham", "spam"],
        ids=np.array([f"mail-{number}" for number in range(200)], dtype=object),
        fields={"text": texts},
    )


@pytest.fixture(scope="session")
def planned(pool: sondage.Pool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of 30 of these, made once."""
    place = tmp_path_factory.mktemp("planned") / "study.db"
    Study.create(place, pool, "error_rate", budget=30).close()
    return place


@pytest.fixture
def study(planned: Path, pool: sondage.Pool, tmp_path: Path) -> Iterator[Study]:
    shutil.copy(planned, tmp_path)
    with Study.open(tmp_path / "study.db", pool) as opened:
        yield opened


@pytest.fixture
def visit(study: Study) -> Callable[..., TestClient]:
    """Open the page, as somebody who has signed in unless the token is empty."""

    def open_page(who: str = "anna", token: str = TOKEN, *, of: Study = study, **options: str) -> TestClient:
        app = create_app(of, TOKEN, OWNER, **options)
        client = TestClient(app, base_url=HERE, headers=FORM, follow_redirects=False)
        if token:
            assert client.post("/sign-in", data={"token": token, "who": who}).status_code == 303
        return client

    return open_page


class Running:
    """A page that answers on a port of its own."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sign_in(self, page: Any, who: str = "anna", token: str = TOKEN) -> Any:
        page.goto(f"{self.address}/sign-in?token={token}")
        page.fill("#who", who)
        page.click("button.primary")
        page.wait_for_url(lambda address: "/sign-in" not in address)  # which has loaded then, and listens for keys
        return page


class Served(Running):
    """The page in a thread, with the study opened a second time as by another process."""

    def __init__(self, study: Study, **options: str) -> None:
        self._study = Study.open(study.place)
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        app = create_app(self._study, TOKEN, OWNER, **options)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._study.close()


class Command(Running):
    """``sondage serve`` as a process, on a port that it keeps when it is started again."""

    def __init__(self, study: Study, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "sondage", "serve", study.place, "--port", str(self.port), *options]
        self.start()

    def start(self) -> None:
        folders = os.pathsep.join(path for path in sys.path if path)
        tokens = {"SONDAGE_TOKEN": TOKEN, "SONDAGE_OWNER_TOKEN": OWNER, "PYTHONPATH": folders}
        self._process = subprocess.Popen(self._command, env=os.environ | tokens, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.printed = self._process.stdout.readline()

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def _started(kind: type[Any]) -> Iterator[Callable[..., Any]]:
    running: list[Any] = []

    def start(study: Study, *options: str, **named: str) -> Any:
        running.append(kind(study, *options, **named))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Start the page of a study in a thread."""
    yield from _started(Served)


@pytest.fixture
def command() -> Iterator[Callable[..., Command]]:
    """Start the page of a study as a process."""
    yield from _started(Command)


@pytest.fixture(scope="session")
def chromium(absent: Callable[[str, str], None]) -> Iterator[Any]:
    """A browser without a window."""
    path = os.environ.get("SONDAGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        absent("chromium", "no chromium: install it, or set SONDAGE_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        absent("chromium", "no playwright: pip install playwright")
    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    options = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a browser of one's own; whatever it complains of fails the test."""
    contexts, complaints = [], []

    def browse(width: int = 1280, **options: Any) -> Any:
        contexts.append(chromium.new_context(viewport={"width": width, "height": 800}, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda sent: "127.0.0.1" in sent.url or complaints.append(sent.url))
        return page

    yield browse
    for context in contexts:
        context.close()
    # what the page itself tells the labeller of, browser and htmx write down too
    told = ("Failed to load resource", "Response Status Error Code", "htmx:sendError", "htmx:afterRequest")
    assert [text for text in complaints if not text.startswith(told)] == []
