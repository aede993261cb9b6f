"""What results ask of labels in their order, at any number of them: an interval, a sequence, an e-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sondage.core.results import Interval
    from sondage.core.sequences import ConfidenceSequence

__all__ = ["Course", "EValue"]


@dataclass(frozen=True)
class EValue:
    r"""Evidence against one value, which holds however often one has looked.

    Attributes
    ----------
    log_evalue : float
        Logarithm of the e-value after the last label; infinite where the labels rule the null hypothesis out.
    pvalue : float
        p-value at any time: if the null hypothesis is true, it is ever at most :math:`\alpha` with probability at most
        :math:`\alpha`.
    null : float
        The value.
    alternative : str
        ``"two-sided"``, ``"less"`` or ``"greater"``.
    kind : str
        ``"betting"``, ``"exact"`` or ``"asymptotic"``.
    """

    log_evalue: float
    pvalue: float
    null: float
    alternative: str
    kind: str


class Course(Protocol):
    """What the labels say in the order in which they were asked for, at any number of them."""

    def interval(self, level: float) -> Interval:
        """Return the interval after the last label."""
        ...

    def sequence(self, level: float) -> ConfidenceSequence:
        """Return the interval after each label."""
        ...

    def evalue(self, null: float, alternative: str) -> EValue:
        """Return the evidence against a value."""
        ...
