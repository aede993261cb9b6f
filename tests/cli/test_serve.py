"""`sondage serve` from its command line."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

import sondage
from sondage.cli import main
from sondage.errors import SondageWarning


@pytest.fixture
def study(tmp_path):
    pool = sondage.Pool(probabilities=[0.1, 0.9, 0.4, 0.7], fields={"text": ["a", "b", "c", "d"]})
    with sondage.Study.create(tmp_path / "study.db", pool, budget=4) as made:
        yield made


def refused(*options):
    answer = CliRunner().invoke(main, ["serve", *map(str, options)])
    assert answer.exit_code == 1
    assert answer.output.count("\n") == 1
    return answer.output


def test_what_cannot_be_served_is_said_in_a_line(study, tmp_path, monkeypatch):
    assert "there is no study" in refused(tmp_path / "missing.db", "--port", 0)
    assert "is not a folder" in refused(study.place, "--port", 0, "--images", tmp_path / "missing")
    assert "not an address of this machine" in refused(study.place, "--port", 0, "--images", "http://evil.example/")
    (guide := tmp_path / "guide.txt").write_text("Prüfe", encoding="latin-1")
    assert f"--guide {guide}: the file is not UTF-8" in refused(study.place, "--port", 0, "--guide", guide)
    for token, why in (("short", "at least 16"), ("t" * 16 + " ", "spaces"), ("t" * 16 + "\udcff", "nobody can type")):
        monkeypatch.setenv("SONDAGE_TOKEN", token)
        assert why in refused(study.place, "--port", 0)


def test_tokens_of_ones_own_are_in_the_links(study, monkeypatch):
    own = {"SONDAGE_TOKEN": "correct+horse battery&staple#%41/?é", "SONDAGE_OWNER_TOKEN": "owner=owner;owner%2B"}
    for name, token in own.items():
        monkeypatch.setenv(name, token)
    monkeypatch.setattr("sondage.cli.serve._run", lambda app, listening: None)
    printed = CliRunner().invoke(main, ["serve", study.place, "--port", "0", "--owner"]).output
    links = re.findall(r"http://\S+", printed)
    assert [parse_qs(urlsplit(link).query) for link in links] == [{"token": [token]} for token in own.values()]
    assert not any(urlsplit(link).fragment for link in links)


def test_what_the_reader_must_know_is_printed_once_and_at_once(study, monkeypatch, capsys):
    said = []

    def page(app, listening):
        capsys.readouterr()
        for _ in range(2):
            warnings.warn("the pool is gone", SondageWarning, stacklevel=1)
            said.append(capsys.readouterr().err)

    monkeypatch.setattr("sondage.cli.serve._run", page)
    main(["serve", study.place, "--port", "0"], standalone_mode=False)
    assert [*said, capsys.readouterr().err] == ["note: the pool is gone\n", "", ""]


def test_a_port_in_use_is_said(study):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"port {port} cannot be used" in refused(study.place, "--port", port)


def environment():
    """Return what a page needs of the environment to run from these sources."""
    folders = os.pathsep.join(path for path in sys.path if path)
    return {name: value for name, value in os.environ.items() if "TOKEN" not in name} | {"PYTHONPATH": folders}


def test_links_are_printed_once_and_work(study, tmp_path):
    guide = tmp_path / "guide.txt"
    guide.write_text("Label what you see.", encoding="utf-8")
    command = [sys.executable, "-m", "sondage", "serve", study.place, "--port", "0", "--owner", "--guide", str(guide)]
    with subprocess.Popen(command, env=environment(), stdout=-1, stderr=-1, text=True) as page:
        printed = [page.stdout.readline() for _ in range(3)]
        label, owner = (re.search(r"http://127\.0\.0\.1:\d+/sign-in\?token=(\S{32})\n", line) for line in printed[:2])
        assert label[1] != owner[1]
        for link in (label[0], owner[0]):
            with urllib.request.urlopen(link.strip()) as answer:
                assert "Your name" in answer.read().decode()
        page.send_signal(signal.SIGINT)
        rest, errors = page.communicate(timeout=20)
    assert page.returncode == 0
    assert "Stopped." in rest
    assert label[1] not in rest + errors
    assert errors == ""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_page_that_is_ended_leaves_the_study_as_one_file(name, study):
    study.close()
    command = [sys.executable, "-m", "sondage", "serve", study.place, "--port", "0"]
    sent = getattr(signal, name)
    heeded = partial(signal.signal, sent, signal.SIG_DFL)  # these tests may themselves run under nohup
    with (
        subprocess.Popen(command, env=environment(), stdout=-1, stderr=-1, text=True, preexec_fn=heeded) as page,
        ExitStack() as after,
    ):
        after.callback(page.kill)
        link = page.stdout.readline().split()[-1]
        with urllib.request.urlopen(link) as answer:
            assert "Your name" in answer.read().decode()
        page.send_signal(sent)
        rest, errors = page.communicate(timeout=20)
    assert (page.returncode, rest.splitlines()[-1], errors) == (0, "Stopped.", "")
    assert os.listdir(Path(study.place).parent) == ["study.db"]


def test_it_listens_on_this_machine_only():
    from sondage.cli.serve import _listen

    with _listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_the_wheel_has_what_the_page_needs():
    folder = Path(sondage.__file__).parent / "web"
    assert (folder / "static" / "htmx-LICENSE.txt").is_file()
    assert {path.suffix for path in (folder / "static").iterdir()} == {".css", ".js", ".svg", ".txt"}
    assert (folder / "templates" / "base.html").is_file()
