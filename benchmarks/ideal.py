"""How near the default method comes to an oracle that may use the model's scores as well as they allow.

    python benchmarks/ideal.py              a line for each problem and budget, and geometric means; two seconds

The oracle knows from all labels how the influence of an item depends on its score: its mean and its spread, as monotone
functions of the score within each class that is predicted. It draws without replacement with the probabilities that are
best for the spread, certain ones included, and adds what it knows of the mean. No method that sees only these scores
has a smaller error, but by chance, and none can know what the oracle does. `labelled` stands where fewer items than
the budget have a spread: there the oracle is exact. The last column is half the mean width of the default's intervals
in labels: how many of the least effect that one unlabelled item's label can have. Errors and widths are those of
results/labels/summary.csv.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from problems import Problem, load
from scipy.optimize import brentq
from sklearn.isotonic import IsotonicRegression
from summary import cells

from sondage.core.predictions import Floats

TINY = 1e-9
MAE_OF_SD = math.sqrt(2 / math.pi)


def main() -> None:
    found = {key: cell for key, cell in cells(()).items() if key[2] == "default"}
    ratios: dict[str, list[float]] = defaultdict(list)
    print("| problem | labels | least MAE | default | default / least | coverage | half width in labels |")
    print("|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(name for name, *_ in found):
        problem = load(name)
        mean, spread, influence = known(problem)
        effect = least_effect(problem)
        for budget in sorted(budget for other, budget, _ in found if other == name):
            cell = found[name, budget, "default"]
            mine, least = float(cell["mae"]), least_error(influence - mean, spread, budget)
            if least:
                ratios[problem.measure].append(mine / least)
            ratio = f"{mine / least:.2f}" if least else "labelled"
            covered = f"{cell['covered'] / cell['seeds']:.3f}"
            width = f"{cell['width'] / 2 / effect:.1f}" if effect else ""
            print(f"| {name} | {budget} | {least:.3g} | {mine:.3g} | {ratio} | {covered} | {width} |")
    for measure, some in ratios.items():
        print(f"{measure}: {len(some)} cells, geometric mean {np.exp(np.mean(np.log(some))):.2f}")


def known(problem: Problem) -> tuple[Floats, Floats, Floats]:
    """Return every item's mean influence and its spread as the oracle knows them, and the influence that it has."""
    if problem.measure == "mse":
        squares, variances = (problem.prediction - problem.labels) ** 2, problem.pool_kwargs["variances"]
        mean = increasing(variances, squares)
        return mean, np.sqrt(increasing(variances, (squares - mean) ** 2)), squares
    predicted, labels = problem.prediction, problem.labels
    if problem.measure == "error_rate":
        score, event, group = -problem.p_predicted(), predicted != labels, predicted
        without, effect = np.zeros(len(problem)), np.ones(len(problem))
    else:
        score, event, group = problem.p_positive(), labels == problem.positive, predicted == problem.positive
        scale = group.mean() + event.mean()
        without, effect = -problem.truth * group / scale, (2.0 * group - problem.truth) / scale
    chance = np.empty(len(problem))
    for value in np.unique(group):
        inside = group == value
        chance[inside] = increasing(score[inside], event[inside].astype(float))
    return without + effect * chance, np.abs(effect) * np.sqrt(chance * (1.0 - chance)), without + effect * event


def least_effect(problem: Problem) -> float:
    """Return by how much one item's label moves the measure at least, if it does; 0 for real numbers."""
    if problem.measure == "mse":
        return 0.0
    if problem.measure == "error_rate":
        return 1.0 / len(problem)
    said, true = (np.sum(column == problem.positive) for column in (problem.prediction, problem.labels))
    return problem.truth / float(said + true + 1)


def increasing(score: Floats, values: Floats) -> Floats:
    """Return the increasing function of the score that is nearest to the values."""
    return np.asarray(IsotonicRegression().fit(score, values).predict(score))


def least_error(residuals: Floats, spread: Floats, budget: int) -> float:
    """Return the mean absolute error of the oracle's difference estimator with the best probabilities of inclusion."""
    doubtful = spread > TINY * spread.max()
    if doubtful.sum() <= budget:
        return 0.0
    spread, residuals = spread[doubtful], residuals[doubtful]
    factor = brentq(lambda t: np.minimum(1.0, t * spread).sum() - budget, 0.0, budget / spread.min())
    variance = np.sum((1.0 / np.minimum(1.0, factor * spread) - 1.0) * residuals**2) / len(doubtful) ** 2
    return MAE_OF_SD * math.sqrt(variance)


if __name__ == "__main__":
    main()
