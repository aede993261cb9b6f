"""A table of Spark gives the items that the pool in memory gives."""

import os
import shutil
import sys

import numpy as np
import pytest

from sondage import Study, compare, evaluate, read_pool
from sondage.errors import InputError

from .engines import asked, frames, label

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"
)
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than a few rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
}


@pytest.fixture(scope="module")
def spark(absent, tmp_path_factory):
    """A session on this machine alone."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        absent("java", "Spark needs Java")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.parametrize(
    ("name", "measure", "parts"),
    [
        ("weights and costs", "f1", {"budget": 90, "stages": 1}),
        ("four classes", "error_rate", {"stages": (0.5, 0.5)}),
        ("numbers", "mae", {"stages": 1}),  # through the NumPy kernel
        ("a number alone", "mse", {"budget": 130, "stages": (0.5, 0.5), "belief": "growing"}),
        ("two classes", "auc", {"stages": 1}),
        ("shared text", "error_rate", {"stages": (0.5, 0.5)}),
        ("two classes", "error_rate", {"design": "strata"}),
        ("two models", "error_rate", {"belief": "model", "stages": 1}),
        ("features", "error_rate", {"stages": (0.5, 0.5)}),
        ("graded, with features", "mean_outcome", {"models": ("A",), "belief": "ensemble", "stages": (0.5, 0.5)}),
        ("judged", "error_rate", {"stages": 1}),
        ("votes", "f1", {"stages": (0.5, 0.5)}),
        ("five of five classes", "error_rate", {"stages": (0.5, 0.5)}),
        ("five of five classes", "log_loss", {"models": ("m0",), "stages": (0.5, 0.5)}),
    ],
)
def test_the_same_items(name, measure, parts, spark, tmp_path):
    frame = frames()[name]
    frame.to_parquet(tmp_path / "pool.parquet")
    expected, _ = asked(read_pool(tmp_path / "pool.parquet", lazy=False), measure, **parts)
    table = spark.read.parquet(str(tmp_path / "pool.parquet")).repartition(3)
    assert asked(read_pool(table), measure, **parts)[0] == expected


def test_r2_of_numbers_far_from_0(spark, tmp_path):
    frame = frames()["numbers"]
    frame[["A.prediction", "B.prediction"]] += 1e8
    frame.to_parquet(tmp_path / "pool.parquet")
    pools = read_pool(tmp_path / "pool.parquet", lazy=False), read_pool(spark.createDataFrame(frame))
    values = [
        evaluate(pool, "r2", lambda ids: [1e8 + name % 50 / 5 for name in ids], 60, model="A", stages=1).value
        for pool in pools
    ]
    assert values[1] == pytest.approx(values[0], rel=1e-9)


def test_a_study_and_bad_rows(spark, tmp_path):
    frame = frames()["two classes"]
    frame.to_parquet(tmp_path / "pool.parquet")
    pool, heard = read_pool(tmp_path / "pool.parquet", lazy=False), []
    stored = read_pool(spark.createDataFrame(frame), progress=lambda step, share: heard.append(step))
    drawn = []
    for one in (pool, stored):
        with Study.create(tmp_path / f"{len(drawn)}.db", one, budget=20, stages=1) as study:
            names = study.ask()
            study.tell(names, [label(one, name) for name in names])
            drawn.append((names, study.fields(names), study.facts["fingerprint"]))
    assert drawn[0] == drawn[1]
    assert "pass 3: the draw" in heard
    frame.loc[5, "p_1"] = 0.99999
    with pytest.raises(InputError, match=r"sum of p_0, p_1, ... must be 1 within 0.001; in 1 row it is not"):
        asked(read_pool(spark.createDataFrame(frame)))


def test_what_goes_wrong_at_a_worker_is_said(spark):
    engine = read_pool(spark.createDataFrame([(1, 0.5)], "id long, p_1 double")).scan.engine

    def kernel(rows):
        raise ValueError("no such thing")

    with pytest.raises(InputError, match=r"^Spark: .*\bValueError: no such thing$"):
        list(engine.mapped("SELECT * FROM {source} t", {}, kernel, "a pass"))


def test_times_are_told_with_their_zone_and_decimals_are_numbers(spark):
    seconds = "1711846800 + 3600 * (id % 2)"  # about the hour that Berlin left out
    text = f"SELECT id, id / 40.0 AS p_1, timestamp_millis(1000L * ({seconds}) + 500 * (id % 2)) AS at FROM range(40)"
    expected = ["2024-03-31T01:00:00+00:00", "2024-03-31T02:00:00.500000+00:00"]
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        pool = read_pool(spark.sql(text))
        found = evaluate(pool, labels=lambda ids: [n % 2 for n in ids], budget=20, slices="at")
        shown = pool.shown(pool.units_of([2, 3], np.empty(0)))["at"].tolist()
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert (list(found), [one.n_labels for one in found.values()]) == (expected, [10, 10])
    assert shown == expected


def test_rankings(spark, tmp_path):
    from .test_stored_rankings import judge, long_table

    table = long_table(60)
    table.to_parquet(tmp_path / "pool.parquet")
    memory = read_pool(tmp_path / "pool.parquet", lazy=False)
    stored = read_pool(spark.createDataFrame(table).repartition(3))
    found = [
        compare(pool, "old", "new", measure="err@10", labels=judge, budget=50, seed=3, stages=1)
        for pool in (memory, stored)
    ]
    assert [one.n_labels for one in found] == [found[0].n_labels] * 2
    assert found[1].difference == pytest.approx(found[0].difference, rel=1e-9)
    assert found[1].std_error == pytest.approx(found[0].std_error, rel=1e-9)
