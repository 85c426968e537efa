"""A game as somebody who hears everything could write it down: what was said, who was silent, who voted, who left.

It is made from the tables of a corpus. No role is read, only how many deceive, where the table knows it.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from liescope.data_cards.tables import SPLITS
from liescope.games.game_registry import GAMES
from liescope.generate.corpus import collected, read
from liescope.labeling.label import text_is_lost

SAID, SILENT, VOTED, KILLED, EXILED = "said", "silent", "voted", "killed", "exiled"
KINDS = (SAID, SILENT, VOTED, KILLED, EXILED)


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
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
    turns: tuple[TranscriptTurn, ...]
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

    def said(self, upto: int | None = None) -> Iterator[tuple[int, TranscriptTurn]]:
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
class GameMoment:
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


_SAID = ("statement_id", "game_id", "day", "phase", "round", "speaker", "text", "audience", "alive", "read_notes")
_STAGES = {"night": 0, "discussion": 1, "voting": 2, "defence": 4}  # the first ballot is 3, the second 5


def read_transcripts(corpus: str | os.PathLike[str], splits: Sequence[str] = SPLITS) -> dict[str, Transcript]:
    """The transcripts of the games of some splits, by game. Raises BadData for a damaged corpus."""
    folder = Path(corpus)
    wanted = pl.col("split").is_in(list(splits))
    games = collected(
        read(folder, "games").filter(wanted).select("game_id", "game", "seats", "silences"), corpus
    ).to_dicts()
    said = collected(read(folder, "statements").filter(wanted).sort("game_id", "position").select(_SAID), corpus)
    votes = collected(
        read(folder, "votes").filter(wanted).select("game_id", "day", "ballot", "voter", "target"), corpus
    )
    by_game, by_vote = _grouped(said), _grouped(votes)
    return {
        game["game_id"]: _transcript(game, by_game.get(game["game_id"], []), by_vote.get(game["game_id"], []))
        for game in games
    }


def read_deceivers(corpus: str | os.PathLike[str], splits: Sequence[str] = SPLITS) -> dict[str, frozenset[str]]:
    """Who deceives, by game, where it is known of every seat: the truth that no detector may see."""
    folder = Path(corpus)
    games = collected(read(folder, "games").filter(pl.col("split").is_in(splits)).select("game_id", "seats"), corpus)
    return {
        game_id: frozenset(seat["name"] for seat in seats if seat["deceives"])
        for game_id, seats in games.iter_rows()
        if all(seat["deceives"] is not None for seat in seats)
    }


def _grouped(frame: pl.DataFrame) -> Mapping[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        rows[row["game_id"]].append(row)
    return rows


def _transcript(game: dict[str, Any], said: list[dict[str, Any]], votes: list[dict[str, Any]]) -> Transcript:
    """The turns, by day; within a day those found dead, what was said, the ballots, and who was voted out."""
    silences = _silences(game, said)
    placed: list[tuple[tuple[float, ...], TranscriptTurn]] = []
    for row in said:
        lost = text_is_lost(row["read_notes"]) or row["text"].strip() == "\\"
        heard, stage = frozenset(row["audience"]), _STAGES.get(row["phase"], 1)
        text = "" if lost else row["text"]
        order = (row["day"], stage, row["round"] if silences and stage == 1 else 0)
        placed.append((order, TranscriptTurn(SAID, row["speaker"], text, "", heard, row["statement_id"], row["day"])))
    placed += [((day, 1, number), TranscriptTurn(SILENT, name, day=day)) for day, number, name in silences]
    for row in votes:
        turn = TranscriptTurn(VOTED, row["voter"], target=row["target"], day=row["day"])
        placed.append(((row["day"], 1 + 2 * row["ballot"]), turn))
    for seat in game["seats"]:
        if seat["fate"] in (KILLED, EXILED):
            day = seat["day_out"] or 1
            placed.append(
                ((day, 0.5 if seat["fate"] == KILLED else 9), TranscriptTurn(seat["fate"], seat["name"], day=day))
            )
    placed.sort(key=lambda one: one[0])
    return Transcript(
        game["game_id"],
        tuple(seat["name"] for seat in game["seats"]),
        tuple(turn for _, turn in placed),
        game["game"],
        _known_deceivers(game),
    )


def _known_deceivers(game: dict[str, Any]) -> int | None:
    """How many seats deceive; None where it is not said of all, or where the table does not know it, because cards may
    lie face down.
    """
    deceives = [seat["deceives"] for seat in game["seats"]]
    rules = GAMES.get(game["game"])
    return None if None in deceives or (rules and rules.spec.undealt()) else sum(deceives)


def _silences(game: dict[str, Any], said: Iterable[dict[str, Any]]) -> list[tuple[int, int, str]]:
    """(day, round, player) of each turn that passed in silence, where that follows from the rounds others spoke in."""
    rounds: dict[tuple[int, int], set[str]] = {}
    spoke: Counter[tuple[int, int, str]] = Counter()
    for row in said:
        if row["phase"] == "discussion" and not row["audience"]:
            rounds.setdefault((row["day"], row["round"]), set()).update(row["alive"])
            spoke[row["day"], row["round"], row["speaker"]] += 1
    found = [
        (day, number, name)
        for (day, number), alive in sorted(rounds.items())
        for name in sorted(alive)
        if not spoke[day, number, name]
    ]
    return found if len(found) == game["silences"] else []
