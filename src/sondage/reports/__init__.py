"""Results in words, as data, as charts and pages; importing it tells results how to show themselves."""

from sondage.reports import data, notebook

__all__ = ["data", "notebook"]
