"""The commands, from a pool to an answer, and what they say when something is wrong."""

import csv
import errno
import io
import json
import os
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import sondage
from sondage.adapters.formats import FORMATS
from sondage.cli import main
from sondage.cli.printing import print_file
from sondage.core.catalogue.beliefs import BELIEFS
from sondage.core.catalogue.estimators import ESTIMATORS, UNASSISTED
from sondage.core.catalogue.intervals import INTERVALS
from sondage.core.catalogue.significance import TESTS
from sondage.core.checks import SIGNS
from sondage.pools.columns import TASKS
from sondage.studies.drawn_elsewhere import OF_DRAWS

COMMANDS = list(main.commands) or main.list_commands(None)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    """Return the one line of a refusal."""
    result = run(*arguments, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def pool_file(name="pool.csv", size=200):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a.p_spam", "b.p_spam", "text"])
        for n in range(size):
            p = (n * 37 % size) / size
            writer.writerow([f"item {n}", p, 1 - p if n % 3 else p, f"=text {n}"])
    return name


def label(name, truth=lambda text: "spam" if int(text.split()[1]) * 37 % 200 > 100 else "not spam"):
    """Fill the labels of a batch in, as a person would."""
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = truth(row["id"])
    with open(name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def planned(*options, budget=20):
    run("plan", pool_file(), "study.db", "--budget", budget, *options)
    return "study.db"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(command):
    text = run(command, "--help").output
    assert f"sondage {command}" in text
    assert "\b" not in text
    assert command in run("--help").output


def choices(command, option):
    (found,) = [one for one in main.get_command(None, command).params if option in one.opts]
    return set(found.type.choices)


def test_choices_are_those_of_the_library():
    assert choices("estimate", "--estimator") == set(UNASSISTED)
    assert choices("estimate", "--interval") == set(INTERVALS) - {*OF_DRAWS, "bootstrap"}
    assert choices("plan", "--alternative") == set(SIGNS)
    assert all(choices(command, "--format") == set(FORMATS) for command in ("ask", "import", "export"))


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(command):
    text = CliRunner().invoke(main, [*command.split(), "--help"], env={"COLUMNS": "80"}, terminal_width=80).output
    assert max(map(len, text.splitlines())) <= 80


def test_help_and_page_name_every_choice():
    page = (Path(sondage.__file__).parents[2] / "docs" / "cli.md").read_text()
    for catalogue, option in ((ESTIMATORS, "estimator"), (INTERVALS, "interval"), (TESTS, "test"), (TASKS, "task")):
        shown = " ".join(run("plan", "--help").output.partition(f"--{option} TEXT")[2].partition(" --")[0].split())
        rows = [line for line in page.splitlines() if line.startswith(f"| `--{option}` ")]
        for name in catalogue:
            assert name in shown
            assert all(f"`{name}`" in row for row in rows)
    assert "STUDY [N]" in run("ask", "--help").output


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        ("advise pool.csv --model a --difference 0.1", "--difference goes with --compare"),
        ("advise pool.csv --model a --power 0.9", "--power goes with --compare"),
        (
            "advise pool.csv --measure f1 --measure recall",
            "--measure takes one here, not f1, recall: of several the first",
        ),
        ("advise pool.csv --compare a,b --power 0.9", "--power goes with --difference"),
        ("plan pool.csv s.db --model a --budget 5 --margin 0.1", "--margin goes with --compare"),
        ("plan pool.csv s.db --model a --budget 5 --positive spam", "--positive goes with a measure that has a"),
        ("advise pool.csv --model a --measure mcc --positive spam", "--positive goes with a measure that has a"),
        ("plan pool.csv s.db --select --budget 5 --alternative less", "--alternative goes with --compare"),
        ("plan pool.csv s.db --model a --budget 5 --alternative less", "--alternative goes with --compare"),
        ("plan pool.csv s.db --model a --budget 5 --test wald", "--test goes with --compare"),
    ],
)
def test_options_that_say_nothing_are_refused(arguments, others):
    pool_file()
    assert others in refused(*arguments.split())


def test_version():
    assert sondage.__version__ in run("--version").output


def test_from_a_pool_to_an_estimate():
    output = run("plan", pool_file(), "study.db", "--model", "a", "--measure", "f1", "--budget", 30).output
    assert "Planned: estimate f1 of a, from 30 of 200 items." in output
    assert "Positive: spam, the second class; --positive names another.\n" in output
    assert "Next: sondage ask study.db 20 -o batch.csv" in output
    for n in (10, 20):
        run("ask", "study.db", n, "-o", "batch.csv", "--force")
        assert len(label("batch.csv")) == n
        assert f"{n} new of {n} labels." in run("import", "study.db", "batch.csv", "--who", "anna").output
    text = run("estimate", "study.db").output
    data = json.loads(run("estimate", "study.db", "--json").output)
    assert text.startswith("The F1 of 'a' in this pool is ")
    assert data["value"] == pytest.approx(1.0, abs=0.05)
    assert data["n_labels"] == 30
    assert "Nothing is left to label" in run("ask", "study.db").stderr


def test_the_study_is_the_one_of_the_library():
    planned("--model", "a", "--seed", 5)
    truth = {}
    for _ in range(2):  # the second stage is planned from the labels of the first
        run("ask", "study.db", 10, "-o", "batch.csv", "--force")
        truth |= {row["id"]: row["label"] for row in label("batch.csv")}
        run("import", "study.db", "batch.csv")
    pool = sondage.read_pool("pool.csv")
    asked = []

    def look(ids):
        asked.extend(ids)
        return [truth[name] for name in ids]

    expected = sondage.evaluate(pool, labels=look, budget=20, seed=5, model="a")
    assert asked == list(truth)
    assert json.loads(run("estimate", "study.db", "--json").output)["std_error"] == expected.std_error


