"""The default method on pools that nobody looked at while it was made: by one rule, so that none is picked.

    python benchmarks/unseen.py                        all, 200 seeds, then the tables (45 minutes of one core)
    python benchmarks/unseen.py --problem 'enron*'     some of them
    python benchmarks/unseen.py --table                the tables, from the file

The rule: what problems.py leaves of the same sources, and numbers made by scikit-learn. Every pair of Enron's
mailboxes, every Reuters topic with 20 documents or more, pairs of digits, all ten across collections, the torques of
sarcos; models in turn, so that each meets many pools, and measures in turn, error rate and F1 (squared loss of
regressions). "others" is the default where the pool has two other models besides, those whose turns are next. Finished
cells are kept in benchmarks/results/unseen.csv and not computed again unless --again is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from itertools import cycle, permutations
from typing import Any

import numpy as np
from cells import Cell, Cells, options_of_cells, table
from data import Arrays, bayes, cached, classify, digits, enron, forest, gaussian_process, logistic, regress, reuters
from problems import POOLS as SEEN
from problems import Problem, problem_of
from scipy.special import expit
from scipy.stats import binom
from summary import BOUND, LEAST_RATIO, LOW

import sondage
from sondage.core.predictions import Floats

METHODS = ("default", "thesis", "passive")
OTHERS = "others"
BUDGETS = (100, 300, 1000)
KEYS = ("problem", "method", "budget", "seeds")
VALUES = ("items", "truth", "error", "deviation", "covered", "width")


# -- models that problems.py does not have -------------------------------------------------------------------------


class Margins:
    """A linear support vector machine whose margins go through the logistic function, as if they were log odds."""

    def fit(self, rows: Any, target: Any) -> None:
        from sklearn.svm import LinearSVC

        self.model = LinearSVC(random_state=0).fit(rows, target)

    def predict_proba(self, rows: Any) -> Any:
        margins = self.model.decision_function(rows)
        p = expit(np.column_stack((-margins, margins)) if margins.ndim == 1 else margins)
        return p / p.sum(axis=1, keepdims=True)


def _models() -> dict[str, Callable[[], Any]]:
    """Return how each model is made, by its name."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "logistic": logistic,
        "bayes": bayes,
        "forest": partial(RandomForestClassifier, 100, random_state=0),
        "margins": Margins,
        "neighbours": partial(KNeighborsClassifier, 10),
        "tree": partial(DecisionTreeClassifier, min_samples_leaf=3, random_state=0),
        "network": partial(MLPClassifier, (32,), max_iter=30, random_state=0),
    }


def ridge(train: Any, target: Any, pool: Any) -> tuple[Any, Any]:
    """Return predictive means and variances of Bayesian linear regression."""
    from sklearn.linear_model import BayesianRidge

    means, spread = BayesianRidge().fit(train, target).predict(pool, return_std=True)
    return means, spread**2


CLASSIFIERS = ("logistic", "bayes", "forest", "margins", "neighbours", "tree", "network")
REGRESSORS = {"process": gaussian_process, "forest": forest, "ridge": ridge}
TEN_CLASSES = "usps-mnist"
TRAINED = 3_000  # documents or images to learn from, at most


def _classified(model: str, rows: Any, labels: Any, train: Any, pool: Any) -> Arrays:
    """Train on at most `TRAINED` of the rows named, drawn at random, and return what the model says of the pool."""
    train = np.random.default_rng(0).permutation(np.flatnonzero(train))[:TRAINED]
    return classify(_models()[model](), rows[train], labels[train], rows[pool], labels[pool])


# -- pools ---------------------------------------------------------------------------------------------------------


def _mailboxes(source: int, target: int, model: str) -> Arrays:
    words, data = enron()
    return _classified(model, words, data["label"], data["corpus"] == source, data["corpus"] == target)


def _topic(topic: str, model: str) -> Arrays:
    from sklearn.preprocessing import normalize

    counts, data = reuters()
    label = (data["topic"] == list(data["topic_names"]).index(topic)).astype(int)
    train = data["is_train"].astype(bool)
    return _classified(model, normalize(counts.log1p()), label, train, ~train)


