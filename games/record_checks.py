"""Checks that a record is consistent: its seats, its events, and what each kind of event must hold.

Records are read from untrusted files. A record that passes can be labelled, shown and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from liescope.games.core import Event, EventKind, LessonKind, Reply
from liescope.games.record import GameRecord, Status

MOST = 10**6  # a larger day, round or count must be an error
_NONE = type(None)
_COMBINATIONS = 1000  # of types that are remembered to be right


class NotARecord(ValueError):
    """Why a record is inconsistent."""


class _Types:
    """The types that the fields of a class may have."""

    def __init__(self, fields: Mapping[str, tuple[type, ...]]) -> None:
        self._fields = fields
        self._values = attrgetter(*fields)
        self._right: set[tuple[type, ...]] = set()  # combinations that have passed

    def check(self, thing: object, where: str = "") -> None:
        """Raises NotARecord for a field of another type."""
        values = self._values(thing)
        types = tuple(map(type, values))
        if types in self._right:
            return
        for (name, known), value in zip(self._fields.items(), values, strict=True):
            if not isinstance(value, known) or (isinstance(value, bool) and bool not in known):
                raise NotARecord(f"{where}{name} cannot be {value!r}")
        if len(self._right) < _COMBINATIONS:
            self._right.add(types)


_RECORD_TYPES = _Types(
    {
        "game_id": (str,),
        "game": (str,),
        "seed": (int, _NONE),
        "cell": (str,),
        "failure": (str,),
        "meta": (Mapping,),
    }
)
_SEAT_TYPES = _Types(
    {
        "name": (str,),
        "role": (str,),
        "team": (str,),
        "deceives": (bool, _NONE),
        "model": (str,),
    }
)
_OUTCOME_TYPES = _Types({"winner": (str,), "reason": (str,), "days": (int,)})
_EVENT_TYPES = _Types(
    {
        "index": (int,),
        "day": (int,),
        "round": (int,),
        "actor": (str, _NONE),
        "target": (str, _NONE),
        "text": (str,),
        "about": (int, _NONE),
        "fallback": (str,),
        "data": (Mapping,),
    }
)
_REPLY_TYPES = _Types(
    {
        "choice": (str, _NONE),
        "text": (str, _NONE),
        "problem": (str,),
        "raw": (str,),
        "private": (Mapping,),
    }
)
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What an event of a kind must have: an actor, a target, the kind of earlier event that it refers to, facts.

    An event that replaces an unusable reply (`fallback`) may lack the facts.
    """

    actor: bool = False
    target: bool = False
    about: EventKind | None = None
    facts: Mapping[str, Callable[[Any, frozenset[str]], bool]] = field(default_factory=dict)


def _is_text(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST <= value <= MOST


def _is_count(value: Any, _names: frozenset[str]) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _is_names(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) and name in names for name in value)


