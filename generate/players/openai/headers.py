"""What a host says about its limits in the headers of a response, in each provider's spelling.

    x-ratelimit-{limit,remaining,reset}-{requests,tokens}          OpenAI, Groq, Azure, LiteLLM, vLLM gateways
    x-ratelimit-{limit,remaining,reset}-{requests-day,tokens-minute}   Cerebras; -{req,tokens}-minute: Mistral
    anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}   Anthropic
    x-ratelimit-{limit,remaining,reset}, x-tokenlimit-…            Together; the first also OpenRouter
    ratelimit-{limit,remaining,reset}                              the IETF's draft

A reset is a span (6m0s, 12ms), seconds, a timestamp in seconds or milliseconds, or a date (RFC 3339).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from liescope.generate.players.openai.verdict import seconds_until

_HEADER = re.compile(r"(?:x-|anthropic-)?(rate|token)limit-([a-z_-]+)")
_ROLES = ("limit", "remaining", "reset")
_PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_LARGEST = 1e12


@dataclass(frozen=True, slots=True)
class Reading:
    """One limit as a host reported it. name: the host's; tokens: whether it counts tokens or requests; limit: the most
    there can be; remaining: how much of it is left; reset: seconds until all of it is there again.
    """

    name: str
    tokens: bool
    limit: float
    remaining: float
    reset: float


def read_limits(headers: Mapping[str, str], now: datetime | None = None) -> tuple[Reading, ...]:
    """The limits in a response's headers (by lower-case name); those that make no sense are left out."""
    found: dict[str, dict[str, str]] = {}
    for header, value in headers.items():
        if "limit-" in header and (match := _HEADER.fullmatch(header)):
            words = match[2].split("-")
            role = next((word for word in words if word in _ROLES), None)
            if role is not None:
                name = "-".join((match[1], *(word for word in words if word != role)))
                found.setdefault(name, {})[role] = value.strip()
    return tuple(
        reading for name, values in found.items() if (reading := _reading(name, values, now or datetime.now(UTC)))
    )


def _reading(name: str, values: Mapping[str, str], now: datetime) -> Reading | None:
    remaining = _amount(values.get("remaining", ""))
    limit = _amount(values.get("limit", ""))
    if remaining is None or limit is None:  # what is left alone (Azure) says nothing about when there is more
        return None
    period = next((seconds for word, seconds in _PERIODS.items() if word in name), 60.0)
    reset = seconds_until(values.get("reset", ""), now)
    tokens = "token" in name
    return Reading(name, tokens, max(limit, remaining), remaining, period if reset is None else reset)


def _amount(value: str) -> float | None:
    """A count; None for anything else, such as the -1 of Azure for a limit that it does not tell."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < _LARGEST else None
