"""Games as tidy frames: one row for each game, seat, statement, claim, turn to speak, rating, vote, night act, bid,
lesson and guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from liescope.benchmark.analyses.cells import prepare
from liescope.benchmark.analyses.from_tables import Tables, merged_frames, part_frames
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import tables_of

__all__ = ["SCHEMAS", "Frames", "frames_of", "load_frames"]


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a set of finished games; `SCHEMAS` lists their columns.

    Events appear once for each game; judgements (statements with their reports, ratings, ranks, guesses, tags) once
    for each rater: "players", or the name of a judge.

    family: the game, or the recorded one that it goes on from or plays again: games of one family are not
    independent.
    model: of a row about a seat, the model in that seat (statements and ratings: the speaker's; votes: the voter's); of
    a game, the one model in all seats, or `cells.MIXED`. lineup: the model of each role, roles in alphabetical order,
    as in "A | B | A" for detective, mafioso and villager (several models of a role: "A+B"). All people are one model,
    "people"; person: which of them, null where the games do not tell them apart. condition: how the
    game's settings differ from those of the other games, "" if they do not. learning: the jester of the game's cell
    learns. turn: the game's number in its cell, from 0. day: from 1. days: days that reached a vote, which the
    last one does not if a game ends at night. drawn: the rules chose, because the reply was unusable or nobody was
    asked. suspicion_rank: of a vote's target among the living others in the voter's own running suspicion, 1 for
    the most suspected, ties averaged. fate: alive, killed or exiled. position: of the statement within its day, from 1;
    place: within its game. denied: the claim is that something is not so. Claims are those that the labels are made of:
    found by rules, or brought by the importer of a game that Liescope cannot play (`liescope.labeling.ledger`).
    turns: to speak in rounds of discussion, in games whose silences follow from who spoke in which round. fallback: why
    the rules chose, as in the tables.
    """

    games: pl.DataFrame
    seats: pl.DataFrame
    statements: pl.DataFrame
    claims: pl.DataFrame
    turns: pl.DataFrame
    ratings: pl.DataFrame
    votes: pl.DataFrame
    ranks: pl.DataFrame
    nights: pl.DataFrame
    bids: pl.DataFrame
    lessons: pl.DataFrame
    guesses: pl.DataFrame
    tags: pl.DataFrame


def load_frames(records: Iterable[GameRecord], pool: bool = False) -> Frames:
    """Frames of the finished ones among recorded games; see `frames_of`."""
    parts: list[list[GameRecord]] = []
    times: Counter[str] = Counter()
    for record in records:
        if times[record.game_id] == len(parts):
            parts.append([])
        parts[times[record.game_id]].append(record)
        times[record.game_id] += 1
    return frames_of([tables_of(part) for part in parts], pool)


def frames_of(parts: Sequence[Tables], pool: bool = False) -> Frames:
    """Frames of the finished games of several sets of tables, each of which holds a game once. A game may be in
    several of them, each time with other raters. pool: games of different settings are one condition.

    Raises BadData if two of them differ in what happened in a game.
    """
    return Frames(**prepare(merged_frames(parts or [tables_of([])]), pool))


SCHEMAS = {name: dict(frame.schema) for name, frame in part_frames(tables_of([])).items()}
"""The columns of each frame with their types."""
