"""Estimation of precision, F and recall of each class against the rest: what figures A.1 to A.3 and table A.1 share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.cells import Cell, Cells, table
from experiments.accuracy import ERROR_VALUES, summary
from experiments.curves import Settings
from experiments.experiment import Experiment
from experiments.figures import band, legend, logarithmic, panels
from experiments.problems import Problem
from experiments.rows import Row, chosen, curve_of, labels_for
from experiments.simulation import Floats, plan_of, simulate, targets_of
from sondage import Pool
from sondage.core.comparisons import Contrast
from sondage.core.measures import parse_measure

__all__ = ["MEASURES", "OneClass", "of_class", "of_classes"]

KEYS = ("class", "measure", "method", "budget")
MEASURES = {"recall": "recall", "F": "f1", "precision": "precision"}
METHODS = ("passive", "active", "active_err")
BUDGETS = (50, 100, 200, 300, 400, 600, 800)


@dataclass(frozen=True, eq=False)
class OneClass:
    """A class against the rest, as a problem of two classes.

    Attributes
    ----------
    name : str
        Of the class.
    pool : Pool
        The classifier's probability of the class, and whether it predicts it.
    labels : ndarray of int, shape (N,)
        1 for the class.
    """

    name: str
    pool: Pool
    labels: NDArray[np.int64]

    @property
    def predictions(self) -> NDArray[np.int64]:
        """1 where the class is predicted."""
        return np.asarray(self.pool.items.models[0].predictions, dtype=np.int64)  # type: ignore[union-attr]

    @property
    def quality(self) -> dict[str, float]:
        """Class ratio, accuracy, precision, recall and F on the whole pool; precision and F are NaN if undefined."""
        f, y = self.predictions, self.labels
        both = float(np.sum(f * y))
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "ratio": float(np.mean(y)),
                "accuracy": float(np.mean(f == y)),
                "precision": float(np.float64(both) / np.sum(f)),
                "recall": float(np.float64(both) / np.sum(y)),
                "F": float(np.float64(2 * both) / (np.sum(f) + np.sum(y))),
            }


def of_class(problem: Problem, code: int, name: str) -> OneClass:
    """Return one class of a problem of several against the rest."""
    pool = Pool(problem.probabilities[:, code], predictions=(problem.arrays["predictions"] == code).astype(int))
    return OneClass(name, pool, (problem.labels == code).astype(np.int64))


def of_classes(name: str, tasks: Callable[[], Sequence[OneClass]]) -> Experiment:
    """Return the experiment of this name with these classes, which are made when it is run."""

    def run(cells: Cells, settings: Settings) -> Iterator[str]:
        yield from run_classes(cells, settings, tasks())

    return Experiment(name, KEYS, ERROR_VALUES, run, draw_classes, savings_of_classes)


def run_classes(cells: Cells, settings: Settings, tasks: Sequence[OneClass]) -> Iterator[str]:
    """Compute the errors of all measures, methods and budgets for these classes; one sample serves all that it can."""
    for task in tasks:
        for method in METHODS:
            groups = [(name,) for name in MEASURES] if method == "active" else [tuple(MEASURES)]
            for measures in groups:
                wanted = [
                    {"class": task.name, "measure": measure, "method": method, "budget": budget}
                    | {"repetitions": settings.repetitions, "seed": settings.seed}
                    for measure in measures
                    for budget in BUDGETS
                ]
                cells.series(wanted, partial(_summaries, settings, task, method, measures))
        yield task.name


def _summaries(settings: Settings, task: OneClass, method: str, measures: tuple[str, ...]) -> list[Cell]:
    """Return the errors of these measures, each by all budgets."""
    rng = settings.rng("one against rest", task.name, method, *measures)
    found = _estimates(task, method, measures, settings.repetitions, rng)
    return [
        summary(found[:, column, place], task.quality[measure])
        for place, measure in enumerate(measures)
        for column in range(len(BUDGETS))
    ]


def _estimates(
    task: OneClass, method: str, measures: Sequence[str], repetitions: int, rng: np.random.Generator
) -> Floats:
    """Return estimates of these measures from the same samples, shape (R, B, len(measures))."""
    design = {"passive": "passive", "active": "optimal", "active_err": "active_err"}[method]
    plan = plan_of(task.pool, MEASURES[measures[0]], design)
    contrasts = [Contrast(parse_measure(MEASURES[name]).ready(task.pool.task), ((0, 1.0),)) for name in measures]
    targets = targets_of(task.pool, task.labels, plan, contrasts)
    short = [b for b in BUDGETS if b < np.count_nonzero(plan.sizes)]  # beyond, all that matters is labelled
    values = np.empty((repetitions, len(BUDGETS), len(measures)))
    values[:] = [task.quality[name] for name in measures]
    if short:
        values[:, : len(short)] = simulate(plan.sizes, targets, short, repetitions, rng).values
    return values


def draw_classes(rows: list[Row]) -> Figure:
    """Draw a row of panels for each class, a column for each measure."""
    names = list(dict.fromkeys(row["class"] for row in rows))
    figure, axes = panels(len(MEASURES) * len(names), len(MEASURES), width=2.6, height=1.7)
    for row, name in enumerate(names):
        for place, measure in zip(axes[row * len(MEASURES) :], MEASURES, strict=False):
            for method in METHODS:
                budgets, errors, spread = curve_of(rows, **{"class": name, "measure": measure, "method": method})
                seen = np.isfinite(errors)
                band(place, method, tuple(np.asarray(part)[seen].tolist() for part in (budgets, errors, spread)))
            if not any(float(row["error"]) > 0 for row in chosen(rows, **{"class": name, "measure": measure})):
                place.text(0.5, 0.5, "every estimate is exact", ha="center", transform=place.transAxes)
                place.set(title=f"{name}: {measure}", xticks=[], yticks=[])
                continue
            place.set(title=f"{name}: {measure}", xlabel="labels", ylabel="absolute error")
            logarithmic(place)
    legend(figure, axes[0])
    return figure


def savings_of_classes(rows: list[Row]) -> str:
    """Return errors at 200 and 800 labels, and with how many labels active is as good as passive with 800."""
    lines = []
    for name in dict.fromkeys(row["class"] for row in rows):
        for measure in MEASURES:
            part = [row for row in rows if row["class"] == name and row["measure"] == measure]
            errors = {m: dict(zip(*curve_of(chosen(part, method=m))[:2], strict=True)) for m in METHODS}
            line = [name if measure == "recall" else "", measure]
            line += [_error(errors[method][budget]) for budget in (200, 800) for method in METHODS]
            lines.append([*line, *(_needed(errors[m], errors["passive"][800]) for m in METHODS[1:])])
    heads = [f"{method}, {budget}" for budget in (200, 800) for method in METHODS]
    return table(["class", "measure", *heads, *(f"{m} as passive with 800" for m in METHODS[1:])], lines)


def _error(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.4f}"


def _needed(errors: dict[float, float], level: float) -> str:
    """Return how many labels bring the error to a level, of the budgets at which all estimates are defined."""
    seen = [(budget, error) for budget, error in errors.items() if np.isfinite(error)]
    if not seen or np.isnan(level):
        return ""
    labels = labels_for([budget for budget, _ in seen], [max(error, 1e-12) for _, error in seen], max(level, 1e-12))
    if np.isnan(labels):
        return "more"
    return f"{'at most ' if labels == seen[0][0] else ''}{labels:.0f}"
