"""Draw docs/figures/gain.svg and gain.png: the error of estimates from few labels, on scikit-learn's digits.

Two classifiers are fitted to 300 of the 1,797 images; the other 1,497 are the pool. All labels of the pool are known,
so that each estimate can be compared with the truth. Run: ``python docs/figures/gain.py`` (needs scikit-learn and
matplotlib; about ten minutes of one core). README.md quotes the table that it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import sondage

HERE = Path(__file__).parent
REPEATS = 500
METHODS = {
    "passive": ("labels drawn at random", "#7f7f7f", "o"),
    "thesis": ("method='thesis'", "#e08214", "s"),
    "default": ("default method", "#2166ac", "D"),
}
PANELS = {
    "error rate": (50, 100, 200, 400),
    "F1 of the digit 8": (50, 100, 200, 400),
    "difference of two error rates": (15, 30, 60),
}

Estimator = Callable[[float, str, int], tuple[float, bool]]


def digits() -> tuple[sondage.Pool, np.ndarray]:
    """Return a pool of 1,497 images with two models' probabilities, and the labels."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, rest = order[:300], order[300:]
    linear = LogisticRegression(max_iter=5000).fit(images[train] / 16, labels[train])
    forest = RandomForestClassifier(random_state=0).fit(images[train] / 16, labels[train])
    models = {
        name: sondage.Classifier(model.predict_proba(images[rest] / 16))
        for name, model in (("linear", linear), ("forest", forest))
    }
    return sondage.Pool(models=models), labels[rest]


def estimators(pool: sondage.Pool, labels: np.ndarray) -> dict[str, Estimator]:
    """Return for each panel a function from budget, method and seed to an estimate and whether the truth is covered."""

    def evaluation(measure: str) -> Callable[[float, str, int], sondage.Estimate]:
        return lambda budget, method, seed: sondage.evaluate(
            pool, measure, labels=labels, budget=budget, seed=seed, model="linear", method=method
        )

    def comparison(budget: float, method: str, seed: int) -> sondage.Estimate:
        return sondage.compare(
            pool, "linear", "forest", labels=labels, budget=budget, seed=seed, method=method
        ).estimate

    questions = (evaluation("error_rate"), evaluation("f1:positive=8"), comparison)
    return {panel: _against_truth(question, len(labels)) for panel, question in zip(PANELS, questions, strict=True)}


def _against_truth(question: Callable[[float, str, int], sondage.Estimate], everything: int) -> Estimator:
    truth = question(everything, "default", 0).value

    def run(budget: float, method: str, seed: int) -> tuple[float, bool]:
        estimate = question(budget, method, seed)
        return estimate.value - truth, truth in estimate.interval(0.95)

    return run


def simulate(estimator: Estimator, budgets: Sequence[int]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return, for each method, root mean squared error and coverage of the 95 % interval at every budget."""
    found = {}
    for method in METHODS:
        runs = np.array([[estimator(n, method, seed) for seed in range(REPEATS)] for n in budgets])
        found[method] = np.sqrt(np.nanmean(runs[:, :, 0] ** 2, axis=1)), runs[:, :, 1].mean(axis=1)
    return found


def main() -> None:
    pool, labels = digits()
    results = {panel: simulate(estimator, PANELS[panel]) for panel, estimator in estimators(pool, labels).items()}
    print("root mean squared error (coverage of the 95 % interval)")
    for panel, found in results.items():
        for method, (error, cover) in found.items():
            cells = (f"{n}: {e:.4f} ({c:.2f})" for n, e, c in zip(PANELS[panel], error, cover, strict=True))
            print(f"{panel:30} {method:8}", "  ".join(cells))
    draw(results)


def draw(results: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]]) -> None:
    mpl.rcParams.update({"svg.hashsalt": "sondage", "font.size": 10, "svg.fonttype": "path"})
    figure, axes = plt.subplots(1, len(results), figsize=(11, 3.6), layout="constrained")
    for axis, (panel, found) in zip(axes, results.items(), strict=True):
        for method, (error, _) in found.items():
            name, colour, marker = METHODS[method]
            axis.plot(PANELS[panel], error, color=colour, marker=marker, markersize=5, label=name)
        axis.set(xscale="log", yscale="log", title=panel, xlabel="labels")
        ticks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2]
        shown = [t for t in ticks if axis.get_ylim()[0] <= t <= axis.get_ylim()[1]]
        axis.set_xticks(PANELS[panel], [str(n) for n in PANELS[panel]])
        axis.set_yticks(shown, [f"{t:g}" for t in shown])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("root mean squared error")
    axes[0].legend(frameon=False)
    figure.savefig(HERE / "gain.svg", metadata={"Date": None})
    figure.savefig(HERE / "gain.png", dpi=130)


if __name__ == "__main__":
    main()
