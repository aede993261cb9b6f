"""Table 5.1: label until the difference is significant, and what that does to the type I error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cells import Cell, Cells, table
from experiments.chapter5.comparing import own_comparisons
from experiments.chapter5.contests import Contest, contest, numbers
from experiments.chapter5.sequential import Stops, label_until_significant
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.rows import Row, chosen, number
from experiments.simulation import plan_of, targets_of

DOMAINS = ("abalone", "sarcos")
BUDGET = 800
FIRST = (2, 10, 30)
"""Numbers of labels from which on tests are made."""
REPORTED = 10
DESIGNS = {
    "active": ("optimal", "wald"),
    "active_inf": ("active_inf", "wald"),
    "active_0": ("active_0", "wald"),
    "active_risk": ("active_risk", "wald"),
    "passive": ("passive", "t"),
}
OWN: dict[str, dict[str, Any]] = {
    "one test at 800": {},
    "five looks": {"stop": "significant", "looks": 5},
    "any time": {"stop": "significant", "batch": 100},
}
"""The package's ways, of which the last may look as often as it likes; it does so every 100 labels."""
SHARE = 2
"""Sessions that stop take long: so many times fewer."""
DIFFER, EQUAL = "differ", "equal"
ACTIVE: dict[str, Any] = {"color": "#c0392b", "marker": "s"}
PASSIVE: dict[str, Any] = {"color": "#1f63ad", "marker": "o"}
PACKAGE: dict[str, Any] = {"color": "0.25", "marker": "D"}


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute labels, rates of significance and of false decisions, for models as they are and for equal ones."""
    for method in (*DESIGNS, *OWN):
        for domain in DOMAINS:
            for truth in (DIFFER, EQUAL):
                _line(cells, settings, {"domain": domain, "truth": truth, "method": method})
                yield f"{domain}, {truth}, {method}"


def _line(cells: Cells, settings: Settings, names: dict[str, str]) -> None:
    """Compute the numbers of one method, unless they are known."""
    own = names["method"] in OWN
    count = max(1, settings.sessions // SHARE) if own else settings.repetitions
    firsts = (0,) if own else FIRST
    wanted = [names | {"first": f, "repetitions": count, "seed": settings.seed} for f in firsts]

    def compute() -> list[Cell]:
        parts = [_stops(names, number, count, settings) for number in numbers(names["domain"])]
        return [_summary(column) for column in zip(*parts, strict=True)]

    cells.series(wanted, compute)


def _stops(names: dict[str, str], place: int, count: int, settings: Settings) -> list[tuple[Stops, float]]:
    """Return how labelling ended for one set of models, with the true difference, for each of `FIRST`."""
    models = contest(names["domain"], place)
    models = models.doubled() if names["truth"] == EQUAL else models
    first, second = models.risks if names["truth"] == DIFFER else (0.0, 0.0)
    rng, method = settings.rng(*names.values(), place), names["method"]
    if method in OWN:
        return [(_own(models, OWN[method], max(2, count // len(numbers(models.domain))), rng), first - second)]
    design, test = DESIGNS[method]
    plan = plan_of(models.pool, models.measure, design, kind="compare")
    (target,) = targets_of(models.pool, models.labels, plan)
    most = min(BUDGET, len(models) // 2)
    found = label_until_significant(plan.sizes, target, most, count, rng, test=test, first=FIRST)
    return [(stops, first - second) for stops in found]


def _own(models: Contest, options: dict[str, Any], sessions: int, rng: np.random.Generator) -> Stops:
    """Return how the package's own comparisons ended."""
    found = own_comparisons(models, BUDGET, sessions, rng, **options)
    return Stops(
        np.array([float(c.n_labels) for c in found]),
        np.array([c.pvalue <= 0.05 for c in found]),
        np.array([c.difference for c in found]),
    )


def _summary(sets: tuple[tuple[Stops, float], ...]) -> Cell:
    """Return means over repetitions and sets of models; of equal models no decision is false."""
    labels = np.mean([stops.labels.mean() for stops, _ in sets])
    rates = np.array([stops.significant.mean() for stops, _ in sets])
    sizes = np.array([len(stops.labels) for stops, _ in sets])
    wrong = [np.mean(s.significant & (np.sign(s.differences) == -np.sign(truth))) for s, truth in sets]
    return {
        "labels": float(labels),
        "significant": float(rates.mean()),
        "significant_se": float(np.sqrt(np.sum(rates * (1 - rates) / sizes)) / len(rates)),
        "false": float(np.mean(wrong)),
    }


def draw(rows: list[Row]) -> Figure:
    """Draw each method's type I error, with what it needs and finds where the models differ."""
    names = list(dict.fromkeys(row["domain"] for row in rows))
    figure, axes = panels(len(names), width=4.6, height=2.8)
    for place, name in zip(axes, names, strict=True):
        methods = list(dict.fromkeys(row["method"] for row in chosen(rows, domain=name)))
        for line, method in enumerate(methods):
            true, false = (_reported(rows, name, truth, method) for truth in (DIFFER, EQUAL))
            look = PASSIVE if method == "passive" else PACKAGE if method in OWN else ACTIVE
            rate, error = number(false, "significant"), number(false, "significant_se")
            place.errorbar(rate, line, xerr=error, markersize=4, capsize=2, linestyle="none", clip_on=False, **look)
            found = f"{number(true, 'labels'):.0f} labels, {100 * number(true, 'significant'):.0f} % significant"
            place.annotate(found, (rate, line), fontsize=7, xytext=(8, -2.5), textcoords="offset points")
        place.axvline(0.05, color="0.6", linestyle=":")
        place.set(title=name, xlabel="type I error (equal models)")
        place.set(xlim=(0, 1), ylim=(len(methods) - 0.5, -0.5))
        place.set_yticks(range(len(methods)), [f"package, {m}" if m in OWN else m for m in methods])
    return figure


def _reported(rows: list[Row], domain: str, truth: str, method: str, first: int = REPORTED) -> Row:
    return chosen(rows, domain=domain, truth=truth, method=method, first=0 if method in OWN else first)[0]


def shown(rows: list[Row]) -> str:
    """Return the table, with the type I error beside it."""
    lines = []
    for name in dict.fromkeys(row["domain"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in chosen(rows, domain=name)):
            true = _reported(rows, name, DIFFER, method)
            line = [name, f"package, {method}" if method in OWN else method, f"{number(true, 'labels'):.0f}"]
            line += [f"{100 * number(true, key):.1f} %" for key in ("significant", "false")]
            firsts = (REPORTED,) if method in OWN else FIRST
            errors = [number(_reported(rows, name, EQUAL, method, first), "significant") for first in firsts]
            texts = [f"{100 * error:.1f} %" for error in errors]
            lines.append(line + (["", texts[0], ""] if method in OWN else texts))
    heads = ["", "method", "labels", "significant", "false decisions"]
    return table([*heads, *(f"type I error, tests from {first} labels" for first in FIRST)], lines)


EXPERIMENT = Experiment(
    "table_5_1",
    ("domain", "truth", "method", "first"),
    ("labels", "significant", "significant_se", "false"),
    run,
    draw,
    shown,
)

if __name__ == "__main__":
    main(EXPERIMENT)
