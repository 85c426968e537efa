"""What a reader of a game has seen, as lines of a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from liescope.common.text import plain
from liescope.games.core import Event, EventKind
from liescope.games.facts import EventData
from liescope.generate.players.prompts.narration import counted, listing
from liescope.generate.runs.sitting import Question
from liescope.generate.runs.transcript import event_line

COLOURS = 12
_TOLD = frozenset(
    {
        EventKind.KILLER,
        EventKind.PROPOSAL,
        EventKind.KILL,
        EventKind.PROTECTION,
        EventKind.INVESTIGATION,
        EventKind.DISCOVERY,
        EventKind.DEATH,
        EventKind.QUIET,
        EventKind.SILENCE,
        EventKind.VOTE,
        EventKind.ARREST,
        EventKind.EXILE,
        EventKind.NO_EXILE,
        EventKind.ACT,
    }
)


@dataclass(frozen=True, slots=True)
class Line:
    """heading: a new part of the game begins; speaker: who says the words, "" for what happens; colour: the speaker's,
    from 0; to: who hears private words; secret: only some know it; asked: it is what the question is about.
    """

    words: str
    heading: bool = False
    speaker: str = ""
    colour: int = 0
    to: str = ""
    secret: bool = False
    asked: bool = False


def lines_of(question: Question) -> Iterator[Line]:
    """The lines of all that the reader may know, in order."""
    if question.seat:
        yield Line(f"You see what {question.seat} sees.", secret=True)
    place = (0, "", 0)
    for event in question.seen:
        line = _line(event, question)
        if line is None:
            continue
        here = (event.day, event.phase.value, event.round)
        if here != place and event.day:
            place = here
            yield Line(f"Day {event.day}, {event.phase.value}{f', round {event.round}' if event.round else ''}", True)
        yield line


def _line(event: Event, question: Question) -> Line | None:
    data, secret = event.data, event.audience is not None
    match event.kind:
        case EventKind.SETUP:
            return Line(_table(question, data.get("composition", {})))
        case EventKind.ROLE:
            return Line(f"The role of {event.actor}: {data.get('role', '')}.", secret=True)
        case EventKind.PARTNERS:
            return Line(f"They know each other: {', '.join(data.get('names', ()))}.", secret=True)
        case EventKind.STATEMENT:
            speaker = event.actor or ""
            to = ", ".join(name for name in event.audience or () if name != speaker)
            colour = question.names.index(speaker) % COLOURS
            return Line(plain(event.text), False, speaker, colour, to, secret, event.index == question.ask.about)
        case kind if kind in _TOLD:
            known = {name: value for name, value in data.items() if name != "drawn"}
            told = event_line(replace(event, fallback="", data=cast(EventData, known)))
            return None if told is None else Line(told.plain.strip(), secret=secret)
    return None


def _table(question: Question, composition: dict[str, int]) -> str:
    cards = counted(sorted((role, count) for role, count in composition.items() if role))  # not as they sit
    told = f"Players: {', '.join(question.names)}." + (f" Roles in the game: {cards}." if cards else "")
    return told + (f" To win, the {listing(question.deceivers)} must deceive." if question.deceivers else "")
