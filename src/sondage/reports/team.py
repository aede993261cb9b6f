"""Labellers in words and as data: what each has done, and how far they agree."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sondage.pools.missing import finite
from sondage.reports.wording import label_words, value_words
from sondage.studies.agreement import Agreement
from sondage.studies.chronicle import Disagreement
from sondage.studies.study import Study

__all__ = ["audit_line", "disagreement_data", "disagreement_lines", "team_data", "team_lines"]


def team_data(study: Study) -> dict[str, Any]:
    """Return what each labeller has done and how far they agree, as data."""
    found = study.agreement()
    agreement = {
        "n_items": found.n_items,
        "same": found.same,
        "alpha": found.alpha,
        "kappas": [{"people": pair, "kappa": kappa} for pair, kappa in found.kappas.items()],
    }
    people = [{"who": who} | asdict(done) for who, done in study.progress().items()]
    return {"people": people, "agreement": finite(agreement), "disputed": study.status.disputed}


def team_lines(study: Study) -> list[str]:
    """Return what each labeller has done and how far they agree, in words."""
    people, status = study.progress(), study.status
    if not people:
        return ["Nobody has labelled yet."]
    lines = [
        f"{who or 'without a name'}: {done.labelled} labelled, {done.skipped} skipped, {done.claimed} at hand"
        for who, done in people.items()
    ]
    lines += _agreed(study.agreement())
    return [*lines, f"{status.disputed} to resolve"] if status.disputed else lines


def _agreed(found: Agreement) -> list[str]:
    if not found.n_items:
        return ["no item was labelled by two people: how far they agree is not known"]
    items = f"{found.n_items:,} item{'' if found.n_items == 1 else 's'}"
    lines = [f"{items} with several labels, {found.same:.0%} of the pairs the same"]
    if math.isfinite(found.alpha):
        lines.append(f"Krippendorff's alpha {found.alpha:.2f}")
    lines += [
        f"Cohen's kappa of {first or 'who gave no name'} and {second or 'who gave no name'} {kappa:.2f}"
        for (first, second), kappa in found.kappas.items()
        if math.isfinite(kappa)
    ]
    return lines


def disagreement_data(found: Disagreement) -> dict[str, Any]:
    """Return a disagreement as data."""
    said = [{"who": who, "label": label} for who, label in found.labels]
    return {"id": found.id, "labels": said, "label": found.label, "resolved": found.resolved, "fields": found.fields}


def disagreement_lines(found: Disagreement, systems: Sequence[str]) -> list[str]:
    """Return a disagreement in words: who says what, of which system, and what the pool says of the item."""
    said = "; ".join(f"{who or 'somebody'} says {label_words(label, systems)}" for who, label in found.labels)
    state = (
        "no majority"
        if found.label is None
        else f"{'resolved' if found.resolved else 'together'} {label_words(found.label, systems)}"
    )
    fields = [f"    {name}: {_short(value)}" for name, value in found.fields.items() if value is not None]
    return [f"{found.id}: {said}; {state}", *fields]


def audit_line(event: Mapping[str, Any]) -> str:
    """Return one entry of the log in words."""
    parts = [event["at"], event["kind"]]
    parts += [str(event["id"])] if event["id"] is not None else []
    parts += [f"by {event['who']}"] if event["who"] is not None else []
    parts += [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in event["details"].items()]
    return "  ".join(parts)


def _short(value: Any) -> str:
    text = " ".join(value_words(value).split())
    return text if len(text) <= 200 else f"{text[:199]}…"
