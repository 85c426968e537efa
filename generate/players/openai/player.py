"""Players behind any OpenAI-compatible endpoint.

    openai:gpt-4.1-mini                                       OpenAI (or OPENAI_BASE_URL); the key is in OPENAI_API_KEY
    openai:NAME@http://localhost:8000/v1                      vLLM, llama.cpp, Ollama, transformers serve…; no key
    openai:NAME@https://host/v1?key_env=MY_API_KEY&temperature=0.7

Options: temperature, reasoning_effort, max_tokens, key_env (the variable that holds the key) and json (how assessments
and forms are requested: schema (structured output, the default), object (any JSON) or none). See `key_rules` for which
key may be sent to which host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from liescope.common.errors import UnknownName, UsageError
from liescope.games.core import ASSESSMENTS, FORMS, Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import Endpoint, FormatRefused
from liescope.generate.players.openai.formats import response_format
from liescope.generate.players.openai.key_rules import OPENAI_HOST, default_url, find_key, host_of
from liescope.generate.players.openai.support import NO, FormatSupport
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.prompts import Prompts, load_prompts
from liescope.generate.players.protocol import EndpointFacts, PlayerContext, Price

OPTIONS = ("temperature", "max_tokens", "reasoning_effort", "key_env", "json")
FORMATS = ("schema", "object", "none")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed spec string. base_url: "" if it names none and the environment decides; sampling: request fields that
    affect the model's output.
    """

    name: str
    base_url: str = ""
    key_env: str = ""
    json: str = "schema"
    max_tokens: int | None = None
    sampling: tuple[tuple[str, float | str], ...] = ()

    @property
    def label(self) -> str:
        """The name in tables: the model's, with its sampling if that is not the endpoint's default."""
        shown = ", ".join(f"{name}={value}" for name, value in self.sampling)
        return f"{self.name} ({shown})" if shown else self.name


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model at an endpoint, ready to be asked. url: of the endpoint; price: None if none was given."""

    spec: ModelSpec
    url: str
    endpoint: Endpoint
    price: Price | None

    def body(self, prompt: str | Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """The request for an answer to a prompt, or to chat messages."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(map(dict, prompt))
        body: dict[str, Any] = {"model": self.spec.name, "messages": messages}
        body.update(self.spec.sampling)
        if self.spec.max_tokens is not None:
            # OpenAI's newer models accept only the second name, most other servers only the first.
            limit = "max_completion_tokens" if self.endpoint.host == OPENAI_HOST else "max_tokens"
            body[limit] = self.spec.max_tokens
        return body


class OpenAIPlayer:
    """A model behind an endpoint. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, opened: OpenedModel, prompts: Prompts, support: FormatSupport) -> None:
        self.model = opened.spec.label
        self._opened = opened
        self._spec, self._endpoint, self._price = opened.spec, opened.endpoint, opened.price
        self._prompts = prompts
        self._support = support

    def __repr__(self) -> str:
        return f"OpenAIPlayer({self.model!r}, {self._endpoint!r})"

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if this ask cannot be answered, RunPaused if the run has to stop for now."""
        body = self._opened.body(self._prompts.render(ask, view).text)
        if ask.kind not in ASSESSMENTS | FORMS or self._spec.json == NO:
            completion = await self._endpoint.complete(ask, body, self._price)
        else:
            completion = await self._formatted(ask, body)
        self._support.served(completion.served_model)
        return _reply(ask, completion)

    async def close(self) -> None:
        await self._endpoint.close()

    async def _formatted(self, ask: Ask, body: dict[str, Any]) -> Completion:
        """The answer to an ask for JSON, in a format that the endpoint accepts."""
        if self._support.known is None:
            async with self._support.finding_out:
                if self._support.known is None:
                    return await self._with_format(ask, body)
        if self._support.known == NO:
            return await self._endpoint.complete(ask, body, self._price)
        return await self._with_format(ask, body)

    async def _with_format(self, ask: Ask, body: dict[str, Any]) -> Completion:
        """Ask with the format; if that is refused, ask once more without it."""
        bounds = takes_bounds(self._endpoint.host, self._spec.name)
        form = response_format(ask, bounds) if self._spec.json == "schema" else {"type": "json_object"}
        try:
            completion = await self._endpoint.complete(ask, body | {"response_format": form}, self._price)
        except FormatRefused as refused:
            completion = await self._endpoint.complete(ask, body, self._price, refused.made)
            self._support.refused()
        else:
            self._support.accepted(self._spec.json)
        return completion


