"""Labelling through plain forms, as a browser without JavaScript does, and through htmx."""

import re
from html import unescape
from itertools import pairwise
from urllib.parse import unquote

import numpy as np
import pytest

import sondage
from sondage.studies.study import Study

from .conftest import OWNER, TOKEN

BY_HTMX = {"hx-request": "true"}


def fields(text, form="/answer"):
    """Return the hidden fields of a page's form, as browsers send them."""
    body = re.search(rf'<form[^>]*action="{form}".*?</form>', text, re.DOTALL)[0]
    found = re.findall(r'type="hidden" name="(.*?)" value="(.*?)"', body, re.DOTALL)
    return {name: re.sub("\r\n|\r|\n", "\r\n", unescape(value)) for name, value in found}


def heads(text):
    """Return the title of a page, as browsers list it, and its heading."""
    return [re.search("<title>(.*?) · sondage</title>", text)[1], re.search("<h1>(.*?)</h1>", text)[1]]


def label(page, value):
    """Label the item on the page; return its id."""
    form = fields(page.get("/").text)
    assert page.post("/answer", data=form | {"label": value}).headers["location"] == "/"
    return unquote(form["item"])


def test_labels_come_in_the_order_of_the_draw(visit, study, pool, tmp_path):
    page = visit()
    done = [label(page, "spam" if number % 2 else "ham") for number in range(30)]
    with Study.create(tmp_path / "other.db", pool, "error_rate", budget=30) as other:
        asked = []
        for number in range(30):
            asked += other.ask(1)
            other.tell(asked[-1:], ["spam" if number % 2 else "ham"])
        assert asked == done
        assert study.estimate().value == other.estimate().value
    assert "Everything is labelled" in page.get("/").text
    assert {row["who"] for row in study.history()} == {"anna"}


def test_ids_with_line_breaks_are_labelled_skipped_and_settled(visit, tmp_path):
    pool = sondage.Pool(probabilities=[0.4, 0.6], ids=np.array(["a\nb", "c%0Ad\r"], dtype=object))
    with Study.create(tmp_path / "odd.db", pool, budget=2, raters=2) as odd:
        anna, berta, owner = visit("anna", of=odd), visit("berta", of=odd), visit("olga", OWNER, of=odd)
        first = label(anna, "0")
        anna.post("/answer", data=fields(anna.get("/").text) | {"skip": "yes", "reason": "torn"})
        assert label(berta, "1") == first
        owner.post("/resolve", data=fields(owner.get("/estimate").text, "/resolve") | {"label": "1"})
        assert [(row["label"], row["kind"]) for row in odd.history(first)][-1] == (1, "resolution")
        assert {row["id"] for row in odd.history()} == {"a\nb", "c%0Ad\r"}


@pytest.mark.parametrize("by", [{}, BY_HTMX])
def test_nothing_is_kept_under_the_name_of_who_signed_in_in_another_tab(visit, study, by):
    page = visit("anna")
    label(page, "ham")
    text = page.get("/").text
    page.post("/sign-in", data={"token": TOKEN, "who": "berta"})
    skip = {"skip": "yes", "reason": "torn"}
    forms = [fields(text) | {"label": "spam"}, fields(text) | skip, fields(text, "/undo")]
    for path, form in zip(("/answer", "/answer", "/undo"), forms, strict=True):
        refused = page.post(path, data=form, headers=by)
        assert refused.status_code == 422
        assert "shown to anna, and berta has signed in since" in refused.text
    assert [(row["who"], row["label"]) for row in study.history()] == [("anna", "ham")]
    page.post("/sign-in", data={"token": TOKEN, "who": "anna"})
    assert page.post("/answer", data=forms[0]).status_code == 303


def test_who_waits_gets_no_item_of_who_signed_in_in_another_tab(visit, study):
    anna, berta = visit("anna"), visit("berta")
    study.claim("berta", 30)
    waits = re.search(r'hx-get="(/.*?)"', anna.get("/").text)[1]
    assert "Other labellers" in anna.get(waits, headers=BY_HTMX).text
    anna.cookies = berta.cookies
    looked = anna.get(waits, headers=BY_HTMX)
    assert looked.status_code == 422
    assert "mail-" not in looked.text


def test_reloading_shows_the_same_item(visit):
    page = visit()
    assert fields(page.get("/").text)["item"] == fields(page.get("/").text)["item"]


