"""docs/experiments.md has every experiment, with the table that its results make and its picture."""

import pytest

pytest.importorskip("matplotlib")

from experiments.__main__ import every
from experiments.experiment import FIGURES, PAGE, RESULTS, rewritten

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
