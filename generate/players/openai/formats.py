"""Structured output: the JSON that an endpoint is to keep to, for assessments and forms.

All in the strict form: every field required, no other allowed.
"""

from __future__ import annotations

from typing import Any

from liescope.games.core import Ask, AskKind
from liescope.games.lessons import LessonKind
from liescope.generate.players.parsing.forms import ROLES
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.taxonomy import DeceptionType

_TEXT: dict[str, Any] = {"type": "string"}
_SHARE: dict[str, Any] = {"type": "number", "description": "from 0 to 1"}


def response_format(ask: Ask) -> dict[str, Any]:
    """The `response_format` of a request for an assessment or a form."""
    if ask.kind is AskKind.REFLECTION:
        return _strict("lessons", {kind.value: {"type": "array", "items": _TEXT} for kind in LessonKind})
    if ask.kind is AskKind.NAME_ROLES:
        return _strict("roles", {name: {"type": "string", "enum": list(ROLES)} for name in ask.options})
    if ask.kind is AskKind.TAG_LESSON:
        categories = {"type": "array", "items": {"type": "string", "enum": list(CATEGORIES)}}
        return _strict("tags", {"categories": categories, "order": {"type": "integer", "enum": list(ORDERS)}})
    fields = {
        "reasoning": _TEXT,
        "deceptive": {"type": "boolean"},
        "confidence": _SHARE,
        "type": {"type": "string", "enum": [kind.value for kind in DeceptionType]},
        "reason": _TEXT,
    }
    return _strict("assessment", fields | ({"suspicion": _SHARE} if ask.kind is AskKind.PEER_ASSESSMENT else {}))


def _strict(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
