"""Small made-up data sets in the form of the real ones, so that every experiment runs on any machine."""

import numpy as np
import pytest
from scipy import sparse


def words(rng, rows, label, n_words=40):
    """Return a sparse matrix of words whose probabilities differ by class."""
    rate = np.where(np.arange(n_words) % 2, 0.15, 0.3)
    shift = np.where(np.arange(n_words) < 10, 0.25, 0.0)
    return sparse.csr_matrix((rng.uniform(size=(rows, n_words)) < rate + shift * label[:, None]).astype(np.uint8))


@pytest.fixture(scope="session")
def made_up_data(tmp_path_factory):
    """A folder with mails, topics, digits, two regressions and graded documents."""
    rng, folder = np.random.default_rng(7), tmp_path_factory.mktemp("data")
    for name in ("enron_spam", "reuters", "usps", "mnist", "abalone", "sarcos", "many_models", "mq2007", "mslr_sample"):
        (folder / name).mkdir()

    corpus = np.repeat(np.arange(1, 7), 200)
    label = np.tile(np.repeat([0, 1], 100), 6)
    meta = {"label": label, "corpus": corpus, "num": np.tile(np.arange(100), 12)}
    np.savez(folder / "enron_spam/enron_meta.npz", **meta, n_chars=rng.integers(50, 20_000, len(label)))
    sparse.save_npz(folder / "enron_spam/enron_bow_binary.npz", words(rng, len(label), label))

    topics = ["earn", "acq", "crude", "trade", "money-fx", "interest", "ship", "sugar", "coffee", "gold"]
    topic = rng.choice(10, p=[0.3, 0.2, *[0.0625] * 8], size=1200)
    counts = rng.poisson(0.3 + 2.0 * (np.arange(30)[None] % 10 == topic[:, None]))
    sparse.save_npz(folder / "reuters/reuters8293_tf.npz", sparse.csr_matrix(counts.astype(np.uint16)))
    np.savez(folder / "reuters/reuters8293_meta.npz", topic=topic, topic_names=topics, is_train=topic > 4)

    shapes = rng.uniform(0, 255, (10, 16, 16))
    for path in ("usps/usps_all_11000.npz", "mnist/mnist16.npz"):
        y = np.arange(400) % 10
        images = np.clip(shapes[y] + rng.normal(0, 150, (400, 16, 16)), 0, 255)
        np.savez(folder / path, X=images.astype(np.uint8), y=y.astype(np.uint8))

    x = rng.normal(size=(800, 3))
    y = x @ [1.0, 2.0, 0.5] + rng.normal(size=800)
    np.savez(folder / "abalone/abalone.npz", X=x, y=y)
    np.savez(folder / "sarcos/sarcos_test.npz", X=x, T=y[:, None])

    label = rng.integers(0, 2, 300)
    wrong = rng.uniform(size=(300, 20)) < np.linspace(0.02, 0.5, 20)
    np.savez(folder / "many_models/glue_mrpc_train.npz", labels=label, predictions=label[:, None] ^ wrong)

    query = np.repeat(np.arange(40), 8)
    y = rng.choice(3, 320, p=[0.6, 0.3, 0.1])
    heights = y[:, None] + rng.normal(0, np.linspace(0.5, 3.0, 12), (320, 12))
    ranks = 1 + np.argsort(np.argsort(-heights.reshape(40, 8, 12), axis=1), axis=1).reshape(320, 12)
    ranks[rng.uniform(size=ranks.shape) < 0.1] = 0
    np.savez(folder / "mq2007/mq2007_agg.npz", ranks=ranks, y=y, qid=query, part=1 + query % 5)
    halves = {"X": np.abs(np.tile(heights, 2)), "y": y, "qid": 7 * query}
    parts = {"train": slice(160), "test": slice(160, 320)}
    web = {f"{name}_{part}": rows[at] for name, rows in halves.items() for part, at in parts.items()}
    np.savez(folder / "mslr_sample/mslr_web_fold1_10k.npz", **web)
    return folder


@pytest.fixture
def small_world(made_up_data, tmp_path_factory, monkeypatch):
    """Experiments read the made-up data, keep what they build for the session's tests only, and tune nothing."""
    from experiments import problems
    from experiments.appendix import models
    from experiments.chapter4 import table_4_1, training
    from experiments.chapter5 import contests, selection, table_5_1
    from experiments.chapter6 import estimating, figure_6_5, graders, search

    kept = (problems.load, training._parts, training._model, table_4_1.domain_data)
    kept += (contests.contest, models.topics, models.digits)
    kept += (estimating.asked, search.learned, search.query_pairs)
    for cached in kept:
        cached.cache_clear()
    monkeypatch.setattr(graders, "TREES", 5)
    for module in (estimating, figure_6_5):
        monkeypatch.setattr(module, "FOLDS", 1)
    monkeypatch.setenv("SONDAGE_DATA", str(made_up_data))
    monkeypatch.setenv("SONDAGE_CACHE", str(made_up_data / "cache"))
    monkeypatch.setattr(problems, "tuned", lambda model, grid, rows, target: model)
    monkeypatch.setattr(table_4_1, "ACTIVE", 5)
    monkeypatch.setattr(contests, "TRAINING", 100)
    for module in (contests, selection):
        monkeypatch.setattr(module, "SETS", 1)
    monkeypatch.setattr(selection, "SESSION_BUDGETS", (10, 20, 30))
    monkeypatch.setattr(table_5_1, "BUDGET", 60)
    yield made_up_data
    for cached in kept:
        cached.cache_clear()
