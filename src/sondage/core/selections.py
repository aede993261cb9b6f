"""What selecting among several models returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sondage.core.display import Result
from sondage.core.measures.bases import rounded
from sondage.core.predictions import Floats
from sondage.core.results import Comparison, Estimate, Interval, Significance
from sondage.core.significance.simultaneous import (
    JointErrors,
    best_models,
    simultaneous_gaps,
    simultaneous_widths,
)

__all__ = ["Pairs", "Selection"]

SUREST = 1.0 - 1e-12
"""Highest confidence level of a single interval."""


class Pairs(Mapping[tuple[str, str], Comparison]):
    """The comparisons of all pairs, in the order of the ranking; each is made when it is first looked at.

    Parameters
    ----------
    ranking : tuple of str
        Models, best first.
    make : callable
        Makes the comparison of two of them.
    """

    def __init__(self, ranking: tuple[str, ...], make: Callable[[str, str], Comparison]) -> None:
        self._ranking, self._make = ranking, make
        self._made: dict[tuple[str, str], Comparison] = {}
        self._ranks = {name: rank for rank, name in enumerate(ranking)}

    def __getitem__(self, pair: tuple[str, str]) -> Comparison:
        first, second = pair
        if not self._ranks[first] < self._ranks[second]:
            raise KeyError(f"{pair}: a pair has the better model first, as in `ranking`: {(second, first)}")
        if pair not in self._made:
            self._made[pair] = self._make(first, second)
        return self._made[pair]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._ranking, 2)

    def __len__(self) -> int:
        return len(self._ranking) * (len(self._ranking) - 1) // 2

    def __repr__(self) -> str:
        return f"Pairs({self._ranking!r})"


@dataclass(frozen=True, eq=False)
class Selection(Result):
    """Several models ranked by one measure from one sample.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        Each model's estimate.
    ranking : tuple of str
        Models, best first.
    pvalues : mapping of str to float
        For every model but the best: the p-value of its difference from the best, adjusted by Holm's method for all
        pairs, since labels chose the best.
    comparisons : mapping of (str, str) to Comparison
        Every pair, in the order of the ranking.
    overall : Significance or None
        The test that all models are equal (Tukey's range).
    alpha : float
        Level of the tests, in (0, 1).
    errors : JointErrors
        What the models' errors have in common, in the order of `estimates`.
    generator : callable
        Makes the random numbers of simultaneous statements: the same ones each time.
    higher_is_better : bool
        Direction of the measure.

    Examples
    --------
    >>> import sondage
    >>> models = {"a": sondage.Classifier([0.1, 0.9, 0.4, 0.7]), "b": sondage.Classifier([0.1, 0.2, 0.4, 0.7])}
    >>> sondage.select(sondage.Pool(models=models), "accuracy", labels=[0, 1, 0, 1], budget=4).ranking
    ('a', 'b')
    """

    estimates: Mapping[str, Estimate]
    ranking: tuple[str, ...]
    pvalues: Mapping[str, float]
    comparisons: Mapping[tuple[str, str], Comparison]
    overall: Significance | None
    alpha: float
    errors: JointErrors = field(repr=False)
    generator: Callable[[], np.random.Generator] = field(repr=False)
    higher_is_better: bool = True

    def __str__(self) -> str:
        tests = {name: f", p = {self.pvalues[name]:.3g} against {self.best}" for name in self.ranking[1:]}
        return "\n".join(f"{self.estimates[name]}{tests.get(name, '')}" for name in self.ranking)

    @property
    def best(self) -> str:
        """The model with the best estimate."""
        return self.ranking[0]

    @property
    def n_labels(self) -> int:
        """Distinct items labelled."""
        return self.estimates[self.best].n_labels

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know, once each."""
        return tuple(dict.fromkeys(text for estimate in self.estimates.values() for text in estimate.warnings))

    def contenders(self, level: float | None = None) -> tuple[str, ...]:
        """Return the models that may be the best: a set that holds the best one with this probability.

        Parameters
        ----------
        level : float, optional
            Probability, in (0, 1); by default 1 - alpha.

        Returns
        -------
        tuple of str
            In the order of the ranking; the best alone if no other may be it.

        Raises
        ------
        InputError
            If the level is not in (0, 1).

        Notes
        -----
        Each model is tested against all others at once, see `best_models`. Of models that are equally good, each is
        in the set with this probability.

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.select(sondage.Pool(models=models), "accuracy", labels=[0, 1, 0, 1] * 5, budget=3)
        >>> found.contenders()
        ('a',)
        """
        level = 1.0 - self.alpha if level is None else level
        kept = best_models(self._scores(), self.errors, level, self.generator())
        inside = {name for name, is_kept in zip(self.estimates, kept, strict=True) if is_kept}
        return tuple(name for name in self.ranking if name in inside)

    def gaps(self, level: float = 0.95) -> dict[str, Interval]:
        """Return intervals of all other models' differences from the best, which hold together at this level.

        Where few labels tell two models apart, what all labels say of each model's own value bounds their difference.

        Parameters
        ----------
        level : float
            Confidence level, in (0, 1).

        Returns
        -------
        dict of str to Interval
            Model minus best, in the order of the ranking.

        Raises
        ------
        InputError
            If the level is not in (0, 1).

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.select(sondage.Pool(models=models), "accuracy", labels=[0, 1, 0, 1] * 5, budget=3)
        >>> {name: (round(one.low, 2), round(one.high, 2)) for name, one in found.gaps().items()}
        {'b': (-0.4, -0.1)}
        """
        names, values = list(self.estimates), np.array([estimate.value for estimate in self.estimates.values()])
        own = self._own_ends if all(np.isfinite(estimate.std_error) for estimate in self.estimates.values()) else None
        lows, highs = simultaneous_gaps(values, self.errors, names.index(self.best), level, self.generator(), own=own)
        least, most = self.estimates[self.best].bounds
        span = most - least
        by_name = {
            name: Interval(float(low), float(high), level, "max-t")
            if np.isfinite(low)
            else Interval(-span, span, level, "undefined")
            for name, low, high in zip(names, np.maximum(lows, -span), np.minimum(highs, span), strict=True)
        }
        return {name: by_name[name] for name in self.ranking[1:]}

    def intervals(self, level: float = 0.95) -> dict[str, Interval]:
        """Return intervals of all models' own values, which hold together at this level.

        Parameters
        ----------
        level : float
            Confidence level, in (0, 1).

        Returns
        -------
        dict of str to Interval
            In the order of the ranking. Where only differences between models were drawn for, a model's own value has
            all possible values.

        Raises
        ------
        InputError
            If the level is not in (0, 1).

        Examples
        --------
        >>> import sondage
        >>> models = {name: sondage.Classifier([0.1, p, 0.4, 0.7] * 5) for name, p in (("a", 0.9), ("b", 0.2))}
        >>> found = sondage.select(sondage.Pool(models=models), "f1", labels=[0, 1, 0, 1] * 5, budget=10)
        >>> {name: (round(one.low, 2), round(one.high, 2)) for name, one in found.intervals().items()}
        {'a': (0.51, 1.0), 'b': (0.32, 0.87)}
        """
        single = min(simultaneous_widths(self.errors, level, self.generator()), SUREST)
        return {name: self.estimates[name].interval(single) for name in self.ranking}

    def _own_ends(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the models' own intervals, in the order of `estimates`."""
        intervals = [estimate.interval(min(level, SUREST), "auto") for estimate in self.estimates.values()]
        return np.array([one.low for one in intervals]), np.array([one.high for one in intervals])

    def _scores(self) -> Floats:
        sign = 1.0 if self.higher_is_better else -1.0
        return rounded(np.array([sign * estimate.value for estimate in self.estimates.values()]))
