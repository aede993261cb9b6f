"""Slices and several pools from one budget: how it is divided, and what the estimates say."""

from typing import Any

import numpy as np
import pandas
import pytest
from numpy.typing import NDArray
from scipy.special import expit

import sondage
from sondage import Pool, Slices, evaluate
from sondage.core.strata import further_allocation, mixed_stakes
from sondage.errors import InputError, LabelingInterrupted, MeasureError, SondageWarning
from sondage.pools.slicing import slice_rows

from .noting import noting

NAMES = np.array(["inbox", "lists", "spam"])


def problem(n: int = 1500, **columns: Any) -> tuple[Pool, NDArray[np.int64]]:
    """Return a pool of three unequal folders, the largest the easiest, and its labels."""
    rng = np.random.default_rng(0)
    folder = rng.choice(3, size=n, p=[0.6, 0.3, 0.1])
    score = rng.normal(-0.5, np.array([6.0, 2.5, 0.8])[folder])
    y = (rng.random(n) < expit(score)) * 1
    return Pool(expit(score), fields={"folder": NAMES[folder]}, **columns), y


def halves(pool: Pool, y: NDArray[np.int64]) -> tuple[dict[str, Pool], dict[str, NDArray[np.int64]]]:
    """Return two pools of different size whose ids are both 0, 1, 2, ..."""
    p = pool.items.models[0].probabilities
    return {"jan": Pool(p[:500]), "feb": Pool(p[500:])}, {"jan": y[:500], "feb": y[500:]}


def test_the_whole_is_told_from_a_slice_of_its_name() -> None:
    pool, y = problem()
    found = evaluate(pool, labels=y, budget=90, slices=np.array(["all", "overall", "overall (all slices)"] * 500))
    names = [line.partition(": ")[0] for line in str(found).splitlines()]
    assert names == ["all", "overall", "overall (all slices)", "overall (all slices) (all slices)"]
    assert [one.name for one in sondage.report(found).figures] == [*names[:3], "all (all slices)"]


def test_how_much_a_slice_differs_from_another() -> None:
    pool, y = problem()
    found = evaluate(pool, "error_rate", labels=y, budget=120, slices="folder")
    change, back = found.change("spam", "inbox"), found.change("inbox", "spam")
    assert (change.low, change.high) == pytest.approx((-back.high, -back.low), rel=1e-12)
    spam, inbox = (found[name].interval(0.9) for name in ("spam", "inbox"))
    gap = found["spam"].value - found["inbox"].value
    narrower = found.change("spam", "inbox", 0.9)
    assert narrower.high - gap == pytest.approx(
        np.hypot(spam.high - found["spam"].value, found["inbox"].value - inbox.low), rel=1e-12
    )
    assert narrower.width < change.width
    with pytest.raises(InputError, match="no slice 'outbox'"):
        found.change("outbox", "spam")
    with pytest.raises(InputError, match="'spam' does not differ from itself"):
        found.change("spam", "spam")
    with pytest.raises(InputError, match="level=2 must be"):
        found.change("spam", "inbox", 2)


def test_a_change_from_a_slice_without_a_value_may_be_anything() -> None:
    predicted = np.array([0] * 30 + [1, 0] * 15)
    pool = Pool(
        models={"m": sondage.Classifier(predictions=predicted)}, fields={"folder": ["none"] * 30 + ["some"] * 30}
    )
    found = evaluate(pool, "recall", labels=predicted, budget=30, slices="folder", method="passive")
    assert np.isnan(found["none"].value)
    change = found.change("some", "none")
    assert (change.low, change.high, change.kind) == (-1.0, 1.0, "undefined")


def test_a_measure_of_one_possible_value_does_not_change() -> None:
    folder = np.array(["inbox", "spam"] * 20)
    graded = Pool(models={"a": sondage.Outcome(grades=[2.0])}, ids=range(40))
    found = evaluate(graded, "mean_outcome", labels=np.full((40, 1), 2.0), budget=20, slices=folder, method="passive")
    change = found.change("inbox", "spam")
    assert (change.low, change.high) == (0.0, 0.0)


def test_changes_hold_as_often_as_they_say() -> None:
    pool, y = problem()
    p, folder = np.asarray(pool.items.models[0].probabilities), np.asarray(pool.fields["folder"])
    wrong = (p > 0.5) != y
    truth = wrong[folder == "spam"].mean() - wrong[folder == "inbox"].mean()
    runs = [evaluate(pool, "error_rate", labels=y, budget=90, slices="folder", seed=seed) for seed in range(60)]
    held = [truth in found.change("spam", "inbox") for found in runs]
    assert np.mean(held) >= 0.88


