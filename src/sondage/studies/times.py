"""Times as a study has them: ISO 8601 in UTC with milliseconds, so that their order is that of the text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["now"]


def clock() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def now(minutes: float = 0.0) -> str:
    """Return the time as it is written in a study, or that in so many minutes."""
    return (clock() + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
