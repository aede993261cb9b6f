"""Print what a selection says of two good regressors beside one that is many times as far off: 100 simulated pools.

Of three regressors of 500 items the errors of the first two are Gaussian with the standard deviations 0.5 and 0.6, of
the third many times as large; squared loss, 100 labels. Mean ratio of the good ones' values to the truth, its standard
deviation, the share of their 95 % intervals that hold, that of the simultaneous intervals of their differences from the
model named best, and how often the best one is named.
Run: ``python docs/evidence/far_off.py`` (a minute). Decision 0044 quotes it.
"""

from __future__ import annotations

import numpy as np

import sondage

RUNS, SIZE, LABELS = 100, 500, 100
GOOD = {"first": 0.5, "second": 0.6}
FARTHER = (1.5, 3.0, 10.0, 30.0)


def main() -> None:
    print("| variances | third is off by | value / truth | spread | own hold | differences hold | best named |")
    print("|" + "---|" * 7)
    for told in (False, True):
        for times in FARTHER:
            ratios, own, gaps, named = simulated(told, times)
            numbers = f"{np.mean(ratios):.2f} | {np.std(ratios):.2f} | {np.mean(own):.3f} | {np.mean(gaps):.3f}"
            print(f"| {'told' if told else 'none'} | {times:g} times | {numbers} | {np.mean(named):.2f} |", flush=True)


def simulated(told: bool, times: float) -> tuple[list[float], list[bool], list[bool], list[bool]]:
    """Return the good models' values as ratios to the truth, and whether intervals hold and the best one is named."""
    ratios, own, gaps, named = [], [], [], []
    scales = GOOD | {"third": 0.5 * times}
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        labels = random.normal(size=SIZE)
        means = {name: labels + scale * random.normal(size=SIZE) for name, scale in scales.items()}
        truth = {name: float(np.mean(np.square(labels - mean))) for name, mean in means.items()}
        models = {
            name: sondage.Regressor(means[name], np.full(SIZE, scale**2) if told else None)
            for name, scale in scales.items()
        }
        found = sondage.select(sondage.Pool(models=models), "mse", labels=labels, budget=LABELS, seed=seed)
        named.append(found.best == min(truth, key=truth.__getitem__))
        ratios += [found.estimates[name].value / truth[name] for name in GOOD]
        own += [truth[name] in found.estimates[name].interval() for name in GOOD]
        differences = found.gaps()
        gaps += [truth[name] - truth[found.best] in differences[name] for name in GOOD if name in differences]
    return ratios, own, gaps, named


if __name__ == "__main__":
    main()
