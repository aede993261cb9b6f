"""Print what a classifier of many classes that is far too sure does to estimates from few labels.

Naive Bayes on scikit-learn's digits, fitted to 300 of them, errs eight times as often as its probabilities say, mostly
where it is surest. Every row gives, over 1,000 draws, the root mean squared error divided by that of labels drawn at
random, and the coverage of the 95 % interval, of both methods. Run: ``python docs/evidence/too_sure.py`` (a few
minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import sondage

MEASURES = ["error_rate", "mcc", "log_loss"]
BUDGETS = (60, 100)
REPEATS = 1000


def problem() -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of 1,497 digits and their labels."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    train, test = order[:300], order[300:]
    model = GaussianNB(var_smoothing=1e-2).fit(digits.data[train], digits.target[train])
    return sondage.Pool(probabilities=model.predict_proba(digits.data[test])), digits.target[test]


def simulate(pool: sondage.Pool, labels: np.ndarray, budget: int, method: str) -> dict[str, tuple[float, float]]:
    """Return each measure's root mean squared error and coverage; draws serve the error rate."""
    truth = sondage.evaluate(pool, MEASURES, labels=labels, budget=len(labels))
    runs = [
        sondage.evaluate(pool, MEASURES, labels=labels, budget=budget, seed=seed, method=method)
        for seed in range(REPEATS)
    ]
    found = {}
    for name in MEASURES:
        errors = np.array([run[name].value - truth[name].value for run in runs])
        held = [truth[name].value in run[name].interval(0.95) for run in runs]
        found[name] = float(np.sqrt(np.mean(errors**2))), float(np.mean(held))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    pool, labels = problem()
    print(f"{'':10} {'labels':>6}  {'error, relative':>16}  {'coverage':>16}")
    print(f"{'':10} {'':>6}  {'to passive':>16}  {'passive  default':>16}")
    for budget in BUDGETS:
        passive, default = (simulate(pool, labels, budget, method) for method in ("passive", "default"))
        for name in MEASURES:
            ratio = default[name][0] / passive[name][0]
            print(f"{name:10} {budget:6d}  {ratio:16.2f}  {passive[name][1]:7.2f}  {default[name][1]:7.2f}")


if __name__ == "__main__":
    main()
