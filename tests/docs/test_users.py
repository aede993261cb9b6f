"""Every program of docs/users runs and says what it found."""

import re
import runpy
from pathlib import Path

import pytest

USERS = Path(__file__).resolve().parents[2] / "docs" / "users"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("monthly_quality", r"F1 0\.\d{3}, 95 % interval 0\.\d{3} to 0\.\d{3}"),
        ("champion_challenger", r"Release the challenger\."),
        ("judged_systems", r"Best: retrieval; significantly better than"),
        ("graded_answers", r"with the judge's scores of all  right 0\.\d{3} \(95 %: 0\.\d{3} to 0\.\d{3}\)"),
        ("labels_from_a_queue", r"Recall: 0\.\d{3}, 95 % interval"),
        ("search_team", r"Release the new ranking\."),
    ],
)
def test_program_prints_a_sentence(program, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(USERS / f"{program}.py"), run_name="__main__")
    assert re.search(sentence, capsys.readouterr().out)


def test_every_program_is_tested():
    programs = {path.stem for path in USERS.glob("*.py")}
    assert programs == {
        "monthly_quality",
        "champion_challenger",
        "judged_systems",
        "graded_answers",
        "labels_from_a_queue",
        "search_team",
    }
