"""Pools for the tests of engines, and the ids that a session asks for from one."""

from typing import Any

import numpy as np
import pandas as pd

from sondage.core.measures import parse_measure
from sondage.studies.method import Question, choose_method
from sondage.studies.session import Session

N = 1500
HOSTILE = "sp'am \\\" {x}; SELECT `1`"


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def shares(k: int, others: int = 0) -> np.ndarray:
    rng = random()
    for _ in range(others):
        rng.dirichlet([0.4] * k, N)
    return rng.dirichlet([0.4] * k, N)


def ids(kind: str = "int") -> Any:
    return np.arange(N) * 7 + 3 if kind == "int" else [f"ä-{i}'" for i in range(N)]


def classes(names: Any, model: str = "", others: int = 0) -> dict[str, Any]:
    p = shares(len(names), others)
    return {f"{model}p_{name}": p[:, at] for at, name in enumerate(names)}


def graded(system: str, grades: str, others: int = 0) -> dict[str, Any]:
    p = shares(len(grades), others)
    return {f"{system}.judge.p_{grade}": p[:, at] for at, grade in enumerate(grades)}


def frames() -> dict[str, pd.DataFrame]:
    """Return tables by what they hold."""
    rng = random()
    p = rng.beta(0.5, 1.5, N)
    judge = np.clip(p + rng.normal(0, 0.1, N), 0, 1)
    two = classes("abcd", "A.") | classes("abcd", "B \"b'.", 1)
    hard = np.where(p > 0.5, HOSTILE, "select")
    numbers = {f"{m}.{c}": rng.gamma(2.0, size=N) for m in "AB" for c in ("prediction", "variance")}
    sure = {name: np.zeros(N) if name.endswith("variance") else column for name, column in numbers.items()}
    priced = {"weight": 1 + rng.random(N), "cost": 1 + rng.random(N)}
    votes, judged = rng.binomial(10, p) / 10, rng.binomial(5, judge) / 5
    shared = np.stack([rng.multinomial(10, row) for row in shares(4)]) / 10
    tables: dict[str, dict[str, Any]] = {
        "two classes": {"id": ids(), "p_0": 1 - p, "p_1": p, "shown": [f"t{i}" for i in range(N)]},
        "weights and costs": {"id": ids(), "p_1": p, "weight": 1 + rng.random(N), "cost": 1 + rng.random(N)},
        "weights": {"id": ids(), "p_1": p, "weight": 1 + rng.random(N)},
        "four classes": {"id": ids("text")} | classes("abcd"),
        "two models": {"id": ids()} | two,
        "hard": {"id": ids("text"), "prediction": hard},
        "judged": {"id": ids(), "prediction": hard, f"judge.p_{HOSTILE}": judge, "judge.p_select": 1 - judge},
        "votes": {"id": ids(), "p_1": votes, "judge": judged},
        "votes of four": {"id": ids()} | {f"p_{name}": shared[:, at] for at, name in enumerate("abcd")},
        "voted outcomes": {"id": ids(), "A.judge": votes, "B.judge": judged},
        "features": {"id": ids(), "p_1": p, "feature.é": rng.normal(size=N), "feature.b": rng.normal(size=N)},
        "numbers": {"id": ids()} | numbers,
        "numbers alone": {"id": ids()} | {name: numbers[name] for name in ("A.prediction", "B.prediction")},
        "a number alone": {"id": ids(), "prediction": numbers["A.prediction"]},
        "numbers that are sure": {"id": ids()} | sure,
        "shared": {"id": ids(), "p_1": p, "group": rng.integers(0, 900, N)},
        "shared text": {"id": ids("text"), "group": [f"g'{i}" for i in rng.integers(0, 900, N)]} | classes("abc"),
        "shared numbers": {"id": ids(), "group": rng.integers(0, 900, N)} | priced | numbers,
        "outcomes": {"id": ids(), "A.judge": p, "B.judge": judge},
        "graded": {"id": ids()} | graded("A", "5124") | graded("B", "123", 1),
        "graded by votes": {"id": ids()} | {f"A.judge.p_{g}": shared[:, g] for g in range(4)} | {"B.judge": judged},
        "graded, with features": {"id": ids(), "feature.x": rng.normal(size=N)}
        | graded("A", "4102")
        | graded("B", "10", 1),
        "many": {"id": ids()} | {f"m{j}.p_1": np.clip(p + rng.normal(0, 0.1 * j, N), 0, 1) for j in range(4)},
        "many hard": {"id": ids()} | {f"m{j}.prediction": (rng.random(N) < p).astype(int) for j in range(3)},
        "twenty": {"id": ids()} | {f"m{j}.p_1": np.clip(p + rng.normal(0, 0.02 * j, N), 0, 1) for j in range(20)},
        "eight that name classes": {"id": ids()} | {f"m{j}.prediction": rng.choice(list("abcd"), N) for j in range(8)},
        "five of five classes": {"id": ids()},
    }
    for j in range(5):
        tables["five of five classes"] |= classes("abcde", f"m{j}.", j)
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


def label(pool: Any, name: Any) -> Any:
    """Return the label of an id, for draws that follow the labels."""
    number = int("".join(c for c in str(name) if c.isdigit()))
    if pool.task.kind == "regression":
        return number % 10 / 3
    if pool.task.kind == "outcomes":
        low, high = pool.task.grades[:2]
        return {model: high if (number + at) % 3 == 0 else low for at, model in enumerate(pool.models)}
    return pool.task.classes[number % len(pool.task.classes)]


def asked(pool: Any, measure: Any = "error_rate", budget: float = 60, **parts: Any) -> tuple[list[Any], Session]:
    """Return the ids in the order of asking, and the session."""
    names = parts.pop("models", pool.models)
    kind = {1: "evaluate", 2: "compare"}.get(len(names), "select")
    question = Question(kind, tuple(names), (parse_measure(measure),))
    session = Session.start(pool, question, choose_method(**parts), budget=budget, seed=3)
    while found := session.ask(15, pool):
        session.tell(found, [label(pool, name) for name in found])
    return [session.ids[position] for position in session.asked], session
