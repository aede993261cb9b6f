"""Figure 6.3: how often the worse of two rankers is preferred, over the cost of judging."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import wrong_sign
from experiments.chapter6.estimating import KEYS, METHODS, THESIS, VALUES, beside, run_cases, titled
from experiments.chapter6.search import Case
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import draw_curves
from experiments.rows import Row, savings

CASES = (
    Case("forest / forest classes", ("forest", "forest classes"), ("forest", "forest classes")),
    Case("ordered logit / Ranking SVM", ("ordered logit", "Ranking SVM"), ("ordered logit",)),
    Case("ordered logit / forest", ("ordered logit", "forest"), ("ordered logit", "forest")),
    Case("sixth / median system", ("sixth system", "median system"), ("forest",), ("mq2007",)),
)


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_cases(cells, settings, CASES, wrong_sign)


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each pair and measure."""
    figure, axes = draw_curves(titled(rows), "ranking", METHODS, xlabel="cost of judging", columns=4)
    for place in axes:
        place.set(yscale="linear", ylabel="model selection error", ylim=(0, None))
        place.set_title(place.get_title(), fontsize=7.5)
    return figure


def claims(rows: list[Row]) -> str:
    """Return what cost brings the reliability of passive with the most, and errors where there are sessions."""
    whole = titled(rows)
    return f"{table(*savings(whole, 'ranking', THESIS, unit='cost'))}\n\n{beside(whole, 3)}"


EXPERIMENT = Experiment("figure_6_3", KEYS, VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
