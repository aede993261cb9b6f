"""A search team before a release: find out whether the new ranking is better, by DCG@10, under a budget for judges.

Two systems' runs for a week's queries are TREC files; a click model gives probabilities of the grades 0 to 3. Every
document that a judge reads costs the logarithm of its length. Run: ``python docs/users/search_team.py``.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sondage
from sondage.adapters import trec

Nested = dict[str, dict[str, float]]


def simulate(folder: Path, queries: int = 1000, seed: int = 7) -> tuple[dict[str, Path], dict, Nested, Nested]:
    """Write the runs; return them, the click model, the documents' costs, and what a judge would say."""
    random = np.random.default_rng(seed)
    names = [f"q{number}" for number in range(queries)]
    runs: dict[str, dict[str, list[str]]] = {"old": {}, "new": {}}
    clicks: dict[str, dict[str, list[float]]] = {}
    costs: Nested = {}
    judged: Nested = {}
    for query in names:
        documents = [f"{query}-d{number}" for number in range(random.integers(5, 30))]
        relevance = random.normal(-0.8, 1.0, size=len(documents))
        p = np.exp(np.multiply.outer(relevance, np.arange(4)) - 0.3 * np.arange(4) ** 2)
        p /= p.sum(axis=1, keepdims=True)
        clicks[query] = dict(zip(documents, p.tolist(), strict=True))
        costs[query] = dict(zip(documents, np.log(random.integers(50, 5000, len(documents))).tolist(), strict=True))
        judged[query] = {d: float(random.choice(4, p=own)) for d, own in zip(documents, p, strict=True)}
        for system, noise in (("old", 1.8), ("new", 0.6)):
            order = np.argsort(-(relevance + noise * random.normal(size=len(documents))))
            runs[system][query] = [documents[place] for place in order]
    paths = {system: folder / f"{system}.run" for system in runs}
    for system, path in paths.items():
        trec.write_run(path, runs[system], tag=system)
    return paths, clicks, costs, judged


def main() -> None:
    with TemporaryDirectory() as folder:
        paths, clicks, costs, judged = simulate(Path(folder))
        pool = trec.pool_from_runs(paths, grades=clicks, costs=costs)
        print(pool)
        found = sondage.compare(pool, "new", "old", "dcg@10", labels=judged, budget=10_000, seed=1)
        ends = found.interval(0.95)
        print(
            f"{found.n_labels} of {len(pool):,} queries judged for a cost of {found.estimate.spent:,.0f}. "
            f"DCG@10, new minus old: {found.difference:+.3f}, 95 % interval {ends.low:+.3f} to {ends.high:+.3f}, "
            f"p = {found.pvalue:.2g}."
        )
        for measure in ("err@10", "ndcg@10"):
            one = sondage.evaluate(pool, measure, labels=judged, budget=10_000, seed=1, model="new")
            low, high = one.interval(0.95).low, one.interval(0.95).high
            print(f"{measure} of new: {one.value:.3f} ({low:.3f} to {high:.3f}), {one.n_labels} queries.")
    print(f"Release the {found.better} ranking." if found.better else "The judgements do not tell the two apart.")


if __name__ == "__main__":
    main()
