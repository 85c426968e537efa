"""Counts of games for each (mafioso, detective, villager), the data of the capability model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, VILLAGER
from liescope.games.record import GameRecord, Source, Status, player_of
from liescope.generate.corpus.open import tables_of

UNSTATED = "settings not stated"
TABLES = ("games", "votes")  # what games are counted from
PLAYERS = ("mafioso", "detective", "villager")
SCHEMA = pl.Schema(
    {"mafioso": pl.String, "detective": pl.String, "villager": pl.String, "mafia_wins": pl.Int64, "games": pl.Int64}
)

DRAWN = "drawn"
"""In the place of the role that a vote names: the rules drew it, because the reply could not be read."""
PLAYED = pl.Schema(
    {
        **dict.fromkeys(PLAYERS, pl.String),
        "mafia_wins": pl.Int64,
        "drawn": pl.Boolean,
        "name": pl.String,
        "last": pl.String,
        "seat": pl.String,
        **{f"{role}_vote": pl.String for role in PLAYERS},
    }
)
"""One row for each counted game: who played and won, whether a vote was drawn, and what it happened to be dealt. name,
seat: of the mafioso; last: the role that spoke last, "" if nobody did. A vote is the role that it names, `DRAWN`, or ""
for none, in the last ballot; several votes of one role that differ are "" too."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Games counted by cell.

    cells: a frame of SCHEMA, one row for each (mafioso, detective, villager), sorted; mafia_wins of games. undrawn: the
    same without games that contain a vote drawn by the rules because a reply was unusable. sources: where the words of
    the players come from, empty if the counts do not say (a file). excluded: how many games were left out, by
    reason. played: the same games one by one, a frame of PLAYED, without those of files, which hold counts only.
    notes: sentences that must accompany what is made of these games.
    """

    cells: pl.DataFrame
    undrawn: pl.DataFrame
    sources: frozenset[Source] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)
    played: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PLAYED))
    notes: tuple[str, ...] = ()

    @property
    def drawn_games(self) -> int:
        """How many games contain a drawn vote; 0 for counts from a file, which do not say."""
        return int(self.cells["games"].sum()) - int(self.undrawn["games"].sum())


@dataclass(frozen=True, slots=True)
class CountedGame:
    """What is counted for one game.

    settings: those that the game was played with (`liescope.generate.runs.run_folder`); seats: (name, role, model or
    people, source); voters: names of those who voted; drawn: a vote was drawn by the rules; winner: the team, None
    where it is not known; failed: whether the game failed; shares: whether it shares the beginning of a recorded game;
    last_speaker: a name; votes: of the last ballot, voter by voter, the role that it names or DRAWN.
    """

    game: str
    settings: Mapping[str, str]
    seats: Sequence[tuple[str, str, str, Source]]
    voters: frozenset[str]
    drawn: bool
    winner: str | None
    failed: bool
    shares: bool = False
    last_speaker: str = ""
    votes: Mapping[str, str] = field(default_factory=dict)


def counted_games(tables: Mapping[str, pl.DataFrame]) -> Iterator[CountedGame]:
    """What is counted for each game, from the tables `games` and `votes` of a run or a corpus."""
    by_rules = pl.col("fallback") != ""
    ballot = pl.col("day") * 1000 + pl.col("ballot")
    votes = tables["votes"].group_by("game_id").agg("voter", drawn=by_rules.any())
    final = (
        tables["votes"]
        .with_columns(vote=pl.when(by_rules).then(pl.lit(DRAWN)).otherwise(pl.col("target_role").fill_null("")))
        .filter(ballot == ballot.max().over("game_id"))
        .group_by("game_id")
        .agg(final=pl.struct("voter", "vote"))
    )
    votes = votes.join(final, on="game_id", how="left")
    games = tables["games"].join(votes, on="game_id", how="left", maintain_order="left")
    for row in games.iter_rows(named=True):
        yield CountedGame(
            game=row["game"],
            settings=json.loads(row["settings"]),
            seats=tuple(_seat(seat) for seat in row["seats"]),
            voters=frozenset(row["voter"] or ()),
            drawn=bool(row["drawn"]),
            winner=row["winner"],
            failed=row["status"] == Status.FAILED.value,
            shares=row["siblings"] is not None,
            last_speaker=row["last_speaker"] or "",
            votes={vote["voter"]: vote["vote"] for vote in row["final"] or ()},
        )


def _seat(seat: Mapping[str, str]) -> tuple[str, str, str, Source]:
    source = Source(seat["source"])
    return seat["name"], seat["role"], player_of(seat["model"], source), source


def stated(condition: str) -> str:
    """The name of a condition, which files of counts do not have."""
    return condition or UNSTATED


def tally(cells: pl.DataFrame) -> pl.DataFrame:
    """Counts with equal (mafioso, detective, villager) added up, sorted; `cells` has the columns of SCHEMA."""
    return cells.group_by(PLAYERS).agg(pl.col("mafia_wins", "games").sum()).sort(PLAYERS)


def count_games(records: Iterable[GameRecord]) -> Counts:
    """Counts of recorded games, one pass, whatever the settings that they were played with. The villager of a cell is
    whoever voted as one: in Mini-Mafia the survivor.

    Left out, with the reason counted: failed games, games that share the beginning of a recorded one (a fork of it, or
    a replay: no draws of their own), games without one of the three roles, games in which several models shared a role
    (their win belongs to no single model), games whose winner is not known.
    """
    return add(list(count_by_settings(counted_games(tables_of(records, wanted=TABLES))).values()))


def count_by_settings(games: Iterable[CountedGame]) -> dict[tuple[str, str], Counts]:
    """Counts of games, one pass, by (game, its settings as JSON); see `count_games` for what is left out."""
    books: dict[tuple[str, str], _Book] = {}
    for game in games:
        key = game.game, json.dumps(dict(game.settings), ensure_ascii=False, sort_keys=True)
        books.setdefault(key, _Book()).enter(game)
    return {key: book.counts() for key, book in books.items()}


@dataclass(slots=True)
class _Book:
    """The games with the same settings that were counted so far."""

    played: list[tuple[Any, ...]] = field(default_factory=list)
    excluded: Counter[str] = field(default_factory=Counter)
    sources: set[Source] = field(default_factory=set)

    def enter(self, game: CountedGame) -> None:
        cell = _cell(game)
        if isinstance(cell, str):
            self.excluded[cell] += 1
            return
        self.played.append((*cell, int(game.winner == MAFIA), game.drawn, *_dealt(game)))
        self.sources |= {source for *_, source in game.seats}

    def counts(self) -> Counts:
        played = pl.DataFrame(self.played, PLAYED, orient="row")
        return counts_of(played, frozenset(self.sources), self.excluded)


def counts_of(played: pl.DataFrame, sources: frozenset[Source], excluded: Mapping[str, int]) -> Counts:
    """The counts of games. played: a frame of PLAYED."""
    each = played.select(*PLAYERS, "mafia_wins", "drawn", games=pl.lit(1, pl.Int64))
    cells, undrawn = (tally(part.select(SCHEMA.names())) for part in (each, each.filter(~pl.col("drawn"))))
    return Counts(cells, undrawn, sources, dict(excluded), played)


def add(parts: Sequence[Counts]) -> Counts:
    """Several counts as one."""
    excluded: Counter[str] = Counter()
    for part in parts:
        excluded.update(part.excluded)
    empty = pl.DataFrame(schema=SCHEMA)
    cells, undrawn = (
        tally(pl.concat([empty, *frames]))
        for frames in ([part.cells for part in parts], [part.undrawn for part in parts])
    )
    played = pl.concat([pl.DataFrame(schema=PLAYED), *(part.played for part in parts)])
    sources = frozenset[Source]().union(*(part.sources for part in parts))
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Counts(cells, undrawn, sources, dict(excluded), played, notes)


def _cell(game: CountedGame) -> tuple[str, str, str] | str:
    """The cell that a game counts for, or why it counts for none."""
    if game.failed:
        return "the game failed"
    if game.shares:
        return "they go on from a recorded game or play it again"
    held: dict[str, set[str]] = {MAFIOSO: set(), DETECTIVE: set(), VILLAGER: set()}
    for name, role, model, source in game.seats:
        if role in held and (role != VILLAGER or name in game.voters):
            held[role].add(player_of(model, source))
    for role, models in held.items():
        if not models:
            return f"no {role} played" if role != VILLAGER else "no villager voted"
        if len(models) > 1:
            return f"several models shared the role of {role}"
    if game.winner is None:
        return "their winner is not known"
    (mafioso,), (detective,), (villager,) = held.values()
    return mafioso, detective, villager


def _dealt(game: CountedGame) -> tuple[str, ...]:
    """The columns of PLAYED that say what a game happened to be dealt, and how the three roles voted."""
    roles = {name: role for name, role, *_ in game.seats}
    order = [name for name, *_ in game.seats]
    mafioso = next(name for name in order if roles[name] == MAFIOSO)
    votes = {role: {vote for voter, vote in game.votes.items() if roles.get(voter) == role} for role in PLAYERS}
    last = roles.get(game.last_speaker, "")
    return (mafioso, last, str(order.index(mafioso) + 1), *(_only(votes[role]) for role in PLAYERS))


def _only(votes: set[str]) -> str:
    return next(iter(votes)) if len(votes) == 1 else ""