def test_two_labellers_never_have_the_same_item(visit, study):
    pages = [visit("anna"), visit("berta")]
    done = [label(pages[number % 2], "ham") for number in range(30)]
    assert len(set(done)) == 30
    assert {who: told.labelled for who, told in study.progress().items()} == {"anna": 15, "berta": 15}


def test_the_last_item_is_waited_for(visit, study):
    anna, berta = visit("anna"), visit("berta")
    for _ in range(29):
        label(anna, "ham")
    assert "mail-" in anna.get("/").text
    assert "Other labellers hold" in berta.get("/").text
    anna.post("/sign-out")
    label(berta, "spam")
    assert study.status.complete


def test_an_answer_sent_twice_counts_once(visit, study):
    page = visit()
    form = fields(page.get("/").text) | {"label": "spam"}
    assert [page.post("/answer", data=form).status_code for _ in range(3)] == [303] * 3
    assert len(study.history()) == 1


def test_an_answer_is_of_its_item_only(visit, study):
    page = visit()
    first = fields(page.get("/").text)
    page.post("/answer", data=first | {"label": "spam"})
    second = fields(page.get("/").text)
    late = page.post("/answer", data=first | {"label": "ham"})  # pressed before the next item came
    assert late.status_code == 422
    assert [(row["id"], row["label"]) for row in study.history()] == [(first["item"], "spam")]
    assert fields(page.get("/").text)["item"] == second["item"]


def test_undo_gives_the_item_back_with_its_answer(visit, study):
    page = visit()
    first, second = label(page, "ham"), label(page, "spam")
    answer = page.post("/undo", data=fields(page.get("/").text, "/undo"))
    shown = page.get(answer.headers["location"]).text
    assert fields(shown)["item"] == second
    assert re.search(r'value="spam"[^>]*aria-description="your answer before"', shown)
    assert study.status.labelled == 1
    assert label(page, "ham") == second
    assert [row["label"] for row in study.history(second)] == ["spam", None, "ham"]
    again = page.post("/undo", data=fields(page.get("/").text, "/undo"), headers=BY_HTMX)
    assert "your answer before" in again.text
    assert study.status.labelled == 1
    page.post("/undo", data=fields(page.get("/").text, "/undo"))
    assert fields(page.get("/").text)["item"] == first
    assert "disabled" in re.search(r'<button[^>]*data-key="u"[^>]*>', page.get("/").text)[0]


def test_undo_gives_that_item_back_and_not_another_that_one_holds(visit, study):
    anna, berta = visit("anna"), visit("berta")
    earlier = fields(berta.get("/").text)["item"]
    later = label(anna, "spam")
    berta.post("/sign-out")
    assert fields(anna.get("/").text)["item"] == earlier  # which was asked for first
    shown = anna.post("/undo", data=fields(anna.get("/").text, "/undo"), headers=BY_HTMX).text
    assert fields(shown)["item"] == later
    assert re.search(r'value="spam"[^>]*aria-description="your answer before"', shown)
    assert [label(anna, "ham") for _ in range(2)] == [later, earlier]


def test_undo_is_of_ones_own_answers(visit, study):
    label(visit("anna"), "ham")
    berta = visit("berta")
    berta.post("/undo", data={"request": "r"})
    assert study.status.labelled == 1


def test_a_skip_needs_a_reason(visit, study):
    page = visit()
    form = fields(page.get("/").text) | {"skip": "yes"}
    refused = page.post("/answer", data=form | {"reason": "  "})
    assert refused.status_code == 422
    assert "say why" in refused.text
    assert page.post("/answer", data=form | {"reason": "cannot tell"}).status_code == 303
    (row,) = study.history()
    assert (row["label"], row["reason"]) == (None, "cannot tell")
    assert "1 skipped" in page.get("/").text


@pytest.mark.parametrize("wrong", ["eggs", "", "HAM"])
def test_a_wrong_label_is_refused_and_kept_in_the_form(visit, study, wrong):
    page = visit()
    form = fields(page.get("/").text)
    answer = page.post("/answer", data=form | {"label": wrong})
    assert answer.status_code == 422
    assert fields(answer.text) == form
    assert f'name="label" value="{wrong}"' in answer.text
    beside = page.post("/answer", data=form | {"label": wrong}, headers=BY_HTMX)
    assert beside.status_code == 422
    assert heads(answer.text) == ["Your answer was not taken"] * 2
    assert "<" not in re.sub(r"<a .*?</a>", "", beside.text)
    assert study.status.labelled == 0


