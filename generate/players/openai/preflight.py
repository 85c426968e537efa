"""What a model at an endpoint can do: asked in one small question before the first game, and learned from answers.

A dead server, an unknown model or a bad key ends the run within seconds, before a game is begun. A rate limit or an
overload does not: it passes. The question asks for a JSON schema and for log-probabilities at once; only if that is
refused are there more requests. A run that resumes asks for neither, and keeps what it knew.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from liescope.common.errors import EndpointRefused, EndpointSilent
from liescope.common.text import plain
from liescope.games.core import Ask, AskKind, LessonKind, Phase
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.openai.accounts import Request
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import Endpoint
from liescope.generate.players.openai.verdict import Refusal, Scope, Trouble, Verdict
from liescope.generate.players.openai.wire import Response
from liescope.generate.players.parsing.forms import ROLES
from liescope.generate.players.protocol import PREFLIGHT, EndpointFacts, Halt, Price
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.model_claims import FIELDS

_TEXT: dict[str, Any] = {"type": "string"}
_SHARE: dict[str, Any] = {"type": "number", "description": "a decimal number from 0 to 1"}
_BOUNDED: dict[str, Any] = {**_SHARE, "minimum": 0, "maximum": 1}


def response_format(ask: Ask, bounds: bool = False) -> dict[str, Any]:
    """The `response_format` of a request for an assessment or a form. bounds: whether to include number bounds.

    All schemas are strict: every field is required, no other is allowed. The range of a number is given in its
    description, and as `minimum` and `maximum` only if these are accepted: OpenAI takes them (its fine-tuned models do
    not), Anthropic and Azure refuse the whole request for them (400), and several local servers ignore them.
    """
    if ask.kind is AskKind.REFLECTION:
        return _strict("lessons", {kind.value: {"type": "array", "items": _TEXT} for kind in LessonKind})
    if ask.kind is AskKind.NAME_ROLES:
        return _strict("roles", {name: {"type": "string", "enum": list(ROLES)} for name in ask.options})
    if ask.kind is AskKind.TAG_LESSON:
        categories = {"type": "array", "items": {"type": "string", "enum": list(CATEGORIES)}}
        return _strict("tags", {"categories": categories, "order": {"type": "integer", "enum": list(ORDERS)}})
    if ask.kind is AskKind.FIND_CLAIMS:
        fields = dict.fromkeys(FIELDS, _TEXT)
        claim = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        return _strict("claims", {"claims": {"type": "array", "items": claim}})
    share = _BOUNDED if bounds else _SHARE
    fields = {
        "reasoning": _TEXT,
        "deceptive": {"type": "boolean"},
        "confidence": share,
        "type": {"type": "string", "enum": [kind.value for kind in DeceptionType]},
        "reason": _TEXT,
    }
    return _strict("assessment", fields | ({"suspicion": share} if ask.kind is AskKind.PEER_ASSESSMENT else {}))


def _strict(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


NO = "none"
_STRIKES = 2  # refusals in a row, each of a request that succeeds without the format
_MOST_SERVED = 8


class FormatSupport:
    """Whether one model at an endpoint supports JSON schemas, and what else is known of it: determined by the
    preflight, or by the first requests that need a schema, stored in the run, and never changed by a single later
    failure.

    While nothing is known, requests with a format are sent one at a time (`finding_out`): the first that is answered
    settles it. learn: called with the facts whenever there are more.
    """

    def __init__(self, facts: EndpointFacts, learn: Callable[[EndpointFacts], None]) -> None:
        self._facts = facts
        self._learn = learn
        self._strikes = 0
        self.finding_out = asyncio.Lock()

    @property
    def known(self) -> str | None:
        """The format that is accepted ("schema", "object", or "none"); None while unknown."""
        return self._facts.json

    def accepted(self, form: str) -> None:
        self._strikes = 0
        if self.known is None:
            self._note(replace(self._facts, json=form))

    def refused(self) -> None:
        """A request was refused with its format, and answered without."""
        if self.known is None:
            self._strikes += 1
            if self._strikes >= _STRIKES:
                self._note(replace(self._facts, json=NO))

    @property
    def facts(self) -> EndpointFacts:
        return self._facts

    def found(self, **facts: Any) -> None:
        """Note what the preflight found out, by the names of `EndpointFacts`; what is known already stays."""
        news = {name: value for name, value in facts.items() if getattr(self._facts, name) is None}
        if any(value is not None for value in news.values()):
            self._note(replace(self._facts, **news))

    def served(self, model: str | None) -> None:
        """Note the name that the endpoint gave for the model."""
        names = self._facts.served_models
        if model is not None and model not in names and len(names) < _MOST_SERVED:
            self._note(replace(self._facts, served_models=(*names, model)))

    def _note(self, facts: EndpointFacts) -> None:
        self._facts = facts
        self._learn(facts)


QUESTION = 'Reply with one JSON object and nothing else: {"ready": true}'
SECONDS = 20.0  # for the question; a server that loads its model first may need longer, and is waited for by the games
LIST_SECONDS = 10.0
AGAIN = 1.0  # seconds until an address where nobody was is tried once more
_FORMATS: Mapping[str, Mapping[str, Any]] = {
    "schema": _strict("ready", {"ready": {"type": "boolean"}}),
    "object": {"type": "json_object"},
}
_LOGPROBS: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 1}
_CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
# of vLLM and SGLang; OpenRouter and Together; Groq; Mistral; Anthropic. llama.cpp has meta.n_ctx.
_MOST_NAMES = 5

Extras = Mapping[str, Any]
Listing = Response | Trouble


@dataclass(frozen=True, slots=True)
class Preflight:
    """The question to one model. body: a request for `QUESTION` with the player's own parameters; form: the format of
    its forms, a key of `_FORMATS` or "none".
    """

    endpoint: Endpoint
    body: Mapping[str, Any]
    form: str
    price: Price | None
    support: FormatSupport
    halt: Halt

    async def run(self) -> None:
        """Ask, and note what it can do.

        Raises EndpointRefused or EndpointSilent, each with what to do; RunPaused if the run is ending.
        """
        began = time.monotonic()
        listing, (verdict, extras, latency) = await asyncio.gather(self.endpoint.models(LIST_SECONDS), self._asked())
        if _dead(verdict, listing) and time.monotonic() - began < AGAIN:
            await self.halt.sleep(AGAIN)
            listing, (verdict, extras, latency) = await asyncio.gather(
                self.endpoint.models(LIST_SECONDS), self._asked()
            )
        if isinstance(verdict, Completion):
            if verdict.wordless and not await self._speaks():
                raise EndpointRefused(f"{self.endpoint.base_url}: asked one small question, {verdict.wordless}")
            self._note(verdict, extras, latency, listing)
        elif isinstance(verdict, Refusal):
            raise self._refused(verdict, listing)
        elif _dead(verdict, listing):
            raise _silent(self.endpoint, verdict)

    async def _asked(self) -> tuple[Verdict, Extras, float | None]:
        """What came of the question, with which extras, and its latency."""
        tries = self._tries()
        for number, extras in enumerate(tries, 1):
            request = self._request({**self.body, **extras}, number=number)
            verdict, latency = await self.endpoint.ask_once(request, SECONDS)
            if not (isinstance(verdict, Refusal) and verdict.scope is Scope.FORMAT) or number == len(tries):
                break
        return verdict, extras, latency

    async def _speaks(self) -> bool:
        """Whether a second answer, to the plain question, holds words; or none came, and the games will tell."""
        verdict, _ = await self.endpoint.ask_once(self._request(self.body, step=1), SECONDS)
        return not (isinstance(verdict, Completion) and verdict.wordless)

    def _request(self, body: Mapping[str, Any], step: int = 0, number: int = 1) -> Request:
        ask = Ask(PREFLIGHT, step, str(self.body["model"]), AskKind.SPEAK, 0, Phase.SETUP)
        return Request(ask, body, self.price, number)

    def _tries(self) -> Sequence[Extras]:
        """The extras to ask for, until one request is answered."""
        if self.support.facts.latency_ms is not None:
            return ({},)
        if self.form == NO or self.support.known is not None:
            return _LOGPROBS, {}
        form = {"response_format": _FORMATS[self.form]}
        return {**form, **_LOGPROBS}, form, _LOGPROBS, {}

    def _note(self, answer: Completion, extras: Extras, latency: float | None, listing: Listing) -> None:
        support, tries = self.support, self._tries()
        if any("response_format" in tried for tried in tries):
            support.found(json=self.form if "response_format" in extras else NO)
        if "logprobs" in extras:
            support.found(logprobs=bool(answer.tokens) if not answer.problem else None)
        elif any("logprobs" in tried for tried in tries):
            support.found(logprobs=False)
        support.served(answer.served_model)
        support.found(
            reasoning=bool(answer.thinking),
            context=_context(listing, str(self.body["model"])),
            latency_ms=None if latency is None else round(latency, 1),
        )

    def _refused(self, refusal: Refusal, listing: Listing) -> EndpointRefused:
        if refusal.scope is not Scope.PLAYER:
            return self.endpoint.refused(replace(refusal, advice="correct the player's options"))
        names = [str(entry["id"]) for entry in _entries(listing)]
        if refusal.advice and names and self.body["model"] not in names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            return self.endpoint.refused(
                replace(refusal, advice=f"it has {plain(', '.join(names[:_MOST_NAMES]))}{more}")
            )
        return self.endpoint.refused(refusal)


async def watch_start(endpoint: Endpoint, halt: Halt, waited: Callable[[], bool]) -> None:
    """End the waiting if nobody is at the endpoint, for those who ask no question first: the list of models cannot be
    had, twice. waited: whether somebody has waited for an answer, and none has come.
    """
    first = await endpoint.models(LIST_SECONDS)
    await asyncio.sleep(AGAIN)
    if isinstance(first, Trouble) and _dead(first, await endpoint.models(LIST_SECONDS)) and waited():
        halt.set(_silent(endpoint, first))


def _silent(endpoint: Endpoint, trouble: Trouble) -> EndpointSilent:
    return EndpointSilent(
        f"{endpoint.base_url} gives no answer: {trouble.problem}; start the server, or correct the address",
        endpoint.host,
    )


def _dead(verdict: Verdict, listing: Listing) -> bool:
    """Whether nobody is there, neither for the question nor for the list of models. Who is only slow may be loading a
    model.
    """
    return all(isinstance(one, Trouble) and not (one.heard or one.crowded) for one in (verdict, listing))


def _entries(listing: Listing) -> Sequence[Mapping[str, Any]]:
    """The models in a list of models: under "data", or, from Together, the list itself."""
    if isinstance(listing, Trouble) or listing.status != 200:
        return ()
    try:
        data = json.loads(listing.text)
    except (ValueError, RecursionError):
        return ()
    found = data.get("data") if isinstance(data, Mapping) else data
    return [one for one in found if isinstance(one, Mapping) and "id" in one] if isinstance(found, list) else ()


def _context(listing: Listing, model: str) -> int | None:
    """The tokens that fit into a model's context, where the list of models says so."""
    for entry in _entries(listing):
        aliases = entry.get("aliases")
        if entry["id"] == model or (isinstance(aliases, list) and model in aliases):
            meta = entry.get("meta")
            values = [entry.get(name) for name in _CONTEXT] + [meta.get("n_ctx") if isinstance(meta, Mapping) else None]
            return next((value for value in values if type(value) is int and 0 < value < 2**53), None)
    return None
