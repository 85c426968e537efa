"""Reads a speaker's report on its own statement, or a peer's rating of it, from JSON anywhere in the text.

A field that cannot be read is None with a note that says why, never a default; if no field can be read there is no
assessment. Numbers range from 0 to 1; another scale is read only if it is written next to the number. If a flag and a
type contradict each other, both are kept, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from liescope.games.core import Assessment, Reply
from liescope.games.taxonomy import DeceptionType, parse_type
from liescope.generate.players.parsing.clean import Answer, visible
from liescope.generate.players.parsing.forms import find_object

CONTRADICTION = "flag and type contradict each other"

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
_NUMBER = re.compile(
    r"[~≈\s]{0,4}([-+]?\d{0,9}[.,]?\d{1,9})\s{0,9}"
    r"(?:(%|％|percent\b|per cent\b)|(?:/|out of|of|von|sur|de)\s{0,9}(\d{1,3})(?:\.0)?)?"
    r"\s{0,9}(?:\([^()]{0,60}\))?[.\s]{0,4}",
    re.IGNORECASE,
)
_HUGE = 1e300  # NaN and infinity are not below it
_SCALES = (1, 5, 10, 100)  # common rating scales
_LOOSE = re.compile(
    rf"(?<!\w)[\"'*_]{{0,4}}({'|'.join(sorted(_FIELDS, key=len, reverse=True)).replace('_', '[ _-]?')})[\"'*_]{{0,4}}"
    r"[ \t]{0,9}[:=][ \t*]{0,9}(\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}'|(?:[^,;}\n]|(?<=\d),(?=\d)){1,2000})",
    re.IGNORECASE,
)


def read_assessment(text: str, peer: bool) -> Answer:
    """The assessment in a cleaned text, and its reasoning. peer: whether it includes a suspicion."""
    notes: list[str] = []
    data = find_object(text, notes, _known)
    if data is None and (data := _loose(text)) is not None:
        notes.append("fields read one by one")
    if data is None:
        return Answer(Reply(problem="no JSON in the reply"), text)
    flag, kind = _flag(data.get("deceptive"), notes), _type(data.get("type"), notes)
    if flag is not None and kind is not None and flag != (kind is not DeceptionType.NONE):
        notes.append(CONTRADICTION)
    shares = _shares({name: data.get(name) for name in ("confidence", *(["suspicion"] if peer else []))}, notes)
    assessment = Assessment(
        deceptive=flag,
        type=None if kind is None else kind.value,
        confidence=shares["confidence"],
        suspicion=shares.get("suspicion"),
        reason=_text(data.get("reason")),
    )
    reasoning = _text(data.get("reasoning"))
    read = (assessment.deceptive, assessment.type, assessment.confidence, assessment.suspicion)
    if all(value is None for value in read):
        return Answer(Reply(notes=tuple(notes), problem="no field of the assessment could be read"), reasoning)
    return Answer(Reply(assessment=assessment, notes=tuple(notes)), reasoning)


def _loose(text: str) -> dict[str, Any] | None:
    """Fields written as `name: value`, for broken or missing JSON; the first of each counts."""
    data: dict[str, Any] = {}
    for found in _LOOSE.finditer(text):
        data.setdefault(_field(found.group(1)), found.group(2).strip(" \t\"'*_."))
    data.pop("", None)
    return data or None


def _known(value: Any) -> dict[str, Any] | None:
    """The known fields of a JSON object, under their standard names."""
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
    notes.append("no flag" if value is None else "flag unreadable")
    return None


def _type(value: Any, notes: list[str]) -> DeceptionType | None:
    kind = parse_type(value) if isinstance(value, str) else None
    if kind is None:
        notes.append("no type" if value is None else "type unreadable")
    return kind


def _shares(values: Mapping[str, Any], notes: list[str]) -> dict[str, float | None]:
    """The numbers of one reply, by name. If one is above 1, the reply uses another scale, and a bare 1 next to it may
    mean a tenth as well as the maximum.
    """
    shares = {name: _share(value, name, notes) for name, value in values.items()}
    if any((_bare(value) or 0) > 1 for value in values.values()):
        for name, value in values.items():
            if _bare(value) == 1:
                shares[name] = None
                notes.append(f"{name} of 1 beside a number above 1")
    return shares


def _bare(value: Any) -> float | None:
    """A number without a scale."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < _HUGE else None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if found is None or found.group(2) or found.group(3) else float(found.group(1).replace(",", "."))


def _share(value: Any, name: str, notes: list[str]) -> float | None:
    """A number in [0, 1]. Anything else is None with a note, unless its scale is given: "70%", "7/10"."""
    if value is None:
        notes.append(f"no {name}")
        return None
    share = _number(value, name, notes)
    if share is None:
        notes.append(f"{name} unreadable")
    elif not 0 <= share <= 1:
        notes.append(f"{name} outside 0 to 1")
        return None
    return share


def _number(value: Any, name: str, notes: list[str]) -> float | None:
    """The number that a value represents, converted to the scale of 0 to 1 if its own scale is unambiguous."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < _HUGE else None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    number = float(found.group(1).replace(",", "."))
    scale = 100 if found.group(2) else int(found.group(3) or 1)
    notes.append(f"{name} not written as a number from 0 to 1")
    # "0.7/10" and "0.7%" may be shares already, and no one rates out of 7.
    in_doubt = scale not in _SCALES or (scale > 1 and 0 < number < 1)
    return None if in_doubt else number / scale


def _text(value: Any) -> str:
    return visible(value)[0] if isinstance(value, str) else ""
