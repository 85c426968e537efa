"""How often votes find a deceiver: which votes count, and what chance would give."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import made, table_of

vote_accuracy = table_of("vote_accuracy")

SIDES = {"Wolf": "werewolf", "Ann": "villager", "Ben": "villager", "Cy": "villager"}


def voted(*votes: dict[str, Any], **fates: tuple[str, int]) -> Frames:
    """One game of four. votes: rows of the frame, by Ann on day 1 in the first ballot where they say nothing else."""
    rows = [
        {"game_id": "g", "ballot": 1, "voter": "Ann", "voter_role": SIDES[vote.get("voter", "Ann")], **vote}
        for vote in votes
    ]
    seats = []
    for name, role in SIDES.items():
        fate, day = fates.get(name, ("alive", None))
        deceives = role == "werewolf"
        seats.append({"game_id": "g", "name": name, "role": role, "deceives": deceives, "fate": fate, "day_out": day})
    return made(votes=rows, seats=seats)


def test_votes_that_counted_and_were_chosen_are_compared_with_the_ballot() -> None:
    frames = voted(
        {"target": "Ben"},  # of a ballot that a revote replaced
        {"target": "Wolf", "ballot": 2},
        {"target": "Ann", "voter": "Ben", "ballot": 2},
        {"target": "Wolf", "voter": "Cy", "ballot": 2, "drawn": True},
        {"target": "Ann", "voter": "Wolf", "ballot": 2},
    )
    (row,) = vote_accuracy(frames).to_dicts()
    assert (row["voter_role"], row["mean"], row["n"], row["games"]) == ("villager", 0.5, 2, 1)
    assert row["chance"] == pytest.approx(1 / 3)


def test_chance_grows_as_players_leave() -> None:
    frames = voted({"target": "Wolf", "day": 2}, Ben=("exiled", 1), Cy=("killed", 3))
    assert vote_accuracy(frames)["chance"].item() == pytest.approx(1 / 2)
    frames = voted({"target": "Wolf", "day": 2}, Ben=("exiled", 1), Cy=("killed", 2))
    assert vote_accuracy(frames)["chance"].item() == pytest.approx(1.0)


@pytest.mark.long
def test_the_printed_accuracy_of_claude_sonnet_4_lies_in_the_interval_of_the_published_games(published: Frames) -> None:
    """Of Grok 3 Mini the paper prints 0.857; in these games, against other models, it is clearly above chance."""
    table = vote_accuracy(published).filter(pl.col("voter_role") == "villager")
    of = {row["model"]: row for row in table.to_dicts()}
    assert of["claude-sonnet-4-20250514"]["lo"] < 0.506 < of["claude-sonnet-4-20250514"]["hi"]
    assert of["grok-3-mini"]["lo"] > 0.7
    assert set(table["chance"]) == {0.5}
