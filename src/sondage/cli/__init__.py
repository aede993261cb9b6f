"""The command line: one file a verb; each reads its arguments, makes one call and prints."""

from sondage.cli.main import main

__all__ = ["main"]
