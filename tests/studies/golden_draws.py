"""Make golden_ids.json: the ids that each draw takes from fixed pools. Run it only to change a draw on purpose.

The pools are made of arithmetic alone, so that no generator's version can change them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sondage import Classifier, Pool, Regressor
from sondage.core.measures import parse_measure
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

FILE = Path(__file__).with_name("golden_ids.json")
N, BUDGET, SEED = 400, 15, 7

METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "thesis": {"method": "thesis"},
    "passive": {"method": "passive"},
    "successive": {"draw": "successive"},
    "strata": {"design": "strata"},
    "neyman": {"design": "neyman"},
}


def golden_ratio(step: int) -> np.ndarray:
    """Return numbers spread over (0, 1), with nine digits."""
    return np.round((np.arange(1, N + 1) * (0.6180339887 * step)) % 1 * 0.998 + 0.001, 9)


def pools() -> dict[str, tuple[Pool, tuple[str, ...], str]]:
    """Return pools with the models and the measure that are asked for."""
    p, q, w = golden_ratio(1), golden_ratio(5), 1 + golden_ratio(2)
    texts = [f"item {i:03d}" for i in range(N)]
    models = {"a": Classifier(p), "b": Classifier(np.round(0.7 * p + 0.3 * q, 9))}
    numbers = {"a": Regressor(4 * p, 0.1 + q), "b": Regressor(4 * p + w - 1.5, w)}
    return {
        "numbers": (Pool(p), ("model",), "error_rate"),
        "texts": (Pool(p, ids=texts, weights=w), ("model",), "f1"),
        "far numbers": (Pool(p, ids=np.arange(N) * 10**15 + 3), ("model",), "recall"),
        "groups": (Pool(p, ids=texts, groups=np.arange(N) // 2), ("model",), "precision"),
        "comparison": (Pool(models=models, weights=w), ("a", "b"), "error_rate"),
        "regressors": (Pool(models=numbers), ("a", "b"), "mse"),
        "costs": (Pool(p, costs=np.round(1 + 3 * q, 3)), ("model",), "error_rate"),
    }


def label(name: Any, models: tuple[str, ...], measure: str) -> float:
    """Return the label of an id, for draws that follow the labels."""
    number = int("".join(c for c in str(name) if c.isdigit()) or 0)
    return number % 7 / 2 if measure == "mse" else int(number % 3 == 0)


def draw(pool: Pool, models: tuple[str, ...], measure: str, parts: dict[str, Any]) -> list[Any]:
    """Return the ids asked for, one at a time."""
    question = Question("compare" if len(models) > 1 else "evaluate", models, (parse_measure(measure),))
    budget = BUDGET if pool.unit_costs is None else 2 * BUDGET
    session = Session.start(pool, question, choose_method(**parts), budget=budget, seed=SEED)
    while ids := session.ask(1, pool):
        session.tell(ids, [label(name, models, measure) for name in ids])
    return [session.ids[position] for position in session.asked]


def golden() -> dict[str, dict[str, list[Any]]]:
    """Return pool -> draw -> ids."""
    found: dict[str, dict[str, list[Any]]] = {}
    for name, (pool, models, measure) in pools().items():
        methods = {key: parts for key, parts in METHODS.items() if name != "costs" or "design" not in parts}
        found[name] = {key: draw(pool, models, measure, parts) for key, parts in methods.items()}
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(golden(), indent=1) + "\n")
