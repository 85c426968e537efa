"""Forms filled in as JSON: lessons after a game, the roles of the players, the claims in a statement, a lesson's tags.

Anything that cannot be read is left out; a form in which nothing could be read counts as no form, except that an empty
list of lessons is an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.games.core import Ask, AskKind, LessonKind
from liescope.games.registry import GAMES
from liescope.generate.players.parsing.claim_list import read_claim_list
from liescope.generate.players.parsing.clean import visible
from liescope.generate.players.parsing.objects import find_object
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS

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


@dataclass(frozen=True, slots=True)
class Form:
    """fields: None if nothing could be read, with the problem given."""

    fields: Mapping[str, tuple[str, ...]] | None
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_form(ask: Ask, text: str) -> Form:
    """The form requested by an ask, in a cleaned text."""
    if ask.kind is AskKind.FIND_CLAIMS:
        return Form(*read_claim_list(text))
    notes: list[str] = []
    data = _unwrapped(find_object(text, notes))
    if ask.kind is AskKind.NAME_ROLES:
        roles = _roles(data.items() if data is not None else _lines(text, notes), ask.options)
        return Form(roles, tuple(notes)) if roles else Form(None, tuple(notes), "no player's role is named")
    if data is None:
        return Form(None, tuple(notes), "no JSON in the reply")
    if ask.kind is AskKind.TAG_LESSON:
        tags = _tags(data)
        return Form(tags, tuple(notes)) if tags else Form(None, tuple(notes), "no tag that is known")
    lessons = _lessons(data, notes)
    known = any(_key(name) in _KINDS for name in data)
    return Form(lessons, tuple(notes)) if known or not data else Form(None, tuple(notes), "no list of lessons")


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
