"""What an OpenAI-compatible endpoint answered, read from its JSON without trusting its shape."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.games.core import Ask, Reply
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.parsing.choice import parsed, storable
from liescope.generate.players.parsing.message_parts import reasoning, spoken
from liescope.generate.players.player_protocol import CUT_PROMPT
from liescope.generate.players.run_limits import TokenUsage

_POSITIONS, _ALTERNATIVES = 16, 20  # the first tokens of an answer, whose probabilities are kept
_SHOWN = 300  # characters of an endpoint's message quoted in an error

EMPTY = "empty message"
REFUSED = "refused by the model"
Alternatives = tuple[tuple[str, float], ...]
"""The most likely tokens at one place of an answer with their log-probabilities, as the endpoint gives them."""

_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource"})
# finish reasons of an endpoint that lost its model
STREAM = re.compile(r"\s{0,99}(?:data|event|id|retry)?:")  # how server-sent events begin, unlike JSON
_FINISH_NOTES = {"length": "cut off at the token limit", "content_filter": "stopped by the content filter"}


@dataclass(frozen=True, slots=True)
class Completion:
    """content: the message; thinking: reasoning sent separately; refusal: the endpoint's refusal field; finish: why the
    model stopped; response_id and served_model: the endpoint's names for its answer and for the model behind it;
    tools: whether it called tools, though none were offered; tokens: the first ones of the message, if the request
    asked for log-probabilities and the endpoint gives them; streamed: whether it came in pieces; cut: whether the
    server seems to have cut the prompt; states_path: the server's file with its hidden states, if it keeps any.
    """

    content: str
    thinking: str = ""
    refusal: str = ""
    finish: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    response_id: str | None = None
    served_model: str | None = None
    tokens: tuple[Alternatives, ...] = ()
    tools: bool = False
    streamed: bool = False
    cut: bool = False
    states_path: str = ""

    @property
    def wordless(self) -> str:
        """Why it has no words and what to do about it, if the server or the request is to blame; or ""."""
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
    def said(self) -> str:
        """Its message, or the model's own reason why there is none."""
        return self.content or self.refusal

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
        own = (_FINISH_NOTES[self.finish],) if self.finish in _FINISH_NOTES else ()
        return (*own, CUT_PROMPT) if self.cut else own


def read_completion(body: str) -> Completion:
    """The first choice of a chat completion. Raises ValueError, with an explanation, for anything else: also for what
    an endpoint sends in place of an answer that its model did not give or finish.
    """
    data = parsed(body)
    if data is None:
        raise ValueError("the response is not valid JSON" if body.strip() else "the response is empty")
    first = _first(data)
    message = first.get("message")
    if message is None and isinstance(first.get("text"), str):
        message = {"content": first["text"]}
    if not isinstance(message, Mapping):
        raise ValueError(f"the response holds no message: {error_message(body)}")
    finish = spoken(first.get("finish_reason"))
    if first.get("error") or data.get("error") or finish in _BROKEN:
        words = f": {error_message(body)}" if first.get("error") or data.get("error") else ""
        raise ValueError(f"the answer broke off ({finish or 'error'}){words}")
    answer = Completion(
        content=spoken(message.get("content")),
        thinking=reasoning(message),
        refusal=spoken(message.get("refusal")),
        finish=finish,
        usage=_usage(data.get("usage")),
        response_id=_name(data.get("id")),
        served_model=_name(data.get("model")),
        tokens=_tokens(first.get("logprobs")),
        tools=bool(message.get("tool_calls") or message.get("function_call")),
        streamed=data.get("object") == _JOINED,
        states_path=_states_path(data.get("kv_transfer_params")),
    )
    if answer.problem == EMPTY and not answer.usage.completion and answer.usage.completion is not None:
        raise ValueError("the answer is empty and made of 0 tokens")
    return answer


def _states_path(given: Any) -> str:
    path = given.get("hidden_states_path") if isinstance(given, Mapping) else None
    return path if isinstance(path, str) else ""


