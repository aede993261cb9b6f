"""Places for studies: a file, and a database of its own on a PostgreSQL server."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import NoReturn
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

LOCAL = "postgresql://sondage:sondage@127.0.0.1:5432/postgres"
"""The server that is looked for where SONDAGE_POSTGRES names none; its user must be allowed to make databases."""


@cache
def server() -> tuple[str, str]:
    """Return the URL of a server, or an empty text and the reason why there is none."""
    url = os.environ.get("SONDAGE_POSTGRES", LOCAL)
    try:
        run(url, "SELECT 1")
    except (SQLAlchemyError, ModuleNotFoundError) as error:
        shown = make_url(url).render_as_string(hide_password=True)
        return "", f"no PostgreSQL at {shown} (SONDAGE_POSTGRES names another): {str(error).splitlines()[0]}"
    return url, ""


def run(url: str, statement: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


@pytest.fixture
def database(absent: Callable[[str, str], NoReturn]) -> Iterator[str]:
    """The URL of a new PostgreSQL database; without a server a skip, or a failure if SONDAGE_REQUIRE names it."""
    url, reason = server()
    if not url:
        absent("postgres", reason)
    name = f"sondage_test_{uuid4().hex[:12]}"
    run(url, f"CREATE DATABASE {name}")
    yield make_url(url).set(database=name).render_as_string(hide_password=False)
    # not WITH (FORCE), which is refused while an autovacuum worker is there; the plain form ends such a worker itself
    mine = f"datname = '{name}' AND usename = current_user"
    run(url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")
    run(url, f"DROP DATABASE {name}")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path) -> str:
    """Where to make a study: each test that takes this runs on both."""
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("database")
