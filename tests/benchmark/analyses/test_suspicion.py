"""Who is suspected: counted by hand."""

from __future__ import annotations

import pytest

from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import made, table_of

cross_perception = table_of("cross_perception")
cross_perception_change = table_of("cross_perception_change")
jester_suspicion = table_of("jester_suspicion")
suspicion_attracted = table_of("suspicion_attracted")
suspicion_by_day = table_of("suspicion_by_day")


def rating(game: str, speaker: str, observer: str, suspicion: float | None, **more: object) -> dict[str, object]:
    """A rating by and of players named after their roles."""
    return {
        "game_id": game,
        "speaker": speaker,
        "speaker_role": speaker,
        "observer": observer,
        "observer_role": observer,
        "suspicion": suspicion,
        **more,
    }


@pytest.fixture
def hand() -> Frames:
    """The jester wins g0 and loses g1; in g1 it learns."""
    on = {"learning": True}
    return made(
        games=[{"game_id": "g0", "winner": "jester"}, {"game_id": "g1", "winner": "villagers", **on}],
        ratings=[
            rating("g0", "jester", "villager", 0.6, running_suspicion=0.57),
            rating("g0", "jester", "villager", 1.0, running_suspicion=0.9, day=2),
            rating("g0", "doctor", "villager", 0.2, running_suspicion=0.3),
            rating("g0", "doctor", "jester", None, running_suspicion=0.5),
            rating("g1", "jester", "villager", 0.4, running_suspicion=0.4, **on),
            rating("g1", "doctor", "villager", 0.2, running_suspicion=0.3, **on),
        ],
    )


def test_suspicion_attracted_is_the_mean_of_the_ratings_that_name_one(hand: Frames) -> None:
    found = {
        (row["speaker_role"], row["learning"]): (row["mean"], row["n"]) for row in suspicion_attracted(hand).to_dicts()
    }
    assert found["jester", False] == (pytest.approx(0.8), 2)
    assert found["doctor", False] == (pytest.approx(0.2), 1)
    assert found["jester", True] == (pytest.approx(0.4), 1)


def test_days_are_apart_and_models_together(hand: Frames) -> None:
    found = {(row["speaker_role"], row["day"]): row["mean"] for row in suspicion_by_day(hand).to_dicts()}
    assert found["jester", 1] == pytest.approx(0.5)
    assert found["jester", 2] == 1.0


def test_the_jesters_suspicion_is_split_by_whether_it_won(hand: Frames) -> None:
    found = {(row["day"], row["jester_won"]): row["mean"] for row in jester_suspicion(hand).to_dicts()}
    assert found == {(1, True): 0.6, (2, True): 1.0, (1, False): 0.4}


def test_cross_perception_takes_the_last_running_suspicion_of_each_pair(hand: Frames) -> None:
    rows = cross_perception(hand).filter(learning=False).to_dicts()
    found = {(row["observer_role"], row["target_role"]): row["mean"] for row in rows}
    assert found == {("villager", "jester"): 0.9, ("villager", "doctor"): 0.3}


def test_the_change_is_on_minus_off(hand: Frames) -> None:
    found = {row["target_role"]: row["difference"] for row in cross_perception_change(hand).to_dicts()}
    assert found == {"jester": pytest.approx(-0.5), "doctor": pytest.approx(0.0)}
