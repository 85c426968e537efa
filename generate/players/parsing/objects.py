"""The JSON object that an answer consists of, or contains."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from liescope.generate.players.parsing.clean import unfence, visible

_TRIED = 50  # the maximum number of opening braces tried

Fields = dict[str, Any]


def any_object(value: Any) -> Fields | None:
    """The value if it is a JSON object."""
    return value if isinstance(value, dict) else None


def find_object(text: str, notes: list[str], wanted: Callable[[Any], Fields | None] = any_object) -> Fields | None:
    """The object in the whole text, in its code fence, or the last JSON object in it; None if there is none. Adds to
    notes what was in the way. wanted: gives the fields of a JSON value that count, None to skip it.
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
    """The JSON object that makes up the whole text or the whole of its code fence."""
    inside = unfence(text)
    text = text if inside is None else inside
    if not text.startswith("{"):
        return None
    try:
        return any_object(json.loads(text))
    except (ValueError, RecursionError):
        return None


def first_text(data: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that holds a text; field names are matched case-insensitively."""
    known = {str(key).casefold(): visible(value)[0] for key, value in data.items() if isinstance(value, str)}
    return next((known[name] for name in names if name in known), None)
