"""Table A.1: class ratios and quality of the classifiers of figures A.1 to A.3, on their whole pools."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.cells import Cells, table
from experiments.appendix.models import digits, topics
from experiments.curves import Settings
from experiments.experiment import Experiment, main
from experiments.figures import panels
from experiments.rows import Row, chosen, number

QUALITIES = ("ratio", "accuracy", "precision", "recall", "F")
THESIS = {
    "earn": (0.510, 0.978, 0.976, 0.980, 0.978),
    "acq": (0.280, 0.974, 0.942, 0.966, 0.954),
    "crude": (0.044, 0.994, 0.972, 0.879, 0.923),
    "trade": (0.041, 0.995, 0.937, 0.940, 0.938),
    "money-fx": (0.034, 0.991, 0.872, 0.861, 0.867),
    "interest": (0.027, 0.992, 0.851, 0.843, 0.847),
    "ship": (0.020, 0.994, 0.886, 0.820, 0.850),
    "sugar": (0.016, 0.998, 0.972, 0.921, 0.946),
    "coffee": (0.015, 0.999, 1.000, 0.900, 0.947),
    "gold": (0.012, 0.998, 0.954, 0.911, 0.932),
    "0": (0.097, 0.995, 0.966, 0.978, 0.972),
    "1": (0.113, 0.978, 0.955, 0.844, 0.896),
    "2": (0.099, 0.986, 0.937, 0.918, 0.927),
    "3": (0.102, 0.980, 0.885, 0.920, 0.902),
    "4": (0.098, 0.987, 0.930, 0.937, 0.933),
    "5": (0.092, 0.980, 0.932, 0.840, 0.884),
    "6": (0.098, 0.991, 0.951, 0.962, 0.956),
    "7": (0.104, 0.978, 0.972, 0.810, 0.883),
    "8": (0.096, 0.962, 0.744, 0.926, 0.825),
    "9": (0.099, 0.977, 0.849, 0.940, 0.891),
}
"""The thesis's table: class ratio, accuracy, precision, recall, F."""


def run(cells: Cells, settings: Settings) -> Iterator[str]:
    """Compute the qualities; nothing is random."""
    for data, tasks in {"Reuters": topics(), "MNIST": digits()}.items():
        for task in tasks:
            names = {"data": data, "class": task.name, "repetitions": 1, "seed": 0}
            cells.get(names, lambda task=task: task.quality)  # type: ignore[misc]
        yield data


def draw(rows: list[Row]) -> Figure:
    """Draw our qualities against the thesis's."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = panels(len(names), width=3.4, height=3.2)
    for place, name in zip(axes, names, strict=True):
        part = chosen(rows, data=name)
        for quality in QUALITIES[1:]:
            theirs = [THESIS[row["class"]][QUALITIES.index(quality)] for row in part]
            place.plot(theirs, [number(row, quality) for row in part], "o", markersize=3.5, label=quality)
        low = min(np.nanmin([number(row, quality) for row in part]) for quality in QUALITIES[1:])
        place.plot([low, 1], [low, 1], color="0.6", linestyle=":")
        place.set(title=name, xlabel="thesis", ylabel="here")
        place.xaxis.set_major_locator(MaxNLocator(4))  # the names of more run into each other
        place.legend(frameon=False)
    return figure


def shown(rows: list[Row]) -> str:
    """Return the table, the thesis's number after each of ours."""
    lines = [
        [row["data"], row["class"]]
        + [f"{number(row, q):.3f} ({THESIS[row['class']][place]:.3f})" for place, q in enumerate(QUALITIES)]
        for row in rows
    ]
    return table(["", "class", *(f"{quality} (thesis)" for quality in QUALITIES)], lines)


EXPERIMENT = Experiment("table_a_1", ("data", "class"), QUALITIES, run, draw, shown)

if __name__ == "__main__":
    main(EXPERIMENT)
