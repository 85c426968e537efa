"""Players behind any OpenAI-compatible endpoint.

    openai:gpt-4.1-mini                                       OpenAI (or OPENAI_BASE_URL); the key is in OPENAI_API_KEY
    openai:NAME@http://localhost:8000/v1                      vLLM, llama.cpp, Ollama, transformers serve…; no key
    openai:NAME@https://host/v1?key_env=MY_API_KEY&temperature=0.7

The spec is read by `spec`. See `key_rules` for which key may be sent to which host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.common.errors import UsageError
from liescope.games.core import ASSESSMENTS, FORMS, Ask, AskKind, Event, Reply
from liescope.games.record import Source
from liescope.games.registry import PROMPTS
from liescope.generate.players.openai.completion import Completion, reply_of
from liescope.generate.players.openai.endpoint import Endpoint, FormatRefused
from liescope.generate.players.openai.key_rules import OPENAI_HOST, default_url, find_key, host_of
from liescope.generate.players.openai.preflight import NO, QUESTION, FormatSupport, Preflight, response_format
from liescope.generate.players.openai.spec import ModelSpec, check_url, read_extra, read_spec, thinking_fields
from liescope.generate.players.prices import price_of
from liescope.generate.players.prompts import Prompts, load_prompts
from liescope.generate.players.protocol import EndpointFacts, PlayerContext, Price
from liescope.generate.players.registry import NamedText, file_text, joined


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model at an endpoint, ready to be asked. url: of the endpoint; price: None if none was given; persona: the
    system message of its seats; extra: more fields of every request; temperature: of the game, for where the spec names
    none.
    """

    spec: ModelSpec
    url: str
    endpoint: Endpoint
    price: Price | None
    persona: NamedText | None = None
    extra: NamedText | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    temperature: float | None = None

    @property
    def label(self) -> str:
        """The name in tables: the spec's, with the files that it names."""
        files = {"persona": self.persona, "extra": self.extra}
        named = [f"{option}={text.label}" for option, text in files.items() if text is not None]
        return joined(self.spec.name, [*named, *self.spec.shown])

    def body(
        self, prompt: str | Sequence[Mapping[str, str]], kind: AskKind | None = None, system: str = ""
    ) -> dict[str, Any]:
        """The request for an answer to a prompt, or to chat messages. kind: of the ask; system: a system message."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(map(dict, prompt))
        if system:
            messages.insert(0, {"role": "system", "content": system})
        body: dict[str, Any] = {"model": self.spec.name, "messages": messages}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        body |= self.fields
        if self.spec.effort:
            body["reasoning_effort"] = self.spec.effort
        settings = self.spec.options.at(kind)
        if self.endpoint.host == OPENAI_HOST and "max_tokens" in settings:
            # OpenAI's newer models accept only this name, most other servers only the other.
            settings["max_completion_tokens"] = settings.pop("max_tokens")
        return body | settings


class OpenAIPlayer:
    """A model behind an endpoint. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, opened: OpenedModel, prompts: Prompts, support: FormatSupport, preflight: Preflight) -> None:
        self.model = opened.label
        self.host = "" if opened.endpoint.batched else opened.endpoint.host
        self._opened = opened
        self._spec, self._endpoint, self._price = opened.spec, opened.endpoint, opened.price
        self._prompts = prompts
        self._support = support
        self._preflight = preflight

    def __repr__(self) -> str:
        return f"OpenAIPlayer({self.model!r}, {self._endpoint!r})"

    async def prepare(self) -> None:
        """Ask the model one small question. Raises as `Preflight.run`."""
        await self._preflight.run()

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if this ask cannot be answered, RunPaused if the run has to stop for now."""
        persona = self._opened.persona
        system = "" if persona is None else persona.filled(ask, view)
        body = self._opened.body(self._prompts.render(ask, view).text, ask.kind, system)
        if ask.kind not in ASSESSMENTS | FORMS or self._spec.json == NO:
            completion = await self._endpoint.complete(ask, body, self._price)
        else:
            completion = await self._formatted(ask, body)
        self._support.served(completion.served_model)
        return self._endpoint.safe(reply_of(ask, completion))

    async def close(self) -> None:
        await self._endpoint.close()

    async def _formatted(self, ask: Ask, body: dict[str, Any]) -> Completion:
        """The answer to an ask for JSON, in a format that the endpoint accepts."""
        if self._support.known is None:
            async with self._support.finding_out:
                if self._support.known is None:
                    return await self._with_format(ask, body, now=True)
        if self._support.known == NO:
            return await self._endpoint.complete(ask, body, self._price)
        return await self._with_format(ask, body)

    async def _with_format(self, ask: Ask, body: dict[str, Any], now: bool = False) -> Completion:
        """Ask with the format; if that is refused, ask once more without it. now: as in `Endpoint.complete`."""
        bounds = takes_bounds(self._endpoint.host, self._spec.name)
        form = response_format(ask, bounds) if self._spec.json == "schema" else {"type": "json_object"}
        try:
            completion = await self._endpoint.complete(ask, body | {"response_format": form}, self._price, now=now)
        except FormatRefused as refused:
            completion = await self._endpoint.complete(ask, body, self._price, refused.made, now)
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
    opened = replace(open_model(argument, context), temperature=PROMPTS[context.game].temperature)
    place = (opened.endpoint.host, opened.spec.name)
    known = next((facts for facts in context.facts if (facts.host, facts.model) == place), EndpointFacts(*place))
    support = context.shared.once(FormatSupport, lambda: FormatSupport(known, context.learn), place)
    return OpenAIPlayer(opened, prompts, support, preflight_of(opened, support, context))


def preflight_of(opened: OpenedModel, support: FormatSupport, context: PlayerContext) -> Preflight:
    """The question to a model before it is asked anything else."""
    return Preflight(opened.endpoint, opened.body(QUESTION), opened.spec.json, opened.price, support, context.halt)


def open_model(argument: str, context: PlayerContext) -> OpenedModel:
    """The model of a spec string without its "openai:"; the caller closes its endpoint. Raises as `open_openai`."""
    spec = read_spec(argument)
    url = spec.base_url or default_url()
    check_url(url)
    own = not spec.base_url
    key = find_key(f"openai:{spec.name}", url, spec.key_env, own, context.allowed_keys)
    persona, extra = (
        NamedText(name, file_text(name, context.files)) if name else None for name in (spec.options.persona, spec.extra)
    )
    fields = {} if spec.thinking is None else thinking_fields(host_of(url), spec.thinking)
    if extra is not None:
        fields |= read_extra(extra)
    price = price_of(context.prices, context.currency, host_of(url), spec.label, spec.name)
    if context.max_cost is not None and price is None:
        raise UsageError(
            f"a budget in money needs the price of {spec.name!r}, which is not known here: give --price "
            f"{spec.name}=PROMPT,COMPLETION, or a budget in tokens"
        )
    if own:
        _check_same_host((host_of(url), spec.name), context.facts)
    return OpenedModel(spec, url, Endpoint.of(context, url, key), price, persona, extra, fields)


def _check_same_host(place: tuple[str, str], facts: Sequence[EndpointFacts]) -> None:
    """Raises UsageError if the run would use the same model at another host because the environment changed."""
    host, model = place
    before = [known.host for known in facts if known.model == model]
    if before and host not in before:
        raise UsageError(
            f"this run asked {model!r} at {before[0]}, and OPENAI_BASE_URL now says {host}; set it as it was, or start "
            "a new run"
        )