@pytest.mark.parametrize("path", ["/", "/help", "/estimate", "/sign-in", "/nothing"])
def test_each_page_has_one_heading_of_its_own_and_each_name_once(path, visit):
    """In the dialog, which is a page of its own, headings begin at the second level."""
    text = visit("zoe", OWNER).get(path).text
    levels = [int(level) for level in re.findall(r"<h(\d)", re.sub("<dialog.*?</dialog>", "", text, flags=re.DOTALL))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= before + 1 for before, later in pairwise(levels))
    names = re.findall(r' id="(.*?)"', text)
    assert len(set(names)) == len(names)
    assert {*re.findall(r'aria-labelledby="(.*?)"', text), *re.findall(r'<label for="(.*?)"', text)} <= set(names)


def test_a_page_that_is_not_there(visit):
    assert heads(visit().get("/nope").text) == ["Not found"] * 2


@pytest.mark.parametrize("item", ["mail-9999", "", "nothing", "../x", "0"])
def test_an_item_that_was_not_asked_for_is_refused(visit, study, item):
    answer = visit().post("/answer", data={"item": item, "label": "spam"})
    assert answer.status_code == 422
    assert study.status.labelled == 0


def test_htmx_gets_the_next_item_at_once(visit):
    page = visit()
    form = fields(page.get("/").text)
    answer = page.post("/answer", data=form | {"label": "ham"}, headers=BY_HTMX)
    assert answer.status_code == 200
    assert "<html" not in answer.text
    following = fields(answer.text)
    assert following["item"] != form["item"]
    assert following["request"] != form["request"]
    assert "1 of 30 labelled" in answer.text


def test_signed_out_by_a_new_run_the_answer_stays(visit):
    page = visit()
    form = fields(page.get("/").text)
    page.cookies.clear()
    answer = page.post("/answer", data=form | {"label": "ham"}, headers=BY_HTMX)
    assert answer.status_code == 401
    assert "sign in again" in answer.text
    looked = page.get("/", headers=BY_HTMX)
    assert looked.status_code == 401
    assert "Sign in again" in looked.text
    assert "Your answer" not in looked.text


