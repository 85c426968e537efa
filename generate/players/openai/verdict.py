"""What a response means: an answer, trouble that may pass, or a refusal and its scope.

Status codes alone are not enough. A 429 may be a rate limit (wait), an empty account (do not wait) or a request larger
than any limit; Together calls its limit on unpaid accounts `credit_limit`, Gemini says "quota" for both, OpenRouter
sends errors inside a response with status 200, and its 402 with Retry-After passes within seconds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from liescope.generate.players.openai.completion import Completion, error_message, read_completion
from liescope.generate.players.parsing.choice import parsed

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)[a-z]*\s*", re.I)
_IN_WORDS = re.compile(
    rf'(?:(?:try again|retry)\s+(?:in|after)\s+|"retryDelay":\s*")(?P<span>(?:{_SPAN.pattern})+)'
    r'|"x-ratelimit-reset":\s*"(?P<reset>[^"]{1,40})"',
    re.I,
)
_READ = 2000  # characters of a response that are searched for a time span
_LONGEST_RESET = 40  # characters
_EPOCH = 1e9  # a reset above this is a timestamp in seconds; above 1000 times this, in milliseconds


def retry_after(headers: Mapping[str, str], text: str = "", now: datetime | None = None) -> float | None:
    """Seconds that a refusal asks to wait; None if it gives none or cannot be read; never negative.

    Read, in this order: `retry-after-ms`, `Retry-After` in seconds or as an HTTP date (OpenAI, Azure, most others);
    `X-RateLimit-Reset` in the headers (Together); then in the response's text `X-RateLimit-Reset` (OpenRouter),
    `retryDelay` (Gemini), "try again in 6m0s" or "retry after 20 seconds" (OpenAI, Azure), whichever is first.
    headers: by lower-case name.
    """
    now = now or datetime.now(UTC)
    if _is_number(value := headers.get("retry-after-ms", "").strip()):
        return float(value) / 1000.0
    for name in ("retry-after", "x-ratelimit-reset"):
        if (seconds := _seconds_until(headers.get(name, "").strip(), now)) is not None:
            return seconds
    found = _IN_WORDS.search(text[:_READ])
    return _seconds_until(found["reset"] or found["span"].strip(), now) if found else None


def _seconds_until(reset: str, now: datetime) -> float | None:
    """Seconds from now until a moment given as a span (6m0s), in seconds, as a timestamp in seconds or milliseconds, or
    as a date of RFC 3339 or HTTP; None if it cannot be read.
    """
    if _is_number(reset):
        moment = float(reset)
        if moment > _EPOCH:
            return max(moment / (1000.0 if moment > 1000 * _EPOCH else 1.0) - now.timestamp(), 0.0)
        return moment
    if len(reset) < _LONGEST_RESET and re.fullmatch(rf"(?:{_SPAN.pattern})+", reset, re.I):
        return sum(float(number) * _UNITS[unit.lower()] for number, unit in _SPAN.findall(reset))
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, OverflowError):
            date = read(reset)
            return max(((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds(), 0.0)
    return None


def _is_number(value: str) -> bool:
    return value.isascii() and value.replace(".", "", 1).isdecimal() and len(value) < 30


_BRIEF = frozenset({408, 409, 425})
_OVERLOADED = frozenset({408, 503, 504, 529})
_LIMITS = re.compile(r"\brate.?limit(?!s? (?:is|are) )|too many requests|slow down|\bthrottl", re.I)
_MAY_LIMIT = frozenset({0, 400, 403})  # statuses whose words may say that a rate is limited
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
    """What a refusal applies to: every request of the player, this request alone, an extra that it asked for; or to its
    form: an answer that is not streamed, a system message, counts in a stream, the older name of the token limit.
    """

    PLAYER = "player"
    ASK = "ask"
    FORMAT = "format"
    STREAM = "stream"
    SYSTEM = "system"
    COUNTS = "counts"
    LIMIT = "limit"


FORMS = {
    Scope.STREAM: (
        "streams its answers",
        r"\bonly supports? stream|\bstream mode|non.?stream|\bstream\b.{0,30}\b(?:must|required|true)",
    ),
    Scope.SYSTEM: (
        "takes no system message: it is put into the first user turn",
        r"\bsystem.?(?:role|message|prompt|instruction)|developer instruction|roles must alternate",
    ),
    Scope.COUNTS: ("takes no stream_options: a budget estimates its tokens", "stream_options|include_usage"),
    Scope.LIMIT: ("takes its token limit as max_completion_tokens", "max_completion_tokens"),
}
"""What to say of an endpoint that refuses a form of requests, and the words of the refusal."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A request to be sent again. limited: it came too early; asked: seconds that the endpoint asks to wait;
    overloaded: perhaps too many were in flight; heard: whether a response came at all; own: it may be the request's own
    fault (status 500).
    """

    problem: str
    limited: bool = False
    asked: float | None = None
    overloaded: bool = False
    heard: bool = True
    own: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that would be refused again. advice: what the user can do."""

    problem: str
    scope: Scope
    advice: str = ""


