"""The published games, read beside a plain count of the raw logs: nothing is lost and nothing is added."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from liescope.benchmark import published_counts
from liescope.benchmark.capability.count_sources import check_different, too_alike
from liescope.benchmark.capability.counts import PLAYERS, count_games, tally
from liescope.common.errors import UsageError
from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, Source
from liescope.generate.importers import Rejected, read_games
from liescope.generate.importers.mini_mafia.memories import BLANK
from liescope.generate.importers.mini_mafia.mini_mafia_importer import PAPER_NAMES
from liescope.labeling.conditions import condition_of
from liescope.labeling.label import LOST_TEXT, text_is_lost

DRAWN = "(the vote was cast randomly because of a failed format)"


@dataclass(frozen=True)
class Published:
    """One folder of published games: what their readme and an independent count say of it."""

    folder: str
    games: int
    mafia_wins: int
    version: str
    warned: int
    roles_of_the_dead: int
    lone_backslashes: int
    lost: int
    blank: int


FOLDERS = (
    Published("mini_mafia", 7012, 2693, "v4.1", 0, 0, 619, 670, 0),
    Published("mini_mafia_v4_0", 1995, 1015, "v4.0", 506, 670, 136, 138, 1341),
)


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda published: published.folder)
def published(request: pytest.FixtureRequest) -> Published:
    folder: Published = request.param
    return folder


@pytest.fixture(scope="module")
def raw(shared_data: Path, published: Published) -> list[dict[str, Any]]:
    with gzip.open(shared_data / published.folder / "games.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def batches(shared_data: Path, published: Published) -> dict[str, dict[str, str]]:
    """Batch to role to model; a local model's file has no folder."""
    with gzip.open(shared_data / published.folder / "batches.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line)["model_configs"] | {"id": json.loads(line)["batch_id"]} for line in lines]
    return {
        batch.pop("id"): {role: m.get("model") or m["model_path"].split("/")[1] for role, m in batch.items()}
        for batch in found
    }


@pytest.fixture(scope="module")
def read(shared_data: Path, published: Published) -> list[GameRecord | Rejected]:
    folder = shared_data / published.folder
    return list(read_games("mini-mafia", folder / "games.jsonl.gz", batches=folder / "batches.jsonl.gz"))


@pytest.fixture(scope="module")
def games(read: list[GameRecord | Rejected]) -> list[GameRecord]:
    return [game for game in read if isinstance(game, GameRecord)]


def of(game: GameRecord, *kinds: EventKind) -> list[Event]:
    return [event for event in game.events if event.kind in kinds]


def test_every_game_is_imported_in_order_and_nothing_is_left_unread(
    read: list[Any], games: list[GameRecord], raw: list[dict[str, Any]], published: Published
) -> None:
    assert len(read) == published.games
    assert [game.game_id for game in games] == [game["game_id"] for game in raw]
    assert not [game.game_id for game in games if {"import_notes", "unread"} & game.meta.keys()]
    assert {game.meta["prompt_version"] for game in games} == {published.version}


def test_counts_by_role_model_and_winner_equal_the_logs(
    games: list[GameRecord], raw: list[dict[str, Any]], batches: dict[str, dict[str, str]], published: Published
) -> None:
    ours, logs = Counter(), Counter()
    for game in games:
        assert game.outcome is not None
        ours.update({(seat.role, seat.model, game.outcome.winner) for seat in game.seats})
    for log in raw:
        winner = "town" if any(p["imprisoned"] and p["role"] == "mafioso" for p in log["players"]) else "mafia"
        logs.update((role, model, winner) for role, model in batches[log["game_id"].split("_game_")[0]].items())
    assert ours == logs
    won = sum(count for (role, _, winner), count in ours.items() if role == "mafioso" and winner == "mafia")
    assert won == published.mafia_wins


def test_every_message_silence_and_vote_of_the_log_is_there_and_no_other(
    games: list[GameRecord], raw: list[dict[str, Any]]
) -> None:
    for game, log in zip(games, raw, strict=True):
        freed = next(p for p in log["players"] if p["alive"] and not p["imprisoned"])
        start = freed["memory"].index("Day 1 begins.") + 1
        lines = []
        for event in of(game, EventKind.STATEMENT, EventKind.SILENCE):
            who = "You" if event.actor == freed["name"] else event.actor
            if event.kind is EventKind.STATEMENT:
                lines.append(f'{who}: "{event.text}"')
            elif event.fallback:
                lines.append(f"{who}: remained silent.")
            else:
                assert event.data["notes"] == [BLANK]
                lines.append(f'{who}: ""')
        votes = of(game, EventKind.VOTE)
        lines.append(
            "Votes: " + ", ".join(f"{v.actor} voted for {v.target}{f' {DRAWN}' if v.fallback else ''}" for v in votes)
        )
        lines += [f"{event.target} was arrested" for event in of(game, EventKind.ARREST)]
        assert lines == [trimmed(line) for line in freed["memory"][start:]]


def trimmed(line: str) -> str:
    """The line without the blanks around a message."""
    who, quote, text = line.partition(': "')
    return f'{who}: "{text[:-1].strip()}"' if quote and text.endswith('"') else f"{who}{quote}{text.lstrip()}"


def test_messages_lost_to_an_escaped_quote_are_marked_and_no_others(
    games: list[GameRecord], raw: list[dict[str, Any]], published: Published
) -> None:
    lone = sum(line == 'You: "\\"' for log in raw for player in log["players"] for line in player["memory"])
    lost = [e.text for g in games for e in g.events if text_is_lost(e.data.get("notes", ()))]
    assert (len(lost), lost.count("\\"), lone) == (published.lost, published.lone_backslashes, lone)
    assert lone == published.lone_backslashes
    assert {text[-2:] for text in lost if text != "\\"} <= {" \\", "[\\"}
    notes = Counter(note for game in games for event in game.events for note in event.data.get("notes", ()))
    assert notes[LOST_TEXT] == published.lost
    assert notes[BLANK] == published.blank


def test_players_who_know_of_each_other_and_roles_of_the_dead_are_those_of_the_log(
    games: list[GameRecord], raw: list[dict[str, Any]], published: Published
) -> None:
    warned = revealed = 0
    conditions = Counter(condition_of(game) for game in games)
    assert conditions["mutual_discovery=on reveal_dead=on"] == published.warned
    assert conditions["reveal_dead=on"] == published.roles_of_the_dead - published.warned
    assert conditions[""] == published.games - published.roles_of_the_dead
    for game, log in zip(games, raw, strict=True):
        memories = {player["name"]: player["memory"] for player in log["players"]}
        beware = {name for name, lines in memories.items() if any(line.startswith("Beware, ") for line in lines)}
        (death,) = of(game, EventKind.DEATH)
        announced = any(f"The villager {death.target} was found dead." in lines for lines in memories.values())
        assert {name for event in of(game, EventKind.DISCOVERY) for name in event.audience or ()} == beware
        assert death.data == ({"role": "villager"} if announced else {})
        warned, revealed = warned + bool(beware), revealed + announced
    assert (warned, revealed) == (published.warned, published.roles_of_the_dead)


def test_the_surviving_villagers_votes_split_as_the_log_has_them(
    games: list[GameRecord], raw: list[dict[str, Any]]
) -> None:
    votes, logged = Counter(), Counter()
    for game, log in zip(games, raw, strict=True):
        roles = {seat.name: seat.role for seat in game.seats}
        for event in of(game, EventKind.VOTE):
            if roles[event.actor or ""] == "villager":
                votes[bool(event.fallback), roles[event.target or ""]] += 1
        (line,) = {line for player in log["players"] for line in player["memory"] if line.startswith("Votes: ")}
        for vote in line.removeprefix("Votes: ").split(", "):
            voter, _, target = vote.replace(f" {DRAWN}", "").partition(" voted for ")
            if roles[voter] == "villager":
                logged[DRAWN in vote, roles[target]] += 1
    assert votes == logged
    assert sum(votes.values()) == len(games)


def test_every_seat_is_imported_and_each_round_hears_every_living_player_once(games: list[GameRecord]) -> None:
    for game in games:
        assert {seat.source for seat in game.seats} == {Source.IMPORTED}
        dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
        living = {seat.name for seat in game.seats} - {dead}
        spoken = of(game, EventKind.STATEMENT, EventKind.SILENCE)
        assert [event.round for event in spoken] == [1, 1, 1, 2, 2, 2]
        assert {event.actor for event in spoken[:3]} == {event.actor for event in spoken[3:]} == living


def test_the_papers_names_cover_the_papers_models(shared_data: Path, batches: dict[str, dict[str, str]]) -> None:
    reference = json.loads((shared_data / "mini_mafia" / "reference.json").read_text())
    assert set(PAPER_NAMES.values()) == set(reference["capability"]["scores"])
    logged = {model for models in batches.values() for model in models.values()}
    assert logged - PAPER_NAMES.keys() <= {"gpt-4.1-nano", "gpt-4o-mini"}


def test_they_are_among_those_behind_the_printed_counts(games: list[GameRecord], published: Published) -> None:
    if published.version != "v4.1":
        pytest.skip("games of other prompts")
    imported = tally(count_games(games).cells.with_columns(pl.col(*PLAYERS).replace(PAPER_NAMES)))
    both = {"imported": imported, "printed": published_counts()}
    (found,) = too_alike(both)
    assert found.combinations > 60
    assert found.chi2 < 10
    with pytest.raises(UsageError, match="agree too well"):
        check_different(both)
