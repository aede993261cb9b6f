"""Figure 5.2 (paper, figure 1): how often the worse model is chosen, of two and of five."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.chapter5.selection import KEYS, STYLES, VALUES, at_least, needed, run_domains
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import band, panels
from experiments.rows import Row, chosen

DOMAINS = ("spam", "digits", "abalone", "sarcos", "abalone-degrees", "sarcos-degrees")
TITLES = {"abalone-degrees": "abalone, five degrees", "sarcos-degrees": "sarcos, five degrees"}
SHOWN, REFERENCES = (50, 200, 800), (200, 800)
"""Budgets of the table, and those of the passive draw that others are measured by."""


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_domains(cells, settings, DOMAINS)


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each domain."""
    names = list(dict.fromkeys(row["domain"] for row in rows))
    figure, axes = panels(len(names))
    for place, name in zip(axes, names, strict=True):
        for method in methods(rows, name):
            band(place, method, at_least(rows, name, method), **STYLES.get(method, {}))
        place.set(title=TITLES.get(name, name), xscale="log", xlabel="labels", ylabel="model selection error")
        place.set_ylim(bottom=0)
        place.legend(frameon=False, fontsize=6)
    return figure


def methods(rows: list[Row], name: str) -> list[str]:
    """Return the methods of a domain in their order."""
    return list(dict.fromkeys(row["method"] for row in chosen(rows, domain=name)))


def savings(rows: list[Row]) -> str:
    """Return errors at some budgets, and with how many labels the methods are as good as passive with 200 and 800."""
    lines = []
    for name in dict.fromkeys(row["domain"] for row in rows):
        curves = {method: at_least(rows, name, method)[:2] for method in methods(rows, name)}
        for method, (budgets, errors) in curves.items():
            at = dict(zip(budgets, errors, strict=True))
            line = [name if method == "passive" else "", method]
            line += [f"{at[b]:.3f}" if b in at else "" for b in SHOWN]
            lines.append(line + [needed(curves, method, level) for level in REFERENCES])
    heads = [*(f"error at {b}" for b in SHOWN), *(f"as passive with {b}" for b in REFERENCES)]
    return table(["models", "method", *heads], lines)


EXPERIMENT = Experiment("figure_5_2", KEYS, VALUES, run, draw, savings)

if __name__ == "__main__":
    main(EXPERIMENT)
