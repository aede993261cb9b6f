"""Tests that cannot work are refused before a label is asked for; what shows only afterwards keeps the labels."""

from typing import Any

import numpy as np
import pytest

from sondage import Classifier, Pool, Study, compare, estimate_from, evaluate, select
from sondage.errors import InputError

from .noting import noting

N = 200
RNG = np.random.default_rng(0)
P = RNG.random(N)
Y = (RNG.random(N) < P).astype(int)
MODELS = {"a": Classifier(P), "b": Classifier(np.clip(P + RNG.normal(0, 0.3, N), 0, 1))}
COUNTS = "test 'hypergeometric' counts answers"


def pool(**columns: Any) -> Pool:
    return Pool(models=MODELS, **columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0.1}, "margin 0.1 needs alternative"),
        ({"margin": float("nan"), "alternative": "less"}, "margin=nan must be a finite number"),
        ({"test": "permutation", "generator": 0}, r"generator=0 is none of NumPy's: give numpy.random.default_rng\("),
        ({"test": "permutation", "margin": 0.1, "alternative": "less"}, "tests against 0 only"),
        ({"test": "mcnemar", "margin": 0.1, "alternative": "less"}, "tests against 0 only"),
        ({"test": "mcnemar", "measure": "f1"}, "is for zero-one losses, not for 'f1'; use 't'"),
        ({"test": "hypergeometric", "measure": "f1"}, COUNTS),
        ({"test": "hypergeometric", "draw": "with_replacement"}, COUNTS),
        ({"test": "hypergeometric", "target": "population"}, COUNTS),
        ({"test": "bootstrap", "measure": "ece", "generator": RNG}, "does not hold for 'ece', which has kinks"),
        ({"test": "anytime", "measure": "ece"}, "measure 'ece' has kinks, and no sequence"),
        ({"test": "anytime", "draw": "with_replacement"}, "nothing holds at any time for draw='with_replacement'"),
        ({"test": "anytime", "target": "population"}, "target='population' has none"),
        ({"stop": "significant", "measure": "ece"}, "has kinks, and no sequence"),
        ({"stop": 0.1, "measure": "ece"}, "has kinks, and no sequence"),
    ],
)
def test_what_no_labels_can_make_work_costs_none(options: dict[str, Any], message: str) -> None:
    label, asked = noting(Y)
    with pytest.raises(InputError, match=message):
        compare(pool(), "a", "b", labels=label, budget=20, **options)
    assert not asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compare": ("a", "b"), "measure": "f1", "test": "hypergeometric"}, COUNTS),
        ({"compare": ("a", "b"), "measure": "ece", "interval": "bootstrap"}, "has kinks; use 't'"),
        ({"model": "a", "interval": "anytime", "draw": "with_replacement"}, "nothing holds at any time"),
        ({"select": True, "interval": "anytime"}, "a selection has no sequences"),
    ],
)
def test_half_way_a_study_of_all_items_is_not_exact(options: dict[str, Any], message: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "study.db", pool(), budget=N, **options)
    assert not list(tmp_path.iterdir())


def test_so_it_is_at_a_look() -> None:
    options: dict[str, Any] = {"budget": N, "test": "hypergeometric"}
    label, asked = noting(Y)
    with pytest.raises(InputError, match=COUNTS):
        compare(pool(), "a", "b", "f1", labels=label, stop="significant", looks=2, **options)
    assert not asked
    assert compare(pool(), "a", "b", "f1", labels=Y, **options).significance.kind == "exact"


def test_costs_in_stages_have_no_sequence() -> None:
    costs, (label, asked) = pool(costs=1 + np.arange(N) % 3), noting(Y)
    with pytest.raises(InputError, match="only stages=1 has sequences"):
        compare(costs, "a", "b", labels=label, budget=60, test="anytime")
    assert not asked
    assert compare(costs, "a", "b", labels=Y, budget=60, test="anytime", stages=1).significance.kind == "anytime"


