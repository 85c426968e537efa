"""What an OpenAI-compatible endpoint answered, read from its JSON without trusting its shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.games.core import Ask, Reply
from liescope.generate.players.openai.budget import Usage
from liescope.generate.players.openai.message import reasoning, spoken
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.parsing.clean import storable

_POSITIONS, _ALTERNATIVES = 16, 20  # of an answer's tokens whose probabilities are kept
_SHOWN = 300  # characters of an endpoint's message quoted in an error

EMPTY = "empty message"
REFUSED = "refused by the model"
Alternatives = tuple[tuple[str, float], ...]
"""The most likely tokens at one place of an answer with their log-probabilities, as the endpoint gives them."""

_FINISH_NOTES = {"length": "cut off at the token limit", "content_filter": "stopped by the content filter"}


@dataclass(frozen=True, slots=True)
class Completion:
    """content: the message; thinking: reasoning sent separately; refusal: the endpoint's refusal field; finish: why the
    model stopped; response_id and served_model: the endpoint's names for its answer and for the model behind it;
    tools: whether it called tools, which nobody offered;
    tokens: at the first places of the message, if the request asked for log-probabilities and the endpoint gives them.
    """

    content: str
    thinking: str = ""
    refusal: str = ""
    finish: str = ""
    usage: Usage = field(default_factory=Usage)
    response_id: str | None = None
    served_model: str | None = None
    tokens: tuple[Alternatives, ...] = ()
    tools: bool = False

    @property
    def wordless(self) -> str:
        """Why there is no word in it, if the server or the request is to blame, and what to do about it; or ""."""
        if self.refusal or self.content.strip():
            return ""
        if self.tools:
            return (
                "it called tools, which nobody offered, instead of answering: turn its parser of tool calls off, or "
                'set "tool_choice" to "none" in a file for ?extra='
            )
        if not (self.thinking or self.finish == "length"):
            return ""
        what = "only reasoning" if self.thinking else "no word"
        when = " before the token limit" if self.finish == "length" else ""
        return (
            f"it gave {what} and no answer{when}: give it room with a larger max_tokens, or less to think about with "
            "?thinking= or ?reasoning_effort="
        )

    @property
    def problem(self) -> str:
        """Why the completion cannot be used, or ""."""
        if self.refusal:
            return REFUSED
        if self.content.strip():
            return ""
        only = "only tool calls" if self.tools else "only reasoning" if self.thinking else ""
        notes = [words for words in (only, _FINISH_NOTES.get(self.finish, "")) if words]
        return f"{EMPTY} ({', '.join(notes)})" if notes else EMPTY

    @property
    def notes(self) -> tuple[str, ...]:
        return (_FINISH_NOTES[self.finish],) if self.finish in _FINISH_NOTES else ()


def read_completion(body: str) -> Completion:
    """The first choice of a chat completion. Raises ValueError, with an explanation, for anything else."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the response is not valid JSON" if body.strip() else "the response is empty") from None
    choices = data.get("choices") if isinstance(data, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise ValueError(f"the response holds no message: {error_message(body)}")
    return Completion(
        content=spoken(message.get("content")),
        thinking=reasoning(message),
        refusal=spoken(message.get("refusal")),
        finish=spoken(first.get("finish_reason")),
        usage=_usage(data.get("usage")),
        response_id=_name(data.get("id")),
        served_model=_name(data.get("model")),
        tokens=_tokens(first.get("logprobs")),
        tools=bool(message.get("tool_calls") or message.get("function_call")),
    )


def reply_of(ask: Ask, completion: Completion) -> Reply:
    """The reply to an ask in a completion."""
    if completion.problem:
        return Reply(problem=completion.problem, notes=completion.notes, raw=completion.content or completion.refusal)
    reply = read_reply(ask, completion.content, completion.thinking)
    return replace(reply, notes=completion.notes + reply.notes) if completion.notes else reply


def error_message(body: str) -> str:
    """An endpoint's error message, on one line and truncated."""
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        data = body
    for key in ("error", "message", "detail"):
        if isinstance(data, Mapping) and data.get(key):
            data = data[key]
    words = " ".join(storable(data if isinstance(data, str) else json.dumps(data)).split())
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"


def _name(value: Any) -> str | None:
    return storable(value)[:_SHOWN] if isinstance(value, str) and value else None


def _tokens(value: Any) -> tuple[Alternatives, ...]:
    """What was written and its alternatives, at each of the first places; () if anything has another shape."""
    places = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(places, list):
        return ()
    found = []
    for place in places[:_POSITIONS]:
        if not isinstance(place, Mapping):
            return ()
        others = place.get("top_logprobs")
        pairs = dict(map(_token, [place, *(others if isinstance(others, list) else [])[:_ALTERNATIVES]]))
        found.append(tuple((token, value) for token, value in pairs.items() if value is not None))
    return tuple(found)


def _token(value: Any) -> tuple[str, float | None]:
    data = value if isinstance(value, Mapping) else {}
    token, number = data.get("token"), data.get("logprob")
    if not isinstance(token, str) or not isinstance(number, int | float) or isinstance(number, bool) or not number <= 0:
        return "", None
    return storable(token), max(float(number), -1e4)


def _usage(value: Any) -> Usage:
    if not isinstance(value, Mapping):
        return Usage()
    prompt, cached = _count(value.get("prompt_tokens")), _cached(value)
    if prompt is None and (fresh := _count(value.get("input_tokens"))) is not None:
        written = _count(value.get("cache_creation_input_tokens")) or 0
        beside = "cache_read_input_tokens" in value  # Anthropic counts fresh, written and cached tokens apart
        prompt = fresh + (written + (cached or 0) if beside else 0)
    completion = _count(value.get("completion_tokens"))
    return Usage(prompt, cached, _count(value.get("output_tokens")) if completion is None else completion)


def _cached(usage: Mapping[str, Any]) -> int | None:
    """Tokens from the endpoint's cache, by any of their names: in the details of the prompt (OpenAI and most others),
    or at the top (DeepSeek, Anthropic, Moonshot).
    """
    for details in (usage.get("prompt_tokens_details"), usage.get("input_tokens_details"), usage):
        if isinstance(details, Mapping):
            for name in ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"):
                if (count := _count(details.get(name))) is not None:
                    return count
    return None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
