"""The claims that a model lists in a statement, as JSON: an object with a list, the list alone, or null for none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from liescope.generate.players.parsing.clean import unfence, visible
from liescope.labeling.model_claims import FIELDS

MOST_CLAIMS = 50  # of one statement
LONGEST = 2000  # characters of one field
_TRIED = 50  # the maximum number of opening brackets tried
_COMMA = re.compile(r",(?=\s*[\]}])")
_OPENING = re.compile(r"[\[{]")
_NONE = frozenset({"null", "none", "no claims", "[]", "{}"})

ClaimList = dict[str, tuple[str, ...]]


def read_claim_list(text: str) -> tuple[ClaimList | None, tuple[str, ...], str]:
    """(the fields of each claim by its number, notes, problem): None with the problem if there is no such list."""
    notes: list[str] = []
    inside = unfence(text)
    if inside is not None:
        notes.append("code fence")
    items = _items(text if inside is None else inside, notes)
    if items is None:
        return None, tuple(notes), "no list of claims in the reply"
    claims = [_fields(item) for item in items[:MOST_CLAIMS]]
    if len(items) > MOST_CLAIMS or None in claims:
        notes.append("claims left out that could not be read")
    kept = [claim for claim in claims if claim is not None]
    return {str(number): claim for number, claim in enumerate(kept, 1)}, tuple(notes), ""


def _items(text: str, notes: list[str]) -> list[Any] | None:
    if text.strip(" .").casefold() in _NONE:
        return []
    for value, whole in _values(text, notes):
        if isinstance(value, dict) and "claims" in value:
            value = [] if value["claims"] is None else value["claims"]
        elif isinstance(value, dict) and "kind" in value:
            value = [value]
        if isinstance(value, list) and (not value or any(isinstance(item, dict) for item in value)):
            notes += [] if whole else ["JSON inside other text"]
            return value
    return None


def _values(text: str, notes: list[str]) -> Iterator[tuple[Any, bool]]:
    """The JSON values in a text, from the front; whether each is the whole text."""
    mended = _COMMA.sub("", text)
    if mended != text:
        notes.append("trailing comma")
    decoder, position = json.JSONDecoder(), 0
    for _ in range(_TRIED):
        opening = _OPENING.search(mended, position)
        if opening is None:
            return
        try:
            value, position = decoder.raw_decode(mended, opening.start())
        except (ValueError, RecursionError):
            position = opening.end()
        else:
            yield value, not mended[: opening.start()].strip() and not mended[position:].strip()


def _fields(item: Any) -> tuple[str, ...] | None:
    """The texts of a claim's fields in their order; None if it is no claim."""
    if not isinstance(item, dict):
        return None
    known = {str(key).strip().casefold(): value for key, value in item.items()}
    values = [known.get(name) for name in FIELDS]
    if not isinstance(known.get("kind"), str) or not all(isinstance(value, str | None) for value in values):
        return None
    return tuple(visible(value or "")[0][:LONGEST] for value in values)