@pytest.mark.parametrize(
    ("stakes", "asked", "total", "capacities", "expected"),
    [
        ([1, 3], [0, 0], 80, [100, 100], [20, 60]),  # in proportion
        ([1, 3], [20, 20], 80, [100, 100], [0, 40]),  # what is asked already counts
        ([1, 9], [0, 0], 100, [100, 30], [70, 30]),  # all that there is
        ([0, 1], [0, 0], 100, [100, 100], [10, 90]),  # ten at least
        ([1, 99], [0, 0], 40, [7, 100], [7, 33]),  # or all
        ([1, 1, 2], [30, 20, 20], 108, [50, 50, 50], [0, 10, 28]),  # 7 become 10
        ([1, 1, 2], [30, 24, 20], 108, [50, 50, 50], [0, 0, 34]),  # 3 become none
        ([1, 1, 1], [20, 20, 20], 68, [50, 50, 50], [0, 8, 0]),  # fewer than ten in one place, where there are no more
    ],
)
def test_labels_are_divided_in_proportion_to_what_is_at_stake(
    stakes: list[float], asked: list[int], total: int, capacities: list[int], expected: list[int]
) -> None:
    found = further_allocation(
        np.array(stakes, float), np.array(asked), total=total, capacities=np.array(capacities), least=10
    )
    assert found.tolist() == expected


def test_terms_are_normalised_before_they_are_mixed() -> None:
    # (1 / 4, 3 / 4) and (1 / 2, 1 / 2); squared (1 / 10, 9 / 10) and (1 / 2, 1 / 2)
    sums, shares = np.array([[1.0, 3.0], [20.0, 20.0]]), np.array([0.5, 0.5])
    assert mixed_stakes(sums, shares, 1.0) == pytest.approx([0.375, 0.625], rel=1e-12)
    assert mixed_stakes(sums, shares, 2.0) == pytest.approx([0.3, 0.7], rel=1e-12)
    assert mixed_stakes(np.zeros((2, 4)), shares, 1.0).tolist() == [0.25] * 4


@pytest.mark.parametrize(("share", "power"), [("overall", 1), ("each", 2)])
def test_one_stage_is_neymans_allocation(share: str, power: int) -> None:
    # The belief is p: an item's error has the deviation sqrt(p (1 - p)), whose mean over a slice is S.
    pool, y = problem(weights=np.random.default_rng(1).uniform(0.5, 2, size=1500))
    p, weights = pool.items.models[0].probabilities, pool.items.weights
    rows = slice_rows(pool, "folder")
    mass = np.array([weights[mask].sum() for mask in rows.values()])
    deviation = np.array([weights[m] @ np.sqrt(p[m] * (1 - p[m])) for m in rows.values()]) / mass
    stake = mass * deviation if share == "overall" else deviation**power
    found = evaluate(pool, labels=y, budget=200, slices="folder", share=share, stages=1, design="optimal", floor=0)
    counts = np.array([one.n_labels for one in found.values()])
    assert counts == pytest.approx(200 * stake / stake.sum(), abs=1)
    assert list(found.shares.values()) == pytest.approx(mass / mass.sum(), rel=1e-12)


@pytest.mark.parametrize(("share", "expected"), [("overall", [0.6, 0.3, 0.1]), ("each", [1 / 3] * 3)])
def test_passive_goes_by_size(share: str, expected: list[float]) -> None:
    pool, y = problem()
    found = evaluate(pool, labels=y, budget=300, slices="folder", share=share, method="passive")
    assert np.array([one.n_labels for one in found.values()]) / 300 == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("measure", ["error_rate", "f1", "mcc", "log_loss", "auc", "ece"])
def test_all_labelled_is_the_whole_pool(measure: str) -> None:
    pool, y = problem(300, weights=np.random.default_rng(1).uniform(0.5, 2, size=300))
    found = evaluate(pool, measure, labels=y, budget=len(pool), slices="folder")
    whole = evaluate(pool, measure, labels=y, budget=len(pool))
    assert found.overall.value == pytest.approx(whole.value, rel=1e-9)
    assert found.overall.exact
    assert found.overall.std_error == 0
    for name, rows in slice_rows(pool, "folder").items():
        part = pool.only(rows)
        alone = (
            evaluate(part, measure, labels=y[rows], budget=len(part)).value if measure not in ("auc", "ece") else None
        )
        assert found[name].exact
        assert alone is None or found[name].value == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("method", ["default", "passive", "thesis"])