def _are_texts(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _is_list(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, list | tuple)


def _is_mapping(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, Mapping)


def _are_meanings(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("planted_type", ""), str | None)


def _are_counts(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and all(_is_count(count, names) for count in value.values())


def _are_people(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and names.issuperset(value) and _are_texts([*value.values()], names)


def _is_bid(value: Any, names: frozenset[str]) -> bool:
    return _is_count(value, names) and value <= 10


def _are_shares(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and all(name in names and is_share(share) for name, share in value.items())


def _is_lesson_kind(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in set(LessonKind)


def _are_lessons(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, list | tuple) and all(
        _are_texts(lesson, names) and len(lesson) == 2 and _is_lesson_kind(lesson[0], names) for lesson in value
    )


def _is_form(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and all(_are_texts(values, names) for values in value.values())


def _are_roles(value: Any, names: frozenset[str]) -> bool:
    return _is_form(value, names) and all(name in names for name in value)


def _is_assessment(value: Any, _names: frozenset[str]) -> bool:
    return (
        isinstance(value, Mapping)
        and assessment_fault(
            value.get("deceptive"),
            value.get("type"),
            value.get("confidence"),
            value.get("suspicion"),
            value.get("reason"),
        )
        == ""
    )


_POLARITIES = frozenset({"affirmed", "denied", None})
_VERDICTS = frozenset({"true", "false", "unverifiable", None})


def _is_claim(claim: Any, names: frozenset[str]) -> bool:
    return (
        isinstance(claim, Mapping)
        and _is_text(claim.get("kind"), names)
        and all(isinstance(claim.get(name), str | None) for name in ("subject", "object", "quote"))
        and claim.get("polarity") in _POLARITIES
        and claim.get("verdict") in _VERDICTS
        and isinstance(claim.get("known"), bool | None)
        and all(claim.get(name) is None or _is_count(claim[name], names) for name in ("start", "end"))
        and isinstance(claim.get("evidence", ()), list | tuple)
        and all(_is_count(index, names) for index in claim.get("evidence", ()))
    )


def _are_claims(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, list | tuple) and all(_is_claim(claim, names) for claim in value)


# Lists every kind of event; a test checks this.
KINDS: dict[EventKind, _Kind] = {
    EventKind.SETUP: _Kind(facts={"names": _is_names, "composition": _are_counts}),
    EventKind.ROLE: _Kind(actor=True, facts={"role": _is_text}),
    EventKind.PARTNERS: _Kind(facts={"names": _is_names}),
    EventKind.LESSONS: _Kind(actor=True, facts={"lessons": _are_lessons}),
    EventKind.NIGHT: _Kind(),
    EventKind.KILLER: _Kind(actor=True),
    EventKind.PROPOSAL: _Kind(actor=True, target=True),
    EventKind.KILL: _Kind(target=True),
    EventKind.PROTECTION: _Kind(actor=True, target=True),
    EventKind.INVESTIGATION: _Kind(actor=True, target=True, facts={"role": _is_text}),
    EventKind.DISCOVERY: _Kind(actor=True, target=True),
    EventKind.DEATH: _Kind(target=True),
    EventKind.QUIET: _Kind(),
    EventKind.DAY: _Kind(),
    EventKind.BID: _Kind(actor=True, facts={"bid": _is_bid}),
    EventKind.STATEMENT: _Kind(actor=True),
    EventKind.SILENCE: _Kind(actor=True),
    EventKind.SUSPICION: _Kind(actor=True, facts={"suspicion": _are_shares}),
    EventKind.VOTE: _Kind(actor=True, target=True),
    EventKind.ARREST: _Kind(target=True),
    EventKind.EXILE: _Kind(target=True, facts={"votes": _is_count, "needed": _is_count}),
    EventKind.NO_EXILE: _Kind(facts={"needed": _is_count}),
    EventKind.SELF_REPORT: _Kind(True, True, EventKind.STATEMENT, {"assessment": _is_assessment}),
    EventKind.RATING: _Kind(True, True, EventKind.STATEMENT, {"assessment": _is_assessment}),
    EventKind.ACT: _Kind(),
    EventKind.END: _Kind(facts={"winner": _is_text}),
    EventKind.REFLECTION: _Kind(actor=True, facts={"lessons": _is_count}),
    EventKind.LESSON: _Kind(actor=True, facts={"kind": _is_lesson_kind}),
    EventKind.ROLES_NAMED: _Kind(actor=True, facts={"roles": _are_roles}),
    EventKind.CLAIMS_FOUND: _Kind(actor=True, about=EventKind.STATEMENT, facts={"claims": _are_claims}),
    EventKind.BELIEFS: _Kind(actor=True, about=EventKind.STATEMENT, facts={"beliefs": _is_form}),
    EventKind.LESSON_TAGS: _Kind(actor=True, about=EventKind.LESSON, facts={"tags": _is_form}),
}
_ALSO: dict[str, Callable[[Any, frozenset[str]], bool]] = {  # facts that several kinds may have
    "notes": _are_texts,
    "private": _are_meanings,
    "claims": _are_claims,
    "gold": lambda value, _: isinstance(value, bool),
    "role": _is_text,
    "drawn": lambda value, _: isinstance(value, bool),
    "seen": _is_text,
    "reveal_dead": lambda value, _: isinstance(value, bool),
    "mutual_discovery": lambda value, _: isinstance(value, bool),
    "centre": _is_count,
    "judge": _is_text,
    "tied": _is_names,
    "cut": _is_count,
    "proposals": _is_list,
    "rounds": _is_count,
    "days": _is_count,
    "debate_turns": _is_count,
    "defence_turns": _is_count,
}
_META: dict[str, Callable[[Any, frozenset[str]], bool]] = {
    "turn": _is_count,
    "learning": lambda value, _: isinstance(value, bool),
    "judge": _is_text,
    "seating": _is_text,
    "withdrawn": lambda value, names: _are_counts(value, names) and names.issuperset(value),
    "split": lambda value, _: value in ("train", "validation", "test"),
    "fork": lambda value, names: (
        isinstance(value, Mapping)
        and all(isinstance(value.get(name), str) and value[name] for name in ("run", "game", "root", "seat", "group"))
        and all(_is_count(value.get(name), names) for name in ("step", "number", "events"))
        and value["seat"] in names
        and _are_people(value.get("people", {}), names)
    ),
    "lessons": lambda value, names: (
        isinstance(value, list | tuple)
        and all(
            isinstance(lesson, Mapping)
            and _is_lesson_kind(lesson.get("kind"), names)
            and isinstance(lesson.get("text"), str)
            and isinstance(lesson.get("kept"), bool)
            and (lesson.get("nearest") is None or _is_number(lesson["nearest"]))
            for lesson in value
        )
    ),
}


def check_record(game: GameRecord) -> None:
    """Raises NotARecord, with the place and the reason, for an inconsistent record."""
    _RECORD_TYPES.check(game)
    for seat in game.seats:
        _SEAT_TYPES.check(seat, f"seat {seat.name!r}: ")
    names = frozenset(seat.name for seat in game.seats)
    if not game.game_id or not game.seats or len(names) < len(game.seats) or not all(names):
        raise NotARecord("it has no id, no seats, or two seats of one name")
    if game.seed is not None and game.seed not in _INT64:
        raise NotARecord("its seed does not fit into 64 bits")
    _check_outcome(game, names)
    meta: Mapping[str, object] = game.meta
    for name, known in _META.items():
        if name in meta and not known(meta[name], names):
            raise NotARecord(f"meta.{name} cannot be right: {meta[name]!r}")
    for place, event in enumerate(game.events):
        try:
            _EVENT_TYPES.check(event)
            _check_event(event, place, names, game.events)
        except NotARecord as error:
            raise NotARecord(f"event {place} ({event.kind.value}): {error}") from None


def check_reply(reply: Reply) -> None:
    """Raises NotARecord for a reply whose fields are not as `Reply` declares them."""
    _REPLY_TYPES.check(reply)
    if not all(isinstance(note, str) for note in reply.notes):
        raise NotARecord("its notes are not strings")
    if reply.form is not None and not _is_form(reply.form, frozenset()):
        raise NotARecord("its form does not hold lists of strings")
    said = reply.assessment
    if said is not None:
        fault = assessment_fault(said.deceptive, said.type, said.confidence, said.suspicion, said.reason)
        if fault:
            raise NotARecord(fault)


def _check_outcome(game: GameRecord, names: frozenset[str]) -> None:
    outcome = game.outcome
    if outcome is None:
        if game.status is Status.DONE:
            raise NotARecord("it is done and has no outcome")
        return
    _OUTCOME_TYPES.check(outcome, "outcome.")
    if not _is_names(outcome.winners, names) or not _is_count(outcome.days, names):
        raise NotARecord("its outcome names a winner without a seat, or an impossible day")


def _check_event(event: Event, place: int, names: frozenset[str], events: tuple[Event, ...]) -> None:
    kind = KINDS.get(event.kind)
    if kind is None:
        raise NotARecord("no check is declared for this kind; add it to games/record_checks.py")
    if event.index != place:
        raise NotARecord(f"its index is {event.index}")
    if not (_is_count(event.day, names) and _is_count(event.round, names)):
        raise NotARecord(f"day {event.day}, round {event.round} is impossible")
    acted = kind.actor and not (event.kind is EventKind.RATING and "judge" in event.data)  # a judge has no seat
    if (event.actor is None and acted) or (event.actor is not None and event.actor not in names):
        raise NotARecord(_unseated("actor", event.actor))
    if (event.target is None and kind.target) or (event.target is not None and event.target not in names):
        raise NotARecord(_unseated("target", event.target))
    if event.audience is not None and not names.issuperset(event.audience):
        raise NotARecord("a name in its audience has no seat")
    if event.about is not None and not 0 <= event.about < place:
        raise NotARecord(f"it refers to event {event.about}, which is not before it")
    if kind.about is not None and (event.about is None or events[event.about].kind is not kind.about):
        raise NotARecord(f"it does not refer to a {kind.about.value}")
    data: Mapping[str, object] = event.data
    for name, known in kind.facts.items():
        if name in data:
            if not known(data[name], names):
                raise NotARecord(f"{name} cannot be right: {data[name]!r}")
        elif not event.fallback:
            raise NotARecord(f"{name} is missing")
    for name in data:
        if name in _ALSO and not _ALSO[name](data[name], names):
            raise NotARecord(f"{name} cannot be right: {data[name]!r}")
    for claim in event.data.get("claims", ()):
        start, end = claim.get("start"), claim.get("end")
        if (start is None) != (end is None) or not 0 <= (start or 0) <= (end or 0) <= len(event.text):
            raise NotARecord(f"a claim has the span {start} to {end}, which is not within its text")
        if not all(index < len(events) for index in claim.get("evidence", ())):
            raise NotARecord("a claim names as evidence an event that is not there")


def _unseated(role: str, name: str | None) -> str:
    return f"it has no {role}" if name is None else f"its {role} {name!r} has no seat"


def is_share(value: Any) -> bool:
    """Whether a value is a number from 0 to 1."""
    return _is_number(value) and bool(0 <= value <= 1)


def assessment_fault(deceptive: Any, kind: Any, confidence: Any, suspicion: Any, reason: Any) -> str:
    """What is wrong with the fields of an assessment, empty if nothing is."""
    if deceptive is not None and not isinstance(deceptive, bool):
        return f"the flag {deceptive!r} is neither true nor false"
    if kind is not None and not isinstance(kind, str):
        return f"the type {kind!r} is not a string"
    for name, value in (("confidence", confidence), ("suspicion", suspicion)):
        if value is not None and not is_share(value):
            return f"{name} {value!r} is not from 0 to 1"
    return "" if reason is None or isinstance(reason, str) else f"the reason {reason!r} is not a string"