def _images(source: str, target: str, pair: tuple[int, int] | None, model: str) -> Arrays:
    sets = digits()
    rows = np.vstack([sets[source][0], sets[target][0]])
    labels = np.concatenate([sets[source][1], sets[target][1]]).astype(int)
    first = np.arange(len(labels)) < len(sets[source][1])
    inside = np.isin(labels, pair) if pair else np.ones(len(labels), bool)
    named = (labels == pair[1]).astype(int) if pair else labels
    return _classified(model, rows, named, first & inside, ~first & inside)


def _made(positives: float, model: str) -> Arrays:
    from sklearn.datasets import make_classification

    rows, labels = make_classification(
        23_000, 20, n_informative=8, weights=[1 - positives], flip_y=0.005, class_sep=1.2, random_state=5
    )
    return _classified(model, rows, labels, np.arange(23_000) < 3_000, np.arange(23_000) >= 3_000)


def _torque(torque: int, model: str) -> Arrays:
    return regress("sarcos", REGRESSORS[model], torque=torque)


@dataclass(frozen=True)
class Unseen:
    """A pool that nobody looked at, the model whose turn it is, and the measure.

    Attributes
    ----------
    pool : str
        Its name.
    build : callable
        Returns the pool's arrays, of a model by name.
    models : tuple of str
        All models that there are.
    model : str
        The one whose turn it is.
    measure : str
        The measure.
    positive : int, optional
        Of which class, for F1.
    """

    pool: str
    build: Callable[[str], Arrays]
    models: tuple[str, ...]
    model: str
    measure: str
    positive: int | None = None

    @property
    def name(self) -> str:
        """Pool, model and measure."""
        return f"{self.pool}-{self.model}/{self.measure}"

    def arrays(self, model: str) -> Arrays:
        """Return what a model says of the pool, and the labels; trained once."""
        return cached("unseen", f"{self.pool}-{model}", partial(self.build, model))

    @property
    def two_classes(self) -> bool:
        """Whether the models are classifiers of two classes."""
        return self.models is CLASSIFIERS and self.pool != TEN_CLASSES

    def with_others(self, turns: Sequence[int], **helped: Any) -> sondage.Pool:
        """Return a pool of the model whose turn it is and those so many turns later, and of judges or features."""
        first = self.models.index(self.model)
        names = [self.model, *(self.models[(first + turn) % len(self.models)] for turn in turns)]
        return sondage.Pool(models={name: _output(self.arrays(name)) for name in names}, **helped)

    def problem(self) -> Problem:
        """Return the problem with the model whose turn it is."""
        return problem_of(self.name, self.arrays(self.model), self.measure, self.positive)


def _output(arrays: Arrays) -> sondage.Classifier | sondage.Regressor:
    told = {name: column for name, column in arrays.items() if name != "labels"}
    return sondage.Regressor(**told) if "means" in told else sondage.Classifier(**told)


def all_unseen() -> Iterator[Unseen]:
    """Yield every pool, with models and measures in turn."""
    models, measures = cycle(CLASSIFIERS), cycle((("error_rate", None), ("f1", 1)))

    def unseen(pool: str, build: Callable[..., Arrays], *parts: Any) -> Unseen:
        return Unseen(pool, partial(build, *parts), CLASSIFIERS, next(models), *next(measures))

    for source, target in permutations(range(1, 7), 2):
        if not {f"enron-{source}-{target}", f"bayes-enron-{source}-{target}"} & set(SEEN):
            yield unseen(f"enron-{source}-{target}", _mailboxes, source, target)
    for topic in ("acq", "coffee", "interest", "money-fx", "sugar", "trade", "earn"):
        yield unseen(f"reuters-{topic}", _topic, topic)
    for pair in ((0, 6), (1, 7), (2, 8), (3, 5), (5, 9)):
        yield unseen(f"mnist-usps-{pair[0]}v{pair[1]}", _images, "mnist", "usps", pair)
    for pair in ((0, 8), (2, 7), (3, 8), (4, 6)):
        yield unseen(f"usps-mnist-{pair[0]}v{pair[1]}", _images, "usps", "mnist", pair)
    for positives in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005):
        yield unseen(f"made-{positives}", _made, positives)
    for model in CLASSIFIERS[2:]:
        yield Unseen(TEN_CLASSES, partial(_images, "usps", "mnist", None), CLASSIFIERS, model, "error_rate")
    for torque, model in zip(range(1, 7), cycle(REGRESSORS), strict=False):
        yield Unseen(f"sarcos-{torque}", partial(_torque, torque), tuple(REGRESSORS), model, "mse")


