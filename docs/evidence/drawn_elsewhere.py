"""Print how intervals hold of labels that somebody else drew, with the degrees of freedom that they show and with 4.6.

Pools of 20,000 items with right probabilities, whose log odds vary much or little; the labels of 30, 100 and 300 items
on average, drawn with equal probabilities or with one in proportion to the standard deviation of the label, are given
to `sondage.estimate_from`. Every row gives, over 500 draws, coverage and mean width of the 95 % interval with the
degrees of freedom that the labels show, and with 4.6 where they show fewer. Run:
``python docs/evidence/drawn_elsewhere.py`` (a few minutes). Decision 0093 quotes what it prints.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from draws import Draws
from scipy.special import expit
from sklearn.metrics import accuracy_score, f1_score, recall_score

import sondage

REPEATS = 500
SIZE = 20_000
LABELS = (30, 100, 300)
LEAST = 4.6
TRUTHS = {"accuracy": accuracy_score, "f1": f1_score, "recall": recall_score}
SPREADS = (40.0, 12.0, 4.0)
"""Of the log odds: nearly perfect, good and fair models."""
DRAWN = {"equal": lambda p: np.ones(SIZE), "unequal": lambda p: 0.02 + np.sqrt(p * (1 - p))}


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'spread':>6} {'measure':8} {'drawn':7} {'labels':>6}  {'shown':>13}  {'at least':>13}")
    for spread in SPREADS:
        random = np.random.default_rng(0)
        probability = expit(random.normal(0.0, spread, SIZE))
        labels, said = (random.random(SIZE) < probability).astype(int), (probability > 0.5).astype(int)
        for measure, true_value in TRUTHS.items():
            for name, sizes in DRAWN.items():
                for count in LABELS:
                    inclusion = np.minimum(count * sizes(probability) / sizes(probability).sum(), 1.0)
                    estimates = []
                    for seed in range(REPEATS):
                        drawn = np.flatnonzero(np.random.default_rng(seed).random(SIZE) < inclusion)
                        given = {"labels": labels[drawn], "predictions": said[drawn], "inclusion": inclusion[drawn]}
                        estimates.append(sondage.estimate_from(measure, **given, pool_size=SIZE))
                    print(
                        f"{spread:6.0f} {measure:8} {name:7} {count:6d}{row(true_value(labels, said), estimates)}",
                        flush=True,
                    )


def row(truth: float, estimates: list[sondage.Estimate]) -> str:
    """Return coverage and width as labels show the degrees of freedom, and with as many as there are at least."""
    shown = [one if one.evidence is None else replace(one, df=one.evidence.fit.df) for one in estimates]
    more = [replace(one, df=max(one.df, LEAST)) for one in estimates]
    return "".join(f"  {one.coverage:5.3f} {one.width:7.4f}" for one in (Draws(truth, shown), Draws(truth, more)))


if __name__ == "__main__":
    main()
