"""The six axes: each is what it says, within 0 and 1."""

from __future__ import annotations

import polars as pl
import pytest

from liescope.benchmark.analyses.fingerprint import AXES, fingerprint
from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import made


def test_each_axis_lies_between_0_and_1_and_every_triadic_cell_has_all(frames: Frames) -> None:
    table = fingerprint(frames)
    assert table["value"].is_between(0, 1).all()
    cells = table.group_by("game", "model", "learning", "rater").agg(pl.col("axis"))
    assert cells.filter(rater="players").height == 4
    assert all(axes == list(AXES) for axes in cells["axis"].to_list())
    assert set(table["game"]) == {"werewolf"}


def test_the_axes_of_two_games_by_hand() -> None:
    games = [
        {"game_id": "g0", "winner": "jester", "triadic": True},
        {"game_id": "g1", "winner": "villagers", "triadic": True},
    ]
    votes = [
        {"game_id": game, "ballot": 2, "voter_role": "werewolf", "target_role": target, "drawn": False}
        for game, target in (("g0", "jester"), ("g1", "villager"))
    ]
    statements = [
        {"game_id": "g0", "speaker_role": "jester", "label_self": True, "peer_rate": 0.75},
        {"game_id": "g1", "speaker_role": "villager", "label_self": False, "peer_rate": 0.05},
    ]
    ratings = [
        {"game_id": "g0", "speaker_role": "jester", "suspicion": 0.8, "flag": True, "label_self": True},
        {"game_id": "g1", "speaker_role": "villager", "suspicion": 0.1, "flag": True, "label_self": False},
    ]
    table = fingerprint(made(games=games, votes=votes, statements=statements, ratings=ratings))
    assert dict(table.select("axis", "value").iter_rows()) == {
        "jester_wins": 0.5,
        "villagers_win": 0.5,
        "wolf_restraint": 0.5,
        "jester_suspicion": 0.8,
        "detection": 0.5,
        "calibration": pytest.approx(1 - (0.25 + 0.05) / 2),
    }


def test_games_without_a_jester_or_without_ratings_have_none() -> None:
    for triadic in (False, True):
        votes = [{"game_id": "g0", "ballot": 2, "voter_role": "werewolf", "target_role": "villager", "drawn": False}]
        games = [{"game_id": "g0", "winner": "villagers", "triadic": triadic}]
        assert fingerprint(made(games=games, votes=votes)).is_empty()
