"""What a seat knows from its view of the events: the table, its secrets, and what was said publicly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from liescope.games.core import Event, EventKind
from liescope.games.mafia import DETECTIVE, MAFIOSO
from liescope.games.script.following import Following
from liescope.games.script.hearing import MessageContent, read


@dataclass(frozen=True, slots=True)
class Heard:
    """One public statement as every player reads it. about: the index of its event."""

    actor: str
    day: int
    about: int
    text: str
    reading: MessageContent


@dataclass(slots=True, eq=False)
class Knowledge:
    """What a seat knows at one moment; not to be changed once it is gathered.

    alive: still in the game, in the order of the table. town: names that, by the rules, cannot be in the mafia:
    those killed at night, and those arrested if there is only one mafioso and the game went on. partners, results: the
    seat's own secrets (fellow mafiosos; roles learned by investigation). exposed: the detectives who know that this
    seat is a mafioso, or the mafiosos who know that it is a detective. revealed: announced roles of the dead.
    """

    me: str
    role: str = ""
    names: tuple[str, ...] = ()
    rounds: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    alive: list[str] = field(default_factory=list)
    town: set[str] = field(default_factory=set)
    victim: str = ""
    partners: frozenset[str] = frozenset()
    results: dict[str, str] = field(default_factory=dict)
    exposed: set[str] = field(default_factory=set)
    revealed: dict[str, str] = field(default_factory=dict)
    said: list[Heard] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    votes: list[tuple[str, str]] = field(default_factory=list)

    def copy(self) -> Knowledge:
        """Knowledge to add to."""
        return Knowledge(
            self.me,
            self.role,
            self.names,
            self.rounds,
            self.counts,
            self.alive.copy(),
            self.town.copy(),
            self.victim,
            self.partners,
            self.results.copy(),
            self.exposed.copy(),
            self.revealed.copy(),
            self.said.copy(),
            self.silent.copy(),
            self.votes.copy(),
        )

    @property
    def evil(self) -> bool:
        return self.role == MAFIOSO

    @property
    def detectives(self) -> int:
        """How many detectives may still be alive, given what was announced."""
        return self.counts.get(DETECTIVE, 0) - list(self.revealed.values()).count(DETECTIVE)

    @property
    def mine(self) -> list[Heard]:
        return [said for said in self.said if said.actor == self.me]

    def culprits(self) -> list[str]:
        """Living players that this seat has found to be mafiosos by investigation."""
        return [name for name in self.alive if self.results.get(name) == MAFIOSO]

    def others(self) -> list[str]:
        return [name for name in self.alive if name != self.me]

    def last_by(self, name: str) -> Heard | None:
        return next((said for said in reversed(self.said) if said.actor == name), None)


def look(me: str, game: str, view: Sequence[Event]) -> Knowledge:
    """What `me` learns from the events it saw."""
    return _KNOWN.after(game, me, tuple(view))


def _learn(known: Knowledge, events: Sequence[Event]) -> Knowledge:
    """What the seat knows after some more events."""
    told = [event for event in events if event.kind in _TELLING]
    if not told:
        return known
    seen = known.copy()
    for event in told:
        kind = event.kind
        if kind is EventKind.STATEMENT:
            reading = read(event.text, seen.names)
            seen.said.append(Heard(event.actor or "", event.day, event.index, event.text, reading))
        elif kind is EventKind.SILENCE:
            seen.silent.append(event.actor or "")
        elif kind is EventKind.VOTE:
            seen.votes.append((event.actor or "", event.target or ""))
        elif kind is EventKind.SETUP:
            seen.names = tuple(event.data["names"])
            seen.counts = dict(event.data.get("composition", {}))
            seen.alive = list(seen.names)
            seen.rounds = event.data.get("rounds", 0)
        elif kind is EventKind.ROLE:
            if event.actor == seen.me:
                seen.role = event.data["role"]
        elif kind is EventKind.PARTNERS:
            seen.partners = frozenset(event.data["names"]) - {seen.me}
        elif kind is EventKind.INVESTIGATION:
            if event.actor == seen.me and event.target:
                seen.results[event.target] = event.data["role"]
        elif kind is EventKind.DISCOVERY:
            seen.exposed |= {event.actor or "", event.target or ""} - {seen.me}
        else:
            _leave(seen, event)
    return seen


_TELLING = frozenset(
    {
        EventKind.STATEMENT,
        EventKind.SILENCE,
        EventKind.VOTE,
        EventKind.SETUP,
        EventKind.ROLE,
        EventKind.PARTNERS,
        EventKind.INVESTIGATION,
        EventKind.DISCOVERY,
        EventKind.DEATH,
        EventKind.ARREST,
    }
)
_KNOWN = Following(Knowledge, _learn)


def _leave(seen: Knowledge, event: Event) -> None:
    name = event.target or ""
    if name in seen.alive:
        seen.alive.remove(name)
    if event.kind is EventKind.DEATH:
        seen.town.add(name)
        seen.victim = name
        if role := event.data.get("role"):
            seen.revealed[name] = role
    elif seen.counts.get(MAFIOSO) == 1:
        seen.town.add(name)


def only_detective(seen: Knowledge) -> bool:
    """Whether the seat is the only detective, so that anyone else who claims to be one is lying."""
    return seen.role == DETECTIVE and seen.counts.get(DETECTIVE) == 1
