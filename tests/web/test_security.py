"""Who gets in, from where, and what an answer allows a browser to do."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from sondage.errors import InputError
from sondage.reports.text import answer
from sondage.web.forms import KIND, read_form
from sondage.web.security import Gate, Visitor, new_token

from .conftest import FORM, OWNER, TOKEN

PAGES = ["/", "/help", "/estimate", "/image/a.png"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9000", "[::1]:8417", "127.0.0.1:8417"])
def test_this_machine_is_answered(visit, host):
    assert visit(token="").get("/sign-in", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8417",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "localhost:x",
        "a b",
        "[",
        "",
    ],
)
def test_another_name_for_this_machine_is_refused(visit, host):
    for path in [*PAGES, "/sign-in", "/static/page.css"]:
        answer = visit().get(path, headers={"host": host})
        assert answer.status_code == 403
        assert "127.0.0.1" in answer.text


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8417", "http://localhost:8417"],
)
@pytest.mark.parametrize("path", ["/answer", "/undo", "/sign-in", "/sign-out", "/resolve"])
def test_forms_of_other_pages_are_refused(visit, study, path, origin):
    page = visit()
    fields = {"item": study.claim("anna")[0].id, "label": "spam", "token": TOKEN, "who": "eve"}
    assert page.post(path, data=fields, headers={"origin": origin}).status_code == 403
    assert study.status.labelled == 0


def test_a_form_without_origin_is_refused(visit):
    page = visit()
    del page.headers["origin"]
    assert page.post("/answer", data={}).status_code == 403


@pytest.mark.parametrize("path", PAGES)
def test_nothing_without_signing_in(visit, path):
    answer = visit(token="").get(path)
    assert (answer.status_code, answer.headers.get("location")) in [(303, "/sign-in"), (401, None)]
    assert "letter" not in answer.text


@pytest.mark.parametrize("path", ["/answer", "/undo", "/sign-out", "/resolve"])
def test_nothing_is_written_without_signing_in(visit, study, path):
    item = study.claim("anna")[0].id
    assert visit(token="").post(path, data={"item": item, "label": "spam"}).status_code == 401
    assert study.status.labelled == 0


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN.upper(), "ü"])
def test_a_wrong_token_gives_no_cookie(visit, token):
    answer = visit(token="").post("/sign-in", data={"token": token, "who": "eve"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("who", ["", "   ", "a" * 81, "eve\x00", "eve\u202e"])
def test_a_name_is_needed(visit, who):
    answer = visit(token="").post("/sign-in", data={"token": TOKEN, "who": who})
    assert answer.status_code == 422
    assert "set-cookie" not in answer.headers


def test_a_link_of_another_run_is_said_to_be_one(visit):
    answer = visit(token="").get("/sign-in?token=" + "x" * 32)
    assert answer.status_code == 403
    assert "another run" in answer.text


def test_the_cookie_is_strict(visit):
    cookie = visit(token="").post("/sign-in", data={"token": TOKEN, "who": "anna"}).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert TOKEN not in cookie


def test_the_cookie_cannot_be_made_up(visit):
    page = visit()
    ((name, value),) = page.cookies.items()
    gate, other = Gate(TOKEN, OWNER), Gate("x" * 24)
    assert gate.read(value.strip('"')) == Visitor("anna", "labeller")
    body, _, signature = value.strip('"').partition(".")
    forged = other.sign(Visitor("anna", "owner"))
    for wrong in (forged, f"{forged.partition('.')[0]}.{signature}", body, f"{body}.", ".", "é.é", ""):
        assert gate.read(wrong) is None
        page.cookies.clear()
        page.cookies.set(name, wrong.encode("ascii", "replace").decode())
        assert page.get("/estimate").status_code == 401


def test_two_pages_of_a_machine_have_two_cookies():
    assert Gate("a" * 24).cookie != Gate("b" * 24).cookie


def test_tokens_keep_people_out():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 32
    with pytest.raises(InputError, match="at least 16"):
        Gate("short")
    with pytest.raises(InputError, match="different tokens"):
        Gate(TOKEN, TOKEN)


def test_signing_out_forgets_the_cookie(visit, study):
    page = visit()
    page.get("/")
    assert study.status.claimed == 1
    assert page.post("/sign-out").headers["location"] == "/sign-in"
    assert page.get("/").headers["location"] == "/sign-in"
    assert study.status.claimed == 0


@pytest.mark.parametrize("path", ["/", "/sign-in", "/nowhere", "/static/page.js", "/image/a.png", "/estimate"])
def test_every_answer_is_sealed(visit, path):
    headers = visit().get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "form-action", "img-src")} == {"'self'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_refusals_are_sealed_too(visit):
    assert "content-security-policy" in visit().get("/", headers={"host": "evil.example"}).headers


def test_pages_have_nothing_inline_and_nothing_from_elsewhere(visit):
    owner = visit(token=OWNER)
    for path in ("/", "/help", "/estimate", "/sign-in"):
        text = owner.get(path).text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?! src=)|javascript:", text)
        assert all(link.startswith(("/", "#")) for link in re.findall(r'(?:src|href|action)="([^"]*)"', text))


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_static_files_stay_in_their_folder(visit, path):
    assert visit().get(path).status_code == 404


def test_only_the_owner_sees_the_estimate(visit, study):
    ids = study.ask(10)
    study.tell(ids, ["spam"] * 10)
    labeller, owner = visit(), visit(token=OWNER)
    refused = labeller.get("/estimate")
    assert refused.status_code == 403
    assert answer(study.estimate()) in unescape(owner.get("/estimate").text)
    assert "/estimate" not in labeller.get("/").text
    for path in ("/", "/help"):
        assert "confidence" not in labeller.get(path).text
    assert labeller.post("/resolve", data={"item": ids[0], "label": "ham"}).status_code == 403


def test_other_bodies_than_small_forms_are_refused(visit):
    page = visit()
    assert page.post("/answer", json={"item": "mail-1"}).status_code == 415
    assert page.post("/answer", data={"label": "x" * 1_100_000}).status_code == 413
    many = "&".join(f"a{number}=1" for number in range(10_001))
    form = FORM | {"content-type": "application/x-www-form-urlencoded"}
    assert page.post("/answer", content=many, headers=form).status_code == 400
    assert page.post("/answer", content=b"label=%ff", headers=form).status_code == 400
    assert page.post("/answer", content="label=\xff".encode("latin-1"), headers=form).status_code == 400


def test_a_browser_that_goes_away_while_it_sends_is_no_fault():
    told = iter([{"type": "http.request", "body": b"label=ha", "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(told)

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", KIND.encode())]}
    with ThreadPoolExecutor(1) as apart, pytest.raises(HTTPException, match="the form has no end") as caught:
        apart.submit(asyncio.run, read_form(Request(scope, receive))).result()  # browsers' tests have a loop here
    assert caught.value.status_code == 400
