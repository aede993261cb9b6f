r"""Statements about many models at once, from the joint distribution of their errors.

The estimates of k models rest on the same labels. With :math:`r_j` the vector of model j's weighted residuals, an
error of the estimates behaves like :math:`(r_1 \cdot g, \ldots, r_k \cdot g)` for a vector :math:`g` of standard normal
multipliers, one for each label. Simulated, it tells how large the largest of many standardised differences
becomes by chance; models that are much alike count as little more than one.

The t statistic :math:`t_{ij}` of a difference of two models is first converted to the normal score with the same
p-value, so that few labels are not taken for many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from sondage.core.checks import require_level
from sondage.core.predictions import Floats
from sondage.core.resampling import block_sizes
from sondage.core.residuals import larger_variance, skewed_degrees

__all__ = ["JointErrors", "best_models", "simultaneous_gaps", "simultaneous_widths"]

MULTIPLIERS = 2000
"""Draws of the errors of all models together."""
ROUNDING = 1e-12
"""Errors of two models that differ by less, relative to the largest, are the same."""
SCREENED = 0.1
"""Share of the error of `best_models` that goes to leaving out models that are far behind."""
OWN = 0.1
"""Share of the error of `simultaneous_gaps` that goes to the models' own intervals."""


@dataclass(frozen=True, eq=False)
class JointErrors:
    r"""What the errors of k estimates have in common.

    Attributes
    ----------
    roots : ndarray of float, shape (k, m)
        Rows whose inner products are the estimates' covariances: root of the expansion's spread, times residual.
    expected : ndarray of float, shape (k, l)
        The same as the calibrated belief expects it; l may be 0. Of two variances the larger is used.
    least : ndarray of float, shape (k, k), optional
        No variance of a difference is less than this (of the pool, without what a population adds).
    """

    roots: Floats
    expected: Floats
    least: Floats | None = None

    def variances(self) -> Floats:
        """Return the variance of every difference, shape (k, k): the larger of those sampled and others."""
        return np.maximum(_squared_distances(self.roots), self._others())

    def reliable(self) -> tuple[Floats, Floats]:
        """Return every difference's variance to rely on and its degrees of freedom, shape (k, k) each.

        Satterthwaite's degrees of freedom of a sampled variance are those of one model's measure, which are fewer than
        a difference's: the largest of many differences is one that few labels decide. Where another variance is the
        larger nothing hangs on them, see `larger_variance`.
        """
        smallest = ROUNDING * np.max(np.abs(self.roots), initial=0.0)
        df = np.empty((len(self.roots), len(self.roots)))
        for model, of_model in enumerate(self.roots):
            apart = self.roots - of_model
            df[model] = skewed_degrees(np.where(np.abs(apart) > smallest, apart, 0.0) ** 2)
        return larger_variance(_squared_distances(self.roots), df, self._others())

    def _others(self) -> Floats:
        """Return variances that are not sampled, shape (k, k)."""
        expected = _squared_distances(self.expected)
        return expected if self.least is None else np.maximum(expected, self.least)

    def simulated(self, generator: np.random.Generator) -> Floats:
        """Return errors of the estimates by chance, shape (MULTIPLIERS, k)."""
        rows = np.concatenate([self.roots, self.expected], axis=1)
        m = rows.shape[1]  # of classes as many as labels times classes: all draws at once would take gigabytes
        return np.concatenate([generator.standard_normal((size, m)) @ rows.T for size in block_sizes(MULTIPLIERS, m)])


def _squared_distances(rows: Floats) -> Floats:
    products = rows @ rows.T
    squares = np.diag(products)
    distances = squares[:, None] + squares - 2.0 * products
    # What is left of equal rows after rounding is no variance.
    return np.asarray(np.where(distances > 1e-12 * (squares[:, None] + squares), distances, 0.0))


