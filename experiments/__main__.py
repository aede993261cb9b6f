"""All experiments, one after the other: ``python -m experiments [name ...]``."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import experiments
from experiments.experiment import Experiment, main

__all__ = ["every"]


def every() -> Iterator[Experiment]:
    """Yield the experiments of all chapters, in the order of their numbers."""
    names = [
        module.name
        for module in pkgutil.walk_packages(experiments.__path__, "experiments.")
        if re.search(r"\.(figure|table)_\w+$", module.name)
    ]
    for name in sorted(names, key=_place):
        yield importlib.import_module(name).EXPERIMENT


def _place(name: str) -> tuple[str, list[int], str]:
    """Return what sorts figure_4_10 after figure_4_9, within its chapter."""
    _, chapter, file = name.split(".")
    return chapter, [int(digits) for digits in re.findall(r"\d+", file)], file


if __name__ == "__main__":
    main(*every(), by_name=True)
