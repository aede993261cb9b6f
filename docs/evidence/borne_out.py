"""Print intervals where labels show more than calibrations learn: a bias, dear errors that do not occur, rankings.

`biased` has 4,000 numbers that a regressor tells 1 too high, 1.5 where they are large, and of which it tells the
variance .25 that they have about that; `ordinal` 4,000 items of five ordered classes with right probabilities. In
`by chance` 3 % of their labels are any class, in `cubed` probabilities are cubed, in `shifted` they are of items one
class higher. `ranked` has 800 queries of ten documents, grades 0 to 3, two systems and a grade model; in `too sure` its
probabilities are cubed. There `a` is one system's measure, `a - b` the difference. Every row gives, over 200 draws, the
coverage of the 95 % interval, its mean width and the mean standard error over the estimates' spread. Run: ``python
docs/evidence/borne_out.py`` (twenty minutes). Decision 0052 quotes the rows of `biased`, 0100 those of costs, 0101
those of ratios of classes, 0099 those of rankings.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from draws import Draws, draws
from scipy.special import expit

import sondage

REPEATS = 200
BUDGETS = (100, 300)
SIZE = 4_000


def biased() -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of numbers, and its labels."""
    random = np.random.default_rng(5)
    x = random.normal(size=SIZE)
    labels = x + 0.5 * random.normal(size=SIZE)
    return sondage.Pool(means=x + 1.0 + 0.5 * (x > 1), variances=np.full(SIZE, 0.25)), labels


def ordinal(by_chance: float = 0.0, power: float = 1.0, higher: float = 0.0) -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of ordered classes, and its labels."""
    random = np.random.default_rng(6)
    graded = random.normal(2.0, 1.2, SIZE)
    seen = graded + random.normal(0.0, 0.9, SIZE) + higher
    p = np.exp(-0.5 * (np.arange(5) - seen[:, None]) ** 2 / 0.6) ** power
    labels = np.clip(np.round(graded), 0, 4).astype(int)
    labels = np.where(random.random(SIZE) < by_chance, random.integers(0, 5, SIZE), labels)
    return sondage.Pool(probabilities=p / p.sum(axis=1, keepdims=True)), labels


def ranked(power: float) -> tuple[sondage.Pool, dict[str, dict[str, int]]]:
    """Return the pool of queries, the grade model's probabilities raised to this power, and the grades."""
    random = np.random.default_rng(1)
    queries, documents = [f"q{query}" for query in range(800)], [f"d{place}" for place in range(10)]
    shape = (len(queries), len(documents))
    relevance = random.normal(size=shape) + random.normal(0.0, 0.7, (len(queries), 1))
    limits = np.array([0.5, 1.5, 2.3])

    def system(error: float) -> sondage.Ranking:
        order = np.argsort(-(relevance + random.normal(0.0, error, shape)), axis=1)
        return sondage.Ranking([[documents[place] for place in own] for own in order])

    models = {"a": system(1.0), "b": system(1.3)}
    above = expit(4.0 * (relevance[..., None] - limits + random.normal(0.0, 0.5, (*shape, 3))))
    above = np.concatenate(
        [np.ones((*shape, 1)), np.minimum.accumulate(above, axis=-1), np.zeros((*shape, 1))], axis=-1
    )
    p = (-np.diff(above, axis=-1)) ** power + 1e-6
    p /= p.sum(axis=-1, keepdims=True)
    grades = np.searchsorted(limits, relevance).tolist()
    told = {query: dict(zip(documents, own, strict=True)) for query, own in zip(queries, p, strict=True)}
    labels = {query: dict(zip(documents, own, strict=True)) for query, own in zip(queries, grades, strict=True)}
    return sondage.Pool(models=models, classes=[0, 1, 2, 3], ids=queries, grades=told), labels


def costs(table: np.ndarray) -> str:
    """Return the expected cost by a table."""
    return "expected_cost:costs=" + "/".join(f"{cost:g}" for cost in table.ravel())


def main() -> None:
    warnings.simplefilter("ignore")
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    dear = distance**2
    dear[0, 3:] = 100, 200
    of_numbers = {name: name for name in ("bias", "mse", "mae", "r2")}
    of_classes: dict[str, Any] = {
        "distance": costs(distance),
        "its square": costs(distance**2),
        "two dear": costs(dear),
        "recall": sondage.measures.Recall(4),
        "F1": sondage.measures.FMeasure(positive=4),
        "balanced": "balanced_accuracy",
    }
    print(f"{'pool':9} {'measure':11} {'labels':>6}  {'coverage':>8} {'width':>6} {'se/sd':>6}")
    pools = {
        "biased": (biased(), of_numbers),
        "ordinal": (ordinal(), of_classes),
        "by chance": (ordinal(by_chance=0.03), of_classes),
        "cubed": (ordinal(power=3.0), of_classes),
        "shifted": (ordinal(higher=1.0), of_classes),
    }
    for kind, ((pool, labels), measures) in pools.items():
        for name, measure in measures.items():
            truth = sondage.evaluate(pool, measure, labels, SIZE).value
            for budget in BUDGETS:
                _print_line(kind, name, budget, draws(truth, pool, measure, labels, budget, REPEATS))
    for name, power in {"ranked": 1.0, "too sure": 3.0}.items():
        pool, grades = ranked(power)
        for measure in ("dcg@5", "err", "ndcg@5"):
            one: dict[str, Any] = {"model": "a"}
            truth = sondage.evaluate(pool, measure, grades, len(pool), **one).value
            apart = sondage.compare(pool, "a", "b", measure, labels=grades, budget=len(pool)).difference
            for budget in BUDGETS:
                _print_line(name, f"{measure} a", budget, draws(truth, pool, measure, grades, budget, REPEATS, **one))
                compared = [
                    sondage.compare(pool, "a", "b", measure, labels=grades, budget=budget, seed=seed).estimate
                    for seed in range(REPEATS)
                ]
                _print_line(name, f"{measure} a - b", budget, Draws(apart, compared))


def _print_line(pool: str, measure: str, budget: int, runs: Draws) -> None:
    ratio = np.mean([run.std_error for run in runs.estimates]) / np.std(runs.values)
    print(f"{pool:9} {measure:11} {budget:6d}  {runs.coverage:8.3f} {runs.width:6.3f} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
