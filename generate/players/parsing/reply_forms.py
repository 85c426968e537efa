"""Answers in JSON: the schema that is asked for, and how assessments and forms are read anywhere in the text.

A field of an assessment that cannot be read is None with a note that says why, never a default; if no field can be read
there is no assessment. Numbers range from 0 to 1; another scale is read only if it is written next to the number. If a
flag and a type contradict each other, both are kept, with a note. Of a form (lessons after a game, roles, claims, tags)
whatever cannot be read is left out; one in which nothing could be read counts as no form, except that an empty list of
lessons is an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from liescope.games.core import (
    BELIEVED,
    BELIEVED_FALSE,
    BELIEVED_TRUE,
    CANNOT_KNOW,
    Ask,
    AskKind,
    Assessment,
    LessonKind,
    Reply,
)
from liescope.games.game_registry import GAMES
from liescope.games.taxonomy import DeceptionType, parse_type
from liescope.generate.players.parsing.choice import Answer, parsed, unfence, visible
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.model_claims import FIELDS

ROLES = tuple(dict.fromkeys(role for game in GAMES.values() for role in game.roles))
LONGEST_LESSON = 500  # characters
MOST_LESSONS = 20  # of one kind from one game

_KINDS = {
    "to_do": LessonKind.TO_DO,
    "do": LessonKind.TO_DO,
    "todo": LessonKind.TO_DO,
    "to_avoid": LessonKind.TO_AVOID,
    "to_not_do": LessonKind.TO_AVOID,
    "not_to_do": LessonKind.TO_AVOID,
    "avoid": LessonKind.TO_AVOID,
    "winning_tactic": LessonKind.WINNING_TACTIC,
    "winning_tactics": LessonKind.WINNING_TACTIC,
}
_ROLE_ALIASES = {"wolf": "werewolf", "mafia": "mafioso", "villagers": "villager", "town": "villager"}
_LINE = re.compile(r"([^:=\n]{1,60})[:=]([^\n]{1,60})")
_WORD = re.compile("[a-z]+")
_NEGATIONS = frozenset({"not", "no", "never", "isn"})
MOST_CLAIMS = 50  # of one statement
LONGEST_FIELD = 2000  # characters
_COMMA = re.compile(r",(?=\s*[\]}])")
_LIST_OR_OBJECT, _OBJECT = re.compile(r"[\[{]"), re.compile("{")
_NONE = frozenset({"null", "none", "no claims", "[]", "{}"})
_TRIED = 50  # the maximum number of opening brackets tried

Fields = dict[str, Any]


def any_object(value: Any) -> Fields | None:
    """The value if it is a JSON object."""
    return value if isinstance(value, dict) else None


def find_object(text: str, notes: list[str], wanted: Callable[[Any], Fields | None] = any_object) -> Fields | None:
    """The object in the whole text, in its code fence, or the last JSON object in it; None if there is none. Adds to
    notes what was in the way. wanted: gives the fields of a JSON value that count, None to skip it.
    """
    for part, note in ((text, ""), (unfence(text), "code fence")):
        fields = wanted(parsed(part or ""))
        if fields is not None:
            notes += [note] if note else []
            return fields
    last = None
    for value, _, _ in _values(text, _OBJECT):
        fields = wanted(value)
        last = last if fields is None else fields
    if last is not None:
        notes.append("JSON inside other text")
    return last


def _values(text: str, opening: re.Pattern[str]) -> Iterator[tuple[Any, int, int]]:
    """The JSON values in a text that begin with a bracket, from the front, each with its beginning and end."""
    decoder, position = json.JSONDecoder(), 0
    for _ in range(_TRIED):
        opened = opening.search(text, position)
        if opened is None:
            return
        try:
            value, position = decoder.raw_decode(text, opened.start())
        except (ValueError, RecursionError):
            position = opened.end()
        else:
            yield value, opened.start(), position


def whole_object(text: str) -> Fields | None:
    """The JSON object that makes up the whole text or the whole of its code fence."""
    return any_object(parsed(unfence(text) or text))


def first_text(data: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that holds a text; field names are matched case-insensitively."""
    known = {str(key).casefold(): visible(value)[0] for key, value in data.items() if isinstance(value, str)}
    return next((known[name] for name in names if name in known), None)


