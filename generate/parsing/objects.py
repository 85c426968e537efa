"""The JSON object that an answer is, or holds."""

from __future__ import annotations

import json
from typing import Any

from generate.parsing.clean import unfence

_TRIED = 20  # how many opening braces are tried


def find_object(text: str, notes: list[str]) -> dict[str, Any] | None:
    """The whole text, or what its code fence holds, or the last JSON object in it; None where there is none. Adds to
    notes what was in the way.
    """
    for part, note in ((text, ""), (unfence(text), "code fence")):
        try:
            value = json.loads(part or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            notes += [note] if note else []
            return value
    decoder, best, position, tried = json.JSONDecoder(), None, text.find("{"), 0
    while position >= 0 and tried < _TRIED:
        tried += 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            best = value if isinstance(value, dict) else best
        position = text.find("{", end)
    if best is not None:
        notes.append("JSON inside other text")
    return best
