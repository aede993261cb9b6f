"""Pools of which much is known, or nothing: a result, or a refusal in words, and no warning of NumPy's."""

import warnings
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas
import pytest

from sondage import Classifier, Pool, Regressor, Study, advise, compare, evaluate, read_pool, select
from sondage.errors import InputError, SondageWarning

pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")


@pytest.fixture(scope="module")
def never_positive():
    """Return probabilities of which none names the positive class, and labels."""
    random = np.random.default_rng(0)
    p = 0.4 * random.random(2000)
    return p, (random.random(2000) < p).astype(int)


@pytest.mark.parametrize(("measure", "value"), [("f1", 0.0), ("recall", 0.0), ("specificity", 1.0)])
@pytest.mark.parametrize("lazy", [False, True])
def test_a_measure_that_no_label_can_move_is_exact(never_positive, measure, value, lazy, tmp_path):
    p, labels = never_positive
    pool = Pool(p, ids=np.arange(2000))
    if lazy:
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame({"id": np.arange(2000), "p_0": 1 - p, "p_1": p}).to_parquet(tmp_path / "pool.parquet")
        pool = read_pool(tmp_path / "pool.parquet", lazy=True)
    with pytest.warns(SondageWarning, match="the draw is passive"):
        found = evaluate(pool, measure, lambda ids: [int(labels[i]) for i in ids], 60)
    assert (found.value, found.exact, found.std_error) == (value, True, 0.0)
    assert (found.interval().low, found.interval().high) == (value, value)


def test_of_models_that_never_say_positive_none_is_better(never_positive):
    p, labels = never_positive
    pool = Pool(models={name: Classifier(factor * p) for name, factor in (("a", 1.0), ("b", 0.9), ("c", 0.8))})
    assert compare(pool, "a", "b", "f1", labels=labels, budget=60).better is None
    assert set(select(pool, "f1", labels=labels, budget=60).contenders()) == {"a", "b", "c"}
    assert evaluate(Pool(p), "balanced_accuracy", labels, 60).value == 0.5


def test_what_labels_prove_of_a_constant_prediction_is_exact_beside_another_measure(never_positive):
    p, labels = never_positive
    found = evaluate(Pool(p), ["error_rate", "balanced_accuracy"], labels=labels, budget=60)
    assert found["error_rate"].std_error > 0
    assert (found["balanced_accuracy"].value, found["balanced_accuracy"].std_error) == (0.5, 0.0)
    assert found["balanced_accuracy"].exact


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_labels_are_found_by_dates_as_numpy_has_them(unit):
    ids = (np.datetime64("2026-01-01", "D") + np.arange(40)).astype(f"datetime64[{unit}]")
    labels = np.arange(40) % 2
    pool = Pool(np.linspace(0.1, 0.9, 40), ids=ids)
    found = evaluate(pool, labels=dict(zip(ids, labels, strict=True)), budget=40)
    assert found.value == pytest.approx(np.mean(labels != (np.linspace(0.1, 0.9, 40) >= 0.5)))
    assert {type(name) for name in pool.ids.tolist()} <= {date, datetime}  # of nanoseconds NumPy makes numbers


def test_advice_for_a_measure_that_no_label_can_move(never_positive):
    found = advise(Pool(never_positive[0]), "f1", width=0.1)
    assert found.sentence == "No label can change f1 here: it follows from the predictions alone."
    assert [one.passive_budget for one in found.expected] == [one.budget for one in found.expected]
    assert all(labels <= 1 for labels in found.needed.values())


def test_a_measure_that_stays_undefined_has_no_exact_interval():
    found = evaluate(Pool([0.2, 0.9]), "specificity", [1, 1], 2)
    assert np.isnan([found.value, found.std_error]).all()
    assert (found.interval().low, found.interval().high, found.interval().kind) == (0.0, 1.0, "undefined")


@pytest.mark.parametrize("variances", [np.zeros(300), np.r_[np.zeros(150), np.ones(150)]])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_variances_of_0_are_no_scale_for_others(variances, scale):
    random = np.random.default_rng(1)
    labels = scale * random.normal(size=300)
    found = evaluate(Pool(models={"m": Regressor(np.zeros(300), variances)}), "mse", labels, 120)
    assert np.isfinite(found.value)
    assert found.interval().width > 0


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_in_single_precision_may_be_0_and_1(seed):
    random = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-40 * random.normal(size=3000)))
    labels = (random.random(3000) < 0.05 + 0.9 * p).astype(int)
    single, double = (evaluate(Pool(p.astype(kind)), "f1", labels, 200, seed) for kind in (np.float32, np.float64))
    assert np.sum(p.astype(np.float32) == 1) > np.sum(p == 1)
    assert single.value == pytest.approx(double.value, abs=2 * double.std_error)
    assert 0 < single.std_error < 3 * double.std_error


