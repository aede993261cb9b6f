"""``sondage demo``: the whole way on scikit-learn's digits, with labels that are known and therefore checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from sondage.cli.printing import print_lines, waiting
from sondage.errors import SondageError

__all__ = ["command"]

BUDGET = 100
RUNS = 200


@dataclass(frozen=True)
class _Digits:
    """The pool that the demonstration is about, and what it pretends not to know."""

    pool: Any
    truth: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    difference: float

    def labels(self, ids: Sequence[Any]) -> list[int]:
        """Return what a person would say of these images."""
        truth = dict(zip(self.pool.ids.tolist(), self.truth.tolist(), strict=True))
        return [truth[name] for name in ids]


@click.command("demo", short_help="A demonstration in less than a minute, on bundled data.")
def command() -> None:
    """Estimate a classifier's error rate and compare two, on images of digits with simulated labels.

    \b
    sondage demo
    """
    with waiting("training two classifiers"):
        digits = _digits()
    n = len(digits.pool)
    click.echo(f"Two classifiers of handwritten digits, 'new' and 'old', have predicted {n:,} images without labels.")
    click.echo(f"How often is 'new' wrong? A study chooses the {BUDGET} images whose labels say most.\n")
    with TemporaryDirectory() as folder:
        _estimate(digits, Path(folder))
        _compare(digits, Path(folder))
    with waiting(f"repeating the study {RUNS} times"):
        _against_passive(digits)
    click.echo("\nOn your own data: sondage plan pool.parquet study.db --measure f1 --budget 300 (sondage plan --help)")


def _digits() -> _Digits:
    """Train two classifiers on a few images; the rest is the pool."""
    try:
        from sklearn.datasets import load_digits
        from sklearn.linear_model import LogisticRegression
    except ModuleNotFoundError:
        raise SondageError("the demo needs scikit-learn: pip install 'sondage[demo]'") from None
    from sondage import Classifier, Pool

    images, labels = load_digits(return_X_y=True)
    images, truth = images / 16.0, labels[300:]
    models = {}
    for name, size in (("new", 300), ("old", 100)):
        trained = LogisticRegression(C=1.0, max_iter=1000).fit(images[:size], labels[:size])
        models[name] = Classifier(trained.predict_proba(images[300:]))
    ids = [f"digit-{number}" for number in range(300, len(labels))]
    wrong = {name: np.argmax(model.probabilities, axis=1) != truth for name, model in models.items()}
    difference = float(wrong["new"].mean() - wrong["old"].mean())
    return _Digits(Pool(models=models, ids=ids), truth, wrong["new"], difference)


def _label_all(study: Any, digits: _Digits, batch: int) -> None:
    """Ask and tell until the budget is spent, as a person would with a file for each batch."""
    while ids := study.ask(batch):
        study.tell(ids, digits.labels(ids), who="demo")


def _estimate(digits: _Digits, folder: Path) -> None:
    from sondage import Study
    from sondage.reports.text import describe

    with Study.create(folder / "study.db", digits.pool, "error_rate", BUDGET, model="new") as study:
        ids = study.ask(20)
        click.echo(f"  study.ask(20)   -> {', '.join(ids[:4])}, ...")
        study.tell(ids, digits.labels(ids), who="demo")
        click.echo(f"  study.tell(...) -> {study.status.labelled} labelled; and so on, up to {BUDGET}\n")
        _label_all(study, digits, 20)
        print_lines(describe(study.estimate()))
    truth, found = float(digits.wrong.mean()), study.estimate().interval()
    hit = "inside" if found.low <= truth <= found.high else "outside"
    click.echo(f"The truth, from all {len(digits.pool):,} labels, is {100 * truth:.1f} %: {hit} the interval.\n")


def _compare(digits: _Digits, folder: Path) -> None:
    from sondage import Study
    from sondage.reports.text import describe

    with Study.create(folder / "compare.db", digits.pool, "error_rate", BUDGET, compare=("new", "old")) as study:
        _label_all(study, digits, BUDGET)
        print_lines(describe(study.estimate()))
    click.echo(f"The true difference is {100 * digits.difference:+.1f} points.\n")


def _against_passive(digits: _Digits) -> None:
    """Say what a random sample would have cost: the design's true error, and the n at which passive has the same."""
    from sondage import evaluate

    n, truth = len(digits.pool), float(digits.wrong.mean())
    runs = [
        evaluate(digits.pool, "error_rate", labels=digits.truth, budget=BUDGET, seed=seed, model="new")
        for seed in range(1, RUNS + 1)
    ]
    error = float(np.sqrt(np.mean([(run.value - truth) ** 2 for run in runs])))
    covered = sum(run.interval().low <= truth <= run.interval().high for run in runs)
    variance = truth * (1 - truth) * n / (n - 1)  # of one label; a sample of m of the n has variance / m * (1 - m / n)
    passive = variance / (error**2 + variance / n)
    click.echo(f"Was that luck? The same study with {RUNS} other seeds is off by {100 * error:.2f} points on average")
    click.echo(f"(root mean square), and its 95 % interval holds the truth {covered} times of {RUNS}.")
    click.echo(f"Labels drawn at random are as precise as that with {passive:.0f} labels instead of {BUDGET}.")
