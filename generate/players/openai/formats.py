"""Structured output: the JSON schemas that an endpoint must follow for assessments and forms.

All schemas are strict: every field is required, no other is allowed. The range of a number is given in its description,
and as `minimum` and `maximum` only if these are accepted: OpenAI takes them (its fine-tuned models do not), Anthropic
and Azure refuse the whole request for them (400), and several local servers ignore them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from liescope.games.core import Ask, AskKind, LessonKind
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.parsing.forms import ROLES
from liescope.generate.players.protocol import EndpointFacts
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.model_claims import FIELDS

_TEXT: dict[str, Any] = {"type": "string"}
_SHARE: dict[str, Any] = {"type": "number", "description": "a decimal number from 0 to 1"}
_BOUNDED: dict[str, Any] = {**_SHARE, "minimum": 0, "maximum": 1}


def response_format(ask: Ask, bounds: bool = False) -> dict[str, Any]:
    """The `response_format` of a request for an assessment or a form. bounds: whether to include number bounds."""
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
_MOST_NAMES = 8


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
        if model is not None and model not in names and len(names) < _MOST_NAMES:
            self._note(replace(self._facts, served_models=(*names, model)))

    def _note(self, facts: EndpointFacts) -> None:
        self._facts = facts
        self._learn(facts)