def test_a_comparison():
    planned("--compare", "a,b")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    assert run("compare", "study.db").output.startswith(
        "'a' is better than 'b': the error rate of 'a' minus that of 'b'"
    )
    data = json.loads(run("compare", "study.db", "--json", "--level", 0.9).output)
    assert data["better"] == "a"
    assert data["interval"]["level"] == 0.9
    assert "sondage compare study.db" in refused("estimate", "study.db")


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_tests_that_draw_random_numbers_take_them_from_the_seed(test):
    planned("--compare", "a,b", "--measure", "brier", "--test", test)
    for _ in range(2):
        run("ask", "study.db", 10, "-o", "batch.csv", "--force")
        label("batch.csv")
        run("import", "study.db", "batch.csv")
    told = [json.loads(run("compare", "study.db", "--json").output) for _ in range(2)]
    assert told[0] == told[1]
    assert told[0]["test"]["kind"] == test
    assert 0 < told[0]["pvalue"] <= 1
    assert run("report", "study.db").output


def test_so_do_intervals():
    planned("--model", "a", "--measure", "error_rate", "--interval", "bootstrap")
    run("ask", "study.db", 10, "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    told = [json.loads(run("estimate", "study.db", "--json").output) for _ in range(2)]
    assert told[0] == told[1]
    assert told[0]["interval"]["kind"] == "bootstrap"
    assert run("report", "study.db").output


def test_a_selection():
    planned("--select", "--measure", "accuracy")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    lines = run("select", "study.db").output.splitlines()
    assert lines[0].startswith("'a' has the best accuracy")
    assert lines[1].startswith("1. a")
    assert json.loads(run("select", "study.db", "--json").output)["ranking"] == ["a", "b"]


def test_several_measures():
    planned("--model", "a", "--measure", "error_rate", "--measure", "recall")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    output = run("estimate", "study.db").output
    assert "error rate" in output
    assert "recall" in output
    assert set(json.loads(run("estimate", "study.db", "--json").output)["estimates"]) == {"error_rate", "recall"}


def test_each_measure_has_its_own_standard_error():
    planned("--model", "a", "--measure", "error_rate", "--measure", "recall")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv", lambda name: "spam" if len(name) % 2 else "not spam")
    run("import", "study.db", "batch.csv")
    data = json.loads(run("estimate", "study.db", "--json").output)["estimates"]
    for command in ("estimate", "report"):
        output = run(command, "study.db").output
        for name, words in (("error_rate", "error rate"), ("recall", "recall")):
            assert f"\n{words}: standard error {data[name]['std_error']:.3g}; effective number" in output


def test_fewer_items_than_asked_for_are_explained():
    planned("--model", "a", budget=60)
    told = run("ask", "study.db", 20, "-o", "batch.csv").stderr
    assert told == (
        "12 items to label, not 20: their labels decide which come next. "
        "Fill the labels in, then: sondage import study.db batch.csv\n"
    )
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    assert run("ask", "study.db", 1).stderr.startswith("1 item to label. Fill")
    assert run("ask", "study.db", 20, "--who", "ben").stderr.startswith("18 items to label, not 20: ")
    assert run("ask", "study.db", "--force", "-o", "batch.csv").stderr.startswith("30 items to label. Fill")


@pytest.mark.parametrize("who", [[], ["--who", "ben"]])
def test_without_its_pool_a_study_goes_on_and_says_so(who):
    planned("--model", "a", budget=60)
    run("ask", "study.db", 12, "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    os.rename("pool.csv", "moved.csv")
    said = run("ask", "study.db", 20, "-o", "more.csv", *who).stderr
    assert "20 items to label. Fill" in said
    assert "the next draw needs the pool: there is no file" in said
    assert "the present order goes on, and nothing is chosen from the labels so far" in said


def test_of_rows_that_share_labels_groups_are_planned_for():
    Path("senders.csv").write_text("id,p_spam,group" + "".join(f"\n{n},0.{n + 1},g{n // 3}" for n in range(9)))
    assert "from 2 of 3 groups." in run("plan", "senders.csv", "study.db", "--budget", 2).output


def test_only_systems_that_the_question_is_about_need_a_label():
    rows = "".join(f"\n{n},0.{n + 1},0.5,0.4" for n in range(9))
    Path("systems.csv").write_text(f"id,a.judge,b.judge,c.judge{rows}\n")
    for options, told in (
        (["--model", "b"], "Fill b.label in (the others may stay empty), then"),
        (["--compare", "a,c"], "Fill a.label and c.label in (the others may stay empty), then"),
        (["--select"], "Fill the labels in, then"),
    ):
        name = f"study{options[0]}.db"
        run("plan", "systems.csv", name, "--measure", "accuracy", "--budget", 4, *options)
        assert told in run("ask", name).stderr
    assert (
        "Planned: rank 3 models by accuracy, from 4 of 9 items."
        in run("plan", "systems.csv", "s.db", "--measure", "accuracy", "--budget", 4, "--select").output
    )


def test_advice_says_of_what_and_for_what():
    one = run("advise", pool_file(), "--model", "a", "--measure", "f1", "--width", 0.2).output
    assert "If the probabilities are right, the F1 of 'a' is 0." in one
    assert "needed for a 95 % interval of width 0.2 with method default: about " in one
    assert one.endswith("\npositive: spam, the second class\n")
    again = run("advise", "pool.csv", "--model", "a", "--measure", "f1", "--width", 0.2, "--simulations", 3).output
    assert "needed for a 95 % interval of width 0.2 with method default: about " in again
    assert "--simulations goes with --width" in refused("advise", "pool.csv", "--simulations", 3)
    two = run("advise", "pool.csv", "--compare", "a,b", "--difference", 0.1, "--power", 0.9).output
    assert "the error rate of 'a' minus that of 'b' is " in two
    assert "needed for finding a difference of 0.1 with power 0.9 with method thesis: " in two


def test_an_empty_label_is_a_skip_or_not_yet_answered():
    planned("--model", "a")
    run("ask", "study.db", 4, "-o", "batch.csv")
    label("batch.csv", lambda name: "")
    assert "0 new of 0 labels" in run("import", "study.db", "batch.csv", "--partial").output
    output = run("import", "study.db", "batch.csv").output
    assert "4 new of 4 labels, 4 of them skips." in output
    taken = "taken for skips (--partial leaves such open); labels imported later replace skips."
    assert f"4 empty labels were {taken}" in output
    rows = label("batch.csv", lambda name: "")
    label("batch.csv", lambda name: "spam" if name == rows[0]["id"] else "")
    assert f"3 empty labels were {taken}" in run("import", "study.db", "batch.csv").output
    label("batch.csv", lambda name: "spam")
    output = run("import", "study.db", "batch.csv").output
    assert "3 new of 4 labels" in output
    assert "empty" not in output


def test_where_all_is_skipped_nothing_is_said_to_be_labelled():
    planned("--model", "a")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv", lambda name: "")
    output = run("import", "study.db", "batch.csv").output
    assert "All was skipped, so that nothing can be estimated" in output
    assert "All is labelled" not in output


def test_skips_and_pending_items_are_told():
    planned("--model", "a")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv", lambda name: "" if name.endswith("7") else "spam")
    run("import", "study.db", "batch.csv")
    output = run("report", "study.db").output
    assert "skipped" in output
    assert "note: " in output


@pytest.mark.parametrize("options", [(), ("--lazy",)], ids=str)
def test_labels_in_the_pool_are_told_of(options):
    Path("pool.csv").write_text("id,p_spam,label\n" + "".join(f"m{n},{n / 50},spam\n" for n in range(50)))
    if options:
        duckdb.sql("COPY (FROM 'pool.csv') TO 'pool.parquet' (FORMAT parquet)")
    said = run("plan", "pool.parquet" if options else "pool.csv", "study.db", "--budget", 5, *options).stderr
    told = "note: the pool's column 'label' is shown to labellers, and not used as labels"
    assert said == f"{told}: leave it out if it tells the answer\n"
    assert "pool_label" in run("ask", "study.db").stdout
    assert run("plan", pool_file("other.csv"), "other.db", "--model", "a", "--budget", 5).stderr == ""


def test_a_correction():
    planned("--model", "a")
    run("ask", "study.db", 5, "-o", "batch.csv")
    label("batch.csv", lambda name: "spam")
    run("import", "study.db", "batch.csv")
    label("batch.csv", lambda name: "not spam")
    assert "pass --correct to replace it; nothing was imported" in refused("import", "study.db", "batch.csv")
    run("import", "study.db", "batch.csv", "--correct")
    assert run("export", "study.db").output.count(",not spam,") == 5
    assert run("export", "study.db", "--all").output.count("spam,") == 10


@pytest.mark.parametrize("options", [(), ("--correct",), ("--correct", "--who", "bert")], ids=str)
def test_an_empty_label_never_replaces_one(options):
    planned("--model", "a")
    run("ask", "study.db", 5, "-o", "batch.csv")
    label("batch.csv", lambda name: "spam")
    run("import", "study.db", "batch.csv", "--who", "anna")
    run("ask", "study.db", 6, "-o", "more.csv")
    label("batch.csv", lambda name: "")
    Path("batch.csv").write_text(Path("batch.csv").read_text() + Path("more.csv").read_text().splitlines()[1])
    output = run("import", "study.db", "batch.csv", *options).output
    assert "1 new of 1 label, 1 of them skips." in output
    assert "5 empty labels were left out: none replaces a label that is there." in output
    assert run("export", "study.db").output.count(",spam,anna,") == 5


def test_an_empty_label_of_one_of_two_people_is_their_skip():
    planned("--model", "a", "--raters", 2, budget=4)
    for who, said in (("anna", "spam"), ("bert", "")):
        run("ask", "study.db", 4, "--who", who, "-o", f"{who}.csv")
        label(f"{who}.csv", lambda name, said=said: said)
        output = run("import", "study.db", f"{who}.csv", "--who", who, "--correct").output
    assert "4 new of 4 labels, 4 of them skips." in output
    assert "left out" not in output


def test_no_cell_is_a_formula():
    planned("--model", "a")
    rows = run("ask", "study.db", 3).stdout.splitlines()
    assert rows[0] == "id,label,text"
    assert all(row.split(",")[2].startswith("'=text") for row in rows[1:])


def test_a_report():
    planned("--model", "a")
    assert run("report", "study.db").output.startswith("No labels yet")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    data = json.loads(run("report", "study.db", "--json").output)
    assert (data["seed"], data["labelled"], data["complete"], data["result"]["kind"]) == (0, 20, True, "estimate")
    assert data["method"]["design"] == "adaptive"


def test_an_extension():
    planned("--model", "a")
    assert "20 more" not in run("extend", "study.db", 25).output
    assert run("ask", "study.db").stdout.count("\n") == 26
    assert "must be above the present one, 25" in refused("extend", "study.db", 25)
    Path("pool.csv").rename("moved.csv")
    assert "if it has moved, extend takes its new place" in refused("extend", "study.db", 25)
    assert run("extend", "study.db", 25, "--pool", "moved.csv").output.startswith("The budget is 25; ")
    assert "above the present one" in refused("extend", "study.db", 25)


def test_refusals_are_one_line():
    planned("--model", "a")
    assert "holds a study already" in refused("plan", "pool.csv", "study.db", "--model", "a", "--budget", 5)
    assert "there is no file none.csv" in refused("plan", "none.csv", "b.db", "--budget", 5)
    assert "name one with --model, or two with --compare" in refused("plan", "pool.csv", "b.db", "--budget", 5)
    assert "no measure 'f7'" in refused("plan", "pool.csv", "b.db", "--model", "a", "--measure", "f7", "--budget", 5)
    assert "there is no study none.db" in refused("estimate", "none.db")
    assert "it is not a study file" in refused("ask", "pool.csv", 3)
    assert "there are no labels yet" in refused("estimate", "study.db")
    assert "No such file" in refused("import", "study.db", "none.csv")
    run("plan", "pool.csv", "a study.db", "--model", "a", "--budget", 5)
    told = "a study.db is a study to estimate, not to compare: sondage estimate 'a study.db'\n"
    assert told in refused("compare", "a study.db")


def test_names_that_are_too_long_are_refused_in_one_line():
    planned("--model", "a")
    long, pool = "x" * 300, "pool.csv"
    assert "there is no file xxx" in refused("advise", f"{long}.csv")
    assert "there is no study xxx" in refused("estimate", long)
    assert "it cannot be opened" in refused("plan", pool, long, "--model", "a", "--budget", 40)
    assert "the folder" in refused("plan", pool, f"{long}/study.db", "--model", "a", "--budget", 40)
    assert "cannot be written: File name too long" in refused("ask", "study.db", 2, "-o", long)
    assert "cannot be written" in refused("ask", "study.db", 2, "-o", f"{long}/batch.csv")


def test_an_import_is_all_or_nothing():
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.csv")
    label("batch.csv")
    with open("batch.csv", "a") as file:
        file.write("item 999,spam,\n")
    assert "batch.csv: line 5: id 'item 999' was never asked for" in refused("import", "study.db", "batch.csv")
    assert json.loads(run("report", "study.db", "--json").output)["labelled"] == 0


def test_an_id_that_lost_its_zeros_is_named():
    Path("zeros.csv").write_text("id,p_spam\n0368,.2\n1368,.6\n")
    run("plan", "zeros.csv", "study.db", "--budget", 2)
    run("ask", "study.db")
    Path("labels.csv").write_text("id,label\n368,spam\n")
    said = "labels.csv: line 2: id '368' was never asked for, '0368' was: without a probability of being drawn"
    assert said in refused("import", "study.db", "labels.csv")


def test_a_class_that_is_nearly_written_is_named():
    planned("--model", "a")
    run("ask", "study.db", 2, "-o", "batch.csv")
    for text in ("Not Spam", "notspam"):
        label("batch.csv", lambda name, text=text: text)
        said = refused("import", "study.db", "batch.csv")
        assert f"label {text!r} of id" in said
        told = "is not a class; classes are ['not spam', 'spam']: write 'not spam'; refused too: line 3"
        assert f"{told}; nothing was imported" in said


def test_two_labels_of_an_item_in_a_file_are_refused():
    planned("--model", "a")
    run("ask", "study.db", 2, "-o", "batch.csv")
    first = label("batch.csv", lambda name: "spam")[0]["id"]
    with open("batch.csv", "a") as file:
        file.write(f"{first},not spam,\n")
    said = f"batch.csv: line 2 and line 4: id {first!r} has different labels here, 'spam' and 'not spam'; nothing was"
    for correct in ((), ("--correct",)):
        assert said in refused("import", "study.db", "batch.csv", *correct)


def test_a_batch_is_not_written_over():
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.csv")
    assert "may hold labels" in refused("ask", "study.db", 3, "-o", "batch.csv")
    assert "cannot be written" in refused("ask", "study.db", 3, "-o", "none/batch.csv")


@pytest.mark.parametrize("options", [(), ("--draws",), ("--interface",)], ids=str)
def test_an_export_is_not_written_over_another_file(options):
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.csv")
    label("batch.csv", lambda name: "spam")
    before = Path("batch.csv").read_text()
    assert "batch.csv is there already and may hold labels" in refused(
        "export", "study.db", *options, "-o", "batch.csv"
    )
    assert Path("batch.csv").read_text() == before
    run("export", "study.db", *options, "-o", "batch.csv", "--force")
    assert Path("batch.csv").read_text() != before


def test_a_study_is_not_written_over():
    study = planned("--model", "a", budget=9)
    run("ask", study, 3)
    Path("link.db").symlink_to("study.db")
    commands = [("export", study, "-o", study), ("export", study, "--draws", "-o", "link.db", "--format", "csv")]
    asks = [("ask", study, 3, "-o", study, *force) for force in ((), ("--force",))]
    for command in [*commands, *asks]:
        assert "is a study, or another database, which is not written over" in refused(*command)
    assert "error rate" in run("report", study).output


def test_an_empty_name_of_a_file_is_shown():
    study = planned("--model", "a")
    assert refused("report", study, "--html", "") == "Error: '': the name of a page ends in .html\n"
    assert refused("export", study, "-o", "") == "Error: '' cannot be written: Is a directory; nothing was written\n"


def test_the_pool_of_a_study_is_not_written_over():
    study = planned("--model", "a", budget=9)
    run("ask", study, 3, "-o", "batch.csv")
    before = Path("pool.csv").read_text()
    Path("link.csv").symlink_to("pool.csv")
    Path("link.html").symlink_to("pool.csv")
    options = [("export",), ("export", "--interface"), ("export", "--draws"), ("ask",), ("ask", "--who", "anna")]
    commands = [(*command, "--force", "-o", name) for command in options for name in ("./pool.csv", "link.csv")]
    for verb, *rest in [*commands, ("report", "--html", "link.html")]:
        said = f"Error: {rest[-1]} is the pool of the study study.db; it is not written over: choose another name\n"
        assert refused(verb, study, *rest) == said
    assert Path("pool.csv").read_text() == before
    with sondage.Study.open(study) as opened:
        assert opened.status.asked == 3


def test_no_file_of_a_pool_of_several_is_written_over():
    Path("pool").mkdir()
    for part in ("a", "b"):
        Path(f"pool/{part}.csv").write_text(f"id,p_1\n{part}1,0.2\n{part}2,0.7\n")
    run("plan", "pool/*.csv", "study.db", "--budget", 2)
    assert "pool/b.csv is the pool of the study" in refused("ask", "study.db", 1, "-o", "pool/b.csv", "--force")
    run("ask", "study.db", 1, "-o", "batch.csv")


def test_nothing_is_named_compressed_that_is_not():
    assert "leave .gz off" in refused("ask", planned("--model", "a"), 3, "-o", "batch.csv.gz")
    assert not Path("batch.csv.gz").exists()


def test_no_text_has_the_name_of_another_kind_of_file():
    study, allowed = planned("--model", "a"), "allowed are .csv, .tsv, .jsonl, .ndjson, .json"
    for end in (".xlsx", ".XLS", ".pq"):
        place = f"labels{end}"
        said = f"Error: {place} has the name of a file of another kind; {allowed}\n"
        commands = [("ask", study), ("ask", study, "--who", "anna"), ("export", study)]
        assert {refused(*command, "-o", place) for command in commands} == {said}
        assert refused("import", study, place) == said
    with sondage.Study.open(study) as opened:
        assert opened.status.asked == 0
    run("ask", study, 1)
    for end in (".xlsx", ".json"):
        told = refused("export", study, "--draws", "-o", f"drawn{end}")
        assert told.endswith("allowed are .csv, .tsv, .jsonl, .ndjson, .parquet\n")
    run("export", study, "--draws", "-o", "drawn.pq")


def test_outcomes_have_a_label_for_each_system():
    with open("pool.csv", "w") as file:
        file.write("id,a.judge,b.judge\n" + "".join(f"{n},{n / 50},{1 - n / 50}\n" for n in range(51)))
    run("plan", "pool.csv", "study.db", "--compare", "a,b", "--measure", "accuracy", "--budget", 9)
    rows = run("ask", "study.db").stdout.splitlines()
    assert rows[0] == "id,a.label,b.label"
    with open("labels.csv", "w") as file:
        file.write("id,a.label,b.label\n" + "".join(f"{row.split(',')[0]},1,0\n" for row in rows[1:]))
    run("import", "study.db", "labels.csv")
    assert "'a' is better than 'b'" in run("compare", "study.db").output
    assert run("export", "study.db").output.splitlines()[1].split(",")[1:3] == ["1.0", "0.0"]
    for who, label in (("anna", "1,0"), ("bert", "0,0")):
        Path("labels.csv").write_text(f"id,a.label,b.label\n{rows[1].split(',')[0]},{label}\n")
        run("import", "study.db", "labels.csv", "--who", who, "--further")
    told = "somebody says a: 1, b: 0; anna says a: 1, b: 0; bert says a: 0, b: 0; together a: 1, b: 0"
    assert told in run("disagreements", "study.db", "--all").output


def test_the_demo_tells_the_truth(monkeypatch):
    monkeypatch.setattr("sondage.cli.demo.RUNS", 20)
    output = run("demo").output
    assert "with 20 other seeds" in output
    assert "The error rate of 'new' in this pool is" in output
    assert "Labels drawn at random are as precise" in output
    assert len(output.splitlines()) <= 25


def test_the_demo_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert r"pip install 'sondage[demo]'" in refused("demo")


@pytest.mark.parametrize("measure", ["auc", "average_precision", "ece:bins=5"])
def test_measures_with_bins_of_the_pool(measure):
    study = planned("--measure", measure, "--model", "a", budget=150)
    run("ask", study, 150, "-o", "batch.csv")
    label("batch.csv")
    run("import", study, "batch.csv")
    found = json.loads(run("estimate", study, "--json").stdout)
    assert found["measure"] == measure
    assert found["n_labels"] == 150
    value = {"auc": 1.0, "average_precision": 1.0, "ece:bins=5": 0.25}[measure]
    assert found["value"] == pytest.approx(value, abs=0.05)
    question = json.loads(run("report", study, "--json").stdout)["question"]
    assert question["measures"] == [measure]


def test_label_studio_both_ways():
    planned("--model", "a")
    said = run("ask", "study.db", 5, "-o", "tasks.json").stderr
    assert "sondage export study.db --interface" in said
    assert "sondage import study.db EXPORT.json" in said
    assert "tasks.json has no annotations: export the project from" in refused("import", "study.db", "tasks.json")
    with open("tasks.json") as file:
        tasks = json.load(file)
    for task, choice in zip(tasks, ["spam", "spam", "not spam", None, "spam"], strict=True):
        region = {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [choice]}}
        task["annotations"] = [{"id": 1, "result": [region] if choice else [], "was_cancelled": choice is None}]
    with open("export.json", "w") as file:
        json.dump(tasks, file)
    output = run("import", "study.db", "export.json", "--who", "anna").output
    assert "5 new of 5 labels, 1 of them skips." in output
    assert "empty" not in output
    assert '<Choice value="not spam"/>' in run("export", "study.db", "--interface").output
    run("export", "study.db", "-o", "again.json")
    assert "0 new of 5 labels" in run("import", "study.db", "again.json").output
    run("plan", "pool.csv", "other.db", "--model", "a", "--budget", 10, "--seed", 1)
    assert "is of another study" in refused("import", "other.db", "export.json")


def test_json_lines_both_ways():
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.jsonl")
    with open("batch.jsonl") as file:
        rows = [json.loads(line) | {"label": "spam"} for line in file]
    with open("labels.txt", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert "3 new of 3 labels" in run("import", "study.db", "labels.txt", "--format", "jsonl").output
    assert [
        json.loads(line)["label"] for line in run("export", "study.db", "--format", "jsonl").stdout.splitlines()
    ] == ["spam"] * 3


def test_a_file_that_cannot_be_written_leaves_what_was_there():
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.csv")
    before = Path("batch.csv").read_text()
    assert "for Label Studio only" in refused("ask", "study.db", 3, "-o", "batch.csv", "--force", "--predictions")
    assert Path("batch.csv").read_text() == before
    assert "cannot be written: No such file or directory" in refused("export", "study.db", "-o", "none/labels.csv")


@pytest.mark.parametrize("target", ["real.csv", os.devnull])
@pytest.mark.parametrize("options", [(), ("--draws",)], ids=str)
def test_links_and_devices_are_written_not_replaced(target, options):
    planned("--model", "a")
    run("ask", "study.db", 3, "-o", "batch.csv")
    os.symlink(target, "link.csv")
    run("export", "study.db", *options, "-o", "link.csv")
    assert Path("link.csv").is_symlink()
    assert target == os.devnull or Path(target).read_text().startswith("id,")


def test_refusals_are_in_the_words_of_the_command_line():
    planned("--model", "a")
    assert "everything" not in refused("export", "study.db", "--draws")
    run("ask", "study.db", 2, "-o", "batch.csv")
    label("batch.csv", lambda name: "eggs")
    refusal = refused("import", "study.db", "batch.csv")
    assert refusal.endswith(": others are named with plan --classes; refused too: line 3; nothing was imported\n")
    label("batch.csv", lambda name: "spam")
    run("import", "study.db", "batch.csv")
    label("batch.csv", lambda name: "not spam")
    assert "is already labelled 'spam', now 'not spam': pass --correct" in refused("import", "study.db", "batch.csv")
    assert "BUDGET 900" in refused("extend", "study.db", 900)
    plan = ["plan", "pool.csv", "b.db", "--model", "a", "--budget", 5]
    assert "--lease 1e+10 must be above 0 and at most 527,040 minutes" in refused(*plan, "--lease", "1e10")
    assert "the pool has an empty name" in refused("plan", "", "b.db", "--budget", 5)
    assert "the study has an empty name" in refused("plan", "pool.csv", "", "--model", "a", "--budget", 5)
    advise = ["advise", "pool.csv", "--compare", "a,b", "--difference", 0.1, "--power", 2]
    assert "--power 2.0 in (0.05, 1)" in refused(*advise)


@pytest.mark.parametrize("verb", ["plan", "advise"])
def test_every_belief_is_in_the_help_and_so_are_shares_of_the_classes(verb):
    told = " ".join(run(verb, "--help").output.split())
    assert (
        f"How labels are predicted before they are known: {', '.join(BELIEFS)}, or shares of the classes (0.9,0.1)."
        in told
    )
    more = ("study.db",) if verb == "plan" else ()
    options = ("--model", "a", "--budget", 5, "--classes", "ham,spam")
    run(verb, pool_file(), *more, *options, "--belief", "0.9,0.1")
    wrong = run(verb, "pool.csv", "other.db" if more else "--json", *options, "--belief", "0.9,x", code=2)
    assert "'0.9,x' is neither a name nor probabilities" in wrong.stderr


def test_notes_come_after_what_a_command_says():
    planned("--model", "a")
    Path("pool.csv").unlink()
    said = run("ask", "study.db", "-o", "batch.csv").stderr.splitlines()
    assert [line.partition(":")[0] for line in said[1:]] == ["note"]
    assert "the next draw needs the pool: there is no file " in said[1]


def test_stages_are_shares_of_the_budget():
    planned("--model", "a", "--stages", "0.25, 0.75")
    with sondage.Study.open("study.db") as study:
        assert study.method.stages == (0.25, 0.75)
    error = refused("plan", "pool.csv", "other.db", "--model", "a", "--budget", 9, "--stages", ".5,.6")
    assert "--stages .5,.6 must be positive shares of the budget that sum to 1" in error


def test_notes_are_in_the_words_of_the_command_line():
    planned("--model", "a", "--floor", 0)
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    assert "note: plan --floor 0: hardly a label checks" in run("estimate", "study.db").output
    Path("sure.csv").write_text("id,p_spam\n" + "".join(f"{n},0.5\n" for n in range(200)))
    assert "Label at random (plan --method 'passive')" in run("advise", "sure.csv").output


def test_what_a_person_reads_at_a_terminal_is_spelled(capsys, monkeypatch):
    print_file("id\n\x1b[31m\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_file("id\n\x1b[31m\n")
    assert capsys.readouterr().out == "id\n\x1b[31m\nid\n\\u001b[31m\n"


def test_a_line_of_an_error_is_short():
    Path("long.csv").write_text(f"id,p_spam,text\na,.4,{'x' * 3_000_000}\n")
    line = refused("plan", "long.csv", "study.db", "--budget", 1)
    assert len(line) < 800
    assert "Maximum line size" in line


def test_what_fails_leaves_no_claims(monkeypatch):
    planned("--model", "a")
    held = ["ask", "study.db", 3, "--who", "anna"]
    assert "for Label Studio only" in refused(*held, "--predictions")
    assert "none/x.csv cannot be written: No such file" in refused(*held, "-o", "none/x.csv")
    run("ask", "study.db", 1, "--who", "anna")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert "x.csv cannot be written: No space left on device" in refused(*held, "-o", "x.csv")
    assert "1 at hand" in run("team", "study.db").output
    kinds = [line.split()[1] for line in run("audit", "study.db").output.splitlines()]
    assert (kinds.count("claimed"), kinds.count("released")) == (3, 2)


def test_a_failed_ask_gives_back_what_was_asked_for_before():
    planned("--model", "a")
    run("ask", "study.db", 3)
    assert "cannot be written" in refused("ask", "study.db", 5, "--who", "anna", "-o", f"{'x' * 300}.csv")
    assert "at hand" not in run("team", "study.db").output


def test_it_is_said_who_holds_what_is_left():
    planned("--model", "a", budget=4)
    run("ask", "study.db", 3, "--who", "anna", "-o", "anna.csv")
    run("ask", "study.db", 1, "--who", "bert", "-o", "bert.csv")
    said = run("ask", "study.db").stderr
    assert "Nothing is free to label: 4 to label are held, by anna (3), bert (1). Next: sondage team study.db" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-o t.tsv", "sondage import study.db t.tsv\n"),
        ("-o t.json --format csv", "sondage import study.db t.json --format csv\n"),
        ("-o t.txt --format label-studio", "Import them into Label Studio"),
        ("-o T.JSON", "Import them into Label Studio"),
        ("--format jsonl --who anna", "sondage import study.db batch.jsonl --who anna\n"),
    ],
)
def test_what_to_do_next_follows_the_format(options, said):
    planned("--model", "a")
    assert said in run("ask", "study.db", 3, *options.split()).stderr


def test_a_tsv_file_has_tabs():
    planned("--model", "a")
    run("ask", "study.db", 2, "-o", "t.tsv")
    Path("t.tsv").write_text(Path("t.tsv").read_text().replace("\t\t", "\tspam\t"))
    assert Path("t.tsv").read_text().startswith("id\tlabel\ttext\n")
    assert "2 new of 2 labels" in run("import", "study.db", "t.tsv").output
    run("export", "study.db", "-o", "l.tsv")
    assert Path("l.tsv").read_text().startswith("id\tlabel\twho\tat\n")


def test_no_text_of_a_file_controls_the_terminal():
    Path("pool.csv").write_text(
        "".join(["id,p_a,p_\x1b[31m,kind\n", *(f"{n}\x9b,.4,.6,\x1b]0;x\x07\n" for n in range(9))])
    )
    run("plan", "pool.csv", "study.db", "--budget", 9, "--measure", "recall")
    run("ask", "study.db", "-o", "batch.csv")
    label("batch.csv", lambda name: "a")
    run("import", "study.db", "batch.csv", "--who", "anna")
    label("batch.csv", lambda name: "\x1b[31m")
    told = [refused("import", "study.db", "batch.csv"), run("import", "study.db", "batch.csv", "--further").output]
    for words in ("disagreements", "disagreements --json", "report", "report --json", "audit", "team"):
        verb, *options = words.split()
        told.append(run(verb, "study.db", *options).output)
    assert not any(letter in text for text in told for letter in "\x1b\x07\x9b")
    assert "says \\u001b[31m" in told[2]
    assert json.loads(told[3])[0]["id"].endswith("\x9b")


def test_a_report_is_a_page():
    planned("--model", "a")
    run("ask", "study.db", 10, "-o", "batch.csv")
    label("batch.csv")
    run("import", "study.db", "batch.csv")
    result = run("report", "study.db", "--html", "out.html")
    assert (result.stdout, result.stderr) == ("", "Wrote out.html.\n")
    page = Path("out.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "What is the error rate of &#39;a&#39;?" in page
    assert json.loads(run("report", "study.db", "--json", "--html", "out.html").stdout)["labelled"] == 10


def test_a_page_does_not_take_the_place_of_a_study():
    planned("--model", "a")
    before = Path("study.db").read_bytes()
    assert "study.db: the name of a page ends in .html" in refused("report", "study.db", "--html", "study.db")
    line = refused("report", "study.db", "--html", "none/out.html")
    assert "none/out.html cannot be written: No such file or directory; the study is as it was" in line
    assert Path("study.db").read_bytes() == before


def fill(source, target, label):
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = label(row["id"])
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_one_label_that_is_wanted_of_another_is_one():
    run("plan", pool_file(), "study.db", "--model", "a", "--budget", 1, "--raters", 2)
    run("ask", "study.db", 1, "--who", "anna", "-o", "batch.csv")
    label("batch.csv")
    assert "1 more label wanted, of other people." in run("import", "study.db", "batch.csv", "--who", "anna").output
    assert "1 more label wanted for the items asked" in run("report", "study.db").output


@pytest.fixture
def team():
    """A study of two labellers an item, both done with ten items, of which they disagree about some."""
    pool_file()
    plan = ("plan", "pool.csv", "team.db", "--model", "a", "--classes", "ham,spam", "--budget", 10, "--raters", 2)
    run(*plan, "--lease", 5)
    for who, left in (("anna", "10 more labels wanted, of other people"), ("bert", " to resolve")):
        run("ask", "team.db", 10, "--who", who, "-o", f"{who}.csv")
        fill(
            f"{who}.csv", f"{who}.csv", lambda name, who=who: "spam" if who == "anna" or name[-1] in "02468" else "ham"
        )
        said = run("import", "team.db", f"{who}.csv", "--who", who).output.splitlines()
        assert said[0] == "10 new of 10 labels."
        assert f"{left}. Next: sondage " in said[1]
        assert run("ask", "team.db").stderr == f"Nothing is free to label: {said[1]}\n"
    return "team.db"


def test_two_labellers_from_claims_to_a_resolution(team):
    assert "Nothing is left for anna" in run("ask", team, 5, "--who", "anna").stderr
    lines = run("team", team).output.splitlines()
    assert lines[0] == "anna: 10 labelled, 0 skipped, 0 at hand"
    found = json.loads(run("team", team, "--json").output)
    disputes = json.loads(run("disagreements", team, "--json").output)
    assert found["disputed"] == len(disputes) > 1
    assert found["agreement"]["n_items"] == 10
    shown = run("disagreements", team)
    assert f"{disputes[0]['id']}: anna says spam; bert says ham; no majority" in shown.stdout
    assert "sondage resolve team.db ID LABEL" in shown.stderr
    report = run("report", team).output
    assert f"{len(disputes)} pending" in report
    assert "2 people label 100% of the items" in report
    for one in disputes:
        output = run("resolve", team, one["id"], "ham", "--who", "dora", "--reason", "read again").output
    assert output == "Resolved. Nothing else is in dispute.\n"
    assert run("disagreements", team).output == "Nothing is to be settled.\n"
    assert "resolved ham" in run("disagreements", team, "--all").output
    assert json.loads(run("report", team, "--json").output)["people"]["bert"]["labelled"] == 10


def test_the_log_and_the_exports_of_several_labellers(team):
    name = json.loads(run("disagreements", team, "--json").output)[0]["id"]
    run("resolve", team, name, "spam", "--who", "dora")
    kinds = [line.split()[1] for line in run("audit", team, name).output.splitlines()]
    assert kinds == ["asked", "claimed", "labelled", "claimed", "labelled", "resolved"]
    assert json.loads(run("audit", team, "--json").output)[0]["kind"] == "created"
    rows = {row["id"]: row for row in csv.DictReader(run("export", team).output.splitlines())}
    assert (rows[name]["label"], rows[name]["who"]) == ("spam", "anna; bert; dora")
    people = list(csv.DictReader(run("export", team, "--people").output.splitlines()))
    assert sorted(row["label"] for row in people if row["id"] == name) == ["ham", "spam", "spam"]
    everything = list(csv.DictReader(run("export", team, "--all").output.splitlines()))
    assert [row["kind"] for row in everything if row["id"] == name] == ["label", "label", "resolution"]


def test_claims_are_given_back(team):
    run("extend", team, 14)
    assert len(run("ask", team, 4, "--who", "anna").stdout.splitlines()) == 5
    assert "4 at hand" in run("team", team).output
    assert run("release", team, "anna").output == "4 items released.\n"
    assert run("release", team, "anna").output == "0 items released.\n"
    assert run("release", team, "zoe").output == "0 items released: nobody of the name 'zoe' holds any.\n"


def test_further_opinions_are_imported_when_asked_for():
    pool_file()
    run("plan", "pool.csv", "s.db", "--model", "a", "--classes", "ham,spam", "--budget", 4)
    run("ask", "s.db", "-o", "a.csv")
    fill("a.csv", "a.csv", lambda name: "spam")
    fill("a.csv", "b.csv", lambda name: "ham")
    run("import", "s.db", "a.csv", "--who", "anna")
    said = refused("import", "s.db", "b.csv", "--who", "bert")
    assert (
        "already labelled 'spam' by 'anna', now 'ham' by 'bert': pass --further to take it as another opinion" in said
    )
    assert "4 new" in run("import", "s.db", "b.csv", "--who", "bert", "--further").output
    assert "4 to resolve" in run("team", "s.db").output


def test_with_costs_it_is_not_known_how_many_items_come():
    rows = "\n".join(f"i{number},{(number % 50 + 0.5) / 50},{1 + number % 3}" for number in range(300))
    Path("pool.csv").write_text(f"id,p_1,cost\n{rows}\n")
    run("plan", "pool.csv", "s.db", "--budget", 200)
    run("ask", "s.db", 10, "-o", "a.csv")
    fill("a.csv", "a.csv", lambda name: "1")
    assert "\nAt least " in run("import", "s.db", "a.csv").output
    run("ask", "s.db", "-o", "b.csv")
    fill("b.csv", "b.csv", lambda name: "1")
    assert "All is labelled" in run("import", "s.db", "b.csv").output
    assert "The budget is 300; at least 1 more item can be asked for." in run("extend", "s.db", 300).output


def test_ids_and_labels_may_begin_with_a_dash():
    Path("pool.csv").write_text(
        "id,prediction,variance\n" + "".join(f"{n},{n},1\n" for n in range(-6, 0)) + "--x,1,1\n"
    )
    run("plan", "pool.csv", "s.db", "--task", "regression", "--measure", "mae", "--budget", 7, "--raters", 2)
    run("ask", "s.db", "--who", "anna", 7, "-o", "batch.csv")
    label("batch.csv", lambda name: "-1")
    run("import", "s.db", "batch.csv", "--who", "anna")
    assert run("resolve", "s.db", "-3", "-1.5", "--who", "dora", "--reason", "-2").exit_code == 0
    assert "label=-1.5" in run("audit", "s.db", "-3").output
    assert "  labelled  --x  by anna" in run("audit", "s.db", "--", "--x").output
    run("ask", "s.db", "--who", "bob", 7, "-o", "other.csv")
    assert run("release", "s.db", "bob", "-3", "-4").output == "2 items released.\n"
    for command in (
        ("resolve", "s.db", "-3", "1", "--whoo", "d"),
        ("audit", "s.db", "--jsn"),
        ("release", "s.db", "--al"),
    ):
        said = run(*command, code=2).stderr.splitlines()[-1]
        assert said.startswith("Error: No such option")
        assert next(one for one in command if one.startswith("--")) in said


def test_outcomes_are_resolved_for_the_systems_asked_about():
    rows = "\n".join(f"q{number},.5,.{number % 9 + 1},.5" for number in range(20))
    Path("pool.csv").write_text(f"id,a.judge,b.judge,c.judge\n{rows}\n")
    run("plan", "pool.csv", "s.db", "--compare", "c,a", "--measure", "accuracy", "--budget", 1, "--raters", 2)
    name = run("ask", "s.db").stdout.splitlines()[1].partition(",")[0]
    for who, outcomes in (("anna", "1,,0"), ("bert", "0,,1")):
        Path("told.csv").write_text(f"id,a.label,b.label,c.label\n{name},{outcomes}\n")
        run("import", "s.db", "told.csv", "--who", who)
    assert "anna says a: 1, c: 0; bert says a: 0, c: 1" in run("disagreements", "s.db").stdout
    said = refused("resolve", "s.db", name, "1")
    assert said == "Error: 1 has 1 of the 2 numbers asked for, those of a, c\n"
    run("resolve", "s.db", name, "1,0")
    assert "resolved a: 1, c: 0" in run("disagreements", "s.db", "--all").stdout


def test_what_the_team_commands_refuse(team):
    assert refused("audit", team, "nobody") == "Error: id 'nobody' was never asked for\n"
    assert "was never asked for" in refused("resolve", team, "nobody", "spam")
    name = json.loads(run("disagreements", team, "--json").output)[0]["id"]
    assert "is not a class" in refused("resolve", team, name, "eggs")
    assert "needs raters of 2 or more" in refused(
        "plan", "pool.csv", "n.db", "--model", "a", "--budget", 4, "--raters", 1, "--overlap", 0.5
    )


class Full(io.StringIO):
    """A disk without space."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("arguments", [["ask", "s.db", "3"], ["ask", "s.db", "3", "--who", "anna"], ["--help"]])
def test_output_that_cannot_be_written_is_said_and_loses_nothing(arguments, capsys, monkeypatch):
    pool_file()
    run("plan", "pool.csv", "s.db", "--model", "a", "--budget", 10)
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit, match=r"^1$"):
        main(arguments)
    assert capsys.readouterr().err == "Error: the output cannot be written: No space left on device\n"
    with sondage.Study.open("s.db") as study:
        assert not any(done.claimed for done in study.progress().values())
        asked = study.snapshot().asked_ids
        assert study.ask(3)[: len(asked)] == asked


@pytest.mark.parametrize("arguments", [["report", "söl.db"], ["report", "söl.db", "--json"]])
def test_output_in_an_encoding_that_lacks_a_character_is_said(arguments, capsys, monkeypatch):
    pool_file()
    run("plan", "pool.csv", "söl.db", "--model", "a", "--budget", 10)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="koi8-r"))
    with pytest.raises(SystemExit, match=r"^1$"):
        main(arguments)
    told = capsys.readouterr().err
    assert told == "Error: the output cannot be written: its encoding has no 'ö'; set PYTHONIOENCODING=utf-8\n"


def test_items_do_not_go_out_where_nothing_can_be_read(monkeypatch, capsys):
    pool_file()
    run("plan", "pool.csv", "s.db", "--model", "a", "--budget", 10)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["ask", "s.db", "3", "--who", "anna"])
    assert "Error: the output is closed: name a file with -o\n" in capsys.readouterr().err


def test_what_comes_next_can_be_copied_whatever_the_name_of_the_study():
    told = run("plan", pool_file(), "--model", "a", "--budget", 5, "--", "-x.db").stdout
    assert "Next: sondage ask ./-x.db 20 -o batch.csv" in told
    asked = run("ask", "-o", "-my batch.csv", "--who", "-anna", "--", "-x.db", 2).stderr
    assert "sondage import ./-x.db './-my batch.csv' --who -anna" in asked
    run("import", "./-x.db", "./-my batch.csv", "--who", "-anna", "--partial")
