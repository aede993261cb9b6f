"""F-measures as the thesis writes them."""

from __future__ import annotations

from typing import Any

from sondage import measures

__all__ = ["f_eta"]


def f_eta(eta: float, positive: Any = None) -> Any:
    r"""Return :math:`F_\eta = tp / (\eta (tp + fp) + (1 - \eta) (tp + fn))`: recall at 0, F1 at 1/2, precision at 1.

    Examples
    --------
    >>> f_eta(0.5).name, f_eta(1.0).name
    ('f1', 'precision')
    """
    if eta in (0.0, 1.0):
        return (measures.Precision if eta else measures.Recall)(positive=positive)
    return measures.FMeasure(beta=round((1.0 / eta - 1.0) ** 0.5, 12), positive=positive)