# -- simulation ----------------------------------------------------------------------------------------------------


def main() -> None:
    cells = Cells("unseen", KEYS, VALUES)
    methods = (*METHODS, OTHERS)
    print(tables(cells_of_unseen(__doc__, cells, BUDGETS, lambda unseen: unseen.name, run, lambda unseen: methods)))


def cells_of_unseen(
    description: str | None,
    cells: Cells,
    budgets: Sequence[int],
    name_of: Callable[[Unseen], str],
    run: Callable[[Unseen, str, int], list[Cell]],
    methods: Callable[[Unseen], Sequence[str]],
    pools: Iterable[Unseen] | None = None,
    seeds: int = 200,
) -> list[Cell]:
    """Return the cells that the command line asks for, each pool's by every method, computed unless they are kept.

    Parameters
    ----------
    description : str, optional
        What the script says of itself.
    cells : Cells
        Where they are kept; its keys are a name, the method, the number of labels and that of seeds.
    budgets : sequence of int
        Numbers of labels.
    name_of : callable
        From a pool to the name of what is simulated on it.
    run : callable
        From a pool, a method and a number of seeds to one cell for each number of labels.
    methods : callable
        From a pool to the methods.
    pools : iterable of Unseen, optional
        What is simulated, by default `all_unseen`.
    seeds : int
        How many runs, unless the command line tells.
    """
    parser = options_of_cells(description, seeds=seeds)
    parser.add_argument("--problem", default="*", help="names or patterns, separated by commas (default: all)")
    parser.add_argument("--table", action="store_true", help="simulate nothing, print the tables")
    options, found = parser.parse_args(), []
    for unseen in pools or all_unseen():
        name = name_of(unseen)
        if not any(fnmatch(name, part) for part in options.problem.split(",")):
            continue
        for method in methods(unseen):
            wanted = [dict(zip(cells.keys, (name, method, b, options.seeds), strict=True)) for b in budgets]
            if not options.table or all(cell in cells for cell in wanted):
                found += cells.series(wanted, partial(run, unseen, method, options.seeds), again=options.again)
    return found


def run(unseen: Unseen, method: str, seeds: int) -> list[Cell]:
    """Return the cells of one pool by one method."""
    problem = unseen.problem()
    if method == OTHERS:
        return [simulate(problem, unseen.with_others((1, 2)), "default", budget, seeds) for budget in BUDGETS]
    return [simulate(problem, problem.pool(), method, budget, seeds) for budget in BUDGETS]


