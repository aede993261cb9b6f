"""Forms as browsers send them."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

__all__ = ["read_form"]

MOST_BYTES = 1_000_000
MOST_FIELDS = 10_000
KIND = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a name that comes twice the last.

    Raises
    ------
    HTTPException
        413 if the form is too large, 415 if it is no form, 400 if it cannot be read or the browser is gone.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
        raise HTTPException(415, f"this page takes forms ({KIND})")
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise HTTPException(413, f"the form is larger than {MOST_BYTES:,} bytes")
    except ClientDisconnect:  # nobody reads this answer; a traceback would tell whoever serves of a fault
        raise HTTPException(400, "the form has no end") from None
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, "the form cannot be read") from None
    return dict(fields)
