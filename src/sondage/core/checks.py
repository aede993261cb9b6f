"""Refusals of bad arguments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.errors import InputError, MeasureError

NEAREST = 1e-12
"""To 0 or 1 that a level may be."""
LARGEST_NUMBER = 1e35
"""Of a prediction, a label, a grade or a cost of errors, either way: squares of squared errors are squared. What stands
for a missing number in tables of single precision is larger."""
BOUNDED = f"finite, at most {LARGEST_NUMBER:g} either way"
"""What such a number must be."""
MOST_LISTED = 20
"""Names that a message lists."""
TARGETS = ("pool", "population")
"""What a result may be of: this finite pool, or what it was drawn from."""
SIGNS = {"two-sided": 0, "less": -1, "greater": 1}
"""What is to be shown about a difference, and the sign that this has; 0 where it may have either."""


def exactly(number: float) -> str:
    """Return the shortest text that reads back as this number.

    Examples
    --------
    >>> exactly(2.0), exactly(1 / 3), exactly(1e-6)
    ('2', '0.3333333333333333', '1e-06')
    """
    return repr(float(number)).removesuffix(".0")


def require(condition: bool, message: str) -> None:
    """Raise `InputError` unless the condition holds."""
    if not condition:
        raise InputError(message)


@contextmanager
def refusals_of(place: str) -> Iterator[None]:
    """Let refusals begin with the name of the file that they are of, unless they do; those of a measure are of none.

    Examples
    --------
    >>> with refusals_of("pool.csv"):
    ...     require(False, "no column 'id'")
    Traceback (most recent call last):
    sondage.errors.InputError: pool.csv: no column 'id'
    """
    try:
        yield
    except MeasureError:
        raise
    except InputError as error:
        if str(error).startswith(place):
            raise
        raise error.at(place) from None


def require_known(
    what: str,
    name: Any,
    known: Iterable[str],
    error: type[InputError] = InputError,
    *,
    also: Iterable[str] = (),
) -> None:
    """Raise an error that tells the names there are, and also others, unless this is one of the known."""
    names = tuple(known)
    if not isinstance(name, str) or name not in names:
        raise error(f"no {what} {name!r}; there are {', '.join((*names, *also))}")


def require_column(name: str, columns: Iterable[Any], why: str = "") -> None:
    """Raise `InputError` unless a table has this column; `why` follows its name."""
    names = list(columns)
    require(name in names, f"no column {name!r}{why}; {those_there(name, names)}{other_case(name, names)}")


def those_there(name: Any, names: Iterable[Any], what: str = "") -> str:
    """Return which names there are; of more than twenty the three that are spelled most like the one wanted.

    Parameters
    ----------
    name : Any
        What is wanted, and is none of them.
    names : iterable
        All that there are.
    what : str
        What they are names of, in the plural.

    Examples
    --------
    >>> those_there("c", ["a", "b"]), those_there("dog", ["cat", "Dog"], "classes")
    ("there are ['a', 'b']", "classes are ['cat', 'Dog']")
    >>> those_there("m 25", [f"m{n}" for n in range(300)])
    "the nearest of 300 are ['m25', 'm295', 'm285']"
    """
    known = list(names)
    if len(known) <= MOST_LISTED:
        return f"{what or 'there'} are {known}"
    spelled = {str(one).casefold(): one for one in known}
    near = get_close_matches(str(name).casefold(), spelled, cutoff=0.0)
    of = f"{len(known)} {what}".rstrip()
    return f"the nearest of {of} are {[spelled[one] for one in near]}"


def some_of(names: Iterable[Any]) -> str:
    """Return names as Python lists them; of many the first, and how many others there are.

    Examples
    --------
    >>> some_of(["a", "b"]), some_of(range(300))[-26:]
    ("['a', 'b']", '17, 18, 19 and 280 others]')
    """
    return f"[{first_of(map(repr, names))}]"


def first_of(words: Iterable[str], most: int = MOST_LISTED) -> str:
    """Return words in a row; of many the first, and how many others there are, unless that is a single one.

    Examples
    --------
    >>> first_of("abc", 2), first_of("abcd", 2)
    ('a, b, c', 'a, b and 2 others')
    """
    known = list(words)
    others = len(known) - most
    return ", ".join(known) if others <= 1 else f"{', '.join(known[:most])} and {others} others"


def other_case(name: str, names: Iterable[Any]) -> str:
    """Return what to add where one of the names differs from the one that is wanted in case or spaces only.

    Examples
    --------
    >>> other_case("id", ["ID", "text"])
    ": write 'id' for 'ID'"
    """
    near = next((one for one in names if isinstance(one, str) and one.strip().casefold() == name.casefold()), None)
    return "" if near is None else f": write {name!r} for {near!r}"


def is_number(value: Any) -> bool:
    """Return whether a value is one finite number of Python's or NumPy's, and one that a float can be."""
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return plain and math.isfinite(value)
    except OverflowError:  # of a whole number that is too large
        return False


def is_whole(value: Any) -> bool:
    """Return whether a value is one whole number, of whatever type."""
    return is_number(value) and value == int(value)


def require_number(name: str, value: Any) -> None:
    """Raise `InputError` unless an argument is a finite number."""
    require(is_number(value), f"{name}={value!r} must be a finite number")


def require_whole(name: str, value: Any) -> None:
    """Raise `InputError` unless an argument is a whole number, and of a type of such."""
    require(isinstance(value, Integral), f"{name}={value!r} must be a whole number")


def require_count(name: str, value: Any) -> None:
    """Raise `InputError` unless an argument is a whole number from 1."""
    require(isinstance(value, Integral) and int(value) > 0, f"{name}={value!r} must be a whole number from 1")


def require_level(name: str, value: Any) -> None:
    """Raise `InputError` unless a level is in (0, 1), and its ends can be told from 0 and 1."""
    require(is_number(value) and 0 < value < 1, f"{name}={value!r} must be between 0 and 1")
    near = min(value, 1 - value) < NEAREST * (1 - 1e-3)  # rounding makes 1 - 1e-12 a little nearer
    require(not near, f"{name}={value!r} is nearer to 0 or 1 than {NEAREST:g}: nothing tells so little")


def require_alternative(alternative: Any) -> None:
    """Raise `InputError` unless this is an alternative of a test."""
    allowed = isinstance(alternative, str) and alternative in SIGNS
    require(allowed, f"alternative {alternative!r} is none of {', '.join(map(repr, SIGNS))}")


def require_target(target: Any) -> None:
    """Raise `InputError` unless this is what a result may be of."""
    allowed = isinstance(target, str) and target in TARGETS
    require(allowed, f"target {target!r} is none of {', '.join(map(repr, TARGETS))}")


def require_generator(generator: Any) -> None:
    """Raise `InputError` unless this is a generator of random numbers, or None."""
    allowed = generator is None or isinstance(generator, np.random.Generator)
    level = isinstance(generator, float) and 0.0 < generator < 1.0
    hint = f"; a level of confidence is given to the result's interval({generator:g})" if level else ""
    require(allowed, f"generator={generator!r} is none of NumPy's: give numpy.random.default_rng(...){hint}")


def listed(name: str, values: Any) -> list[Any]:
    """Return what an argument lists; neither one text nor a mapping nor a set is a list of its parts."""
    require(is_listed(values), f"{name} is {brief(values)}; it must be a list")
    return list(values)


def is_listed(values: Any) -> bool:
    """Return whether these are several values, one after the other: a text, a mapping, a set and one value are not."""
    apart = isinstance(values, Iterable) and not isinstance(values, str | Mapping | set | frozenset)
    return apart and getattr(values, "ndim", 1) > 0


def require_error(std_error: float) -> None:
    """Raise `InputError` unless a standard error is 0 or more."""
    require(std_error >= 0, f"std_error {std_error} is not 0 or more")


def require_weights(weights: NDArray[np.float64]) -> None:
    """Raise `InputError` unless all weights are above 0 and finite."""
    wrong = ~(np.isfinite(weights) & (weights > 0))
    require(not wrong.any(), f"weight {weights[wrong][:1]} is not above 0 and finite")
