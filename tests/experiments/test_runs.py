"""Every experiment runs from end to end on made-up data, and continues where it stopped."""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

from experiments.__main__ import every
from experiments.curves import Settings
from experiments.experiment import main, perform

EXPERIMENTS = {experiment.name: experiment for experiment in every()}
FEW = Settings(repetitions=4, sessions=2)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs(name, small_world, tmp_path):
    experiment = EXPERIMENTS[name]
    rows = perform(experiment, FEW, tmp_path)
    assert len(rows) > 1
    assert (tmp_path / f"{name}.png").stat().st_size > 1000
    assert experiment.table(rows).startswith(("|", "What", "Squared", "Error"))


def test_a_stopped_run_continues_and_other_settings_start_anew(small_world, tmp_path):
    experiment = EXPERIMENTS["figure_4_7"]
    cells = experiment.cells(tmp_path)
    parts = experiment.run(cells, FEW)
    next(parts)  # one curve is written down, then the run stops
    kept = experiment.rows(tmp_path)
    assert {row["method"] for row in kept} == {"passive"}
    kept[0]["error"] = "0.125"
    path = tmp_path / "figure_4_7.csv"
    path.write_text("\n".join([",".join(kept[0]), *(",".join(row.values()) for row in kept)]) + "\n")
    rows = perform(experiment, FEW, tmp_path)
    assert rows[0]["error"] == "0.125"
    other = perform(experiment, Settings(repetitions=5, sessions=2), tmp_path)
    assert other[0]["error"] != "0.125"
    assert {row["repetitions"] for row in other} == {"5", "2"}


def test_same_seed_same_numbers(small_world, tmp_path):
    experiment = EXPERIMENTS["figure_4_9"]
    for name in ("a", "b"):
        assert list(experiment.run(experiment.cells(tmp_path / name), FEW))
    assert experiment.rows(tmp_path / "a") == experiment.rows(tmp_path / "b")


def test_tuning_takes_what_predicts_best(rng):
    from experiments.problems import tuned_words

    rows = rng.normal(size=(300, 30))
    target = (rows[:, 0] + 0.1 * rng.normal(size=300) > 0).astype(int)
    assert tuned_words(rows, target).C > tuned_words(rows, rng.permutation(target)).C


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--repetitions", "1"], "2 or more"), (["no_such_figure"], "invalid choice"), ([], "set SONDAGE_DATA")],
)
def test_what_cannot_be_run_is_said_in_a_line(arguments, message, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SONDAGE_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("sys.argv", ["experiments", *arguments])
    with pytest.raises(SystemExit, match="2"):
        main(*EXPERIMENTS.values(), by_name=True)
    assert message in capsys.readouterr().err
