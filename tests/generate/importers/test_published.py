"""The 7,012 published games, read beside a plain count of the raw log: nothing is lost and nothing is added."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source
from liescope.generate.importers import Rejected, read_games
from liescope.generate.importers.mini_mafia.models import PAPER_NAMES
from liescope.labeling.reading_notes import text_is_lost

DRAWN = "(the vote was cast randomly because of a failed format)"


@pytest.fixture(scope="module")
def raw(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "mini_mafia" / "games.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def batches(shared_data: Path) -> dict[str, dict[str, str]]:
    with gzip.open(shared_data / "mini_mafia" / "batches.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return {batch["batch_id"]: {r: m["model"] for r, m in batch["model_configs"].items()} for batch in found}


@pytest.fixture(scope="module")
def read(shared_data: Path) -> list[GameRecord | Rejected]:
    folder = shared_data / "mini_mafia"
    return list(read_games("mini-mafia", folder / "games.jsonl.gz", batches=folder / "batches.jsonl.gz"))


@pytest.fixture(scope="module")
def games(read: list[GameRecord | Rejected]) -> list[GameRecord]:
    return [game for game in read if isinstance(game, GameRecord)]


def test_every_game_is_imported_in_order(read: list[Any], games: list[GameRecord], raw: list[dict[str, Any]]) -> None:
    assert len(read) == 7012
    assert [game.game_id for game in games] == [game["game_id"] for game in raw]


def test_counts_by_model_and_winner_equal_the_logs(
    games: list[GameRecord], raw: list[dict[str, Any]], batches: dict[str, dict[str, str]]
) -> None:
    ours, logs = Counter(), Counter()
    for game in games:
        assert game.outcome is not None
        ours.update({(seat.role, seat.model, game.outcome.winner) for seat in game.seats})
    for log in raw:
        winner = "town" if any(p["imprisoned"] and p["role"] == "mafioso" for p in log["players"]) else "mafia"
        logs.update((role, model, winner) for role, model in batches[log["game_id"].split("_game_")[0]].items())
    assert ours == logs
    assert sum(count for (role, _, winner), count in ours.items() if role == "mafioso" and winner == "mafia") == 2693


def test_every_message_silence_and_vote_of_the_log_is_there_and_no_other(
    games: list[GameRecord], raw: list[dict[str, Any]]
) -> None:
    for game, log in zip(games, raw, strict=True):
        freed = next(p for p in log["players"] if p["alive"] and not p["imprisoned"])
        start = freed["memory"].index("Day 1 begins.") + 1
        lines = []
        for event in game.events:
            who = "You" if event.actor == freed["name"] else event.actor
            if event.kind is EventKind.STATEMENT:
                lines.append(f'{who}: "{event.text}"')
            elif event.kind is EventKind.SILENCE:
                assert event.fallback
                lines.append(f"{who}: remained silent.")
        votes = [event for event in game.events if event.kind is EventKind.VOTE]
        lines.append(
            "Votes: " + ", ".join(f"{v.actor} voted for {v.target}{f' {DRAWN}' if v.fallback else ''}" for v in votes)
        )
        lines += [f"{event.target} was arrested" for event in game.events if event.kind is EventKind.ARREST]
        logged = [line.replace(': " ', ': "') for line in freed["memory"][start:]]
        assert lines == [f'{line[:-1].rstrip()}"' if line.endswith('"') else line for line in logged]


def test_the_surviving_villagers_votes_split_as_the_log_has_them(games: list[GameRecord]) -> None:
    votes: Counter[tuple[bool, str]] = Counter()
    for game in games:
        roles = {seat.name: seat.role for seat in game.seats}
        for event in game.events:
            if event.kind is EventKind.VOTE and roles[event.actor or ""] == "villager":
                votes[bool(event.fallback), roles[event.target or ""]] += 1
    assert votes == {
        (False, "mafioso"): 3655,
        (False, "detective"): 2002,
        (True, "mafioso"): 647,
        (True, "detective"): 708,
    }


def test_messages_lost_to_an_escaped_quote_are_marked_and_no_others(
    games: list[GameRecord], raw: list[dict[str, Any]]
) -> None:
    lone = sum(line == 'You: "\\"' for log in raw for player in log["players"] for line in player["memory"])
    lost = [e.text for g in games for e in g.events if text_is_lost(e.data.get("notes", ()))]
    assert (len(lost), lost.count("\\"), lone) == (670, 619, 619)
    assert {text[-2:] for text in lost if text != "\\"} == {" \\"}


def test_every_seat_is_imported_and_each_round_hears_every_living_player_once(games: list[GameRecord]) -> None:
    for game in games:
        assert {seat.source for seat in game.seats} == {Source.IMPORTED}
        dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
        living = {seat.name for seat in game.seats} - {dead}
        spoken = [event for event in game.events if event.kind in (EventKind.STATEMENT, EventKind.SILENCE)]
        assert [event.round for event in spoken] == [1, 1, 1, 2, 2, 2]
        assert {event.actor for event in spoken[:3]} == {event.actor for event in spoken[3:]} == living


def test_the_papers_names_cover_the_papers_models(shared_data: Path, batches: dict[str, dict[str, str]]) -> None:
    reference = json.loads((shared_data / "mini_mafia" / "reference.json").read_text())
    assert set(PAPER_NAMES.values()) == set(reference["capability"]["scores"])
    logged = {model for models in batches.values() for model in models.values()}
    assert logged - PAPER_NAMES.keys() == {"gpt-4.1-nano", "gpt-4o-mini"}
