"""Structured output: the JSON schemas that an endpoint must follow for assessments and forms.

All schemas are strict: every field is required, no other is allowed. The range of a number is given in its description,
and as `minimum` and `maximum` only if these are accepted: OpenAI takes them (its fine-tuned models do not), Anthropic
and Azure refuse the whole request for them (400), and several local servers ignore them.
"""

from __future__ import annotations

from typing import Any

from liescope.games.core import Ask, AskKind, LessonKind
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.parsing.forms import ROLES
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
