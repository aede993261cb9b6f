"""Print when active evaluation helps and when not: seven simulated cases, three methods.

Every row gives, over 300 draws from one pool, the root mean squared error divided by that of labels drawn at random,
and the coverage of the 95 % interval. The last column is what `sondage.advise` expected of the default method before
any label. Run: ``python docs/evidence/when_it_helps.py`` (a minute or two). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from draws import draws
from scipy.special import expit

import sondage

METHODS = ("passive", "thesis", "default")
REPEATS = 300


@dataclass(frozen=True)
class Case:
    """A pool of one classifier, its labels, a measure and a budget."""

    name: str
    pool: sondage.Pool
    labels: np.ndarray
    measure: str
    budget: int


def cases() -> list[Case]:
    """Return the pools; the true probability of class 1 is expit(score) in all of them."""
    random = np.random.default_rng(20130513)
    score = random.normal(-2.0, 2.5, size=10_000)
    labels = (random.random(len(score)) < expit(score)).astype(int)
    hard = random.normal(0.0, 0.2, size=len(score))
    coin = (random.random(len(hard)) < expit(hard)).astype(int)
    good = sondage.Pool(probabilities=expit(score))
    shuffled = expit(random.permutation(score))
    return [
        Case("right probabilities, error rate", good, labels, "error_rate", 200),
        Case("right probabilities, F1", good, labels, "f1", 200),
        Case("over-confident (logits x 4)", sondage.Pool(expit(4 * score)), labels, "error_rate", 200),
        Case("uninformative (shuffled)", sondage.Pool(shuffled, predictions=score > 0), labels, "error_rate", 200),
        Case("error rate near 1/2", sondage.Pool(expit(hard)), coin, "error_rate", 200),
        Case("no probabilities", sondage.Pool(predictions=score > 0), labels, "error_rate", 200),
        Case("tiny pool (80 of 100)", sondage.Pool(expit(score[:100])), labels[:100], "error_rate", 80),
    ]


def simulate(case: Case, method: str) -> tuple[float, float]:
    """Return the root mean squared error and the coverage of one method."""
    truth = sondage.evaluate(case.pool, case.measure, labels=case.labels, budget=len(case.pool)).value
    runs = draws(truth, case.pool, case.measure, case.labels, case.budget, REPEATS, method=method)
    return runs.root_mean_square, runs.coverage


def expected(case: Case) -> float:
    """Return what advise expects of the default method, relative to passive."""
    advice = sondage.advise(case.pool, case.measure, budgets=[case.budget])
    error = {one.method: one.std_error for one in advice.expected}
    return error["default"] / error["passive"]


def main() -> None:
    warnings.simplefilter("ignore", sondage.errors.SondageWarning)
    print("                                 error, relative to passive     coverage of 95 %        expected")
    print("                                 passive  thesis  default   passive  thesis  default    default")
    for case in cases():
        found = [simulate(case, method) for method in METHODS]
        relative = "".join(f"{error / found[0][0]:8.2f}" for error, _ in found)
        coverage = "".join(f"{cover:8.2f}" for _, cover in found)
        print(f"{case.name:32}{relative}  {coverage}   {expected(case):8.2f}")


if __name__ == "__main__":
    main()
