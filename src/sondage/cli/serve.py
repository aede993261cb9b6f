"""``sondage serve``: the labelling page of a study."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import click

from sondage.cli.options import study_argument
from sondage.errors import InputError, SondageError

__all__ = ["command"]

HOST = "127.0.0.1"
PORT = 8417


@click.command("serve", short_help="Open the labelling page.")
@study_argument
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="Port; 0 for any free one."
)
@click.option("--owner", is_flag=True, help="Print a second link, for who may see the estimate while others label.")
@click.option(
    "--images", metavar="PLACE", help="Folder, or address of this machine, with the pictures that items name."
)
@click.option("--question", default="", help="What to ask the labeller above the buttons.")
@click.option("--guide", type=click.Path(exists=True, dir_okay=False), help="Text file on how to label, for the help.")
def command(study: str, port: int, owner: bool, images: str | None, question: str, guide: str | None) -> None:
    """Label STUDY in a browser on this machine: one item at a time, by key or by mouse.

    The printed link has a token; whoever has the link can label. Set SONDAGE_TOKEN (and SONDAGE_OWNER_TOKEN) to use
    your own, so that browsers stay signed in when the page is started again.

    \b
    sondage serve study.db --question "Is this message spam?"
    """
    listening = _listen(port)
    with listening:
        from sondage import Study

        try:
            from sondage.web.app import create_app
            from sondage.web.security import new_token
        except ModuleNotFoundError as error:
            raise SondageError(f"the page needs {error.name}: pip install 'sondage[web]'") from None
        token = os.environ.get("SONDAGE_TOKEN") or new_token()
        second = (os.environ.get("SONDAGE_OWNER_TOKEN") or new_token()) if owner else None
        text = _read_guide(guide) if guide else ""
        with _until_stopped(), Study.open(study) as opened, opened.held():
            app = create_app(opened, token, second, images=images, question=question, guide=text)
            address = f"http://{HOST}:{listening.getsockname()[1]}/sign-in?token="
            click.echo(f"To label:            {address}{quote(token, safe='')}")
            if second is not None:
                click.echo(f"To see the estimate: {address}{quote(second, safe='')}")
            click.echo("The page answers on this machine only. Every answer is kept at once; stop with Ctrl+C.")
            _run(app, listening)


def _listen(port: int) -> socket.socket:
    """Return a socket on this machine's own address."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Else the browser waits 40 ms for the second half of each page.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(100)  # at once, so that whoever follows the link early waits instead of being refused
    except OSError as error:
        listening.close()
        raise InputError(f"port {port} cannot be used: {error.strerror}; --port 0 takes a free one") from None
    return listening


def _read_guide(path: str) -> str:
    from sondage.adapters.text_files import read_text

    try:
        return read_text(path)
    except InputError as error:
        raise InputError(f"--guide {path}: {error}") from None


def _run(app: Any, listening: socket.socket) -> None:
    """Serve until stopped; what is requested is not logged, for links have tokens."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _until_stopped() -> Iterator[None]:
    """Let a request to end, and the end of the terminal, do what Ctrl+C does: else the study leaves its log behind."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    def end(*_: Any) -> None:
        signal.raise_signal(signal.SIGTERM)  # while the server runs it heeds this one

    answers = {"SIGTERM": stop, "SIGHUP": end}
    before = {name: signal.getsignal(getattr(signal, name)) for name in answers if hasattr(signal, name)}
    before = {name: answer for name, answer in before.items() if answer == signal.SIG_DFL}  # nohup ignores the second
    try:
        for name in before:
            signal.signal(getattr(signal, name), answers[name])
        yield
    except KeyboardInterrupt:
        click.echo("Stopped.")
    finally:
        for name, answer in before.items():
            signal.signal(getattr(signal, name), answer)
