"""Print what labels buy for areas under curves and the calibration error: 250 labels of simulated pools of 3,000.

Areas: the mean absolute error and the coverage of the 95 % interval, probabilities right. Calibration error: the log
odds are multiplied by a factor, 1 is calibrated; then that of rare positives, with fewer labels too. Last a calibrated
model against the same with log odds times 3: is it better calibrated? By the calibration error and by two losses.
docs/statistics.md, section 2, quotes what it prints. Run: ``python docs/evidence/curves.py`` (a few minutes).
"""

from __future__ import annotations

import numpy as np
from draws import Draws, draws
from scipy.special import expit

import sondage

RUNS, LABELS, SIZE = 200, 250, 3_000
METHODS = ("default", "passive", "thesis")


def scored(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Return true log odds and labels; `shift` sets how rare positives are."""
    random = np.random.default_rng(7)
    score = random.normal(shift, 1.7, size=SIZE)
    return score, (random.random(SIZE) < expit(score)).astype(int)


def problem(shift: float, factor: float = 1.0) -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool whose log odds are the true ones times a factor, and its labels."""
    score, labels = scored(shift)
    return sondage.Pool(expit(factor * score)), labels


def simulate(
    pool: sondage.Pool, labels: np.ndarray, measure: str, method: str, budget: int = LABELS
) -> tuple[float, float, float, float]:
    """Return the truth, the mean of the estimates, their mean absolute error and the coverage."""
    truth = sondage.evaluate(pool, measure, labels=labels, budget=SIZE).value
    runs = draws(truth, pool, measure, labels, budget, RUNS, method=method)
    return truth, float(np.mean(runs.values)), runs.error, runs.coverage


def against_far_too_sure(shift: float, measure: str, budget: int) -> tuple[float, float, float, float, float]:
    """Return the true difference, the mean of its estimates, coverage and width, and how often it was found."""
    score, labels = scored(shift)
    models = {"right": sondage.Classifier(expit(score)), "sure": sondage.Classifier(expit(3.0 * score))}
    pool = sondage.Pool(models=models)
    truth = sondage.compare(pool, *models, measure, labels=labels, budget=SIZE).difference
    found = [sondage.compare(pool, *models, measure, labels=labels, budget=budget, seed=seed) for seed in range(RUNS)]
    runs = Draws(truth, [one.estimate for one in found])
    right = float(np.mean([one.better == "right" for one in found]))
    return truth, float(np.mean(runs.values)), runs.coverage, runs.width, right


def main() -> None:
    print(f"{'':20}{'positives':>10}{'truth':>7}" + "".join(f"{method:>14}" for method in METHODS))
    for measure in ("auc", "average_precision"):
        for shift in (-2.0, -4.0, 0.0):
            pool, labels = problem(shift)
            found = [simulate(pool, labels, measure, method) for method in METHODS]
            cells = "".join(f"{error:7.3f}; {covered:.3f}" for _, _, error, covered in found)
            print(f"{measure:20}{labels.mean():10.2f}{found[0][0]:7.3f}{cells}", flush=True)
    print(f"\n{'factor':8}{'bins':>5}{'truth':>8}{'estimate':>10}{'default':>14}{'passive':>14}")
    for factor in (1.0, 1.4, 2.0):
        for bins in (15, 5):
            pool, labels = problem(-1.0, factor)
            found = [simulate(pool, labels, f"ece:bins={bins}", method) for method in METHODS[:2]]
            cells = "".join(f"{error:7.3f}; {covered:.3f}" for _, _, error, covered in found)
            print(f"{factor:<8}{bins:5}{found[0][0]:8.3f}{found[0][1]:10.3f}{cells}", flush=True)
    print(f"\n{'factor':8}{'labels':>7}{'truth':>8}{'estimate':>10}{'default':>14}{'passive':>14}")
    for factor in (1.0, 3.0):
        pool, labels = problem(-4.0, factor)
        for budget in (60, 100, LABELS):
            found = [simulate(pool, labels, "ece", method, budget) for method in METHODS[:2]]
            cells = "".join(f"{error:7.3f}; {covered:.3f}" for _, _, error, covered in found)
            print(f"{factor:<8}{budget:7}{found[0][0]:8.3f}{found[0][1]:10.3f}{cells}", flush=True)
    print(
        f"\n{'measure':9}{'shift':>6}{'labels':>7}{'truth':>8}{'estimate':>10}{'coverage':>10}{'width':>7}{'found':>7}"
    )
    for measure in ("ece", "brier", "log_loss"):
        for shift in (-1.0, -4.0):
            for budget in (100, LABELS):
                truth, mean, covered, width, found = against_far_too_sure(shift, measure, budget)
                print(
                    f"{measure:9}{shift:6.0f}{budget:7}{truth:8.3f}{mean:10.3f}{covered:10.3f}{width:7.3f}{found:7.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
