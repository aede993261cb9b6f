"""The commands of benchmarks/: what they cannot do is told in one line."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sklearn")
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Return a function that gives a script by its name, with options that it is to be started with."""
    monkeypatch.syspath_prepend(BENCHMARKS)

    def named(name: str, *options: str) -> ModuleType:
        monkeypatch.setattr(sys, "argv", [name, *options])
        return importlib.import_module(name)

    return named


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("problems", ["nosuch"], "no problem 'nosuch'; there are abt-buy/f1, "),
        ("unseen", ["--problem", "nosuch*"], "no problem is like 'nosuch*'; there are enron-"),
        ("unseen_pairs", ["--table", "--problem", "nosuch"], "no problem is like 'nosuch'; there are enron-"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(script, name, options, told):
    module = script(name, *options)
    with pytest.raises(SystemExit) as refused:
        module.main()
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("helpers", ["--problem", "abalone-gp/mse"], "invalid choice: 'abalone-gp/mse'"),
        ("losses", ["--seeds", "0"], "'0' is not a whole number above 0"),
        ("plan", ["draw", "--rows", "500"], "rows 500: more than 2,000, since so many are drawn"),
    ],
)
def test_options_that_cannot_be_are_refused(script, capsys, name, options, told):
    module = script(name, *options)
    with pytest.raises(SystemExit, match="2"):
        module.main()
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("read", ["enron", "reuters", "digits"])
def test_data_that_are_not_there_are_named_in_one_line(script, monkeypatch, tmp_path, read):
    monkeypatch.setenv("SONDAGE_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"^no data in .*\.npz: set SONDAGE_DATA \(docs/experiments\.md names"):
        getattr(script("data"), read)()


def test_no_ratio_to_a_scan_that_was_too_short_to_measure(script):
    times = script("scale").times
    assert [times("0.3", "0.1"), times("", "0.1"), times("0.3", "0.0")] == ["3.0 x", "", ""]
