"""docs/experiments.md has every experiment, with the table that its results make and its picture."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot as plt

from experiments.__main__ import every
from experiments.experiment import FIGURES, PAGE, RESULTS, rewritten
from experiments.figures import band

EXPERIMENTS = {experiment.name: experiment for experiment in every()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_table_is_what_the_results_say(name):
    page, experiment = PAGE.read_text(), EXPERIMENTS[name]
    assert f"<!-- table: {name} -->" in page
    assert rewritten(page, experiment, experiment.rows()) == page


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_picture_is_shown(name):
    assert (FIGURES / f"{name}.png").exists()
    assert f"figures/experiments/{name}.png" in PAGE.read_text()


def test_results_are_of_experiments():
    assert sorted(path.stem for path in RESULTS.glob("*.csv")) == sorted(EXPERIMENTS)


def test_what_is_exact_but_for_rounding_leaves_the_picture():
    _, axes = plt.subplots()
    band(axes, "active", ([100, 200, 400], [0.02, 0.01, 4e-15], [0.001, 0.001, 0.0]))
    assert list(axes.containers[0].lines[0].get_xdata()) == [100, 200]
    plt.close()
