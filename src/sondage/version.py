"""The release; a study keeps the one that it was made with."""

__version__ = "0.1.0"
