"""Print how a budget is best divided over slices: three folders of mail, five ways, two measures.

Three folders hold 60, 30 and 10 % of 10,000 items; the scores of the first tell the classes well apart, those of the
third hardly. Every row gives, over 200 seeds of 300 labels, the labels of each folder, the root mean squared error of
each folder's estimate and of the overall one, and the coverage of their 95 % intervals. "alone" evaluates each folder
by itself with a third of the labels, "random" draws at random in each, in proportion to its size.
Run: ``python docs/evidence/slices.py`` (about two minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

import sondage

FOLDERS = ("inbox", "lists", "unknown")
BUDGET = 300
REPEATS = 200

Run = Callable[[int], list[sondage.Estimate]]


def mail() -> tuple[sondage.Pool, np.ndarray]:
    """Return the pool with its folders, and the labels; the true probability of class 1 is expit(score)."""
    random = np.random.default_rng(20130513)
    folder = random.choice(3, size=10_000, p=[0.6, 0.3, 0.1])
    score = random.normal(-1.0, np.array([6.0, 2.5, 0.8])[folder])
    labels = (random.random(len(score)) < expit(score)).astype(int)
    return sondage.Pool(expit(score), fields={"folder": np.array(FOLDERS)[folder]}), labels


def ways(pool: sondage.Pool, labels: np.ndarray, measure: str) -> dict[str, Run]:
    """Return the ways of dividing: each from a seed to the folders' estimates, and the overall one where it has one."""

    def shared(seed: int, share: str, method: str = "default") -> list[sondage.Estimate]:
        found = sondage.evaluate(
            pool, measure, labels=labels, budget=BUDGET, seed=seed, slices="folder", share=share, method=method
        )
        return [*(found[name] for name in FOLDERS), found.overall]

    folders = {name: pool.fields["folder"] == name for name in FOLDERS}
    pools = {name: sondage.Pool(pool.items.models[0].probabilities[rows]) for name, rows in folders.items()}

    def alone(seed: int) -> list[sondage.Estimate]:
        third = BUDGET // len(FOLDERS)
        return [
            sondage.evaluate(pools[name], measure, labels=labels[rows], budget=third, seed=seed)
            for name, rows in folders.items()
        ]

    def whole(seed: int) -> list[sondage.Estimate]:
        return [sondage.evaluate(pool, measure, labels=labels, budget=BUDGET, seed=seed)]

    return {
        'share="overall"': lambda seed: shared(seed, "overall"),
        'share="each"': lambda seed: shared(seed, "each"),
        "alone": alone,
        "random": lambda seed: shared(seed, "overall", "passive"),
        "no slices": whole,
    }


def row(name: str, cells: list[np.ndarray], digits: tuple[int, ...] = (0, 3, 2)) -> str:
    """Return a line of the table: labels, errors, coverages of the folders and the whole, blank where there is none."""
    texts = ["".join(" " * 8 if np.isnan(x) else f"{x:8.{d}f}" for x in c) for c, d in zip(cells, digits, strict=True)]
    return f"{name:16}" + "  ".join(texts)


def main() -> None:
    pool, labels = mail()
    print(" " * 16 + f"{'labels':>24}  {'error':>32}  {'coverage':>32}")
    names = "".join(f"{name:>8}" for name in FOLDERS)
    for measure in ("error_rate", "f1"):
        everything = sondage.evaluate(pool, measure, labels=labels, budget=len(pool), slices="folder")
        truth = np.array([*(everything[name].value for name in FOLDERS), everything.overall.value])
        print(f"{measure:16}{names}  {names}   whole  {names}   whole")
        for name, run in ways(pool, labels, measure).items():
            error, hit, count = (np.full((REPEATS, 4), np.nan) for _ in range(3))
            for seed in range(REPEATS):
                found = run(seed)
                at = slice(3, 4) if len(found) == 1 else slice(0, len(found))
                error[seed, at] = [one.value for one in found] - truth[at]
                hit[seed, at] = [goal in one.interval() for one, goal in zip(found, truth[at], strict=True)]
                count[seed, at] = [one.n_labels for one in found]
            print(row(name, [count.mean(axis=0)[:3], np.sqrt(np.mean(error**2, axis=0)), hit.mean(axis=0)]).rstrip())


if __name__ == "__main__":
    main()
