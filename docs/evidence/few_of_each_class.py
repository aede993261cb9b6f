"""Print what a few labels of each class do to means over classes: ten digits, 3 to 10 labels of each.

A random forest, nearest neighbours, a logistic regression and naive Bayes are fitted to 200 of scikit-learn's digits.
The forest is right on nine of ten of the others and half sure of them. Every row gives, over 300 draws, the root mean
squared error divided by that of labels drawn at random, how far the mean is from the truth, and the coverage of the
95 % interval, of the default's and of labels drawn at random. Run: ``python docs/evidence/few_of_each_class.py`` (half
an hour). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from draws import draws
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import sondage

MEASURES = ["macro_f", "balanced_accuracy"]
BUDGETS = (30, 60, 100)
REPEATS = 300
MODELS: dict[str, Any] = {
    "forest": RandomForestClassifier(100, random_state=0),
    "neighbours": KNeighborsClassifier(5),
    "logistic": LogisticRegression(max_iter=2000),
    "bayes": GaussianNB(),
}


def problem(model: Any) -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of 1,597 digits and their labels."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    train, test = order[:200], order[200:]
    model.fit(digits.data[train], digits.target[train])
    return sondage.Pool(probabilities=model.predict_proba(digits.data[test])), digits.target[test]


def simulate(
    pool: sondage.Pool, labels: np.ndarray, measure: str, budget: int, method: str
) -> tuple[float, float, float]:
    """Return the root mean squared error, the bias and the coverage."""
    truth = sondage.evaluate(pool, measure, labels=labels, budget=len(labels)).value
    runs = draws(truth, pool, measure, labels, budget, REPEATS, method=method)
    return runs.root_mean_square, float(np.mean(runs.values - truth)), runs.coverage


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'':30} {'labels':>6}  {'error, relative':>15}  {'bias':>16}  {'coverage':>16}")
    print(f"{'':30} {'':>6}  {'to passive':>15}  {'passive  default':>16}  {'passive  default':>16}")
    for name, model in MODELS.items():
        pool, labels = problem(model)
        for measure in MEASURES:
            for budget in BUDGETS:
                passive, default = (simulate(pool, labels, measure, budget, one) for one in ("passive", "default"))
                line = f"{name + ', ' + measure:30} {budget:6d}  {default[0] / passive[0]:15.2f}"
                line += f"  {passive[1]:+7.3f}  {default[1]:+7.3f}  {passive[2]:7.2f}  {default[2]:7.2f}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