def best_models(values: Floats, errors: JointErrors, level: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    r"""Return which models may be the best: a set that holds the best one with this probability.

    A model is left out if some other one is ahead of it by more than chance, against all others at once:

    .. math:: \max_j z_{ij} > c_i, \qquad P\Bigl(\max_j \frac{(r_j - r_i) \cdot g}{\|r_j - r_i\|} > c_i\Bigr) = \alpha .

    Only one model is the best one, so that nothing is paid for testing each of them. Models that are behind model i
    beyond doubt (at a tenth of the error) cannot be ahead of it, and are left out of its maximum. A model that no other
    is ahead of stays in, at low levels too.

    Parameters
    ----------
    values : ndarray of float, shape (k,)
        Estimates, higher is better; NaN where undefined: such a model stays in.
    errors : JointErrors
        Their joint distribution.
    level : float
        Probability, in (0, 1).
    generator : numpy.random.Generator
        Source of the multipliers.

    Returns
    -------
    ndarray of bool, shape (k,)

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    References
    ----------
    J. C. Hsu, Simultaneous confidence intervals for all distances from the "best", The Annals of Statistics, 1981,
    1026-1034.
    J. P. Romano, A. M. Shaikh and M. Wolf, A practical two-step method for testing moment inequalities, Econometrica,
    2014, 1979-2002.

    Examples
    --------
    >>> errors = JointErrors(np.eye(3), np.zeros((3, 0)))
    >>> best_models(np.array([9.0, 8.0, 0.0]), errors, 0.95, np.random.default_rng(0)).tolist()
    [True, True, False]
    """
    require_level("level", level)
    error, chance = 1.0 - level, errors.simulated(generator)
    scale, (variances, df) = _rounded_off(chance), errors.reliable()
    kept = np.ones(len(values), dtype=np.bool_)
    for model in np.flatnonzero(np.isfinite(values)).tolist():
        others = np.isfinite(values) & (np.arange(len(values)) != model)
        if not others.any():
            continue
        score = _normal_scores((values - values[model])[others], variances[model][others], df[model][others])
        drawn = _standardised(_differences(chance, model, others, scale))
        near = score > -_critical(drawn, 1.0 - SCREENED * error)
        if near.any():
            critical = _critical(drawn[:, near], 1.0 - (1.0 - SCREENED) * error)
            kept[model] = score.max() <= max(critical, 0.0)  # below 0 at low levels
    return kept


def simultaneous_gaps(
    values: Floats,
    errors: JointErrors,
    reference: int,
    level: float,
    generator: np.random.Generator,
    *,
    own: Callable[[float], tuple[Floats, Floats]] | None = None,
) -> tuple[Floats, Floats]:
    """Return intervals of all models' differences from one, valid together even if that one was chosen by its value.

    The critical value is that of the largest of all k (k - 1) / 2 standardised differences. Where few labels tell two
    models apart, Student's t reaches far, and all labels tell each one's own value: own intervals hold together at a
    tenth of the error, and no difference reaches farther than two models' ends.

    Parameters
    ----------
    values, errors
        As for `best_models`.
    reference : int
        The model from which differences are taken.
    level, generator
        As for `best_models`.
    own : callable, optional
        ``own(level)`` returns the ends of the k models' own intervals, ndarray of float (k,) each.

    Returns
    -------
    low, high : ndarray of float, shape (k,)

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    Examples
    --------
    >>> errors = JointErrors(np.eye(2), np.zeros((2, 0)))
    >>> low, high = simultaneous_gaps(np.array([5.0, 0.0]), errors, 0, 0.95, np.random.default_rng(0))
    >>> bool(high[1] < 0 and low[1] < -5)
    True
    """
    require_level("level", level)
    chance = errors.simulated(generator)
    largest, scale = np.zeros((len(chance), 1)), _rounded_off(chance)
    for model in range(len(values) - 1):
        drawn = _standardised(_differences(chance, model, slice(model + 1, None), scale))
        np.maximum(largest, np.abs(drawn).max(axis=1, keepdims=True), out=largest)
    of_own = 0.0 if own is None else OWN * (1.0 - level)
    tail = 1.0 - _normal(_critical(largest, level + of_own, tails=2))
    variances, df = errors.reliable()
    half = stdtrit(df[reference], 1.0 - tail) * np.sqrt(variances[reference])
    gap = values - values[reference]
    low, high = gap - half, gap + half
    if own is None:
        return low, high
    least, most = own(_width_level(chance, 1.0 - of_own))
    return np.maximum(low, least - most[reference]), np.minimum(high, most - least[reference])


def simultaneous_widths(errors: JointErrors, level: float, generator: np.random.Generator) -> float:
    """Return the confidence level at which k single intervals hold together at this level.

    Parameters
    ----------
    errors, level, generator
        As for `best_models`.

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    Examples
    --------
    >>> same = JointErrors(np.ones((5, 1)), np.zeros((5, 0)))
    >>> apart = JointErrors(np.eye(5), np.zeros((5, 0)))
    >>> [round(simultaneous_widths(e, 0.95, np.random.default_rng(0)), 2) for e in (same, apart)]
    [0.95, 0.99]
    """
    require_level("level", level)
    return _width_level(errors.simulated(generator), level)


def _width_level(chance: Floats, level: float) -> float:
    """Return the confidence level at which single intervals with these errors by chance hold together at this one."""
    largest = np.abs(_standardised(chance)).max(axis=1)
    return max(level, 2.0 * _normal(float(np.quantile(largest, level))) - 1.0)


def _normal(score: float) -> float:
    return float(stdtr(np.inf, score))


def _normal_scores(gaps: Floats, variances: Floats, df: Floats) -> Floats:
    """Return the normal scores with the p-values of these t statistics; infinite where a gap is known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gaps == 0, 0.0, gaps / np.sqrt(variances))
    tail = stdtr(df, -np.abs(t))
    return np.asarray(-np.sign(t) * ndtri(tail))


def _critical(drawn: Floats, level: float, tails: int = 1) -> float:
    """Return the quantile of the largest of some standardised errors, no less than that of a single one.

    Errors that no labelled item shows are not among them, and differences of equal ones are 0.
    """
    single = float(ndtri(1.0 - (1.0 - level) / tails))
    return max(float(np.quantile(drawn.max(axis=1), level)), single)


def _standardised(columns: Floats) -> Floats:
    """Divide columns by their standard deviations, in their place; they are 0 where they do not vary."""
    deviation = np.sqrt(np.mean(np.square(columns), axis=0))
    return np.divide(columns, np.where(deviation > 0, deviation, 1.0), out=columns)


def _rounded_off(chance: Floats) -> Floats:
    """Return of each draw the size of an error that rounding leaves, shape (draws, 1)."""
    return np.asarray(ROUNDING * np.max(np.abs(chance), axis=1, keepdims=True))


def _differences(chance: Floats, model: int, others: NDArray[np.bool_] | slice, scale: Floats) -> Floats:
    """Return other models' errors less one's; 0 where only rounding tells them apart, which would follow last bits."""
    differences = chance[:, others] - chance[:, [model]]
    np.copyto(differences, 0.0, where=~(np.abs(differences) > scale))
    return differences