def read_form(ask: Ask, text: str) -> Reply:
    """The form requested by an ask, in a cleaned text."""
    if ask.kind is AskKind.FIND_CLAIMS:
        return _claims(text)
    notes: list[str] = []
    if ask.kind is AskKind.BELIEFS:
        return _form(_beliefs(text, ask.options, notes) or None, notes, "no sentence is called true, false or unknown")
    data = _unwrapped(find_object(text, notes))
    if ask.kind is AskKind.NAME_ROLES:
        roles = _roles(data.items() if data is not None else _lines(text, notes), ask.options)
        return _form(roles or None, notes, "no player's role is named")
    if ask.kind is AskKind.SECOND_ORDER:
        pairs = data.items() if data is not None else _lines(text, notes, "suspicions")
        return _form(_suspects(pairs, ask) or None, notes, "nobody's suspicion is named")
    if data is None:
        return _form(None, notes, "no JSON in the reply")
    if ask.kind is AskKind.TAG_LESSON:
        return _form(_tags(data) or None, notes, "no tag that is known")
    lessons = _lessons(data, notes)
    known = any(_key(name) in _KINDS for name in data)
    return _form(lessons if known or not data else None, notes, "no list of lessons")


def _form(fields: Fields | None, notes: list[str], problem: str) -> Reply:
    return Reply(form=fields, notes=tuple(notes), problem=problem if fields is None else "")


