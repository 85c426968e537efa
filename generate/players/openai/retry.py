"""How long to wait before asking an endpoint again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)")
_WORDS = re.compile(r"(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)", re.I)
_READ = 1000  # characters of a message that are searched for a time span
_LONGEST_RESET = 40  # characters
_EPOCH = 1e9  # a reset above this is a timestamp in seconds; above 1000 times this, in milliseconds


def pause(attempt: int, draw: float) -> float:
    """Seconds to wait after the given failure (counted from 1) of one request while others succeed: doubled each time
    up to LONGEST_WAIT. draw: uniform in [0, 1), spreads requests that failed at the same moment.
    """
    return min(FIRST_WAIT * 2.0 ** min(attempt - 1, 30), LONGEST_WAIT) * (0.5 + 0.5 * draw)


def retry_after(headers: Mapping[str, str], body: Any = None, now: datetime | None = None) -> float | None:
    """Seconds that a refusal asks to wait; None if it gives none or cannot be parsed; never negative.

    Read, in this order: `retry-after-ms`, `Retry-After` in seconds or as an HTTP date (OpenAI, Azure, most others);
    `X-RateLimit-Reset` as a timestamp or in seconds, in the headers (Together) or in the error's metadata (OpenRouter);
    `retryDelay` (Gemini); "try again in 6m0s", "retry after 20 seconds" in the message (OpenAI, Azure). headers: looked
    up by lower-case name. body: the decoded JSON of the answer.
    """
    now = now or datetime.now(UTC)
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if _number(value):
            return float(value) / unit
    if value and (date := _date(value)) is not None:
        return max((date - now).total_seconds(), 0.0)
    reset = seconds_until(headers.get("x-ratelimit-reset", "").strip() or _reset(body), now)
    return _said(body) if reset is None else reset


def seconds_until(reset: str, now: datetime) -> float | None:
    """Seconds from now until a moment given as a span (6m0s), in seconds, as a timestamp in seconds or milliseconds, or
    as a date of RFC 3339; None if it cannot be read.
    """
    if _number(reset):
        moment = float(reset)
        if moment > _EPOCH:
            return max(moment / (1000.0 if moment > 1000 * _EPOCH else 1.0) - now.timestamp(), 0.0)
        return moment
    if len(reset) < _LONGEST_RESET and re.fullmatch(rf"(?:{_SPAN.pattern})+", reset):
        return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(reset))
    try:
        date = datetime.fromisoformat(reset)
    except ValueError:
        return None
    return max(((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds(), 0.0)


def _number(value: str) -> bool:
    return value.isascii() and value.replace(".", "", 1).isdecimal() and len(value) < 30


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _error(body: Any) -> Mapping[str, Any]:
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error") if isinstance(body, Mapping) else None
    return error if isinstance(error, Mapping) else body if isinstance(body, Mapping) else {}


def _reset(body: Any) -> str:
    metadata = _error(body).get("metadata")
    headers = metadata.get("headers") if isinstance(metadata, Mapping) else None
    if not isinstance(headers, Mapping):
        return ""
    return next((str(value).strip() for name, value in headers.items() if name.lower() == "x-ratelimit-reset"), "")


def _said(body: Any) -> float | None:
    """Seconds given in the error's message or details."""
    error = _error(body)
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and (found := _SPAN.fullmatch(delay)):
            return float(found[1]) * _UNITS[found[2]]
    message = error.get("message")
    found = _WORDS.search(message[:_READ]) if isinstance(message, str) else None
    if found is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]+)", found[1], re.I)
    seconds = [float(number) * _UNITS[unit] for number, name in parts if (unit := _unit(name)) in _UNITS]
    return sum(seconds) if seconds else None


def _unit(name: str) -> str:
    name = name.lower()
    return "ms" if name in ("ms", "millisecond", "milliseconds") else name[0]
