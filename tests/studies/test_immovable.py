"""Questions that no label can answer otherwise: one is asked for, and the result is exact."""

import numpy as np
import pytest

from sondage import Classifier, Pool, Regressor, Study, compare, evaluate, read_pool, select
from sondage.errors import MeasureError, SondageWarning
from sondage.reports.text import answer

from .biases import LeastBias

pytestmark = pytest.mark.filterwarnings("ignore::sondage.errors.SondageWarning")

RANDOM = np.random.default_rng(3)
SCORE = RANDOM.normal(size=600)
P = 1 / (1 + np.exp(-SCORE))
Y = (RANDOM.random(600) < P).astype(int)
SAME = {"a": Classifier(P), "b": Classifier(P)}


def sharper(p):
    """Return probabilities further from a half: the same predictions, in the same order."""
    return p**3 / (p**3 + (1 - p) ** 3)


@pytest.mark.parametrize(
    "measure", ["accuracy", "error_rate", "f1", "mcc", "balanced_accuracy", "auc", "average_precision", "log_loss"]
)
def test_models_that_say_the_same_do_not_differ(measure):
    found = compare(Pool(models=SAME), "a", "b", measure, labels=Y, budget=80)
    interval = found.interval()
    assert (found.difference, interval.low, interval.high, interval.kind) == (0.0, 0.0, 0.0, "exact")
    assert (found.n_labels, found.pvalue, found.better) == (1, 1.0, None)
    assert any("no label can change" in warning for warning in found.estimate.warnings)
    assert "Neither is better" in answer(found)


@pytest.mark.parametrize("measure", ["accuracy", "f1", "auc"])
def test_nor_do_those_that_predict_and_rank_alike(measure):
    pool = Pool(models={"a": Classifier(P), "b": Classifier(sharper(P))})
    assert compare(pool, "a", "b", measure, labels=Y, budget=80).interval().width == 0
    assert compare(pool, "a", "b", "log_loss", labels=Y, budget=80).interval().width > 0


@pytest.mark.parametrize("variances", [None, np.ones(600)])
def test_the_difference_of_two_biases_is_that_of_the_means(variances):
    pool = Pool(models={"a": Regressor(SCORE, variances), "b": Regressor(0.8 * SCORE + 0.2, variances)})
    found = compare(pool, "a", "b", "bias", labels=SCORE + Y, budget=80)
    assert found.difference == pytest.approx(np.mean(0.2 * SCORE - 0.2), rel=1e-9)
    assert (found.interval().width, found.n_labels) == (0.0, 1)
    assert compare(pool, "a", "b", "mse", labels=SCORE + Y, budget=80).n_labels == 80


