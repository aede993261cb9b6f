"""Figure 6.4: error of estimated differences: an index brought up to date, and more and more training data."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from benchmarks.cells import Cells, table
from experiments.accuracy import deviation
from experiments.chapter6.estimating import KEYS, THESIS, VALUES, run_cases, titled
from experiments.chapter6.search import SHARES, Case
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import band, legend, logarithmic, panels
from experiments.rows import Row, chosen, curve_of, savings

UPDATE = (Case("index update", ("forest", "outdated forest"), ("forest",)),)
AT = 100
"""Cost at which the amounts of training data are compared."""

TIMES = {f"trained on {share / SHARES[0]:.1f} times as much": share for share in SHARES[1:]}


def _more(name: str) -> Case:
    least, most = (f"forest {share:g}" if share < 1 else "forest" for share in (SHARES[0], TIMES[name]))
    return Case(name, (least, most), (least, most), ("mq2007",))


TWICE = list(TIMES)[-1]


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute all curves."""
    yield from run_cases(cells, settings, (_more(TWICE),), deviation, methods=THESIS)
    rest = [_more(name) for name in TIMES if name != TWICE]
    yield from run_cases(cells, settings, rest, deviation, methods=THESIS, budgets=(AT,))
    yield from run_cases(cells, settings, UPDATE, deviation, methods=THESIS)


def _whole(rows: list[Row]) -> list[Row]:
    """Return the rows of the curves over cost."""
    names = [case.name for case in UPDATE] + [TWICE]
    return titled([row for name in names for row in chosen(rows, case=name)])


def _amounts(rows: list[Row]) -> list[Row]:
    """Return the rows of the comparison of amounts, the amount in a column of its own."""
    most = {row["method"]: row["budget"] for row in rows if row["case"] != TWICE and row["case"] in TIMES}
    found = [
        row | {"times": f"{TIMES[row['case']] / SHARES[0]:.1f}"}
        for row in rows
        if row["case"] in TIMES and row["budget"] == most[row["method"]]
    ]
    return sorted(found, key=lambda row: float(row["times"]))


def draw(rows: list[Row]) -> Figure:
    """Draw a panel for each difference and measure, and those over the amount of training data."""
    whole, amounts = _whole(rows), _amounts(rows)
    names, measures = (list(dict.fromkeys(row[key] for row in whole)) for key in ("ranking", "measure"))
    figure, axes = panels(len(names) + len(measures), 4)
    for place, name in zip(axes, names, strict=False):
        for method in THESIS:
            band(place, method, curve_of(whole, ranking=name, method=method))
        place.set(xlabel="cost of judging", ylabel="absolute error")
        logarithmic(place)
        place.set_title(name, fontsize=8)
    for place, measure in zip(axes[len(names) :], measures, strict=True):
        for method in THESIS:
            band(place, method, curve_of(amounts, "times", measure=measure, method=method))
        cost = amounts[0]["budget"]
        place.set(title=f"mq2007, cost {cost}, {measure.upper()}", xlabel="training data, times the first's")
        place.set(ylabel="absolute error")
    legend(figure, axes[0])
    return figure


def claims(rows: list[Row]) -> str:
    """Return what cost brings the accuracy of passive with the most, and errors by amount of training data."""
    amounts = _amounts(rows)
    lines = []
    for measure in dict.fromkeys(row["measure"] for row in amounts):
        for method in THESIS:
            times, errors, _ = curve_of(amounts, "times", measure=measure, method=method)
            lines.append([measure.upper(), method, *(f"{error:.4f}" for error in errors)])
    heads = ["error by training data", "method", *(f"{t:.1f} times" for t in times)]
    return f"{table(*savings(_whole(rows), 'ranking', THESIS, unit='cost'))}\n\n{table(heads, lines)}"


EXPERIMENT = Experiment("figure_6_4", KEYS, VALUES, run, draw, claims)

if __name__ == "__main__":
    main(EXPERIMENT)
