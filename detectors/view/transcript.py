"""A game as somebody who hears everything could write it down: what was said, who was silent, who voted, who left. It
is made from the events of a corpus. No role is read, only the number of deceivers, if the players know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise
from typing import Any

import polars as pl

from liescope.data_cards.tables import SPLITS
from liescope.games.core import EventKind
from liescope.games.game_registry import GAMES
from liescope.generate.corpus.read import Corpus, collected, read
from liescope.labeling.label import text_is_lost
from liescope.labeling.ledger import statement_id

SAID, SILENT, VOTED, KILLED, EXILED = "said", "silent", "voted", "killed", "exiled"


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """Something that happened. kind: SAID, SILENT, VOTED, KILLED or EXILED; player: who spoke, was silent, voted, or
    left the game; text: the words, "" if they were lost; target: whom a vote is for; audience: who heard the words,
    empty for everyone; key: the statement's id; day: from 1; reasoning: what the speaker thought, as far as that was
    kept. No player saw it, and only detectors with such a view read it. phase, round: of the day, of a statement.
    """

    kind: str
    player: str
    text: str = ""
    target: str = ""
    audience: frozenset[str] = frozenset()
    key: str = ""
    day: int = 1
    reasoning: str = ""
    phase: str = ""
    round: int = 0


@dataclass(frozen=True, eq=False)
class Transcript:
    """A game without roles or anything that was not said or seen, but for the reasoning beside a turn; words that only
    some heard are in it, with their audience. names: every player; rules: the name of the game; deceivers: how many
    players deceive, where the players know it, else None.
    """

    game_id: str
    names: tuple[str, ...]
    turns: Sequence[TranscriptTurn]
    rules: str = ""
    deceivers: int | None = None

    @cached_property
    def _deaths(self) -> tuple[tuple[int, str], ...]:
        return tuple((at, turn.player.casefold()) for at, turn in enumerate(self.turns) if turn.kind == KILLED)

    def victims(self, at: int) -> frozenset[str]:
        """The names of those who were found dead before a turn, case-folded."""
        return frozenset(name for died, name in self._deaths if died < at)

    def places(self) -> dict[str, int]:
        """The index of each statement's turn, by its key."""
        return {turn.key: at for at, turn in enumerate(self.turns) if turn.key}

    def said(self, upto: int | None = None) -> Iterator[tuple[int, TranscriptTurn]]:
        """The statements among the first `upto` turns, each with its place."""
        return ((at, turn) for at, turn in enumerate(self.turns[:upto]) if turn.kind == SAID)

    def alive(self, upto: int | None = None) -> tuple[str, ...]:
        """The players who had not left the game after the first `upto` turns."""
        out = {turn.player for turn in self.turns[:upto] if turn.kind in (KILLED, EXILED)}
        return tuple(name for name in self.names if name not in out)


@dataclass(frozen=True, slots=True)
class GameMoment:
    """A game as far as it has been followed: its first `upto` turns, None for all."""

    transcript: Transcript
    upto: int | None = None


@dataclass(frozen=True, slots=True)
class GamePrediction:
    """A detector's view of a game at one moment.

    players: by living player, the probability that the player deceives, if the detector judges roles; statements: by
    place among the turns, the probability that the statement is deceptive.
    """

    players: Mapping[str, float]
    statements: Mapping[int, float]


_TURNS = {
    EventKind.STATEMENT: SAID,
    EventKind.SILENCE: SILENT,
    EventKind.VOTE: VOTED,
    EventKind.DEATH: KILLED,
    EventKind.ARREST: EXILED,
    EventKind.EXILE: EXILED,
}
_TOGETHER, _KEPT = 256, 16  # games whose turns are made at once; how often that many are kept
_EVENT = ("game_id", "index", "kind", "day", "phase", "round", "actor", "target", "text")


