"""People at the table: one player in every table, told apart only where the games allow it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.benchmark.analyses.findings import notes
from liescope.benchmark.analyses.frames import GameSet, load_frames
from liescope.common.colours import MODELS, model_colours, page_of
from liescope.common.model_names import PEOPLE
from liescope.games.record import GameRecord, Source
from tests.benchmark.random_play import mini_mafia


def with_person(game: GameRecord, role: str, model: str = "human") -> GameRecord:
    """The game as if a person had held the seat of this role."""
    seats = tuple(replace(seat, model=model, source=Source.HUMAN) if seat.role == role else seat for seat in game.seats)
    return replace(game, seats=seats)


def said(games: list[GameRecord]) -> str:
    (note,) = [note for note in notes(GameSet((), load_frames(games), frozenset({Source.HUMAN}))) if "People" in note]
    return note


def test_all_people_are_one_player_whatever_their_seats_are_called() -> None:
    frames = load_frames(
        [with_person(mini_mafia("m", 1), "villager", "Anna"), with_person(mini_mafia("m", 2), "villager")]
    )
    for frame, role in ((frames.statements, "speaker_role"), (frames.votes, "voter_role"), (frames.seats, "role")):
        for held, model in frame.select(role, "model").iter_rows():
            assert model == (PEOPLE if held == "villager" else "m")
    assert set(frames.games["lineup"]) == {f"m | m | {PEOPLE}"}
    assert set(frames.seats["person"].drop_nulls()) == {"Anna"}


def test_a_model_of_that_name_is_no_person() -> None:
    frames = load_frames([mini_mafia("human", 1)])
    assert set(frames.seats["seat_model"]) == {"human"}
    assert frames.seats["person"].null_count() == frames.seats.height


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (("Anna", "Anna"), "one person"),
        (("Anna", "Ben"), "2 different persons"),
        (("Anna", "human"), "do not tell"),
        (("unknown", "Unknown"), "do not tell"),
    ],
)
def test_a_report_says_how_many_people_they_are(who: tuple[str, str], words: str) -> None:
    games = [with_person(mini_mafia("m", seed), "detective", name) for seed, name in enumerate(who)]
    assert words in said(games)
    assert "2 seats in 2 games" in said(games)


def test_people_are_green_on_every_page_and_no_model_beside_them_is() -> None:
    green = model_colours([PEOPLE])[PEOPLE]
    names = [f"model {number}" for number in range(len(MODELS) - 1)]
    with page_of(names):
        assert model_colours([*names, PEOPLE])[PEOPLE] == green
    with page_of([*names, PEOPLE]):
        assert green not in model_colours(names).values()