@pytest.mark.parametrize("columns", [1, 2])
def test_extended_precision_is_taken_as_double(columns):
    p = np.random.default_rng(3).random(300)
    given = p if columns == 1 else np.stack([1 - p, p], axis=1)
    found = [evaluate(Pool(given.astype(kind)), "f1", np.arange(300) % 2, 60, 1) for kind in (np.longdouble, float)]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-12)


@pytest.mark.parametrize("columns", [1, 2])
def test_half_precision_is_taken_as_single(columns):
    p, judge = np.random.default_rng(3).random((2, 300)).astype(np.float16)
    given = p if columns == 1 else np.stack([1 - p, p], axis=1)
    pools = [Pool(given.astype(kind), judge=judge.astype(kind)) for kind in (np.float16, np.float32)]
    found = [evaluate(pool, "log_loss", np.arange(300) % 2, 60, 1) for pool in pools]
    assert (found[0].value, found[0].std_error) == (found[1].value, found[1].std_error)


@pytest.mark.parametrize("measure", ["error_rate", "balanced_accuracy", "macro_f", "kappa"])
def test_a_class_that_is_all_but_impossible_everywhere(measure):
    # Of a mean below 1e-300 nine digits were asked for by dividing infinity by infinity.
    random = np.random.default_rng(0)
    p = random.random(200)
    labels = (random.random(200) < p).astype(int)
    pool = Pool(np.column_stack([1 - p, p, np.full(200, 1e-304)]))
    truth = evaluate(pool, measure, labels=labels, budget=200).value
    assert truth in evaluate(pool, measure, labels=labels, budget=60).interval(0.999)


def test_skips_are_stood_for_by_items_of_equal_belief(tmp_path):
    random = np.random.default_rng(13)
    p = np.where(random.random(1500) < 0.5, 0.02, random.random(1500))
    study = Study.create(tmp_path / "study.db", Pool(p), "brier", budget=120, seed=13)
    while ids := study.ask(7):
        for place, name in enumerate(ids):
            if place % 5 == 0:
                study.skip(name, "me")
            else:
                study.tell([name], [int(p[name] > random.random())])
    found = study.estimate()
    assert found.n_skipped > 10
    assert 0 < found.value < 1


@pytest.mark.parametrize("classes", [2, 4])
def test_a_belief_that_is_alike_for_all_items_does_not_assist_by_its_last_bits(classes, tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(8)
    sure = np.eye(classes)[random.integers(classes, size=400)]
    frame = pandas.DataFrame(sure, columns=[f"p_{name}" for name in range(classes)])
    frame.insert(0, "id", np.arange(400))
    frame["weight"] = 1 + random.random(400)
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "pool.parquet")
    labels = {number: int(random.integers(classes)) for number in range(400)}
    pools = [read_pool(tmp_path / "pool.parquet", lazy=lazy) for lazy in (False, True)]
    found = [evaluate(pool, "error_rate", labels, 40) for pool in pools]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-9)
    assert found[0].std_error == pytest.approx(found[1].std_error, rel=1e-9)
    assert [each.evidence.fit.stages[0].coefficient for each in found] == [1, 1]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("measure", ["mse", "mae"])
@pytest.mark.parametrize(("scale", "variance"), [(1.0, 0.0), (1e6, 1e-12), (0.0, 1.0)])
def test_regressors_of_which_one_says_nothing_of_use(measure, scale, variance):
    """Sure of all, on another scale, or constant: the labels' correction is learned all the same."""
    rng = np.random.default_rng(4)
    mean, y = rng.normal(size=(2, 300))
    variances = np.where(rng.random(300) < 0.5, variance, 0.1)
    models = {"a": Regressor(mean, variances), "b": Regressor(scale * mean + 0.1, variances), "c": Regressor(mean)}
    pool = Pool(models=models)
    found = compare(pool, "a", "b", measure, labels=y, budget=60)
    alone = evaluate(pool, measure, labels=y, budget=130, model="a")
    assert np.isfinite([found.difference, found.std_error, alone.value, alone.std_error]).all()
    loss = np.square if measure == "mse" else np.abs
    truth = float(np.mean(loss(mean - y)))
    assert alone.value == pytest.approx(truth, abs=5 * alone.std_error)
    gap = truth - float(np.mean(loss(scale * mean + 0.1 - y)))
    assert found.difference == pytest.approx(gap, abs=5 * found.std_error + 1e-9 * abs(gap))


