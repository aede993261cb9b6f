"""What a belief expects of labels it calls unlikely."""

import numpy as np
import pytest

from sondage import Classifier, Pool, Regressor, compare, evaluate
from sondage.core import surprises
from sondage.core.plausible import plausible
from sondage.core.surprises import Linearised, borne_out, expected_squares


def expected_of(estimate):
    """Return the squared error that the belief after the labels expects, and the sample it is of."""
    evidence = estimate.evidence
    sample = evidence.sample
    linearised = Linearised(evidence.contrast, sample, evidence.fit.sums)
    return expected_squares(linearised, [evidence.estimation.belief])[0], sample


@pytest.mark.parametrize("budget", [1, 2, 4, 40])
def test_of_numbers_that_surprise_either_way_the_variance_is_expected(budget):
    """Of five labels or more the heaviest surprises, expected twice, are left to the others."""
    random = np.random.default_rng(0)
    means, variances, labels = random.normal(size=200), random.gamma(2.0, size=200), random.normal(size=200)
    found = evaluate(Pool(models={"a": Regressor(means, variances)}), "bias", labels, budget, 1)
    expected, sample = expected_of(found)
    belief = found.evidence.estimation.belief
    expected /= borne_out(Linearised(found.evidence.contrast, sample, found.evidence.fit.sums), belief)
    spread = np.exp(belief.shift) * sample.items.models[0].variances ** belief.slope
    whole = float(np.sum(sample.expansion.spread * sample.items.weights**2 * spread))
    assert expected == pytest.approx(whole) if budget < 5 else 0.7 * whole < expected < whole


@pytest.mark.parametrize("measure", ["error_rate", "f_measure", "log_loss"])
@pytest.mark.parametrize("compared", [True, False])
@pytest.mark.parametrize("groups", [None, np.arange(300) // 2])
def test_many_beliefs_expect_together_what_each_does_alone(monkeypatch, measure, compared, groups):
    random = np.random.default_rng(7)
    p = random.dirichlet((0.3, 0.6, 1.0), size=300)
    q, labels = 0.5 * p + 0.5 * random.dirichlet(np.ones(3), size=300), (p.cumsum(axis=1) < 0.5).sum(axis=1)
    pool = Pool(models={"a": Classifier(p), "b": Classifier(q)}, groups=groups)
    measure = "f_measure:positive=1" if measure == "f_measure" else measure
    labels = labels if groups is None else labels[2 * groups]
    asked_of = {"labels": labels, "budget": 60}
    found = compare(pool, "a", "b", measure, **asked_of).estimate if compared else None
    evidence = (found or evaluate(pool, measure, model="a", **asked_of)).evidence
    beliefs = plausible(evidence.contrast, evidence.estimation.belief, evidence.sample)
    linearised = Linearised(evidence.contrast, evidence.sample, evidence.fit.sums)
    together = expected_squares(linearised, beliefs)
    assert len(together) > 1
    assert together.tolist() == [float(expected_squares(linearised, [belief])[0]) for belief in beliefs]
    monkeypatch.setattr(surprises, "MOST_NUMBERS", 1000)  # a belief supposes 180
    assert expected_squares(linearised, beliefs).tolist() == together.tolist()
