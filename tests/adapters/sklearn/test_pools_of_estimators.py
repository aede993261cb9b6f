"""Fitted estimators make the pool that their outputs would."""

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sondage import Pool, evaluate
from sondage.adapters.sklearn import pool_of
from sondage.errors import InputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.array(["ham", "spam", "toast"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.4, 0.6])]
    return X, y


def test_classifier_with_probabilities(data):
    X, y = data
    model = GaussianNB().fit(X[:60], y[:60])
    ids = [f"item {row}" for row in range(30)]
    pool = pool_of(model, X[60:], ids=ids, costs=np.arange(1, 31))
    expected = Pool(model.predict_proba(X[60:]), model.classes_, ids=ids, costs=np.arange(1, 31))
    assert pool.fingerprint == expected.fingerprint
    found = evaluate(pool, "accuracy", labels=y[60:], budget=float(pool.items.costs.sum()))
    assert found.value == pytest.approx(model.score(X[60:], y[60:]), rel=1e-12)


def test_a_margin_is_no_probability(data):
    X, y = data
    model = LinearSVC().fit(X, y)
    pool = pool_of(model, X)
    assert pool.items.models[0].probabilities is None
    assert np.asarray(pool.task.classes)[pool.items.models[0].predictions].tolist() == model.predict(X).tolist()


def test_several_models_know_all_classes(data):
    X, y = data
    two = y != "toast"
    pool = pool_of({"all": GaussianNB().fit(X, y), "two": GaussianNB().fit(X[two], y[two])}, X)
    assert pool.models == ("all", "two")
    assert pool.task.classes == ("ham", "spam", "toast")
    assert not pool.items.models[1].probabilities[:, 2].any()


@pytest.mark.parametrize("form", [csr_matrix, lambda X: pandas.DataFrame(X, columns=["u", "v"]), np.ndarray.tolist])
def test_forms_of_input(data, form):
    X, y = data
    model = LogisticRegression().fit(form(X), y)
    assert pool_of(model, form(X)).fingerprint == Pool(model.predict_proba(form(X)), model.classes_).fingerprint


def test_searches_and_pipelines_of_classifiers(data):
    X, y = data
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1]})
    search.fit(X, y)
    assert pool_of(search, X).fingerprint == Pool(search.predict_proba(X), search.classes_).fingerprint


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(60, 1))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=60)


@pytest.mark.parametrize(
    "model", [GaussianProcessRegressor(RBF() + WhiteKernel(0.04), optimizer=None), BayesianRidge()], ids=["gp", "ridge"]
)
def test_predictive_variances(numbers, model):
    X, y = numbers
    piped = make_pipeline(StandardScaler(), model).fit(X, y)
    means, std = piped[-1].predict(piped[:-1].transform(X), return_std=True)
    outputs = pool_of(piped, X).items.models[0]
    np.testing.assert_allclose(outputs.means, means)
    np.testing.assert_allclose(outputs.variances, std**2)
    assert outputs.variances.min() >= 0.03  # the labels' noise is in it


def test_trees_of_a_forest_disagree(numbers):
    X, y = numbers
    frame = pandas.DataFrame(X, columns=["u"])
    forest = RandomForestRegressor(20, random_state=0).fit(frame, y)
    trees = np.stack([tree.predict(X) for tree in forest.estimators_])
    outputs = pool_of(GridSearchCV(forest, {"max_depth": [None]}, cv=2).fit(X, y), X).items.models[0]
    assert outputs.variances.shape == (60,)
    outputs = pool_of(forest, frame).items.models[0]
    np.testing.assert_allclose(outputs.means, trees.mean(axis=0))
    np.testing.assert_allclose(outputs.variances, trees.var(axis=0))


def test_no_variance_where_there_is_none(numbers):
    X, y = numbers
    assert pool_of(LinearRegression().fit(X, y), X).items.models[0].variances is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y, t: GaussianNB(), "model 'model' is not fitted; fit it on items that are not in the pool"),
        (lambda X, y, t: KMeans(2, n_init=1).fit(X), "is a KMeans; a pool takes classifiers and regressors"),
        (lambda X, y, t: {"a": GaussianNB().fit(X, y), "b": LinearRegression().fit(X, t)}, "must be all classifiers"),
        (lambda X, y, t: LinearRegression().fit(X, np.c_[t, t]), r"predicts shape \(90, 2\)"),
        (lambda X, y, t: {}, "no estimators given"),
        (
            lambda X, y, t: {"a": GaussianNB().fit(X, y.astype(object)), "b": GaussianNB().fit(X, t > 0)},
            "text in one model and numbers in another: {'a': .*}; fit all on the same labels",
        ),
    ],
    ids=["unfitted", "clusterer", "mixed", "two outputs", "none", "classes of two types"],
)
def test_refused(data, make, message):
    X, y = data
    with pytest.raises(InputError, match=message):
        pool_of(make(X, y, X[:, 0]), X)


def test_a_class_that_is_not_named_is_refused(data):
    X, y = data
    with pytest.raises(InputError, match="knows the class 'toast'; classes are"):
        pool_of(GaussianNB().fit(X, y), X, classes=["ham", "spam"])
