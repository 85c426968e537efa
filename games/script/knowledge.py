"""What a seat knows: what is public, which all seats share, and the seat's own secrets.

Both are built up from what was known before the latest events. The cache never changes a result: it is used only for a
log that begins with exactly the same events.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Generic, TypeVar

from liescope.games.core import LEAVES, Event, EventKind, Phase
from liescope.games.script.hearing import MessageContent, read
from liescope.games.script.persona import ClaimFinder

K = TypeVar("K")

_KEPT = 64  # so many seats, or games, whose last log is kept
_SECRET = frozenset(
    {EventKind.ROLE, EventKind.PARTNERS, EventKind.INVESTIGATION, EventKind.PROPOSAL, EventKind.DISCOVERY}
)


@dataclass(frozen=True, slots=True)
class Heard:
    """One public statement as every player hears it. about: the index of its event; role: what the speaker claims to
    be, or ""; odd: the speaker talks itself into trouble; jesters: players it takes for a jester.
    """

    actor: str
    day: int
    phase: Phase
    about: int
    text: str
    reading: MessageContent
    role: str
    odd: bool = False
    jesters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VoteSeen:
    day: int
    phase: Phase
    voter: str
    target: str


@dataclass(slots=True, eq=False)
class PublicKnowledge:
    """Public knowledge: one object per log, not to be changed once it is gathered.

    alive: in the order of seats; killed: at night; exiled: by vote; revealed: announced roles of the dead;
    accusers: by player, those who have accused it, the latest last; winner: once the game has ended.
    """

    names: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    rounds: int = 0
    alive: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    exiled: list[str] = field(default_factory=list)
    revealed: dict[str, str] = field(default_factory=dict)
    said: list[Heard] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    accusers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    votes: list[VoteSeen] = field(default_factory=list)
    winner: str = ""

    @property
    def today(self) -> list[VoteSeen]:
        """The votes of the newest ballot."""
        if not self.votes:
            return []
        last = self.votes[-1]
        return [vote for vote in self.votes if (vote.day, vote.phase) == (last.day, last.phase)]

    def claiming(self, role: str) -> set[str]:
        """The players who have claimed a role."""
        return {said.actor for said in self.said if said.role == role}


@dataclass(frozen=True, slots=True)
class _Secrets:
    """The secrets of a seat, and the public events that it saw. night: when the proposals were made."""

    me: str
    role: str = ""
    partners: frozenset[str] = frozenset()
    results: dict[str, str] = field(default_factory=dict)
    exposed: frozenset[str] = frozenset()
    proposals: Mapping[str, str] = field(default_factory=dict)
    night: int = 0
    public: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """The game as one seat knows it. killer: the role of those who kill; partners: who hold it too; results: what the
    seat's own investigations showed; exposed: players who know this seat's role, as it knows theirs; proposals: victims
    proposed in the latest night with any, by proposer; find_claims: how it reads claims.
    """

    public: PublicKnowledge
    killer: str
    me: str
    role: str
    partners: frozenset[str]
    results: dict[str, str]
    exposed: frozenset[str]
    proposals: Mapping[str, str]
    find_claims: ClaimFinder

    @property
    def evil(self) -> bool:
        return self.role == self.killer

    @property
    def mine(self) -> list[Heard]:
        return [said for said in self.public.said if said.actor == self.me]

    def others(self) -> list[str]:
        return [name for name in self.public.alive if name != self.me]

    def prey(self) -> list[str]:
        """The others without partners, or everybody if nobody else is left."""
        return [name for name in self.others() if name not in self.partners] or self.others()

    def culprits(self) -> list[str]:
        """Living players that this seat has found to be of those who kill."""
        return [name for name in self.public.alive if self.results.get(name) == self.killer]

    def last_by(self, name: str) -> Heard | None:
        return next((said for said in reversed(self.public.said) if said.actor == name), None)

    def accusers(self, name: str) -> list[str]:
        """Living players that have accused someone, each once, the latest last."""
        return [accuser for accuser in self.public.accusers.get(name, ()) if accuser in self.public.alive]


Hear = Callable[[Event, MessageContent, tuple[str, ...]], Heard]
"""From a statement, what everybody reads in it and the names of the players to what players of a game hear."""


def hear_plainly(event: Event, reading: MessageContent, _names: tuple[str, ...]) -> Heard:
    """A statement as heard in games where only the general reading counts."""
    return Heard(event.actor or "", event.day, event.phase, event.index, event.text, reading, reading.role)


class Follower:
    """Follows the games of one kind. killer: the role of those who kill; hear: what players hear in a statement."""

    def __init__(self, killer: str, hear: Hear = hear_plainly) -> None:
        self._killer = killer
        self._hear = hear
        self._seats = Following(_Secrets, _learn)
        self._public = Following(lambda _: PublicKnowledge(), self._gather)

    def look(self, me: str, game: str, view: Sequence[Event], find_claims: ClaimFinder) -> Knowledge:
        """The knowledge of `me` after the events it saw."""
        own = self._seats.after(game, me, tuple(view))
        public = self._public.after(game, "", own.public)
        secrets = own.role, own.partners, own.results, own.exposed, own.proposals
        return Knowledge(public, self._killer, me, *secrets, find_claims)

    def _gather(self, known: PublicKnowledge, events: Sequence[Event]) -> PublicKnowledge:
        """Public knowledge after further events."""
        public = PublicKnowledge(*(copy(getattr(known, one.name)) for one in fields(known)))
        for event in events:
            kind, actor, target = event.kind, event.actor or "", event.target or ""
            if kind is EventKind.STATEMENT:
                heard = self._hear(event, read(event.text, public.names), public.names)
                public.said.append(heard)
                for name, _ in heard.reading.accused:
                    if name != actor:
                        earlier = (accuser for accuser in public.accusers.get(name, ()) if accuser != actor)
                        public.accusers[name] = (*earlier, actor)
            elif kind is EventKind.SILENCE:
                public.silent.append(actor)
            elif kind is EventKind.VOTE:
                public.votes.append(VoteSeen(event.day, event.phase, actor, target))
            elif kind is EventKind.SETUP:
                public.names = tuple(event.data["names"])
                public.counts = dict(event.data.get("composition", {}))
                public.rounds = event.data.get("rounds", 0)
                public.alive = list(public.names)
            elif kind in LEAVES and target in public.alive:
                public.alive.remove(target)
                (public.killed if kind is EventKind.DEATH else public.exiled).append(target)
                if role := event.data.get("role"):
                    public.revealed[target] = role
            elif kind is EventKind.END:
                public.winner = event.data["winner"]
        return public


def _learn(known: _Secrets, events: Sequence[Event]) -> _Secrets:
    """The seat's secrets after further events."""
    public = tuple(event for event in events if event.audience is None)
    own = replace(known, public=(*known.public, *public)) if public else known
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
        elif event.kind is EventKind.DISCOVERY:
            own = replace(own, exposed=own.exposed | {event.actor or "", event.target or ""} - {own.me})
        else:
            tonight = own.proposals if event.day == own.night else {}
            own = replace(own, night=event.day, proposals={**tonight, event.actor or "": event.target or ""})
    return own


