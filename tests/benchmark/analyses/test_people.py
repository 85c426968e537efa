"""People at the table: one player in every table, told apart only where the games allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from liescope.benchmark.analyses.analysis import PEOPLE_VOTED
from liescope.benchmark.analyses.findings import notes
from liescope.benchmark.analyses.frames import GameSet, load_frames
from liescope.benchmark.analyses.people import (
    ANALYSES_OF_PEOPLE,
    people_flags_less_models,
    people_votes_less_models,
)
from liescope.common.colours import MODELS, model_colours, page_of
from liescope.common.model_names import PEOPLE
from liescope.games.record import GameRecord, Source
from tests.benchmark.analyses.made import made, table_of
from tests.benchmark.random_play import mini_mafia

PEOPLE_FLAGS = table_of("people_flags")


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


ROLES = {"Ann": "villager", "Ben": "villager", "Cleo": "villager", "Wolf": "werewolf"}


def at_table(game: str, people: Sequence[str], **more: object) -> list[dict[str, object]]:
    """The seats of a game in which some are people's and the others a model's."""
    return [
        {
            "game_id": game,
            "name": name,
            "role": role,
            "team": role,
            "deceives": role == "werewolf",
            "model": PEOPLE if name in people else "m",
            "fate": "alive",
            **more,
        }
        for name, role in ROLES.items()
    ]


def against(table: pl.DataFrame, where: str, **keys: str) -> dict[str, object]:
    wanted = {"where": where, **keys}
    return table.row(
        by_predicate=pl.all_horizontal([pl.col(name) == value for name, value in wanted.items()]), named=True
    )


def test_votes_of_people_are_compared_at_the_same_ballots_where_both_voted() -> None:
    """In every game a person votes for the wolf and a model at the same table does in half of them; models alone, in
    games without people, are always right.
    """
    seats, votes = [], []
    for number in range(20):
        game, people = f"g{number}", ["Ann"] if number < 10 else []
        seats += at_table(game, people)
        for voter in ("Ann", "Ben"):
            right = voter in people or number >= 10 or number % 2 == 0
            by = {"model": PEOPLE if voter in people else "m", "voter_role": "villager", "ballot": 1}
            votes.append({"game_id": game, "voter": voter, "target": "Wolf" if right else "Cleo", "drawn": False, **by})
    found = people_votes_less_models(made(seats=seats, votes=votes))
    same, anywhere = (against(found, where, model="m") for where in ("the same", "all games"))
    assert (same["difference"], same["games"]) == (0.5, 10)
    assert same["lo"] < 0.5 < same["hi"]
    assert anywhere["difference"] == pytest.approx(1 - 25 / 30)


def test_flags_of_people_beside_a_judges_from_their_own_seats() -> None:
    """People flag 8 of 10 lies and 2 of 10 honest statements, the judge, from the same seats, flags everything."""
    statements, ratings = [], []
    for number in range(20):
        lie, game = number < 10, f"g{number % 4}"
        key = {"game_id": game, "statement_id": f"s{number}", "speaker": "Wolf"}
        statements.append({**key, "label_self": lie})
        statements.append({**key, "label_self": not lie, "rater": "judge"})  # what it thinks that the player would say
        seat = {"observer": "Ann", "observer_role": "villager", "observer_seat_model": PEOPLE}
        ratings.append({**key, **seat, "flag": number % 10 < (8 if lie else 2), "label_self": lie})
        ratings.append({**key, **seat, "flag": True, "label_self": not lie, "rater": "judge"})
    seats = [seat for number in range(4) for seat in at_table(f"g{number}", ["Ann"], person="Anna")]
    frames = made(seats=seats, statements=statements, ratings=ratings)
    shares = {(row["metric"], row["model"]): row for row in PEOPLE_FLAGS(frames).to_dicts()}
    assert {key: row["mean"] for key, row in shares.items()} == {
        **{("accuracy", PEOPLE): 0.8, ("flagged_lies", PEOPLE): 0.8, ("flagged_honest", PEOPLE): 0.2},
        **{("accuracy", "judge"): 0.5, ("flagged_lies", "judge"): 1.0, ("flagged_honest", "judge"): 1.0},
    }
    assert shares["accuracy", PEOPLE]["persons"] == 1
    assert shares["accuracy", "judge"]["persons"] is None
    found = against(people_flags_less_models(frames), "the same", metric="accuracy", model="judge")
    assert found["difference"] == pytest.approx(0.3)
    assert found["n"] == 40


def test_an_ally_of_the_speaker_detects_nothing() -> None:
    key = {"game_id": "g", "statement_id": "s", "speaker": "Wolf"}
    seats = [*at_table("g", ["Partner"]), {**at_table("g", [])[-1], "name": "Partner", "model": PEOPLE}]
    rating = {**key, "observer": "Partner", "observer_role": "werewolf", "observer_seat_model": PEOPLE}
    frames = made(seats=seats, statements=[key], ratings=[{**rating, "flag": True, "label_role": True}])
    assert PEOPLE_FLAGS(frames).is_empty()


def test_games_without_people_are_told_so() -> None:
    frames = load_frames([mini_mafia("m", 1)])
    assert all(analysis.lacks(frames) for analysis in ANALYSES_OF_PEOPLE)
    assert not PEOPLE_VOTED(load_frames([with_person(mini_mafia("m", 1), "villager")]))
