"""What estimate, compare and select have in common: open, ask for the answer, print."""

from __future__ import annotations

import shlex
from typing import Any

from sondage.cli.printing import print_json, print_lines
from sondage.errors import StudyError

__all__ = ["print_answer", "print_result", "verb_of"]


def verb_of(kind: str) -> str:
    """Return the command that answers a question of this kind."""
    return "estimate" if kind == "evaluate" else kind


def print_answer(place: str, kind: str, level: float, as_json: bool, *, sequence: bool = False) -> None:
    """Print the answer of a study, if it asks a question of this kind; and what holds at any time, if asked for."""
    from sondage import Study

    with Study.open(place) as study:
        if study.question.kind != kind:
            command = f"sondage {verb_of(study.question.kind)} {shlex.quote(study.name)}"
            raise StudyError(f"{study.name} asks another question: {command}")
        result = study.estimate()
    print_result(result, level, as_json, sequence=sequence)


def print_result(result: Any, level: float, as_json: bool, *, sequence: bool = False) -> None:
    """Print an answer; and what holds at any time, if asked for."""
    from sondage.reports.anytime import anytime_data, anytime_lines
    from sondage.reports.data import result_data
    from sondage.reports.text import describe

    if as_json:
        print_json(result_data(result, level) | (anytime_data(result, level) if sequence else {}))
    else:
        print_lines([*describe(result, level), *(anytime_lines(result, level) if sequence else [])])
