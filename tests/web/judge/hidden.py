"""A run in which all that is hidden, or comes later, is a token of its own: pages are searched for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.runs.journal import Journal

NAMES = ("Ann", "Bob", "Cat", "Dan")
GAMES = 3
TOKEN = re.compile(r"zq[a-z]{3}\w*")  # and not a random key that begins alike


def make(folder: Path) -> list[GameRecord]:
    """A run of such games, and their records."""
    records = [_game(number) for number in range(GAMES)]
    with Journal.create(folder, {"import": "zqformat", "options": {"zqoption": "zqvalue"}}) as journal:
        for record in records:
            journal.add_record(record)
    return records


def allowed(record: GameRecord, seat: str, about: int | None) -> set[str]:
    """The tokens that a reader with this view may have been shown once it is asked about a statement, or at the end."""
    found: set[str] = set()
    for event in record.events:
        if event.kind is EventKind.END or (about is not None and event.index > about):
            break
        if (event.seen_by(seat) if seat else event.audience is None) and event.kind in _SHOWN:
            found |= set(TOKEN.findall(f"{event.text} {event.data.get('role', '')}"))
    return found


_SHOWN = {EventKind.ROLE, EventKind.INVESTIGATION, EventKind.STATEMENT, EventKind.ACT}


def _game(number: int) -> GameRecord:
    seats = tuple(
        Seat(name, f"zqrole{number}{name}", f"zqteam{name}", name == "Cat", f"zqmodel{name}", Source.MODEL)
        for name in NAMES
    )
    events: list[Event] = []

    def log(kind: EventKind, phase: Phase, day: int, **facts: Any) -> int:
        events.append(Event(len(events), kind, day, phase, **facts))
        return len(events) - 1

    log(EventKind.SETUP, Phase.SETUP, 0, data={"names": list(NAMES), "composition": {"wolf": 1, "sheep": 3}})
    for seat in seats:
        log(EventKind.ROLE, Phase.SETUP, 0, actor=seat.name, audience=(seat.name,), data={"role": seat.role})
    for day in (1, 2):
        at = f"{number}d{day}"
        seen: dict[str, Any] = {"actor": "Bob", "target": "Cat", "audience": ("Bob",)}
        log(
            EventKind.INVESTIGATION,
            Phase.NIGHT,
            day,
            **seen,
            data={"role": f"zqseen{at}", "private": {"x": "zqthought"}},
        )
        log(EventKind.ACT, Phase.NIGHT, day, actor="Cat", text=f"hides zqact{at}", audience=("Cat",))
        for name in NAMES:
            audience = ("Cat", "Dan") if name == "Dan" else None
            meant = {"private": {"reasoning": f"zqmeant{at}{name}", "planted_type": "omission"}, "claims": []}
            words = f"<b>zqsaid{at}{name}</b> & 'so'"
            said = log(
                EventKind.STATEMENT, Phase.DISCUSSION, day, actor=name, text=words, audience=audience, data=meant
            )
            view = {"deceptive": True, "reason": f"zqreason{at}{name}"}
            log(
                EventKind.SELF_REPORT,
                Phase.DISCUSSION,
                day,
                actor=name,
                target=name,
                about=said,
                audience=(name,),
                data={"assessment": view},
            )
            log(
                EventKind.RATING,
                Phase.DISCUSSION,
                day,
                actor="Bob",
                target=name,
                about=said,
                audience=("Bob",),
                data={"assessment": view},
            )
        log(EventKind.VOTE, Phase.VOTING, day, actor="Ann", target="Cat", fallback="zqfallback")
    log(EventKind.END, Phase.END, 2, data={"winner": "zqwinner"})
    log(EventKind.LESSON, Phase.END, 2, actor="Bob", audience=("Bob",), text="zqlesson", data={"kind": "to_do"})
    outcome = Outcome("zqwinner", ("Ann",), "zqending", 2)
    return GameRecord(
        f"zqgame{number}",
        "zqrules",
        7,
        "zqcell",
        seats,
        tuple(events),
        Status.DONE,
        outcome,
        meta={"seating": "zqseat"},
    )
