"""The page in a real browser."""

import re
import time
from pathlib import Path
from string import ascii_letters

import numpy as np
import pytest

import sondage
from sondage.studies.study import Study

from .conftest import OWNER

WATCH = """
window.pressed = [];
document.addEventListener("keydown", (event) => {
  const item = document.querySelector("#answer [name=item]");
  if (item && !document.body.dataset.sending) window.pressed.push([item.value, event.key]);
}, true);
"""


def item(page):
    return page.get_attribute("#answer [name=item]", "value")


def press(page, key):
    """Press a key and wait for the next item."""
    before = item(page)
    page.keyboard.press(key)
    page.wait_for_function("before => document.querySelector('#answer [name=item]')?.value !== before", arg=before)
    return before


def centre(part):
    box = part.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def seen(part):
    """Return whether a part's centre is what one sees, and its top and bottom are on the screen."""
    box, at = part.bounding_box(), centre(part)
    inside = box["y"] >= 0 and box["y"] + box["height"] <= part.page.viewport_size["height"]
    return inside and part.evaluate("(part, at) => part.contains(document.elementFromPoint(...at))", list(at))


def test_keys_every_15_ms_lose_nothing(serve, browse, study):
    page = serve(study).sign_in(browse())
    page.evaluate(WATCH)
    due = time.perf_counter()
    for number in range(60):
        page.keyboard.press("1" if number % 3 else "2")
        due += 0.015
        page.wait_for_timeout(max(0, 1000 * (due - time.perf_counter())))
    page.wait_for_function("() => !document.body.dataset.sending")
    pressed = [tuple(one) for one in page.evaluate("window.pressed")]
    told = [(row["id"], {"ham": "1", "spam": "2"}[row["label"]]) for row in study.history()]
    assert told == pressed  # each key that found an item is that item's label, in order, and there are no others
    assert len(told) >= 5
    labelled = study.status.labelled
    assert labelled == len(told)
    assert f"{labelled} of 30 labelled" in page.inner_text(".progress")


def test_a_held_key_answers_once(serve, browse, study):
    page = serve(study).sign_in(browse())
    before = item(page)
    for _ in range(5):
        page.keyboard.down("1")  # from the second on these are repeats
    page.wait_for_function("before => document.querySelector('#answer [name=item]').value !== before", arg=before)
    page.wait_for_timeout(200)
    page.keyboard.up("1")
    assert study.status.labelled == 1


def test_a_double_click_answers_once(serve, browse, study):
    page = serve(study).sign_in(browse())
    before = item(page)
    page.mouse.click(*centre(page.locator(".classes button").first))
    page.wait_for_function("before => document.querySelector('#answer [name=item]').value !== before", arg=before)
    page.evaluate("() => { performance.now = () => came + 300; }")  # however long this machine takes
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    page.wait_for_timeout(300)
    assert study.status.labelled == 1
    page.evaluate("() => { performance.now = () => came + 500; }")  # by now one has seen the item
    page.mouse.down(click_count=3)
    page.mouse.up(click_count=3)
    page.wait_for_selector("text=2 of 30 labelled")


def test_trouble_is_in_sight_wherever_one_reads(serve, browse, tmp_path):
    pool = sondage.Pool(probabilities=[0.4, 0.6], fields={"text": ["word " * 9999] * 2})
    with Study.create(tmp_path / "long.db", pool, budget=2) as long:
        page = serve(long).sign_in(browse())
        page.evaluate("scrollTo(0, 3000)")
        page.route("**/answer", lambda route: route.abort())
        page.keyboard.press("1")
        page.wait_for_function("() => document.getElementById('message').textContent.includes('does not answer')")
        assert seen(page.locator("#message"))


