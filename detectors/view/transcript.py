"""A game as somebody who hears everything could write it down: what was said, who was silent, who voted, who left."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

SAID, SILENT, VOTED, KILLED, EXILED = "said", "silent", "voted", "killed", "exiled"
KINDS = (SAID, SILENT, VOTED, KILLED, EXILED)


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that happened. kind: one of `KINDS`; player: who spoke, was silent, voted, or left the game; text: the
    words, "" if they were lost; target: whom a vote is for; audience: who heard the words, empty for everyone; key: the
    statement's id; day: from 1.
    """

    kind: str
    player: str
    text: str = ""
    target: str = ""
    audience: frozenset[str] = frozenset()
    key: str = ""
    day: int = 1


@dataclass(frozen=True, eq=False)
class Transcript:
    """A game without roles or anything that was not said or seen; words that only some heard are in it, with their
    audience. names: every player; rules: the name of the game; deceivers: how many players
    deceive, where the table knows it, else None.
    """

    game_id: str
    names: tuple[str, ...]
    turns: tuple[Turn, ...]
    rules: str = ""
    deceivers: int | None = None
    _places: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = {turn.key: at for at, turn in enumerate(self.turns) if turn.key}
        object.__setattr__(self, "_places", MappingProxyType(places))

    @cached_property
    def _deaths(self) -> tuple[tuple[int, str], ...]:
        return tuple((at, turn.player.casefold()) for at, turn in enumerate(self.turns) if turn.kind == KILLED)

    def victims(self, at: int) -> frozenset[str]:
        """The names of those who were found dead before a turn, case-folded."""
        return frozenset(name for died, name in self._deaths if died < at)

    def place(self, key: str) -> int:
        """The turn that a statement is. Raises KeyError."""
        return self._places[key]

    def said(self, upto: int | None = None) -> Iterator[tuple[int, Turn]]:
        """The statements among the first `upto` turns, each with its place."""
        return ((at, turn) for at, turn in enumerate(self.turns[:upto]) if turn.kind == SAID)

    def alive(self, upto: int | None = None) -> tuple[str, ...]:
        """The players who had not left the game after the first `upto` turns."""
        out = {turn.player for turn in self.turns[:upto] if turn.kind in (KILLED, EXILED)}
        return tuple(name for name in self.names if name not in out)

    def digest(self) -> bytes:
        """A hash of everything in it but the game's id."""
        turns = [(t.kind, t.player, t.text, t.target, sorted(t.audience), t.key, t.day) for t in self.turns]
        facts = (self.names, self.rules, self.deceivers, turns)
        return hashlib.sha256(repr(facts).encode(errors="backslashreplace")).digest()


@dataclass(frozen=True, slots=True)
class Moment:
    """A game as far as it has been followed: its first `upto` turns, None for all."""

    transcript: Transcript
    upto: int | None = None


@dataclass(frozen=True, slots=True)
class GamePrediction:
    """What a detector makes of a game at one moment.

    players: by living player, the probability that the player deceives; statements: by place among the turns, the
    probability that the statement is deceptive; suspects: the players, living or not, whom a saved detector cannot rule
    out at the coverage it was asked for, most suspect first; None where it has nothing to decide by.
    """

    players: Mapping[str, float]
    statements: Mapping[int, float]
    suspects: tuple[str, ...] | None = None

    def ranked(self) -> list[tuple[str, float]]:
        """The players, most suspect first; equals in alphabetical order."""
        return sorted(self.players.items(), key=lambda one: (-one[1], one[0]))