def test_overall_of_a_mean_is_the_weighted_sum(method: str) -> None:
    pool, y = problem()
    found = evaluate(pool, "error_rate", labels=y, budget=150, slices="folder", method=method, seed=3)
    parts = [(found.shares[name], one) for name, one in found.items()]
    assert found.overall.value == pytest.approx(sum(w * one.value for w, one in parts), rel=1e-9)
    assert found.overall.std_error**2 == pytest.approx(sum((w * one.std_error) ** 2 for w, one in parts), rel=1e-9)
    assert found.overall.n_labels == found.n_labels == sum(one.n_labels for one in found.values()) == 150


@pytest.mark.parametrize("measure", ["error_rate", "f1"])
def test_population_has_the_wider_error(measure: str) -> None:
    pool, y = problem(300)
    options: dict[str, Any] = {"labels": y, "budget": len(pool), "target": "population"}
    found = evaluate(pool, measure, slices="folder", **options)
    whole = evaluate(pool, measure, **options)
    assert found.overall.std_error == pytest.approx(whole.std_error, rel=1e-6)  # all labelled: the pool's share alone


def test_same_seed_same_items_in_any_order_of_rows() -> None:
    pool, y = problem()
    p, order = pool.items.models[0].probabilities, np.random.default_rng(5).permutation(1500)
    other = Pool(p[order], ids=order, fields={"folder": pool.fields["folder"][order]})
    asked: list[set[int]] = []
    for one in (pool, other):
        seen: list[int] = []
        evaluate(one, "f1", labels=lambda ids, seen=seen: seen.extend(ids) or y[ids], budget=120, slices="folder")
        asked.append(set(seen))
        assert len(seen) == len(set(seen)) == 120
    assert asked[0] == asked[1]


def test_several_pools_with_the_same_ids_are_drawn_apart() -> None:
    pools, labels = halves(*problem())
    asked: dict[str, list[int]] = {name: [] for name in pools}
    look = {n: lambda ids, n=n: asked[n].extend(ids) or {i: labels[n][i] for i in ids} for n in pools}
    found = evaluate(pools, "error_rate", labels=look, budget=200, method="passive")
    same = evaluate(pools, "error_rate", labels=labels, budget=200, method="passive")
    assert found.overall.value == same.overall.value
    assert found.shares == {"jan": 1 / 3, "feb": 2 / 3}
    few, many = sorted((set(asked["jan"]), {i for i in asked["feb"] if i < 500}), key=len)
    assert len(few & many) < len(few) / 2  # by chance 1 in 8, all of them if both had the same numbers


def test_several_measures_share_the_labels() -> None:
    pool, y = problem()
    found = evaluate(pool, ["f1", "recall"], labels=y, budget=90, slices="folder")
    assert list(found) == ["f1", "recall"]
    assert found["recall"].n_labels == found["f1"].n_labels == 90


def test_a_slice_whose_value_is_settled_still_serves_the_whole() -> None:
    rng = np.random.default_rng(2)
    score = rng.normal(0, 2, size=600)
    quiet = np.arange(600) % 2 == 1
    score[quiet] = -np.abs(score[quiet]) - 0.1  # never predicted positive: recall 0, whatever the labels
    y = (rng.random(600) < expit(score)) * 1
    pool = Pool(expit(score))
    truth = evaluate(pool, "recall", labels=y, budget=600).value
    with pytest.warns(sondage.errors.SondageWarning, match="the draw is passive"):
        runs = [evaluate(pool, "recall", labels=y, budget=100, slices=quiet, seed=seed).overall for seed in range(30)]
    assert {one.n_labels for one in runs} == {100}
    errors = np.array([one.value - truth for one in runs])
    assert np.mean([one.std_error for one in runs]) == pytest.approx(np.std(errors), rel=0.4)
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(30)