@pytest.mark.parametrize("told", [False, True], ids=["without variances", "with variances"])
@pytest.mark.parametrize("measure", ["mse", "rmse", "mae", "r2"])
@pytest.mark.parametrize("most", [1e25, -9.9e34])
def test_one_prediction_that_is_far_beyond_all_others(most, measure, told):
    random = np.random.default_rng(0)
    labels = random.normal(size=300)
    means = labels + 0.5 * random.normal(size=300)
    odd, variances = np.r_[most, means[1:]], np.full(300, 0.25) if told else None
    pool = Pool(models={name: Regressor(m, variances) for name, m in (("a", odd), ("b", means), ("c", means + 0.1))})
    assert select(pool, measure, labels=labels, budget=40).best in "abc"
    assert np.isfinite(compare(pool, "a", "b", measure, labels=labels, budget=40).difference)
    for budget in (40, 300):
        found = evaluate(pool, measure, labels, budget, model="a", slices=["x", "y"] * 150)
        assert np.isfinite(found.overall.value)
    whole = evaluate(pool, measure, labels, 300, model="a")
    assert found.overall.value == pytest.approx(whole.value, rel=1e-9)
    assert whole.exact
    assert found.overall.exact


@pytest.mark.parametrize("unit", [1e-35, 1e34])
def test_numbers_in_a_unit_of_another_order(unit):
    random = np.random.default_rng(0)
    labels = random.normal(size=200)
    means = {name: labels + 0.5 * random.normal(size=200) for name in "ab"}
    found = []
    for times in (1.0, unit):
        models = {name: Regressor(mean * times, np.full(200, 0.25) * times**2) for name, mean in means.items()}
        one = compare(Pool(models=models), "a", "b", "mse", labels=labels * times, budget=60)
        found.append((one.difference / times**2, one.std_error / times**2, one.pvalue))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


@pytest.mark.parametrize("measure", ["mse", "mae", "bias", "r2"])
def test_variances_that_are_next_to_0(measure):
    labels = np.zeros(8)
    models = {name: Regressor(np.full(8, mean), np.full(8, v)) for name, mean, v in (("a", 0, 1e-300), ("b", 1, 0.1))}
    compare(Pool(models=models), "a", "b", measure, labels=labels, budget=8)
    value = evaluate(Pool(models={"a": models["a"]}), measure, labels, 8).value
    assert np.isnan(value) if measure == "r2" else value == 0.0


@pytest.mark.parametrize("measure", ["mse", "rmse", "mae", "bias", "r2"])
@pytest.mark.parametrize(
    ("unit", "least", "share"), [(1.0, 1e-150, 1.0), (1.0, 1e-300, 0.98), (1.0, 5e-324, 1.0), (1e34, 1e-300, 1.0)]
)
def test_variances_that_no_label_bears_out(unit, least, share, measure):
    random = np.random.default_rng(1)
    means, sure = unit * random.normal(size=(2, 300)), random.random(300) < share
    labels, variances = means[0] + unit * random.normal(size=300), np.where(sure, least, 0.25)
    close = Regressor(means[0] + 0.1 * means[1], variances)
    pool = Pool(models={"a": Regressor(means[0], variances), "b": close})
    found = evaluate(Pool(means=means[0], variances=variances), measure, labels, 60)
    both = compare(pool, "a", "b", measure, labels=labels, budget=60)
    ends = (*vars(found.interval()).values(), *vars(both.interval()).values())
    assert np.isfinite([found.value, found.std_error, both.difference, both.std_error]).all()
    assert np.isfinite([end for end in ends if isinstance(end, float)]).all()
    for advice in (advise(pool, measure, model="a"), advise(pool, measure, compare=("a", "b"), difference=1e-10)):
        assert all(np.isfinite(one.std_error) and one.passive_budget > 0 for one in advice.expected)


