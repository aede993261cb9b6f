"""A pool holds the arrays that it was given, without a copy, and cannot write to them."""

import numpy as np
import pytest

from sondage import Classifier, Outcome, Pool, Ranking, Regressor

N = 6
P = np.linspace(0.1, 0.9, N)
TABLE = np.column_stack([P, 1 - P])
NUMBERS = np.arange(1.0, N + 1)
WHOLE = np.arange(N)
TOLD = {"ids": WHOLE, "costs": NUMBERS, "groups": WHOLE % 3, "features": TABLE, "fields": {"shown": NUMBERS}}


def held(found):
    """Yield all arrays that something holds."""
    if isinstance(found, np.ndarray):
        yield found
    elif isinstance(found, dict | tuple | list):
        for part in found.values() if isinstance(found, dict) else found:
            yield from held(part)
    elif hasattr(found, "__dict__"):
        yield from held(vars(found))


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"models": {"a": Classifier(TABLE, (P > 0.5).astype(np.uint8))}, "judge": TABLE} | TOLD, 8),
        ({"models": {"a": Classifier(P)}, "judge": {"b": P}}, 2),
        ({"models": {"a": Regressor(NUMBERS, P)}} | TOLD, 7),
        ({"models": {"a": Outcome(P)}} | TOLD, 6),
        (
            {"models": {"a": Ranking(ranks=NUMBERS)}, "queries": WHOLE // 3, "documents": WHOLE, "grades": TABLE},
            1,
        ),
    ],
)
def test_what_was_given_is_held_and_cannot_be_written_to(options, count):
    given = list(held(options))
    mine = [array for array in held(vars(Pool(**options))) if any(np.shares_memory(array, one) for one in given)]
    assert len(mine) >= count
    assert not any(array.flags.writeable for array in mine)
    assert all(array.flags.writeable for array in given)
