"""A labelling function that notes what it is asked."""

from collections.abc import Callable
from typing import Any

import numpy as np


def noting(labels: Any) -> tuple[Callable[[Any], list[Any]], list[Any]]:
    """Return a function from row numbers, as ids, to their labels, and the list in which it notes them."""
    asked: list[Any] = []

    def answer(ids: Any) -> list[Any]:
        asked.extend(ids)
        found: list[Any] = labels[np.array(ids)].tolist()
        return found

    return answer, asked
