"""Who may come in, and from where: tokens, the signed cookie, Host and Origin, headers of every answer."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sondage.errors import InputError

__all__ = ["LOOPBACK", "Gate", "Guard", "Visitor", "new_token"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
SAFE_METHODS = ("GET", "HEAD")
LEAST_TOKEN = 16

LABELLER, OWNER = "labeller", "owner"


def new_token() -> str:
    """Return a token that cannot be guessed: 192 random bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Visitor:
    """Somebody who has signed in.

    Attributes
    ----------
    who : str
        Name, kept with each label.
    role : str
        ``"labeller"``, or ``"owner"``, who may see the estimate.
    """

    who: str
    role: str

    @property
    def is_owner(self) -> bool:
        """Whether the estimate may be shown."""
        return self.role == OWNER


class Gate:
    """Exchanges tokens for cookies; a cookie is signed with the tokens, so that it lives as long as they do.

    Parameters
    ----------
    labeller : str
        The token of those who label.
    owner : str, optional
        The token of those who may also see the estimate; without one nobody may.

    Raises
    ------
    InputError
        If a token is too short to keep anybody out, cannot be typed, or both are the same.
    """

    def __init__(self, labeller: str, owner: str | None = None) -> None:
        self._tokens = {LABELLER: labeller} | ({} if owner is None else {OWNER: owner})
        for role, token in self._tokens.items():
            if len(token) < LEAST_TOKEN:
                raise InputError(f"the token for {role}s has {len(token)} characters; it needs at least {LEAST_TOKEN}")
            if not token.isprintable() or token != token.strip():
                raise InputError(f"the token for {role}s has spaces at an end, or characters that nobody can type")
        if labeller == owner:
            raise InputError("labellers and owners need different tokens")
        self._key = hashlib.sha256("\n".join(self._tokens.values()).encode()).digest()
        # browsers keep one jar for all ports of this machine: two pages need two names
        self.cookie = f"sondage-{hashlib.sha256(self._key).hexdigest()[:12]}"

    def role(self, token: str) -> str | None:
        """Return what a token lets its bearer do, or None."""
        found = [role for role, known in self._tokens.items() if hmac.compare_digest(known.encode(), token.encode())]
        return found[0] if found else None

    def sign(self, visitor: Visitor) -> str:
        """Return a visitor as the value of a cookie."""
        body = urlsafe_b64encode(json.dumps([visitor.who, visitor.role]).encode())
        return f"{body.decode()}.{self._signature(body)}"

    def read(self, cookie: str | None) -> Visitor | None:
        """Return the visitor whom a cookie names, or None if it was not signed here."""
        body, _, signature = (cookie or "").encode("ascii", "replace").partition(b".")
        if not hmac.compare_digest(signature, self._signature(body).encode()):
            return None
        return Visitor(*json.loads(urlsafe_b64decode(body)))

    def _signature(self, body: bytes) -> str:
        return hmac.new(self._key, body, hashlib.sha256).hexdigest()


class Guard:
    """Lets in only requests that name this machine and come from the page itself; seals every answer.

    A page elsewhere that has its own name resolve to 127.0.0.1 is known by its Host, a form elsewhere that posts here
    by its Origin.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    pictures : str
        The one origin outside the page from which pictures may come; empty for none.
    """

    def __init__(self, app: ASGIApp, pictures: str = "") -> None:
        self._app = app
        self._headers = _headers(pictures)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = _refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else PlainTextResponse(f"{refusal}\n", 403)
        await app(scope, receive, sealed)


def _refusal(method: str, headers: Headers) -> str | None:
    """Return why a request is not answered, or None."""
    host = headers.get("host", "")
    if not HOST.fullmatch(host):
        return f"this page answers to {' and '.join(LOOPBACK[:2])} only, not to {host[:80]!r}"
    if method not in SAFE_METHODS and headers.get("origin") != f"http://{host}":
        return "this request does not come from the page itself"
    return None


def _headers(pictures: str) -> Mapping[str, str]:
    """Return the headers of every answer; an answer may have stricter ones."""
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": f"'self' {pictures}".strip(),
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",  # not no-referrer, with which browsers send Origin: null
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-store",
    }
