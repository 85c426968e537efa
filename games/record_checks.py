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
_COMBINATIONS = 1000  # how many accepted combinations of types are remembered


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


_TEXT_OR_NONE, _COUNT_OR_NONE = (str, _NONE), (int, _NONE)
_RECORD_TYPES = _Types(
    {**dict.fromkeys(("game_id", "game", "cell", "failure"), (str,)), "seed": _COUNT_OR_NONE, "meta": (Mapping,)}
)
_SEAT_TYPES = _Types({**dict.fromkeys(("name", "role", "team", "model"), (str,)), "deceives": (bool, _NONE)})
_OUTCOME_TYPES = _Types({"winner": (str,), "reason": (str,), "days": (int,)})
_EVENT_TYPES = _Types(
    {
        **dict.fromkeys(("index", "day", "round"), (int,)),
        **dict.fromkeys(("actor", "target"), _TEXT_OR_NONE),
        **dict.fromkeys(("text", "fallback"), (str,)),
        "about": _COUNT_OR_NONE,
        "data": (Mapping,),
    }
)
_REPLY_TYPES = _Types(
    {
        **dict.fromkeys(("choice", "text"), _TEXT_OR_NONE),
        **dict.fromkeys(("problem", "raw"), (str,)),
        "private": (Mapping,),
    }
)
_INT64 = range(-(2**63), 2**63)


Check = Callable[[Any, frozenset[str]], bool]
"""Whether a value can be right in a game with seats of these names."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """The requirements of a kind of event: an actor, a target, the kind of earlier event that it refers to, facts.

    An event that replaces an unusable reply (`fallback`) may lack the facts.
    """

    actor: bool = False
    target: bool = False
    about: EventKind | None = None
    facts: Mapping[str, Check] = field(default_factory=dict)


def _is(*types: type) -> Check:
    return lambda value, _: isinstance(value, types)


def _each(check: Check) -> Check:
    """A list whose values pass the check."""
    return lambda value, names: isinstance(value, list | tuple) and all(check(one, names) for one in value)


def _values(check: Check) -> Check:
    """A mapping whose values pass the check."""
    return lambda value, names: isinstance(value, Mapping) and all(check(one, names) for one in value.values())


def _by_name(check: Check) -> Check:
    """A mapping from seats to values that pass the check."""
    return lambda value, names: _values(check)(value, names) and names.issuperset(value)


def _is_number(value: Any) -> bool:
    # for Python, True and False are integers
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST <= value <= MOST


def _is_count(value: Any, _names: frozenset[str]) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _is_bid(value: Any, names: frozenset[str]) -> bool:
    return _is_count(value, names) and value <= 10


def _is_lesson_kind(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in set(LessonKind)


def _is_lesson(value: Any, names: frozenset[str]) -> bool:
    return _are_texts(value, names) and len(value) == 2 and _is_lesson_kind(value[0], names)


def _are_meanings(value: Any, _names: frozenset[str]) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("planted_type", ""), str | None)


_is_text, _is_flag = _is(str), _is(bool)
_are_texts = _each(_is_text)
_are_names = _each(lambda value, names: isinstance(value, str) and value in names)
_is_form = _values(_are_texts)


def _is_assessment(value: Any, _names: frozenset[str]) -> bool:
    fields = ("deceptive", "type", "confidence", "suspicion", "reason")
    return isinstance(value, Mapping) and not assessment_fault(*map(value.get, fields))


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
        and _each(_is_count)(claim.get("evidence", ()), names)
    )


_are_claims = _each(_is_claim)


# Lists every kind of event; a test checks this.
KINDS: dict[EventKind, _Kind] = {
    EventKind.SETUP: _Kind(facts={"names": _are_names, "composition": _values(_is_count)}),
    EventKind.ROLE: _Kind(actor=True, facts={"role": _is_text}),
    EventKind.PARTNERS: _Kind(facts={"names": _are_names}),
    EventKind.LESSONS: _Kind(actor=True, facts={"lessons": _each(_is_lesson)}),
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
    EventKind.SUSPICION: _Kind(actor=True, facts={"suspicion": _by_name(lambda value, _: is_share(value))}),
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
    EventKind.ROLES_NAMED: _Kind(actor=True, facts={"roles": _by_name(_are_texts)}),
    EventKind.CLAIMS_FOUND: _Kind(actor=True, about=EventKind.STATEMENT, facts={"claims": _are_claims}),
    EventKind.BELIEFS: _Kind(actor=True, about=EventKind.STATEMENT, facts={"beliefs": _is_form}),
    EventKind.LESSON_TAGS: _Kind(actor=True, about=EventKind.LESSON, facts={"tags": _is_form}),
}
_ALSO: dict[str, Check] = {  # facts that several kinds may have
    "notes": _are_texts,
    "private": _are_meanings,
    "claims": _are_claims,
    "gold": _is_flag,
    "role": _is_text,
    "drawn": _is_flag,
    "seen": _is_text,
    "reveal_dead": _is_flag,
    "mutual_discovery": _is_flag,
    "centre": _is_count,
    "judge": _is_text,
    "tied": _are_names,
    "cut": _is_count,
    "proposals": _is(list, tuple),
    **dict.fromkeys(("rounds", "days", "debate_turns", "defence_turns"), _is_count),
}
_META: dict[str, Check] = {
    "turn": _is_count,
    "learning": _is_flag,
    "judge": _is_text,
    "seating": _is_text,
    "withdrawn": _by_name(_is_count),
    "split": lambda value, _: value in ("train", "validation", "test"),
    "fork": lambda value, names: (
        isinstance(value, Mapping)
        and all(isinstance(value.get(name), str) and value[name] for name in ("run", "game", "root", "seat", "group"))
        and all(_is_count(value.get(name), names) for name in ("step", "number", "events"))
        and value["seat"] in names
        and _by_name(_is_text)(value.get("people", {}), names)
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
    if not _are_names(outcome.winners, names) or not _is_count(outcome.days, names):
        raise NotARecord("its outcome names a winner without a seat, or an impossible day")


def _check_event(event: Event, place: int, names: frozenset[str], events: tuple[Event, ...]) -> None:
    kind = KINDS.get(event.kind)
    if kind is None:
        raise NotARecord("no check is declared for this kind; add it to games/record_checks.py")
    if event.index != place:
        raise NotARecord(f"its index is {event.index}")
    if not (_is_count(event.day, names) and _is_count(event.round, names)):
        raise NotARecord(f"day {event.day}, round {event.round} is impossible")
    acted = kind.actor and not (event.kind is EventKind.RATING and "judge" in event.data)  # a rater has no seat
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
    """The fault in the fields of an assessment, empty if there is none."""
    if deceptive is not None and not isinstance(deceptive, bool):
        return f"the flag {deceptive!r} is neither true nor false"
    if kind is not None and not isinstance(kind, str):
        return f"the type {kind!r} is not a string"
    for name, value in (("confidence", confidence), ("suspicion", suspicion)):
        if value is not None and not is_share(value):
            return f"{name} {value!r} is not from 0 to 1"
    return "" if reason is None or isinstance(reason, str) else f"the reason {reason!r} is not a string"
