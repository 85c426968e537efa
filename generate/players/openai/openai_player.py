"""Players behind any OpenAI-compatible endpoint.

    openai:gpt-4.1-mini                                       OpenAI (or OPENAI_BASE_URL); the key is in OPENAI_API_KEY
    openai:NAME@http://localhost:8000/v1                      vLLM, llama.cpp, Ollama, transformers serve…; no key
    openai:NAME@https://host/v1?key_env=MY_API_KEY&temperature=0.7

The spec is read by `spec`, which says which key may be sent to which host.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from liescope.common.errors import EndpointRefused, EndpointSilent, UsageError
from liescope.common.text import plain
from liescope.games.core import ASSESSMENTS, FORMS, Ask, AskKind, Event, Phase, Reply
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source
from liescope.generate.players.kept_states import ASKED_FOR, keep_served
from liescope.generate.players.openai.completion import Completion, reply_of
from liescope.generate.players.openai.endpoint import NO, QUESTION, Endpoint, FormatRefused, FormatSupport, Request
from liescope.generate.players.openai.spec import (
    OPENAI_HOST,
    ModelSpec,
    check_url,
    default_url,
    find_key,
    host_of,
    read_extra,
    read_spec,
    thinking_fields,
)
from liescope.generate.players.openai.verdict import Came, Refusal, Scope, Trouble, Verdict, adapted
from liescope.generate.players.parsing.choice import parsed, split_reasoning
from liescope.generate.players.parsing.reply_forms import _strict, response_format
from liescope.generate.players.player_protocol import PREFLIGHT, Halt, PlayerContext
from liescope.generate.players.player_registry import NamedText, joined
from liescope.generate.players.prompts.render import Prompts, load_prompts
from liescope.generate.players.run_limits import Price, price_of

SECONDS = 20.0  # for the preflight; a server that is still loading its model may need longer, and the games wait for it
LIST_SECONDS = 10.0
AGAIN = 1.0  # seconds until a silent address is tried once more
_FORMATS: Mapping[str, Mapping[str, Any]] = {
    "schema": _strict("ready", {"ready": {"type": "boolean"}}),
    "object": {"type": "json_object"},
}
_MOST_NAMES = 5

Extras = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model at an endpoint, ready to be asked. price: None if unknown; persona: the system message of its seats;
    extra: a file with more fields of every request, which are in fields; temperature: of the game, for specs without.
    """

    spec: ModelSpec
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
        if self.spec.options.reasoning_effort:
            body["reasoning_effort"] = self.spec.options.reasoning_effort
        settings = self.spec.options.at(kind)
        if self.endpoint.host == OPENAI_HOST and "max_tokens" in settings:
            # OpenAI's newer models accept only this name, most other servers only the other.
            settings["max_completion_tokens"] = settings.pop("max_tokens")
        return adapted(body | settings, {Scope.STREAM} if self.spec.options.stream else ())