def test_a_page_that_looks_again_says_so_until_it_has(serve, browse, study):
    study.claim("anna", 30)
    page = serve(study).sign_in(browse(), "berta")
    page.route("**/?who=*", lambda route: route.abort())
    page.wait_for_function("() => document.getElementById('message').textContent.includes('does not answer')")
    assert page.inner_text("#message").endswith("looks again by itself.")
    assert "Your answer" not in page.inner_text("#message")
    page.unroute("**/?who=*")
    page.wait_for_function("() => document.getElementById('message').textContent === ''")
    assert "Other labellers" in page.inner_text("main")


@pytest.mark.filterwarnings("ignore:.* the present order goes on")  # what serves has the study alone
def test_two_browsers_at_once(serve, browse, study):
    served = serve(study)
    pages = {who: served.sign_in(browse(), who) for who in ("anna", "berta")}
    done = {who: [] for who in pages}
    for number in range(20):
        who = ("anna", "berta")[number % 2]
        done[who].append(press(pages[who], "12"[number % 2]))
    assert set(done["anna"]).isdisjoint(done["berta"])
    assert {(row["id"], row["who"], row["label"]) for row in study.history()} == {
        (name, who, label) for who, label in (("anna", "ham"), ("berta", "spam")) for name in done[who]
    }


def test_reload_and_back(serve, browse, study):
    page = serve(study).sign_in(browse())
    first = press(page, "1")
    second = item(page)
    page.reload()
    assert item(page) == second
    page.keyboard.press("u")
    page.wait_for_selector("[aria-description]")
    assert item(page) == first
    assert page.get_attribute("[aria-description]", "value") == "ham"


def test_server_killed_and_restarted(command, browse, study):
    served = command(study)
    page = served.sign_in(browse())
    done = [press(page, "1"), press(page, "2")]
    served.stop()
    here = item(page)
    page.keyboard.press("1")
    page.wait_for_function("() => document.getElementById('message').textContent.includes('does not answer')")
    assert item(page) == here
    assert study.status.labelled == 2
    served.start()
    assert press(page, "2") == here
    assert [(row["id"], row["label"]) for row in study.history()] == [
        (done[0], "ham"),
        (done[1], "spam"),
        (here, "spam"),
    ]
    assert page.inner_text("#message") == ""


def test_hostile_text_does_nothing(serve, browse, tmp_path):
    evil = "<script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\"></main>"
    evil += "<form action='http://evil.example'><meta http-equiv=refresh content='0;url=http://evil.example'>"
    texts = np.array([f"{evil} {number}" for number in range(40)], dtype=object)
    pool = sondage.Pool(
        probabilities=np.linspace(0.05, 0.95, 40), classes=["<i>ham", '"spam'], fields={evil: texts, "n": texts}
    )
    with Study.create(tmp_path / "evil.db", pool, budget=5) as hostile:
        page = serve(hostile, question=evil).sign_in(browse(), "<script>eve")
        assert evil in page.inner_text("#item").replace("\n", "")
        press(page, "2")
        assert "hit" not in page.title()
        assert page.locator("main form[action^=http], main script, main meta, main img").count() == 0
        assert hostile.history()[0]["label"] == '"spam'


def test_text_from_right_to_left(serve, browse, tmp_path):
    name, classes = "\u05d0\u05d1\u05d2 17 (?)", ["\u05db\u05df!", "\u05dc\u05d0!"]
    fields = {"name": np.array([name] * 3, dtype=object), "note": np.array(["short"] * 3, dtype=object)}
    pool = sondage.Pool(probabilities=[0.3, 0.5, 0.7], classes=classes, fields=fields)
    with Study.create(tmp_path / "hebrew.db", pool, budget=2) as study:
        page = serve(study).sign_in(browse())
        ends = """text => { // where the first and the last character of a text stand
            const all = document.createTreeWalker(document.querySelector("#main"), NodeFilter.SHOW_TEXT);
            while (all.nextNode()) if (all.currentNode.data.trim() === text) break;
            return [0, text.length - 1].map(at => {
                const range = document.createRange();
                range.setStart(all.currentNode, all.currentNode.data.indexOf(text) + at);
                range.setEnd(all.currentNode, all.currentNode.data.indexOf(text) + at + 1);
                return range.getBoundingClientRect().x;
            });
        }"""
        for text in (name, *classes):
            first, last = page.evaluate(ends, text)
            assert first > last
        first, last = page.evaluate(ends, "short")
        assert first < last


