"""Print how differences of two classifiers fare that miss half of the rare positives, and are sure of most of these.

The pool of boosted.py: 6,000 items, 2.4 % of them positive. One model are its boosted trees, the other shallower ones
that were trained on half as many items; both miss nearly the same positives, which is what their recalls, F1 and MCC
rest on. Every row gives, over 200 draws by default, the mean absolute error of the difference, the coverage of its
95 % interval, the mean width of that, and how often the difference was found.
Run: ``python docs/evidence/boosted_pair.py`` (three minutes). docs/choosing.md quotes what it prints.
"""

from __future__ import annotations

import warnings

import numpy as np
from draws import Draws
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

import sondage
from sondage import Classifier

REPEATS = 200
TRAINED, FEWER, SIZE = 1_500, 700, 6_000


def main() -> None:
    warnings.simplefilter("ignore")
    x, y = make_classification(
        TRAINED + SIZE, 15, n_informative=6, weights=[0.98], flip_y=0.01, class_sep=1.3, random_state=11
    )
    deep = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(x[:TRAINED], y[:TRAINED])
    shallow = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.3, max_depth=3, random_state=1)
    shallow.fit(x[:FEWER], y[:FEWER])
    models = {"deep": deep, "shallow": shallow}
    pool = sondage.Pool(models={name: Classifier(one.predict_proba(x[TRAINED:])[:, 1]) for name, one in models.items()})
    labels = y[TRAINED:]
    print(f"{'measure':8} {'labels':>6} {'truth':>7} {'error':>7} {'coverage':>8} {'width':>6} {'found':>6}")
    for measure in ("recall", "mcc", "f1"):
        values = [sondage.evaluate(pool, measure, labels, SIZE, model=name).value for name in models]
        truth = values[0] - values[1]
        for budget in (100, 300):
            found = [
                sondage.compare(pool, *models, measure, labels=labels, budget=budget, seed=s) for s in range(REPEATS)
            ]
            runs = Draws(truth, [one.estimate for one in found])
            numbers = f"{truth:7.4f} {runs.error:7.4f} {runs.coverage:8.3f} {runs.width:6.3f}"
            print(f"{measure:8} {budget:6d} {numbers} {np.mean([one.significant for one in found]):6.2f}", flush=True)


if __name__ == "__main__":
    main()