def takes_bounds(host: str, model: str) -> bool:
    """Whether a JSON schema for this model may contain the bounds of a number."""
    return host == OPENAI_HOST and not model.startswith("ft:")


def open_openai(argument: str, context: PlayerContext) -> OpenAIPlayer:
    """The player of a spec string without its "openai:".

    Raises UsageError for a spec that cannot be parsed, a key that may not be sent to its host or templates that do not
    work, UnknownName for an unknown option, MissingKey if the key's variable is not set.
    """
    prompts = load_prompts(context.prompts, context.game)
    opened = open_model(argument, context)
    place = (opened.endpoint.host, opened.spec.name)
    known = next((facts for facts in context.facts if (facts.host, facts.model) == place), EndpointFacts(*place))
    support = context.shared.once(FormatSupport, lambda: FormatSupport(known, context.learn), place)
    return OpenAIPlayer(opened, prompts, support)


def open_model(argument: str, context: PlayerContext) -> OpenedModel:
    """The model of a spec string without its "openai:"; the caller closes its endpoint. Raises as `open_openai`."""
    spec = read_spec(argument)
    url = spec.base_url or default_url()
    check_url(url)
    own = not spec.base_url
    key = find_key(f"openai:{spec.name}", url, spec.key_env, own, context.allowed_keys)
    price = (context.prices or {}).get(spec.label) or (context.prices or {}).get(spec.name)
    if context.max_cost is not None and price is None:
        raise UsageError(f"a budget in money needs the price of {spec.name!r}; give one, or a budget in tokens")
    if own:
        _check_same_host((host_of(url), spec.name), context.facts)
    return OpenedModel(spec, url, Endpoint.of(context, url, key), price)


def _check_same_host(place: tuple[str, str], facts: Sequence[EndpointFacts]) -> None:
    """Raises UsageError if the run would use the same model at another host because the environment changed."""
    host, model = place
    before = [known.host for known in facts if known.model == model]
    if before and host not in before:
        raise UsageError(
            f"this run asked {model!r} at {before[0]}, and OPENAI_BASE_URL now says {host}; set it as it was, or start "
            "a new run"
        )


def read_spec(argument: str) -> ModelSpec:
    """Read `NAME[@URL][?option=value&…]`. Raises UsageError, UnknownName."""
    head, _, query = argument.partition("?")
    name, url = head, ""
    for scheme in ("http://", "https://"):
        before, at, address = head.partition(f"@{scheme}")
        if at:
            name, url = before, scheme + address.rstrip("/")
    if not name:
        raise UsageError("an openai player needs a model's name, as in openai:gpt-4.1-mini")
    if url:
        check_url(url)
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


def check_url(url: str) -> None:
    """Raises UsageError for an invalid address, or one that contains a password."""
    try:
        parts = urlsplit(url)
        secret, host, port = parts.username or parts.password, parts.hostname, parts.port
    except ValueError:
        secret, host, port = None, None, None
    if not host or not url.startswith(("http://", "https://")) or port == 0 or any(sign.isspace() for sign in url):
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


def _reply(ask: Ask, completion: Completion) -> Reply:
    if completion.problem:
        return Reply(problem=completion.problem, notes=completion.notes, raw=completion.content or completion.refusal)
    reply = read_reply(ask, completion.content, completion.thinking)
    return replace(reply, notes=completion.notes + reply.notes) if completion.notes else reply
