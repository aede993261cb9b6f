"""The database is wrong, gone, full or locked: one clear line, and nothing that was acknowledged is lost."""

import sqlite3
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import event, make_url, text

from sondage import Pool, Study
from sondage.cli import main
from sondage.errors import StudyError, WaitingWarning
from sondage.studies.ledger import Ledger


def pool():
    return Pool(np.random.default_rng(5).random(60), ids=np.arange(60))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nosuch://host/name", r"database nosuch://...: a study is kept in a file or in PostgreSQL"),
        ("sqlite+pysqlite://user:secret@/none", r"a study is kept in a file or in PostgreSQL"),
        ("postgresql://user:secret@host:port/name", r"the URL cannot be read; it must be like postgresql://"),
    ],
)
def test_a_url_that_cannot_be(url, message):
    with pytest.raises(StudyError, match=message) as caught:
        Study.open(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"port": 1}, "refused"),
        ({"password": "wrong"}, "password authentication failed for user"),
        ({"database": "nosuch"}, 'database "nosuch" does not exist'),
        ({"host": "nosuch.invalid"}, "resolve host"),
        ({}, "holds no study"),
    ],
)
def test_a_database_that_is_not_there(change, message, database):
    url = make_url(database).set(**change).render_as_string(hide_password=False)
    with pytest.raises(StudyError, match=message) as caught:
        Study.open(url)
    assert "\n" not in str(caught.value)
    for secret in ("wrong", make_url(database).password):
        assert f":{secret}@" not in str(caught.value)


def test_a_file_that_is_gone_is_not_made_anew(tmp_path):
    path = tmp_path / "study.db"
    study = Study.create(path, pool(), budget=10)
    ids = study.ask(2)
    path.unlink()
    with pytest.raises(StudyError, match="there is no study"):
        study.tell(ids, [0, 1])
    with pytest.raises(StudyError, match="there is no study"):
        study.claim("anna")
    assert not path.exists()


def terminate(database):
    """End all connections to a database, as a server that restarts does."""
    from sqlalchemy import create_engine

    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://", 1))
    with engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    engine.dispose()


def test_a_server_that_comes_back_is_found_again(database):
    study = Study.create(database, pool(), budget=10)
    ids = study.ask(2)
    terminate(database)
    assert study.tell(ids, [0, 1]) == 2


def test_a_server_that_goes_within_a_write_leaves_nothing_of_it(database, monkeypatch):
    study = Study.create(database, pool(), budget=10)
    ids = study.ask(3)
    study.tell(ids[:1], [0], request="first")
    told = Ledger.add_labels

    def told_and_gone(self, rows):
        numbers = told(self, rows)
        terminate(database)
        return numbers

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add_labels", told_and_gone)
        with pytest.raises(StudyError, match=r"terminating connection|server closed the connection") as caught:
            study.tell(ids[1:], [1, 1], request="second")
        assert "\n" not in str(caught.value)
    assert study.status.labelled == 1
    assert study.tell(ids[1:], [1, 1], request="second") == 2
    assert study.status.labelled == 3


def test_a_full_disk_takes_nothing(tmp_path):
    study = Study.create(tmp_path / "study.db", pool(), budget=40, stages=1)
    ids = study.ask()
    study.tell(ids[:1], [0])

    def fill(connection, _):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(study._store._engine, "connect", fill)
    with pytest.raises(StudyError, match="the disk is full; nothing was written"):
        study.tell(ids[1:], [1] * 39, reason="a reason of some length " * 100)
    event.remove(study._store._engine, "connect", fill)
    assert study.status.labelled == 1
    assert study.tell(ids[1:], [1] * 39) == 39


def test_a_study_that_cannot_be_written_can_be_read(tmp_path, monkeypatch):
    """As the system sees a file on a medium that is read-only; for root every file is writable."""
    path = tmp_path / "study.db"
    with Study.create(path, pool(), budget=10) as study:
        ids = study.ask(2)
        study.tell(ids, [0, 1])
    monkeypatch.setattr("sondage.studies.store.os.access", lambda *_: False)
    with Study.open(path) as study:
        assert (study.status.labelled, study.status.asked) == (2, 2)
        assert np.isfinite(study.estimate().value)
        with pytest.raises(StudyError, match="it cannot be written: file or folder is read-only"):
            study.ask(1)
    assert [file.name for file in tmp_path.iterdir()] == ["study.db"]


