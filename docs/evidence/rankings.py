"""Rankings on real data: 21 systems of the Million Query track 2007 (LETOR's MQ2007-agg), graded 0, 1, 2.

    python docs/evidence/rankings.py DATA_FOLDER [--runs 300] [--budget 1000] [--grades learned]

DATA_FOLDER holds ``mq2007/mq2007_agg.npz``. Each document costs 1, and the budget is spent on the system in the middle
(estimates) and on the sixth best against it (comparisons). Printed for each measure: the truth, the root mean square
error of the default method, of the thesis's and of a random sample at the same cost, and how many of the 95 % intervals
hold the truth. The grade model is a multinomial logistic regression on the ranks of all systems, trained on the parts
whose queries are not in the pool (``--grades none``: no grade model).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sondage
from sondage.core.measures import parse_measure

MEASURES = ("dcg@10", "err@10", "ndcg@10")
METHODS = ("default", "thesis", "passive")


def grade_model(ranks: np.ndarray, grades: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return probabilities of the grades of all rows, learned on the rows that are not held out."""
    from sklearn.linear_model import LogisticRegression

    heights = np.where(ranks > 0, 1.0 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
    inputs = np.hstack([heights, ranks == 0])
    learned = LogisticRegression(C=1.0, max_iter=1000).fit(inputs[~held], grades[~held])
    return learned.predict_proba(inputs).astype(np.float32)


def read_pool(folder: Path, learned: bool) -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool of the queries of three of the five parts, and their documents' grades."""
    with np.load(folder / "mq2007" / "mq2007_agg.npz") as data:
        ranks, y, query, document, part = (data[name] for name in ("ranks", "y", "qid", "docid", "part"))
    held = part >= 3
    p = grade_model(ranks, y, held)[held] if learned else None
    models = {f"s{m + 1}": sondage.Ranking(ranks=ranks[held, m]) for m in range(ranks.shape[1])}
    table = {"queries": query[held], "documents": document[held], "grades": p, "classes": [0, 1, 2], "costs": 1.0}
    return sondage.Pool(models=models, **table), y[held]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--budget", type=float, default=1000.0)
    parser.add_argument("--grades", choices=["learned", "none"], default="learned")
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    options = parser.parse_args()
    pool, y = read_pool(options.data, options.grades == "learned")
    print(f"{pool}; budget {options.budget:g} judged documents, {options.runs} seeds, grade model: {options.grades}")
    print(f"{'measure':10} {'question':10} {'truth':>8}  " + "  ".join(f"{m:>8} rmse  cover" for m in METHODS))
    for measure in options.measures:
        basis = parse_measure(measure).ready(pool.task).basis
        codes = y[pool.listed.order]
        values = {name: basis.losses(pool.items.models[m], codes).mean() for m, name in enumerate(pool.models)}
        ranking = sorted(values, key=lambda name: -values[name])
        middle, pair = ranking[10], (ranking[5], ranking[10])
        for question in ("estimate", "compare"):
            truth = values[middle] if question == "estimate" else values[pair[0]] - values[pair[1]]
            cells = []
            for method in METHODS:
                found = [
                    ask(pool, y, measure, question, middle, pair, method, seed, options.budget)
                    for seed in range(options.runs)
                ]
                error = np.sqrt(np.mean([(value - truth) ** 2 for value, _, _ in found]))
                cells.append(f"{error:13.4f}  {np.mean([low <= truth <= high for _, low, high in found]):5.3f}")
            print(f"{measure:10} {question:10} {truth:8.4f}  " + "  ".join(cells), flush=True)


def ask(pool, y, measure, question, middle, pair, method, seed, budget):
    """Return value and interval of one run."""
    options = {"labels": y, "budget": budget, "seed": seed, "method": method}
    if question == "estimate":
        found = sondage.evaluate(pool, measure, model=middle, **options)
        return found.value, found.interval(0.95).low, found.interval(0.95).high
    found = sondage.compare(pool, *pair, measure, **options)
    return found.difference, found.interval(0.95).low, found.interval(0.95).high


if __name__ == "__main__":
    main()
