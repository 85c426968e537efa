"""What a lie changes, in continuations whose players react to it by a planted rule."""

from __future__ import annotations

import polars as pl
import pytest

from liescope.benchmark.analyses.forks import fork_lies
from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import load_frames
from tests.benchmark.analyses.spoken import BELIEVED, HONEST, LIE, continuation

TIMES = 60


@pytest.fixture(scope="module")
def one_game() -> Frames:
    return load_frames([continuation(1, text, number) for number in range(TIMES) for text in BELIEVED])


def row(table: pl.DataFrame, **keys: str) -> dict[str, object]:
    return table.row(
        by_predicate=pl.all_horizontal([pl.col(name) == value for name, value in keys.items()]), named=True
    )


def test_a_lie_is_compared_with_honest_words_of_the_same_moment(one_game: Frames) -> None:
    table = fork_lies(one_game)
    found = row(table, label="label_claim", measure="votes")
    assert (found["unit"], found["games"], found["pairs"]) == ("continuations", 1, TIMES)
    assert found["lo"] < BELIEVED[LIE] - BELIEVED[HONEST] < found["hi"] < 0
    assert (
        row(table, label="label_claim", measure="suspicion")["hi"]
        < 0
        < row(table, label="label_claim", measure="won")["lo"]
    )
    assert set(table["label"]) <= {"label_claim", "label_self"}  # what the words are, not what they did


def test_of_several_games_the_games_are_the_unit() -> None:
    frames = load_frames(
        [continuation(seed, text, number) for seed in range(5) for number in range(6) for text in (HONEST, LIE)]
    )
    found = row(fork_lies(frames), label="label_claim", measure="votes")
    assert (found["unit"], found["games"], found["moments"], found["pairs"]) == ("games", 5, 5, 30)
    assert found["lo"] < -0.6 < found["hi"] < 0