Came = Response | Trouble
Verdict = Completion | Trouble | Refusal


def verdict_of(response: Response, body: Mapping[str, Any]) -> Verdict:
    """The verdict on a response. body: of the request."""
    status = response.status
    if 300 <= status < 400:
        return Refusal(
            f"it redirects to another address ({status}), which is not followed",
            Scope.PLAYER,
            "name the address itself in the player's spec",
        )
    if 200 <= status < 300:
        try:
            return read_completion(response.text)
        except ValueError as error:
            # OpenRouter sends errors with a status of 200 and their own status inside.
            status, problem = _inner_status(response.text) or 0, str(error)
    words = error_message(response.text)
    if status in _MAY_LIMIT and _LIMITS.search(words):
        return Trouble(f"it limits the rate ({status or 200}): {words}", True, retry_after(response.headers, words))
    return _of_error(status, response, body) if status else Trouble(problem)


def _of_error(status: int, response: Response, body: Mapping[str, Any]) -> Trouble | Refusal:
    words, asked = error_message(response.text), retry_after(response.headers, response.text)
    for scope, (note, refused) in FORMS.items():
        refuses = status in _REFUSES_FORMAT or (status == 500 and scope is Scope.SYSTEM)
        if refuses and re.search(refused, words, re.I) and adapted(body, {scope}) != body:
            return Refusal(f"it {note} ({status}): {words}", scope)
    extras = [name for name in _EXTRAS if name in body]
    named = [name for name in extras if name in response.text]
    if status == 429:
        error = _error(response.text)
        if {str(error.get("code")), str(error.get("type"))} & _NO_CREDIT:
            return Refusal(
                f"the account has no quota left (429): {words}", Scope.PLAYER, "add credit or raise its limit"
            )
        if str(error.get("message")).startswith("Request too large"):
            return Refusal(f"the request is larger than its limit (429): {words}", Scope.ASK)
        return Trouble(f"it limits the rate (429): {words}", limited=True, asked=asked)
    if extras and (status in _REFUSES_FORMAT or (named and (status == 403 or status >= 500))):
        return Refusal(f"it rejects {_EXTRAS[(named or extras)[0]]} ({status}): {words}", Scope.FORMAT)
    if status in _BRIEF or (status >= 500 and status != 501):
        return Trouble(
            f"it answered {status}: {words}", asked=asked, overloaded=status in _OVERLOADED, own=status == 500
        )
    if status == 402 and asked is not None:
        return Trouble(f"it answered 402: {words}", limited=True, asked=asked)
    match status:
        case 401:
            return Refusal("it refuses the key (401)", Scope.PLAYER)
        case 402:
            return Refusal(f"the account has no credit left (402): {words}", Scope.PLAYER, "add credit")
        case 403:
            return Refusal(f"it forbids the request (403): {words}", Scope.PLAYER)
        case 404 | 405 | 410:
            problem = f"it knows no model {body.get('model')!r} ({status}): {words.rstrip('.')}"
            return Refusal(problem, Scope.PLAYER, "check the name and the URL")
    return Refusal(f"it rejects the request ({status}): {words}", Scope.ASK)


def adapted(body: Mapping[str, Any], scopes: Collection[Scope]) -> dict[str, Any]:
    """The request in the form that an endpoint takes. scopes: what it refuses."""
    if Scope.STREAM in scopes and not body.get("stream"):
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
    if Scope.COUNTS in scopes:
        body = {name: value for name, value in body.items() if name != "stream_options"}
    if Scope.LIMIT in scopes:
        body = {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}
    roles = [message["role"] for message in body["messages"]] if Scope.SYSTEM in scopes else []
    if roles[:1] == ["system"] and "user" in roles:
        system, *others = body["messages"]
        at = roles.index("user") - 1
        others[at] = {**others[at], "content": f"{system['content']}\n\n{others[at]['content']}"}
        body = {**body, "messages": others}
    return dict(body)


def _error(text: str) -> Mapping[str, Any]:
    """The fields of an error, wherever a response has them."""
    data = parsed(text)
    data = data[0] if isinstance(data, list) and data else data
    data = data if isinstance(data, Mapping) else {}
    places = [data, *(data["choices"][:1] if isinstance(data.get("choices"), list) else [])]
    errors = (place.get("error") for place in places if isinstance(place, Mapping))
    return next((error for error in errors if isinstance(error, Mapping)), data)


def _inner_status(text: str) -> int | None:
    code = _error(text).get("code")
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    return code if type(code) is int and 400 <= code < 600 else None