def test_database_gone_is_said_and_the_answer_kept(visit, study, tmp_path):
    page = visit()
    form = fields(page.get("/").text) | {"label": "spam"}
    (tmp_path / "study.db").rename(tmp_path / "away.db")
    for name in ("study.db-wal", "study.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    answer = page.post("/answer", data=form)
    assert answer.status_code == 503
    assert heads(answer.text) == ["Your answer is not kept yet"] * 2
    assert fields(answer.text) | {"label": "spam"} == form
    assert page.post("/answer", data=form, headers=BY_HTMX).status_code == 503
    assert page.get("/").status_code == 503
    (tmp_path / "study.db").unlink(missing_ok=True)
    (tmp_path / "away.db").rename(tmp_path / "study.db")
    assert page.post("/answer", data=form).status_code == 303
    assert [row["label"] for row in study.history()] == ["spam"]


@pytest.mark.filterwarnings("ignore:.* the present order goes on")  # for one more item, which was drawn before
def test_an_answer_is_kept_where_the_pool_for_the_next_one_is_gone(visit, study, pool, tmp_path):
    for _ in range(29):
        study.tell(study.ask(1), ["ham"])
    study.extend(60, pool)
    with Study.open(study.place) as without:
        page = visit(of=without)
        form = fields(page.get("/").text) | {"label": "spam"}
        answer = page.post("/answer", data=form, headers=BY_HTMX)
        assert answer.status_code == 503
        assert answer.text.startswith("This is kept, but what comes next cannot be shown now: ")
        assert "the next draw needs the pool, and it did not come from a file" in answer.text
        assert without.history()[-1]["label"] == "spam"
        again = page.get("/")
        assert (again.status_code, heads(again.text)[1]) == (503, "This cannot be shown now")
        assert ">Look again</a>" in again.text
    assert visit(of=study).get("/").status_code == 200


def test_who_has_labelled_all_can_look_again(visit, study, pool):
    study.tell(asked := study.ask(), ["ham"] * len(asked))
    page = visit()
    assert ">Look again</a>" in page.get("/").text
    study.extend(40, pool)
    assert fields(page.get("/").text)["item"] not in asked


def test_hostile_text_is_text(visit, tmp_path):
    evil = "</div><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}\u202e"
    pool = sondage.Pool(
        probabilities=[0.4, 0.6],
        classes=["<b>ham</b>", "'\"spam"],
        ids=np.array(['<i id="a">', "b&amp;\"'"], dtype=object),
        fields={'<u onclick="x">': np.array([evil, evil], dtype=object), "n": [1, 2]},
    )
    with Study.create(tmp_path / "evil.db", pool, budget=2) as hostile:
        page = visit("<script>eve</script>", of=hostile, question="<s>?</s>", guide="<a href=//evil>")
        text = page.get("/").text
        for tag in ("<script>", "<img src=x", "<b>", "<u ", "<i id", "<s>", "<a href=//"):
            assert tag not in text
        assert "{{ 7*7 }}" in text
        assert label(page, "'\"spam") in ('<i id="a">', "b&amp;\"'")
        refused = page.post("/answer", data={"item": "<script>", "label": "<script>"})
        assert "<script>" not in refused.text
        beside = page.post("/answer", data={"item": "<script>", "label": "<script>"}, headers=BY_HTMX)
        assert "<script>" not in beside.text
        assert hostile.status.labelled == 1


@pytest.fixture
def numbers(tmp_path):
    pool = sondage.Pool(means=np.arange(20.0), variances=np.ones(20), fields={"size": np.arange(20)})
    with Study.create(tmp_path / "numbers.db", pool, "mse", budget=5) as made:
        yield made


def test_numbers(visit, numbers):
    page = visit(of=numbers)
    form = fields(page.get("/").text)
    for wrong in ("", "seven", "nan", "1e999", "1_000", "0x10", "1,5"):
        assert page.post("/answer", data=form | {"label": wrong}).status_code == 422
    label(page, " 7.25 ")
    (row,) = numbers.history()
    assert row["label"] == 7.25
    label(page, "\N{MINUS SIGN}2.5")
    assert numbers.history()[-1]["label"] == -2.5
    page.post("/undo", data={"request": "r-2"})
    page.post("/undo", data={"request": "r"})
    assert 'value="7.25"' in page.get("/?undone").text


@pytest.fixture
def systems(tmp_path):
    """Two systems, whose answers are right or wrong each by itself."""
    fields = {name: [f"{name} {row}" for row in range(20)] for name in ("q", "a.text", "b.text")}
    models = {name: sondage.Outcome(judge=np.full(20, 0.6)) for name in ("a", "b")}
    pool = sondage.Pool(models=models, fields=fields)
    with Study.create(tmp_path / "systems.db", pool, "mean_outcome", budget=6, select=True) as made:
        yield made


def test_each_system_gets_a_grade(visit, systems):
    page = visit(of=systems)
    text = page.get("/").text
    assert text.index("Answer A") < text.index("Answer B")
    form = fields(text)
    assert page.post("/answer", data=form).status_code == 422
    assert page.post("/answer", data=form | {"row:a": "2", "row:b": "1"}).status_code == 422
    assert page.post("/answer", data=form | {"row:a": "0_1", "row:b": "1"}).status_code == 422
    assert page.post("/answer", data=form | {"row:c": "1"}).status_code == 422
    assert page.post("/answer", data=form | {"row:a": "1", "row:b": "0"}).status_code == 303
    assert systems.history()[0]["label"] == [1.0, 0.0]
    page.post("/undo", data={"request": "r"})
    again = page.get("/?undone").text
    assert {name for name, value in re.findall(r'name="row:(.)" value="(.)"[^>]* checked', again)} == {"a", "b"}


@pytest.mark.parametrize(("name", "grades"), [("bot", [0, 1]), ("b t/1", [0, 0.5, 1]), ("a", [1, 2, 3, 4, 5])])
def test_one_system_is_graded_by_one_button(visit, tmp_path, name, grades):
    told = {"prompt": ["1 + 1?"] * 4, f"{name}.answer": ["two"] * 4, f"{name}.prompt": ["long"] * 4}
    pool = sondage.Pool(models={name: sondage.Outcome(grades=grades)}, ids=range(4), fields=told)
    with Study.create(tmp_path / "one.db", pool, "mean_outcome", budget=4) as one:
        page = visit(of=one)
        text = page.get("/").text
        assert "How good is the answer?" in text
        assert not re.search("Answer A|data-row|system ", text)
        assert re.findall(r'<th scope="row">(.*?)</th>', text) == ["prompt", "answer", f"{name}.prompt"]
        assert "to another row" not in page.get("/help").text
        (field,) = set(re.findall(r'<button name="(row:.*?)"', text))
        assert re.findall(r'<button name="row:.*?" value="(.*?)"', text) == [f"{grade:g}" for grade in grades]
        assert page.post("/answer", data=fields(text) | {field: "7"}).status_code == 422
        assert page.post("/answer", data=fields(text)).status_code == 422
        assert page.post("/answer", data=fields(text) | {field: f"{grades[-1]:g}"}).status_code == 303
        assert one.history()[0]["label"] == [grades[-1]]
        page.post("/undo", data={"request": "r"})
        assert f'value="{grades[-1]:g}" data-key' in page.get("/?undone").text.partition(' aria-description="your')[0]


def test_questions_and_guides_are_read_from_their_own_side(visit, numbers):
    page = visit(of=numbers, question="\u05de\u05d4?", guide="\u05db\u05da")
    assert '<label for="label" dir="auto">\u05de\u05d4?' in page.get("/").text
    assert '<div class="text" dir="auto">\u05db\u05da' in page.get("/help").text


def test_indentation_is_kept(visit, tmp_path):
    pool = sondage.Pool(probabilities=[0.5], fields={"code": ["\n    if x:\n        y  =  1\n"], "n": [1]})
    with Study.create(tmp_path / "code.db", pool, budget=1) as code:
        assert '<div class="text" dir="auto">    if x:\n        y  =  1</div>' in visit(of=code).get("/").text


def test_what_has_nothing_to_show_is_named(visit, tmp_path):
    pool = sondage.Pool(probabilities=[0.4, 0.6], ids=np.array(["m-1", "m-2"], dtype=object))
    with Study.create(tmp_path / "bare.db", pool, budget=2, raters=2) as bare:
        page = visit(of=bare)
        row = f'<tr><th scope="row">id</th><td dir="auto">{fields(page.get("/").text)["item"]}</td></tr>'
        assert row in page.get("/").text
        label(page, "0")
        label(visit("berta", of=bare), "1")
        assert row in visit("olga", OWNER, of=bare).get("/estimate").text
    pool = sondage.Pool(models={name: sondage.Outcome(judge=np.full(5, 0.6)) for name in ("ours", "theirs")})
    with Study.create(tmp_path / "systems.db", pool, "mean_outcome", budget=2, select=True) as bare:
        text = visit(of=bare).get("/").text
        shown = re.findall(r'dir="auto">system (\w+)</div>.*?name="row:(\w+)"', text, re.DOTALL)
        assert sorted(shown) == [("ours", "ours"), ("theirs", "theirs")]


def test_systems_are_not_named_and_change_places(visit, systems):
    page, orders = visit(of=systems), set()
    for _ in range(6):
        text = page.get("/").text
        orders.add(tuple(re.findall(r'<div class="text" dir="auto">([ab])\.text', text)))
        page.post("/answer", data=fields(text) | {"row:a": "1", "row:b": "0"})
    assert orders == {("a", "b"), ("b", "a")}


def test_grades_of_systems_that_are_not_asked_about_may_be_left_out(visit, systems, tmp_path):
    page = visit(of=systems)
    form = fields(page.get("/").text) | {"row:a": "1"}
    assert page.post("/answer", data=form).status_code == 422
    assert "give a grade to every answer that the study asks about" in page.post("/answer", data=form).text
    pool = sondage.Pool(models={name: sondage.Outcome() for name in "cab"}, ids=["x", "y"])
    with Study.create(tmp_path / "one.db", pool, "mean_outcome", budget=1, model="a") as one:
        page = visit(of=one)
        text = page.get("/").text
        assert [name.endswith("(may be left out)") for name in re.findall("data-row><legend>(.*?)</legend>", text)] == [
            False,
            True,
            True,
        ]
        assert re.findall(r'name="row:(.)"', text)[0] == "a"
        assert re.findall(r'name="row:(.)" value="1"[^>]* required', text) == ["a"]
        page.post("/answer", data=fields(text) | {"row:a": "1"})
        third, first, second = one.history()[0]["label"]
    assert first == 1.0
    assert np.isnan([second, third]).all()


def test_many_classes_are_typed(visit, tmp_path):
    shares = np.random.default_rng(0).dirichlet(np.ones(60), size=100)
    pool = sondage.Pool(probabilities=shares, classes=[f"topic {number}" for number in range(60)])
    with Study.create(tmp_path / "topics.db", pool, budget=5) as topics:
        page = visit(of=topics)
        assert page.get("/").text.count("<option value=") == 60 + 3
        assert "<dd>topic" not in page.get("/help").text  # keys are typed into the field
        label(page, "topic 41")
        assert topics.history()[0]["label"] == "topic 41"


def test_an_item_that_has_another_answer_says_whose(visit, study):
    anna, berta = visit("anna"), visit("berta")
    form = fields(anna.get("/").text)
    anna.post("/answer", data=form | {"label": "ham"})
    own = "You have answered this item already. That answer stays, this one was not taken: undo to change it."
    assert own in anna.post("/answer", data=form | {"label": "spam"}).text  # the answer to the first was lost
    assert own in anna.post("/answer", data=form | {"label": "spam", "request": "second tab"}).text
    told = berta.post("/answer", data=form | {"who": "berta", "label": "spam", "request": "late"})
    assert told.status_code == 422
    assert "Somebody else has answered this item already. That answer stays, yours was not taken." in told.text
    assert [row["label"] for row in study.history()] == ["ham"]
    anna.post("/undo", data={"request": "undo"})
    told = "You took the answer back that this page sent. Reload it, and answer again."
    assert told in anna.post("/answer", data=form | {"label": "spam"}).text


@pytest.mark.parametrize("cost", [2.5, 1])
def test_costs_are_counted_in_their_unit(visit, tmp_path, cost):
    pool = sondage.Pool(probabilities=np.linspace(0.1, 0.9, 50), costs=np.full(50, cost))
    with Study.create(tmp_path / "costs.db", pool, budget=25) as costly:
        page = visit(of=costly)
        for done in range(3):
            assert f"{done} labelled, cost {done * cost:g} of 25" in page.get("/").text
            label(page, "1")


@pytest.mark.parametrize("overlap", [1, 0.5])
def test_labels_of_labels_wanted_are_counted_where_several_people_label_an_item(visit, pool, tmp_path, overlap):
    """Nobody is told whether the others agree."""
    with Study.create(tmp_path / "two.db", pool, budget=10, raters=2, overlap=overlap) as shared:
        told = []
        for who, value in (("anna", "spam"), ("berta", "ham")):
            page = visit(who, of=shared)
            while 'action="/answer"' in (text := page.get("/").text):
                told.append(text)
                label(page, value)
            told.append(text)
        counted = [re.search(r">(\d+) of (about )?(\d+) labels given<", text).groups() for text in told]
        given = [int(done) for done, _, _ in counted]
        assert given == sorted(given)
        assert given[-1] == int(counted[-1][-1]) == sum(one.labelled for one in shared.progress().values())
        assert {about for _, about, _ in counted} == ({None} if overlap == 1 else {"about ", None})
        if overlap == 1:
            assert {wanted for *_, wanted in counted} == {"20"}
        assert shared.status.disputed > 2
        assert "Everything is labelled" in told[-1]
        assert not any("disagree" in text or "disputed" in text for text in told)
        assert f"{shared.status.disputed} disputed" in visit("olga", OWNER, of=shared).get("/estimate").text


def test_disagreements_are_shown_and_settled(visit, pool, tmp_path):
    with Study.create(tmp_path / "two.db", pool, budget=3, raters=2) as shared:
        anna, berta, owner = visit("anna", of=shared), visit("berta", of=shared), visit("olga", OWNER, of=shared)
        item = label(anna, "spam")
        assert label(berta, "ham") == item
        text = owner.get("/estimate").text
        assert "To settle" in text
        form = fields(text, "/resolve")
        assert (form["who"], form["item"]) == ("olga", item)
        for _ in range(2):  # a double click
            settled = owner.post("/resolve", data=form | {"label": "spam"})
            assert settled.headers["location"] == "/estimate"
        assert "To settle" not in owner.get("/estimate").text
        assert shared.status.labelled == 1
        assert [row["kind"] for row in shared.history(item)] == ["label", "label", "resolution"]


@pytest.mark.parametrize("news", ["settled", "agreed", "skipped"])
def test_who_settles_what_has_changed_since_is_asked(visit, pool, tmp_path, news):
    with Study.create(tmp_path / "two.db", pool, budget=3, raters=2) as shared:
        owners = olga, otto = visit("olga", OWNER, of=shared), visit("otto", OWNER, of=shared)
        item = shared.ask(1)[0]
        shared.tell([item], ["spam"], who="anna")
        shared.tell([item], ["ham"], who="berta")
        ours, theirs = (fields(owner.get("/estimate").text, "/resolve") for owner in owners)
        if news == "settled":
            assert olga.post("/resolve", data=ours | {"label": "ham"}).status_code == 303
            said = "Since this page was shown olga settled this item as ham. "
        elif news == "agreed":
            shared.tell([item], ["spam"], who="berta", correct=True)
            said = "Since this page was shown berta said spam of this item. "
        else:
            shared.undo("berta")
            shared.skip(item, "berta", "torn")
            said = "Since this page was shown berta skipped this item. "
        before = shared.history()
        refused = otto.post("/resolve", data=theirs | {"label": "spam"})
        assert refused.status_code == 422
        assert said + "Send your label again to settle it all the same." in refused.text
        assert shared.history() == before
        assert otto.post("/resolve", data=fields(refused.text, "/resolve") | {"label": "spam"}).status_code == 303
        assert [row["kind"] for row in shared.history(item)][-1] == "resolution"
        assert shared.labels()[item] == "spam"


def test_a_page_that_has_settled_an_item_says_so(visit, pool, tmp_path):
    with Study.create(tmp_path / "two.db", pool, budget=3, raters=2) as shared:
        olga, item = visit("olga", OWNER, of=shared), shared.ask(1)[0]
        shared.tell([item], ["spam"], who="anna")
        shared.tell([item], ["ham"], who="berta")
        form = fields(olga.get("/estimate").text, "/resolve")
        assert olga.post("/resolve", data=form | {"label": "ham"}).status_code == 303
        other = olga.post("/resolve", data=form | {"label": "spam"})
        assert other.status_code == 422
        assert "You have settled this item already, and this page sent another label then." in other.text
        assert shared.labels()[item] == "ham"


def test_disagreements_about_systems_name_them(visit, tmp_path):
    pool = sondage.Pool(models={"a": sondage.Outcome(), "b": sondage.Outcome()}, ids=["x", "y", "z"])
    with Study.create(tmp_path / "two.db", pool, "accuracy", compare=("a", "b"), budget=3, raters=2) as shared:
        name = shared.ask(1)[0]
        for who, outcome in (("anna", 1), ("berta", 0)):
            shared.tell([name], [{"a": outcome, "b": 1}], who=who)
        text = visit("olga", OWNER, of=shared).get("/estimate").text
        assert "<td>a: 1, b: 1</td>" in text
        assert "<td>a: 0, b: 1</td>" in text
        assert f"Settle item <code>{name}</code> with <code>sondage resolve</code>" in text


def test_owner_sees_the_course_and_what_is_to_come(visit, study):
    owner = visit(token=OWNER)
    assert "No labels yet" in owner.get("/estimate").text
    study.tell(study.ask(12), ["spam", "ham"] * 6, who="anna")
    text = owner.get("/estimate").text
    assert "after all 30 labels" in text
    assert '<polyline class="line"' in text
    assert "anna" in text
    assert "<html" not in owner.get("/estimate", headers=BY_HTMX).text


@pytest.mark.parametrize("kind", ["compare", "select", "several"])
def test_owner_sees_every_kind_of_answer(visit, tmp_path, kind):
    random = np.random.default_rng(5)
    models = {name: sondage.Classifier(random.random(200)) for name in ("a", "b", "c")}
    asked = {"compare": {"compare": ("a", "b")}, "select": {"select": True}, "several": {"model": "a"}}[kind]
    measure = ["error_rate", "f1"] if kind == "several" else "error_rate"
    with Study.create(tmp_path / f"{kind}.db", sondage.Pool(models=models), measure, budget=40, **asked) as made:
        made.tell(ids := made.ask(30), [int(number) % 2 for number in ids])
        assert "Estimate so far" in visit(token=OWNER, of=made).get("/estimate").text
