"""A spam filter in production, a Parquet file of what it said last month, and money for 300 labels.

The study is a file: it keeps what was asked and answered, and can be closed and opened between the portions. Run:
``python docs/users/monthly_quality.py``.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

import sondage


def simulate(path: Path, month: int, n: int = 50_000) -> dict[str, str]:
    """Write a month's predictions, and return the labels that a person would give, id -> label."""
    random = np.random.default_rng(month)
    score = random.normal(-3.0 + 0.2 * month, 2.5, size=n)
    spam = random.random(n) < 1 / (1 + np.exp(-score))
    table = {
        "id": np.array([f"m{month}-{row:05}" for row in range(n)], dtype=object),
        "prediction": np.where(score > 0, "spam", "ham").astype(object),
        "p_spam": 1 / (1 + np.exp(-1.1 * score)),
    }
    with duckdb.connect() as connection:
        connection.register("month", table)
        connection.execute(f"COPY month TO '{path}' (FORMAT parquet)")
    return dict(zip(table["id"].tolist(), np.where(spam, "spam", "ham").tolist(), strict=True))


def measure(folder: Path, month: int) -> None:
    """Ask 300 labels in portions of 50, and print what they say."""
    labels = simulate(folder / f"month-{month}.parquet", month)
    pool = sondage.read_pool(folder / f"month-{month}.parquet")
    place = folder / f"month-{month}.db"
    sondage.Study.create(place, pool, ["f1", "recall", "error_rate"], budget=300, positive="spam", seed=month).close()
    with sondage.Study.open(place) as study:
        while ids := study.ask(50):
            study.tell(ids, [labels[name] for name in ids])
        found = study.estimate()
    print(f"Month {month}: {pool}, 300 labels.")
    for name, estimate in found.items():
        ends = estimate.interval(0.95)
        short = {"f1": "F1", "recall": "recall", "error_rate": "error rate"}[name.split(":")[0]]
        print(f"  {short} {estimate.value:.3f}, 95 % interval {ends.low:.3f} to {ends.high:.3f}")


def main() -> None:
    with TemporaryDirectory() as folder:
        for month in (1, 2):
            measure(Path(folder), month)


if __name__ == "__main__":
    main()
