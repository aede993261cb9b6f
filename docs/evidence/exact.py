"""Print how often what is said of models that look equal holds, where few labels tell them apart: simulated pools.

First two classifiers without probabilities that flag equally many of 600 items and differ on some of these (or
regressors that do), 150 labels: the standard deviation of their true difference, the root mean square error, how often
the interval holds and how often it is exact. Then three models of 400 items, 4 to 15 labels: how many gaps of
`Selection.gaps` have no width and are wrong, and how many hold. Then questions of which a label of many items moves
nothing at the belief by coincidence: the AUC of scores of .1, .5 and .9, where the middle ones are right more often
than they say, and two classifiers without probabilities that flag half of the items each; by how many labels of a
thousand, in how many stages, how often the interval holds and how often it is called exact and is wrong.
Run: ``python docs/evidence/exact.py`` (four minutes). Decisions 0041 and 0087 quote it.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit

import sondage
from sondage.errors import SondageWarning

RUNS, LARGE, SMALL, THOUSAND = 20, 600, 400, 1000
TOLERANCE = 1e-9


def main() -> None:
    warnings.simplefilter("ignore", SondageWarning)
    print("| swapped | measure | spread of the truth | error | holds | exact |\n|" + "---|" * 6)
    for swapped in (2, 6):
        for measure in ("f1", "recall", "mcc", "balanced_accuracy", "precision", "rmse"):
            row = np.array([compared(swapped, measure, seed) for seed in range(RUNS)])
            error = np.sqrt(np.mean(row[:, 1] ** 2))
            held, exact = row[:, 2].mean(), row[:, 3].mean()
            print(f"| {swapped} | {measure} | {row[:, 0].std():.4f} | {error:.4f} | {held:.2f} | {exact:.2f} |")
    print("\n| measure | method | gaps | no width and wrong | hold |\n|" + "---|" * 5)
    for measure in ("auc", "average_precision", "ece", "f1", "recall", "balanced_accuracy"):
        for method in ("default", "passive"):
            gaps = np.array([one for seed in range(RUNS) for one in gaps_of(measure, method, seed)])
            wrong = np.mean(gaps[:, 0] * (1 - gaps[:, 1]))
            print(f"| {measure} | {method} | {len(gaps)} | {wrong:.2f} | {gaps[:, 1].mean():.2f} |")
    print("\n| measure | stages | labels | holds | exact and wrong |\n|" + "---|" * 5)
    for measure in ("auc", "balanced_accuracy", "mcc", "macro_f"):
        for stages in (3, 1):
            for budget in (200, 400, 900):
                row = np.array([flat_by_chance(measure, stages, budget, seed) for seed in range(RUNS)])
                print(f"| {measure} | {stages} | {budget} | {row[:, 0].mean():.2f} | {row[:, 1].mean():.2f} |")


def compared(swapped: int, measure: str, seed: int) -> tuple[float, float, bool, bool]:
    """Return the true difference, how far off it is estimated, whether its interval holds, whether it is exact."""
    random = np.random.default_rng(seed)
    labels = (random.random(LARGE) < 0.2).astype(float)
    first = np.where(random.random(LARGE) < 0.85, labels, 1 - labels)
    second = first.copy()
    second[random.choice(np.flatnonzero(first == 1), swapped, replace=False)] = 0
    second[random.choice(np.flatnonzero(first == 0), swapped, replace=False)] = 1
    if measure == "rmse":
        labels = labels + random.normal(0.0, 0.3, LARGE)
        pool = sondage.Pool(models={"a": sondage.Regressor(first), "b": sondage.Regressor(second)})
    else:
        models = {"a": first.astype(int), "b": second.astype(int)}
        pool = sondage.Pool(models={n: sondage.Classifier(predictions=p) for n, p in models.items()}, classes=[0, 1])
        labels = labels.astype(int)
    truth = value(pool, measure, labels, "a") - value(pool, measure, labels, "b")
    found = sondage.compare(pool, "a", "b", measure, labels=labels, budget=150, seed=seed).estimate
    return truth, found.value - truth, holds(found.interval(), truth), found.exact


def gaps_of(measure: str, method: str, seed: int) -> list[tuple[bool, bool]]:
    """Return of each gap whether it has no width, and whether it holds."""
    random = np.random.default_rng(seed)
    score = random.normal(-1.0, 3.0, SMALL)
    labels = (random.random(SMALL) < expit(score)).astype(int)
    noisy = {f"m{at}": expit(score + random.normal(0.0, noise, SMALL)) for at, noise in enumerate((0.3, 0.3, 0.6))}
    pool = sondage.Pool(models={name: sondage.Classifier(p) for name, p in noisy.items()})
    truth = {name: value(pool, measure, labels, name) for name in noisy}
    found = []
    for budget in (4, 8, 15):
        chosen = sondage.select(pool, measure, labels=labels, budget=budget, seed=seed, method=method)
        gaps = chosen.gaps().items()
        found += [(gap.width == 0, holds(gap, truth[name] - truth[chosen.best])) for name, gap in gaps]
    return found


def flat_by_chance(measure: str, stages: int, budget: int, seed: int) -> tuple[bool, bool]:
    """Return whether the interval holds, and whether the result is called exact and is wrong."""
    random = np.random.default_rng(seed)
    parts = {} if stages > 1 else {"stages": 1}
    if measure == "auc":
        scores = random.permutation(np.repeat([0.1, 0.5, 0.9], THOUSAND // 3))
        labels = (random.random(len(scores)) < np.where(scores == 0.5, 0.95, scores)).astype(int)
        pool = sondage.Pool(scores)
        truth = sondage.evaluate(pool, measure, labels, len(pool), method="passive").value
        found = sondage.evaluate(pool, measure, labels, budget, seed, **parts)
    else:
        score = random.normal(size=THOUSAND)
        labels = (score + random.normal(size=THOUSAND) > 1).astype(int)
        noisy = {name: score + noise * random.normal(size=THOUSAND) for name, noise in (("a", 0.7), ("b", 1.6))}
        flagged = {
            name: sondage.Classifier(predictions=(one > np.median(one)).astype(int)) for name, one in noisy.items()
        }
        pool = sondage.Pool(models=flagged)
        truth = value(pool, measure, labels, "a") - value(pool, measure, labels, "b")
        found = sondage.compare(pool, "a", "b", measure, labels=labels, budget=budget, seed=seed, **parts).estimate
    return holds(found.interval(), truth), found.exact and abs(found.value - truth) > TOLERANCE


def value(pool: sondage.Pool, measure: str, labels: np.ndarray, model: str) -> float:
    return sondage.evaluate(pool, measure, labels, len(pool), method="passive", model=model).value


def holds(interval: sondage.Interval, truth: float) -> bool:
    return interval.low - TOLERANCE <= truth <= interval.high + TOLERANCE


if __name__ == "__main__":
    main()
