"""Transcripts from the tables of a corpus. No role is read, only how many deceive, where the table knows it."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from liescope.data_cards.tables import SPLITS
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, Transcript, Turn
from liescope.games.registry import GAMES
from liescope.generate.corpus import collected, read
from liescope.labeling.label import text_is_lost

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
    placed: list[tuple[tuple[float, ...], Turn]] = []
    for row in said:
        lost = text_is_lost(row["read_notes"]) or row["text"].strip() == "\\"
        heard, stage = frozenset(row["audience"]), _STAGES.get(row["phase"], 1)
        text = "" if lost else row["text"]
        order = (row["day"], stage, row["round"] if silences and stage == 1 else 0)
        placed.append((order, Turn(SAID, row["speaker"], text, "", heard, row["statement_id"], row["day"])))
    placed += [((day, 1, number), Turn(SILENT, name, day=day)) for day, number, name in silences]
    for row in votes:
        turn = Turn(VOTED, row["voter"], target=row["target"], day=row["day"])
        placed.append(((row["day"], 1 + 2 * row["ballot"]), turn))
    for seat in game["seats"]:
        if seat["fate"] in (KILLED, EXILED):
            day = seat["day_out"] or 1
            placed.append(((day, 0.5 if seat["fate"] == KILLED else 9), Turn(seat["fate"], seat["name"], day=day)))
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
