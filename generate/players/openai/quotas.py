"""The limits that a host reports in the headers of its responses, so that no request is sent that would break them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from liescope.generate.players.openai.verdict import seconds_until

BELIEVED = 60.0  # seconds for which a report is believed without another
SPARE = 1.25  # times the estimated tokens must be left, since estimates are not exact
_HEADER = re.compile(r"(?:x-|anthropic-)?(rate|token)limit-(?:([a-z_-]+)-)?(limit|remaining|reset)(?:-([a-z_-]+))?")
_LARGEST = 1e12


Sent = tuple[int, float]
"""Everything sent so far, as of one request: how many requests, and their tokens by estimate."""


@dataclass(slots=True)
class ReportedLimit:
    """One limit as a host reported it. name: the host's; tokens: whether it counts tokens or requests; limit: the most
    there can be; remaining: how much of it is left; reset: seconds until all of it is there again.

    Of the last report that counted: left: now and then less; at: when it came; as_of: of which request.
    """

    name: str
    tokens: bool
    limit: float
    remaining: float
    reset: float
    left: float = 0.0
    at: float = 0.0
    as_of: int = 0

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens fits in."""
        missing = min(SPARE * tokens if self.tokens else 1.0, max(self.limit, 1.0)) - self.left
        used = max(self.limit - self.remaining, self.limit / 1000, 1e-3)
        return missing * max(self.reset, 1e-3) / used - (now - self.at) if missing > 0 else 0.0


def read_limits(headers: Mapping[str, str], now: datetime | None = None) -> list[ReportedLimit]:
    """The limits in a response's headers (by lower-case name), in each provider's spelling; those that make no sense
    are left out.

        x-ratelimit-{limit,remaining,reset}-{requests,tokens}          OpenAI, Groq, Azure, LiteLLM, vLLM gateways
        x-ratelimit-{limit,remaining,reset}-{requests-day,tokens-minute}   Cerebras; -{req,tokens}-minute: Mistral
        anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}   Anthropic
        x-ratelimit-{limit,remaining,reset}, x-tokenlimit-…            Together; the first also OpenRouter
        ratelimit-{limit,remaining,reset}                              the IETF's draft

    A reset is a span (6m0s, 12ms), seconds, a timestamp in seconds or milliseconds, or a date (RFC 3339).
    """
    found: dict[str, dict[str, str]] = {}
    for header, value in headers.items():
        if match := _HEADER.fullmatch(header):
            kind, before, role, after = match.groups()
            found.setdefault("-".join(filter(None, (kind, before, after))), {})[role] = value.strip()
    moment = now or datetime.now(UTC)
    return [limit for name, values in found.items() if (limit := _limit(name, values, moment)) is not None]


def _limit(name: str, values: Mapping[str, str], now: datetime) -> ReportedLimit | None:
    try:  # what is left alone (Azure) says nothing about when there is more
        limit, remaining = float(values["limit"]), float(values["remaining"])
    except (KeyError, ValueError):
        return None
    if not (0 <= limit < _LARGEST and 0 <= remaining < _LARGEST):  # Azure says -1 for a limit that it does not tell
        return None
    reset = seconds_until(values.get("reset", ""), now)
    return ReportedLimit(name, "token" in name, max(limit, remaining), remaining, BELIEVED if reset is None else reset)


class Quotas:
    """The limits of one host. Times are seconds, monotonic.

    Between two reports, what is sent is taken off and what refills is added, steadily (as OpenAI, Groq and Anthropic
    do). Requests that were sent after the reported one are taken off the report, since the host has not counted them.
    """

    def __init__(self) -> None:
        self._sent: Sent = (0, 0.0)
        self._limits: dict[str, ReportedLimit] = {}

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may be sent; not above 0 if it may be now."""
        believed = (limit for limit in self._limits.values() if now - limit.at < BELIEVED)
        return min(max((limit.wait(tokens, now) for limit in believed), default=0.0), BELIEVED)

    def sent(self, tokens: float) -> Sent:
        """A request is sent; returns what has been sent with it."""
        requests, before = self._sent
        self._sent = requests + 1, before + tokens
        for limit in self._limits.values():
            limit.left -= tokens if limit.tokens else 1.0
        return self._sent

    def reported(self, limits: Iterable[ReportedLimit], sent: Sent, now: float) -> None:
        """What the response to a request says. sent: as returned when it was sent."""
        for limit in limits:
            known = self._limits.get(limit.name)
            if known is None or known.as_of <= sent[0]:
                later = self._sent[limit.tokens] - sent[limit.tokens]
                limit.left, limit.at, limit.as_of = limit.remaining - later, now, sent[0]
                self._limits[limit.name] = limit