def test_in_files_and_in_groups_too(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": np.arange(600), "a.p_1": P, "b.p_1": P, "group": np.arange(600) // 3})
    for columns in (["id", "a.p_1", "b.p_1"], list(frame)):
        frame[columns].to_parquet(tmp_path / "pool.parquet")
        for lazy in (False, True):
            pool = read_pool(tmp_path / "pool.parquet", lazy=lazy)
            found = compare(pool, "a", "b", "f1", labels=lambda ids: [int(Y[i] > 0) for i in ids], budget=50)
            assert (found.difference, found.estimate.exact, found.n_labels) == (0.0, True, 1)


def test_a_budget_of_money_pays_for_one_item():
    pool = Pool(models=SAME, costs=np.where(Y, 3.0, 2.0))
    found = compare(pool, "a", "b", "f1", labels=Y, budget=200)
    assert (found.estimate.exact, found.n_labels) == (True, 1)
    assert found.estimate.spent in (2.0, 3.0)


def test_a_selection_asks_for_the_models_own_values_too():
    pool = Pool(models=SAME | {"c": Classifier(P)})
    found = select(pool, "f1", labels=Y, budget=80)
    assert found.estimates["a"].n_labels == 80
    assert found.estimates["a"].interval().width > 0
    assert {one.interval().width for one in found.comparisons.values()} == {0.0}
    assert set(found.contenders()) == {"a", "b", "c"}


@pytest.mark.parametrize("variances", [None, 1.0])
def test_nor_do_its_stages_follow_from_what_rounding_leaves_of_the_differences(variances):
    random = np.random.default_rng(0)
    labels, features = random.normal(size=400), random.normal(size=(400, 3))
    means = [labels + random.normal(size=400) for _ in range(3)]
    found = []
    for rows in (np.arange(400), random.permutation(400)):
        spread = None if variances is None else np.full(400, variances)
        models = {name: Regressor(mean[rows], spread) for name, mean in zip("abc", means, strict=True)}
        pool = Pool(models=models, ids=rows, features=features[rows])
        best = select(pool, LeastBias(), labels=lambda ids: labels[ids].tolist(), budget=100)
        found.append([(one.value, one.std_error, one.n_effective) for one in best.estimates.values()])
        assert {pair.estimate.df for pair in best.comparisons.values()} == {99.0}
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    assert min(effective for *_, effective in found[0]) > 80  # the stages are about as good as another


def test_models_are_not_ranked_by_what_has_no_better():
    pool = Pool(models={name: Regressor(SCORE + shift) for name, shift in (("a", -1.0), ("b", 0.0), ("c", 1.0))})
    with pytest.raises(MeasureError, match="measure 'bias' has no better or worse"):
        select(pool, "bias", labels=SCORE, budget=80)


def test_of_a_population_the_pool_is_a_sample():
    found = compare(Pool(models=SAME), "a", "b", "accuracy", labels=Y, budget=80, target="population")
    assert not found.estimate.exact
    assert found.n_labels == 80
    assert found.interval().width > 0


def test_a_sample_that_does_not_know_the_pool_is_not_exact():
    pool = Pool(models={"a": Regressor(SCORE), "b": Regressor(0.8 * SCORE)})
    found = compare(pool, "a", "b", "bias", labels=SCORE, budget=80, method="passive")
    assert not found.estimate.exact
    assert found.interval().width > 0


def test_a_study_asks_once_and_can_be_extended(tmp_path):
    path = tmp_path / "study.db"
    pool = Pool(models=SAME, ids=np.arange(600))
    study = Study.create(path, pool, "f1", compare=("a", "b"), budget=80)
    (name,) = study.ask(20)
    study.tell([name], [int(Y[name])])
    assert study.ask(20) == []
    assert Study.open(path).estimate().interval().width == 0
    study.extend(30)
    assert len(study.ask(20)) > 1


def test_a_sure_belief_does_not_make_it_so():
    pool = Pool((np.arange(200) % 3 == 0) * 1.0)
    with pytest.warns(SondageWarning, match="the draw is passive"):
        found = evaluate(pool, "error_rate", (np.arange(200) % 3 == 0) * 1, 50, method="thesis")
    assert not found.exact
    assert found.n_labels == 50


@pytest.mark.parametrize("draw", ["without_replacement", "successive", "with_replacement", "neyman", "strata"])
def test_one_label_by_whatever_draw(draw):
    for seed in range(5):
        found = evaluate(Pool(0.4 * P), "f1", np.zeros(600, dtype=int), 20, seed, draw=draw)
        assert (found.value, found.exact, found.n_labels) == (0.0, True, 1)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("alternative", "margin"), [("two-sided", 0.0), ("greater", 0.1), ("less", 0.1)])
def test_evidence_on_models_that_say_the_same(alternative, margin):
    options = {"labels": Y, "budget": 20, "stop": "significant", "alternative": alternative, "margin": margin}
    found = compare(Pool(models=SAME), "a", "b", "accuracy", **options)
    assert found.n_labels == 1
    assert (found.evalue.pvalue < 0.05) == (margin > 0)


