"""Print how intervals hold where labels may all be those that were expected, and what they reckon with then.

Pools of 4,000 items. `sure`: a model gives the positive class .001 or .999, 7 % the latter, and 50 labels are the
other. `right`: its probabilities are right, with log odds of 8 and -8 on average, 7 % the former, and a standard
deviation of 2. `judged`: a judge says of the answers of a system that they are right with .999 or .001, nine tenths the
former, and is wrong of 50. `misjudged`: it is wrong of 1 in 50 of the right answers, which are four in five, and of as
many of the wrong ones, and says .99 or .01. Every row gives, over 200 draws, the share of those without an unexpected
label, and coverage and mean width of the 95 % interval of all, without and with `Estimate.unexpected`. Run:
``python docs/evidence/as_expected.py`` (a few minutes). Decision 0090 quotes what it printed then, 0091 the rows of
`judged`, whose intervals reckon with lapses since, and 0095 those of both judges.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from draws import Draws, draws
from scipy.special import expit

import sondage

REPEATS = 200
BUDGETS = (50, 100, 300)
SIZE = 4_000
MEASURES = ("brier", "log_loss", "ece", "mcc", "average_precision")


def pools() -> dict[str, tuple[sondage.Pool, np.ndarray, tuple[str, ...]]]:
    """Return the pools by name, with their labels and measures."""
    random = np.random.default_rng(0)
    positive, other = random.random(SIZE) < 0.07, random.permutation(SIZE) < SIZE // 80
    right = expit(np.where(positive, 8.0, -8.0) + random.normal(0.0, 2.0, SIZE))
    said = random.random(SIZE) < 0.9
    judged = sondage.Pool(models={"bot": sondage.Outcome(np.where(said, 0.999, 0.001))})
    answers = random.random(SIZE) < 0.8
    called = answers != (random.random(SIZE) < 0.02)
    misjudged = sondage.Pool(models={"bot": sondage.Outcome(np.where(called, 0.99, 0.01))})
    return {
        "sure": (sondage.Pool(np.where(positive, 0.999, 0.001)), (positive != other).astype(int), MEASURES),
        "right": (sondage.Pool(right), (random.random(SIZE) < right).astype(int), MEASURES),
        "judged": (judged, (said != other).astype(float), ("accuracy",)),
        "misjudged": (misjudged, answers.astype(float), ("accuracy",)),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'pool':9} {'measure':18} {'labels':>6}  {'expected':>10} {'without':>14} {'with':>14}")
    for name, (pool, labels, measures) in pools().items():
        for measure in measures:
            truth = sondage.evaluate(pool, measure, labels, SIZE).value
            for budget in BUDGETS:
                runs = draws(truth, pool, measure, labels, budget, REPEATS)
                before = Draws(truth, [replace(one, unexpected=()) for one in runs.estimates])
                none = np.mean([bool(one.unexpected) for one in runs.estimates])
                numbers = "".join(f"  {one.coverage:5.3f} {one.width:6.4f}" for one in (before, runs))
                print(f"{name:9} {measure:18} {budget:6d}  {none:10.3f} {numbers}", flush=True)


if __name__ == "__main__":
    main()
