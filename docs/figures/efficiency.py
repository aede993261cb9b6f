"""Draw docs/figures/efficiency.svg and efficiency.png: errors relative to the thesis's method on 40 real problems.

The numbers are those of benchmarks/results/labels/summary.csv, which benchmarks/labels.py writes. Run:
``python docs/figures/efficiency.py`` (needs matplotlib).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).resolve().parent
SUMMARY = HERE.parents[1] / "benchmarks" / "results" / "labels" / "summary.csv"
BUDGETS = (100, 300, 1000)
STYLES = {"passive": ("labels drawn at random", "o", "0.55"), "default": ("default method", "D", "#1f63ad")}
LEAST = 0.02

mpl.rcParams.update({"svg.hashsalt": "sondage", "font.size": 8})


def errors() -> dict[tuple[str, int, str], float]:
    """Return the mean absolute error of every problem, budget and method."""
    with SUMMARY.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["problem"], int(row["budget"]), row["method"]): float(row["mae"]) for row in rows}


def draw(axes: Axes, found: Mapping[tuple[str, int, str], float], names: list[str], budget: int) -> None:
    """Draw one panel: a row for each problem."""
    for method, (label, marker, colour) in STYLES.items():
        ratios = [found[name, budget, method] / found[name, budget, "thesis"] for name in names]
        clipped = [max(ratio, LEAST) for ratio in ratios]
        axes.plot(clipped, range(len(names)), marker, color=colour, label=label, markersize=4)
    axes.axvline(1.0, color="#e08214", linewidth=1.5, label="method='thesis'")
    axes.set_xscale("log")
    axes.set_xlim(LEAST * 0.8, 50)
    axes.set_xticks([0.02, 0.1, 0.5, 1, 2, 10], ["≤0.02", "0.1", "0.5", "1", "2", "10"])
    axes.minorticks_off()
    axes.grid(axis="x", color="0.9")
    axes.set_title(f"{budget:,} labels", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    found = errors()
    names = list(dict.fromkeys(name for name, _, _ in found))[::-1]
    figure, panels = plt.subplots(1, len(BUDGETS), figsize=(10, 7.5), sharey=True, layout="constrained")
    for axes, budget in zip(panels, BUDGETS, strict=True):
        draw(axes, found, names, budget)
    panels[0].set_yticks(range(len(names)), names)
    panels[1].set_xlabel("mean absolute error, relative to the thesis's method")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    for ending in ("svg", "png"):
        figure.savefig(HERE / f"efficiency.{ending}", dpi=150, metadata={"Date": None} if ending == "svg" else None)


if __name__ == "__main__":
    main()
