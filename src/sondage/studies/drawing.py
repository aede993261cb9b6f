"""How a stage's items are drawn, by name, and how the labelled part of them expands to the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sondage.core.draws import inclusion, poisson_rates, successive_rates
from sondage.core.predictions import Floats
from sondage.core.samples import Expansion, bin_sums, from_counts, from_inclusion
from sondage.core.strata import Strata, neyman_allocation
from sondage.core.urns import Urn
from sondage.errors import warn

__all__ = ["DRAWS", "HEEDLESS", "Draw", "Drawing", "Drawn", "KeyOrder", "Stratified", "WithReplacement"]

HEEDLESS = "heedless_of_weights"
"""The setting of a draw in which units of unequal weight were as likely: no size tells what it left undrawn."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn from.

    Attributes
    ----------
    urn : Urn
        Every unit with its size.
    seed, stage : int
        Of the hash.
    strata : Strata, optional
        Where the draw has them.
    target : float, optional
        The part of the budget that the rates are made for, where a longer head is drawn in reserve.
    """

    urn: Urn
    seed: int
    stage: int
    strata: Strata | None = None
    target: float | None = None


@dataclass(frozen=True, eq=False)
class Drawn:
    """Units drawn, in the order in which they are asked for.

    Attributes
    ----------
    units : ndarray of int, shape (n,)
        Units of the pool.
    keys, rates, sizes : ndarray of float, shape (n,)
        Exponential keys and rates of the draw; sizes as shares of the pool's total.
    tau : float
        First key that was not drawn; infinite if nothing more could be.
    settings : mapping
        What the draw must remember, plain data: the rates' factor, the support, whether all sizes are equal, after
        how many units the next stage is due, ...
    """

    units: NDArray[np.int64]
    keys: Floats
    rates: Floats
    sizes: Floats
    tau: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """Which stratum each unit was drawn from, shape (n,), of a stratified draw."""
        return np.asarray(self.settings["strata"], dtype=np.int64)[: len(self)]

    @property
    def due(self) -> int | None:
        """After how many units the next stage is planned; None if this is the last."""
        return self.settings.get("due")

    def exhausted(self, count: int) -> bool:
        """Return whether there are no more than so many units; draws with replacement tell by weights."""
        return count >= int(self.settings.get("support", count))

    @property
    def planned(self) -> int:
        """How many units the stage asks for; what is drawn beyond is a reserve."""
        return len(self) if self.due is None else self.due

    def key_after(self, count: int) -> float:
        """Return the first key that is not among so many units."""
        return self.tau if count == len(self) else float(self.keys[count])

    def until(self, due: int | None) -> Drawn:
        """Return the draw with the next stage due after so many units, or never."""
        kept = {name: value for name, value in self.settings.items() if name != "due"}
        return replace(self, settings=kept if due is None else kept | {"due": due})

    def head(self, count: int) -> Drawn:
        """Return the first units only, with nothing due after them."""
        if count == len(self):
            return self.until(None)
        columns = {name: getattr(self, name)[:count] for name in ("units", "keys", "rates", "sizes")}
        return replace(self.until(None), tau=self.key_after(count), **columns)


class Draw(Protocol):
    """One way of drawing."""

    def take(self, drawing: Drawing, budget: float, settings: Mapping[str, Any] | None = None) -> Drawn:
        """Draw for a budget of labels, or of cost; with the settings of an earlier draw, a longer head of it."""
        ...

    def expansion(self, drawn: Drawn, asked: NDArray[np.int64]) -> Expansion:
        """Return the expansion of the units at these positions, if these are all that were asked for."""
        ...


@dataclass(frozen=True)
class KeyOrder:
    """Without replacement, in the order of the keys.

    Attributes
    ----------
    rates : callable
        From sizes, shape (n,), and the factor that suits the budget to the keys' rates.
    """

    rates: Callable[[Floats, float], Floats]

    def take(self, drawing: Drawing, budget: float, settings: Mapping[str, Any] | None = None) -> Drawn:
        urn, target = drawing.urn, drawing.target or budget
        urn.prepare(drawing.seed, drawing.stage, budget)
        factor, planned = (urn.factor(total) for total in (budget, target))
        scale = float((settings or {}).get("factor", planned))
        order = urn.order(
            lambda sizes: self.rates(sizes, scale),
            seed=drawing.seed,
            stage=drawing.stage,
            count=int(budget) if urn.prices is None else urn.support,
            budget=budget,
            horizon=factor / scale,
        )
        kept = {"factor": scale, "support": urn.support, "equal": urn.equal}
        drawn = Drawn(order.rows, order.keys, order.rates, urn.sizes_of(order.rows), order.tau, kept)
        costs = urn.costs_of(order.rows)
        spent = np.arange(1.0, len(drawn) + 1) if costs is None else np.cumsum(costs)
        due = int(np.count_nonzero(spent <= target * (1 + 1e-12)))
        return drawn.until(due if due < len(drawn) else None)

    def expansion(self, drawn: Drawn, asked: NDArray[np.int64]) -> Expansion:
        count = int(asked.max()) + 1
        share = count / drawn.settings["support"] if drawn.settings["equal"] else None
        chances = inclusion(drawn.rates[asked], drawn.key_after(count), share)
        return replace(from_inclusion(chances), fixed=share is not None)

    def foreseen(self, drawn: Drawn, count: int) -> Expansion | None:
        r"""Return of all units that are to be asked for how a sum over the first so many varies.

        A sum over these has the variance :math:`\sum_i (1 - \pi_{i\tau}) / \pi_{i\tau} \, t_i^2` over the pool. Of
        all that are to be asked for, drawn with :math:`\pi_u`, it is estimated by

        .. math:: \sum_u \frac{1 - \pi_{u\tau}}{\pi_{u\tau} \pi_u} t_u^2 .

        Returns
        -------
        Expansion or None
            Of the planned units, with the weights :math:`1 / \pi_u`; None where no more is to come, and of equal
            sizes, where the first are like all.
        """
        planned = drawn.planned
        if count >= planned or drawn.settings["equal"]:
            return None
        rates = drawn.rates[:planned]
        now, then = (from_inclusion(inclusion(rates, drawn.key_after(n))) for n in (count, planned))
        return Expansion(then.weights, (now.weights - 1.0) * then.weights)


_FIRST_ARRIVALS = KeyOrder(successive_rates)


@dataclass(frozen=True)
class WithReplacement:
    """Independent draws (thesis, Algorithms 2 and 3); drawn again, a labelled item costs nothing."""

    def take(self, drawing: Drawing, budget: float, settings: Mapping[str, Any] | None = None) -> Drawn:
        urn, distinct = drawing.urn, int(budget)
        prices = urn.prices
        if budget * (1 + 1e-12) >= (urn.support if prices is None else prices.total):
            return _FIRST_ARRIVALS.take(drawing, budget)  # everything: the order in which the draws would bring it
        if prices is not None:
            distinct = min(urn.support, int(np.ceil(2 * budget / prices.smallest)))
        urn.prepare(drawing.seed, drawing.stage, budget)
        found = urn.arrivals(seed=drawing.seed, stage=drawing.stage, distinct=distinct)
        units, first, inverse = np.unique(found.rows, return_index=True, return_inverse=True)
        short = len(units) < min(distinct, urn.support)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        sequence, units = rank[inverse], units[order]
        costs = urn.costs_of(units)
        if costs is not None:
            fits = int(np.count_nonzero(np.cumsum(costs) <= budget * (1 + 1e-12)))
            units, sequence = units[:fits], sequence[: np.append(np.flatnonzero(sequence >= fits), len(sequence))[0]]
            short = short and fits == len(first)
        if short:
            message = (
                f"draws with replacement stop at {len(units)} of {distinct} different items: further ones would "
                "hardly bring but a few heavy items again; raise floor=, or draw without replacement"
            )
            warn(message)
        sizes = urn.sizes_of(units) / urn.total
        times = found.times[first[order]][: len(units)]
        return Drawn(units, times, sizes, sizes, float("nan"), {"sequence": sequence.tolist()})

    def expansion(self, drawn: Drawn, asked: NDArray[np.int64]) -> Expansion:
        if "sequence" not in drawn.settings:
            return _FIRST_ARRIVALS.expansion(drawn, asked)
        sequence, count = np.asarray(drawn.settings["sequence"]), int(asked.max()) + 1
        later = np.flatnonzero(sequence >= count)
        last = np.flatnonzero(sequence == count - 1)[0] + 1
        prefix = sequence[: last if len(later) else len(sequence)]
        counts = np.bincount(prefix, minlength=count)[asked]
        return from_counts(counts, drawn.sizes[asked])


@dataclass(frozen=True)
class Stratified:
    """Simple random samples within strata: Neyman's numbers, or chosen as labels come in (online)."""

    online: bool

    def take(self, drawing: Drawing, budget: float, settings: Mapping[str, Any] | None = None) -> Drawn:
        strata = drawing.strata
        assert strata is not None
        numbers = strata.numbers
        total = min(int(budget), int(numbers.sum()))
        wanted = np.minimum(total, numbers) if self.online else neyman_allocation(strata.deviations, total, numbers)
        taken = strata.first(wanted, drawing.seed, drawing.stage)
        kept = {
            "strata": taken.strata.tolist(),
            "numbers": numbers.tolist(),
            "support": int(numbers.sum()),
            "deviations": strata.deviations.tolist(),
        }
        sizes, rates = drawing.urn.sizes_of(taken.units), np.ones(len(taken.units))
        return Drawn(taken.units, taken.keys, rates, sizes, float("nan"), kept)

    def expansion(self, drawn: Drawn, asked: NDArray[np.int64]) -> Expansion:
        strata = drawn.strata[asked]
        numbers = np.asarray(drawn.settings["numbers"], dtype=np.float64)
        filled, strata = np.unique(strata, return_inverse=True)
        share = np.bincount(strata) / bin_sums(_nearest(filled, len(numbers)), numbers, len(filled))
        plain = from_inclusion(share[strata])
        return Expansion(plain.weights, plain.spread, strata)


def _nearest(filled: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return for each of `count` strata the place of the nearest one with labels: strata without any are joined to it.

    Examples
    --------
    >>> _nearest(np.array([1, 5]), 7).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    return np.searchsorted((filled[:-1] + filled[1:]) / 2.0, np.arange(count), side="left").astype(np.int64)


DRAWS: dict[str, Draw] = {
    "without_replacement": KeyOrder(poisson_rates),
    "successive": KeyOrder(successive_rates),
    "with_replacement": WithReplacement(),
    "neyman": Stratified(online=False),
    "strata": Stratified(online=True),
}
