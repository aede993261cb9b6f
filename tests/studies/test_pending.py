"""Pending items are taken to be like the answered ones of equal belief: closed form."""

import numpy as np
import pytest

from sondage import Pool, evaluate
from sondage.core.measures import parse_measure
from sondage.studies.method import Question, choose_method
from sondage.studies.responses import labelled
from sondage.studies.session import Session


@pytest.mark.parametrize(("answered", "cells"), [(9, 1), (12, 2), (16, 3), (30, 5)])
def test_the_answered_stand_for_the_asked_in_cells_of_five_answers_or_more_and_five_cells_at_most(answered, cells):
    # docs/statistics.md, section 11: within a cell weights are enlarged by the asked over the answered, here by number.
    pool = Pool(probabilities=np.linspace(0.505, 0.995, 200))
    question, method = Question("evaluate", ("model",), (parse_measure("error_rate"),)), choose_method("passive")
    session = Session.start(pool, question, method, budget=40, seed=0)
    asked = np.array(session.ask())
    session.tell(asked[:answered].tolist(), [1] * answered)
    told = np.arange(40) < answered
    # The believed influence falls with the probability, and so with the row.
    edges = np.quantile(-asked[told], np.arange(1, cells) / cells)
    cell = np.searchsorted(edges, -asked, side="left")
    ratio = np.bincount(cell) / np.bincount(cell[told])
    weights = labelled(session).estimation.whole.expansion.weights
    assert weights == pytest.approx(200 / 40 * ratio[cell[told]], rel=1e-12)


@pytest.mark.parametrize(("measure", "low", "high"), [("recall", 0.0, 1.0), ("mcc", -1.0, 1.0)])
def test_where_skips_can_leave_the_measure_undefined_its_bound_stands(measure: str, low: float, high: float) -> None:
    labels = [None, 0, 0, 0, 0, 0]
    pool = Pool(probabilities=[0.7, 0.1, 0.8, 0.2, 0.3, 0.6])
    found = evaluate(pool, measure, labels=lambda ids: [labels[one] for one in ids], budget=6)
    assert found.if_skipped is not None
    assert low <= found.if_skipped.low <= found.value <= found.if_skipped.high <= high
