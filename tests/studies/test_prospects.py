"""How an estimate came about, and what is to be expected of it."""

import numpy as np
import pytest

import sondage
from sondage.errors import InputError
from sondage.studies.prospects import prospect


@pytest.fixture(scope="module")
def mails():
    """A pool of 5,000 with scores that are about right, two models, and the labels."""
    random = np.random.default_rng(1)
    score = random.normal(-2, 2.4, 5000)
    truth = (random.random(5000) < 1 / (1 + np.exp(-score))).astype(int)
    models = {
        name: 1 / (1 + np.exp(-(score + random.normal(0, noise, 5000)))) for name, noise in (("a", 0.7), ("b", 1.4))
    }
    return models, truth


def run(mails, budget, seed, measure="error_rate", **options):
    models, truth = mails
    return sondage.evaluate(
        sondage.Pool(probabilities=models["a"]), measure, labels=truth, budget=budget, seed=seed, **options
    )


@pytest.mark.parametrize(
    ("measure", "options"), [("error_rate", {"method": "passive"}), ("error_rate", {}), ("f1", {}), ("brier", {})]
)
def test_width_comes_out_as_projected(mails, measure, options):
    """At 100 of 400 labels; the median of some seeds, since a single sample may be lucky."""
    ratios = []
    for seed in range(12):
        last = run(mails, 400, seed, measure, **options)
        course = last.course
        early = course.session.copied()
        early.asked = early.asked[:100]
        early.answers = {p: early.answers[p] for p in early.asked}
        ahead = prospect(course.estimate(early, course.contrast), 400, looks=2)
        ratios.append(last.interval().width / ahead.width)
    assert 0.75 < np.median(ratios) < 1.15  # below 1 where later stages, planned from labels, are worth more


def test_simple_random_sampling_is_projected_exactly(mails):
    """The same share of errors at twice the labels: the standard errors are in the ratio of Cochran's equation 2.8."""
    found = run(mails, 100, 3, method="passive", interval="wald")
    ahead = prospect(found, 250)
    share = ahead.width / found.interval().width
    assert share == pytest.approx(np.sqrt((1 / 250 - 1 / 5000) / (1 / 100 - 1 / 5000)), rel=1e-9)


def test_course_is_what_was_known_then(mails):
    whole = run(mails, 80, 5, method="passive", stages=1)
    seen = prospect(whole, 80)
    assert seen.labels[0] == 10
    assert seen.labels[-1] == 80
    for count, value, low in zip(seen.labels, seen.value, seen.low, strict=True):
        then = run(mails, int(count), 5, method="passive", stages=1)
        assert value == pytest.approx(then.value, rel=1e-12)
        assert low == pytest.approx(then.interval().low, rel=1e-9)


@pytest.mark.parametrize("draw", ["with_replacement", "neyman", "strata"])
def test_every_draw_is_projected(mails, draw):
    """With replacement a label more is worth as much whatever the pool; of strata a pool's end leaves less to know."""
    found = run(mails, 100, 3, draw=draw, stages=1, interval="wald", estimator="hajek", design="passive")
    shares = {"with_replacement": 100 / 400}
    share = shares.get(draw, (1 / 400 - 1 / 5000) / (1 / 100 - 1 / 5000))
    assert prospect(found, 400).width == pytest.approx(found.interval().width * share**0.5, rel=1e-9)


def test_end_of_a_pool_is_exact():
    pool = sondage.Pool(probabilities=np.linspace(0.1, 0.9, 60))
    found = sondage.evaluate(pool, labels=np.arange(60) % 2, budget=30, method="passive")
    assert prospect(found, 60).width == 0.0


def test_end_of_a_pool_is_not_the_end_of_a_population(mails):
    pool, options = sondage.Pool(mails[0]["a"][:300]), {"target": "population", "method": "passive"}
    found, last = (sondage.evaluate(pool, labels=mails[1][:300], budget=n, **options) for n in (100, 300))
    assert prospect(found, 300).width == pytest.approx(last.interval().width, rel=0.2)


def test_comparison_counts(mails):
    models, truth = mails
    pool = sondage.Pool(models={name: sondage.Classifier(p) for name, p in models.items()})
    widths = []
    for budget in (100, 200):
        found = sondage.compare(pool, "a", "b", labels=truth, budget=budget, seed=2)
        widths.append(found.interval().width)
        ahead = prospect(found.estimate, 200)
    assert ahead.width == pytest.approx(widths[1])
    first = sondage.compare(pool, "a", "b", labels=truth, budget=100, seed=2)
    assert prospect(first.estimate, 200).width == pytest.approx(widths[1], rel=0.1)


def test_few_labels_and_wrong_ends(mails):
    found = run(mails, 3, 1)
    assert prospect(found, 3).labels.tolist() == [3]
    with pytest.raises(InputError, match="below the 3 labels"):
        prospect(found, 2)
    drawn = sondage.estimate_from(
        measure="error_rate", predictions=[0, 1, 1], labels=[0, 1, 0], inclusion=[0.5] * 3, pool_size=6
    )
    with pytest.raises(InputError, match="has a course"):
        prospect(drawn, 10)
