"""What the errors of several models have in common: closed forms."""

import numpy as np
import pytest

from sondage import Classifier, Pool
from sondage.core.comparisons import Contrast
from sondage.core.measures import parse_measure
from sondage.studies.joint import joint_errors
from sondage.studies.method import Question, choose_method
from sondage.studies.responses import labelled
from sondage.studies.session import Session

N, BUDGET = 300, 20


def test_models_alike_on_all_labelled_items_may_differ_on_as_many_as_a_sample_without_any_leaves_possible():
    # (1.88 h)^2 of docs/statistics.md, section 9, with h^2 the mean of (w b)^2 times the variance of the largest
    # difference, over labelled items that tell models apart: there one of two is right, at 2 sqrt(p (1 - p)).
    first = np.arange(N) % 2
    second, third = first.copy(), np.where(np.arange(N) % 3, first, 1 - first)
    second[0] = 1 - second[0]
    pool = Pool(models={name: Classifier(predictions=f) for name, f in zip("abc", (first, second, third), strict=True)})
    measure = parse_measure("accuracy")
    question, method = Question("select", ("a", "b", "c"), (measure,)), choose_method("passive", belief="uniform")
    session = Session.start(pool, question, method, budget=BUDGET, seed=1)
    drawn = session.ask()
    assert 0 not in drawn  # where the first two differ
    session.tell(drawn, [int(first[row]) for row in drawn])
    found = labelled(session)
    single = [Contrast(measure.ready(pool.task), ((model, 1.0),)) for model in range(3)]
    errors = joint_errors(session, found, single, found.estimation.joint(single))
    (_, _), (_, p) = found.belief.supposed(found.estimation.whole.items, (0,))
    apart = 4 * p[0] * (1 - p[0]) / BUDGET**2
    assert errors.variances()[0, 1] == pytest.approx(1.88**2 * apart, rel=1e-9)
    assert errors.variances()[0, 2] > 0
