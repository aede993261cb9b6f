"""The pages: each reads a request, lets `Labelling` do it, and shows what comes next."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sondage.errors import ConflictError, InputError, SondageError
from sondage.studies.names import LONGEST_NAME, is_name
from sondage.web.forms import read_form
from sondage.web.labelling import Form, Labelling
from sondage.web.overview import overview
from sondage.web.security import Gate, Visitor

__all__ = ["ROUTES", "Site", "failed"]

HTMX = {
    "defaultSettleDelay": 0,  # with a delay the next key press would meet a form that htmx does not know yet
    "includeIndicatorStyles": False,  # the policy allows no styles but those of the page
    "allowEval": False,
    "historyCacheSize": 0,  # items are not kept in the browser
    "timeout": 60_000,
    "responseHandling": [
        {"code": "[23]..", "swap": True},
        {"code": "[45]..", "swap": True, "error": True, "target": "#message", "swapOverride": "innerHTML"},
    ],
}


@dataclass(frozen=True)
class Site:
    """What all pages share."""

    labelling: Labelling
    gate: Gate
    templates: Environment

    def sign_in(self, status: int = 200, *, message: str = "", token: str = "", who: str = "") -> HTMLResponse:
        """Return the page that asks for name and token."""
        return self.page("sign_in.html", None, status, message=message, token=token, who=who)

    def page(self, name: str, visitor: Visitor | None, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page."""
        shared = {
            "study": self.labelling.title,
            "visitor": visitor,
            "htmx": HTMX,
            "message": "",
            "kind": self.labelling.kind,
            "choices": self.labelling.choices,
            "many": self.labelling.many,
            "rows": self.labelling.kind in ("outcomes", "ranking") and not self.labelling.alone,
            "guide": self.labelling.guide,
        }
        text = self.templates.get_template(name).render(shared | values)
        return HTMLResponse(text, status)


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def _by_htmx(request: Request) -> bool:
    return "hx-request" in request.headers


def _visitor(request: Request) -> Visitor | None:
    gate = _site(request).gate
    return gate.read(request.cookies.get(gate.cookie))


def _signed_in(request: Request) -> Visitor:
    visitor = _visitor(request)
    if visitor is None:
        raise HTTPException(401, "You are not signed in.")
    return visitor


def _require_same(visitor: Visitor, fields: Form) -> None:
    """Raise `ConflictError` if a page was shown to somebody else than who is signed in: tabs share what signs in."""
    shown_to = fields.get("who", visitor.who)
    if shown_to != visitor.who:
        raise ConflictError(
            f"This page was shown to {shown_to}, and {visitor.who} has signed in since, in this browser. Nothing was "
            f"kept. Two people at once need a browser, or a private window, each."
        )


def _owner(request: Request) -> Visitor:
    visitor = _signed_in(request)
    if not visitor.is_owner:
        raise HTTPException(403, "The estimate is not shown to those who label.")
    return visitor


def _to(place: str) -> Response:
    return RedirectResponse(place, 303)


async def work(request: Request) -> Response:
    """Show the item that the labeller holds, or the next one."""
    visitor = _visitor(request)
    if visitor is None and not _by_htmx(request):
        return _to("/sign-in")
    visitor = _signed_in(request)
    if _by_htmx(request):
        _require_same(visitor, request.query_params)
    return await _work(request, visitor, undone="undone" in request.query_params)


async def _work(request: Request, visitor: Visitor, *, undone: bool = False) -> Response:
    site = _site(request)
    place = await run_in_threadpool(partial(site.labelling.place, visitor.who, undone=undone))
    name = "_work.html" if _by_htmx(request) else "work.html"
    return site.page(name, visitor, place=place, question=site.labelling.question)


async def answer(request: Request) -> Response:
    """Take a label or a skip, for the item and the request that the form names."""
    visitor, form = _signed_in(request), await read_form(request)
    return await _done(request, visitor, form, _site(request).labelling.answer)


async def undo(request: Request) -> Response:
    """Take the labeller's last answer back."""
    visitor, form = _signed_in(request), await read_form(request)
    return await _done(request, visitor, form, _site(request).labelling.undo, "/?undone")


