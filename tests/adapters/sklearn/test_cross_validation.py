"""Cross-validation is scikit-learn's, with the corrected standard error."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import sondage
from sondage import cross_compare, cross_select, cross_validate
from sondage.adapters.sklearn import pool_of
from sondage.core.significance import bonferroni, mcnemar_test
from sondage.errors import InputError, MeasureError

X, Y = make_classification(200, n_features=6, flip_y=0.2, random_state=0)
A, B = make_regression(120, n_features=5, noise=20.0, random_state=0)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=3)
MODELS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}


@pytest.mark.parametrize(
    ("measure", "scoring", "sign"),
    [
        ("accuracy", "accuracy", 1),
        ("f1", "f1", 1),
        ("balanced_accuracy", "balanced_accuracy", 1),
        ("mcc", "matthews_corrcoef", 1),
        ("auc", "roc_auc", 1),
        ("average_precision", "average_precision", 1),
        ("log_loss", "neg_log_loss", -1),
        ("brier", "neg_brier_score", -1),
    ],
)
def test_classification_is_the_mean_of_scikit_learns_scores(measure, scoring, sign):
    scores = sign * cross_val_score(GaussianNB(), X, Y, scoring=scoring, cv=FOLDS)
    assert cross_validate(GaussianNB(), X, Y, measure, cv=FOLDS).value == pytest.approx(scores.mean(), rel=1e-9)


@pytest.mark.parametrize(
    ("measure", "scoring", "sign"),
    [("mse", "neg_mean_squared_error", -1), ("mae", "neg_mean_absolute_error", -1), ("r2", "r2", 1)],
)
def test_regression_is_the_mean_of_scikit_learns_scores(measure, scoring, sign):
    scores = sign * cross_val_score(Ridge(), A, B, scoring=scoring, cv=KFold(4))
    assert cross_validate(Ridge(), A, B, measure, cv=KFold(4)).value == pytest.approx(scores.mean(), rel=1e-9)


def test_interval_is_the_corrected_resampled_t():
    scores = cross_val_score(GaussianNB(), X, Y, cv=FOLDS)
    found = cross_validate(GaussianNB(), X, Y, "accuracy", cv=FOLDS)
    error = np.sqrt((1 / 5 + 40 / 160) * scores.var(ddof=1))
    assert found.std_error == pytest.approx(error, rel=1e-12)
    low, high = stats.t(4, scores.mean(), error).interval(0.9)
    assert (found.interval(0.9).low, found.interval(0.9).high) == pytest.approx((low, high), rel=1e-9)
    assert found.interval().kind == "t"
    assert found.n_labels == 200
    assert found.target == "population"
    assert "5 folds are not independent" in found.warnings[0]
    assert "trained on 160 items" in found.warnings[0]


def test_a_number_of_folds_is_a_random_division():
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=7)
    expected = cross_validate(GaussianNB(), X, Y, cv=splitter)
    found = cross_validate(GaussianNB(), X, Y, cv=4, repeats=3, seed=7)
    assert (found.value, found.std_error, found.df) == (expected.value, expected.std_error, 11)
    assert cross_validate(GaussianNB(), X, Y, cv=4, repeats=3, seed=8).value != found.value
    assert cross_validate(GaussianNB(), X, Y, cv=np.int64(4), repeats=3, seed=7).value == found.value


def test_folds_may_be_masks_or_count_from_the_end():
    folds = list(KFold(4).split(X))
    masks = [tuple(np.isin(np.arange(len(X)), rows) for rows in pair) for pair in folds]
    ends = [tuple(rows - len(X) for rows in pair) for pair in folds]
    wanted = cross_validate(GaussianNB(), X, Y, cv=folds)
    for cv in (masks, ends):
        found = cross_validate(GaussianNB(), X, Y, cv=cv)
        assert (found.value, found.std_error, found.warnings) == (wanted.value, wanted.std_error, wanted.warnings)
        assert cross_compare(MODELS, X, Y, cv=cv, test="mcnemar").pvalue == (
            cross_compare(MODELS, X, Y, cv=folds, test="mcnemar").pvalue
        )


def test_groups_are_not_divided():
    groups = np.arange(200) // 20
    left_out = cross_val_score(GaussianNB(), X, Y, cv=LeaveOneGroupOut(), groups=groups)
    found = cross_validate(GaussianNB(), X, Y, "accuracy", cv=LeaveOneGroupOut(), groups=groups)
    assert found.value == pytest.approx(left_out.mean())
    # A copy of each item in its group: memory alone would be right where groups were divided.
    rng = np.random.default_rng(0)
    twice, labels = np.repeat(rng.normal(size=(40, 2)), 2, axis=0), np.repeat(rng.integers(0, 2, 40), 2)
    nearest = KNeighborsClassifier(1)
    assert cross_validate(nearest, twice, labels, cv=5, groups=np.repeat(np.arange(40), 2)).value > 0.3
    assert cross_validate(nearest, twice, labels, cv=5).value < 0.2


@pytest.mark.parametrize(("model", "features", "labels"), [(Ridge(), A, B), (GaussianNB(), X, Y)])
def test_folds_of_groups_follow_the_seed(model, features, labels):
    groups, measure = np.arange(len(labels)) // 4, "mse" if model.__class__ is Ridge else "brier"

    def value(seed):
        return cross_validate(model, features, labels, measure, cv=4, seed=seed, groups=groups).value

    assert value(0) == value(0)
    assert len({value(seed) for seed in range(4)}) == 4


def test_comparison_is_paired_on_the_folds():
    scores = [1 - cross_val_score(model, X, Y, cv=FOLDS) for model in MODELS.values()]
    difference = scores[0] - scores[1]
    error = np.sqrt((1 / 5 + 1 / 4) * difference.var(ddof=1))
    found = cross_compare(MODELS, X, Y, cv=FOLDS)
    assert found.difference == pytest.approx(difference.mean(), rel=1e-12)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(difference.mean()) / error, 4), rel=1e-9)
    one_sided = cross_compare(MODELS, X, Y, cv=FOLDS, alternative="less", margin=0.05)
    assert one_sided.pvalue == pytest.approx(stats.t.cdf((difference.mean() - 0.05) / error, 4), rel=1e-9)


@pytest.mark.parametrize("measure", ["error_rate", "accuracy"])
def test_mcnemar_counts_held_out_predictions(measure):
    right = [cross_val_predict(model, X, Y, cv=FOLDS) == Y for model in MODELS.values()]
    first, second = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
    found = cross_compare(MODELS, X, Y, measure, cv=FOLDS, test="mcnemar")
    assert found.significance.kind == "mcnemar"
    assert found.pvalue == mcnemar_test(first, second).pvalue
    greater = cross_compare(MODELS, X, Y, measure, cv=FOLDS, test="mcnemar", alternative="greater")
    counts = (first, second) if measure == "accuracy" else (second, first)
    assert greater.pvalue == mcnemar_test(*counts, alternative="greater").pvalue


def test_selection_adjusts_for_all_pairs():
    models = MODELS | {"lda": LinearDiscriminantAnalysis(), "constant": DummyClassifier()}
    found = cross_select(models, X, Y, "accuracy", cv=FOLDS)
    means = {name: cross_val_score(model, X, Y, cv=FOLDS).mean() for name, model in models.items()}
    assert {name: found.estimates[name].value for name in models} == pytest.approx(means)
    assert found.ranking == tuple(sorted(means, key=means.get, reverse=True))
    pair = cross_compare({name: models[name] for name in (found.best, "constant")}, X, Y, "accuracy", cv=FOLDS)
    assert found.comparisons[found.best, "constant"].pvalue == pytest.approx(pair.pvalue, rel=1e-9)
    raw = [comparison.pvalue for comparison in found.comparisons.values()]
    assert found.pvalues["constant"] <= bonferroni(raw).max()
    assert found.pvalues["constant"] == pytest.approx(pair.pvalue * 6, rel=1e-9)
    assert "constant" not in found.contenders()
    assert found.gaps()["constant"].high < 0


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, and keeps which items it has seen."""

    def __init__(self, parameter=0, log=None):
        self.parameter, self.log = parameter, log

    def __sklearn_clone__(self):
        return Recorder(self.parameter, self.log)

    def fit(self, X, y):
        self.log.append(set(X[:, 0].astype(int)))
        self.classes_, counts = np.unique(y, return_counts=True)
        self.best_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.best_)


