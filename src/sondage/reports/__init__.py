"""Results in words, as data, as charts and pages; importing it tells results how to show themselves in a notebook."""

from sondage.reports import notebook

__all__ = ["notebook"]
