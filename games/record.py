"""A finished (or failed) game as plain data: what every label, corpus row and count is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any, cast

from liescope.common.model_names import PEOPLE
from liescope.games.core import Assessment, Event, EventKind, Game, Outcome, Phase, Reply
from liescope.games.facts import GameMeta

DRAWN = "drawn by the rules"


ACTS = frozenset({EventKind.PROPOSAL, EventKind.KILL, EventKind.PROTECTION, EventKind.INVESTIGATION})


def not_chosen(events: Sequence[Event]) -> dict[int, str]:
    """By event index, why a night act was not its actor's choice: the rules drew it, or its reply was unusable."""
    acts = [event for event in events if event.kind in ACTS]
    marked = dict.fromkeys((event.index for event in acts if event.data.get("drawn")), DRAWN)
    return marked | {event.index: event.fallback for event in acts if event.fallback}


class Source(StrEnum):
    """Where a seat's words come from."""

    SCRIPTED = "scripted"
    MODEL = "model"
    HUMAN = "human"
    IMPORTED = "imported"


_NOBODY = frozenset({"human", "unknown", PEOPLE})  # names that sources give to people they know nothing about


def player_of(model: str, source: Source) -> str:
    """The name of a seat in tables by model: its model, or `PEOPLE` for any person."""
    return PEOPLE if source is Source.HUMAN else model


def person_of(model: str, source: Source) -> str | None:
    """Which person held a seat, by its model name; None if that name does not identify a person, and for all other
    seats.
    """
    return None if source is not Source.HUMAN or model.casefold() in _NOBODY else model


class Status(StrEnum):
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Seat:
    """One player of a recorded game. role, team: "" where a source does not say; deceives: the role aims to deceive the
    others, None where that is not known; model: the name shown in tables.
    """

    name: str
    role: str
    team: str
    deceives: bool | None
    model: str
    source: Source


@dataclass(frozen=True, slots=True)
class GameRecord:
    """Everything known about one game. failure: why a game failed, empty otherwise."""

    game_id: str
    game: str
    seed: int | None
    cell: str
    seats: tuple[Seat, ...]
    events: tuple[Event, ...]
    status: Status
    outcome: Outcome | None = None
    failure: str = ""
    meta: GameMeta = field(default_factory=GameMeta)

    def seat(self, name: str) -> Seat:
        return next(seat for seat in self.seats if seat.name == name)

    def by_role(self, role: str) -> tuple[Seat, ...]:
        return tuple(seat for seat in self.seats if seat.role == role)


def record(
    game: Game,
    outcome: Outcome | None,
    players: Mapping[str, tuple[str, Source]],
    cell: str = "",
    failure: str = "",
    meta: Mapping[str, Any] | None = None,
) -> GameRecord:
    """The record of a game in its current state. players: seat name to (model name, source)."""
    seats = tuple(
        Seat(name, role, game.team(role), game.deceives(role), *players[name]) for name, role in game.roles.items()
    )
    status = Status.FAILED if failure else Status.DONE
    return GameRecord(
        game.game_id,
        game.name,
        game.seed,
        cell,
        seats,
        tuple(game.events),
        status,
        outcome,
        failure,
        cast(GameMeta, meta or {}),
    )


def record_to_json(game: GameRecord) -> dict[str, Any]:
    """Plain JSON data; `record_from_json` reads it back to an equal record."""
    return {
        "game_id": game.game_id,
        "game": game.game,
        "seed": game.seed,
        "cell": game.cell,
        "seats": [_flat(seat) | {"source": seat.source.value} for seat in game.seats],
        "events": [event_to_json(event) for event in game.events],
        "status": game.status.value,
        "outcome": game.outcome and {**_flat(game.outcome), "winners": list(game.outcome.winners)},
        "failure": game.failure,
        "meta": dict(game.meta),
    }


def _flat(one: Seat | Outcome) -> dict[str, Any]:
    """The fields by name; `asdict` would copy each value and be ten times as slow."""
    return {name: getattr(one, name) for name in one.__slots__}


def seat_from_json(seat: Mapping[str, Any]) -> Seat:
    return Seat(seat["name"], seat["role"], seat["team"], seat["deceives"], seat["model"], Source(seat["source"]))


def record_from_json(data: Mapping[str, Any]) -> GameRecord:
    """Read what `record_to_json` wrote. Raises KeyError or ValueError on anything else."""
    outcome = data["outcome"]
    return GameRecord(
        data["game_id"],
        data["game"],
        data["seed"],
        data["cell"],
        tuple(seat_from_json(seat) for seat in data["seats"]),
        tuple(event_from_json(event) for event in data["events"]),
        Status(data["status"]),
        None
        if outcome is None
        else Outcome(outcome["winner"], tuple(outcome["winners"]), outcome["reason"], outcome["days"]),
        data["failure"],
        data["meta"],
    )


_DEFAULTS: dict[str, Any] = {
    "round": 0,
    "actor": None,
    "target": None,
    "text": "",
    "about": None,
    "audience": None,
    "fallback": "",
    "data": {},
}

_OPTIONAL = attrgetter(*_DEFAULTS)


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as plain data; fields at their default are left out."""
    data: dict[str, Any] = {
        "index": event.index,
        "kind": event.kind._value_,
        "day": event.day,
        "phase": event.phase._value_,
    }
    # One getter for all fields: a corpus has millions of events.
    for name, default, value in zip(_DEFAULTS, _DEFAULTS.values(), _OPTIONAL(event), strict=True):
        if value != default:
            data[name] = list(value) if isinstance(value, tuple) else value
    return data


def event_from_json(data: Mapping[str, Any]) -> Event:
    audience = data.get("audience")
    return Event(
        data["index"],
        EventKind(data["kind"]),
        data["day"],
        Phase(data["phase"]),
        data.get("round", 0),
        data.get("actor"),
        data.get("target"),
        data.get("text", ""),
        data.get("about"),
        None if audience is None else tuple(audience),
        data.get("fallback", ""),
        data.get("data", {}),
    )


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """A reply as plain data, without its raw response (the journal keeps that in a column of its own)."""
    return {
        "choice": reply.choice,
        "text": reply.text,
        "assessment": reply.assessment and asdict(reply.assessment),
        **({} if reply.form is None else {"form": {name: list(values) for name, values in reply.form.items()}}),
        "problem": reply.problem,
        "notes": list(reply.notes),
        "private": dict(reply.private),
    }


def reply_from_json(data: Mapping[str, Any], raw: str = "") -> Reply:
    assessment, form = data["assessment"], data.get("form")
    return Reply(
        data["choice"],
        data["text"],
        None if assessment is None else Assessment(**assessment),
        None if form is None else {name: tuple(values) for name, values in form.items()},
        data["problem"],
        tuple(data["notes"]),
        raw,
        data["private"],
    )
