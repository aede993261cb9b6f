"""The sentences of a report: the question, how items were chosen, what numbers mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sondage.core.catalogue.designs import DESIGNS, design_names
from sondage.core.checks import first_of
from sondage.core.diagnostics import believed_before
from sondage.core.reliability import Reliability
from sondage.core.results import Estimate
from sondage.reports.text import named_measure, quantity, rounded, unit_of
from sondage.studies.method import Method, Question
from sondage.studies.session import Session
from sondage.studies.start import begun_with, left_out

__all__ = [
    "believed_sentence",
    "chosen_sentences",
    "enumerated",
    "label_words",
    "percent",
    "question_sentence",
    "rough_count",
    "uniform_sentence",
    "value_words",
    "weights_sentence",
]

_DRAWS = {
    "without_replacement": "at random without replacement, in an order that the seed fixes",
    "successive": "at random one after the other, without replacement",
    "with_replacement": "at random with replacement, so that an item may count more than once",
    "neyman": "at random within groups of equal score, most where answers vary most",
    "strata": "at random within groups of equal score",
}
_DESIGNS = {
    "passive": "every item had the same chance",
    "active_neq": "every item on which the two models differ had the same chance, the others none",
    "disagreement": "items on which the models differ had a higher chance",
    "contenders": "items that tell the models apart that may still be the best had a higher chance",
    "cost_only": "cheap items had a higher chance",
    "active_lambda": "cheap items had a higher chance",
}
_STOPPED = {"width": "when the interval was narrow enough", "significant": "when the difference was significant"}

_BEGUN = "{:,} label{} from {} came first: of items that were drawn with equal chances, and labelled before."
_SAME = "For the same standard error of {} a uniform sample would have needed"


def enumerated(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> enumerated(["a", "b", "c"]), enumerated(["a"])
    ('a, b and c', 'a')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def label_words(label: Any, systems: Sequence[str], first: Sequence[str] = ()) -> str:
    """Return a label as people read it: outcomes with the system that each is of, grades with their documents.

    Outcomes of the systems named by `first` come first.

    Examples
    --------
    >>> label_words((1.0, 0.0), ["small", "large"]), label_words("spam", ["model"])
    ('small: 1, large: 0', 'spam')
    >>> label_words((1.0, 0.0, 0.5), ["a", "b", "c"], first=["c", "b"])
    'c: 0.5, b: 0, a: 1'
    """
    if isinstance(label, Mapping):
        return ", ".join(f"{document}: {grade}" for document, grade in label.items())
    if not isinstance(label, list | tuple):
        return str(label)
    told = [(system, outcome) for system, outcome in zip(systems, label, strict=True) if not math.isnan(outcome)]
    told.sort(key=lambda one: first.index(one[0]) if one[0] in first else len(first))
    return ", ".join(f"{system}: {rounded(outcome, 6)}" for system, outcome in told)


def value_words(value: Any) -> str:
    """Return a setting, or what a pool shows, in one line; of a long list how it begins.

    Examples
    --------
    >>> value_words({"kind": "evaluate", "models": ["a", "b"], "margin": None})
    'kind evaluate; models a, b'
    >>> value_words([f"m{n}" for n in range(300)])[-18:]
    'm19 and 280 others'
    """
    if isinstance(value, Mapping):
        given = {name: part for name, part in value.items() if part is not None and not _is_empty(part)}
        return "; ".join(f"{name} {value_words(part)}" for name, part in given.items())
    if not isinstance(value, list | tuple):
        return f"{value}"
    return first_of(map(str, value))


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | tuple) and not value


def question_sentence(question: Question) -> str:
    """Return the question as one asks it."""
    measure = named_measure(question.measures[0].name)
    if question.kind == "select":
        return f"Which of {len(question.models)} models has the best {measure}?"
    if question.kind == "compare":
        first, second = map(repr, question.models)
        if question.alternative == "two-sided":
            return f"Which has the better {measure}, {first} or {second}?"
        word = "higher" if question.alternative == "greater" else "lower"
        said = ", but for a margin of" if question.margin > 0 else " by more than"
        margin = f"{said} {abs(question.margin):g}" if question.margin else ""
        return f"Is the {measure} of {first} {word} than that of {second}{margin}?"
    names = [named_measure(one.name) for one in question.measures]
    verb = "is" if len(names) == 1 else "are"
    return f"What {verb} the {enumerated(names)} of {question.models[0]!r}?"


def chosen_sentences(session: Session, pool: str, stopped: str | None = None) -> tuple[str, ...]:
    """Return how a session's items were chosen from a pool of so many, and why labelling stopped."""
    method, begun = session.method, begun_with(session.stages)
    further = len(session.asked) > begun or (session.remaining and stopped not in _STOPPED)
    found = [_BEGUN.format(begun, "s" * (begun > 1), pool)] if begun else []
    if further:
        found.append(_drawn(session, pool, stopped))
    if stopped in _STOPPED:
        found.append(
            f"Labelling stopped {_STOPPED[stopped]}, after {session.n_labels:,} labels; what is said holds for all "
            "looks together."
        )
    if method.floor > 0 and further:
        found.append(
            f"{percent(method.floor, 0)} of the draw was spread over all items that can matter, so that no prediction "
            "is trusted blindly."
        )
    if method.staged and further:
        found.append(_stages(session))
    if not len(session.stage.drawn):
        found.append(
            f"After {len(session.asked):,} labels no other one could change the result, so none was asked for."
        )
    if left := left_out(session.stages):
        found.append(f"{percent(left, 1)} of the pool was left out: no label there can change the result.")
    return (*found, _weighed(method))