UNIFORM = np.full((30, 3), 1 / 3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("measure", ["log_loss", "brier"])
@pytest.mark.parametrize("columns", [{}, {"weights": np.arange(1.0, 31.0)}, {"groups": np.arange(30) // 3}])
def test_a_model_that_says_the_same_of_all_classes_is_a_point_at_any_time(measure, columns):
    pool, labels = Pool(UNIFORM, **columns), np.arange(30) // 3 % 3
    found = evaluate(pool, measure, labels=labels, budget=10)
    truth = {"log_loss": np.log(3), "brier": 2 / 3}[measure]
    sequence = found.sequence()
    assert sequence.low == sequence.high == pytest.approx([truth], rel=1e-12)
    assert [found.evalue(found.value, side).pvalue for side in ("two-sided", "greater", "less")] == [1.0, 1.0, 1.0]
    assert [found.evalue(0.5, side).pvalue for side in ("two-sided", "greater", "less")] == [0.0, 0.0, 1.0]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_nor_are_nearly_equal_probabilities_outside_their_range():
    nearly = UNIFORM + np.random.default_rng(0).normal(0, 1e-10, (30, 3))
    found = evaluate(Pool(nearly), "log_loss", labels=np.arange(30) % 3, budget=10)
    assert np.log(3) == pytest.approx(found.sequence().last.low, rel=1e-8)
    assert found.sequence().last.width < 1e-8


@pytest.mark.parametrize("options", [{}, {"design": "active_neq"}, {"design": "passive", "stages": 1}])
def test_a_draw_by_the_floor_alone_where_nothing_can_matter(tmp_path, options):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    means, path = {"a": SCORE, "b": SCORE + 0.1}, tmp_path / "pool.parquet"
    columns = {f"{name}.prediction": own for name, own in means.items()}
    parquet.write_table(arrow.table({"id": np.arange(600), **columns}), path)
    answers = dict(enumerate(Y.tolist()))
    for pool in (Pool(models={name: Regressor(own) for name, own in means.items()}), read_pool(path, lazy=True)):
        for estimator in ("hajek", "anchored"):
            found = compare(
                pool, "a", "b", "bias", labels=answers, budget=40, floor=1.0, estimator=estimator, **options
            )
            assert found.difference == pytest.approx(-0.1)


@pytest.mark.parametrize("pool", [Pool(np.full(300, 0.02)), Pool(predictions=np.zeros(300, dtype=int), classes=[0, 1])])
def test_which_classes_occur_decides_what_a_model_that_predicts_one_class_finds_on_average(pool):
    # Of one class all are found. If there is another, of which none are, the mean is a half: the labels tell.
    only_one, both = np.zeros(300, dtype=int), np.arange(300) % 4 // 3
    for budget in (1, 30, 299):
        found = evaluate(pool, "balanced_accuracy", labels=only_one, budget=budget)
        assert (found.exact, found.n_labels) == (False, budget)
        assert 1.0 in found.interval()
        assert 0.5 in found.interval()
    assert evaluate(pool, "balanced_accuracy", labels=only_one, budget=300).value == 1.0
    found = evaluate(pool, "balanced_accuracy", labels=both, budget=200)
    assert (found.value, found.exact) == (0.5, True)
    assert found.n_labels < 200  # no more than it took to see both


def test_which_classes_occur_decides_between_models_that_each_predict_one_class():
    pool = Pool(models={"a": Classifier(np.full(300, 0.02)), "b": Classifier(np.full(300, 0.97))})
    found = compare(pool, "a", "b", "balanced_accuracy", labels=np.zeros(300, dtype=int), budget=50)
    assert not found.estimate.exact
    assert 1.0 in found.interval()
    found = compare(pool, "a", "b", "balanced_accuracy", labels=np.arange(300) % 4 // 3, budget=50)
    assert (found.difference, found.estimate.exact) == (0.0, True)
