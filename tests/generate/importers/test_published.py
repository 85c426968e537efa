"""The published games, read beside a plain count of the raw logs: nothing is lost and nothing is added."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, Source
from liescope.generate.importers import read_games
from liescope.generate.importers.mini_mafia import BLANK, PAPER_NAMES
from liescope.labeling.conditions import condition_of
from liescope.labeling.label import LOST_TEXT, text_is_lost

DRAWN = "(the vote was cast randomly because of a failed format)"
SOME = 100  # games of each folder that `make test` reads


@dataclass(frozen=True)
class Published:
    """One folder of published games, or some of it: what its readme and an independent count say."""

    folder: str
    version: str
    facts: dict[str, int]
    whole: bool = True


FACTS = ("games", "mafia won", "warned", "roles of the dead", "lone backslashes", "lost", "blank")
WHOLE = (
    Published("mini_mafia", "v4.1", dict(zip(FACTS, (7012, 2693, 0, 0, 619, 670, 0), strict=True))),
    Published("mini_mafia_v4_0", "v4.0", dict(zip(FACTS, (1995, 1015, 506, 670, 136, 138, 1341), strict=True))),
)
PARAMS = [
    *(pytest.param(Published(each.folder, each.version, {}, False), id=f"some-{each.folder}") for each in WHOLE),
    *(pytest.param(each, id=each.folder, marks=pytest.mark.long) for each in WHOLE),
]


@pytest.fixture(scope="module", params=PARAMS)
def published(request: pytest.FixtureRequest) -> Published:
    folder: Published = request.param
    return folder


@pytest.fixture(scope="module")
def raw(shared_data: Path, published: Published) -> list[dict[str, Any]]:
    with gzip.open(shared_data / published.folder / "games.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = file.readlines()
    return [json.loads(line) for line in lines[:: 1 if published.whole else len(lines) // SOME]]


@pytest.fixture(scope="module")
def batches(shared_data: Path, published: Published) -> dict[str, dict[str, str]]:
    """Batch to role to model; a local model's file has no folder."""
    with gzip.open(shared_data / published.folder / "batches.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return {
        batch["batch_id"]: {
            r: m.get("model") or m["model_path"].split("/")[1] for r, m in batch["model_configs"].items()
        }
        for batch in found
    }