def test_a_search_tunes_without_the_fold_it_is_judged_on():
    log, items, labels = [], np.arange(30.0)[:, None], np.arange(30) % 2
    folds = list(KFold(3).split(items))
    search = GridSearchCV(Recorder(log=log), {"parameter": [0, 1]}, cv=2)
    cross_validate(search, items, labels, cv=folds)
    fits = len(log) // 3
    assert fits == 2 * 2 + 1
    for fold, (train, _) in enumerate(folds):
        assert all(seen <= set(train) for seen in log[fold * fits : (fold + 1) * fits])


def test_nested_value_is_scikit_learns():
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3)
    nested = cross_val_score(search, X, Y, cv=FOLDS)
    assert cross_validate(search, X, Y, "accuracy", cv=FOLDS).value == pytest.approx(nested.mean())


def test_the_best_of_many_scores_is_too_good():
    # Labels are noise: whatever is tried has the error rate 1/2. The best of 15 on the same folds looks better.
    rng, chosen, nested = np.random.default_rng(0), [], []
    for run in range(4):
        noise, labels = rng.normal(size=(60, 15)), np.arange(60) % 2
        models = {f"feature {j}": Only(j) for j in range(15)}
        selection = cross_select(models, noise, labels, cv=5, seed=run)
        chosen.append(selection.estimates[selection.best].value)
        search = GridSearchCV(Only(), {"feature": list(range(15))}, cv=5)
        nested.append(cross_validate(search, noise, labels, cv=5, seed=run).value)
    assert np.mean(chosen) < 0.42
    assert abs(np.mean(nested) - 0.5) < 0.1


