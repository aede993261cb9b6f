import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import settings
from scipy import stats

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run, and no failure because a machine is slow.
settings.register_profile("sondage", derandomize=True, deadline=None)
settings.load_profile("sondage")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data; without it the test is skipped."""
    folder = Path(os.environ.get("SONDAGE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not a folder (set SONDAGE_DATA)")
    return folder


@pytest.fixture(scope="session")
def absent() -> Callable[[str, str], NoReturn]:
    """Skip for lack of a program; fail where SONDAGE_REQUIRE names it among others, as .ci/run does."""

    def leave_out(program: str, reason: str) -> NoReturn:
        required = program in os.environ.get("SONDAGE_REQUIRE", "").split()
        (pytest.fail if required else pytest.skip)(reason)

    return leave_out


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20130513)


@pytest.fixture(scope="session")
def agrees() -> Callable[[int, int, float], bool]:
    """Whether hits of runs are compatible with a probability: an exact test that a right rate fails in 1 of 1000."""
    return lambda hits, runs, probability: bool(stats.binomtest(hits, runs, probability).pvalue > 1e-3)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a text to a file, with the ends of lines that it has, and gives the path."""

    def write(text: str, name: str = "file.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write
