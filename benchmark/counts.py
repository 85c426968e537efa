"""Who won, by who played: counts of games for each (mafioso, detective, villager), the data of the capability model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from liescope.games.core import EventKind
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, VILLAGER
from liescope.games.record import GameRecord, Source, Status

PLAYERS = ("mafioso", "detective", "villager")
SCHEMA = pl.Schema(
    {"mafioso": pl.String, "detective": pl.String, "villager": pl.String, "mafia_wins": pl.Int64, "games": pl.Int64}
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Games counted by cell.

    cells: a frame of SCHEMA, one row for each (mafioso, detective, villager), sorted; mafia_wins of games.
    sources: where the words of the players come from, empty where the counts do not say (a file).
    excluded: how many games were left out, by reason.
    """

    cells: pl.DataFrame
    sources: frozenset[Source] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)


def tally(cells: pl.DataFrame) -> pl.DataFrame:
    """Counts with equal (mafioso, detective, villager) added up, sorted; `cells` has the columns of SCHEMA."""
    return cells.group_by(PLAYERS).agg(pl.col("mafia_wins", "games").sum()).sort(PLAYERS)


def count_games(records: Iterable[GameRecord]) -> Counts:
    """Counts of recorded games, one pass. The villager of a cell is whoever voted as one: in Mini-Mafia the survivor.

    Left out, with the reason counted: failed games, games without one of the three roles, games in which several
    models shared a role (their win belongs to no single model).
    """
    wins: Counter[tuple[str, str, str]] = Counter()
    games: Counter[tuple[str, str, str]] = Counter()
    excluded: Counter[str] = Counter()
    sources: set[Source] = set()
    for record in records:
        cell = _cell(record)
        if isinstance(cell, str):
            excluded[cell] += 1
            continue
        games[cell] += 1
        wins[cell] += record.outcome is not None and record.outcome.winner == MAFIA
        sources |= {seat.source for seat in record.seats}
    rows = [(*cell, wins[cell], count) for cell, count in games.items()]
    return Counts(tally(pl.DataFrame(rows, SCHEMA, orient="row")), frozenset(sources), dict(excluded))


def add(parts: Sequence[Counts]) -> Counts:
    """Several counts as one."""
    excluded: Counter[str] = Counter()
    for part in parts:
        excluded.update(part.excluded)
    cells = tally(pl.concat([part.cells for part in parts]))
    return Counts(cells, frozenset().union(*(part.sources for part in parts)), dict(excluded))


def _cell(record: GameRecord) -> tuple[str, str, str] | str:
    """The cell that a game counts for, or why it counts for none."""
    if record.status is Status.FAILED:
        return "the game failed"
    voters = {event.actor for event in record.events if event.kind is EventKind.VOTE}
    held = {
        MAFIOSO: {seat.model for seat in record.by_role(MAFIOSO)},
        DETECTIVE: {seat.model for seat in record.by_role(DETECTIVE)},
        VILLAGER: {seat.model for seat in record.by_role(VILLAGER) if seat.name in voters},
    }
    for role, models in held.items():
        if not models:
            return f"no {role} played" if role != VILLAGER else "no villager voted"
        if len(models) > 1:
            return f"several models shared the role of {role}"
    (mafioso,), (detective,), (villager,) = held.values()
    return mafioso, detective, villager
