"""What a seat can tell about its table at this moment: what is going on, and who is still in the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from liescope.games.core import ASSESSMENTS, Ask, AskKind, Event, EventKind, Phase
from liescope.web.play.lines import with_article

_ENDS = {EventKind.DEATH: "died, night", EventKind.ARREST: "arrested, day", EventKind.EXILE: "exiled, day"}


@dataclass(frozen=True, slots=True)
class Stage:
    """What everybody at a table knows to be going on. key: tells it from the stages before and after; words: as a
    sentence; floor: who has the floor.
    """

    key: str
    words: str
    floor: str = ""


def stage_of(asks: Sequence[Ask]) -> Stage | None:
    """The stage of a game that waits for these answers, None where there is none. Who is asked at night, or asked again
    there, is not to be told: a night is one stage.
    """
    if not asks:
        return None
    ask = asks[0]
    if ask.phase is Phase.NIGHT:
        return Stage(f"{ask.day}-night", "It is night. Whoever can act does so now, in secret.")
    key = f"{ask.day}-{ask.step}"
    if ask.kind is AskKind.SPEAK:
        return Stage(key, f"{ask.seat} has the floor.", ask.seat)
    if ask.kind is AskKind.BID:
        return Stage(key, "Who speaks next? The others are bidding for the floor.")
    if ask.kind in ASSESSMENTS:
        return Stage(key, "The last statement is being rated, for the record only.")
    return Stage(key, "The vote is under way. All votes are shown at once when the last is in.")


@dataclass(frozen=True, slots=True)
class Chair:
    """A player as a seat knows it. out: how the player left the game, "" for who is in it; known: what this seat alone,
    or with its partners, knows about the player.
    """

    name: str
    out: str = ""
    known: str = ""


def chairs(view: Sequence[Event], seat: str) -> list[Chair]:
    """All players of a game as a seat knows them from its view, in table order."""
    names: Sequence[str] = ()
    out: dict[str, str] = {}
    known: dict[str, str] = {}
    for event in view:
        if event.kind is EventKind.SETUP:
            names = event.data["names"]
        elif event.kind in _ENDS:
            shown = f", {with_article(event.data['role'])}" if event.data.get("role") else ""
            out[event.target or ""] = f"{_ENDS[event.kind]} {event.day}{shown}"
        elif event.kind is EventKind.PARTNERS:
            known |= {name: "on your side" for name in event.data["names"] if name != seat}
        elif event.kind is EventKind.INVESTIGATION and event.actor == seat:
            known[event.target or ""] = with_article(event.data["role"])
    return [Chair(name, out.get(name, ""), known.get(name, "")) for name in names]


def role_of(view: Sequence[Event], seat: str) -> str:
    """The role that a seat was told, "" before that."""
    told = (event.data["role"] for event in view if event.kind is EventKind.ROLE and event.actor == seat)
    return next(told, "")
