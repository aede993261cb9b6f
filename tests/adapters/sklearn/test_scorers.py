"""Measures and studies as scorers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score, make_scorer, mean_squared_error, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sondage import Outcome, Pool, Study
from sondage.adapters.sklearn import measure_scorer, pool_of, study_scorer
from sondage.errors import InputError

X, Y = make_classification(900, n_features=6, flip_y=0.1, class_sep=0.8, random_state=0)
OLD = GaussianNB().fit(X[:200], Y[:200])
NEW = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:200], Y[:200])
ITEMS, LABELS = X[200:], Y[200:]


def labelled_study(folder, budget=150, seed=0, **options):
    study = Study.create(f"{folder}/{seed}.db", pool_of(OLD, ITEMS), budget=budget, seed=seed, **options)
    while ids := study.ask():
        study.tell(ids, LABELS[ids])
    return study


def test_measure_scorer_is_scikit_learns():
    assert measure_scorer("f1")(OLD, ITEMS, LABELS) == pytest.approx(f1_score(LABELS, OLD.predict(ITEMS)))
    auc = roc_auc_score(LABELS, OLD.predict_proba(ITEMS)[:, 1])
    assert measure_scorer("auc")(OLD, ITEMS, LABELS) == pytest.approx(auc)
    A, B = make_regression(50, noise=3.0, random_state=0)
    model = LinearRegression().fit(A[:25], B[:25])
    error = mean_squared_error(B[25:], model.predict(A[25:]))
    assert measure_scorer("mse")(model, A[25:], B[25:]) == pytest.approx(-error)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_labels_that_are_missing_are_no_class(missing):
    with pytest.raises(InputError, match=f"label of row 2 is {missing}; every row needs one"):
        measure_scorer("accuracy")(OLD, ITEMS[:3], np.array([1, 0, missing]))
    with pytest.raises(InputError, match="y has 2 rows; X has 3"):
        measure_scorer("accuracy")(OLD, ITEMS[:3], [1, 0])


def test_measure_scorer_tunes():
    scorer = measure_scorer("f_measure:beta=2")
    theirs = make_scorer(fbeta_score, beta=2)
    found = [
        GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=s, cv=3).fit(X, Y) for s in (scorer, theirs)
    ]
    np.testing.assert_allclose(*(search.cv_results_["mean_test_score"] for search in found))


def test_all_labels_tell_exactly(tmp_path):
    with labelled_study(tmp_path, 700, measure="f1") as study:
        scorer = study_scorer(study)
        assert scorer(NEW, ITEMS) == pytest.approx(f1_score(LABELS, NEW.predict(ITEMS)), rel=1e-9)
        assert scorer.estimate(NEW, ITEMS).exact


def test_an_equal_draw_is_a_plain_proportion(tmp_path):
    with labelled_study(tmp_path, 100, measure="error_rate", method="passive") as study:
        asked = [row["id"] for row in study.history()]
        wrong = NEW.predict(ITEMS[asked]) != LABELS[asked]
        found = study_scorer(study).estimate(NEW, ITEMS)
        assert found.value == pytest.approx(wrong.mean(), rel=1e-9)
        assert found.std_error == pytest.approx(np.sqrt(wrong.var(ddof=1) / 100 * (1 - 100 / 700)), rel=1e-6)
        assert study_scorer(study)(NEW, ITEMS) == pytest.approx(-wrong.mean(), rel=1e-9)


def test_stages_judge_other_models_without_bias(tmp_path):
    truth = np.mean(NEW.predict(ITEMS) != LABELS)
    found = []
    for seed in range(16):
        with labelled_study(tmp_path, seed=seed, measure="error_rate") as study:
            found.append(study_scorer(study).estimate(NEW, ITEMS))
    values = np.array([estimate.value for estimate in found])
    errors = np.array([estimate.std_error for estimate in found])
    assert abs(values.mean() - truth) < 3 * values.std(ddof=1) / np.sqrt(len(values))
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(ddof=1), rel=0.4)
    assert sum(truth in estimate.interval() for estimate in found) >= 13


def test_rows_are_found_by_id(tmp_path):
    names = [f"item {row}" for row in range(len(ITEMS))]
    pool = pool_of(OLD, ITEMS, ids=names)
    with Study.create(tmp_path / "study.db", pool, measure="auc", budget=100) as study:
        while ids := study.ask():
            study.tell(ids, [LABELS[names.index(name)] for name in ids])
        order = np.random.default_rng(0).permutation(len(ITEMS))
        scorer = study_scorer(study, ids=np.array(names)[order])
        assert scorer(NEW, ITEMS[order]) == study_scorer(study, ids=names)(NEW, ITEMS)
        with pytest.raises(InputError, match="has a label in the study and no row in X; ids are the row numbers"):
            study_scorer(study)(NEW, ITEMS)
        with pytest.raises(InputError, match="there are 700 ids; X has 5 rows"):
            study_scorer(study, ids=names)(NEW, ITEMS[:5])
        with pytest.raises(InputError, match="id 'item 3' comes twice in ids=; each row of X has its own"):
            study_scorer(study, ids=[*names, "item 3"])(NEW, np.vstack([ITEMS, ITEMS[:1]]))


@pytest.mark.parametrize("options", [{}, {"method": "thesis"}, {"design": "neyman"}, {"stages": 1}], ids=str)
def test_rows_of_others_are_not_judged(tmp_path, options):
    numbers = np.arange(len(ITEMS))
    for place, ids in enumerate((numbers[::-1], np.roll(numbers, 1))):  # numbers, but of other rows
        with Study.create(tmp_path / f"{place}.db", pool_of(OLD, ITEMS, ids=ids), budget=60, **options) as study:
            while asked := study.ask():
                study.tell(asked, [LABELS[np.flatnonzero(ids == name)[0]] for name in asked])
            named = study_scorer(study, "accuracy", ids=ids)(NEW, ITEMS)
            assert 0.5 < named < 1
            with pytest.raises(InputError, match=r"id \d+ is not the number of its row in the study's pool: name the"):
                study_scorer(study, "accuracy")(NEW, ITEMS)


def test_x_has_the_rows_of_the_pool(tmp_path):
    pandas = pytest.importorskip("pandas")
    with labelled_study(tmp_path, 60) as study:
        with pytest.raises(InputError, match="X has 900 rows; the study's pool has 700: name the rows of X with ids="):
            study_scorer(study)(NEW, X)
        ids = pandas.Index([f"item {row}" for row in range(len(ITEMS))])
    with Study.create(tmp_path / "named.db", pool_of(OLD, ITEMS, ids=ids), budget=20) as study:
        asked = study.ask(20)
        study.tell(asked, LABELS[ids.get_indexer(asked)])
        table = pandas.DataFrame(ITEMS, index=ids)
        model = GaussianNB().fit(pandas.DataFrame(X[:200]), Y[:200])
        expected = study_scorer(study, ids=ids)(model, table)
        shuffled = table.sample(frac=1, random_state=0)
        assert study_scorer(study, ids=shuffled.index)(model, shuffled) == pytest.approx(expected, rel=1e-12)
        with pytest.raises(InputError, match="the index of X has the ids in another order: put its rows in that of"):
            study_scorer(study, ids=ids)(model, shuffled)


def test_a_regression_study(tmp_path):
    A, B = make_regression(200, noise=3.0, random_state=0)
    with Study.create(tmp_path / "s.db", pool_of(LinearRegression().fit(A, B), A), measure="mse", budget=200) as study:
        while ids := study.ask():
            study.tell(ids, B[ids])
        other = Ridge(100.0).fit(A, B)
        assert study_scorer(study)(other, A) == pytest.approx(-mean_squared_error(B, other.predict(A)))
        assert study_scorer(study, "mae")(other, A) < 0


def test_a_part_of_the_pool_says_nothing_of_other_models(tmp_path):
    pool = pool_of({"old": OLD, "new": NEW}, ITEMS)
    with Study.create(tmp_path / "c.db", pool, compare=("old", "new"), budget=20) as study:
        ids = study.ask()
        study.tell(ids, LABELS[ids])
        with pytest.raises(InputError, match="could not be drawn, for no label there matters"):
            study_scorer(study)(LogisticRegression().fit(X[:200], Y[:200]), ITEMS)


def test_no_labels_yet(tmp_path):
    with (
        Study.create(tmp_path / "n.db", pool_of(OLD, ITEMS), budget=20) as study,
        pytest.raises(InputError, match="no labels yet"),
    ):
        study_scorer(study)(NEW, ITEMS)


def test_several_labellers_are_spoken_of(tmp_path):
    with Study.create(tmp_path / "r.db", pool_of(OLD, ITEMS), budget=20, method="passive", raters=2) as study:
        ids = study.ask(20)
        for who in ("ann", "ben"):
            study.tell(ids, LABELS[ids], who=who)
        found = study_scorer(study).estimate(NEW, ITEMS)
        assert any("does not count how they differ" in text for text in found.warnings)


def test_outcomes_judge_no_classifier(tmp_path):
    pool = Pool(models={"ours": Outcome(judge=np.full(50, 0.5))})
    with Study.create(tmp_path / "o.db", pool, measure="accuracy", budget=10) as study:
        study.tell(study.ask(5), [1.0] * 5)
        with pytest.raises(InputError, match="labels of a study of outcomes do not judge"):
            study_scorer(study).estimate(NEW, ITEMS[:50])