def _first(data: Any) -> Mapping[str, Any]:
    """The first choice; empty if there is none."""
    choices = data.get("choices") if isinstance(data, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def billed(body: str) -> TokenUsage:
    """The tokens that a response counts, whether or not it holds an answer."""
    data = parsed(body)
    return _usage(data.get("usage") if isinstance(data, Mapping) else None)


_JOINED = "chat.completion.joined"


def joined_events(text: str) -> str:
    """A stream of server-sent events as the one completion that they make up, in JSON; any other text as it is.

    Words, reasoning, tool calls and log-probabilities are put together, the rest is the last that was given. An error
    stays one, with what was counted until then, and so does a stream that ends before it says that it does.
    """
    if not STREAM.match(text):
        return text
    whole: dict[str, Any] = {"object": _JOINED}
    pieces = defaultdict[str, list[Any]](list)
    places: list[Any] = []
    finish, ended = None, False
    for data in _events(text):
        if data == "[DONE]":
            ended = True
            continue
        chunk = parsed(data)
        if not isinstance(chunk, Mapping):
            continue
        whole |= {name: chunk[name] for name in ("id", "model", "usage", "error") if chunk.get(name)}
        if "message" in chunk and "choices" not in chunk:
            whole.setdefault("error", chunk)
        first = _first(chunk)
        if first.get("error"):
            whole["error"] = first["error"]
        part = first.get("delta") or first.get("message") or {"content": first.get("text")}
        for name, value in part.items() if isinstance(part, Mapping) else ():
            if value and (name != "role"):
                pieces[name].append(value)
        logprobs = first.get("logprobs")
        found = logprobs.get("content") if isinstance(logprobs, Mapping) else None
        places += found if isinstance(found, list) else []
        finish = first.get("finish_reason") or finish
    if not ended and not finish:
        whole.setdefault("error", "the stream ended in the middle")
    message = {name: _put_together(values) for name, values in pieces.items()}
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": {"content": places}}
    return json.dumps(whole | {"choices": [choice]})


def _put_together(values: Sequence[Any]) -> Any:
    if all(isinstance(value, str) for value in values):
        return "".join(values)
    listed = (value if isinstance(value, list) else [value] for value in values)
    return [{"type": "text", "text": one} if isinstance(one, str) else one for value in listed for one in value]


def _events(text: str) -> Iterator[str]:
    """The data of each event."""
    for event in re.split(r"(?:\r?\n|\r){2}", text):
        lines = [line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:")]
        yield from ["\n".join(lines)] if lines else []


def reply_of(ask: Ask, completion: Completion) -> Reply:
    """The reply to an ask in a completion."""
    if completion.problem:
        return Reply(problem=completion.problem, notes=completion.notes, raw=completion.said)
    reply = read_reply(ask, completion.content, completion.thinking)
    return replace(reply, notes=completion.notes + reply.notes) if completion.notes else reply


def error_message(body: str) -> str:
    """An endpoint's error message, on one line and truncated."""
    data = parsed(body) or body
    if isinstance(data, Mapping) and not data.get("error"):
        data = {**data, "error": _first(data).get("error")}
    for key in ("error", "message", "detail"):
        if isinstance(data, Mapping) and data.get(key):
            data = data[key]
    words = " ".join(storable(data if isinstance(data, str) else json.dumps(data)).split())
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"


def _name(value: Any) -> str | None:
    return storable(value)[:_SHOWN] if isinstance(value, str) and value else None


def _tokens(value: Any) -> tuple[Alternatives, ...]:
    """The first tokens and their alternatives; () if anything has another shape."""
    places = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(places, list) or not all(isinstance(place, Mapping) for place in places):
        return ()
    found = []
    for place in places[:_POSITIONS]:
        others = place.get("top_logprobs")
        named = filter(_is_token, [place, *(others if isinstance(others, list) else [])[:_ALTERNATIVES]])
        found.append(tuple({storable(one["token"]): max(float(one["logprob"]), -1e4) for one in named}.items()))
    return tuple(found)


def _is_token(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("token"), str):
        return False
    return type(value.get("logprob")) in (int, float) and value["logprob"] <= 0


def _usage(value: Any) -> TokenUsage:
    """The counts, by any of their names: in the prompt's details (OpenAI, most others) or at the top (DeepSeek…)."""
    usage = value if isinstance(value, Mapping) else {}
    details = usage.get("prompt_tokens_details"), usage.get("input_tokens_details"), usage
    cached = _count(details, "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    prompt, fresh = _count([usage], "prompt_tokens"), _count([usage], "input_tokens")
    if prompt is None and fresh is not None:
        prompt = fresh
        if "cache_read_input_tokens" in usage:  # Anthropic counts fresh, written and cached tokens apart
            prompt += (cached or 0) + (_count([usage], "cache_creation_input_tokens") or 0)
    return TokenUsage(prompt, cached, _count([usage], "completion_tokens", "output_tokens"))


def _count(places: Iterable[Any], *names: str) -> int | None:
    values = (place.get(name) for place in places if isinstance(place, Mapping) for name in names)
    return next((value for value in values if type(value) is int and 0 <= value < 2**53), None)