async def _done(
    request: Request, visitor: Visitor, form: Form, act: Callable[[str, Form], None], back: str = "/"
) -> Response:
    """Do what a form asks for and go on; if it cannot be done, give the form back."""
    try:
        _require_same(visitor, form)
        await run_in_threadpool(act, visitor.who, form)
    except SondageError as error:
        return failed(request, error, form)
    if not _by_htmx(request):
        return _to(back)
    try:
        return await _work(request, visitor, undone="?undone" in back)
    except SondageError as error:
        raise HTTPException(503, f"This is kept, but what comes next cannot be shown now: {error}") from None


def failed(request: Request, error: Exception, form: Form | None = None) -> Response:
    """Say what went wrong: to htmx one line beside the form, which stays; else a page that keeps the form's fields."""
    site, status = _site(request), _status(error)
    message = str(error.detail) if isinstance(error, HTTPException) else " ".join(str(error).split())
    if _by_htmx(request):
        told = {"again": status == 422, "signed_out": status == 401, "looked": request.method == "GET"}
        return site.page("_message.html", None, status, message=message, **told)
    if status == 401:
        return site.sign_in(status, message=message)
    kept = [] if form is None or "item" not in form else [(name, told) for name, told in form.items() if name != "last"]
    title = _title(status, answered=bool(kept))
    values = {"message": message, "title": title, "refused": status < 500, "action": request.url.path}
    return site.page("again.html", _visitor(request), status, kept=kept, **values)


def _title(status: int, *, answered: bool) -> str:
    if answered:
        return "Your answer was not taken" if status < 500 else "Your answer is not kept yet"
    if status == 404:
        return "Not found"
    return "This cannot be done" if status < 500 else "This cannot be shown now"


def _status(error: Exception) -> int:
    """Return the status of an error: one's own fault is 422, a study that is not there 503."""
    if isinstance(error, HTTPException):
        return error.status_code
    return 422 if isinstance(error, InputError) else 503


async def ask_in(request: Request) -> Response:
    """Ask for the name, and for the token if the link has none."""
    site, token = _site(request), request.query_params.get("token", "")
    if token and site.gate.role(token) is None:
        return site.sign_in(403, message="This link is of another run: open the one that sondage serve printed last.")
    return site.sign_in(token=token)


async def sign_in(request: Request) -> Response:
    """Exchange token and name for the cookie."""
    site, form = _site(request), await read_form(request)
    token = form.get("token", "").strip()
    who = " ".join(unicodedata.normalize("NFC", form.get("who", "")).split())
    role = site.gate.role(token)
    if role is None:
        return site.sign_in(403, message="This token does not fit.", who=who)
    if not is_name(who):
        return site.sign_in(422, message=f"Your name is needed, in at most {LONGEST_NAME} characters.", token=token)
    visitor = Visitor(who, role)
    response = _to("/estimate" if visitor.is_owner else "/")
    response.set_cookie(site.gate.cookie, site.gate.sign(visitor), httponly=True, samesite="strict", path="/")
    return response


async def sign_out(request: Request) -> Response:
    """Give back what the labeller holds, and forget the cookie."""
    site, visitor = _site(request), _signed_in(request)
    await run_in_threadpool(site.labelling.leave, visitor.who)
    response = _to("/sign-in")
    response.delete_cookie(site.gate.cookie, httponly=True, samesite="strict", path="/")
    return response


async def help_page(request: Request) -> Response:
    """Show the keys, where there is no JavaScript to lay them over the page."""
    return _site(request).page("help.html", _signed_in(request))


async def image(request: Request) -> Response:
    """Send a picture from below the named folder."""
    _signed_in(request)
    try:
        path, media = await run_in_threadpool(_site(request).labelling.images.find, request.path_params["name"])
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    return FileResponse(path, media_type=media)


async def estimate(request: Request) -> Response:
    """Show the owner the estimate so far."""
    site, visitor = _site(request), _owner(request)
    seen = await run_in_threadpool(overview, site.labelling.study, site.labelling.images)
    progress = await run_in_threadpool(site.labelling.progress)
    name = "_estimate.html" if _by_htmx(request) else "estimate.html"
    return site.page(name, visitor, seen=seen, progress=progress)


async def resolve(request: Request) -> Response:
    """Settle an item of which labellers disagree."""
    visitor, form = _owner(request), await read_form(request)
    return await _done(request, visitor, form, _site(request).labelling.resolve, "/estimate")


ROUTES: list[BaseRoute] = [
    Route("/", work),
    Route("/answer", answer, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
    Route("/sign-in", ask_in),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/help", help_page),
    Route("/image/{name:path}", image),
    Route("/estimate", estimate),
    Route("/resolve", resolve, methods=["POST"]),
]
