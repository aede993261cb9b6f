"""The estimate label by label as a drawing: coordinates for the template, no style of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.reports.text import quantity
from sondage.studies.prospects import Prospect

__all__ = ["Chart", "draw_chart"]

WIDTH, HEIGHT = 640.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 28.0
GAP = 8.0
"""Between the numbers on the left and the axis."""
A_LETTER = 12.0
"""How wide a digit is on a telephone, where letters are largest."""


@dataclass(frozen=True)
class Chart:
    """Points as SVG takes them, and ticks as (place, text); numbers on the left end at `beside`."""

    width: float
    height: float
    band: str
    line: str
    ahead: list[str]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    left: float
    beside: float
    right: float
    bottom: float


def draw_chart(seen: Prospect, measure: str) -> Chart | None:
    """Return the drawing; None while there is too little to draw."""
    finite = np.isfinite(seen.value) & np.isfinite(seen.low) & np.isfinite(seen.high)
    labels, value, low, high = (part[finite] for part in (seen.labels, seen.value, seen.low, seen.high))
    if len(labels) < 2:
        return None
    bottom, top = float(low.min()), float(high.max())
    room = (top - bottom) * 0.04 or abs(top) * 0.1 or 1.0
    bottom, top = bottom - room, top + room
    heights = _ticks(bottom, top)
    numbers = [quantity(number, measure, top - bottom) for number in heights]
    left = max(LEFT, GAP + A_LETTER * max(map(len, numbers), default=0))

    def x(count: float) -> float:
        return left + (WIDTH - left - RIGHT) * count / max(seen.end, 1)

    def y(number: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (top - number) / (top - bottom)

    def points(counts: list[float], values: list[float]) -> str:
        return " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(counts, values, strict=True))

    counts = labels.tolist()
    last, half = float(value[-1]), seen.width / 2
    ahead: list[str] = []
    if np.isfinite(half) and seen.end > counts[-1]:
        ends = (float(high[-1]), min(last + half, top)), (float(low[-1]), max(last - half, bottom))
        ahead = [points([counts[-1], seen.end], [*pair]) for pair in ends]
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        band=points([*counts, *reversed(counts)], [*high.tolist(), *reversed(low.tolist())]),
        line=points(counts, value.tolist()),
        ahead=ahead,
        x_ticks=[(round(x(count), 1), f"{count:,.0f}") for count in _ticks(0.0, float(seen.end), 1.0)],
        y_ticks=[(round(y(height), 1), number) for height, number in zip(heights, numbers, strict=True)],
        left=left,
        beside=left - GAP,
        right=WIDTH - RIGHT,
        bottom=HEIGHT - BOTTOM,
    )


def _ticks(low: float, high: float, least: float = 0.0) -> list[float]:
    """Return round numbers from low to high, five at most."""
    rough = max((high - low) / 4, least)
    unit = 10.0 ** np.floor(np.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * (1 - 1e-9))
    return [step * k for k in range(int(np.ceil(low / step)), int(np.floor(high / step + 1e-9)) + 1)]