def _unwrapped(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """The inner object, if an object's only field is an object, such as {"roles": {...}}."""
    inner = next(iter(data.values())) if data and len(data) == 1 else None
    return inner if isinstance(inner, dict) else data


def _lessons(data: Mapping[str, Any], notes: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in data.items():
        kind = _KINDS.get(_key(name))
        if kind is None:
            continue
        texts = [" ".join(visible(text)[0].split()) for text in _texts(value)]
        kept = [text[:LONGEST_LESSON] for text in texts if text][:MOST_LESSONS]
        if len(kept) < len(texts) or any(len(text) > LONGEST_LESSON for text in texts):
            notes.append("lessons left out or cut")
        found[kind.value] = (*found.get(kind.value, ()), *kept)
    return found


def _roles(pairs: Iterable[tuple[str, Any]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    spelled = {name.casefold(): name for name in names}
    found: dict[str, tuple[str, ...]] = {}
    for key, value in pairs:
        name = spelled.get(str(key).strip().casefold())
        role = _role(value)
        if name is not None and role:
            found[name] = (role,)
    return found


def _suspects(pairs: Iterable[tuple[str, Any]], ask: Ask) -> dict[str, tuple[str, ...]]:
    """The one player that each of the others is said to suspect; values that name several, or itself, are left out."""
    spelled = {name.casefold(): name for name in (*ask.options, ask.seat)}
    found: dict[str, tuple[str, ...]] = {}
    for key, value in pairs:
        who = spelled.get(str(key).strip().casefold())
        said = " ".join(text[:LONGEST_LESSON] for text in _texts(value)).casefold()
        named = {name for as_read, name in spelled.items() if re.search(rf"(?<!\w){re.escape(as_read)}(?!\w)", said)}
        if who in ask.options and len(named) == 1 and who not in named:
            found[who] = (named.pop(),)
    return found


def _role(value: Any) -> str:
    """The one role that a value names; "" if it names none or several, or says what someone is not."""
    words = {word for text in _texts(value) for word in _WORD.findall(text[:LONGEST_LESSON].casefold())}
    roles = {_ROLE_ALIASES.get(word, word) for word in words} & set(ROLES)
    return roles.pop() if len(roles) == 1 and not words & _NEGATIONS else ""


def _lines(text: str, notes: list[str], what: str = "roles") -> list[tuple[str, str]]:
    """ "Name: role", one per line."""
    found = []
    for line in text.splitlines()[:200]:
        parts = _LINE.match(line[:200])
        if parts:
            found.append((parts[1].strip(" \t*_`\"'-#.0123456789"), parts[2]))
    if found:
        notes.append(f"{what} line by line")
    return found


_VERDICTS = {
    CANNOT_KNOW: r"can ?not (?:know|tell|say|be known|be sure)|can't (?:know|tell|say|be sure)|do(?:n't| not) know|"
    r"un(?:known|sure|certain|decidable|determined)|not (?:sure|certain|known)|no way (?:to|of) know\w*",
    BELIEVED_FALSE: r"false|untrue|incorrect|not (?:true|correct)|wrong|a lie|no",
    BELIEVED_TRUE: r"true|correct|yes|accurate",
}
_VERDICT = re.compile(
    "|".join(rf"(?P<_{at}>(?<![\w'])(?:{words})(?![\w']))" for at, words in enumerate(_VERDICTS.values()))
)
_NUMBERED = re.compile(
    r"[^\w\n]{0,12}(?:(?:sentence|claim|statement)\W{0,3})?(\d{1,2})\W{1,9}(\w.{0,300})", re.IGNORECASE
)


def _beliefs(text: str, claims: Sequence[str], notes: list[str]) -> dict[str, tuple[str, ...]]:
    """The beliefs about the claims: from an object with their numbers, from numbered lines, or from the first word if
    there is only one.
    """
    data = _unwrapped(find_object(text, notes))
    if data is not None:
        pairs = [(re.sub(r"\D", "", str(name)), _said(value)) for name, value in data.items()]
        if len(claims) == 1 and not any(number for number, _ in pairs):
            pairs = [("1", said) for _, said in pairs if said]
    elif lines := [read for line in text.splitlines()[:200] if (read := _NUMBERED.match(line[:400]))]:
        notes.append("beliefs line by line")
        pairs = [(read[1], _verdict(read[2])) for read in lines]
    else:
        notes.append("a belief in plain words")
        pairs = [("1", _verdict(text))] if len(claims) == 1 else []
    found: dict[str, tuple[str, ...]] = {}
    for number, verdict in pairs:
        if verdict and number and 1 <= int(number[:4]) <= len(claims):
            found.setdefault(claims[int(number[:4]) - 1], (verdict,))
    return found


def _said(value: Any) -> str:
    """A verdict in a field: a word, a boolean, null for what cannot be known, or an object that holds one."""
    match value:
        case bool():
            return BELIEVED_TRUE if value else BELIEVED_FALSE
        case None:
            return CANNOT_KNOW
        case dict():
            return next((verdict for part in value.values() if (verdict := _said(part))), "")
        case str():
            return _verdict(value)
    return ""


def _verdict(text: str) -> str:
    """The first verdict in some words; "" without any."""
    found = _VERDICT.search(text[:LONGEST_FIELD].casefold().replace("\u2019", "'"))
    return list(_VERDICTS)[int((found.lastgroup or "_0")[1:])] if found else ""


def _tags(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    names = {_key(name): value for name, value in data.items()}
    categories = tuple(
        dict.fromkeys(_key(word) for word in _texts(names.get("categories")) if _key(word) in CATEGORIES)
    )
    order = str(names.get("order", "")).strip().removesuffix(".0")
    tags: dict[str, tuple[str, ...]] = {"categories": categories} if "categories" in names else {}
    return tags | ({"order": (order,)} if order in map(str, ORDERS) else {})


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold())


def _claims(text: str) -> Reply:
    """The fields of each claim by its number, in a list, an object with a list, or null for none."""
    notes: list[str] = []
    inside = unfence(text)
    if inside is not None:
        notes.append("code fence")
    items = _items(text if inside is None else inside, notes)
    if items is None:
        return Reply(notes=tuple(notes), problem="no list of claims in the reply")
    claims = [_claim(item) for item in items[:MOST_CLAIMS]]
    if len(items) > MOST_CLAIMS or None in claims:
        notes.append("claims left out that could not be read")
    kept = [claim for claim in claims if claim is not None]
    return Reply(form={str(number): claim for number, claim in enumerate(kept, 1)}, notes=tuple(notes))


def _items(text: str, notes: list[str]) -> list[Any] | None:
    if text.strip(" .").casefold() in _NONE:
        return []
    mended = _COMMA.sub("", text)
    if mended != text:
        notes.append("trailing comma")
    for value, begin, end in _values(mended, _LIST_OR_OBJECT):
        if isinstance(value, dict) and "claims" in value:
            value = [] if value["claims"] is None else value["claims"]
        elif isinstance(value, dict) and "kind" in value:
            value = [value]
        if isinstance(value, list) and (not value or any(isinstance(item, dict) for item in value)):
            notes += ["JSON inside other text"] if mended[:begin].strip() or mended[end:].strip() else []
            return value
    return None


def _claim(item: Any) -> tuple[str, ...] | None:
    """The texts of a claim's fields in order; None if it is not a claim."""
    if not isinstance(item, dict):
        return None
    known = {str(key).strip().casefold(): value for key, value in item.items()}
    values = [known.get(name) for name in FIELDS]
    if not isinstance(known.get("kind"), str) or not all(isinstance(value, str | None) for value in values):
        return None
    return tuple(visible(value or "")[0][:LONGEST_FIELD] for value in values)


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
    """The numbers of one reply, by name."""
    read = {name: _scaled(value) for name, value in values.items()}
    shares = {name: _share(value, read[name], name, notes) for name, value in values.items()}
    # A number above 1 is of another scale, and a bare 1 beside it may mean a tenth as well as the maximum.
    if any(scale is None and number is not None and number > 1 for number, scale in read.values()):
        for name in [name for name, found in read.items() if found == (1, None)]:
            shares[name] = None
            notes.append(f"{name} of 1 beside a number above 1")
    return shares


def _scaled(value: Any) -> tuple[float | None, int | None]:
    """The number that a value represents, and the scale that is written next to it; None for each that is not there."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < _HUGE else None, None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None, None
    return float(found[1].replace(",", ".")), 100 if found[2] else int(found[3]) if found[3] else None


def _share(value: Any, read: tuple[float | None, int | None], name: str, notes: list[str]) -> float | None:
    """A number in [0, 1]. Anything else is None with a note, unless its scale is given: "70%", "7/10"."""
    if value is None:
        notes.append(f"no {name}")
        return None
    number, scale = read[0], 1 if read[1] is None else read[1]
    if number is not None and isinstance(value, str):
        notes.append(f"{name} not written as a number from 0 to 1")
    # "0.7/10" and "0.7%" may be shares already, and no one rates out of 7.
    if number is None or scale not in _SCALES or (scale > 1 and 0 < number < 1):
        notes.append(f"{name} unreadable")
    elif not 0 <= number / scale <= 1:
        notes.append(f"{name} outside 0 to 1")
    else:
        return number / scale
    return None


def _text(value: Any) -> str:
    return visible(value)[0] if isinstance(value, str) else ""


_TEXT: dict[str, Any] = {"type": "string"}
_SHARE: dict[str, Any] = {"type": "number", "description": "a decimal number from 0 to 1"}


def response_format(ask: Ask) -> dict[str, Any]:
    """The `response_format` of a request for an assessment or a form.

    All schemas are strict: every field is required, no other is allowed. The range of a number is given in its
    description alone, since Anthropic and Azure refuse a request with a `minimum` (400).
    """
    if ask.kind is AskKind.REFLECTION:
        return _strict("lessons", {kind.value: {"type": "array", "items": _TEXT} for kind in LessonKind})
    if ask.kind is AskKind.NAME_ROLES:
        return _strict("roles", {name: {"type": "string", "enum": list(ROLES)} for name in ask.options})
    if ask.kind is AskKind.TAG_LESSON:
        categories = {"type": "array", "items": {"type": "string", "enum": list(CATEGORIES)}}
        return _strict("tags", {"categories": categories, "order": {"type": "integer", "enum": list(ORDERS)}})
    if ask.kind is AskKind.BELIEFS:
        verdict = {"type": "string", "enum": list(BELIEVED)}
        return _strict("beliefs", {str(number): verdict for number in range(1, len(ask.options) + 1)})
    if ask.kind is AskKind.SECOND_ORDER:
        others = {name: [one for one in (*ask.options, ask.seat) if one != name] for name in ask.options}
        return _strict("suspects", {name: {"type": "string", "enum": given} for name, given in others.items()})
    if ask.kind is AskKind.FIND_CLAIMS:
        fields = dict.fromkeys(FIELDS, _TEXT)
        claim = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        return _strict("claims", {"claims": {"type": "array", "items": claim}})
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
