"""Labels of a study that judge a model which was not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sondage.core.comparisons import Contrast
from sondage.core.estimators import hajek
from sondage.core.measures import Measure
from sondage.core.measures.bases import Basis
from sondage.core.predictions import Classifier, Floats, Outputs, Regressor
from sondage.core.results import Estimate
from sondage.core.samples import Known, LabelledStage, Sample, SumKey
from sondage.core.stages import Estimation
from sondage.errors import InputError
from sondage.pools.coding import code_models
from sondage.studies.drawn_elsewhere import ready_on, result_of
from sondage.studies.responses import labelled
from sondage.studies.session import Session
from sondage.studies.start import left_out

__all__ = ["estimate_other"]


def estimate_other(session: Session, model: Classifier | Regressor, measure: Measure) -> Estimate:
    """Return the estimate of a model that the session does not know.

    Parameters
    ----------
    session : Session
        With labels.
    model : Classifier or Regressor
        What it says of the labelled items, in the order of the session's `labelled_ids`.
    measure : Measure
        What is estimated.

    Raises
    ------
    InputError
        If there are no labels, rows share labels, or only a part of the pool could be drawn.
    """
    if session.task.kind not in ("classification", "regression"):
        raise InputError(f"labels of a study of {session.task.kind} do not judge a classifier or regressor")
    if session.units is not None:
        raise InputError("rows of this study share labels in groups: another model cannot be judged item by item")
    found = labelled(session)
    if left := left_out(session.stages):
        raise InputError(
            f"{left:.1%} of the pool could not be drawn, for no label there matters to the study's own "
            "models, so that other models cannot be judged; a study of one model's error rate can do that"
        )
    classes = session.task.classes or None
    _, (outputs,), _ = code_models({"model": model}, classes, (), "row {}".format)
    whole = _judged(found.estimation.whole, outputs)
    functional = ready_on(whole, measure, session.task)
    stages = _stages_of(found.estimation.stages, outputs, functional.basis)
    notes = found.warnings
    if session.opinions:
        notes = (*notes, "several people labelled an item: the interval does not count how they differ")
    estimation = Estimation(whole, stages, hajek)
    return result_of(
        Contrast(functional, ((0, 1.0),)),
        estimation,
        interval="auto",
        target=session.method.target,
        notes=notes,
        complete=found.exact,
        name_of=lambda unit: f"item {session.labelled_ids[unit]!r}",
    )


def _judged(sample: Sample, outputs: Outputs) -> Sample:
    return replace(sample, items=replace(sample.items, models=(outputs,)))


def _stages_of(stages: Sequence[LabelledStage], outputs: Outputs, basis: Basis) -> tuple[LabelledStage, ...]:
    """Return the stages with another model's outputs; what earlier ones labelled counts as it is in later ones."""
    made: list[LabelledStage] = []
    outside: dict[SumKey, Floats] = {}
    share, start = 1.0, 0
    for stage in stages:
        rows = slice(start, start + stage.sample.size)
        sample, start = _judged(stage.sample, outputs.take(rows)), rows.stop
        known = Known(share, None, {}, dict(outside), stage.known.squared)
        made.append(LabelledStage(sample, known, stage.unfinished))
        weights = np.asarray(sample.items.weights)
        key = (basis.name, 0)
        outside[key] = outside.get(key, 0.0) + basis.totals(sample.items, 0, sample.labels, weights)
        share = max(share - float(np.sum(weights)), 0.0)
    return tuple(made)