@pytest.mark.parametrize("javascript", [True, False])
def test_ids_of_any_characters(serve, browse, tmp_path, javascript):
    ids = ["a\nb", "a\r\nb", "a\rb", "a\0", ' a%0A+&"<é', "a%250Ab"]
    pool = sondage.Pool(probabilities=np.linspace(0.2, 0.8, 6), ids=np.array(ids, dtype=object))
    with Study.create(tmp_path / "odd.db", pool, budget=6) as odd:
        page = serve(odd).sign_in(browse(java_script_enabled=javascript))
        for done in range(1, 7):
            page.click(".classes button")
            page.wait_for_selector(f"text={done} of 6 labelled")
        assert {row["id"] for row in odd.history()} == set(ids)


def test_documents_of_any_characters(serve, browse, tmp_path):
    queries, documents = np.repeat(["a\nb", "c\rd"], 2), np.array(["x\ny", "x\r\ny"] * 2, dtype=object)
    ranks = {name: sondage.Ranking(ranks=np.array(order * 2)) for name, order in (("a", [1, 2]), ("b", [2, 1]))}
    pool = sondage.Pool(
        models=ranks, queries=queries, documents=documents, grades=np.full((4, 2), 0.5), fields={"n": np.arange(4)}
    )
    with Study.create(tmp_path / "queries.db", pool, "dcg@1", budget=1, compare=("a", "b")) as odd:
        page = serve(odd).sign_in(browse())
        for key in ("0", "1", "Enter"):
            page.keyboard.press(key)
        page.wait_for_selector("text=Everything is labelled")
        assert sorted(odd.history()[0]["label"].values()) == [0, 1]


def test_without_javascript(serve, browse, study):
    page = serve(study).sign_in(browse(java_script_enabled=False))
    first = item(page)
    page.click("text=spam")
    second = item(page)
    assert second != first
    page.click("summary")
    page.fill("#reason", "unreadable")
    page.click(".skip button")
    page.click("text=Undo")
    assert item(page) == second
    page.click("text=ham")
    page.click("text=Help")
    assert "skip, with a reason" in page.inner_text("main")
    page.click("text=Back to the item")
    labels = [(row["id"], row["label"], row["kind"]) for row in study.history()]
    assert labels == [
        (first, "spam", "label"),
        (second, None, "label"),
        (second, None, "undo"),
        (second, "ham", "label"),
    ]


def test_help_and_skip_by_key(serve, browse, study):
    page = serve(study).sign_in(browse())
    here = item(page)
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("1")  # not an answer while the help is open
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    page.keyboard.press("s")
    page.keyboard.type("1 cannot be told")  # keys are text in a field
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    assert page.input_value("#reason") == "1 cannot be told"
    page.keyboard.press("Enter")
    page.wait_for_function("before => document.querySelector('#answer [name=item]').value !== before", arg=here)
    (row,) = study.history()
    assert (row["id"], row["label"], row["reason"]) == (here, None, "1 cannot be told")


@pytest.mark.parametrize("by", ["tap", "key", "tap without JavaScript"])
@pytest.mark.parametrize("classes", [12, 30])
def test_the_reason_for_a_skip_is_in_sight_on_a_telephone(serve, browse, tmp_path, classes, by):
    shares = np.random.default_rng(0).dirichlet(np.ones(classes), size=40)
    names = [f"{letter} class" for letter in ascii_letters[:classes]]
    pool = sondage.Pool(
        probabilities=shares, classes=names, fields={"text": [f"word {row} " * 99 for row in range(40)]}
    )
    with Study.create(tmp_path / "many.db", pool, budget=5) as many:
        page = serve(many).sign_in(browse(360, java_script_enabled="without" not in by))
        page.set_viewport_size({"width": 360, "height": 640})
        if by == "key":
            page.keyboard.press("s")
        else:
            page.mouse.click(*centre(page.locator("summary")))
        for part in ("#reason", ".skip label", ".skip button"):
            assert seen(page.locator(part)), part
        if "without" not in by:
            page.keyboard.type("torn")
            assert page.input_value("#reason") == "torn"


