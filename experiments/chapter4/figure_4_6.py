"""Figure 4.6: error of F-measures over eta, over the share of spam, and over ten topics, at 300 labels."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import ERROR_VALUES
from experiments.chapter4.f_measures import f_eta
from experiments.curves import Settings, study
from experiments.experiment import Experiment, main
from experiments.figures import band, legend, logarithmic, panels
from experiments.problems import SPAM_PERCENT, TOPICS, load
from experiments.rows import Row, chosen, curve_of, number

BUDGET = 300
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
ETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
METHODS = ("passive", "active", "active_err")
PANELS = {"eta": "eta", "spam": "share of spam", "topic": "share of the topic"}


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all points."""
    skewed = load("enron-time-5")
    for eta in ETAS:
        yield from study(
            cells, settings, {"panel": "eta", "x": eta, "class": "spam"}, skewed, f_eta(eta), METHODS, [BUDGET]
        )
    for percent in SPAM_PERCENT:
        problem = load(f"enron-time-{percent}")
        names = {"panel": "spam", "x": percent / 100, "class": "spam"}
        yield from study(cells, settings, names, problem, f_eta(0.5), METHODS, [BUDGET])
    topics = load("reuters")
    for code, topic in enumerate(TOPICS):
        names = {"panel": "topic", "x": round(float((topics.labels == code).mean()), 4), "class": topic}
        yield from study(cells, settings, names, topics, f_eta(0.5, topic), METHODS, [BUDGET])


def draw(rows: list[Row]) -> Figure:
    """Draw the three panels."""
    figure, axes = panels(len(PANELS))
    for place, (name, xlabel) in zip(axes, PANELS.items(), strict=True):
        for method in METHODS:
            curve = curve_of(rows, "x", panel=name, method=method)
            band(place, method, curve, linestyle="none" if name == "topic" else "-")
        place.set(xlabel=xlabel, ylabel=f"absolute error at {BUDGET} labels")
        logarithmic(place)
    axes[0].set_title("spam 5 %, F_eta")
    for place, title in zip(axes[1:], ("spam, F_0.5", "Reuters, F_0.5"), strict=True):
        place.set(title=title, xscale="log")
        place.set_xticks(SHARES, [f"{share:.0%}" for share in SHARES])
        place.xaxis.minorticks_off()
    legend(figure, axes[0])
    return figure


def errors(rows: list[Row]) -> str:
    """Return the errors of every point."""
    lines = []
    for row in chosen(rows, method="passive"):
        same = {key: row[key] for key in ("panel", "x", "class")}
        found = [number(chosen(rows, **same, method=method)[0], "error") for method in METHODS]
        lines.append([row["panel"], row["class"], row["x"], *("undefined" if e != e else f"{e:.4f}" for e in found)])
    return table(("panel", "class", "eta or share", *METHODS), lines)


EXPERIMENT = Experiment("figure_4_6", ("panel", "x", "class", "method", "budget"), ERROR_VALUES, run, draw, errors)

if __name__ == "__main__":
    main(EXPERIMENT)
