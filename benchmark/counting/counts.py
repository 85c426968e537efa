"""Counts of games for each (mafioso, detective, villager), the data of the capability model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, VILLAGER
from liescope.games.record import GameRecord, Source, Status
from liescope.generate.corpus.open import tables_of

TABLES = ("games", "votes")  # what games are counted from
PLAYERS = ("mafioso", "detective", "villager")
SCHEMA = pl.Schema(
    {"mafioso": pl.String, "detective": pl.String, "villager": pl.String, "mafia_wins": pl.Int64, "games": pl.Int64}
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Games counted by cell.

    cells: a frame of SCHEMA, one row for each (mafioso, detective, villager), sorted; mafia_wins of games. undrawn: the
    same without games that contain a vote drawn by the rules because a reply was unusable. sources: where the words of
    the players come from, empty if the counts do not say (a file). excluded: how many games were left out, by
    reason.
    """

    cells: pl.DataFrame
    undrawn: pl.DataFrame
    sources: frozenset[Source] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)

    @property
    def drawn_games(self) -> int:
        """How many games contain a drawn vote; 0 for counts from a file, which do not say."""
        return int(self.cells["games"].sum()) - int(self.undrawn["games"].sum())


@dataclass(frozen=True, slots=True)
class CountedGame:
    """What is counted for one game.

    settings: those that the game was played with (`liescope.generate.runs.conditions`); seats: (name, role, model,
    source); voters: names of those who voted; drawn: a vote was drawn by the rules; winner: the team, None for nobody;
    failed: whether the game failed; shares: whether it shares the beginning of a recorded game.
    """

    game: str
    settings: Mapping[str, str]
    seats: Sequence[tuple[str, str, str, Source]]
    voters: frozenset[str]
    drawn: bool
    winner: str | None
    failed: bool
    shares: bool = False


def counted_games(tables: Mapping[str, pl.DataFrame]) -> Iterator[CountedGame]:
    """What is counted for each game, from the tables `games` and `votes` of a run or a corpus."""
    votes = tables["votes"].group_by("game_id").agg("voter", drawn=(pl.col("fallback") != "").any())
    games = tables["games"].join(votes, on="game_id", how="left", maintain_order="left")
    for row in games.iter_rows(named=True):
        yield CountedGame(
            game=row["game"],
            settings=json.loads(row["settings"]),
            seats=tuple((seat["name"], seat["role"], seat["model"], Source(seat["source"])) for seat in row["seats"]),
            voters=frozenset(row["voter"] or ()),
            drawn=bool(row["drawn"]),
            winner=row["winner"],
            failed=row["status"] == Status.FAILED.value,
            shares=row["siblings"] is not None,
        )


def tally(cells: pl.DataFrame) -> pl.DataFrame:
    """Counts with equal (mafioso, detective, villager) added up, sorted; `cells` has the columns of SCHEMA."""
    return cells.group_by(PLAYERS).agg(pl.col("mafia_wins", "games").sum()).sort(PLAYERS)


def count_games(records: Iterable[GameRecord]) -> Counts:
    """Counts of recorded games, one pass, whatever the settings that they were played with. The villager of a cell is
    whoever voted as one: in Mini-Mafia the survivor.

    Left out, with the reason counted: failed games, games that share the beginning of a recorded one (a fork of it, or
    a replay: no draws of their own), games without one of the three roles, games in which several models shared a role
    (their win belongs to no single model).
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
    """The running counts of games with the same settings: by cell, (wins, games) of all and of those without a drawn
    vote.
    """

    cells: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    excluded: Counter[str] = field(default_factory=Counter)
    sources: set[Source] = field(default_factory=set)

    def enter(self, game: CountedGame) -> None:
        cell = _cell(game)
        if isinstance(cell, str):
            self.excluded[cell] += 1
            return
        counts = self.cells.setdefault(cell, [0, 0, 0, 0])
        won = game.winner == MAFIA
        counts[0] += won
        counts[1] += 1
        if not game.drawn:
            counts[2] += won
            counts[3] += 1
        self.sources |= {source for *_, source in game.seats}

    def counts(self) -> Counts:
        rows = [(*cell, *counts) for cell, counts in self.cells.items()]
        every = [row[:5] for row in rows]
        undrawn = [(*row[:3], *row[5:]) for row in rows if row[6]]
        cells, without = (tally(pl.DataFrame(part, SCHEMA, orient="row")) for part in (every, undrawn))
        return Counts(cells, without, frozenset(self.sources), dict(self.excluded))


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
    return Counts(cells, undrawn, frozenset().union(*(part.sources for part in parts)), dict(excluded))


def _cell(game: CountedGame) -> tuple[str, str, str] | str:
    """The cell that a game counts for, or why it counts for none."""
    if game.failed:
        return "the game failed"
    if game.shares:
        return "they go on from a recorded game or play it again"
    held: dict[str, set[str]] = {MAFIOSO: set(), DETECTIVE: set(), VILLAGER: set()}
    for name, role, model, _ in game.seats:
        if role in held and (role != VILLAGER or name in game.voters):
            held[role].add(model)
    for role, models in held.items():
        if not models:
            return f"no {role} played" if role != VILLAGER else "no villager voted"
        if len(models) > 1:
            return f"several models shared the role of {role}"
    (mafioso,), (detective,), (villager,) = held.values()
    return mafioso, detective, villager