def test_a_place_where_no_file_can_be_made_is_refused(tmp_path):
    """As a folder without the right to write, which root always has: a link that leads nowhere."""
    (tmp_path / "study.db").symlink_to(tmp_path / "none" / "study.db")
    with pytest.raises(StudyError, match=r"study.db: it cannot be opened; file and folder must be .* writable$"):
        Study.create(tmp_path / "study.db", pool(), budget=5)


def test_a_damaged_file_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "study.db"
    Study.create(path, pool(), budget=10).close()
    content = bytearray(path.read_bytes())
    content[4096 : len(content) // 2] = b"\x7f" * (len(content) // 2 - 4096)
    path.write_bytes(content)
    with pytest.raises(StudyError, match=r"study\.db: .*(malformed|corrupt|not a study file)"):
        Study.open(path)


def test_another_program_that_holds_the_file_is_named_as_the_reason(tmp_path, monkeypatch):
    from sondage.studies import store

    monkeypatch.setattr(store, "PATIENCE", 10)
    monkeypatch.setattr(store, "WAIT", 50)
    study = Study.create(tmp_path / "study.db", pool(), budget=10)
    blocker = sqlite3.connect(study.place, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(StudyError, match="another program holds it; nothing was written"),
        pytest.warns(WaitingWarning, match=r"study\.db is held by another program; waiting"),
    ):
        study.ask(1)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert len(study.ask(1)) == 1


def test_that_another_program_holds_the_file_is_said_while_it_does(tmp_path, monkeypatch):
    from sondage.studies import store

    monkeypatch.setattr(store, "PATIENCE", 10)
    study = Study.create(tmp_path / "study.db", pool(), budget=10)
    blocker = sqlite3.connect(study.place, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")

    def let_go(line, **_):
        assert "is held by another program; waiting for it" in line
        blocker.execute("ROLLBACK")

    monkeypatch.setattr(sys.modules["sondage.cli.main"], "print_line", let_go)
    result = CliRunner().invoke(main, ["ask", study.place, "2"])
    blocker.close()
    assert (result.exit_code, len(study.labels()), study.status.pending) == (0, 0, 2)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE draws SET fields = substr(fields, 1, 1)",
        "UPDATE stages SET known = cast(zeroblob(length(known)) AS TEXT)",
        "UPDATE stages SET seed = 'null'",
        "UPDATE draws SET stage = 7",
        "UPDATE draws SET cost = 'x'",
        "UPDATE labels SET label = '{'",
        "UPDATE study SET models = '['",
        "UPDATE study SET schema = 0",
        "UPDATE asks SET id = id || 'x'",
        "DELETE FROM rows",
        "DELETE FROM stages",
        "DELETE FROM study",
        "DROP TABLE draws",
        "ALTER TABLE draws DROP COLUMN size",
    ],
)
def test_damaged_rows_are_told_in_a_line(damage, tmp_path):
    path = labelled_study(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    connection.close()
    require_told(path)


def test_damaged_bytes_are_told_in_a_line(tmp_path):
    path = labelled_study(tmp_path)
    whole = path.read_bytes()
    pages = len(whole) // 4096
    zeroed = [whole[: 4096 * page] + bytes(4096) + whole[4096 * (page + 1) :] for page in range(pages)]
    named = whole.index(b"CREATE TABLE study")
    for content in (whole[:-1], whole[:4096], zeroed[0], whole[:named] + b"\xff" + whole[named + 1 :]):
        path.write_bytes(content)
        require_told(path)
    for content in zeroed:  # some are of indices, which reading does not need
        path.write_bytes(content)
        try:
            with Study.open(path) as study:
                study.estimate()
        except StudyError as error:
            assert str(error).startswith(f"{path}: it is ")  # noqa: PT017
        assert path.read_bytes() == content


def labelled_study(folder):
    """Make a study with labels, at rest, and return its path."""
    path = folder / "study.db"
    with Study.create(path, pool(), budget=10) as study:
        ids = study.ask(10)
        study.tell(ids, [i % 2 for i in ids])
    return path


def require_told(path):
    """Make sure that a damaged study is refused, and stays as it is."""
    before = path.read_bytes()
    with pytest.raises(StudyError) as caught:
        Study.open(path)
    assert str(caught.value).startswith(f"{path}: it is ")
    for command in ("estimate", "ask", "export", "team", "report", "audit"):
        found = CliRunner().invoke(main, [command, str(path)])
        assert (found.exit_code, found.output.count("\n")) == (1, 1), found.output
        assert f"{path}: it is " in found.output
    assert path.read_bytes() == before
