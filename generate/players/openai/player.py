"""Players behind any OpenAI-compatible endpoint.

    openai:gpt-4.1-mini                                       OpenAI; the key stands in OPENAI_API_KEY
    openai:NAME@http://localhost:8000/v1                      vLLM, llama.cpp, Ollama, transformers serve…; no key
    openai:NAME@https://host/v1?key_env=MY_KEY&temperature=0.7

Options: temperature, reasoning_effort, max_tokens, key_env (the variable that holds the key) and json, how assessments
and forms are asked for: schema (structured output, the default), object (any JSON) or none. OpenAI's own key is never
sent to another address unless key_env names it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from liescope.common.errors import MissingKey, UnknownName, UsageError
from liescope.games.core import ASSESSMENTS, FORMS, Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import NO_KEY, Endpoint, FormatRefused, Key
from liescope.generate.players.openai.formats import response_format
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.prompts import Prompts, load_prompts
from liescope.generate.players.protocol import PlayerContext, Price

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
OPTIONS = ("temperature", "max_tokens", "reasoning_effort", "key_env", "json")
FORMATS = ("schema", "object", "none")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A spec string, read. sampling: fields of the request that change what the model says."""

    name: str
    base_url: str = DEFAULT_URL
    key_env: str = ""
    json: str = "schema"
    max_tokens: int | None = None
    sampling: tuple[tuple[str, float | str], ...] = ()

    @property
    def label(self) -> str:
        """The name in tables: the model's, and its sampling where it is not the endpoint's default."""
        shown = ", ".join(f"{name}={value}" for name, value in self.sampling)
        return f"{self.name} ({shown})" if shown else self.name


class OpenAIPlayer:
    """A model behind an endpoint. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, spec: ModelSpec, endpoint: Endpoint, prompts: Prompts, price: Price | None) -> None:
        self.model = spec.label
        self._spec = spec
        self._endpoint = endpoint
        self._prompts = prompts
        self._price = price
        self._json = spec.json

    def __repr__(self) -> str:
        return f"OpenAIPlayer({self.model!r}, {self._endpoint!r})"

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed when the endpoint gives no answer, BudgetSpent when it may not be asked."""
        body = self._body(ask, self._prompts.render(ask, view).text)
        try:
            completion = await self._endpoint.complete(ask, body, self._price)
        except FormatRefused:
            del body["response_format"]
            completion = await self._endpoint.complete(ask, body, self._price, made=1)
            self._json = "none"
        return _reply(ask, completion)

    async def close(self) -> None:
        await self._endpoint.close()

    def _body(self, ask: Ask, prompt: str) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._spec.name, "messages": [{"role": "user", "content": prompt}]}
        body.update(self._spec.sampling)
        if self._spec.max_tokens is not None:
            # OpenAI's newer models know only the second name, most other servers only the first.
            limit = "max_completion_tokens" if self._spec.base_url == DEFAULT_URL else "max_tokens"
            body[limit] = self._spec.max_tokens
        if ask.kind in ASSESSMENTS | FORMS and self._json != "none":
            body["response_format"] = response_format(ask) if self._json == "schema" else {"type": "json_object"}
        return body


def open_openai(argument: str, table: PlayerContext) -> OpenAIPlayer:
    """The player of a spec string without its "openai:".

    Raises UsageError for a spec that cannot be read or templates that do not work, UnknownName for an unknown option,
    MissingKey where the key's variable is not set.
    """
    spec = read_spec(argument)
    key = _key(spec)
    price = (table.prices or {}).get(spec.label) or (table.prices or {}).get(spec.name)
    if table.max_cost is not None and price is None:
        raise UsageError(f"a budget in money needs the price of {spec.name!r}; give one, or a budget in tokens")
    prompts = load_prompts(table.prompts, table.game)
    return OpenAIPlayer(spec, Endpoint.of(table, spec.base_url, key), prompts, price)


def read_spec(argument: str) -> ModelSpec:
    """Read `NAME[@URL][?option=value&…]`. Raises UsageError, UnknownName."""
    head, _, query = argument.partition("?")
    name, url = head, DEFAULT_URL
    for scheme in ("http://", "https://"):
        before, at, address = head.partition(f"@{scheme}")
        if at:
            name, url = before, scheme + address.rstrip("/")
    if not name:
        raise UsageError("an openai player needs a model's name, as in openai:gpt-4.1-mini")
    _check_url(url)
    options = dict(parse_qsl(query, keep_blank_values=True))
    for option in options:
        if option not in OPTIONS:
            raise UnknownName("option", option, OPTIONS)
    form = options.get("json", "schema")
    if form not in FORMATS:
        raise UnknownName("json option", form, FORMATS)
    sampling: list[tuple[str, float | str]] = []
    if "reasoning_effort" in options:
        sampling.append(("reasoning_effort", options["reasoning_effort"]))
    if "temperature" in options:
        sampling.append(("temperature", _number(options, "temperature", 0, 10)))
    limit = int(_number(options, "max_tokens", 1, 10**9)) if "max_tokens" in options else None
    return ModelSpec(name, url, options.get("key_env", ""), form, limit, tuple(sampling))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        secret, host, port = parts.username or parts.password, parts.hostname, parts.port
    except ValueError:
        secret, host, port = None, None, None
    if not host or port == 0 or any(sign.isspace() for sign in url):
        raise UsageError("an endpoint's address looks like http://host:port/v1; the given one cannot be read")
    if secret:
        raise UsageError("an endpoint's address must hold no password; put it in a variable and name that in key_env")


def _number(options: Mapping[str, str], name: str, least: float, most: float) -> float:
    try:
        value = float(options[name])
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}, not {options[name]!r}")
    return value


def _key(spec: ModelSpec) -> Key:
    own = spec.base_url == DEFAULT_URL
    variable = spec.key_env or (DEFAULT_KEY if own else "")
    secret = os.environ.get(variable, "").strip() if variable else NO_KEY
    if not secret:
        raise MissingKey(variable, f"openai:{spec.name} at {spec.base_url}")
    if not (secret.isascii() and secret.isprintable()):
        raise UsageError(f"the key in {variable} holds characters that no HTTP header takes; copy it again")
    return Key(variable, secret)


def _reply(ask: Ask, completion: Completion) -> Reply:
    if completion.problem:
        return Reply(problem=completion.problem, notes=completion.notes, raw=completion.content or completion.refusal)
    reply = read_reply(ask, completion.content, completion.thinking)
    return replace(reply, notes=completion.notes + reply.notes) if completion.notes else reply
