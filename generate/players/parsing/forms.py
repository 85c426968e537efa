"""Forms filled in as JSON: lessons after a game, the roles of the players, the claims in a statement, a lesson's tags.

Anything that cannot be read is left out; a form in which nothing could be read counts as no form, except that an empty
list of lessons is an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from liescope.games.core import Ask, AskKind, LessonKind, Reply
from liescope.games.registry import GAMES
from liescope.generate.players.parsing.clean import unfence, visible
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
        try:
            fields = wanted(json.loads(part or ""))
        except (ValueError, RecursionError):
            continue
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


def read_form(ask: Ask, text: str) -> Reply:
    """The form requested by an ask, in a cleaned text."""
    if ask.kind is AskKind.FIND_CLAIMS:
        return _claims(text)
    notes: list[str] = []
    data = _unwrapped(find_object(text, notes))
    if ask.kind is AskKind.NAME_ROLES:
        roles = _roles(data.items() if data is not None else _lines(text, notes), ask.options)
        return _form(roles or None, notes, "no player's role is named")
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


def _role(value: Any) -> str:
    """The one role that a value names; "" if it names none or several, or says what someone is not."""
    words = {word for text in _texts(value) for word in _WORD.findall(text[:LONGEST_LESSON].casefold())}
    roles = {_ROLE_ALIASES.get(word, word) for word in words} & set(ROLES)
    return roles.pop() if len(roles) == 1 and not words & _NEGATIONS else ""


def _lines(text: str, notes: list[str]) -> list[tuple[str, str]]:
    """ "Name: role", one per line."""
    found = []
    for line in text.splitlines()[:200]:
        parts = _LINE.match(line[:200])
        if parts:
            found.append((parts[1].strip(" \t*_`\"'-#.0123456789"), parts[2]))
    if found:
        notes.append("roles line by line")
    return found


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
    """The texts of a claim's fields in their order; None if it is no claim."""
    if not isinstance(item, dict):
        return None
    known = {str(key).strip().casefold(): value for key, value in item.items()}
    values = [known.get(name) for name in FIELDS]
    if not isinstance(known.get("kind"), str) or not all(isinstance(value, str | None) for value in values):
        return None
    return tuple(visible(value or "")[0][:LONGEST_FIELD] for value in values)
