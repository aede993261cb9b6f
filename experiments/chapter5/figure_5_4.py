"""Figure 5.4 (paper, figures 2 and 3): how often two models are said to differ, when they do and when they do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, Cells, marked, table
from experiments.accuracy import average
from experiments.chapter5.comparing import duel, own_comparisons
from experiments.chapter5.contests import Contest, contest, numbers
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import band, legend, panels
from experiments.rows import Row, chosen, curve_of, number
from experiments.simulation import Floats

DOMAINS = ("abalone", "sarcos")
BUDGETS = (25, 50, 100, 200, 400, 600, 800)
ALPHAS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
TESTS = {"active": ("optimal", "wald"), "passive": ("passive", "t")}
METHODS = (*TESTS, "package default")
TRUE, FALSE = "the models differ", "equal models"


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute the rates of rejection for all levels and budgets; the package's own sessions at the end."""
    for method in METHODS:
        for domain in DOMAINS:
            for truth in (TRUE, FALSE):
                _rates(cells, settings, {"domain": domain, "truth": truth, "method": method})
                yield f"{domain}, {truth}, {method}"


def _rates(cells: Cells, settings: Settings, names: dict[str, str]) -> None:
    """Compute the rates of one method, unless they are known."""
    domain, truth, method = names.values()
    own = method not in TESTS
    count, budgets = (settings.sessions, BUDGETS[-1:]) if own else (settings.repetitions, BUDGETS)
    settled = {"repetitions": count, "seed": settings.seed}
    wanted = [names | {"budget": b, "alpha": a} | settled for b in budgets for a in ALPHAS]

    def compute() -> list[Cell]:
        parts = []
        for place in numbers(domain):
            models = contest(domain, place)
            models = models.doubled() if truth == FALSE else models
            found = _pvalues(models, method, budgets, count, settings.rng(*names.values(), place))
            parts.append((found[:, :, None] <= np.array(ALPHAS)).reshape(len(found), -1).astype(float))
        return [{"rate": mean, "rate_se": se} for mean, se in zip(*average(parts), strict=True)]

    cells.series(wanted, compute)


def _pvalues(models: Contest, method: str, budgets: tuple[int, ...], count: int, rng: np.random.Generator) -> Floats:
    """Return p-values, shape (R, B); the package's sessions are shared out among the sets of models."""
    if method in TESTS:
        design, test = TESTS[method]
        return duel(models, design, budgets, count, rng, test).pvalues
    found = own_comparisons(models, budgets[-1], max(2, count // len(numbers(models.domain))), rng)
    return np.array([[comparison.pvalue] for comparison in found])


def draw(rows: list[Row]) -> Figure:
    """Draw true positives and false positives over the level at 800 labels, and false positives over labels."""
    names = list(dict.fromkeys(row["domain"] for row in rows))
    figure, axes = panels(3 * len(names))
    most = max(int(row["budget"]) for row in rows)
    for row, name in enumerate(names):
        places = axes[3 * row : 3 * row + 3]
        for method in METHODS:
            for place, truth in zip(places[:2], (TRUE, FALSE), strict=True):
                band(
                    place, method, curve_of(rows, "alpha", "rate", domain=name, truth=truth, method=method, budget=most)
                )
            if method in TESTS:
                kept = {"domain": name, "truth": FALSE, "method": method, "alpha": 0.05}
                band(places[2], method, curve_of(rows, "budget", "rate", **kept))
        for place, label in zip(places[:2], ("true positives", "false positives"), strict=True):
            place.plot([ALPHAS[0], ALPHAS[-1]], [ALPHAS[0], ALPHAS[-1]], color="0.6", linestyle=":")
            place.set(xscale="log", title=f"{name}, {most} labels", xlabel="level of the test", ylabel=label)
        places[1].set_yscale("log")
        places[2].axhline(0.05, color="0.6", linestyle=":")
        places[2].set(title=f"{name}, level 0.05", xlabel="labels", ylabel="false positives")
        places[2].set_ylim(bottom=0)
    legend(figure, axes[0])
    return figure


def shown(rows: list[Row]) -> str:
    """Return the rates at some levels and budgets; bold where false positives are above the level beyond chance."""
    lines = []
    most = str(max(int(row["budget"]) for row in rows))
    at_most = [(most, "0.001"), (most, "0.05"), (most, "0.1")]
    fewer = [("25", "0.05"), ("100", "0.05"), ("400", "0.05")]
    for name in dict.fromkeys(row["domain"] for row in rows):
        for method in METHODS:
            part = chosen(rows, domain=name, method=method)
            true = {(row["budget"], row["alpha"]): f"{number(row, 'rate'):.3f}" for row in chosen(part, truth=TRUE)}
            false = {
                (row["budget"], row["alpha"]): marked(number(row, "rate"), _runs(row), float(row["alpha"]), "greater")
                for row in chosen(part, truth=FALSE)
            }
            cells = [*(true[at] for at in at_most), *(false.get(at, "") for at in at_most + fewer)]
            lines.append([name, method, *cells])
    heads = [head for kind in ("true", "false") for head in (f"{kind}, {most} labels, level .001", "at .05", "at .1")]
    return table(["", "method", *heads, "25 labels, .05", "100, .05", "400, .05"], lines)


def _runs(row: Row) -> int:
    """Return how many repetitions a row has, over all sets of models."""
    return int(row["repetitions"]) * (1 if row["method"] not in TESTS else len(numbers(row["domain"])))


EXPERIMENT = Experiment(
    "figure_5_4", ("domain", "truth", "method", "budget", "alpha"), ("rate", "rate_se"), run, draw, shown
)

if __name__ == "__main__":
    main(EXPERIMENT)
