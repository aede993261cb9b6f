"""Figure 5.3 (paper, figures 1 and 2): the best of 13 models; average p-values of two, over the number of labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import average
from experiments.chapter5.comparing import duel
from experiments.chapter5.contests import contest, numbers
from experiments.chapter5.selection import KEYS, STYLES, VALUES, at_least, needed, run_domains
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import band, panels
from experiments.rows import Row, chosen, curve_of

SEVERAL = "paraphrases"
BUDGETS = (25, 50, 100, 200, 400, 600, 800)
TESTS = {"active": ("optimal", "wald"), "passive": ("passive", "t")}
SHOWN = (50, 100, 200, 400, 800)
"""Budgets of the table."""
P_VALUES = "p-values, "
DOMAINS = ("sarcos", "abalone")


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute the errors of the many models, and the p-values of the two."""
    for domain in DOMAINS:
        for method, (design, test) in TESTS.items():
            names = {"domain": P_VALUES + domain, "method": method}
            wanted = [
                names | {"budget": b, "repetitions": settings.repetitions, "seed": settings.seed} for b in BUDGETS
            ]
            cells.series(wanted, partial(_pvalues, settings, domain, design, test))
            yield f"{P_VALUES}{domain}, {method}"
    yield from run_domains(cells, settings, (SEVERAL,))


def _pvalues(settings: Settings, domain: str, design: str, test: str) -> list[Cell]:
    """Return the mean p-value of a domain's pairs, and its standard error, for each budget."""
    parts = []
    for number in numbers(domain):
        rng = settings.rng("p", domain, number, design)
        parts.append(duel(contest(domain, number), design, BUDGETS, settings.repetitions, rng, test).pvalues)
    found = map(np.ndarray.tolist, average(parts))
    return [{"error": mean, "error_se": se} for mean, se in zip(*found, strict=True)]


def draw(rows: list[Row]) -> Figure:
    """Draw the errors, and the p-values of each domain."""
    names = [SEVERAL, *(P_VALUES + domain for domain in DOMAINS)]
    figure, axes = panels(len(names))
    for place, name in zip(axes, names, strict=True):
        for method in dict.fromkeys(row["method"] for row in chosen(rows, domain=name)):
            band(place, method, at_least(rows, name, method), **STYLES.get(method, {}))
        label = "average p-value" if name.startswith(P_VALUES) else "model selection error"
        place.set(title=name.removeprefix(P_VALUES), xlabel="labels", ylabel=label)
        place.set_ylim(bottom=0)
        place.legend(frameon=False, fontsize=6)
    return figure


def shown(rows: list[Row]) -> str:
    """Return errors and p-values at some budgets."""
    lines = []
    for name in (SEVERAL, *(P_VALUES + domain for domain in DOMAINS)):
        methods = dict.fromkeys(row["method"] for row in chosen(rows, domain=name))
        curves = {method: at_least(rows, name, method)[:2] for method in methods}
        for method in methods:
            at = dict(zip(*curve_of(rows, domain=name, method=method)[:2], strict=True))
            saved = needed(curves, method, SHOWN[-1]) if name == SEVERAL else ""
            lines.append([name, method, *(f"{at[b]:.3f}" if b in at else "" for b in SHOWN), saved])
    return table(["", "method", *(f"{b} labels" for b in SHOWN), f"as passive with {SHOWN[-1]}"], lines)


EXPERIMENT = Experiment("figure_5_3", KEYS, VALUES, run, draw, shown)

if __name__ == "__main__":
    main(EXPERIMENT)