def test_slices_cover_and_the_whole_is_better_than_equal_parts(agrees: Any) -> None:
    rng = np.random.default_rng(4)
    # W S is .34 and .03: equal parts have 2 (.34^2 + .03^2) / .37^2 = 1.7 times the variance.
    hard = rng.random(800) < 0.8
    score = rng.normal(0.0, np.where(hard, 1.0, 8.0))
    y = (rng.random(800) < expit(score)) * 1
    pool = Pool(expit(score))
    rows = slice_rows(pool, hard)
    truth = {name: float(np.mean((score[mask] > 0) != y[mask])) for name, mask in rows.items()}
    parts = [(pool.only(mask), y[mask], mask.mean()) for mask in rows.values()]
    hits, runs, shared, equal = 0, 40, [], []
    for seed in range(runs):
        found = evaluate(pool, labels=y, budget=100, slices=hard, seed=seed)
        hits += sum(truth[name] in one.interval(0.95) for name, one in found.items())
        shared.append(found.overall.value)
        equal.append(sum(w * evaluate(part, labels=own, budget=50, seed=seed).value for part, own, w in parts))
    value = float(np.mean((score > 0) != y))
    assert agrees(hits, 2 * runs, 0.95)
    assert np.mean((np.array(shared) - value) ** 2) < 0.8 * np.mean((np.array(equal) - value) ** 2)


def test_result_is_a_mapping_with_a_line_for_each() -> None:
    pool, y = problem()
    found = evaluate(pool, labels=y, budget=60, slices="folder")
    assert isinstance(found, Slices)
    assert list(found) == ["inbox", "lists", "spam"]
    assert [line.split(":")[0] for line in str(found).splitlines()] == ["inbox", "lists", "spam", "overall"]
    with pytest.raises(InputError, match="no slice 'sent'"):
        found["sent"]
    with pytest.raises(InputError, match="in several slices"):
        found.overall.sequence()
    assert found["lists"].sequence().low[-1] <= found["lists"].value