def test_numbers_by_key(serve, browse, tmp_path):
    pool = sondage.Pool(means=np.arange(30.0), variances=np.ones(30), fields={"size": np.arange(30)})
    with Study.create(tmp_path / "numbers.db", pool, "mse", budget=10) as numbers:
        page = serve(numbers).sign_in(browse())
        field, bar = (page.locator(which).bounding_box() for which in ("#label", ".bar"))
        assert field["x"] - bar["x"] >= 4  # the ring of the focus, which the bar would cut off
        page.keyboard.type("even")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('message').textContent.includes('not a finite number')")
        page.fill("#label", "")
        page.keyboard.type("7.5")
        press(page, "Enter")
        assert page.evaluate("document.activeElement.id") == "label"
        assert [row["label"] for row in numbers.history()] == [7.5]


def test_grades_by_key(serve, browse, tmp_path):
    models = {name: sondage.Outcome(judge=np.full(30, 0.6)) for name in ("a", "b", "c")}
    pool = sondage.Pool(models=models, fields={"a.text": [f"a{row}" for row in range(30)]})
    with Study.create(tmp_path / "systems.db", pool, "mean_outcome", budget=5, select=True) as systems:
        page = serve(systems).sign_in(browse())
        for key in ("1", "0", "1", "ArrowUp", "1"):  # the last one mends the second
            page.keyboard.press(key)
        press(page, "Enter")
        assert systems.history()[0]["label"] == [1.0, 1.0, 1.0]


def test_the_grade_of_one_system_takes_one_key(serve, browse, tmp_path):
    pool = sondage.Pool(models={"bot": sondage.Outcome(grades=[1, 2, 3])}, fields={"answer": ["a"] * 20}, ids=range(20))
    with Study.create(tmp_path / "bot.db", pool, "mean_outcome", budget=3) as bot:
        page = serve(bot).sign_in(browse())
        for key in "31u2":
            press(page, key)
        assert [row["label"] for row in bot.history() if row["kind"] == "label"] == [[3.0], [1.0], [2.0]]


def test_a_digit_is_the_class_that_it_names(serve, browse, tmp_path):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    pool = sondage.Pool(probabilities=shares, classes=[-1, 0, 1], fields={"n": np.arange(20)})
    with Study.create(tmp_path / "signs.db", pool, budget=4) as signs:
        page = serve(signs).sign_in(browse())
        assert page.inner_text(".classes").split() == ["a", "-1", "0", "0", "1", "1"]
        for key in "1a0A":  # the last one with Caps Lock
            press(page, key)
        assert [row["label"] for row in signs.history()] == [1, -1, 0, -1]


def test_a_letter_is_never_a_class_that_differs_by_case(serve, browse, tmp_path):
    pool = sondage.Pool(probabilities=[0.4, 0.6], classes=["a", "A"], fields={"n": [1, 2]})
    with Study.create(tmp_path / "cases.db", pool, budget=2) as cases:
        page = serve(cases).sign_in(browse())
        page.keyboard.press("A")
        page.wait_for_timeout(200)
        press(page, "1")
        assert [row["label"] for row in cases.history()] == ["A"]