def test_weights_beside_which_others_are_nothing():
    pool = Pool(np.linspace(0.1, 0.9, 40), weights=np.where(np.arange(40) < 30, 1e-95, 1e95))
    found = evaluate(pool, "error_rate", np.arange(40) % 2, 40, design="strata")
    assert found.exact
    assert found.value == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int32, np.longdouble])
def test_columns_of_any_precision(kind):
    ones = np.ones(4, dtype=kind)
    pool = Pool(means=ones, variances=ones, weights=ones, costs=ones)
    assert evaluate(pool, "mse", [1.0, 2.0, 1.0, 2.0], 4).value == 0.5


def test_warnings_name_the_line_that_called_the_package(tmp_path):
    pool = Pool(np.tile([0.0, 1.0], 50))
    with pytest.warns(SondageWarning, match="nothing is uncertain") as planned:
        study = Study.create(tmp_path / "study.db", pool, budget=4, design="optimal", stages=1, belief="model")
    ids = study.ask(4)
    study.tell(ids, [0, None, 0, 0])
    with pytest.warns(SondageWarning, match="ends after 1 of 3 labels") as looked:
        study.estimate().sequence()  # reads the number of labels by a cached property
    assert {Path(warning.filename) for warning in (*planned, *looked)} == {Path(__file__)}


def test_a_series_of_another_length_than_the_pool_is_a_mapping_from_its_index():
    ids, p = [f"x{row}" for row in range(60)], np.linspace(0.05, 0.95, 60)
    labels = pandas.Series(np.arange(60) % 2, index=ids)
    pool, some = Pool(p, ids=ids), labels.sample(20, random_state=0)
    assert evaluate(pool, start=some).value == evaluate(pool, start=some.to_dict()).value
    more = pandas.concat([pandas.Series([1], index=["of no pool"]), labels])
    assert evaluate(pool, labels=more, budget=20).value == evaluate(pool, labels=labels, budget=20).value
    with pytest.raises(InputError, match=f"the index of start has '{some.index[0]}' twice; each item has one label"):
        evaluate(pool, start=pandas.concat([some, some[:1]]))
    with pytest.raises(InputError, match=r"start has shape \(20,\); the pool has 60 items"):  # row numbers are no names
        evaluate(pool, start=some.reset_index(drop=True))


@pytest.mark.parametrize("names", [[f"x{row}" for row in range(60)], np.roll(range(60), 7)], ids=["texts", "numbers"])
def test_an_index_that_names_rows_is_held_against_others_though_there_are_no_ids(names, tmp_path):
    p, y = pandas.Series(np.linspace(0.05, 0.95, 60), index=names), np.arange(60) % 2
    labels = pandas.Series(y, index=names)
    pool, other = Pool(p), pandas.Series(np.ones(60), index=names)[::-1]
    two = "have the same rows in two orders: put them in one"
    with pytest.raises(InputError, match=f"indexes of probabilities of 'model' and weights {two}"):
        Pool(p, weights=other)
    with pytest.raises(InputError, match=f"indexes of probabilities of 'a' and probabilities of 'b' {two}"):
        Pool(models={"a": Classifier(p), "b": Classifier(p[::-1])})
    message = "have the index of the pool's outputs, in another order: put them in one order, or give ids= to the pool"
    for call in (
        lambda: evaluate(pool, labels=labels[::-1], budget=20),
        lambda: evaluate(pool, start=labels[::-1]),
        lambda: evaluate(pool, labels=y, budget=20, slices=labels[::-1]),
    ):
        with pytest.raises(InputError, match=rf"rows of (labels|start|slices) {message}"):
            call()
    expected = evaluate(Pool(p.to_numpy()), labels=y, budget=20).value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(pool, labels=labels, budget=20).value == expected
        assert evaluate(Pool(p, weights=other[::-1]), labels=y, budget=20).value == pytest.approx(expected)
    numbered = "items are called by row number, 0 to 59, and not by the index that the pool's outputs have: give ids="
    for call in (
        lambda: evaluate(pool, labels=lambda ids: y[list(ids)], budget=20),
        lambda: evaluate(pool, labels=dict(enumerate(y)), budget=20),
        lambda: evaluate(pool, labels=y, start={3: 1}, budget=20),
        lambda: evaluate(pool, labels=lambda ids: y[list(ids)], budget=20, slices=np.repeat(["a", "b"], 30)),
        lambda: Study.create(tmp_path / "study.db", pool, budget=20),
    ):
        with pytest.warns(SondageWarning, match=numbered):
            call()