def test_labels_got_before_a_failure_are_kept() -> None:
    pool, y = problem()
    seen: list[int] = []

    def label(ids: list[int]) -> list[int]:
        if len(seen) >= 30:
            raise OSError("gone home")
        seen.extend(ids)
        return y[ids].tolist()

    with pytest.raises(LabelingInterrupted, match="gone home") as caught:
        evaluate(pool, labels=label, budget=200, slices="folder")
    assert set(caught.value.labels) == set(seen)
    pools, labels = halves(pool, y)
    seen.clear()
    with pytest.raises(LabelingInterrupted, match="gone home") as caught:
        evaluate(pools, labels={"jan": labels["jan"], "feb": label}, budget=200)
    assert set(caught.value.labels["feb"]) == set(seen)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slices": "folders"}, r"no field 'folders' to slice by; the pool has \['folder'\]"),
        ({"slices": np.zeros(3)}, "slices has 3 rows; it must have 1500"),
        ({"slices": np.zeros(1500)}, "all rows are in the slice 0.0"),
        ({"slices": [None, *["a"] * 1499]}, r"slice of row 0 \(id 0\) is None; every row needs one"),
        ({"budget": 29}, "too small for 3 slices: 30 labels"),
        ({"budget": 2000}, "above what the pool can take"),
        ({"share": "equal"}, "no share 'equal'; there are overall, each"),
        ({"stop": 0.1}, "stop= is for one pool"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    pool, y = problem()
    with pytest.raises(InputError, match=message):
        evaluate(pool, **({"labels": y, "budget": 60, "slices": "folder"} | options))


def test_pools_that_do_not_fit_are_refused() -> None:
    pool, y = problem()
    pools, labels = halves(pool, y)
    with pytest.raises(InputError, match="mapping with their names"):
        evaluate(pools, labels=y, budget=60)
    name = list(pools)[-1]
    some = {one: told for one, told in labels.items() if one != name}
    with pytest.raises(InputError, match=f"to each pool's labels; there are none of {name!r}$"):
        evaluate(pools, labels=some, budget=60)
    with pytest.raises(InputError, match="the same task and models"):
        evaluate(pools | {"mar": Pool(means=[0.1, 0.2])}, labels=labels | {"mar": [0, 1]}, budget=60)
    with pytest.raises(InputError, match="leave slices= out"):
        evaluate(pools, labels=labels, budget=60, slices="folder")
    with pytest.raises(InputError, match="there is 1"):
        evaluate({"jan": pools["jan"]}, labels={"jan": labels["jan"]}, budget=60)
    with pytest.raises(MeasureError, match="measure 'auc' takes its bins from one pool"):
        evaluate(pools, "auc", labels=labels, budget=60)
    priced = Pool([0.2] * 40, costs=1 + np.arange(40) % 2)
    for slices in (["a", "b"] * 20, ["a"] * 20 + ["b"] * 20):
        with pytest.raises(InputError, match="which must all cost the same"):
            evaluate(priced, labels=[0] * 40, budget=20, slices=slices)
    with pytest.raises(InputError, match="in different slices"):
        evaluate(Pool([0.2] * 40, groups=np.arange(40) // 2), labels=[0] * 40, budget=20, slices=["a", "b"] * 20)
    with (
        pytest.warns(SondageWarning, match="the draw is passive"),
        pytest.raises(MeasureError, match=r"^measure 'precision' is undefined"),
    ):
        evaluate(Pool([0.4, 0.2] * 40), "precision", labels=[0] * 80, budget=20, slices=["a", "b"] * 40)


def test_groups_stay_together() -> None:
    pool, y = problem(1500, groups=np.arange(1500))
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(750), 2)
    folder = NAMES[rng.integers(0, 3, size=750)][group]
    shared = Pool(pool.items.models[0].probabilities, groups=group)
    found = evaluate(shared, labels=y[group], budget=750, slices=folder)
    assert found.n_labels == 750
    assert found.overall.value == pytest.approx(evaluate(shared, labels=y[group], budget=750).value, rel=1e-9)


def test_the_whole_is_not_known_where_each_slice_is() -> None:
    # All are predicted positive in one slice and none in the other: recalls of 1 and 0, whatever the labels are.
    named, y = np.repeat(["all", "none"], 200), (np.random.default_rng(0).random(400) < 0.3) * 1
    pool = Pool(predictions=(named == "all") * 1, classes=[0, 1])
    answer, asked = noting(y)
    uniform = {"design": "passive", "floor": 0.0, "stages": 1, "interval": "wald"}
    found = evaluate(pool, "recall", answer, 60, 0, slices=named, **uniform)
    assert [(found[name].value, found[name].exact) for name in ("all", "none")] == [(1.0, True), (0.0, True)]
    labels = [y[[i for i in asked if named[i] == name]] for name in ("all", "none")]
    a, b = (own.mean() / 2 for own in labels)
    va, vb = ((1 - len(own) / 200) * own.var(ddof=1) / len(own) / 4 for own in labels)
    assert not found.overall.exact
    assert found.overall.value == pytest.approx(a / (a + b), rel=1e-12)
    assert found.overall.std_error == pytest.approx(np.sqrt(b**2 * va + a**2 * vb) / (a + b) ** 2, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")
@pytest.mark.parametrize(("measure", "value"), [("kappa", 0.0), ("recall", 1.0), ("balanced_accuracy", 0.5)])
def test_the_whole_is_known_where_no_label_can_move_it(measure: str, value: float) -> None:
    y = (np.random.default_rng(0).random(400) < 0.3) * 1
    pool = Pool(predictions=np.ones(400, dtype=int), classes=[0, 1])
    whole = evaluate(pool, measure, y, 60, 0, slices=np.repeat(["a", "b"], 200)).overall
    assert (whole.value, whole.std_error, whole.exact) == (pytest.approx(value), 0.0, True)


@pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")
def test_slices_without_any_positive() -> None:
    pool, named, y = Pool(predictions=np.zeros(40, dtype=int), classes=[0, 1]), np.repeat(["a", "b"], 20), np.zeros(40)
    whole = evaluate(pool, "f1", y, 40, 0, slices=named).overall
    assert (whole.value, whole.exact) == (evaluate(pool, "f1", y, 40, 0).value, True)
    apart = Pool(predictions=np.repeat([0, 1], 20), classes=[0, 1])
    undefined = evaluate(apart, "recall", y, 40, 0, slices=named).overall
    assert np.isnan(undefined.value)
    assert any("undefined" in text for text in undefined.warnings)


def test_slices_whose_index_has_the_ids_in_another_order_are_refused() -> None:
    ids = [f"x{n}" for n in range(60)]
    folder = pandas.Series(np.resize(NAMES, 60), index=ids)
    pool = Pool(np.linspace(0, 1, 60), ids=ids)
    with pytest.raises(InputError, match=r"ids as their index, in another order: give slices\.loc\[pool\.ids\]"):
        slice_rows(pool, folder[::-1])
    assert slice_rows(pool, folder[::-1].loc[pool.ids])["lists"].sum() == 20


@pytest.mark.parametrize("told", [False, True], ids=["without variances", "with variances"])
@pytest.mark.parametrize("budget", [15, 40])
def test_r2_of_a_slice_of_one_item_is_undefined_and_that_of_the_whole_is_not(budget, told):
    random = np.random.default_rng(0)
    means = random.normal(size=40)
    labels = means + 0.3 * random.normal(size=40)
    pool = Pool(means=means, variances=np.full(40, 0.1) if told else None)
    found = evaluate(pool, "r2", labels, budget, slices=["many"] * 39 + ["one"])
    assert np.isnan(found["one"].value)
    assert found["one"].warnings == ("r2 is undefined on these labels: its denominator is 0",)
    assert np.isfinite([found["many"].value, found.overall.value, found.overall.std_error]).all()
    if budget == 40:
        assert found.overall.value == pytest.approx(evaluate(pool, "r2", labels, 40).value, rel=1e-12)


@pytest.mark.parametrize("estimator", ["anchored", "self_normalised", "horvitz_thompson"])
@pytest.mark.parametrize("measure", ["mse", "bias", "r2"])
def test_slices_are_exact_by_any_method_where_all_is_labelled_and_nowhere_else(measure, estimator):
    random = np.random.default_rng(0)
    means, variances = random.normal(size=20), random.random(20)
    labels = means + 0.3 * random.normal(size=20)
    slices = ["x"] * 10 + ["y"] * 10
    options = {"method": "thesis", "estimator": estimator}
    found = evaluate(Pool(means=means, variances=variances), measure, labels, 20, slices=slices, **options)
    assert found.overall.exact
    assert all(one.exact and one.n_labels == 10 for one in found.values())
    sure = Pool(means=means, variances=variances * (np.arange(20) % 2))  # some of which the thesis's design never draws
    found = evaluate(sure, measure, labels, 20, slices=slices, **options)
    for one, items in ((found["x"], 10), (found["y"], 10), (found.overall, 20)):
        assert one.exact == (one.n_labels == items)


@pytest.mark.parametrize("far", [1e5, 1e7, 1e12])
def test_a_slice_that_is_nothing_beside_the_whole_is_known_by_its_own_labels(far):
    random = np.random.default_rng(0)
    means = random.normal(size=400)
    labels = means + 0.5 * random.normal(size=400)
    labels[random.integers(400)] += far
    slices = [str(row % 2) for row in range(400)]
    for variances in (None, np.full(400, 0.25)):
        pool = Pool(means=means, variances=variances)
        squared, root = (evaluate(pool, name, labels, 80, slices=slices).overall for name in ("mse", "rmse"))
        assert root.value == pytest.approx(squared.value**0.5, rel=1e-9)
        assert root.std_error == pytest.approx(squared.std_error / (2 * root.value), rel=1e-6)  # the delta method's
        assert 0 < root.interval().low < root.value < root.interval().high < np.inf


def test_a_slice_may_weigh_next_to_nothing():
    weights, labels = np.repeat([1e-100, 1.0], 20), np.arange(40) % 2
    found = evaluate(Pool(np.full(40, 0.3), weights=weights), "error_rate", labels, 40, slices=["x"] * 20 + ["y"] * 20)
    assert [one.value for one in found.values()] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert found.overall.value == pytest.approx(0.5, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.* the draw is passive")
@pytest.mark.parametrize("share", ["overall", "each"])
@pytest.mark.parametrize("measure", ["precision", "mcc"])
def test_a_measure_that_no_label_defines_on_a_slice_is_told_of_the_others_and_of_the_whole(measure, share):
    random = np.random.default_rng(0)
    p = np.r_[random.uniform(0.0, 1.0, 200), random.uniform(0.0, 0.3, 30)]  # none of the last is called positive
    y, names = (random.random(230) < p).astype(int), ["big"] * 200 + ["rare"] * 30
    found = evaluate(Pool(p), measure, y, 230, slices=names, share=share)
    alone = evaluate(Pool(p[:200]), measure, y[:200], 200)
    whole = evaluate(Pool(p), measure, y, 230)
    assert [found.estimates["big"].value, found.overall.value] == pytest.approx([alone.value, whole.value])
    rare = found.estimates["rare"]
    assert np.isnan([rare.value, rare.std_error]).all()
    assert rare.interval().kind == "undefined"
    assert f"{measure} is undefined on these labels: its denominator is 0" in rare.warnings
    with pytest.raises(MeasureError, match=rf"^measure '{measure}' is undefined on this pool whatever the labels are"):
        evaluate(Pool(0.3 * p), measure, y, 100, slices=names, share=share)
