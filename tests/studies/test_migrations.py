"""A study of an earlier release becomes one of this release: all of it, or nothing."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

from sondage import Study
from sondage.errors import StudyError
from sondage.studies import tables
from sondage.studies.migrations import upgrade
from sondage.studies.store import Store

RELEASE = Path(__file__).parent / "release-0.1.0.db"


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    path.write_bytes(RELEASE.read_bytes())
    return path


def content(path):
    connection = sqlite3.connect(path)
    dump = list(connection.iterdump())
    connection.close()
    return dump


def test_a_file_of_the_first_release_is_upgraded(old):
    expected = json.loads(RELEASE.with_suffix(".json").read_text())
    with Study.open(old) as study:
        assert study.facts["schema"] == tables.SCHEMA == 2
        assert study.estimate().value == pytest.approx(expected["estimate"]["value"], rel=1e-12)
        assert (study.status.labelled, study.status.pending, study.status.wanted) == (40, 5, 5)
        kinds = [event["kind"] for event in study.audit()]
        assert [kinds.count(kind) for kind in ("created", "asked", "labelled", "upgraded")] == [1, 45, 40, 1]
        assert [claim.id for claim in study.claim("anna", 3)] == expected["next"]
        assert study.progress()["release"].labelled == 40
    before = content(old)
    Study.open(old).close()
    assert content(old) == before


def test_a_database_of_the_first_release_is_upgraded(database):
    """The tables of release 0.1 on PostgreSQL, with the rows of the file."""
    source = sqlite3.connect(RELEASE)
    store = Store(database)
    with store.writing() as records:
        revision(records._connection, "0001")
        for name in ("study", "stages", "draws", "rows", "asks", "labels"):
            found = source.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in found.description]
            query = text(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join(f':{c}' for c in columns)})")
            records._connection.execute(query, [dict(zip(columns, row, strict=True)) for row in found])
        records._connection.execute(text("DROP TABLE alembic_version"))
    source.close()
    expected = json.loads(RELEASE.with_suffix(".json").read_text())
    with Study.open(database) as study:
        assert study.facts["schema"] == 2
        assert study.estimate().value == pytest.approx(expected["estimate"]["value"], rel=1e-12)


def revision(connection, wanted):
    """Make the tables of a schema by the revisions alone."""
    from alembic import command
    from alembic.config import Config

    settings = Config()
    settings.set_main_option("script_location", "sondage.studies:migrations")
    settings.set_main_option("path_separator", "os")
    settings.attributes["connection"] = connection
    command.upgrade(settings, wanted)


@pytest.mark.parametrize("which", ["new", "revisions", "upgraded"])
def test_all_ways_lead_to_the_same_tables(which, place, old):
    if which == "upgraded":
        Study.open(old).close()
        place = str(old)
    store = Store(place)
    if which != "upgraded":
        store.use_log()
        with store.writing() as records:
            records.make_tables() if which == "new" else revision(records._connection, "head")
    with store.reading() as records:
        context = MigrationContext.configure(records._connection, opts={"compare_server_default": True})
        assert compare_metadata(context, tables.metadata) == []
        assert context.get_current_revision() == f"{tables.SCHEMA:04}"


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(old):
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE events (mine TEXT)")
    connection.commit()
    connection.close()
    before = content(old)
    with pytest.raises(StudyError, match="table events already exists"):
        Study.open(old)
    assert content(old) == before


OPENER = """
import sys, warnings
from sondage import Study
from sondage.errors import WaitingWarning
warnings.simplefilter("ignore", WaitingWarning)  # how long each waits for the others is the machine's affair
print("here", flush=True)
with Study.open(sys.argv[1]) as study:
    print(len(study.audit()))
"""


def test_several_open_an_old_file_at_once(old):
    command = [sys.executable, "-c", OPENER, str(old)]
    holder = sqlite3.connect(old, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # nobody can upgrade the file before all are at it
    found = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.stdout.readline() for process in found] == ["here\n"] * 3
    holder.close()
    assert [process.communicate() for process in found] == [("87\n", "")] * 3


def test_the_revisions_alone_need_no_study():
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        revision(connection, "0001")
        upgrade(connection)
        assert MigrationContext.configure(connection).get_current_revision() == "0002"
    engine.dispose()
