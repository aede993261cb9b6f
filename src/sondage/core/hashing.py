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

from sondage.core.blocks import row_blocks
from sondage.core.predictions import Floats

__all__ = ["PRIMES", "coefficients", "hash_ids", "uniforms"]

PRIMES = (2147483647, 2147483629)
"""The largest two below 2^31: what ids are reduced by, each polynomial its own way."""
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
    number = _polynomial(ids if small else ids % PRIMES[0], first)
    number += low
    _reduce(number)
    number *= _P
    number += low
    uniform = number.astype(np.float64)
    uniform += 0.5
    uniform /= float(_P * _P)
    return uniform


def _polynomial(ids: NDArray[np.int64], powers: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return the cubic modulo p by Horner's rule, for ids < 2^31: one fold a step keeps products below 2^64."""
    x = ids.view(np.uint64)
    value = x * np.uint64(powers[0])
    for power in powers[1:-1]:
        value += np.uint64(power)
        _fold(value)
        value *= x
    value += np.uint64(powers[-1])
    _fold(value)
    _fold(value)
    _reduce(value)
    return value


def _fold(x: NDArray[np.uint64]) -> None:
    """Make x smaller without changing it modulo the Mersenne prime: at most p plus its bits above the 31st."""
    high = x >> np.uint64(_BITS)
    x &= np.uint64(_P)
    x += high


def _reduce(x: NDArray[np.uint64]) -> None:
    """Make x smaller than p, for x < 2 p: below p the difference wraps around to a large number."""
    np.minimum(x, x - np.uint64(_P), out=x)


def hash_ids(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Return int64 row keys: non-negative integers as they are, else the first 15 hex digits of md5 of the text.

    Examples
    --------
    >>> hash_ids(np.array([3, 5])).tolist(), hash_ids(np.array(["a"])).tolist()
    ([3, 5], [57446577476672362])
    """
    if ids.dtype.kind in "iu" and (len(ids) == 0 or (ids.min() >= 0 and ids.max() <= np.iinfo(np.int64).max)):
        return ids.astype(np.int64, copy=False)
    keys = np.empty(len(ids), dtype=np.int64)
    for part in row_blocks(len(ids)):
        digests = b"".join([md5(str(name).encode(), usedforsecurity=False).digest() for name in ids[part].tolist()])
        keys[part] = np.frombuffer(digests, dtype=">u8")[::2] >> np.uint64(4)
    return keys
