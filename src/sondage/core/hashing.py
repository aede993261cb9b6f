r"""Uniform numbers for rows: a seeded hash made of + * % only, so that every engine gives the same bits.

A row's number is :math:`h = (((v_1 + v_2) \bmod p) \, p + v_2 + 1/2) / p^2` with two cubic polynomials
:math:`v_j = ((a_{j3} x_j + a_{j2}) x_j + a_{j1}) x_j + a_{j0} \bmod p`, :math:`p = 2^{31} - 1`, whose coefficients
come from sha256 of (seed, stage, arrival), and with :math:`x_1 = id \bmod (2^{31} - 1)`,
:math:`x_2 = id \bmod 2147483629`: two reductions, since ids that collide in one would give equal numbers, and the
sum, since they would otherwise give numbers that are equal in their leading digits.
"""

from __future__ import annotations

from hashlib import md5, sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sondage.core.predictions import Floats

__all__ = ["PRIMES", "coefficients", "hash_ids", "uniforms"]

PRIMES = (2147483647, 2147483629)
_P = PRIMES[0]
_BITS = 31


def coefficients(seed: int, stage: int, arrival: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the two polynomials' coefficients, highest power first.

    Examples
    --------
    >>> len(coefficients(0, 0)[0])
    4
    """
    digest = b"".join(sha256(f"sondage:{seed}:{stage}:{arrival}:{part}".encode()).digest() for part in range(2))
    numbers = [int.from_bytes(digest[8 * i : 8 * i + 8], "big") % _P for i in range(8)]
    return tuple(numbers[:4]), tuple(numbers[4:])


def uniforms(ids: NDArray[np.int64], seed: int, stage: int, arrival: int = 0) -> Floats:
    """Return each row's number in (0, 1], shape (n,).

    Parameters
    ----------
    ids : ndarray of int64, shape (n,)
        Row keys, not negative (see `hash_ids`).
    seed, stage, arrival : int
        What the number is for; a stage never reuses another stage's numbers.

    Examples
    --------
    >>> uniforms(np.array([0, 1, 2]), seed=0, stage=0).round(4).tolist()
    [0.5109, 0.4158, 0.7032]
    """
    first, second = coefficients(seed, stage, arrival)
    small = len(ids) > 0 and int(ids.max()) < PRIMES[1]
    low = _polynomial(ids if small else ids % PRIMES[1], second)
    high = _reduce(_polynomial(ids if small else _fold(ids), first) + low)
    high *= _P
    high += low
    return (high.astype(np.float64) + 0.5) / float(_P * _P)


def _polynomial(x: NDArray[np.int64], powers: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the polynomial modulo p by Horner's rule; partial results stay below 2^32, products below 2^63."""
    value = x * powers[0]
    for power in powers[1:-1]:
        value = _fold(value + power)
        value *= x
    return _reduce(_fold(value + powers[-1]))


def _fold(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number congruent to x modulo the Mersenne prime, at most 2^31."""
    y = (x & _P) + (x >> _BITS)
    return (y & _P) + (y >> _BITS)


def _reduce(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return x modulo p for x <= 2 p."""
    return np.where(x >= _P, x - _P, x)


def hash_ids(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Return int64 row keys: non-negative integers as they are, else the first 15 hex digits of md5 of the text.

    Examples
    --------
    >>> hash_ids(np.array([3, 5])).tolist(), hash_ids(np.array(["a"])).tolist()
    ([3, 5], [57446577476672362])
    """
    if ids.dtype.kind in "iu" and (len(ids) == 0 or (ids.min() >= 0 and ids.max() <= np.iinfo(np.int64).max)):
        return ids.astype(np.int64, copy=False)
    return np.array([int(md5(str(name).encode()).hexdigest()[:15], 16) for name in ids.tolist()], dtype=np.int64)
