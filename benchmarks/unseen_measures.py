"""Other measures than error rate and F1 on further pools: by the rule of unseen.py.

    python benchmarks/unseen_measures.py                        all, 100 seeds, then the tables (hours of one core)
    python benchmarks/unseen_measures.py --problem '*/auc'      some of them
    python benchmarks/unseen_measures.py --table                the tables, from the file

Each classifier whose turn it is in unseen.py is measured three times, by measures in turn, of which every one meets
eighteen pools. Measures of one class are of the second (of ten digits, of 1). "others" is the default where the pool
has two other models besides, as in unseen.py. Finished cells are kept in benchmarks/results/unseen_measures.csv and not
computed again unless --again is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from cells import Cell, Cells, table
from data import Arrays
from numpy.typing import NDArray
from problems import Problem, problem_of
from unseen import (
    AGAINST_DEFAULT,
    BUDGETS,
    KEYS,
    OTHERS,
    VALUES,
    against_default,
    by_problem,
    cells_of_unseen,
    coverage_of,
    error_over,
    ratio_of,
    simulated,
    too_low,
    width_over,
)
from unseen_pools import Unseen, all_unseen

METHODS = ("default", "passive")
POSITIVE = 1
TURNS = 3


def main() -> None:
    cells, pools = Cells("unseen_measures", KEYS, VALUES), measured()
    found = cells_of_unseen(
        __doc__, cells, BUDGETS, lambda unseen: unseen.name, run, lambda _: (*METHODS, OTHERS), pools=pools, seeds=100
    )
    print(tables(found))


def measured(turns: int = TURNS) -> Iterator[Unseen]:
    """Yield every classifier with each of its measures, so many."""
    names = tuple(TRUTHS)
    for place, unseen in enumerate(one for one in all_unseen() if one.measure != "mse"):
        for turn in range(turns):
            name = names[(place + turn * len(names) // turns) % len(names)]
            yield replace(unseen, measure=name, positive=POSITIVE if name in OF_ONE_CLASS else None)


def run(unseen: Unseen, method: str, seeds: int) -> list[Cell]:
    """Return the cells of one pool and measure by one method."""
    return simulated(unseen, problem_by(unseen, unseen.arrays(unseen.model)), method, seeds)


def problem_by(unseen: Unseen, arrays: Arrays) -> Problem:
    """Return the problem of one model's arrays by the measure whose turn it is."""
    plain = problem_of(unseen.name, dict(arrays), "error_rate", None)
    return replace(plain, measure=unseen.measure, positive=unseen.positive, truth=TRUTHS[unseen.measure](plain))


def _by(name: str, of: Callable[[Problem], Any]) -> Callable[[Problem], float]:
    """Return scikit-learn's measure of what `of` takes from a problem."""

    def truth(problem: Problem) -> float:
        from sklearn import metrics

        return float(getattr(metrics, name)(*of(problem)))

    return truth


def _predicted(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    return problem.labels, problem.prediction


def _one_class(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    return problem.labels == POSITIVE, problem.prediction == POSITIVE


def _others(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    return problem.labels != POSITIVE, problem.prediction != POSITIVE


def _score(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    return problem.labels == POSITIVE, replace(problem, positive=POSITIVE).p_positive()


def _probabilities(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    p = np.asarray(problem.pool_kwargs["probabilities"], dtype=np.float64)
    return problem.labels, np.clip(np.column_stack((1.0 - p, p)) if p.ndim == 1 else p, 1e-15, 1.0 - 1e-15)


def _brier(problem: Problem) -> float:
    labels, p = _probabilities(problem)
    square = float(np.mean(np.sum((p - np.eye(p.shape[1])[labels]) ** 2, axis=1)))
    return square / 2.0 if p.shape[1] == 2 else square


def _log_loss(problem: Problem) -> float:
    labels, p = _probabilities(problem)
    return float(-np.mean(np.log(p[np.arange(len(labels)), labels])))


TRUTHS: dict[str, Callable[[Problem], float]] = {
    "recall": _by("recall_score", _one_class),
    "precision": _by("precision_score", _one_class),
    "specificity": _by("recall_score", _others),
    "balanced_accuracy": _by("balanced_accuracy_score", _predicted),
    "mcc": _by("matthews_corrcoef", _predicted),
    "auc": _by("roc_auc_score", _score),
    "average_precision": _by("average_precision_score", _score),
    "log_loss": _log_loss,
    "brier": _brier,
}
OF_ONE_CLASS = ("recall", "precision", "specificity", "auc", "average_precision")


def tables(found: list[Cell]) -> str:
    """Return for each measure and number of labels errors and widths over equal draws', the default's, and coverage."""
    by_key, names = by_problem(found, (*METHODS, OTHERS))
    rows, helped, every = [], [], []
    for measure in TRUTHS:
        own = [name for name in names if name.endswith(f"/{measure}")]
        pairs = [[(by_key[name, "default", at], by_key[name, "passive", at]) for at in BUDGETS] for name in own]
        for place, budget in enumerate(BUDGETS) if own else ():
            both = [(by_key[name, OTHERS, budget], by_key[name, "default", budget]) for name in own]
            rows.append([measure, str(budget), *_summary([row[place] for row in pairs])])
            helped.append([measure, str(budget), *against_default(both)])
        every += [
            [name, f"{float(row[0][0]['truth']):.3g}", *(shown_beside(*pair) for pair in row)]
            for name, row in zip(own, pairs, strict=True)
        ]
    heads = ["measure", "labels", "/passive", "rel. width", "coverage", "lowest", "too low", "passive's", "too low"]
    every_head = ["problem", "truth", *map(str, BUDGETS)]
    shown = (heads, rows), (["measure", "labels", *AGAINST_DEFAULT], helped), (every_head, every)
    return "\n\n".join(table(*one) for one in shown)


def _summary(pairs: list[tuple[Cell, Cell]]) -> list[str]:
    own, passive = zip(*pairs, strict=True)
    mean, _, low = coverage_of(passive)
    return [error_over(pairs), width_over(pairs), *coverage_of(own), mean, low]


def shown_beside(own: Cell, passive: Cell) -> str:
    """Return error over that of equal draws, and coverage, marked where it is too low."""
    low = " LOW" if too_low(own) else ""
    return f"{ratio_of(own, passive)[0]:.2f}; {float(own['covered']):.3f}{low}"


if __name__ == "__main__":
    main()
