"""A speaker's report on its own statement, or a peer's rating of it, from JSON anywhere in the text.

A field that cannot be read is None, never a default; when none of the fields can be read there is no assessment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from liescope.games.core import Assessment
from liescope.generate.players.parsing.clean import visible
from liescope.generate.players.parsing.objects import find_object
from liescope.labeling.taxonomy import parse_type

_ALIASES = {
    "deceptive": ("deceptive", "is_deceptive", "deception", "deceived", "is_deception", "lie", "lying"),
    "type": ("type", "deception_type", "kind", "category"),
    "confidence": ("confidence", "confidence_score", "certainty"),
    "suspicion": ("suspicion", "suspicion_score", "suspicion_level", "suspicion_rating"),
    "reason": ("reason", "explanation", "rationale", "justification"),
    "reasoning": ("reasoning", "thinking", "thoughts", "analysis"),
}
_FIELDS = {alias: field for field, aliases in _ALIASES.items() for alias in aliases}
_YES = frozenset({"true", "yes", "y", "1", "deceptive", "deception", "lie", "lying"})
_NO = frozenset({"false", "no", "n", "0", "honest", "truthful", "not deceptive", "not_deceptive", "none"})
_NUMBER = re.compile(r"([-+]?\d{1,9}(?:\.\d{1,9})?)\s*(%?)(?:\s*/\s*(\d{1,3}))?")
_LOOSE = re.compile(
    rf"(?<!\w)[\"'*_]{{0,4}}({'|'.join(sorted(_FIELDS, key=len, reverse=True)).replace('_', '[ _-]?')})[\"'*_]{{0,4}}"
    r"[ \t]{0,9}[:=][ \t*]{0,9}(\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}'|[^,;}\n]{1,2000})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Report:
    """assessment: None where nothing could be read, with the problem named; reasoning: what stood beside it."""

    assessment: Assessment | None
    reasoning: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_assessment(text: str, peer: bool) -> Report:
    """The assessment in a cleaned text. peer: whether a suspicion belongs to it."""
    notes: list[str] = []
    data = find_object(text, notes, _known)
    if data is None and (data := _loose(text)) is not None:
        notes.append("fields read one by one")
    if data is None:
        return Report(None, text, (), "no JSON in the reply")
    kind = data.get("type")
    parsed = parse_type(kind) if isinstance(kind, str) else None
    assessment = Assessment(
        deceptive=_flag(data.get("deceptive"), notes),
        type=None if parsed is None else parsed.value,
        confidence=_share(data.get("confidence"), "confidence", notes),
        suspicion=_share(data.get("suspicion"), "suspicion", notes) if peer else None,
        reason=_text(data.get("reason")),
    )
    reasoning = _text(data.get("reasoning"))
    read = (assessment.deceptive, assessment.type, assessment.confidence, assessment.suspicion)
    if all(value is None for value in read):
        return Report(None, reasoning, tuple(notes), "no field of the assessment could be read")
    return Report(assessment, reasoning, tuple(notes))


def _loose(text: str) -> dict[str, Any] | None:
    """Fields written as `name: value`, where the JSON is broken or there is none; the first of each counts."""
    data: dict[str, Any] = {}
    for found in _LOOSE.finditer(text):
        data.setdefault(_field(found.group(1)), found.group(2).strip(" \t\"'*_."))
    data.pop("", None)
    return data or None


def _known(value: Any) -> dict[str, Any] | None:
    """The known fields of a JSON object under their own names."""
    if not isinstance(value, Mapping):
        return None
    named = [(_field(key), item) for key, item in value.items() if isinstance(key, str)]
    return {field: item for field, item in reversed(named) if field} or None


def _field(name: str) -> str:
    return _FIELDS.get(re.sub(r"[\s-]+", "_", name.strip().casefold()), "")


def _flag(value: Any, notes: list[str]) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) or (isinstance(value, int) and value in (0, 1)):
        word = str(value).strip().strip(".\"'").casefold()
        if word in _YES or word in _NO:
            notes.append("flag not written as true or false")
            return word in _YES
    return None


def _share(value: Any, name: str, notes: list[str]) -> float | None:
    """A number in [0, 1]; "80%", "8/10" and whole numbers from 2 to 100 are shares of a hundred or of the divisor."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number, percent = value, False
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value.strip())
        if not found:
            return None
        number, percent = float(found.group(1)), bool(found.group(2))
        notes.append(f"{name} not written as a number")
        if found.group(3):
            return _clamp(number / max(int(found.group(3)), 1), name, notes)
    try:
        share = float(number)
    except OverflowError:
        return None
    if not math.isfinite(share):
        return None
    if percent or (2 <= share <= 100 and share == int(share)):
        if not percent:
            notes.append(f"{name} read as a percentage")
        share /= 100
    return _clamp(share, name, notes)


def _clamp(share: float, name: str, notes: list[str]) -> float:
    if not 0 <= share <= 1:
        notes.append(f"{name} outside 0 to 1")
    return min(max(share, 0.0), 1.0)


def _text(value: Any) -> str:
    return visible(value)[0] if isinstance(value, str) else ""
