"""The leading digits of the rows' numbers, as `sondage.core.hashing` makes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.core.hashing import PRIMES, coefficients
from sondage.pools.sql.text import Select, number

__all__ = ["leading", "leading_in_step"]

_SPLIT = 2.0**16
_INVERSE = number(np.nextafter(1.0 / PRIMES[0], 1.0))


def leading(select: Select, seed: int, stage: int, *, small: bool) -> str:
    """Add the columns of the leading digits of a row's number; return the expression of a whole number below p.

    With it h is between it and it plus 1, over p: `sondage.core.hashing.uniforms` adds further digits. Products stay
    below 2^63. Keys below both primes need no reduction, and then the sum of both cubics is one.
    """
    first, second = coefficients(seed, stage)
    if small:
        return f"({_cubic('key', _added(first, second))} % {PRIMES[0]})"
    one, other = select.let([f"key % {prime}" for prime in PRIMES])
    return f"(({_cubic(one, first)} % {PRIMES[0]} + {_cubic(other, second)} % {PRIMES[0]}) % {PRIMES[0]})"


def leading_in_step(select: Select, seed: int, stage: int) -> str:
    """Return `leading` of keys below both primes as a double, by doubles, which hold all of it exactly.

    Some engines look at each product of whole numbers whether it is too large, and multiply doubles in step. The key
    is split in two, so that products and sums stay below 2^49. Of larger keys it is a number that says nothing.
    """
    powers = _added(*coefficients(seed, stage))
    x = f"CAST((key & {PRIMES[0]}) AS DOUBLE)"
    above = f"floor({x} * {number(1 / _SPLIT)})"
    high, low = select.let([above, f"{x} - {above} * {number(_SPLIT)}"])
    value, above = number(powers[0]), f"{number(powers[0] * int(_SPLIT) % PRIMES[0])} * {high}"
    for power in powers[1:-1]:
        value = select.one(_reduced(select.one(f"{above} + ({value} * {low} + {number(power)})")))
        above = f"{_reduced(select.one(f'{value} * {high}'))} * {number(_SPLIT)}"
    return _reduced(select.one(f"{above} + ({value} * {low} + {number(powers[-1])})"))


def _added(first: Sequence[int], second: Sequence[int]) -> list[int]:
    return [(a + b) % PRIMES[0] for a, b in zip(first, second, strict=True)]


def _cubic(x: str, powers: Sequence[int]) -> str:
    value = f"{powers[0]} * {x}"
    for power in powers[1:-1]:
        value = f"(({value} + {power}) % {PRIMES[0]}) * {x}"
    return f"({value} + {powers[-1]})"


def _reduced(value: str) -> str:
    """Return a whole number below 2^49 modulo p, exactly: the inverse is a little too large, by less than 2^-83."""
    return f"({value} - floor({value} * {_INVERSE}) * {number(PRIMES[0])})"
