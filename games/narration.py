"""How games are told to their players: a family of prompts, and the words that narrations share.

Mafia's narration is a seat's memory: the events that it saw, one line each, in order (Mini-Mafia paper, Appendix A.2).
Assessments are left out, including the seat's own: asking for them must not affect later statements and votes. A
statement stays on one line and inside its quotation marks, whatever its author wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event, EventKind
from liescope.games.taxonomy import DeceptionType

RULES = "rules"
STRATEGY = "strategy"  # advice for a role; part of the private text, which only its seat reads
TYPES = tuple((kind.value, kind.definition) for kind in DeceptionType)
CHOICE = frozenset({"name", "day", "options"})
ABOUT = frozenset({"name", "speaker", "statement"})
FORM = frozenset({"name", "options"})
SPEECH = frozenset({"name", "day", "round", "rounds", "limit"})
ASSESSED: dict[str, frozenset[str]] = {
    AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
    AskKind.PEER_ASSESSMENT: ABOUT | {"types"},
    AskKind.NAME_ROLES: FORM,
}
"""Variables of the questions that are the same in every game."""


@dataclass(frozen=True, slots=True)
class Narration:
    """growing: lines that are only ever appended to; private: lines after them, before the question."""

    growing: tuple[str, ...]
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptFamily:
    """The prompts of one or more games.

    folder: where its sets of templates are, one folder each; sets: their names; variables: those of each template, by
    file name without ".jinja"; rating: templates needed only for rating afterwards; facts: the rules' variables from
    the SETUP event and the seat; narrate: turns a seat's view into text; optional: templates that a set may
    lack; temperature: for models that are given none, as in the paper of these games; None leaves it to whoever serves
    the model.
    """

    folder: Path
    sets: tuple[str, ...]
    variables: Mapping[str, frozenset[str]]
    rating: frozenset[str]
    facts: Callable[[Event, str], dict[str, Any]]
    narrate: Callable[[Sequence[Event], str], Narration]
    optional: frozenset[str] = frozenset()
    temperature: float | None = None

    @property
    def name(self) -> str:
        """The name of the game's folder."""
        return self.folder.parent.name


def quoted(text: str) -> str:
    """A statement to put in double quotation marks: on one line, with its double quotes turned into single ones."""
    return " ".join(text.split()).replace('"', "'")


def listing(names: Iterable[str], last: str = "and") -> str:
    """ "A", "A and B", "A, B and C"."""
    *most, final = list(names) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def counted(composition: Iterable[tuple[str, int]]) -> str:
    """ "1 mafioso and 2 villagers"; roles that no one holds are left out."""
    return listing(f"{count} {_plural(role, count)}" for role, count in composition if count)


def drawn(event: Event, what: str) -> str:
    """The text to add if the rules had to choose for a seat."""
    return f" (drawn at random: unreadable {what})" if event.fallback else ""


def deed(event: Event) -> str:
    """What an ACT or a CHOICE says, in the third person even of whoever did it."""
    return f"{event.actor} {event.text}" if event.actor else event.text


def shares(values: Mapping[str, float]) -> str:
    """Suspicions by name: "Ann 0.20, Ben 0.65"."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def _plural(role: str, count: int) -> str:
    if count == 1:
        return role
    return "werewolves" if role == "werewolf" else f"{role}s"


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
            return f"How suspicious you found the others so far, from 0 to 1: {shares(event.data['suspicion'])}."
        case EventKind.VOTE:
            return f"{who} voted for {target}{drawn(event, 'vote')}."
        case EventKind.ARREST:
            tied = event.data.get("tied")
            return f"{target} was arrested{f' (drawn at random from a tie: {listing(tied)})' if tied else ''}."
        case EventKind.ACT:
            return deed(event)
        case EventKind.CHOICE:
            return f"{deed(event)}{drawn(event, 'choice')}."
        case _:
            return None
