"""The JSON object that an answer is, or holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from liescope.generate.players.parsing.clean import unfence, visible

_TRIED = 50  # how many opening braces are tried

Fields = dict[str, Any]


def any_object(value: Any) -> Fields | None:
    """The value where it is a JSON object."""
    return value if isinstance(value, dict) else None


def find_object(text: str, notes: list[str], wanted: Callable[[Any], Fields | None] = any_object) -> Fields | None:
    """The whole text, or what its code fence holds, or the last JSON object in it; None if there is none. Adds to
    notes what was in the way. wanted: the fields that count in a JSON value, None to pass it over.
    """
    for part, note in ((text, ""), (unfence(text), "code fence")):
        try:
            fields = wanted(json.loads(part or ""))
        except (ValueError, RecursionError):
            continue
        if fields is not None:
            notes += [note] if note else []
            return fields
    decoder, last, position, tried = json.JSONDecoder(), None, text.find("{"), 0
    while position >= 0 and tried < _TRIED:
        tried += 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            fields = wanted(value)
            last = last if fields is None else fields
        position = text.find("{", end)
    if last is not None:
        notes.append("JSON inside other text")
    return last


def whole_object(text: str) -> Fields | None:
    """The JSON object that a text, or its code fence, is and not only holds."""
    inside = unfence(text)
    text = text if inside is None else inside
    if not text.startswith("{"):
        return None
    try:
        return any_object(json.loads(text))
    except (ValueError, RecursionError):
        return None


def first_text(data: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that is a text, in any case of letters."""
    known = {str(key).casefold(): visible(value)[0] for key, value in data.items() if isinstance(value, str)}
    return next((known[name] for name in names if name in known), None)
