"""What estimate, compare and select have in common: open, ask for the answer, print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sondage.cli.printing import print_json, print_lines
from sondage.cli.spelling import as_argument
from sondage.core.display import to_data
from sondage.errors import StudyError

if TYPE_CHECKING:
    from sondage import Study

__all__ = ["at_least", "next_step", "print_answer", "print_result"]


def _verb(kind: str) -> str:
    """Return the command that answers a question of this kind."""
    return "estimate" if kind == "evaluate" else kind


def at_least(study: Study, count: int) -> str:
    """Return a number of items left: with costs it is not known how many a stage has before it is planned."""
    session = study.snapshot()
    return f"at least {count:,}" if session.costs is not None and session.has_next_stage else f"{count:,}"


def next_step(study: Study, place: str) -> str:
    """Return what is left of a study to do, and the command for it."""
    status, name = study.status, as_argument(place)
    answer = f"sondage {_verb(study.question.kind)} {name}"
    if status.complete and not status.labelled:
        return "All was skipped, so that nothing can be estimated; labels that are imported replace skips."
    if status.complete:
        return f"All is labelled. Next: {answer}"
    left = status.pending - status.disputed + status.remaining
    if left:
        told = f"{at_least(study, left).capitalize()} to go. Next: sondage ask {name} N"
    elif status.wanted:
        labels = f"{status.wanted} more label{'' if status.wanted == 1 else 's'}"
        told = f"{labels} wanted, of other people. Next: sondage ask {name} --who NAME"
    else:
        told = f"{status.disputed} to resolve. Next: sondage disagreements {name}"
    return f"{told}, or what is known so far: {answer}"


def print_answer(place: str, kind: str, level: float, as_json: bool, *, sequence: bool = False) -> None:
    """Print the answer of a study, if it asks a question of this kind; and what holds at any time, if asked for."""
    from sondage import Study

    with Study.open(place) as study:
        if study.question.kind != kind:
            own, name = _verb(study.question.kind), study.name
            raise StudyError(f"{name} is a study to {own}, not to {_verb(kind)}: sondage {own} {as_argument(name)}")
        result = study.estimate()
    print_result(result, level, as_json, sequence=sequence)


def print_result(result: Any, level: float, as_json: bool, *, sequence: bool = False) -> None:
    """Print an answer; and what holds at any time, if asked for."""
    from sondage.reports.anytime import anytime_data, anytime_lines
    from sondage.reports.text import describe

    if as_json:
        print_json(to_data(result, level) | (anytime_data(result, level) if sequence else {}))
    else:
        print_lines([*describe(result, level), *(anytime_lines(result, level) if sequence else [])])
