"""The commands of benchmarks/: runs that were stopped go on, and what they cannot do is told in one line."""

import csv
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sklearn")
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAME = "abt-buy/f1"
ROW = "0.5,0.4,0.6,100,wald,0.1,c0de,"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Return a function that gives a script by its name, with options that it is to be started with."""
    monkeypatch.syspath_prepend(BENCHMARKS)

    def named(name: str, *options: str) -> ModuleType:
        monkeypatch.setattr(sys, "argv", [name, *options])
        return importlib.import_module(name)

    return named


@pytest.fixture
def rows(script: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of one problem's runs by two methods, with three rows; and an empty summary beside it."""
    monkeypatch.setattr(script("summary"), "RESULTS", tmp_path)
    monkeypatch.setattr(script("summary"), "SUMMARY", tmp_path / "summary.csv")
    path = tmp_path / "abt-buy--f1.csv"
    lines = [",".join(script("labels").COLUMNS), f"0,100,default,{ROW}1", f"0,100,lure,{ROW}", f"1,100,lure,{ROW}"]
    path.write_text("".join(f"{line}\r\n" for line in lines), newline="")
    return path


DONE = {(0, 100, "default"), (0, 100, "lure"), (1, 100, "lure")}


@pytest.mark.parametrize("cut", [1, 2, 5, 12, 25])
def test_a_row_that_a_stopped_run_left_unfinished_is_computed_again(script, rows, cut):
    before = rows.read_bytes()
    rows.write_bytes(before + f"2,100,lure,{ROW}\r\n".encode()[:-cut])
    assert len(script("summary").rows_of(NAME)) == 3
    assert script("labels")._done(NAME, set()) == DONE
    assert rows.read_bytes() == before


def test_a_file_without_a_head_gets_one(script, rows):
    labels = script("labels")
    rows.write_bytes(b"")
    assert labels._done(NAME, set()) == set()
    labels._append(rows, [[0, 100, "lure", *ROW.split(",")]])
    assert labels._done(NAME, set()) == {(0, 100, "lure")}


def test_methods_to_be_computed_again_leave_the_file(script, rows):
    assert script("labels")._done(NAME, {"lure"}) == {(0, 100, "default")}
    with rows.open(newline="") as file:
        assert [row["method"] for row in csv.DictReader(file)] == ["default"]


def test_a_stop_while_rows_are_removed_loses_none(script, rows, monkeypatch):
    def stopped(path: Path, rows: object) -> int:
        path.write_text("")
        raise KeyboardInterrupt

    labels, before = script("labels"), rows.read_bytes()
    monkeypatch.setattr(labels, "_append", stopped)
    with pytest.raises(KeyboardInterrupt):
        labels._done(NAME, {"lure"})
    assert rows.read_bytes() == before


@pytest.mark.parametrize(("seeds", "left"), [(1, []), (2, []), (1000, [(NAME, 100, "lure")])])
def test_no_line_of_the_summary_is_replaced_by_one_of_fewer_seeds(script, rows, monkeypatch, seeds, left):
    summary, problem = script("summary"), script("problems").Problem(NAME, {}, [], "f1", 1, 0.5)
    monkeypatch.setattr(summary, "load", {NAME: problem}.__getitem__)
    line = [NAME, 100, "lure", 0.5, seeds, *[0.25] * (len(summary.FIELDS) - 2)]
    summary.SUMMARY.write_text(f"problem,budget,method,{','.join(summary.FIELDS)}\n{','.join(map(str, line))}\n")
    assert summary.write_summary([NAME]) == left
    with summary.SUMMARY.open(newline="") as file:
        written = {row["method"]: (row["seeds"], row["mae"]) for row in csv.DictReader(file)}
    assert written == {"default": ("1", "0"), "lure": ("1000", "0.25") if left else ("2", "0")}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("labels", ["--methods", "passive,defualt"], "no method 'defualt'; there are default, thesis, passive, lure, "),
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
        ("labels", ["--budgets", "100,a"], "'100,a' is not whole numbers above 0, separated by commas"),
        ("helpers", ["--problem", "abalone-gp/mse"], "invalid choice: 'abalone-gp/mse'"),
        ("losses", ["--seeds", "0"], "'0' is not a whole number above 0"),
        ("labels", ["--seeds", "0"], "'0' is not a whole number above 0"),
        ("raters", ["--runs", "0.5"], "'0.5' is not a whole number above 0"),
        ("selection", ["--budget", "1e2"], "'1e2' is not a whole number above 0"),
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


def test_other_packages_stand_beside_the_default_of_the_most_seeds(script, monkeypatch):
    peers = script("unseen_peers")
    cells = [
        {"problem": NAME, "method": method, "budget": "100", "seeds": seeds, "error": error, "deviation": "0.1"}
        for method, seeds, error in (("ppi", "200", "0.2"), ("default", "200", "0.1"), ("default", "5", "0.4"))
    ]
    kept = script("cells").Cells("unseen", peers.KEYS, (), Path("nowhere"))
    kept.rows = dict(enumerate(cells[1:]))
    monkeypatch.setattr(peers, "Cells", lambda *_: kept)
    assert "| ppi | 100 | 1 | 0.50 | 1 | 0 |" in peers.tables([cells[0] | {"covered": "0.95"}])


def test_no_ratio_to_a_scan_that_was_too_short_to_measure(script):
    times = script("scale").times
    assert [times("0.3", "0.1"), times("", "0.1"), times("0.3", "0.0")] == ["3.0 x", "", ""]
