"""Systems with outcomes of their own: what labels bear out of what is expected of independent, unknown ones."""

import numpy as np
import pytest

from sondage import Outcome, Pool, compare, evaluate, select
from sondage.core.intervals import wilson_interval
from sondage.core.surprises import Linearised, borne_out

SIZE = 2000


def pool_of(*names, **options):
    return Pool(models={name: Outcome(**options) for name in names}, ids=list(range(SIZE)))


def asked_of(estimate):
    evidence = estimate.evidence
    return Linearised(evidence.contrast, evidence.sample, evidence.fit.sums), evidence.estimation.belief


def test_the_share_by_hand():
    outcomes = np.tile([1.0, 0.0, 1.0, 1.0], SIZE // 4)
    labels = np.column_stack([outcomes, outcomes])  # two systems that fail on the same items
    estimate = compare(pool_of("a", "b"), "a", "b", "accuracy", labels=labels, budget=80, method="passive").estimate
    # Independent coins differ by 1 half of the time, in either direction: 40 of 80, and none was seen.
    assert borne_out(*asked_of(estimate)) == pytest.approx(1.0 / (1.0 + 40.0))
    one = evaluate(pool_of("a"), "accuracy", labels[:, :1], 80, model="a", method="passive")
    # A coin is off its mean by a half each time, the largest that there is; the labels are off theirs by less.
    share = one.evidence.sample.labels[:, 0].mean()
    assert borne_out(*asked_of(one)) == pytest.approx((1.0 + 4.0 * 80 * share * (1.0 - share)) / (1.0 + 80.0))


def test_a_system_that_hardly_fails_is_known_as_well_as_labels_tell():
    random = np.random.default_rng(0)
    labels = (random.random((SIZE, 1)) < 0.99).astype(float)
    runs = [evaluate(pool_of("a"), "accuracy", labels, 300, seed, model="a") for seed in range(60)]
    assert np.mean([labels.mean() in run.interval() for run in runs]) > 0.9
    assert np.mean([run.interval().width for run in runs]) < 1.5 * wilson_interval(labels.mean(), 300).width


@pytest.mark.parametrize("grades", [(0.0, 1.0), (0.0, 1.0, 2.0, 3.0)])
@pytest.mark.parametrize("differ", [0.02, 0.2])
def test_systems_that_fail_on_the_same_items_are_compared_as_a_pair(grades, differ):
    random = np.random.default_rng(1)
    first = random.choice(grades, SIZE, p=np.append(np.full(len(grades) - 1, 0.1), 1.1 - 0.1 * len(grades)))
    worse = (random.random(SIZE) < differ) & (first > 0)
    labels = np.column_stack([first, first - worse])
    truth = float(np.mean(worse))
    pool = pool_of("a", "b", grades=grades)
    runs = [compare(pool, "a", "b", "mean_outcome", labels=labels, budget=200, seed=seed) for seed in range(60)]
    paired = 3.92 * np.sqrt(truth * (1.0 - truth) * (1 / 200 - 1 / SIZE))
    assert np.mean([truth in run.interval() for run in runs]) > 0.9
    # The belief counts as one surprise of the largest size: where a few small ones decide, that is seen.
    assert 0.9 * paired < np.mean([run.interval().width for run in runs]) < (1.6 if differ > 0.1 else 2.0) * paired


def test_equal_systems_are_seldom_told_apart():
    random = np.random.default_rng(2)
    first = (random.random(SIZE) < 0.9).astype(float)
    second = np.where(random.random(SIZE) < 0.1, 1.0 - first, first)
    rejected = 0
    for seed in range(200):
        swap = np.random.default_rng(seed).random(SIZE) < 0.5
        labels = np.column_stack([np.where(swap, first, second), np.where(swap, second, first)])
        found = compare(
            pool_of("a", "b"), "a", "b", "accuracy", labels=labels, budget=100, seed=seed, target="population"
        )
        rejected += found.pvalue <= 0.05
    assert rejected / 200 <= 0.08


def test_a_selection_knows_it_too():
    random = np.random.default_rng(3)
    hard = random.random(SIZE) < 0.1
    labels = np.column_stack([np.where(hard | (random.random(SIZE) < worse), 0.0, 1.0) for worse in (0.0, 0.05, 0.15)])
    found = select(pool_of("a", "b", "c"), "accuracy", labels=labels, budget=300, seed=0)
    assert found.best == "a"
    assert found.contenders() == ("a",)
    for name, gap in found.gaps().items():
        truth = labels[:, "abc".index(name)].mean() - labels[:, 0].mean()
        assert truth in gap
        assert gap.width < 0.16
