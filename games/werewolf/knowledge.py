"""What a seat knows: the public table, which all seats share, and the seat's own secrets.

The table is read from the public events alone and kept for a while, since ten seats ask for the same one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from liescope.games.core import Event, EventKind, Phase
from liescope.games.script.following import Following
from liescope.games.script.hearing import MessageContent, read
from liescope.games.werewolf import DOCTOR, SEER, VILLAGER, WEREWOLF

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

    alive: in the order of the table; killed: at night, so not werewolves; exiled: by vote, roles not revealed;
    accusers: by player, those who have accused it, the latest last; winner: once the game has ended.
    """

    names: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    alive: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    exiled: list[str] = field(default_factory=list)
    said: list[Heard] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    accusers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    votes: list[Vote] = field(default_factory=list)
    winner: str = ""

    @property
    def today(self) -> list[Vote]:
        """The votes of the newest ballot."""
        if not self.votes:
            return []
        last = self.votes[-1]
        return [vote for vote in self.votes if (vote.day, vote.phase) == (last.day, last.phase)]


@dataclass(frozen=True, slots=True)
class _Secrets:
    """What only the seat knows, and the public events that it saw. night: that of the proposals."""

    me: str
    role: str = ""
    partners: frozenset[str] = frozenset()
    results: dict[str, str] = field(default_factory=dict)
    proposals: Mapping[str, str] = field(default_factory=dict)
    night: int = 0
    public: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """The table as one seat knows it. partners: fellow werewolves; results: who is (not) a werewolf, by the seat's own
    investigations; proposals: those of the latest night with any, by proposer.
    """

    table: PublicTable
    me: str
    role: str
    partners: frozenset[str]
    results: dict[str, str]
    proposals: Mapping[str, str]

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
        return [accuser for accuser in self.table.accusers.get(name, ()) if accuser in self.table.alive]


def look(me: str, game: str, view: Sequence[Event]) -> Knowledge:
    """What `me` learns from the events it saw."""
    own = _SEATS.after(game, me, tuple(view))
    table = _TABLES.after(game, "", own.public)
    return Knowledge(table, me, own.role, own.partners, own.results, own.proposals)


def _learn(known: _Secrets, events: Sequence[Event]) -> _Secrets:
    """The seat's secrets after some more events."""
    public = [event for event in events if event.audience is None]
    own = known
    if public:
        seen = (*known.public, *public)
        own = _Secrets(known.me, known.role, known.partners, known.results, known.proposals, known.night, seen)
    for event in events:
        if event.kind not in _SECRET or event.audience is None:
            continue
        if event.kind is EventKind.ROLE:
            own = replace(own, role=event.data["role"]) if event.actor == own.me else own
        elif event.kind is EventKind.PARTNERS:
            own = replace(own, partners=frozenset(event.data["names"]) - {own.me})
        elif event.kind is EventKind.INVESTIGATION:
            found = {event.target or "": event.data["role"]} if event.actor == own.me else {}
            own = replace(own, results={**own.results, **found})
        else:
            tonight = own.proposals if event.day == own.night else {}
            own = replace(own, night=event.day, proposals={**tonight, event.actor or "": event.target or ""})
    return own


_SECRET = frozenset({EventKind.ROLE, EventKind.PARTNERS, EventKind.INVESTIGATION, EventKind.PROPOSAL})
_SEATS = Following(_Secrets, _learn)


def _gather(known: PublicTable, events: Sequence[Event]) -> PublicTable:
    """The table after some more public events."""
    table = replace(
        known,
        alive=[*known.alive],
        killed=[*known.killed],
        exiled=[*known.exiled],
        said=[*known.said],
        silent=[*known.silent],
        accusers={**known.accusers},
        votes=[*known.votes],
    )
    for event in events:
        kind, actor, target = event.kind, event.actor or "", event.target or ""
        if kind is EventKind.STATEMENT:
            heard = _hear(event, table.names)
            table.said.append(heard)
            for name, _ in heard.reading.accused:
                if name != actor:
                    earlier = (accuser for accuser in table.accusers.get(name, ()) if accuser != actor)
                    table.accusers[name] = (*earlier, actor)
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


_TABLES = Following(lambda _: PublicTable(), _gather)


def _hear(event: Event, names: tuple[str, ...]) -> Heard:
    reading = read(event.text, names)
    role, odd, jesters = _overtones(event.text, names)
    claimed = role or (VILLAGER if reading.role == VILLAGER else "")
    place = event.actor or "", event.day, event.phase, event.round, event.index
    return Heard(*place, event.text, reading, claimed, odd, jesters)


@lru_cache(maxsize=2048)
def _overtones(text: str, names: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    """The special role that a statement claims; whether it is odd; the names that share a sentence with a jester."""
    lower = text.lower()
    role = next((role for role, pattern in _CLAIMS.items() if pattern.search(lower)), "")
    named = [sentence for sentence in lower.split(".") if _JESTER.search(sentence)]
    jesters = tuple(name for name in names if any(name.lower() in sentence for sentence in named))
    return role, _ODD.search(lower) is not None, jesters