def simulate(problem: Problem, pool: sondage.Pool, method: str, budget: int, seeds: int) -> Cell:
    """Return how far off the pool's first model is estimated, and how often and how wide its 95 % interval holds."""
    truth = problem.truth
    budget = min(budget, len(problem) // 2)
    value, low, high = np.empty((3, seeds))
    for seed in range(seeds):
        estimate = sondage.evaluate(
            pool,
            problem.measure,
            problem.labels,
            budget,
            seed,
            positive=problem.positive,
            method=method,
            model=pool.models[0],
        )
        interval = estimate.interval(0.95)
        value[seed], low[seed], high[seed] = estimate.value, interval.low, interval.high
    return summary_of(value - truth, low - truth, high - truth) | {"items": len(problem), "truth": truth}


def summary_of(error: Floats, low: Floats, high: Floats) -> Cell:
    """Return the size of errors, how often intervals hold and how wide they are; all less the truth, shape (seeds,)."""
    sizes = np.where(np.abs(error) < 1e-12, 0.0, np.abs(error))
    return {
        "error": np.nanmean(sizes),  # equal draws without a positive have no F1
        "deviation": np.nanstd(sizes),
        "covered": np.mean((low <= 1e-9) & (high >= -1e-9)),
        "width": np.mean(high - low),
    }


# -- tables --------------------------------------------------------------------------------------------------------


def tables(found: list[Cell]) -> str:
    """Return geometric means for each number of labels, and every problem."""
    by_key = {(cell["problem"], cell["method"], int(cell["budget"])): cell for cell in found}
    whole = [(method, budget) for method in (*METHODS, OTHERS) for budget in BUDGETS]
    names = [
        name for name in dict.fromkeys(name for name, _, _ in by_key) if all((name, *at) in by_key for at in whole)
    ]
    rows = {name: [[by_key[name, method, budget] for method in METHODS] for budget in BUDGETS] for name in names}
    heads = ["labels", "/thesis", "/passive", "rel. width", "coverage", "lowest", "too low", "thesis's", "too low"]
    summary = [_summary(budget, [cells[at] for cells in rows.values()]) for at, budget in enumerate(BUDGETS)]
    both = [[(by_key[name, OTHERS, at], by_key[name, "default", at]) for name in names] for at in BUDGETS]
    helped = [[str(budget), *against_default(cells)] for budget, cells in zip(BUDGETS, both, strict=True)]
    every = [[name, f"{float(cells[0][0]['truth']):.3g}", *map(shown, cells)] for name, cells in rows.items()]
    return "\n\n".join(
        [
            table(heads, summary),
            table(["labels", *AGAINST_DEFAULT], helped),
            table(["problem", "truth", *map(str, BUDGETS)], every),
        ]
    )


AGAINST_DEFAULT = ("/default", "largest", "rel. width", "coverage", "lowest", "too low")


def against_default(both: Sequence[tuple[Cell, Cell]]) -> list[str]:
    """Return error over the default's (mean, largest), width over its, and coverage, from cells of one and of it."""
    errors = [ratio_of(own, default)[0] for own, default in both]
    widths = [float(own["width"]) / float(default["width"]) for own, default in both if float(default["width"])]
    covered = [float(own["covered"]) for own, _ in both]
    held = [f"{np.mean(covered):.3f}", f"{min(covered):.3f}", str(sum(too_low(own) for own, _ in both))]
    return [mean_ratio(errors), f"{max(errors):.2f}", mean_ratio(widths), *held]


def _summary(budget: int, cells: list[list[Cell]]) -> list[str]:
    def held(at: int) -> tuple[list[float], int]:
        covered = [float(own[at]["covered"]) for own in cells]
        return covered, sum(too_low(own[at]) for own in cells)

    (own, low), (thesis, thesis_low) = held(0), held(1)
    ratios = [mean_ratio([ratio_of(own[0], own[at])[0] for own in cells]) for at in (1, 2)]
    width = mean_ratio([float(own["width"]) / float(passive["width"]) for own, _, passive in cells])
    covered = [f"{np.mean(own):.3f}", f"{min(own):.3f}", str(low), f"{np.mean(thesis):.3f}", str(thesis_low)]
    return [str(budget), *ratios, width, *covered]


def mean_ratio(values: list[float]) -> str:
    """Return the geometric mean of ratios, each at least `LEAST_RATIO`."""
    return f"{np.exp(np.mean(np.log(np.maximum(values, LEAST_RATIO)))):.2f}"


def shown(cells: list[Cell]) -> str:
    """Return error over the thesis's and over passive's, marked where it is worse than 1.05 by more than chance."""
    own, *others = cells
    ratios = (ratio_of(own, other) for other in others)
    texts = [f"{ratio:.2f}{'!' if ratio - 3 * error > 1.05 else ''}" for ratio, error in ratios]
    return f"{', '.join(texts)}; {float(own['covered']):.3f}{' LOW' if too_low(own) else ''}"


def ratio_of(own: Cell, other: Cell) -> tuple[float, float]:
    """Return the ratio of mean absolute errors, 1 of two that are 0, and its standard error."""
    mine, its, seeds = float(own["error"]), float(other["error"]), int(own["seeds"])
    if its == 0:
        return (1.0 if mine == 0 else np.inf), 0.0
    ratio = mine / its
    return ratio, np.hypot(float(own["deviation"]), ratio * float(other["deviation"])) / its / seeds**0.5


def too_low(cell: Cell) -> bool:
    """Return whether the interval holds less often than .93 but for chance (1 in 1000)."""
    seeds = int(cell["seeds"])
    return bool(binom.cdf(round(float(cell["covered"]) * seeds), seeds, LOW) < BOUND)


if __name__ == "__main__":
    main()