class Following(Generic[K]):
    """The state after a log of events. begin: the state before the first event; add: the state after some more events,
    a new object if they change it.
    """

    def __init__(self, begin: Callable[[str], K], add: Callable[[K, Sequence[Event]], K]) -> None:
        self._begin = begin
        self._add = add
        self._last: OrderedDict[tuple[str, str], tuple[tuple[Event, ...], K]] = OrderedDict()

    def after(self, game: str, whose: str, log: tuple[Event, ...]) -> K:
        """The state after a log of this game. whose: the seat that saw it, or whatever else distinguishes logs of one
        game.
        """
        known = self._last.pop((game, whose), None)
        if known is not None and log[: len(known[0])] == known[0]:
            state = known[1] if len(log) == len(known[0]) else self._add(known[1], log[len(known[0]) :])
        else:
            state = self._add(self._begin(whose), log)
        self._last[game, whose] = log, state
        if len(self._last) > _KEPT:
            self._last.popitem(last=False)
        return state


class Log:
    """Events as the key of a cache: equal to another log if all its events are equal; its hash is cheap."""

    __slots__ = ("events", "game")

    def __init__(self, game: str, events: tuple[Event, ...]) -> None:
        self.game = game
        self.events = events

    def __hash__(self) -> int:
        return hash((self.game, len(self.events)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Log) and self.game == other.game and self.events == other.events
