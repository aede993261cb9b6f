"""Print what labels that there are already are worth: drawn at random, they begin an evaluation (`start=`).

`digits` is a logistic regression on 1,497 of scikit-learn's digits. The others are simulated pools of 10,000 items: a
classifier with right probabilities and one that is three times as sure as it should be, a system's answers, right or
wrong, with a judge that knows something and with one that knows nothing, numbers with right variances. Of each, over
300 draws: mean absolute error and coverage of the 95 % interval by `estimate_from`, which knows the labelled items
only; the same, the width over that of `estimate_from`, and the mean standard error over the estimates' spread by
`evaluate(start=)`; then with as many labels again, which the default draws itself; and by the default, which draws
all. Run: ``python docs/evidence/labels_at_hand.py`` (about twenty minutes). Decision 0094 quotes what it prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from draws import Draws
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import sondage

REPEATS = 300
SIZE = 10_000
LABELS = (50, 200)


def problems() -> Iterator[tuple[str, str, sondage.Pool, np.ndarray]]:
    """Yield name, measure, pool and labels."""
    images, digits = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=5000).fit(images[:300], digits[:300])
    shown = sondage.Pool(probabilities=model.predict_proba(images[300:]), classes=range(10))
    yield "digits", "error_rate", shown, digits[300:]
    yield "digits", "f1:positive=8", shown, digits[300:]
    random = np.random.default_rng(1)
    log_odds = random.normal(-3.0, 2.5, SIZE)
    labels = (random.random(SIZE) < expit(log_odds)).astype(int)
    yield "right", "f1", sondage.Pool(probabilities=expit(log_odds)), labels
    yield "too sure", "f1", sondage.Pool(probabilities=expit(3 * log_odds)), labels
    quality = random.normal(1.0, 1.5, SIZE)
    right = (random.random(SIZE) < expit(quality)).astype(float)[:, None]
    for name, said in (("judge", expit(quality)), ("no judge", random.random(SIZE))):
        yield name, "accuracy", sondage.Pool(models={"bot": sondage.Outcome(judge=said)}), right
    spread = np.exp(random.normal(0.0, 0.7, SIZE))
    yield "numbers", "mse", sondage.Pool(means=np.zeros(SIZE), variances=spread**2), spread * random.normal(size=SIZE)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'':25} {'estimate_from':>14}  {'start=':>26}  {'as many again':>14}  {'default':>14}")
    print(f"{'pool':8} {'measure':9} {'labels':>6} {'error':>8} {'cover':>5}", end="")
    print(f"  {'error':>8} {'cover':>5} {'width':>5} {'se/sd':>5}", end="")
    print(2 * f"  {'error':>8} {'cover':>5}")
    for name, measure, pool, labels in problems():
        truth = sondage.evaluate(pool, measure, labels, len(pool)).value
        for count in LABELS:
            print(f"{name:8} {measure[:9]:9} {count:6d} {row(truth, measure, pool, labels, count)}", flush=True)


def row(truth: float, measure: str, pool: sondage.Pool, labels: np.ndarray, count: int) -> str:
    """Return the numbers of a row."""
    alone, begun, further, default = [], [], [], []
    for seed in range(REPEATS):
        drawn = np.random.default_rng(seed).choice(len(pool), count, replace=False)
        start = dict(zip(drawn.tolist(), labels[drawn].tolist(), strict=True))
        alone.append(sondage.estimate_from(measure, **outputs(pool, drawn, labels), pool_size=len(pool)))
        begun.append(sondage.evaluate(pool, measure, start=start, seed=seed))
        further.append(sondage.evaluate(pool, measure, labels, 2 * count, seed, start=start))
        default.append(sondage.evaluate(pool, measure, labels, 2 * count, seed))
    runs = [Draws(truth, estimates) for estimates in (alone, begun, further, default)]
    several = [f"{run.error:8.4f} {run.coverage:5.3f}" for run in runs]
    ratio = np.mean([one.std_error for one in begun]) / np.std(runs[1].values)
    several[1] += f" {runs[1].width / runs[0].width:5.2f} {ratio:5.2f}"
    return "  ".join(several)


def outputs(pool: sondage.Pool, drawn: np.ndarray, labels: np.ndarray) -> dict[str, object]:
    """Return what `estimate_from` is told of the items drawn; of a system's answers that each is to be right."""
    told: dict[str, object] = {"inclusion": np.full(len(drawn), len(drawn) / len(pool)), "labels": labels[drawn]}
    model = pool.items.models[0]
    if pool.task.kind == "outcomes":
        return told | {"labels": labels[drawn, 0].astype(int), "predictions": np.ones(len(drawn), dtype=int)}
    if pool.task.kind == "regression":
        return told | {"means": np.asarray(model.means)[drawn]}
    return told | {"predictions": model.predictions[drawn], "classes": list(pool.task.classes)}


if __name__ == "__main__":
    main()
