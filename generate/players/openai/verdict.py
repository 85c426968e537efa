"""What a response means: an answer, trouble that may pass, or a refusal and its scope.

Status codes alone are not enough. A 429 may be a rate limit (wait), an empty account (do not wait) or a request larger
than any limit; Together calls its limit on unpaid accounts `credit_limit`, Gemini says "quota" for both, OpenRouter
sends errors inside a response with status 200, and its 402 with Retry-After passes within seconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from liescope.generate.players.openai.completion import Completion, error_message, read_completion

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)")
_WORDS = re.compile(r"(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)", re.I)
_READ = 1000  # characters of a message that are searched for a time span
_LONGEST_RESET = 40  # characters
_EPOCH = 1e9  # a reset above this is a timestamp in seconds; above 1000 times this, in milliseconds


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


_BRIEF = frozenset({408, 409, 425})
_OVERLOADED = frozenset({408, 503, 504, 529})
_STREAM = re.compile(r"\s{0,99}(?:data|event|id|retry)?:")  # how server-sent events begin, and JSON does not
_EXTRAS = {"response_format": "structured output", "logprobs": "log-probabilities"}
_REFUSES_FORMAT = frozenset({400, 422, 501})
_NO_CREDIT = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_exhausted",
        "organization_usage_limit_exceeded",
    }
)


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered, without keys. headers: by lower-case name."""

    status: int
    headers: Mapping[str, str]
    text: str


class Scope(Enum):
    """What a refusal applies to: every request of the player, this request alone, or an extra that it asks for."""

    PLAYER = "player"
    ASK = "ask"
    FORMAT = "format"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A request to be sent again. limited: it came too early; asked: seconds that the endpoint asks to wait;
    overloaded: it may be that too many were in flight; heard: whether a response came at all.
    """

    problem: str
    limited: bool = False
    asked: float | None = None
    overloaded: bool = False
    heard: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that would be refused again. advice: what the user can do."""

    problem: str
    scope: Scope
    advice: str = ""


Verdict = Completion | Trouble | Refusal


def judge(response: Response, body: Mapping[str, Any]) -> Verdict:
    """What came of a request. body: of the request."""
    data = _decoded(response.text)
    status, headers = response.status, response.headers
    if 300 <= status < 400:
        return Refusal(
            f"it redirects to another address ({status}), which is not followed",
            Scope.PLAYER,
            "name the address itself in the player's spec",
        )
    if 200 <= status < 300:
        inner = _inner_status(data)
        if _STREAM.match(response.text):
            return Refusal(
                "it streams its answers (server-sent events), although it was not asked to",
                Scope.PLAYER,
                "turn streaming off at the server or gateway",
            )
        if inner is None:
            try:
                return read_completion(response.text)
            except ValueError as error:
                return Trouble(str(error))
        status = inner
    words = error_message(response.text)
    if status == 429:
        return _limit(headers, data, words)
    extras = [name for name in _EXTRAS if name in body]
    named = [name for name in extras if name in response.text]
    if extras and (status in _REFUSES_FORMAT or (named and (status == 403 or status >= 500))):
        return Refusal(f"it rejects {_EXTRAS[(named or extras)[0]]} ({status}): {words}", Scope.FORMAT)
    if status in _BRIEF or (status >= 500 and status != 501):
        overloaded = status in _OVERLOADED
        return Trouble(f"it answered {status}: {words}", asked=retry_after(headers, data), overloaded=overloaded)
    asked = retry_after(headers, data)
    if status == 402 and asked is not None:
        return Trouble(f"it answered 402: {words}", limited=True, asked=asked)
    if status == 402:
        return Refusal(f"the account has no credit left (402): {words}", Scope.PLAYER, "add credit")
    if status == 401:
        return Refusal("it refuses the key (401)", Scope.PLAYER)
    if status == 403:
        return Refusal(f"it forbids the request (403): {words}", Scope.PLAYER)
    if status in (404, 405, 410):
        model = body.get("model")
        return Refusal(
            f"it knows no model {model!r} ({status}): {words.rstrip('.')}", Scope.PLAYER, "check the name and the URL"
        )
    return Refusal(f"it rejects the request ({status}): {words}", Scope.ASK)


def _limit(headers: Mapping[str, str], data: Any, words: str) -> Verdict:
    error = data.get("error") if isinstance(data, Mapping) else None
    error = error if isinstance(error, Mapping) else data if isinstance(data, Mapping) else {}
    if {str(error.get("code")), str(error.get("type"))} & _NO_CREDIT:
        return Refusal(f"the account has no quota left (429): {words}", Scope.PLAYER, "add credit or raise its limit")
    if str(error.get("message")).startswith("Request too large"):
        return Refusal(f"the request is larger than its limit (429): {words}", Scope.ASK)
    return Trouble(f"it limits the rate (429): {words}", limited=True, asked=retry_after(headers, data))


def _inner_status(data: Any) -> int | None:
    """The status of an error that came inside a response with status 200."""
    error = data.get("error") if isinstance(data, Mapping) and "choices" not in data else None
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else None


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
