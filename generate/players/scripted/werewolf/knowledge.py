"""What a seat knows: the public table, which all seats share, and the seat's own secrets.

The table is read from the public events alone and cached for a while, since ten seats ask for the same one; a cached
table is only used for an equal log, so that an answer depends on nothing but the view.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from liescope.games.core import Event, EventKind, Phase
from liescope.games.werewolf import DOCTOR, SEER, VILLAGER, WEREWOLF
from liescope.generate.players.scripted.reading import MessageContent, read

_CLAIMS = {
    SEER: re.compile(r"\bi(?: a|['’])m (?:the|your) seer\b|\bas (?:the|your) seer\b|\bmy role is (?:the )?seer\b"),
    DOCTOR: re.compile(
        r"\bi(?: a|['’])m (?:the|your) doctor\b|\bas (?:the|your) doctor\b|\bmy role is (?:the )?doctor\b|"
        r"\bi (?:have )?protected\b"
    ),
}
_ODD = re.compile(
    r"\b(?:exile me|vote for me|votes? on me|if i were (?:a|the) (?:were)?wolf|i(?: a|['’])m (?:a|the) werewolf|"
    r"i would not trust me|i forgot what i said|i take (?:it|that) back|i might have been out|nothing to hide|"
    r"no matter who goes)\b"
)
_JESTER = re.compile(r"\bjester\b")


@dataclass(frozen=True, slots=True)
class Heard:
    """One public statement as every player reads it. about: the index of its event; role: what the speaker claims to
    be, or ""; odd: the speaker talks itself into trouble; jesters: players it takes for a jester.
    """

    actor: str
    day: int
    phase: Phase
    round: int
    about: int
    text: str
    reading: MessageContent
    role: str
    odd: bool
    jesters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    day: int
    phase: Phase
    voter: str
    target: str


@dataclass(slots=True, eq=False)
class PublicTable:
    """What every player knows; one object per log, not to be changed once it is gathered.

    alive: in the order of the table; killed: at night, so not werewolves; exiled: by vote, roles not revealed; winner:
    once the game has ended.
    """

    names: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    alive: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    exiled: list[str] = field(default_factory=list)
    said: list[Heard] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    votes: list[Vote] = field(default_factory=list)
    winner: str = ""

    @property
    def today(self) -> list[Vote]:
        """The votes of the newest ballot."""
        if not self.votes:
            return []
        last = self.votes[-1]
        return [vote for vote in self.votes if (vote.day, vote.phase) == (last.day, last.phase)]


@dataclass(slots=True)
class Knowledge:
    """The table as one seat knows it. partners: fellow werewolves; results: who is (not) a werewolf, by the seat's own
    investigations; proposals: tonight's, by proposer.
    """

    me: str
    table: PublicTable
    role: str = ""
    partners: frozenset[str] = frozenset()
    results: dict[str, str] = field(default_factory=dict)
    proposals: dict[str, str] = field(default_factory=dict)

    @property
    def evil(self) -> bool:
        return self.role == WEREWOLF

    def others(self) -> list[str]:
        return [name for name in self.table.alive if name != self.me]

    def culprits(self) -> list[str]:
        """Living players that this seat has found to be werewolves by investigation."""
        return [name for name in self.table.alive if self.results.get(name) == WEREWOLF]

    def last_by(self, name: str) -> Heard | None:
        return next((said for said in reversed(self.table.said) if said.actor == name), None)

    def accusers(self, name: str) -> list[str]:
        """Living players that have accused someone, each once, the latest last."""
        found: dict[str, None] = {}
        for said in self.table.said:
            if said.actor != name and any(accused == name for accused, _ in said.reading.accused):
                found.pop(said.actor, None)
                found[said.actor] = None
        return [accuser for accuser in found if accuser in self.table.alive]


def look(me: str, game: str, view: Sequence[Event]) -> Knowledge:
    """Gather what `me` learns from the events it saw."""
    seen = Knowledge(me, _gather(_Log(game, tuple(event for event in view if event.audience is None))))
    night = 0
    for event in view:
        if event.audience is None:
            continue
        if event.kind is EventKind.ROLE and event.actor == me:
            seen.role = event.data["role"]
        elif event.kind is EventKind.PARTNERS:
            seen.partners = frozenset(event.data["names"]) - {me}
        elif event.kind is EventKind.INVESTIGATION and event.actor == me:
            seen.results[event.target or ""] = event.data["role"]
        elif event.kind is EventKind.PROPOSAL:
            if event.day != night:
                night, seen.proposals = event.day, {}
            seen.proposals[event.actor or ""] = event.target or ""
    return seen


@dataclass(frozen=True, slots=True, eq=False)
class _Log:
    """Public events, equal to another log if all events are equal; its hash is cheap."""

    game: str
    events: tuple[Event, ...]

    def __hash__(self) -> int:
        return hash((self.game, len(self.events)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Log) and self.events == other.events


@lru_cache(maxsize=256)
def _gather(log: _Log) -> PublicTable:
    table = PublicTable()
    for event in log.events:
        kind, actor, target = event.kind, event.actor or "", event.target or ""
        if kind is EventKind.STATEMENT:
            table.said.append(_hear(event, table.names))
        elif kind is EventKind.SILENCE:
            table.silent.append(actor)
        elif kind is EventKind.VOTE:
            table.votes.append(Vote(event.day, event.phase, actor, target))
        elif kind is EventKind.SETUP:
            table.names = tuple(event.data["names"])
            table.counts = dict(event.data["composition"])
            table.alive = list(table.names)
        elif kind is EventKind.DEATH:
            table.alive.remove(target)
            table.killed.append(target)
        elif kind is EventKind.EXILE:
            table.alive.remove(target)
            table.exiled.append(target)
        elif kind is EventKind.END:
            table.winner = event.data["winner"]
    return table


def _hear(event: Event, names: tuple[str, ...]) -> Heard:
    reading = read(event.text, names)
    role, odd, jesters = _overtones(event.text, names)
    claimed = role or (VILLAGER if reading.role == VILLAGER else "")
    place = event.actor or "", event.day, event.phase, event.round, event.index
    return Heard(*place, event.text, reading, claimed, odd, jesters)


@lru_cache(maxsize=16384)
def _overtones(text: str, names: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    """The special role that a statement claims; whether it is odd; the names that share a sentence with a jester."""
    lower = text.lower()
    role = next((role for role, pattern in _CLAIMS.items() if pattern.search(lower)), "")
    named = [sentence for sentence in lower.split(".") if _JESTER.search(sentence)]
    jesters = tuple(name for name in names if any(name.lower() in sentence for sentence in named))
    return role, _ODD.search(lower) is not None, jesters
