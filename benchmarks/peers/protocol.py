"""How a peer's interpreter is asked (JSON on standard input) and answers (one line for each run)."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator

from problems import Problem

__all__ = ["Jobs", "Rows", "serve"]

Jobs = Iterable[tuple[int, int]]
Rows = Iterator[tuple[int, int, float, float, float, int]]


def serve(run: Callable[[Problem, str, Jobs], Rows]) -> None:
    """Answer one request: run a method on all its (seed, budget)."""
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    jobs = [(seed, budget) for seed, budget in request["jobs"]]
    problem = importlib.import_module(request["module"]).load(request["problem"])
    for row in run(problem, request["method"], jobs):
        print("row", *row, flush=True)
