"""A spam filter trained on one mailbox of Enron-Spam, and its predictions for another: the pool of docs/labelling.md.

``python docs/spam_pool.py FOLDER`` reads the messages below FOLDER, as they come (``enron1/ham/*.txt``,
``enron1/spam/*.txt``, ``enron2/...``), or from ``enron_text.jsonl.xz`` there, and writes ``messages.parquet``. The
truth, which a labeller must not see, goes to ``truth.csv``.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path

import duckdb
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

KNOWN, NEW = 1, 2  # the mailbox with labels, and the one without

Messages = list[tuple[str, int]]


def read_mailbox(folder: Path, number: int) -> Messages:
    """Return texts and whether they are spam, ham first."""
    packed = folder / "enron_text.jsonl.xz"
    if packed.exists():
        with lzma.open(packed, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [(row["t"], row["y"]) for row in rows if row["c"] == number]
    files = [
        (path, kind == "spam") for kind in ("ham", "spam") for path in sorted(folder.glob(f"enron{number}/{kind}/*"))
    ]
    if not files:
        sys.exit(f"{folder} has neither enron{number}/ham/*.txt nor enron_text.jsonl.xz")
    return [(path.read_text(encoding="latin-1"), int(spam)) for path, spam in files]


def main() -> None:
    folder = Path(sys.argv[1])
    known, new = read_mailbox(folder, KNOWN), read_mailbox(folder, NEW)
    words = TfidfVectorizer(min_df=3, sublinear_tf=True, token_pattern="[a-z]{2,20}")
    train, test = words.fit_transform(text for text, _ in known), words.transform(text for text, _ in new)
    scores = LogisticRegression(C=10.0, max_iter=1000).fit(train, [spam for _, spam in known]).predict_proba(test)[:, 1]
    parts = [text.removeprefix("Subject:").strip().partition("\n") for text, _ in new]
    ids = np.array([f"mail-{row:04}" for row in range(len(new))], dtype=object)
    messages = {
        "id": ids,
        "p_spam": scores,
        "subject": np.array([subject.strip() for subject, _, _ in parts], dtype=object),
        "text": np.array([text.strip() for _, _, text in parts], dtype=object),
    }
    truth = {"id": ids, "label": np.array([("ham", "spam")[spam] for _, spam in new], dtype=object)}
    connection = duckdb.connect()
    for name, columns in (("messages.parquet", messages), ("truth.csv", truth)):
        connection.register("columns", columns)
        connection.sql(f"COPY (SELECT * FROM columns) TO '{name}'")
    print(
        f"{len(known):,} messages of mailbox {KNOWN} to learn from, {len(new):,} of mailbox {NEW} in messages.parquet."
    )


if __name__ == "__main__":
    main()