def _drawn(session: Session, pool: str, stopped: str | None) -> str:
    """Return how many labels, or for what cost, of how many items, drawn how and by which design."""
    method, costs = session.method, session.costs is not None
    labels = len(session.asked) + (0 if stopped in _STOPPED else session.remaining) - begun_with(session.stages)
    paid = f"a cost of {session.spent if stopped in _STOPPED else session.budget:g}" if costs else f"{labels:,} labels"
    if not session.n_labels:
        paid += " to be spent" if costs else " to come"
    measure = named_measure(session.question.measures[0].name)
    name = "disagreement" if method.design == "active_neq" and len(session.question.models) > 2 else method.design
    design = _DESIGNS.get(name, f"items whose label can move the {measure} most had a higher chance")
    weighed = costs and "cheap" not in design and all(DESIGNS[part].heeds_costs for part in design_names(method.design))
    cost = ", cheap ones for their cost" if weighed else ""
    return f"{paid[0].upper()}{paid[1:]} from {pool}, drawn {_DRAWS[method.draw]}: {design}{cost}."


def _stages(session: Session) -> str:
    """Return in how many stages, of which shares of the budget, labels planned the draw."""
    stages = session.method.stages
    shares = enumerated([f"{percent(share, 0)}" for share in stages])
    most, drawn = len(stages), sum(len(stage.drawn) > 0 for stage in session.stages)
    if begun_with(session.stages):
        return "The later ones are chosen in stages, each planned from the labels so far."
    had, so_far = ("has", " so far,") if session.has_next_stage else ("had", "")
    of = "" if drawn == most else f"{so_far} of at most {most}"
    joined = "" if drawn == most else " of the budget, small ones joined"
    return (
        f"The draw {had} {drawn} stage{'s' * (drawn > 1)}{of} ({shares}{joined}), each planned from the labels so far."
    )


def _weighed(method: Method) -> str:
    helped = (
        "; for items that were not labelled the predictions are used, as far as the labels confirm them"
        if method.assisted
        else ""
    )
    return f"Each label is weighted by the inverse of its chance of being drawn, which corrects for the choice{helped}."


def uniform_sentence(labels: float, used: float, total: float, subject: str) -> str:
    """Return what a uniform sample would have needed, in words."""
    if labels >= 0.98 * total:
        return f"{_SAME.format(subject)} nearly the whole pool."
    ratio, need = labels / used, f"{_SAME.format(subject)} about {rough_count(labels)} labels"
    if ratio >= 1.1:
        return f"{need}, {_times(ratio)} the {used:,.0f} that were used."
    if ratio > 0.75:
        return f"{need}, about as many as the {used:,.0f} that were used: choosing did not pay here."
    return f"{need}, fewer than the {used:,.0f} that were used: choosing cost precision here."


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:,.0f} times"


def rough_count(count: float) -> str:
    """Return a count with two digits that mean something."""
    digits = max(0, math.floor(math.log10(max(count, 1.0))) - 1)
    return f"{round(count / 10**digits) * 10**digits:,.0f}"


def weights_sentence(n: int, effective: float, largest: float) -> str:
    """Return what the weights say.

    Examples
    --------
    >>> weights_sentence(30, 30.0, 1 / 30), weights_sentence(30, 29.8, 0.038)
    ('All 30 labels count alike.', 'All 30 labels count nearly alike.')
    """
    if n == 1:
        return "There is one label."
    if effective > 0.99 * n:
        return f"All {n:,} labels count {'alike' if largest * n < 1.01 else 'nearly alike'}."
    return (
        f"{n:,} labels of unequal weight say as much about the whole pool as {effective:,.0f} of equal weight; the "
        f"heaviest has {percent(largest, 1)} of the weight. Items that were preferred weigh little: each stands "
        "for few others."
    )


def believed_sentence(estimate: Estimate, found: Reliability) -> str:
    """Return whether the labels bear out what was believed."""
    before, whole = believed_before(estimate), found.overall
    told = ""
    if math.isfinite(before):
        width, unit = estimate.interval(0.95).width, unit_of(estimate)
        first, now = (quantity(value, estimate.measure, width, unit) for value in (before, estimate.value))
        told = f" Before any label, the predictions gave {first}; with the labels it is {now}."
    off = sum(one.believed not in one.interval for one in found.bins)
    said = _amount(whole.believed, found.probability), _amount(whole.observed, found.probability)
    mean = f"On average {said[0]} was predicted and {said[1]} observed."
    if not off:
        return f"{mean} In every group the interval from the labels contains what was predicted.{told}"
    chance = (1 - whole.interval.level) * len(found.bins)
    return (
        f"{mean} In {off} of {len(found.bins)} groups the interval from the labels misses what was predicted; by "
        f"chance about {chance:.1g} would.{told}"
    )


def percent(value: float, digits: int = 1) -> str:
    """Return a share in per cent, small ones with two digits that mean something.

    Examples
    --------
    >>> percent(0.2, 0), percent(0.486), percent(0.00094)
    ('20 %', '48.6 %', '0.094 %')
    """
    small = 0 < abs(value) < 0.1 ** (digits + 2)
    return f"{100 * value:.2g} %" if small else f"{100 * value:.{digits}f} %"


def _amount(value: float, probability: bool) -> str:
    return percent(value) if probability else rounded(value)