@pytest.fixture(scope="module")
def games(
    shared_data: Path, published: Published, raw: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> list[GameRecord]:
    """Every game of the log, in its order, with nothing that was not read."""
    file = tmp_path_factory.mktemp("logs") / "games.jsonl"
    file.write_text("".join(json.dumps(log) + "\n" for log in raw), encoding="utf-8")
    batches = shared_data / published.folder / "batches.jsonl.gz"
    found = [game for game in read_games("mini-mafia", file, batches=batches) if isinstance(game, GameRecord)]
    assert [game.game_id for game in found] == [log["game_id"] for log in raw]
    assert not [game.game_id for game in found if "import_notes" in game.meta]
    assert {game.meta["prompt_version"] for game in found} == {published.version}
    assert len(found) == published.facts.get("games", len(found)) >= SOME
    return found


def of(game: GameRecord, *kinds: EventKind) -> list[Event]:
    return [event for event in game.events if event.kind in kinds]


def test_counts_by_role_model_and_winner_equal_the_logs(
    games: list[GameRecord], raw: list[Any], batches: dict[str, dict[str, str]], published: Published
) -> None:
    ours, logs = Counter[Any](), Counter[Any]()
    for game, log in zip(games, raw, strict=True):
        assert {seat.source for seat in game.seats} == {Source.IMPORTED}
        ours.update({(seat.role, seat.model, game.outcome.winner) for seat in game.seats})
        winner = "town" if any(p["imprisoned"] and p["role"] == "mafioso" for p in log["players"]) else "mafia"
        logs.update((role, model, winner) for role, model in batches[log["game_id"].split("_game_")[0]].items())
    assert ours == logs
    won = sum(count for (role, _, winner), count in ours.items() if (role, winner) == ("mafioso", "mafia"))
    assert won == published.facts.get("mafia won", won)


def test_every_message_silence_and_vote_of_the_log_is_there_and_no_other(
    games: list[GameRecord], raw: list[Any]
) -> None:
    for game, log in zip(games, raw, strict=True):
        freed = next(p for p in log["players"] if p["alive"] and not p["imprisoned"])
        start, lines = freed["memory"].index("Day 1 begins.") + 1, []
        spoken = of(game, EventKind.STATEMENT, EventKind.SILENCE)
        for event in spoken:
            who = "You" if event.actor == freed["name"] else event.actor
            silent = f"{who}: remained silent." if event.fallback else f'{who}: ""'
            lines.append(silent if event.kind is EventKind.SILENCE else f'{who}: "{event.text}"')
        votes = (f"{v.actor} voted for {v.target}{f' {DRAWN}' if v.fallback else ''}" for v in of(game, EventKind.VOTE))
        lines += ["Votes: " + ", ".join(votes), *(f"{e.target} was arrested" for e in of(game, EventKind.ARREST))]
        assert lines == [trimmed(line) for line in freed["memory"][start:]]
        living = {seat.name for seat in game.seats} - {event.target for event in of(game, EventKind.DEATH)}
        assert [event.round for event in spoken] == [1, 1, 1, 2, 2, 2]
        assert {event.actor for event in spoken[:3]} == {event.actor for event in spoken[3:]} == living


def trimmed(line: str) -> str:
    """The line without the blanks around a message."""
    who, quote, text = line.partition(': "')
    return f'{who}: "{text[:-1].strip()}"' if quote and text.endswith('"') else f"{who}{quote}{text.lstrip()}"


def test_messages_lost_to_an_escaped_quote_are_marked_and_no_others(
    games: list[GameRecord], raw: list[Any], published: Published
) -> None:
    lone = sum(line == 'You: "\\"' for log in raw for player in log["players"] for line in player["memory"])
    lost = [e.text for g in games for e in g.events if text_is_lost(e.data.get("notes", ()))]
    notes = Counter(note for game in games for event in game.events for note in event.data.get("notes", ()))
    assert (lost.count("\\"), notes[LOST_TEXT]) == (lone, len(lost))
    assert {text[-2:] for text in lost if text != "\\"} <= {" \\", "[\\"}
    counted = {"lone backslashes": lone, "lost": len(lost), "blank": notes[BLANK]}
    assert counted | published.facts == published.facts or not published.whole


def test_players_who_know_of_each_other_and_roles_of_the_dead_are_those_of_the_log(
    games: list[GameRecord], raw: list[Any], published: Published
) -> None:
    warned = revealed = 0
    for game, log in zip(games, raw, strict=True):
        memories = {player["name"]: player["memory"] for player in log["players"]}
        beware = {name for name, lines in memories.items() if any(line.startswith("Beware, ") for line in lines)}
        (death,) = of(game, EventKind.DEATH)
        announced = any(f"The villager {death.target} was found dead." in lines for lines in memories.values())
        assert {name for event in of(game, EventKind.DISCOVERY) for name in event.audience or ()} == beware
        assert death.data == ({"role": "villager"} if announced else {})
        words = ["mutual_discovery=on"] * bool(beware) + ["reveal_dead=on"] * announced
        assert condition_of(game) == " ".join(words)
        warned, revealed = warned + bool(beware), revealed + announced
    counted = {"warned": warned, "roles of the dead": revealed}
    assert counted | published.facts == published.facts or not published.whole


def test_the_papers_names_cover_the_papers_models(shared_data: Path, batches: dict[str, dict[str, str]]) -> None:
    reference = json.loads((shared_data / "mini_mafia" / "reference.json").read_text())
    assert set(PAPER_NAMES.values()) == set(reference["capability"]["scores"])
    logged = {model for models in batches.values() for model in models.values()}
    assert logged - PAPER_NAMES.keys() <= {"gpt-4.1-nano", "gpt-4o-mini"}