@dataclass(frozen=True, slots=True)
class Preflight:
    """A small first question to a model, with its own parameters."""

    model: OpenedModel
    support: FormatSupport
    halt: Halt

    async def run(self) -> None:
        """Ask, and note what the model can do.

        Raises EndpointRefused or EndpointSilent, each with what to do; RunPaused if the run is ending.
        """
        began = time.monotonic()
        listing, (verdict, extras) = await self._both()
        if _dead(verdict, listing) and time.monotonic() - began < AGAIN:
            await self.halt.sleep(AGAIN)
            listing, (verdict, extras) = await self._both()
        if isinstance(verdict, Completion):
            if verdict.wordless and not await self._speaks():
                url = self.model.endpoint.base_url
                raise EndpointRefused(f"{url}: asked one small question, {verdict.wordless}")
            self._note(verdict, extras)
        elif isinstance(verdict, Refusal):
            raise self._refused(verdict, listing)
        elif _dead(verdict, listing):
            raise _silent(self.model.endpoint, verdict)

    async def _both(self) -> tuple[Came, tuple[Verdict, Extras]]:
        return await asyncio.gather(self.model.endpoint.models(LIST_SECONDS), self._asked())

    async def _asked(self) -> tuple[Verdict, Extras]:
        """The outcome of the question, and the extras it had."""
        for number, extras in enumerate(self._tries(), 1):
            verdict = await self._ask(extras, number=number)
            if not (isinstance(verdict, Refusal) and verdict.scope is Scope.FORMAT):
                break
        return verdict, extras

    async def _speaks(self) -> bool:
        """Whether a second answer, to the plain question, has words; also True if none came: the games will tell."""
        verdict = await self._ask({}, step=1)
        return not (isinstance(verdict, Completion) and verdict.wordless)

    async def _ask(self, extras: Extras, step: int = 0, number: int = 1) -> Verdict:
        ask = Ask(PREFLIGHT, step, self.model.spec.name, AskKind.SPEAK, 0, Phase.SETUP)
        persona = self.model.persona
        body = self.model.body(QUESTION, system="" if persona is None else persona.text)
        request = Request(ask, {**body, **extras}, self.model.price, number)
        return await self.model.endpoint.ask_once(request, SECONDS)

    def _tries(self) -> Sequence[Extras]:
        """The extras to ask for, until one request is answered."""
        if self.model.spec.options.form == NO or self.support.facts.json is not None:
            return ({},)
        return {"response_format": _FORMATS[self.model.spec.options.form]}, {}

    def _note(self, answer: Completion, extras: Extras) -> None:
        if len(self._tries()) > 1:
            self.support.found(json=self.model.spec.options.form if extras else NO)
        self.support.served(answer.served_model)

    def _refused(self, refusal: Refusal, listing: Came) -> EndpointRefused:
        if refusal.scope is not Scope.PLAYER:
            refusal = replace(refusal, advice="correct the player's options")
            return self.model.endpoint.refused(refusal)
        names = [str(entry["id"]) for entry in _entries(listing)]
        if refusal.advice and names and self.model.spec.name not in names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            refusal = replace(refusal, advice=f"{refusal.advice}; it has {plain(', '.join(names[:_MOST_NAMES]))}{more}")
        return self.model.endpoint.refused(refusal)


async def watch_start(endpoint: Endpoint, halt: Halt, waited: Callable[[], bool]) -> None:
    """End the waiting if the endpoint is dead, for callers without a preflight: the list of models failed twice.
    waited: whether an answer is overdue.
    """
    first = await endpoint.models(LIST_SECONDS)
    await asyncio.sleep(AGAIN)
    if isinstance(first, Trouble) and _dead(first, await endpoint.models(LIST_SECONDS)) and waited():
        halt.set(_silent(endpoint, first))


def _silent(endpoint: Endpoint, trouble: Trouble) -> EndpointSilent:
    advice = "" if "SSL_CERT_FILE" in trouble.problem else "; start the server, or correct the address"
    return EndpointSilent(f"{endpoint.base_url} gives no answer: {trouble.problem}{advice}", endpoint.host)


def _dead(verdict: Verdict, listing: Came) -> bool:
    """Whether nobody is there: neither question nor list got through. A slow endpoint may only be loading its model."""
    return all(isinstance(one, Trouble) and not (one.heard or one.overloaded) for one in (verdict, listing))


def _entries(listing: Came) -> Sequence[Mapping[str, Any]]:
    """The models in a list of models: under "data", or, from Together, the list itself."""
    if isinstance(listing, Trouble) or listing.status != 200:
        return ()
    data = parsed(listing.text)
    found = data.get("data") if isinstance(data, Mapping) else data
    return [one for one in found if isinstance(one, Mapping) and "id" in one] if isinstance(found, list) else ()


