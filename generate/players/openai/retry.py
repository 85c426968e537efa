"""How long to wait before asking an endpoint again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
LONGEST_ASKED = 120.0  # an endpoint that asks for more is asked again after this

BRIEF_TROUBLE = frozenset({408, 409, 425, 429})


def passes(status: int) -> bool:
    """Whether an error status may be gone at the next attempt: too many requests, conflicts, a server's own errors."""
    return status in BRIEF_TROUBLE or (status >= 500 and status != 501)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that an answer's headers ask to wait: Retry-After in seconds or as an HTTP date, or retry-after-ms.

    None where they ask for nothing or cannot be read; never negative. headers: looked up by lower-case name.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal():
            return float(value) / unit
    if not value:
        return None
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    at = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((at - (now or datetime.now(UTC))).total_seconds(), 0.0)


def pause(attempt: int, asked: float | None, draw: float) -> float:
    """Seconds to wait after the given attempt (from 1): doubled each time up to LONGEST_WAIT, and never less than the
    endpoint asked for. draw: uniform in [0, 1), spreads players that were turned away at the same moment.
    """
    backoff = min(FIRST_WAIT * 2.0 ** min(attempt - 1, 30), LONGEST_WAIT)
    if asked is None:
        return backoff * (0.5 + 0.5 * draw)
    return min(asked, LONGEST_ASKED) + backoff * 0.25 * draw
