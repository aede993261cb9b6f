"""Two models that are believed to be equal before any label, as two that flag equally many items are: what matters?"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sondage import Classifier, Pool, Regressor, Study, compare, read_pool, report, select

ITEMS = 400


@pytest.fixture
def pair(request):
    """Return predictions of two classifiers with as many positives, which differ on eight items, and the labels."""
    random = np.random.default_rng(request.param)
    labels = (random.random(ITEMS) < 0.2).astype(int)
    first = np.where(random.random(ITEMS) < 0.85, labels, 1 - labels)
    second = first.copy()
    second[random.choice(np.flatnonzero(first == 1), 4, replace=False)] = 0
    second[random.choice(np.flatnonzero(first == 0), 4, replace=False)] = 1
    return first, second, labels


def differing(first, second, **options):
    models = {"a": Classifier(predictions=first), "b": Classifier(predictions=second)}
    return Pool(models=models, classes=[0, 1], **options)


@pytest.mark.parametrize("pair", range(6), indirect=True)
@pytest.mark.parametrize("method", ["default", "thesis"])
@pytest.mark.parametrize("measure", ["f1", "recall", "mcc", "kappa", "balanced_accuracy", "macro_f"])
def test_what_both_predict_alike_matters(pair, measure, method):
    first, second, labels = pair
    pool = differing(first, second)
    truth = compare(pool, "a", "b", measure, labels=labels, budget=ITEMS, method="passive").difference
    found = compare(pool, "a", "b", measure, labels=labels, budget=100, method=method).estimate
    assert not found.exact or found.value == pytest.approx(truth, abs=1e-12)
    if method == "thesis":  # its draw never takes the others
        assert any("no chance of being drawn" in text for text in found.warnings)
    else:
        assert found.n_labels == 100 or found.exact


@pytest.mark.parametrize("pair", [0], indirect=True)
def test_but_not_for_the_precision_of_equally_many(pair):
    first, second, labels = pair
    pool = differing(first, second)
    truth = compare(pool, "a", "b", "precision", labels=labels, budget=ITEMS, method="passive").difference
    found = compare(pool, "a", "b", "precision", labels=labels, budget=100).estimate
    assert (found.exact, found.n_labels) == (True, 8)
    assert found.value == pytest.approx(truth, abs=1e-12)


def test_models_that_turn_out_equal_differ_by_0_exactly():
    # Four items of eight are positive, two of those that either model flags.
    labels = np.zeros(ITEMS, dtype=int)
    first, second = np.zeros((2, ITEMS), dtype=int)
    first[:4], second[4:8], labels[[0, 1, 4, 5]] = 1, 1, 1
    first[20:60], second[20:60], labels[20:50] = 1, 1, 1
    found = compare(differing(first, second), "a", "b", "f1", labels=labels, budget=100)
    assert (found.difference, found.estimate.exact, found.pvalue, found.better) == (0.0, True, 1.0, None)


def settled(items=4, **options):
    """Return a pool of two models that differ on some items, of which either is right on half; and the labels."""
    random = np.random.default_rng(1)
    labels = (random.random(ITEMS) < 0.2).astype(int)
    first = np.where(random.random(ITEMS) < 0.85, labels, 1 - labels)
    first[:items], labels[:items] = np.repeat([1, 0], items // 2), np.tile([1, 0], items // 2)
    second = first.copy()
    second[:items] = 1 - first[:items]
    return differing(first, second, **options), labels


@pytest.mark.parametrize("options", [{}, {"costs": np.linspace(0.5, 1.5, ITEMS)}], ids=["", "costs"])
@pytest.mark.parametrize("measure", ["f1", "recall", "mcc", "kappa", "balanced_accuracy", "macro_f"])
def test_a_settled_difference_counts_labels_as_they_are(measure, options):
    # Of sixteen items not all are sure to be drawn in the first stage: a label there counts for more than itself.
    pool, labels = settled(16, **options)
    found = [compare(pool, "a", "b", measure, labels=labels, budget=120, seed=seed).estimate for seed in range(8)]
    exact = [one for one in found if one.exact]
    assert len(exact) > 2
    assert {(one.value, one.std_error) for one in exact} == {(0.0, 0.0)}


def test_a_label_that_is_corrected_ends_it(tmp_path):
    pool, labels = settled()
    with Study.create(tmp_path / "study.db", pool, "f1", 150, compare=("a", "b")) as study:
        while ids := study.ask(30):
            study.tell(ids, [int(labels[one]) for one in ids])
        found = study.estimate().estimate
        assert (found.exact, found.warnings) == (True, ())
        labels[0] = 1 - labels[0]
        study.tell([0], [int(labels[0])], correct=True)
        found = study.estimate()
        truth = compare(pool, "a", "b", "f1", labels=labels, budget=ITEMS, method="passive").difference
        assert not found.estimate.exact
        assert any("corrected" in text and "raise the budget" in text for text in found.estimate.warnings)
        assert found.interval().low < truth < found.interval().high
        study.extend(151)
        assert len(study.ask(20)) == 20


def test_a_label_that_is_undone_is_no_correction(tmp_path):
    pool, labels = settled()
    with Study.create(tmp_path / "study.db", pool, "f1", 150, compare=("a", "b")) as study:
        while ids := study.ask(30):
            study.tell(ids, [int(labels[one]) for one in ids], who="anna")
        study.undo("anna")
        (warning,) = study.estimate().estimate.warnings
        assert warning.startswith("1 pending")


def test_labels_that_cannot_move_the_result_are_not_asked_for(tmp_path):
    pool, labels = settled()
    with Study.create(tmp_path / "study.db", pool, "f1", 150, compare=("a", "b")) as study:
        while ids := study.ask(7):
            study.tell(ids, [int(labels[one]) for one in ids])
        assert (study.status.asked, study.status.remaining) == (30, 0)  # a first stage
    with Study.open(tmp_path / "study.db", pool) as study:
        found = study.estimate()
        assert (found.difference, found.estimate.exact) == (0.0, True)
        assert not study.ask(1)
        assert "After 30 labels no other one could change" in " ".join(report(study).chosen)
        study.extend(160)
        assert len(study.ask(20)) == 20  # who wants to see more may
    one_call = compare(pool, "a", "b", "f1", labels=labels, budget=150)
    assert one_call.estimate.n_labels == 30


def test_but_of_a_population_they_are():
    pool, labels = settled()
    found = compare(pool, "a", "b", "f1", labels=labels, budget=150, target="population")
    assert found.estimate.n_labels == 150
    assert found.std_error > 0


@pytest.mark.parametrize("pair", [1], indirect=True)
def test_in_files_too(pair, tmp_path):
    pandas = pytest.importorskip("pandas")
    first, second, labels = pair
    columns = {"id": np.arange(ITEMS), "a.prediction": first, "b.prediction": second}
    pandas.DataFrame(columns).to_parquet(tmp_path / "pool.parquet")
    asked, found = [], []
    for lazy in (False, True):
        pool = read_pool(tmp_path / "pool.parquet", lazy=lazy, classes=[0, 1])
        ids = []

        def ask(batch, ids=ids):
            ids += batch
            return [int(labels[int(one)]) for one in batch]

        found.append(compare(pool, "a", "b", "f1", labels=ask, budget=100).difference)
        asked.append(sorted(map(str, ids)))
    assert asked[0] == asked[1]
    assert len(asked[0]) == 100
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_numbers_that_are_predicted_alike_matter_for_the_root():
    random = np.random.default_rng(0)
    labels, means = random.normal(size=(2, ITEMS))
    other = means.copy()
    other[:6] += 0.5
    pool = Pool(models={"a": Regressor(means), "b": Regressor(other)})
    truth = compare(pool, "a", "b", "rmse", labels=labels, budget=ITEMS, method="passive").difference
    found = compare(pool, "a", "b", "rmse", labels=labels, budget=100).estimate
    assert (found.exact, found.n_labels) == (False, 100)
    assert found.interval().low <= truth <= found.interval().high


@pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")
@pytest.mark.parametrize("method", ["default", "passive"])
@pytest.mark.parametrize("measure", ["auc", "average_precision", "ece", "f1", "recall", "balanced_accuracy"])
def test_models_that_no_label_tells_apart_may_differ(measure, method):
    for seed in range(10):
        random = np.random.default_rng(seed)
        score = random.normal(-1.0, 3.0, size=ITEMS)
        labels = (random.random(ITEMS) < 1 / (1 + np.exp(-score))).astype(int)
        models = {
            name: Classifier(1 / (1 + np.exp(-score - random.normal(0.0, noise, size=ITEMS))))
            for name, noise in (("a", 0.3), ("b", 0.3), ("c", 0.6))
        }
        found = select(Pool(models=models), measure, labels=labels, budget=6, seed=seed, method=method)
        assert all(gap.width > 1e-3 for gap in found.gaps().values())


@pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")
def test_numbers_that_are_predicted_alike_on_all_labelled_items_may_differ_on_others():
    random = np.random.default_rng(0)
    labels, means = random.normal(size=(2, ITEMS))
    other = means.copy()
    other[:3] += 1.0
    models = {"a": Regressor(means), "b": Regressor(other), "c": Regressor(means + 0.1)}
    found = select(Pool(models=models), "mse", labels=labels, budget=10, method="passive")
    assert all(gap.width > 1e-3 for gap in found.gaps().values())


def test_one_label_tells_no_gap():
    labels, means = np.random.default_rng(0).normal(size=(2, ITEMS))
    models = {name: Regressor(means + shift, np.ones(ITEMS)) for name, shift in (("a", 0.0), ("b", 0.3), ("c", 0.5))}
    found = select(Pool(models=models), "mse", labels=labels, budget=1, method="thesis")
    assert all(gap.width > 100 for gap in found.gaps().values())
    assert set(found.contenders()) == {"a", "b", "c"}


@pytest.mark.parametrize("options", [{}, {"stages": 1}])
@pytest.mark.parametrize("measure", ["balanced_accuracy", "mcc", "macro_f"])
def test_two_that_flag_half_of_the_items_are_not_exact_where_they_differ(measure, options):
    random = np.random.default_rng(0)
    score = random.normal(size=ITEMS)
    labels = (score + random.normal(size=ITEMS) > 1).astype(int)
    noisy = [score + random.normal(size=ITEMS) * noise for noise in (0.7, 1.6)]
    pool = differing(*((one > np.median(one)).astype(int) for one in noisy))
    truth = compare(pool, "a", "b", measure, labels=labels, budget=ITEMS, method="passive").difference
    found = [compare(pool, "a", "b", measure, labels=labels, budget=n, **options).estimate for n in (200, ITEMS)]
    assert not found[0].exact
    assert found[0].n_labels == 200
    assert found[1].value == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("measure", ["rmse", "r2"])
def test_what_two_regressors_are_sure_of_can_be_drawn(measure, lazy, tmp_path):
    # Both say 0 of a third of the items with a variance of 0: alike in the mean square, and not in its root.
    random = np.random.default_rng(0)
    sure, means = np.arange(90) % 3 == 0, random.normal(size=90)
    labels = np.where(sure, 5.0 * (random.random(90) < 0.1), means + random.normal(size=90))
    said = {"a": np.where(sure, 0.0, means), "b": np.where(sure, 0.0, means + 0.3 * random.normal(size=90))}
    columns = {f"{name}.prediction": one for name, one in said.items()}
    columns |= {f"{name}.variance": np.where(sure, 0.0, 1.0) for name in said}
    pq.write_table(pa.table({"id": np.arange(90)} | columns), tmp_path / "pool.parquet")
    pool, told = read_pool(tmp_path / "pool.parquet", lazy=lazy), dict(enumerate(labels))
    truth = compare(pool, "a", "b", measure, labels=told, budget=90, method="passive").difference
    found = [compare(pool, "a", "b", measure, labels=told, budget=n, stages=1).estimate for n in (40, 90)]
    assert not any("no chance of being drawn" in text for one in found for text in one.warnings)
    assert found[1].value == pytest.approx(truth, rel=1e-9)
    assert found[1].n_labels == 90