class Only(ClassifierMixin, BaseEstimator):
    """Divides one feature at its median, the side of the larger mean label being positive."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.classes_, column = np.unique(y), X[:, self.feature]
        self.cut_ = np.median(column)
        self.up_ = y[column > self.cut_].mean() > y[column <= self.cut_].mean()
        return self

    def predict(self, X):
        return ((X[:, self.feature] > self.cut_) == self.up_).astype(int)


def test_text_classes_and_a_class_that_a_fold_misses():
    names = np.array(["ham", "spam", "toast"])
    labels = names[np.r_[np.zeros(10), np.ones(9), [2]].astype(int)]
    # Trained without the first, ..., last five items, the most frequent class is spam, spam, ham, ham.
    found = cross_validate(DummyClassifier(), np.zeros((20, 1)), labels, cv=KFold(4))
    assert found.value == 1
    with pytest.raises(MeasureError, match="name the positive class"):
        cross_validate(DummyClassifier(), np.zeros((20, 1)), labels, "f1", cv=KFold(4))


def test_undefined_folds_are_named():
    labels = np.r_[np.ones(5, dtype=int), np.zeros(15, dtype=int)]
    found = cross_validate(GaussianNB(), X[:20], labels, "recall", cv=KFold(4))
    assert np.isnan(found.value)
    assert found.warnings[1] == "recall is undefined on fold 2 of 4: use fewer folds, or stratify them"
    assert (found.interval().low, found.interval().high) == (0, 1)


def test_equal_scores_are_not_certainty():
    found = cross_validate(DummyClassifier(), X[:20], np.arange(20) % 2, cv=5)
    assert found.value == 0.5
    assert np.isnan(found.std_error)
    assert "their spread says nothing" in found.warnings[1]
    same = cross_compare({"a": DummyClassifier(), "b": DummyClassifier()}, X[:20], np.arange(20) % 2, cv=5)
    assert same.pvalue == 1
    assert same.better is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_validate(GaussianNB(), X, Y[:-1]), "y has 199 rows; X has 200"),
        (lambda: cross_validate(GaussianNB(), X, np.c_[Y, Y]), "must be one column"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=1), "at least 2 folds"),
        (lambda: cross_validate(GaussianNB(), X, Y, repeats=2.5), r"repeats=2\.5 must be a whole number from 1"),
        (lambda: cross_validate(GaussianNB(), X, Y, repeats=None), "repeats=None must be a whole number from 1"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv="five"), "cv='five': "),
        (lambda: cross_validate(GaussianNB(), None, Y), "X is of the type NoneType; it must be a table"),
        (lambda: cross_validate(GaussianNB(), X, [[0, 1], [1]]), "y must be one column"),
        (lambda: cross_compare(list(MODELS.values()), X, Y), "are a list; they must be a mapping of name to estimator"),
        (lambda: pool_of(list(MODELS.values()), X), "model 'model' is a list; a pool takes classifiers and regressors"),
        (lambda: cross_validate(MODELS, X, Y), "model 'model' is a dict; cross-validation takes classifiers and"),
        (
            lambda: cross_compare({"a": GaussianNB(), "b": GaussianNB}, X, Y),
            r"'b' is the class .*: write GaussianNB\(\)",
        ),
        (lambda: pool_of(GaussianNB, X), r"model 'model' is the class GaussianNB: write GaussianNB\(\)"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=2.5), "cv=2.5 must be a whole number"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=len(Y) + 1), r"cv=\d+: .*number of splits"),
        (lambda: cross_validate(Ridge(), A, np.where(B[3] == B, np.nan, B), "mse"), "label of row 3 is nan"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=ShuffleSplit(1, random_state=0)), "one division has no spread"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=FOLDS, repeats=2), "a splitter has its own"),
        (lambda: cross_validate(GaussianNB(), X, Y, repeats=2, groups=Y), "with groups=: give a splitter"),
        (lambda: cross_validate(GaussianNB(), X, Y, seed=-1), "seed=-1 must be a whole number from 0"),
        (lambda: cross_select(MODELS, X, Y, cv=FOLDS, seed=None), "seed=None must be a whole number from 0"),
        (lambda: cross_compare(MODELS, X, Y, alpha=7), "alpha=7 must be between 0 and 1"),
        (lambda: cross_select(MODELS, X, Y, alpha="x"), "alpha='x' must be between 0 and 1"),
        (
            lambda: cross_validate(GaussianNB(), X, Y, cv=[([0, 1], [200])] * 2),
            r"fold 1 has the rows \[200\]; .* to 199",
        ),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=[([0, 1], [])] * 2), r"fold 1 has the rows \[\]"),
        (lambda: cross_validate(GaussianNB(), X, Y, cv=[(Y == 0, [True])] * 2), r"fold 1 has the rows \[True\]"),
        (lambda: cross_validate(GaussianNB(), X, Y, "ece"), "biased on the few items of a fold"),
        (lambda: cross_validate(GaussianNB(), X, Y, "mse"), "is for regression"),
        (lambda: cross_compare({"a": GaussianNB()}, X, Y), "a comparison takes two"),
        (lambda: cross_compare(MODELS, X, Y, test="wilcoxon"), "no test of folds 'wilcoxon'; there are t, mcnemar"),
        (lambda: cross_compare(MODELS, X, Y, "f1", test="mcnemar"), "is for error_rate and accuracy"),
        (lambda: cross_compare(MODELS, X, Y, repeats=2, cv=3, test="mcnemar"), "held out exactly once"),
        (lambda: cross_compare(MODELS, X, Y, test="mcnemar", margin=0.1), "against 0 only"),
        (lambda: cross_select({"a": GaussianNB()}, X, Y), "at least two"),
        (lambda: cross_select({"a": Ridge(), "b": Ridge(2)}, A, B, "bias"), "no better or worse"),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_held_out_items_of_one_division_are_a_pool():
    train, test = next(ShuffleSplit(1, test_size=0.5, random_state=0).split(X))
    fitted = {name: model.fit(X[train], Y[train]) for name, model in MODELS.items()}
    pool = pool_of(fitted, X[test])
    found = sondage.compare(pool, "bayes", "tree", labels=Y[test], budget=100, target="population", test="mcnemar")
    right = [model.predict(X[test]) == Y[test] for model in fitted.values()]
    counts = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
    assert found.pvalue == mcnemar_test(*counts).pvalue


@pytest.mark.slow
def test_coverage():
    # 90 items of two classes, 10 folds: the naive interval, for independent folds, must be the one that is too narrow.
    rng, runs, inside, naive = np.random.default_rng(0), 600, 0, 0
    mean = np.array([0.6, 0.6, 0.0, 0.0])

    def draw(n):
        y = rng.integers(0, 2, n)
        return rng.normal(size=(n, 4)) + np.where(y[:, None], mean, -mean), y

    test_X, test_y = draw(20_000)
    truth = np.mean([1 - GaussianNB().fit(*draw(81)).score(test_X, test_y) for _ in range(200)])
    for run in range(runs):
        found = cross_validate(GaussianNB(), *draw(90), cv=10, seed=run)
        inside += truth in found.interval(0.95)
        half = stats.t.ppf(0.975, 9) * found.std_error * np.sqrt(0.1 / (0.1 + 1 / 9))
        naive += abs(found.value - truth) <= half
    assert inside / runs > 0.95
    assert naive < inside
