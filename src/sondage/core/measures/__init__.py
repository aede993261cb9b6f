"""The measures, by object and by name.

``parse_measure("f_measure:beta=2")`` is ``FMeasure(beta=2)``; parameters follow the colon, separated by commas, and
``"ndcg@10"`` is ``NDCG(k=10)``.
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from sondage.core.measures.agreement import MCC, BalancedAccuracy, Kappa, MacroF, MicroF
from sondage.core.measures.calibration_error import ECE
from sondage.core.measures.classification import (
    Accuracy,
    ErrorRate,
    ExpectedCost,
    FMeasure,
    Precision,
    Recall,
    Specificity,
)
from sondage.core.measures.curves import AUC, AveragePrecision
from sondage.core.measures.functionals import Functional, Measure, Task, settled
from sondage.core.measures.own import ConfusionMeasure, Loss
from sondage.core.measures.probability import Brier, LogLoss
from sondage.core.measures.ranking import DCG, ERR, NDCG, RBP
from sondage.core.measures.regression import MAE, MSE, R2, RMSE, Bias, MeanOutcome
from sondage.errors import MeasureError

__all__ = [
    "AUC",
    "DCG",
    "ECE",
    "ERR",
    "MAE",
    "MCC",
    "MSE",
    "NAMES",
    "NDCG",
    "R2",
    "RBP",
    "RMSE",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "Bias",
    "Brier",
    "ConfusionMeasure",
    "ErrorRate",
    "ExpectedCost",
    "FMeasure",
    "Functional",
    "Kappa",
    "LogLoss",
    "Loss",
    "MacroF",
    "MeanOutcome",
    "Measure",
    "MicroF",
    "Precision",
    "Recall",
    "Specificity",
    "Task",
    "parse_measure",
    "settled",
]

NAMES: dict[str, type[Any]] = {
    "error_rate": ErrorRate,
    "accuracy": Accuracy,
    "expected_cost": ExpectedCost,
    "precision": Precision,
    "recall": Recall,
    "f1": FMeasure,
    "f_measure": FMeasure,
    "specificity": Specificity,
    "balanced_accuracy": BalancedAccuracy,
    "macro_f": MacroF,
    "micro_f": MicroF,
    "mcc": MCC,
    "kappa": Kappa,
    "auc": AUC,
    "average_precision": AveragePrecision,
    "ece": ECE,
    "log_loss": LogLoss,
    "brier": Brier,
    "mse": MSE,
    "rmse": RMSE,
    "mae": MAE,
    "bias": Bias,
    "r2": R2,
    "mean_outcome": MeanOutcome,
    "dcg": DCG,
    "ndcg": NDCG,
    "err": ERR,
    "rbp": RBP,
}
"""Each a dataclass, whose fields are the parameters of its name."""


def parse_measure(measure: str | Measure, positive: Any = None) -> Measure:
    """Return the measure that a name or an object means.

    Parameters
    ----------
    measure : str or Measure
        A name, with parameters after a colon (``"f_measure:beta=2"``, ``"recall:positive=spam"``,
        ``"expected_cost:costs=0/1/5/0"``, a row a prediction, ``"ece:bins=10,spacing=width"``) and a cut-off after an @
        (``"dcg@10"``), or an object, returned as it is.
    positive : optional
        The positive class, for the measures that have one.

    Raises
    ------
    MeasureError
        If the name or a parameter is not known.

    Examples
    --------
    >>> parse_measure("f_measure:beta=2")
    FMeasure(beta=2.0, eta=None, positive=None)
    """
    if isinstance(measure, list | tuple):
        raise MeasureError(f"measure {measure!r} is a list: give one measure here")
    if not isinstance(measure, str):
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise MeasureError(f"measure {measure!r} is neither a name nor a measure; there are {', '.join(NAMES)}")
        return measure
    head, colon, tail = measure.partition(":")
    name, at, depth = map(str.strip, head.partition("@"))
    if name not in NAMES:
        raise MeasureError(f"no measure {name!r}; there are {', '.join(NAMES)}{_nearest(name)}")
    names = [one.name for one in fields(NAMES[name]) if not one.metadata.get("of_pool")]
    if at and "k" not in names:
        ranked = ", ".join(one for one, kind in NAMES.items() if "k" in kind.__dataclass_fields__)
        raise MeasureError(f"measure {measure!r}: {name} has no cut-off @{depth}; those of rankings have one: {ranked}")
    parts = [f"k={depth}"] * bool(at) + (tail.split(",") if colon else [])
    told = [_option(part, names, measure) for part in parts]
    options = dict(told)
    if len(options) < len(told):
        raise MeasureError(f"measure {measure!r} has a parameter twice")
    if positive is not None and "positive" in names:
        options.setdefault("positive", positive)
    if "costs" in names and "costs" not in options:
        raise MeasureError("measure 'expected_cost' needs its table: expected_cost:costs=0/1/5/0, a row a prediction")
    found: Measure = NAMES[name](**options)
    return found


def _option(part: str, names: list[str], measure: str) -> tuple[str, Any]:
    """Return (parameter, value) of one ``key=value``, the parameter one of these names."""
    key, equals, text = map(str.strip, part.partition("="))
    if not equals:
        raise MeasureError(f"measure {measure!r}: {part!r} is not parameter=value")
    if key not in names:
        there = f"there are {names}" if names else "it has none"
        raise MeasureError(f"measure {measure!r}: no parameter {key!r}; {there}")
    if key in ("positive", "spacing", "gain"):
        return key, text
    try:
        numbers = [float(number) for number in (text.split("/") if key == "costs" else [text])]
    except ValueError:
        raise MeasureError(f"measure {measure!r}: {key}={text!r} is not a number") from None
    return key, _square(numbers) if key == "costs" else numbers[0]


def _square(numbers: list[float]) -> list[list[float]]:
    side = round(len(numbers) ** 0.5)
    if side * side != len(numbers):
        raise MeasureError(f"costs: {len(numbers)} numbers do not fill a square table")
    return [numbers[start : start + side] for start in range(0, len(numbers), side)]


def _nearest(name: str) -> str:
    """Return what to add where a name is nearly one of ours, as those of scikit-learn are."""
    plain = name.casefold().removeprefix("neg_").removesuffix("_score")
    near = get_close_matches(plain, NAMES, n=1)
    return f"; perhaps {near[0]!r}" if near else ""
