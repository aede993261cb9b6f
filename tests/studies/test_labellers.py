"""Labellers at one study, each a process, some killed: nothing acknowledged is lost, nothing is done twice."""

import importlib.util
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "labellers.py"


@pytest.fixture
def labellers(monkeypatch):
    spec = importlib.util.spec_from_file_location("labellers", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "labellers", module)
    spec.loader.exec_module(module)
    return module


def test_processes_that_are_killed_lose_nothing(labellers, place):
    found = labellers.run(place, items=60, labellers=3, kills=1)
    assert found.errors == ()
    assert (found.labels, found.kills) == (60, 1)
    assert (found.lost, found.twice, found.shared, found.unlabelled) == (0, 0, 0, 0)
    assert 59 <= found.acknowledged <= 60


@pytest.mark.slow
def test_four_processes_killed_eight_times_lose_nothing(labellers, place):
    found = labellers.run(place, items=2000, labellers=4, kills=8)
    assert found.sound, found
