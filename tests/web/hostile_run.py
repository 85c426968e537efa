"""A run of games in which every word that comes from a player, a model or a file is hostile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.runs.journal import Journal
from tests.web.hostile import HOSTILE

SEATS = 50
ID = "\"><img evil src=x onerror=fired()>{{7*7}}'"


def make(folder: Path) -> list[GameRecord]:
    """Such a run, and its records: each string is the name of a seat, and stands in whatever that seat says or is."""
    games = [_game(first // SEATS, HOSTILE[first : first + SEATS]) for first in range(0, len(HOSTILE), SEATS)]
    with Journal.create(folder, {"import": ID, "options": {ID: ID}}) as journal:
        for game in games:
            journal.add_record(game)
    return games


def shown_in(game: GameRecord) -> Iterator[str]:
    """What the page of a game shows to all-knowing eyes."""
    for seat in game.seats:
        yield from (seat.name, seat.role, seat.team, seat.model)
    for event in game.events:
        yield event.text
        yield str(event.data.get("private", {}).get("reasoning", ""))
        yield str(event.data.get("assessment", {}).get("reason", ""))
        yield from (text for _, text in event.data.get("lessons", ()))


def _game(number: int, strings: Sequence[str]) -> GameRecord:
    seats = tuple(
        Seat(one, f"role {one}", f"team {one}", place % 2 == 0, f"model {one}", Source.MODEL)
        for place, one in enumerate(strings)
    )
    events: list[Event] = []

    def log(kind: EventKind, phase: Phase, **facts: Any) -> int:
        events.append(Event(len(events), kind, 0 if phase is Phase.SETUP else 1, phase, **facts))
        return len(events) - 1

    log(EventKind.SETUP, Phase.SETUP, data={"names": list(strings), "composition": {f"role {strings[0]}": 2}})
    for seat in seats:
        mine: dict[str, Any] = {"actor": seat.name, "audience": (seat.name,)}
        log(EventKind.ROLE, Phase.SETUP, **mine, data={"role": seat.role})
        log(EventKind.LESSONS, Phase.SETUP, **mine, data={"lessons": [("to_do", f"lesson {seat.name}")]})
    log(EventKind.ACT, Phase.NIGHT, actor=strings[1], text=f"hides {strings[1]}", audience=(strings[1],))
    for place, one in enumerate(strings):
        peer = strings[place - 1]
        private = {"reasoning": f"thought {one}", "planted_type": f"kind {one}", f"key {one}": f"value {one}"}
        said = log(EventKind.STATEMENT, Phase.DISCUSSION, actor=one, text=f"said {one}", data={"private": private})
        about: dict[str, Any] = {"target": one, "about": said}
        own = {"deceptive": place % 3 == 0, "type": "omission", "confidence": 0.5, "reason": f"own reason {one}"}
        log(EventKind.SELF_REPORT, Phase.DISCUSSION, actor=one, audience=(one,), **about, data={"assessment": own})
        view = {"deceptive": place % 4 == 0, "confidence": 0.5, "suspicion": 0.6, "reason": f"peer reason {one}"}
        log(EventKind.RATING, Phase.DISCUSSION, actor=peer, audience=(peer,), **about, data={"assessment": view})
    for place, one in enumerate(strings):
        log(EventKind.VOTE, Phase.VOTING, actor=one, target=strings[place - 1], fallback=f"fallback {one}")
    log(EventKind.EXILE, Phase.VOTING, target=strings[0], data={"votes": 2, "needed": 1})
    log(EventKind.END, Phase.END, data={"winner": f"team {strings[0]}"})
    learner: dict[str, Any] = {"actor": strings[1], "audience": (strings[1],)}
    log(EventKind.LESSON, Phase.END, **learner, text=f"learned {strings[1]}", data={"kind": "to_do"})
    outcome = Outcome(f"team {strings[0]}", tuple(strings[::2]), f"reason {strings[2]}", 1)
    cell, meta = f"cell {strings[3]}", {"seating": strings[4]}
    return GameRecord(
        f"{number}{ID}", f"rules {strings[5]}", 7, cell, seats, tuple(events), Status.DONE, outcome, "", meta
    )
