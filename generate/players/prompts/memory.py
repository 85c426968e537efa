"""Mafia's narration: a seat's memory, that is, the events that it saw, one line each, in order.

Mini-Mafia paper, Appendix A.2. Assessments are left out, including the seat's own: asking for them must not affect
later statements and votes. A statement stays on one line and inside its quotation marks, whatever its author wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

from liescope.games.core import Event, EventKind
from liescope.generate.players.prompts.narration import Narration, drawn, listing, quoted


def narrate(view: Sequence[Event], seat: str) -> Narration:
    """Everything in one memory."""
    return Narration(tuple(memory(view, seat)))


def memory(view: Sequence[Event], seat: str) -> list[str]:
    """The lines of a seat's memory. view: the events that the seat has seen."""
    return [line for event in view if (line := remember(event, seat)) is not None]


def remember(event: Event, seat: str) -> str | None:
    """One event as the seat remembers it; None for events that it does not remember."""
    mine = event.actor == seat
    who, target = "You" if mine else event.actor, event.target
    match event.kind:
        case EventKind.ROLE:
            return f"You are {seat}, the {event.data['role']}."
        case EventKind.PARTNERS:
            others = [name for name in event.data["names"] if name != seat]
            return f"Your fellow mafioso{'s are' if len(others) > 1 else ' is'} {listing(others)}."
        case EventKind.NIGHT:
            return f"Night {event.day} begins."
        case EventKind.KILLER:
            return f"{who} decide{'' if mine else 's'} the mafia's kill tonight."
        case EventKind.KILL:
            return f"{who} killed {target}{drawn(event, 'choice')}."
        case EventKind.INVESTIGATION:
            return f"You investigated {target}{drawn(event, 'choice')} and learned: {target} is a {event.data['role']}."
        case EventKind.DISCOVERY:
            if mine:
                return f"Beware: {target} knows that you are the detective."
            return f"Beware: {event.actor} is the detective and has found out that you are the mafioso."
        case EventKind.DEATH:
            role = event.data.get("role")
            return f"The {role} {target} was found dead." if role else f"{target} was found dead."
        case EventKind.DAY:
            return f"Day {event.day} begins."
        case EventKind.STATEMENT:
            return f'{who}: "{quoted(event.text)}"'
        case EventKind.SILENCE:
            return f"{who} remained silent."
        case EventKind.SUSPICION:
            shown = ", ".join(f"{name} {value:.2f}" for name, value in event.data["suspicion"].items())
            return f"How suspicious you found the others so far, from 0 to 1: {shown}."
        case EventKind.VOTE:
            return f"{who} voted for {target}{drawn(event, 'vote')}."
        case EventKind.ARREST:
            tied = event.data.get("tied")
            return f"{target} was arrested{f' (drawn at random from a tie: {listing(tied)})' if tied else ''}."
        case _:
            return None
