"""What a belief expects of labels it calls unlikely."""

import numpy as np
import pytest

from sondage import Pool, Regressor, evaluate
from sondage.core.surprises import Asked, borne_out, expected_squares


def expected_of(estimate):
    """Return the squared error that the belief after the labels expects, and the sample it is of."""
    evidence = estimate.evidence
    sample = evidence.sample
    asked = Asked(evidence.contrast, sample, evidence.fit.sums)
    return expected_squares(asked, [evidence.estimation.belief])[0], sample


@pytest.mark.parametrize("budget", [1, 2, 4, 40])
def test_of_numbers_that_surprise_either_way_the_variance_is_expected(budget):
    """Of five labels or more the heaviest surprises, expected twice, are left to the others."""
    random = np.random.default_rng(0)
    means, variances, labels = random.normal(size=200), random.gamma(2.0, size=200), random.normal(size=200)
    found = evaluate(Pool(models={"a": Regressor(means, variances)}), "bias", labels, budget, 1)
    expected, sample = expected_of(found)
    belief = found.evidence.estimation.belief
    expected /= borne_out(Asked(found.evidence.contrast, sample, found.evidence.fit.sums), belief)
    spread = np.exp(belief.shift) * sample.items.models[0].variances ** belief.slope
    whole = float(np.sum(sample.expansion.spread * sample.items.weights**2 * spread))
    assert expected == pytest.approx(whole) if budget < 5 else 0.7 * whole < expected < whole
