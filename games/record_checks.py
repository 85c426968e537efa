"""Checks that a record is consistent: its seats, its events, and what each kind of event must hold.

Records are read from untrusted files. A record that passes can be labelled, shown and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from liescope.games.core import Event, EventKind, LessonKind, Reply
from liescope.games.facts import MOST, AssessmentData, EventData, GameMeta
from liescope.games.record import GameRecord, Status

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
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The requirements of a kind of event: an actor, a target, the kind of earlier event that it refers to, and facts,
    which an event that replaces an unusable reply (`fallback`) may lack.
    """

    actor: bool = False
    target: bool = False
    about: EventKind | None = None
    facts: tuple[str, ...] = ()


class _ReplyData(TypedDict):
    choice: str | None
    text: str | None
    assessment: AssessmentData | None
    form: Mapping[str, Sequence[str]] | None
    problem: str
    notes: Sequence[str]
    raw: str
    private: Mapping[str, Any]


_FACTS, _META, _REPLY = TypeAdapter(EventData), TypeAdapter(GameMeta), TypeAdapter(_ReplyData)
_OF_SEATS = ("names", "tied", "suspicion", "suspects", "roles")  # facts whose values, or keys, are players


# Lists every kind of event; a test checks this.
KINDS: dict[EventKind, _Kind] = {
    EventKind.SETUP: _Kind(facts=("names", "composition")),
    EventKind.ROLE: _Kind(actor=True, facts=("role",)),
    EventKind.PARTNERS: _Kind(facts=("names",)),
    EventKind.LESSONS: _Kind(actor=True, facts=("lessons",)),
    EventKind.NIGHT: _Kind(),
    EventKind.KILLER: _Kind(actor=True),
    EventKind.PROPOSAL: _Kind(actor=True, target=True),
    EventKind.KILL: _Kind(target=True),
    EventKind.PROTECTION: _Kind(actor=True, target=True),
    EventKind.INVESTIGATION: _Kind(actor=True, target=True, facts=("role",)),
    EventKind.DISCOVERY: _Kind(actor=True, target=True),
    EventKind.DEATH: _Kind(target=True),
    EventKind.QUIET: _Kind(),
    EventKind.DAY: _Kind(),
    EventKind.BID: _Kind(actor=True, facts=("bid",)),
    EventKind.STATEMENT: _Kind(actor=True),
    EventKind.SILENCE: _Kind(actor=True),
    EventKind.SUSPICION: _Kind(actor=True, facts=("suspicion",)),
    EventKind.VOTE: _Kind(actor=True, target=True),
    EventKind.ARREST: _Kind(target=True),
    EventKind.EXILE: _Kind(target=True, facts=("votes", "needed")),
    EventKind.NO_EXILE: _Kind(facts=("needed",)),
    EventKind.SELF_REPORT: _Kind(True, True, EventKind.STATEMENT, ("assessment",)),
    EventKind.RATING: _Kind(True, True, EventKind.STATEMENT, ("assessment",)),
    EventKind.ACT: _Kind(),
    EventKind.CHOICE: _Kind(actor=True, facts=("choice",)),
    EventKind.END: _Kind(facts=("winner",)),
    EventKind.REFLECTION: _Kind(actor=True, facts=("lessons",)),
    EventKind.LESSON: _Kind(actor=True, facts=("kind",)),
    EventKind.ROLES_NAMED: _Kind(actor=True, facts=("roles",)),
    EventKind.CLAIMS_FOUND: _Kind(actor=True, about=EventKind.STATEMENT, facts=("claims",)),
    EventKind.BELIEFS: _Kind(actor=True, about=EventKind.STATEMENT, facts=("beliefs",)),
    EventKind.SECOND_ORDER: _Kind(actor=True, facts=("suspects",)),
    EventKind.SUMMARY: _Kind(actor=True),
    EventKind.LESSON_TAGS: _Kind(actor=True, about=EventKind.LESSON, facts=("tags",)),
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
    _check_types(_META, game.meta, "meta.")
    named = {*game.meta.get("withdrawn", ()), *game.meta.get("attributes", ())}
    if fork := game.meta.get("fork"):
        named |= {fork["seat"], *fork.get("people", ())}
    if not named <= names:
        raise NotARecord("its meta names somebody who has no seat")
    for place, event in enumerate(game.events):
        try:
            _EVENT_TYPES.check(event)
            _check_event(event, place, names, game.events)
        except NotARecord as error:
            raise NotARecord(f"event {place} ({event.kind.value}): {error}") from None


def check_reply(reply: Reply) -> None:
    """Raises NotARecord for a reply whose fields are not as `Reply` declares them."""
    _check_types(_REPLY, asdict(reply))


def _check_outcome(game: GameRecord, names: frozenset[str]) -> None:
    outcome = game.outcome
    if outcome is None:
        if game.status is Status.DONE:
            raise NotARecord("it is done and has no outcome")
        return
    _OUTCOME_TYPES.check(outcome, "outcome.")
    if not names.issuperset(outcome.winners) or not _is_count(outcome.days):
        raise NotARecord("its outcome names a winner without a seat, or an impossible day")


def _check_event(event: Event, place: int, names: frozenset[str], events: tuple[Event, ...]) -> None:
    kind = KINDS[event.kind]
    if event.index != place:
        raise NotARecord(f"its index is {event.index}")
    if not (_is_count(event.day) and _is_count(event.round)):
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
    if "doubts" in event.data and (event.about is None or events[event.about].kind is not EventKind.STATEMENT):
        raise NotARecord("it doubts nothing that was said")
    _check_types(_FACTS, event.data)
    data: Mapping[str, Any] = event.data
    for name in kind.facts:
        if name not in data and not event.fallback:
            raise NotARecord(f"{name} is missing")
    for name in _OF_SEATS:
        if not names.issuperset(data.get(name, ())):
            raise NotARecord(f"{name} cannot be right: {data[name]!r}")
    if "lessons" in data and not _are_lessons(event.kind, data["lessons"]):
        raise NotARecord(f"lessons cannot be right: {data['lessons']!r}")
    if not isinstance(data.get("private", {}).get("planted_type"), str | None):
        raise NotARecord(f"private cannot be right: {data['private']!r}")
    for claim in event.data.get("claims", ()):
        if "kind" not in claim:
            raise NotARecord(f"claims cannot be right: {claim!r} has no kind")
        start, end = claim.get("start"), claim.get("end")
        if (start is None) != (end is None) or not 0 <= (start or 0) <= (end or 0) <= len(event.text):
            raise NotARecord(f"a claim has the span {start} to {end}, which is not within its text")
        if not all(index < len(events) for index in claim.get("evidence", ())):
            raise NotARecord("a claim names as evidence an event that is not there")


def _check_types(declared: TypeAdapter[Any], facts: Mapping[str, Any], where: str = "") -> None:
    try:
        declared.validate_python(facts, strict=True)
    except ValidationError as error:
        name = str(next(iter(error.errors(include_url=False)[0]["loc"]), ""))
        raise NotARecord(f"{where}{name} cannot be right: {facts.get(name)!r}") from None


def _are_lessons(kind: EventKind, given: Any) -> bool:
    """A count for those that were learned, and pairs of kind and text for those that a player begins with."""
    if kind is not EventKind.LESSONS:
        return _is_count(given)
    return isinstance(given, list | tuple) and all(
        isinstance(one, list | tuple) and [*map(type, one)] == [str, str] and one[0] in set(LessonKind) for one in given
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _unseated(role: str, name: str | None) -> str:
    return f"it has no {role}" if name is None else f"its {role} {name!r} has no seat"
