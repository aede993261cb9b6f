"""Coverage of intervals where people differ: with the variance between raters, and without it.

    python benchmarks/raters.py
    python benchmarks/raters.py --runs 100

A pool of items, each with a share of people who would call it positive. Every run draws people at random for every item
labelled; a tie is resolved by one more person. The truth is the measure of the labels that this gives in expectation.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from cells import whole_number

import sondage
from sondage.core.measures import parse_measure
from sondage.core.predictions import Floats
from sondage.studies.answers import estimate_session
from sondage.studies.ballots import PENDING, verdict
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session
from sondage.studies.sharing import Sharing

SIZE = 200


@dataclass(frozen=True)
class Case:
    """Labels of how many items, by how many people, on which share of the items."""

    budget: int
    raters: int
    overlap: float
    measure: str


SHARES = {"error_rate": ((2, 0.2), (2, 1.0), (3, 1.0)), "f1": ((2, 0.2), (3, 1.0))}
CASES = [
    Case(budget, raters, overlap, measure)
    for measure, shares in SHARES.items()
    for budget in (50, 100, 200)
    for raters, overlap in shares
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=whole_number, default=400)
    options = parser.parse_args()
    print(f"{SIZE} items, {options.runs} runs, intervals of 95 %\n")
    print(
        f"{'measure':12}{'labels':>7}{'raters':>7}{'overlap':>8}{'coverage':>10}{'without':>9}{'sd':>8}{'se':>8}{'without':>9}"
    )
    for case in CASES:
        found = coverage(case, options.runs)
        print(
            f"{case.measure:12}{case.budget:7}{case.raters:7}{case.overlap:8.1f}{found['covered']:10.3f}"
            f"{found['covered_without']:9.3f}{found['sd']:8.4f}{found['error']:8.4f}{found['error_without']:9.4f}",
            flush=True,
        )


def coverage(case: Case, runs: int, seed: int = 0) -> dict[str, float]:
    """Return coverage, standard deviation and mean standard error over runs, and what they are without raters."""
    rng = np.random.default_rng(seed)
    belief = rng.beta(0.6, 0.8, SIZE)
    positive = np.clip(0.05 + 0.85 * belief + rng.normal(0, 0.1, SIZE), 0.02, 0.98)  # share of people who say so
    pool = sondage.Pool(belief)
    found = [one_run(case, pool, positive, rng, run) for run in range(runs)]
    covered, error, without, error_without, off = np.array(found).T
    return {
        "covered": covered.mean(),
        "covered_without": without.mean(),
        "sd": off.std(),
        "error": error.mean(),
        "error_without": error_without.mean(),
    }


def one_run(case: Case, pool: sondage.Pool, positive: Floats, rng: np.random.Generator, run: int) -> tuple[float, ...]:
    """Return whether the interval holds and its standard error, both without raters, and how far off it is."""
    question = Question("evaluate", pool.models, (parse_measure(case.measure),))
    session = Session.start(pool, question, choose_method(None), budget=case.budget, seed=run)
    raters = np.array(Sharing(case.raters, case.overlap).of(list(range(SIZE)), run))
    while ids := session.ask(case.budget, pool):
        for name in ids:
            position = session.positions[name]
            said = [int(number < positive[name]) for number in rng.random(raters[name])]
            label = verdict(said, session.task)
            session.answers[position] = int(rng.random() < positive[name]) if label is PENDING else label
            if len(said) > 1:
                session.opinions[position] = tuple(said)
    truth = expected(case.measure, pool, np.where(raters == 1, positive, positive**2 * (3 - 2 * positive)))
    alone = session.copied()
    alone.opinions = {}
    (estimate,), (other,) = estimate_session(session).values(), estimate_session(alone).values()
    covered = [one.interval(0.95).low <= truth <= one.interval(0.95).high for one in (estimate, other)]
    return covered[0], estimate.std_error, covered[1], other.std_error, estimate.value - truth


def expected(measure: str, pool: sondage.Pool, positive: Floats) -> float:
    """Return the measure of labels that are positive with these probabilities."""
    flagged = pool.items.models[0].predictions == 1
    wrong = np.where(flagged, 1 - positive, positive).sum()
    if measure == "error_rate":
        return wrong / SIZE
    hits = positive[flagged].sum()
    return 2 * hits / (2 * hits + wrong)


if __name__ == "__main__":
    main()
