"""Advice in words and as data."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from sondage.pools.missing import finite
from sondage.reports.text import named_measure, positive_lines
from sondage.studies.advise import Advice, Expected

__all__ = ["advice_data", "describe_advice"]


def describe_advice(advice: Advice) -> list[str]:
    """Return the sentence, then what each method can be expected to achieve at each budget, then budgets needed."""
    of = " minus that of ".join(map(repr, advice.models))
    value = f"the {named_measure(advice.measure)} of {of} is {advice.value:.4g}"
    lines = [advice.sentence, f"If {advice.condition}, {value}. Expected:"]
    lines.append(f"{'budget':>9}  {'method':<8}  {'standard error':>14}  same error at random")
    lines += [_row(one) for one in advice.expected]
    for method, budget in advice.needed.items():
        amount = "more than the whole pool" if math.isinf(budget) else f"about {budget:,.0f}"
        lines.append(f"needed for {advice.aim} with method {method}: {amount}")
    return lines + positive_lines([advice])


def _row(one: Expected) -> str:
    same = "more than the pool" if math.isinf(one.passive_budget) else f"{one.passive_budget:,.0f}"
    power = "" if math.isnan(one.power) else f"  power {one.power:.2f}"
    return f"{one.budget:>9,.0f}  {one.method:<8}  {one.std_error:>14.4g}  {same}{power}"


def advice_data(advice: Advice) -> dict[str, Any]:
    """Return advice as data for JSON; numbers that are not finite are null."""
    data: dict[str, Any] = finite(
        {
            "measure": advice.measure,
            "positive": advice.positive,
            "believed_value": advice.value,
            "sentence": advice.sentence,
            "expected": [asdict(one) for one in advice.expected],
            "needed": advice.needed,
        }
    )
    return data
