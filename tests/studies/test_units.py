"""Labels, costs, weights and features may be in any unit: what is asked for, and what is said of it, are the same."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sondage import Classifier, Pool, Regressor, compare, evaluate, read_pool, select

from .biases import LeastBias
from .noting import noting

pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")

ITEMS = 200
UNITS = (2.0**-30, 2.0**30)
DIMENSIONS = {"mse": 2, "rmse": 1, "mae": 1, "bias": 1, "r2": 0}


def numbers(random, *, told):
    """Return labels, what three regressors say, of which the last is far off, and their variances."""
    labels = random.normal(size=ITEMS)
    means = {
        name: labels + scale * random.normal(size=ITEMS) for name, scale in zip("abc", (0.5, 0.6, 5.0), strict=True)
    }
    return labels, means, random.lognormal(0.0, 0.5, ITEMS) * 0.3 if told else None


def in_unit(unit, means, variances, **columns):
    own = None if variances is None else variances * unit**2
    return Pool(models={name: Regressor(mean * unit, own) for name, mean in means.items()}, **columns)


def numbers_of(question, pool, measure, answer, seed, unit, **options):
    """Return what is said, in the unit of the measure."""
    if question == "select":
        found = select(pool, LeastBias() if measure == "bias" else measure, labels=answer, seed=seed, **options)
        estimates, gaps = list(found.estimates.values()), list(found.gaps().values())
    else:
        asks = evaluate(pool, measure, answer, seed=seed, model="a", **options) if question == "evaluate" else None
        one = asks or compare(pool, "a", "b", measure, labels=answer, seed=seed, **options).estimate
        estimates, gaps = [one], [one.interval()]
    values = [(one.value, one.std_error) for one in estimates]
    parts = [((gap.low + gap.high) / 2, gap.width) for gap in gaps]  # not ends, of which one may be next to 0
    return np.concatenate([np.ravel(values), np.ravel(parts)]) / unit ** DIMENSIONS[measure]


@pytest.mark.parametrize("told", [False, True], ids=["without variances", "with variances"])
@pytest.mark.parametrize("measure", ["mse", "rmse", "mae", "bias", "r2"])
@pytest.mark.parametrize("question", ["evaluate", "compare", "select"])
def test_numbers_in_any_unit(question, measure, told):
    for seed in range(3):
        labels, means, variances = numbers(np.random.default_rng(seed), told=told)
        found = []
        for unit in (1.0, *UNITS):
            answer, asked = noting(labels * unit)
            pool = in_unit(unit, means, variances)
            said = numbers_of(question, pool, measure, answer, seed, unit, budget=60)
            found.append((asked, said))
        for asked, said in found[1:]:
            assert asked == found[0][0]
            np.testing.assert_allclose(said, found[0][1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("measure", ["mse", "mae"])
def test_variances_of_zero_are_as_none(measure):
    labels, means, _ = numbers(np.random.default_rng(0), told=False)
    found = []
    for variances in (None, np.zeros(ITEMS)):
        answer, asked = noting(labels)
        one = evaluate(in_unit(1.0, means, variances), measure, answer, budget=90, seed=0, model="a")
        found.append((asked, one.value, one.std_error))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1:], found[0][1:], rtol=0.01)


@pytest.mark.parametrize("measure", ["mse", "mae", "bias", "r2"])
def test_stages_of_one_regressor_without_variances(measure):
    labels, means, _ = numbers(np.random.default_rng(0), told=False)
    found = []
    for unit in (1.0, *UNITS):
        one = evaluate(in_unit(unit, {"a": means["a"]}, None), measure, labels * unit, budget=150, seed=0)
        found.append(np.array([one.value, one.std_error]) / unit ** DIMENSIONS[measure])
    np.testing.assert_allclose(found[1:], [found[0]] * len(UNITS), rtol=1e-7)


@pytest.mark.parametrize("measure", ["mse", "mae", "bias", "r2"])
@pytest.mark.parametrize("question", ["evaluate", "compare"])
def test_numbers_far_from_0(question, measure):
    for seed in range(3):
        labels, means, variances = numbers(np.random.default_rng(seed), told=True)
        found = []
        for origin in (0.0, 1000.0, 10_000.0, 1e8):
            answer, asked = noting(labels + origin)
            pool = Pool(models={name: Regressor(mean + origin, variances) for name, mean in means.items()})
            found.append((asked, numbers_of(question, pool, measure, answer, seed, 1.0, budget=60)))
        for asked, said in found[1:]:
            assert asked == found[0][0]
            np.testing.assert_allclose(said, found[0][1], rtol=2e-6)


@pytest.mark.parametrize("told", [False, True], ids=["without variances", "with variances"])
@pytest.mark.parametrize("ask", ["pool", "all", "slices", "pools", "select"])
def test_r2_does_not_hang_on_where_the_scale_has_its_0(ask, told):
    labels, means, variances = numbers(np.random.default_rng(0), told=told)
    variances = None if variances is None else variances * 1024**2
    found = []
    for origin in (0.0, 1e5, -1e9):
        truth = np.round(labels * 1024) + origin  # whole numbers, which adding the origin does not round
        pool = Pool(models={name: Regressor(np.round(m * 1024) + origin, variances) for name, m in means.items()})
        if ask == "select":
            best = select(pool, "r2", labels=truth, budget=60)
            found.append([(one.value, one.std_error) for one in best.estimates.values()])
            continue
        options = {"model": "a", "budget": ITEMS if ask == "all" else 60}
        options |= {"slices": ["x", "y"] * (ITEMS // 2)} if ask == "slices" else {}
        both = {"x": pool, "y": pool} if ask == "pools" else pool
        one = evaluate(both, "r2", {"x": truth, "y": truth} if ask == "pools" else truth, **options)
        one = one if ask in ("pool", "all") else one.overall
        found.append([one.value, one.std_error, one.interval().low])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-7)


@pytest.mark.parametrize("unit", UNITS)
def test_strata_of_regressors_without_variances(unit):
    labels, means, _ = numbers(np.random.default_rng(0), told=False)
    asked = []
    for times in (1.0, unit):
        answer, ids = noting(labels * times)
        evaluate(in_unit(times, means, None), "mse", answer, 40, 0, model="a", draw="strata")
        asked.append(ids)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("unit", UNITS)
def test_skipped_items_in_any_unit(unit):
    labels, means, variances = numbers(np.random.default_rng(1), told=False)
    found = []
    for times in (1.0, unit):
        answer, _ = noting(labels * times)

        def skipping(ids, answer=answer):
            return [None if one % 4 == 0 else label for one, label in zip(ids, answer(ids), strict=True)]

        one = evaluate(in_unit(times, means, variances), "mse", skipping, 60, 0, model="a")
        found.append(np.array([one.value, one.std_error]) / times**2)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("of", ["costs", "weights", "features"])
def test_costs_weights_and_features_in_any_unit(of, unit):
    random = np.random.default_rng(2)
    chances = random.random(ITEMS)
    labels = (random.random(ITEMS) < chances).astype(int)
    columns = {"costs": random.choice([1.0, 2.0, 5.0], ITEMS), "weights": random.lognormal(size=ITEMS)}
    columns["features"] = random.normal(size=(ITEMS, 3))
    found = []
    for times in (1.0, unit):
        answer, asked = noting(labels)
        pool = Pool(chances, **columns | {of: columns[of] * times})
        one = evaluate(pool, "f1", answer, 90.0 * (times if of == "costs" else 1.0), 0)
        found.append((asked, [one.value, one.std_error, one.interval().low]))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-7)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("options", [{"method": "passive"}, {"design": "cost_only"}, {}, None], ids=str)
def test_equal_costs_are_as_none(tmp_path, lazy, options):
    random = np.random.default_rng(4)
    columns = {"id": np.arange(ITEMS)} | {f"{name}.p_1": random.random(ITEMS) for name in "ab"}
    pq.write_table(pa.table(columns | {"cost": np.full(ITEMS, 0.3)}), tmp_path / "costs.parquet")
    pq.write_table(pa.table(columns), tmp_path / "none.parquet")
    labels, found = (columns["a.p_1"] > random.random(ITEMS)).astype(int), []
    for name, cost in (("none", 1.0), ("costs", 0.3)):
        pool = read_pool(tmp_path / f"{name}.parquet", lazy=lazy)
        answer, asked = noting(labels)
        if options is None:  # two classifiers, labelled uniformly where they differ
            said = compare(pool, "a", "b", "error_rate", labels=answer, budget=53 * cost).estimate
        else:
            said = evaluate(pool, "error_rate", answer, budget=53 * cost, model="a", **options)
        ends = said.interval()
        found.append((asked, [said.value, said.std_error, ends.low, ends.high], ends.kind))
    assert found[0][::2] == found[1][::2]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-10)


@pytest.mark.parametrize("more", [0.0, 0.5])  # of a label's price, which pays no label
@pytest.mark.parametrize("ask", ["slices", "pools", "looks"])
def test_labels_of_one_price_are_counted(ask, more):
    random = np.random.default_rng(6)
    p = random.random((ITEMS, 2))
    labels, found = (random.random(ITEMS) < p[:, 0]).astype(int), []
    for cost in (None, 0.3):
        models = {name: Classifier(column) for name, column in zip("ab", p.T, strict=True)}
        pool = Pool(models=models, costs=None if cost is None else np.full(ITEMS, cost))
        options = {"budget": 60 if cost is None else (60 + more) * cost}
        if ask == "looks":
            answer, asked = noting(labels)
            compared = compare(pool, "a", "b", labels=answer, alpha=1e-9, stop="significant", looks=3, **options)
            found.append([compared.pvalue, compared.interval().low, *asked])
            continue
        if ask == "slices":
            parts = evaluate(pool, "f1", labels, model="a", slices=["x", "y"] * (ITEMS // 2), **options)
        else:
            both = {"x": pool, "y": pool}
            parts = evaluate(both, "f1", dict.fromkeys(both, labels), model="a", **options)
        assert parts.overall.spent == pytest.approx(60 * (cost or 1.0))
        found.append([parts.overall.value, parts.overall.std_error, *(part.n_labels for part in parts.values())])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)


@pytest.mark.parametrize("unit", UNITS)
def test_variances_of_another_unit_than_the_labels_are_no_help_and_no_harm(unit):
    labels, means, variances = numbers(np.random.default_rng(3), told=True)
    answer, _ = noting(labels)
    pool = Pool(models={"a": Regressor(means["a"], variances * unit)})
    one = evaluate(pool, "mse", answer, 100, 0)
    truth = float(np.mean(np.square(labels - means["a"])))
    assert truth in one.interval()
    assert one.interval().width < truth


@pytest.mark.parametrize("measure", ["mse", "mae"])
def test_selections_in_any_unit_in_files(tmp_path, measure):
    labels, means, _ = numbers(np.random.default_rng(4), told=False)
    found = []
    for times in (1.0, *UNITS):
        table = {"id": np.arange(ITEMS)} | {f"{name}.prediction": mean * times for name, mean in means.items()}
        path = tmp_path / f"{times}.parquet"
        pq.write_table(pa.table(table), path)
        stored = read_pool(path, lazy=True)
        for pool in (stored, stored.load()):
            answer, asked = noting(labels * times)
            best = select(pool, measure, labels=answer, budget=60, seed=4)
            found.append((asked, best.ranking))
    assert all(one == found[0] for one in found[1:])


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("measure", ["mse", "mae", "rmse"])
def test_regressors_without_variances_that_often_agree(measure, unit):
    # What they predict alike is left out of the draw; what is believed of it has no unit.
    random = np.random.default_rng(0)
    labels = random.normal(size=300)
    first = labels + 0.3 * random.normal(size=300)
    second = np.where(random.random(300) < 0.3, first, labels + 0.5 * random.normal(size=300))

    def asked(scale):
        pool = Pool(models={"a": Regressor(first * scale), "b": Regressor(second * scale)})
        found = compare(pool, "a", "b", measure, labels=labels * scale, budget=60, seed=1)
        chosen = select(pool, measure, labels=labels * scale, budget=60, seed=1)
        power = scale**2 if measure == "mse" else scale
        return found.difference / power, found.pvalue, chosen.contenders()

    wanted, found = asked(1.0), asked(unit)
    assert found[:2] == pytest.approx(wanted[:2], rel=1e-6)
    assert found[2] == wanted[2] == ("a",)