def read_transcripts(corpus: Corpus, splits: Sequence[str] = SPLITS) -> dict[str, Transcript]:
    """The transcripts of the games of some splits, by game; turns are made when they are asked for, and of the last
    games alone kept. Raises BadData for a damaged corpus.
    """
    wanted = pl.col("split").is_in(list(splits))
    games = collected(read(corpus, "games").filter(wanted).select("game_id", "game", "seats"), corpus)
    heard = read(corpus, "statements").filter(wanted).select("statement_id", "read_notes", "audience", "reasoning")
    happened = read(corpus, "events").filter(wanted & pl.col("kind").is_in(list(_TURNS))).select(_EVENT)
    # pl.format panics on no rows (polars 2.1, streaming)
    happened = happened.with_columns(statement_id=pl.col("game_id") + ":" + pl.col("index").cast(pl.String))
    told = happened.join(heard.with_columns(heard=True), on="statement_id", how="left").drop("statement_id")
    named = pl.col("game_id", "kind", "phase", "actor", "target").cast(pl.Categorical)  # each name in memory once
    heard_by = pl.col("audience").cast(pl.List(pl.Categorical))
    rows = collected(told.sort("game_id", "index").with_columns(named, heard_by), corpus)
    counts = rows.group_by("game_id", maintain_order=True).len()
    place, ends = {game: at for at, game in enumerate(counts["game_id"])}, [0, *counts["len"].cum_sum()]

    @lru_cache(_KEPT)
    def made(block: int) -> list[tuple[TranscriptTurn, ...]]:
        own = ends[block * _TOGETHER : (block + 1) * _TOGETHER + 1]
        events = rows.slice(own[0], own[-1] - own[0]).iter_rows(named=True)
        return [tuple(chain.from_iterable(map(_turns, islice(events, end - start)))) for start, end in pairwise(own)]

    once: dict[Any, Any] = {}
    return {
        game_id: Transcript(
            game_id,
            once.setdefault(names := tuple(seat["name"] for seat in seats), names),
            _Turns(made, place[game_id]) if game_id in place else (),
            once.setdefault(rules, rules),
            _known_deceivers(rules, seats),
        )
        for game_id, rules, seats in games.iter_rows()
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Turns(Sequence[TranscriptTurn]):
    """The turns of one game of many. made: makes those of some games together."""

    made: Callable[[int], Sequence[tuple[TranscriptTurn, ...]]]
    game: int

    def __getitem__(self, at: Any) -> Any:
        return self.made(self.game // _TOGETHER)[self.game % _TOGETHER][at]

    def __iter__(self) -> Iterator[TranscriptTurn]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self[:])


def _turns(event: Mapping[str, Any]) -> Iterator[TranscriptTurn]:
    """An event's turn; none if the words were withdrawn."""
    kind, day = _TURNS[EventKind(event["kind"])], event["day"]
    if kind == VOTED:
        yield TranscriptTurn(VOTED, event["actor"], target=event["target"], day=day)
    elif kind != SAID:
        yield TranscriptTurn(kind, event["actor" if kind == SILENT else "target"], day=day)
    elif event["heard"]:
        lost = text_is_lost(event["read_notes"]) or event["text"].strip() == "\\"
        key, audience = statement_id(event["game_id"], event["index"]), frozenset(event["audience"])
        where = day, event["reasoning"] or "", event["phase"], event["round"]
        yield TranscriptTurn(SAID, event["actor"], "" if lost else event["text"], "", audience, key, *where)


def read_deceivers(corpus: Corpus, splits: Sequence[str] = SPLITS) -> dict[str, frozenset[str]]:
    """Who deceives, by game, if that is known for every seat: the truth that no detector may see."""
    games = collected(read(corpus, "games").filter(pl.col("split").is_in(splits)).select("game_id", "seats"), corpus)
    once: dict[frozenset[str], frozenset[str]] = {}
    return {
        game_id: once.setdefault(names := frozenset(seat["name"] for seat in seats if seat["deceives"]), names)
        for game_id, seats in games.iter_rows()
        if all(seat["deceives"] is not None for seat in seats)
    }


def _known_deceivers(rules: str, seats: Sequence[Mapping[str, Any]]) -> int | None:
    """How many seats deceive, where the rules announce it; None if no player knows it: cards may lie face down, and for
    games with unknown rules it follows only from the labels, which no detector may see.
    """
    deceives, game = [seat["deceives"] for seat in seats], GAMES.get(rules)
    return None if None in deceives or game is None or game.spec.undealt() else sum(deceives)