@pytest.mark.parametrize("test", ["bootstrap", "permutation", "anytime"])
def test_a_selection_by_a_test_that_it_cannot_make(test: str, tmp_path: Any) -> None:
    label, asked = noting(Y)
    with pytest.raises(InputError, match="selection"):
        select(pool(), labels=label, budget=20, test=test)
    assert not asked
    with pytest.raises(InputError, match="selection"):
        Study.create(tmp_path / "study.db", pool(), select=True, budget=20, test=test)
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize("kind", [{"select": True}, {"model": "a"}])
@pytest.mark.parametrize("options", [{"alternative": "less"}, {"alternative": "greater", "margin": 0.1}])
def test_one_sided_tests_are_of_two_models(kind: Any, options: Any, tmp_path: Any) -> None:
    with pytest.raises(InputError, match="alternative= and margin= go with compare="):
        Study.create(tmp_path / "study.db", pool(), budget=20, **kind, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_random_numbers_follow_from_the_seed(test: str, tmp_path: Any) -> None:
    def found(seed: int, **options: Any) -> Any:
        return compare(pool(), "a", "b", "brier", labels=Y, budget=40, seed=seed, test=test, **options)

    assert found(1).significance == found(1).significance
    assert found(1, generator=np.random.default_rng(3)).pvalue != found(1).pvalue
    with Study.create(tmp_path / "s.db", pool(), "brier", compare=("a", "b"), budget=40, seed=1, test=test) as study:
        while ids := study.ask(4):
            study.tell(ids, Y[ids].tolist())
        assert study.estimate().significance == found(1).significance


def test_those_of_an_interval_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sondage.core.evidence.RESAMPLES", 99)
    found, *again = (evaluate(Pool(P), "f1", Y, 40, interval="bootstrap", seed=seed) for seed in (1, 1, 2))
    ends = found.interval()
    assert ends.kind == "bootstrap"
    assert ends == found.interval()  # the same each time
    assert ends == again[0].interval()
    assert ends != again[1].interval()
    assert ends != found.interval(generator=np.random.default_rng(3))
    assert found.value in ends
    drawn = {"probabilities": P, "labels": Y, "inclusion": np.full(N, 0.5), "interval": "bootstrap"}
    with pytest.raises(InputError, match="interval 'bootstrap' needs generator="):
        estimate_from("f1", **drawn).interval()  # drawn elsewhere: there is no seed


def test_exact_results_have_no_test() -> None:
    few = compare(pool(), "a", "b", labels=Y, budget=13, test="permutation")
    assert few.significance.kind == "permutation"
    for test in ("permutation", "bootstrap"):
        assert compare(pool(), "a", "b", labels=Y, budget=N, test=test).significance.kind == "exact"


def test_planned_looks_have_the_generator() -> None:
    options: dict[str, Any] = {"labels": Y, "budget": 40, "stop": "significant", "looks": 2, "test": "bootstrap"}
    found = compare(pool(), "a", "b", generator=np.random.default_rng(1), **options)
    assert found.significance.kind == "looks"


def test_a_study_takes_its_generator_when_it_estimates(tmp_path: Any) -> None:
    with Study.create(tmp_path / "study.db", pool(), compare=("a", "b"), budget=20, test="bootstrap") as study:
        ids = study.ask()
        study.tell(ids, Y[ids].tolist())
        assert study.estimate(np.random.default_rng(0)).significance.kind == "bootstrap"


def test_what_shows_only_after_the_labels_keeps_them() -> None:
    label, asked = noting(Y)
    with pytest.raises(InputError, match="needs equal draws") as caught:
        compare(pool(), "a", "b", labels=label, budget=40, test="mcnemar", belief="learned", seed=1)
    assert caught.value.labels == {name: Y[name] for name in asked}

    def skipping(ids: list[int]) -> list[Any]:
        return [None if name == ids[0] else y for name, y in zip(ids, label(ids), strict=True)]

    with pytest.raises(InputError, match=COUNTS) as caught:
        compare(pool(), "a", "b", labels=skipping, budget=20, test="hypergeometric")
    assert len(caught.value.labels) == 20


def test_several_pools_keep_the_labels_of_each() -> None:
    pools = {"jan": Pool(P), "feb": Pool(P)}
    label, asked = noting(Y)
    labels = {"jan": label, "feb": lambda ids: ["ham"] * len(ids)}
    with pytest.raises(InputError, match="'ham' of id") as caught:
        evaluate(pools, "error_rate", labels, 60)
    assert caught.value.labels == {"jan": {name: Y[name] for name in asked}, "feb": {}}


@pytest.mark.parametrize(
    ("interval", "measure", "said"),
    [
        ("wilson", "mcc", "interval 'wilson' is for proportions, not 'mcc'"),
        ("clopper_pearson", "log_loss", "interval 'clopper_pearson' is for proportions"),
        ("fieller", "error_rate", r"interval 'fieller' is for ratios .*not 'error_rate'"),
        ("anytime", "ece", "has kinks, and no sequence"),
        ("bootstrap", "ece", "interval 'bootstrap' does not hold for 'ece"),
        ("hypergeometric", "error_rate", "interval 'hypergeometric' counts answers"),
    ],
)
def test_intervals_that_will_not_fit_cost_no_label(interval: str, measure: str, said: str) -> None:
    label, asked = noting(Y)
    with pytest.raises(InputError, match=said):
        evaluate(Pool(P), measure, label, 20, interval=interval)
    assert not asked


@pytest.mark.parametrize("interval", ["wilson", "fieller"])
def test_nor_do_those_that_are_not_of_differences(interval: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match="not differences of 'f1'"):
        Study.create(tmp_path / "study.db", pool(), "f1", compare=("a", "b"), budget=20, interval=interval)
    assert not list(tmp_path.iterdir())


def test_what_is_no_generator_is_refused_of_an_interval() -> None:
    found = compare(pool(), "a", "b", labels=Y, budget=20, design="passive")
    with pytest.raises(InputError, match="generator=0 is none of NumPy's"):
        found.interval(kind="bootstrap", generator=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("interval", ["wilson", "clopper_pearson"])
@pytest.mark.parametrize(
    ("measure", "method", "fits"),
    [("error_rate", "passive", True), ("error_rate", "default", False), ("recall", "passive", False)],
)
def test_intervals_of_equal_draws_say_where_they_do_not_fit(
    interval: str, measure: str, method: str, fits: bool
) -> None:
    found = evaluate(Pool(P), measure, Y, 40, method=method, interval=interval)
    said = f"interval {interval!r} is for the error rate of labels drawn at random"
    assert any(note.startswith(said) for note in found.warnings) is not fits


def test_so_do_those_of_labels_that_somebody_else_drew() -> None:
    asked = {"probabilities": P, "labels": Y, "interval": "wilson"}
    assert estimate_from("error_rate", inclusion=np.full(len(P), 0.5), **asked).warnings == ()
    (note,) = estimate_from("error_rate", inclusion=np.where(P > 0.5, 0.5, 0.1), **asked).warnings
    assert "interval 'wilson' is for the error rate" in note
