"""Contests of a deceiver and a judge, counted from recorded games.

Contests of one game are not independent: the same players are in them, often the same statement. Each pair of players
counts once in a game, by one of its contests, which is drawn; what dependence remains is left to the dispersion of the
counts. Where all judges of a deceiver decide together, as a ballot does, their decision is one contest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import polars as pl

from liescope.benchmark.capability.counts import Counts, schema_of, tally
from liescope.benchmark.capability.forms import CONTESTS
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Source, player_of
from liescope.games.shared_rules import Contest

Kind = tuple[str, str]


def has_contests(game: str) -> bool:
    """Whether the rules of a game say who tried to deceive whom."""
    return game in GAMES and GAMES[game].contests is not None


class _Game(NamedTuple):
    """A row of counts for each pair of players, how many contests there were, why none counts, whose words they are."""

    rows: list[tuple[str, str, int, int]]
    contests: int = 0
    why: str = ""
    sources: frozenset[Source] = frozenset()


def count_contests(games: Mapping[str, tuple[Kind, str | None]], records: Iterable[GameRecord]) -> dict[Kind, Counts]:
    """Counts of contests by kind of game. games: by id, the kind, and why the game does not count, None if it does;
    others are passed over.
    """
    found: dict[Kind, list[_Game]] = {kind: [] for kind, _ in games.values()}
    for record in records:
        if record.game_id in games:
            kind, why = games[record.game_id]
            found[kind].append(_Game([], why=why) if why else _of_game(record))
    return {kind: _sum(several) for kind, several in found.items()}


def _of_game(record: GameRecord) -> _Game:
    tell, pairs = GAMES[record.game].contests, dict[tuple[str, str], list[Contest]]()
    for one in tell(record) if tell else ():
        pairs.setdefault((one.deceiver, "" if one.together else one.judge), []).append(one)
    player = {seat.name: player_of(seat.model, seat.source) for seat in record.seats}
    rows, contests = [], 0
    for (deceiver, judge), several in pairs.items():
        if len({player[one.judge] for one in several}) > 1:
            return _Game([], why="those who judged together were several models")
        drawn = Random(f"{record.game_id} {deceiver} {judge}").choice(several)
        rows.append((player[deceiver], player[drawn.judge], int(drawn.fooled), 1))
        contests += len(several) if judge else 1
    why = "" if rows else "nobody tried to deceive a judge in them"
    return _Game(rows, contests, why, frozenset(seat.source for seat in record.seats if rows))


def _sum(games: Sequence[_Game]) -> Counts:
    rows, every = [row for game in games for row in game.rows], sum(game.contests for game in games)
    note = (
        f"Of {every:,} contests {len(rows):,} are counted, one of each deceiver and judge in a game, drawn by chance: "
        "contests of one game are not independent."
    )
    cells = tally(pl.DataFrame(rows, schema_of(CONTESTS), orient="row"))
    sources = frozenset[Source]().union(*(game.sources for game in games))
    excluded = Counter(game.why for game in games if game.why)
    return Counts(cells, sources=sources, excluded=excluded, notes=(note,) if every > len(rows) else ())
