"""Pictures: only those below the named folder, or the named address of this machine."""

import numpy as np
import pytest

import sondage
from sondage.errors import InputError
from sondage.studies.study import Study
from sondage.web.images import Address, Folder, named_images

from .conftest import TOKEN

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000000000500010d0a2db40000000049454e44ae426082"
)


@pytest.fixture
def folder(tmp_path):
    """Pictures in a folder, and things outside of it that a hostile item would like to see."""
    root = tmp_path / "pictures"
    (root / "inner").mkdir(parents=True)
    for name in ("a b%.png", "x#1.png", "why?.png"):
        (root / name).write_bytes(PNG)
    (root / "inner" / "c.JPG").write_bytes(PNG)
    (root / "inside.png").symlink_to(root / "a b%.png")
    (root / "page.html").write_text("<script>1</script>")
    (root / "drawing.svg").write_text("<svg/>")
    (root / "folder.png").mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "pictures-too").mkdir()
    (tmp_path / "pictures-too" / "x.png").write_bytes(PNG)
    (root / "out.png").symlink_to(tmp_path / "secret.png")
    (root / "away").symlink_to(tmp_path)
    (root / "round.png").symlink_to(root / "round.png")
    return root


@pytest.mark.parametrize(
    "name", ["a b%.png", "x#1.png", "why?.png", "inner/c.JPG", "inside.png", "inner/../inside.png", "./inside.png"]
)
def test_pictures_of_the_folder_are_shown(visit, folder, name):
    link = Folder(folder).link(name)
    answer = visit(images=str(folder)).get(link)
    assert answer.status_code == 200
    assert answer.content == PNG
    assert answer.headers["content-type"] in ("image/png", "image/jpeg")
    assert answer.headers["x-content-type-options"] == "nosniff"


OUTSIDE = [
    "../secret.png",
    "inner/../../secret.png",
    "../pictures-too/x.png",
    "/etc/passwd.png",
    "out.png",
    "away/secret.png",
    "..\\secret.png",
    "file:///secret.png",
    "http://evil.example/x.png",
    "//evil.example/x.png",
    "x\0.png",
    "folder.png",
    "missing.png",
    "round.png",
    "x" * 300 + ".png",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_else_is(visit, folder, name):
    pictures = Folder(folder)
    with pytest.raises(InputError, match="picture"):
        pictures.find(name)
    page = visit(images=str(folder))
    for path in (name, name.replace("..", "%2e%2e").replace("/", "%2f"), name.replace("\0", "%00")):
        assert page.get(f"/image/{path}".replace("\0", "%00")).status_code == 404


@pytest.mark.parametrize("name", ["page.html", "drawing.svg", "inner", ""])
def test_only_pictures_are_sent(visit, folder, name):
    assert visit(images=str(folder)).get(f"/image/{name}").status_code == 404


def test_absolute_paths_into_the_folder_are_refused_too(folder):
    with pytest.raises(InputError, match="not a path below"):
        Folder(folder).find(str(folder / "inside.png"))


def test_pictures_need_a_cookie(visit, folder):
    assert visit(token="", images=str(folder)).get("/image/inside.png").status_code == 401


def test_an_item_shows_its_pictures_and_why_not(visit, folder, tmp_path):
    names = np.array(["inside.png", "../secret.png"], dtype=object)
    pool = sondage.Pool(probabilities=[0.5, 0.5], fields={"image": names, "other": ["a b%.png", "no picture"]})
    with Study.create(tmp_path / "pictures.db", pool, budget=2) as study:
        page = visit(of=study, images=str(folder))
        found = []
        for _ in range(2):
            text = page.get("/").text
            found.append(text)
            study.tell([study.claim("anna")[0].id], [1], who="anna")
        good, bad = sorted(found, key=lambda text: "leads out" in text)
        assert '<img src="/image/inside.png" alt="image: inside.png">' in good
        assert '<img src="/image/a%20b%25.png"' in good
        assert "<img" not in bad
        assert "Picture not shown: image: &#39;../secret.png&#39; leads out of the folder of pictures" in bad
        plain = visit("berta", of=study)
        assert "<img" not in plain.get("/").text


def test_words_about_a_picture_are_text(folder):
    assert Folder(folder).link("see photo.jpg") is None
    with pytest.raises(InputError, match=r"there is no picture 'photo\.jpg'"):
        Folder(folder).link("photo.jpg")


@pytest.mark.parametrize("text", ["http://[broken", "//[TODO] check", "//\u2100.png"])
def test_text_that_is_no_address_is_text(visit, folder, tmp_path, text):
    pool = sondage.Pool(probabilities=[0.5, 0.5], fields={"text": [text, text]})
    with Study.create(tmp_path / "texts.db", pool, budget=2) as study:
        assert f">{text}<" in visit(of=study, images=str(folder)).get("/").text
    assert Address("http://127.0.0.1:9000/p").link(text) is None


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("a.png", "http://127.0.0.1:9000/p/a.png"),
        ("http://127.0.0.1:9000/p/in/a b.png", "http://127.0.0.1:9000/p/in/a%20b.png"),
        ("a.png?size=2", "http://127.0.0.1:9000/p/a.png?size=2"),
        ("words about a.png file", None),
        ("text", None),
    ],
)
def test_pictures_of_an_address_of_this_machine(name, link):
    assert Address("http://127.0.0.1:9000/p").link(name) == link


@pytest.mark.parametrize(
    "name",
    [
        "http://127.0.0.1:9000/other/a.png",
        "http://evil.example/a.png",
        "//evil.example/a.png",
        "/a.png",
        "../a.png",
        "%2e%2e/a.png",
        "%252e%252e/a.png",
        "in\\..\\a.png",
    ],
)
def test_not_of_others(name):
    with pytest.raises(InputError, match="is not below"):
        Address("http://127.0.0.1:9000/p/").link(name)


@pytest.mark.parametrize(
    "place",
    [
        "http://evil.example/",
        "ftp://127.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://127.0.0.1/;script-src *",
        "http://localhost/ 'unsafe-inline'",
        "http://[bad",
        "http://127.0.0.1:many/",
        "http://127.0.0.1/\u0161",
        "http://127.0.0.1/\r\nx",
        "missing-folder",
    ],
)
def test_places_that_are_refused(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--images"):
        named_images(place)


def test_the_policy_allows_the_named_address_only(visit):
    headers = visit(images="http://127.0.0.1:9000/p").get("/").headers
    assert "img-src 'self' http://127.0.0.1:9000/p/;" in headers["content-security-policy"]


def test_a_token_is_no_path(visit, folder):
    assert TOKEN not in visit(images=str(folder)).get("/").text
