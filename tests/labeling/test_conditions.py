"""What the games table says of how a game was played: its condition, its settings, the prompts that were read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from liescope.games.mafia.rules import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.generate.corpus.open import open_games
from liescope.generate.runs.play import play
from liescope.generate.runs.rating import label
from liescope.labeling.record_rows import game_row


def game_with(meta: Mapping[str, Any]) -> GameRecord:
    game = MiniMafia(MINI_MAFIA, 1, "g")
    players = dict.fromkeys(game.names, ("m", Source.MODEL))
    return record(game, None, players, failure="it broke off", meta=meta)


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({}, ""),
        ({"rounds": 8}, "rounds=8"),
        ({"rounds": 8, "message_limit": 500}, "message_limit=500 rounds=8"),
        ({"message_limit": None}, "message_limit=null"),
        ({"assess": True}, ""),
        ({"assess": True, "assess_share": 0.5, "seed": 9}, ""),
        ({"assess": True, "show_suspicion": True}, "show_suspicion=on"),
        ({"names": ("Ann", "Ben", "Cat", "Dan")}, "names=Ann, Ben, Cat, Dan"),
        ({"prompts": "minimal"}, "prompts=minimal"),
    ],
)
def test_the_condition_is_what_differs_from_the_defaults(
    options: dict[str, Any], condition: str, tmp_path: Path
) -> None:
    play("mini-mafia", out=tmp_path / "run", games=1, **options)
    games = open_games(tmp_path / "run").tables["games"]
    assert set(games["condition"]) == {condition}
    assert games["prompt_version"].null_count() == 0
    (settings,) = {*games["settings"]}
    assert {"rounds", "message_limit", "templates"} <= json.loads(settings).keys()


def test_a_judged_game_keeps_the_condition_that_it_was_played_in(tmp_path: Path) -> None:
    play("mini-mafia", out=tmp_path / "run", games=1, rounds=1)
    label(tmp_path / "run", "scripted:steady", out=tmp_path / "judged")
    games = open_games(tmp_path / "judged").tables["games"]
    assert (games["condition"][0], games["judge"][0]) == ("rounds=1", "scripted:steady")


def test_what_is_not_known_of_a_game_is_not_made_up() -> None:
    row = game_row(game_with({}), "run")
    assert (row.condition, row.settings, row.prompt_version, row.seating) == ("", "{}", None, None)
    assert game_row(game_with({"prompt_version": "v4_0"}), "run").prompt_version == "v4_0"