def test_the_row_that_has_the_focus_is_in_sight(serve, browse, tmp_path):
    models = {name: sondage.Outcome(judge=np.full(30, 0.6)) for name in "abcdefghij"}
    pool = sondage.Pool(models=models, fields={"a.text": [f"a{row}" for row in range(30)]})
    with Study.create(tmp_path / "systems.db", pool, "mean_outcome", budget=5, select=True) as systems:
        page = serve(systems).sign_in(browse(640))
        page.set_viewport_size({"width": 640, "height": 400})
        for _ in range(9):
            page.keyboard.press("1")
            assert seen(page.locator("label:has(:focus)"))


def test_owner_sees_new_labels_come_in(serve, browse, study):
    served = serve(study)
    study.tell(study.ask(3), ["ham", "spam", "ham"])
    owner = served.sign_in(browse(), "olga", OWNER)
    assert "(3 labels)" in owner.inner_text("main")
    study.tell(study.ask(1), ["ham"])
    owner.wait_for_function("() => document.querySelector('main').innerText.includes('(4 labels)')")


def test_the_chart_can_be_read_on_a_telephone(serve, browse, study):
    for name in study.ask(12):
        study.tell([name], ["ham"])
    served = serve(study)
    page = served.sign_in(browse(360), "olga", OWNER)
    page.goto(served.address + "/estimate")
    assert page.locator(".chart text").first.bounding_box()["height"] >= 9


def test_large_numbers_beside_the_chart_are_not_cut_off(serve, browse, tmp_path):
    means = np.linspace(2e5, 5e5, 60)
    pool = sondage.Pool(means=means, variances=np.full(60, 1e9))
    with Study.create(tmp_path / "houses.db", pool, "mse", budget=30) as houses:
        for name in houses.ask(12):
            houses.tell([name], [means[name] + (-1) ** name * 9e4])
        served = serve(houses)
        page = served.sign_in(browse(360), "olga", OWNER)
        page.goto(served.address + "/estimate")
        numbers = [one.bounding_box() for one in page.locator(".chart text[text-anchor=end]").all()]
        assert len(page.locator(".chart text").first.text_content()) >= 10
        assert min(box["x"] for box in numbers) >= 0


def test_the_answer_is_in_sight_on_a_screen_enlarged_four_times(serve, browse, study):
    page = serve(study).sign_in(browse(320))
    page.set_viewport_size({"width": 320, "height": 256})
    button = page.locator(".classes button").first
    button.focus()
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 256
    assert page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('.classes button') !== null", centre(button)
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(serve, browse, tmp_path, width):
    long = np.array(["word" * 100, "x " * 3000] * 20, dtype=object)
    shares = np.random.default_rng(0).dirichlet(np.ones(12), size=40)
    pool = sondage.Pool(
        probabilities=shares, classes=["class " * 5 + str(k) for k in range(12)], fields={"w" * 60: long, "text": long}
    )
    with Study.create(tmp_path / "wide.db", pool, budget=5) as wide:
        served = serve(wide)
        page = served.sign_in(browse(width), "n" * 80, OWNER)
        for path in ("/", "/help", "/estimate"):
            page.goto(served.address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(served.address)
        button = page.locator(".classes button").first.bounding_box()
        assert button["y"] + button["height"] <= 800  # in sight, however long the text


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_enough():
    """WCAG 2.2, 1.4.3 and 1.4.11: 4.5 for text, 3 for the edges of fields."""
    style = (Path(sondage.__file__).parent / "web" / "static" / "page.css").read_text()
    palettes = [dict(re.findall(r"--([\w-]+): (#\w{6});", part)) for part in re.split(r"@media", style)[:2]]
    for palette in palettes:
        shades = {name: luminance(colour) for name, colour in palette.items()}
        pairs = [(ink, on, 4.5) for ink in ("ink", "soft", "accent") for on in ("paper", "sheet", "tint")]
        pairs += [("on-accent", "accent", 4.5), ("warn", "warn-tint", 4.5), ("warn", "sheet", 4.5)]
        pairs += [("field", "sheet", 3)]
        for ink, on, least in pairs:
            low, high = sorted((shades[ink], shades[on]))
            assert (high + 0.05) / (low + 0.05) >= least, (ink, on)
