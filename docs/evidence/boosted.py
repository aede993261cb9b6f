"""Print how estimates fare where positives are rare and a classifier is sure and wrong of them: boosted trees.

A pool of 6,000 items, 2.4 % of them positive, one label in a hundred by chance. Boosted trees that were trained on
1,500 others, thirty of them positive, miss half of the positives, and call half of those less likely than one in ten
thousand. Every row gives, over 200 draws, the mean absolute error, the coverage of the 95 % interval and its mean
width: by the default, with half of the draw spread over all items (floor=0.5), and by equal draws.
Run: ``python docs/evidence/boosted.py`` (ten minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings
from typing import Any

from draws import draws
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

import sondage

REPEATS = 200
BUDGETS = (100, 300, 1000)
TRAINED, SIZE = 1_500, 6_000
WAYS: dict[str, dict[str, Any]] = {"default": {}, "floor=0.5": {"floor": 0.5}, "passive": {"method": "passive"}}


def main() -> None:
    warnings.simplefilter("ignore")
    x, y = make_classification(
        TRAINED + SIZE, 15, n_informative=6, weights=[0.98], flip_y=0.01, class_sep=1.3, random_state=11
    )
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(x[:TRAINED], y[:TRAINED])
    pool, labels = sondage.Pool(probabilities=model.predict_proba(x[TRAINED:])), y[TRAINED:]
    print(f"{'measure':11} {'labels':>6}  {'way':10} {'error':>7} {'coverage':>8} {'width':>6}")
    for measure in ("error_rate", "f1", "recall", "ece:bins=10"):
        truth = sondage.evaluate(pool, measure, labels, SIZE).value
        for budget in BUDGETS:
            for name, way in WAYS.items():
                runs = draws(truth, pool, measure, labels, budget, REPEATS, **way)
                numbers = f"{runs.error:7.4f} {runs.coverage:8.3f} {runs.width:6.3f}"
                print(f"{measure:11} {budget:6d}  {name:10} {numbers}", flush=True)


if __name__ == "__main__":
    main()
