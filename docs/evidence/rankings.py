"""Rankings on real data: 21 systems of the Million Query track 2007 (LETOR's MQ2007-agg), graded 0, 1, 2.

    python docs/evidence/rankings.py DATA_FOLDER [--runs 300] [--budget 1000] [--measures dcg@10] [--grades none]

DATA_FOLDER holds ``mq2007/mq2007_agg.npz``. Each document costs 1, and the budget is spent on the system in the middle
(estimates) or on the sixth best against it (comparisons). Printed for each measure, question and method: the truth, the
root mean square error over the seeds, the share of 95 % intervals that hold the truth, and the mean number of queries
judged. The grade model is a multinomial logistic regression on the ranks of all systems, trained on the parts whose
queries are not in the pool (``--grades none``: no grade model).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sondage
from sondage.core.measures import parse_measure

MEASURES = ("dcg@10", "err@10", "ndcg@10")
METHODS = {"default": {}, "one stage": {"stages": 1}, "thesis": {"method": "thesis"}, "passive": {"method": "passive"}}


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
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--questions", nargs="+", choices=["estimate", "compare"], default=["estimate", "compare"])
    options = parser.parse_args()
    pool, y = read_pool(options.data, options.grades == "learned")
    print(f"{pool}; {options.budget:g} judged documents, {options.runs} seeds, grade model: {options.grades}")
    print(f"{'measure':8} {'question':9} {'method':10} {'truth':>8} {'rmse':>8} {'cover':>6} {'queries':>8}")
    for measure in options.measures:
        basis = parse_measure(measure).ready(pool.task).basis
        codes = y[pool.listed.order]
        values = {name: basis.losses(pool.items.models[m], codes).mean() for m, name in enumerate(pool.models)}
        ranking = sorted(values, key=lambda name: -values[name])
        middle, sixth = ranking[10], ranking[5]
        for question in options.questions:
            truth = values[middle] if question == "estimate" else values[sixth] - values[middle]
            models = (middle,) if question == "estimate" else (sixth, middle)
            for method in options.methods:
                settings = {"labels": y, "budget": options.budget, **METHODS[method]}
                found = np.array([ask(pool, measure, models, settings | {"seed": s}) for s in range(options.runs)])
                error = np.sqrt(np.mean((found[:, 0] - truth) ** 2))
                cover = np.mean((found[:, 1] <= truth) & (truth <= found[:, 2]))
                print(
                    f"{measure:8} {question:9} {method:10} {truth:8.4f} {error:8.4f} {cover:6.3f} "
                    f"{found[:, 3].mean():8.1f}",
                    flush=True,
                )


def ask(pool: sondage.Pool, measure: str, models: tuple[str, ...], settings: dict) -> tuple[float, ...]:
    """Return value, interval and number of labels of one run."""
    if len(models) == 1:
        found = sondage.evaluate(pool, measure, model=models[0], **settings)
    else:
        found = sondage.compare(pool, *models, measure, **settings).estimate
    ends = found.interval(0.95)
    return found.value, ends.low, ends.high, found.n_labels


if __name__ == "__main__":
    main()
