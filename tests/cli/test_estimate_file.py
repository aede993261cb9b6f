"""``sondage estimate`` with a file of labels that somebody else drew: what `estimate_from` says of the same columns."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from sondage import Pool, Study, estimate_from
from sondage.adapters.drawn_labels import estimate_file
from sondage.adapters.formats import FORMATS
from sondage.cli import main
from sondage.core.catalogue.estimators import UNASSISTED
from sondage.core.catalogue.intervals import INTERVALS
from sondage.core.checks import TARGETS
from sondage.errors import InputError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def drawn():
    """Return the columns of 200 labels, of which those of predicted ham were drawn a tenth as often."""
    random = np.random.default_rng(1)
    p = np.round(random.random(200), 3)
    return {
        "id": np.arange(200) + 7,
        "prediction": np.where(p > 0.5, "spam", "ham"),
        "p_ham": 1 - p,
        "p_spam": p,
        "label": np.where(random.random(200) < p, "spam", "ham"),
        "inclusion": np.where(p > 0.5, 0.5, 0.05),
        "weight": np.round(1 + random.random(200), 3),
    }


def test_options_name_all_that_there_is():
    def usable(kind):
        told = {"predictions": [0, 1, 1], "labels": [0, 0, 1], "inclusion": [0.5] * 3}
        try:
            estimate_from("error_rate", **told, interval=kind).interval()
        except InputError as error:
            return " needs " not in str(error)  # to know the draw, or random numbers
        return True

    options = {one.name: one for one in main.get_command(None, "estimate").params}
    assert set(options["interval"].type.choices) == set(filter(usable, INTERVALS))
    assert tuple(options["estimator"].type.choices) == tuple(UNASSISTED)
    assert tuple(options["target"].type.choices) == TARGETS
    forms = {one.name: one for one in main.get_command(None, "ask").params}
    assert set(forms["form"].type.choices) == set(FORMATS)


def written(columns, name="labels.csv"):
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), name)
        return name
    with open(name, "w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return name


def told(*arguments):
    result = CliRunner().invoke(main, ["estimate", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def without(columns, *names):
    return {name: column for name, column in columns.items() if name not in names}


def test_the_positive_class_is_told():
    found = CliRunner().invoke(main, ["estimate", written(drawn()), "--measure", "recall"])
    assert "\npositive: spam, the second class\n" in found.stdout
    assert told("labels.csv", "--measure", "recall", "--positive", "ham")["positive"] == "ham"


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_file_is_estimated_like_its_arrays(end):
    columns = drawn()
    found = told(written(columns, f"labels.{end}"), "--measure", "recall", "--level", 0.9)
    wanted = estimate_from(
        "recall",
        predictions=columns["prediction"],
        labels=columns["label"],
        inclusion=columns["inclusion"],
        weights=columns["weight"],
    )
    ends = wanted.interval(0.9)
    assert (found["value"], found["std_error"]) == pytest.approx((wanted.value, wanted.std_error), rel=1e-12)
    assert (found["interval"]["low"], found["interval"]["high"]) == pytest.approx((ends.low, ends.high), rel=1e-12)


def test_options_are_those_of_estimate_from():
    columns = without(drawn(), "weight", "id")
    options = ["--estimator", "horvitz_thompson", "--pool-size", 4000, "--positive", "ham", "--target", "population"]
    found = told(written(columns), "--measure", "f1", "--interval", "t", *options)
    wanted = estimate_from(
        "f1",
        predictions=columns["prediction"],
        labels=columns["label"],
        inclusion=columns["inclusion"],
        positive="ham",
        pool_size=4000,
        estimator="horvitz_thompson",
        target="population",
    )
    assert found["value"] == pytest.approx(wanted.value, rel=1e-12)
    assert found["interval"]["low"] == pytest.approx(wanted.interval(kind="t").low, rel=1e-12)


def test_several_measures_each_have_an_answer():
    file = written(drawn())
    answers = told(file, "--measure", "f1", "--measure", "recall", "--positive", "ham")["estimates"]
    assert list(answers) == ["f1:positive=ham", "recall:positive=ham"]
    alone = told(file, "--measure", "f1", "--positive", "ham")
    assert alone == {"kind": "estimate"} | answers["f1:positive=ham"]


def test_one_of_two_regressors_and_draws_with_replacement():
    numbers = np.round(np.random.default_rng(2).normal(size=(2, 50)), 3)
    q, whole = np.linspace(0.001, 0.01, 50), np.arange(50)
    columns = {"a.prediction": whole, "b.prediction": whole + 1, "b.variance": q, "label": numbers[1]}
    name = written(columns | {"draw_probability": q})
    for model, shift in (("a", 0), ("b", 1)):
        found = told(name, "--measure", "mse", "--model", model, "--task", "regression")
        wanted = estimate_from("mse", means=whole + shift, labels=numbers[1], draw_probability=q)
        assert found["value"] == pytest.approx(wanted.value, rel=1e-12)


def changed(name, value):
    column = drawn()[name].astype(object)
    column[3] = value
    return drawn() | {name: column}


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        (without(drawn(), "label"), "", "labels.csv: no column 'label'; there are ['id', "),
        (
            without(drawn(), "inclusion"),
            "",
            "one must be 'inclusion' (probability of being drawn) or, with replacement",
        ),
        (drawn() | {"draw_probability": drawn()["inclusion"]}, "", "one must be 'inclusion'"),
        ({name: column[:0] for name, column in drawn().items()}, "", "labels.csv: the file is empty: it has no rows"),
        (changed("label", ""), "", "labels.csv: label of row 3 (id 10) is missing; every row needs one"),
        (changed("label", "spma"), "", "labels.csv: label 'spma' of row 3 (id 10) is not a class"),
        (
            without(changed("label", "xyz"), "id"),
            "",
            "label 'xyz' of row 3 is not a class; classes are ['ham', 'spam']: others are named with --classes\n",
        ),
        (without(changed("label", ""), "id"), "", "labels.csv: label of row 3 is missing; every row needs one"),
        (changed("inclusion", 1.5), "", "inclusion probability of row 3 (id 10) is 1.5; it must be in (0, 1]"),
        (changed("inclusion", "1_0"), "", "labels.csv: inclusion of row 3 (id 10) is '1_0'; it must be a number"),
        (changed("inclusion", 0), "", "labels.csv: inclusion probability of row 3 (id 10) is 0; it must be in (0, 1]"),
        (changed("id", 8), "", "labels.csv: id 8 stands in rows 1 and 3: with 'inclusion' an item is drawn once"),
        (changed("p_spam", 1.5), "", "labels.csv: p_spam of row 3 (id 10) is 1.5; it must be in [0, 1]"),
        (
            {"prediction": ["ham"], "label": ["ham"], "inclusion": [0.5]},
            "",
            "labels.csv: predictions and labels have one class, ['ham']: name all classes with --classes",
        ),
        (drawn(), "--model b", "labels.csv: columns are of the models ['model']: there is no 'b'"),
        (
            {f"{m}.prediction": drawn()["label"] for m in "ab"} | drawn(),
            "",
            "['a', 'b', 'model']: name one with --model",
        ),
        ({"a.judge": drawn()["p_ham"], "label": drawn()["label"], "inclusion": drawn()["p_ham"]}, "", "not systems'"),
        (drawn(), "--estimator horvitz_thompson", "needs --pool-size, and items of equal weight"),
        (drawn(), "--sequence", "--sequence goes with a study"),
        (drawn(), "--measure recal", "Error: no measure 'recal'; there are error_rate"),
    ],
)
def test_refusals_name_file_and_row(columns, options, said):
    result = CliRunner().invoke(main, ["estimate", written(columns), *options.split()])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert said in result.stderr


def test_a_file_that_is_not_there_and_options_of_files_with_a_study():
    for arguments, said in (
        (["none.parquet"], "Error: there is no file none.parquet\n"),
        (["study.db", "--measure", "f1"], "Error: --measure goes with a file of labels (.csv, .parquet), not with a"),
    ):
        assert CliRunner().invoke(main, ["estimate", *arguments]).stderr.startswith(said)


def test_a_study_that_is_named_like_a_table():
    with Study.create("study.csv", Pool([0.1, 0.9]), budget=2) as study:
        study.tell(study.ask(), [0, 1])
    assert told("study.csv")["value"] == 0


def test_what_a_file_of_labels_cannot_be_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("prediction,label,inclusion\n0,0,0.25\n1,1,0.5\n")
    for options, message in (
        ({"task": "ranking"}, "no task 'ranking'; there are classification, regression"),
        ({"model": []}, r"columns are of the models \['model'\]: there is no \[\]"),
    ):
        with pytest.raises(InputError, match=f"labels.csv: {message}"):
            estimate_file(path, **options)