class OpenAIPlayer:
    """A model behind an endpoint. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, opened: OpenedModel, prompts: Prompts, support: FormatSupport, halt: Halt) -> None:
        self.model = opened.label
        self.host = opened.endpoint.host
        self._opened, self._endpoint, self._prompts = opened, opened.endpoint, prompts
        self._support, self._halt = support, halt

    async def prepare(self) -> None:
        """Ask the model one small question. Raises as `Preflight.run`."""
        await Preflight(self._opened, self._support, self._halt).run()

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if this ask cannot be answered, RunPaused if the run has to stop for now."""
        persona = self._opened.persona
        system = "" if persona is None else persona.filled(ask, view)
        prompt = self._prompts.render(ask, view, self._opened.spec.options.remembers)
        body = self._opened.body(prompt.text, ask.kind, system)
        if ask.kind not in ASSESSMENTS | FORMS or self._opened.spec.options.form == NO:
            completion = await self._endpoint.complete(ask, body, self._opened.price)
        else:
            completion = await self._formatted(ask, body)
        self._support.served(completion.served_model)
        if self._opened.spec.options.states and not completion.problem:
            await self._keep_states(ask, completion)
        return self._endpoint.safe(reply_of(ask, completion))

    async def close(self) -> None:
        await self._endpoint.close()

    async def _keep_states(self, ask: Ask, completion: Completion) -> None:
        """Keep the hidden states of a reply that begins with its answer. Raises UsageError if the server keeps none."""
        if completion.thinking or split_reasoning(completion.content).reasoning:
            self._support.noted("states", "no states are kept of replies that begin with reasoning; turn it off")
            return
        spec, prompt = self._opened.spec, completion.usage.prompt or 0
        folder = Path(spec.options.states_to)
        await keep_served(folder, ask, spec.options.states, completion.states_path, prompt, spec.name)

    async def _formatted(self, ask: Ask, body: dict[str, Any]) -> Completion:
        """The answer to an ask for JSON, in a format that the endpoint accepts: if it is refused, without one."""
        spec, price = self._opened.spec, self._opened.price
        if self._support.facts.json == NO:
            return await self._endpoint.complete(ask, body, price)
        form = response_format(ask) if spec.options.form == "schema" else {"type": "json_object"}
        try:
            completion = await self._endpoint.complete(ask, body | {"response_format": form}, price)
        except FormatRefused as refused:
            completion = await self._endpoint.complete(ask, body, price, refused.made)
            self._support.refused()
        else:
            self._support.accepted(spec.options.form)
        return completion


def open_openai(argument: str, context: PlayerContext) -> OpenAIPlayer:
    """The player of a spec string without its "openai:".

    Raises UsageError for a spec that cannot be parsed, a key that may not be sent to its host or templates that do not
    work, UnknownName for an unknown option, MissingKey if the key's variable is not set.
    """
    prompts = load_prompts(context.prompts, context.game)
    opened = replace(open_model(argument, context), temperature=PROMPTS[context.game].temperature)
    return OpenAIPlayer(opened, prompts, opened.endpoint.support(opened.spec.name), context.halt)


def open_model(argument: str, context: PlayerContext) -> OpenedModel:
    """The model of a spec string without its "openai:"; the caller closes its endpoint. Raises as `open_openai`."""
    spec = read_spec(argument)
    url = spec.base_url or default_url()
    check_url(url)
    own = not spec.base_url
    key = find_key(f"openai:{spec.name}", url, spec.options.key_env, own, context.limits.allow_key)
    persona, extra = (NamedText.of(name, context.files) for name in (spec.options.persona, spec.options.extra))
    fields = {} if (budget := spec.options.thinking) is None else thinking_fields(host_of(url), budget)
    if spec.options.states:
        fields |= ASKED_FOR
    if extra is not None:
        fields |= read_extra(extra)
    price = price_of(context.limits.prices, context.limits.currency, host_of(url), spec.label, spec.name)
    if context.limits.max_cost is not None and price is None:
        raise UsageError(
            f"a budget in money needs the price of {spec.name!r}, which is not known here: give --price "
            f"{spec.name}=PROMPT,COMPLETION, or a budget in tokens"
        )
    before = [known.host for known in context.facts if known.model == spec.name]
    if own and before and host_of(url) not in before:
        raise UsageError(
            f"this run asked {spec.name!r} at {before[0]}, and OPENAI_BASE_URL now says {host_of(url)}; set it as it "
            "was, or start a new run"
        )
    return OpenedModel(spec, Endpoint.of(context, url, key), price, persona, extra, fields)
