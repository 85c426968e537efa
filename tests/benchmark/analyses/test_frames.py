"""The frames hold what the games hold, and people are one player in all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from liescope.benchmark.analyses.conditions_of_play import MIXED, PLAYERS
from liescope.benchmark.analyses.findings import notes
from liescope.benchmark.analyses.frames import Frames, GameSet
from liescope.common.colours import MODELS, model_colours, page_of
from liescope.common.errors import BadData
from liescope.common.model_names import PEOPLE
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source, Status
from liescope.games.werewolf.rules import JESTER
from tests.benchmark.analyses.made import SCHEMAS, load_frames
from tests.benchmark.random_play import judged, mini_mafia


def test_every_frame_has_its_schema_with_games_and_without(frames: Frames) -> None:
    nothing = load_frames([])
    for field in fields(Frames):
        assert dict(getattr(frames, field.name).schema) == SCHEMAS[field.name]
        assert dict(getattr(nothing, field.name).schema) == SCHEMAS[field.name]
        assert getattr(nothing, field.name).is_empty()


def test_failed_and_unfinished_games_are_left_out(records: tuple[GameRecord, ...]) -> None:
    broken = [replace(records[0], status=Status.FAILED), replace(records[1], outcome=None), records[2]]
    assert load_frames(broken).games["game_id"].to_list() == [records[2].game_id]


def test_a_row_is_of_the_model_in_its_seat_and_a_mixed_game_has_a_line_up(records: tuple[GameRecord, ...]) -> None:
    game = next(record for record in records if record.game == "mini-mafia")

    def cell(**models: str) -> Frames:
        seats = tuple(replace(seat, model=models[seat.role]) for seat in game.seats)
        return load_frames([replace(game, seats=seats)])

    def names(frames: Frames) -> tuple[str, str]:
        return frames.games["model"].item(), frames.games["lineup"].item()

    assert names(cell(detective="A", mafioso="A", villager="A")) == ("A", "A")
    assert names(cell(detective="A", mafioso="B", villager="A")) == (MIXED, "A | B | A")
    mixed = cell(detective="A", mafioso="B", villager="C")
    assert names(mixed) == (MIXED, "A | B | C")
    models = {"detective": "A", "mafioso": "B", "villager": "C"}
    for frame, role in ((mixed.statements, "speaker_role"), (mixed.votes, "voter_role"), (mixed.seats, "role")):
        assert frame.height
        assert all(model == models[held] for held, model in frame.select(role, "model").iter_rows())


def test_every_event_of_a_kind_is_one_row(frames: Frames, records: tuple[GameRecord, ...]) -> None:
    kinds = Counter(event.kind for record in records for event in record.events)
    assert frames.statements.height == kinds[EventKind.STATEMENT]
    assert frames.votes.height == kinds[EventKind.VOTE]
    assert frames.bids.height == kinds[EventKind.BID]
    assert frames.seats.height == sum(len(record.seats) for record in records)
    acts = Counter(frames.nights["act"])
    assert acts["proposal"] == kinds[EventKind.PROPOSAL]
    assert acts["protection"] == kinds[EventKind.PROTECTION]


def test_fates_agree_with_who_is_left_and_with_the_winner(frames: Frames) -> None:
    seats = frames.seats.join(frames.games.select("game_id", "winner"), on="game_id")
    assert (seats["survived"] == (seats["fate"] == "alive")).all()
    assert (seats["survived"] == seats["day_out"].is_null()).all()
    assert (seats["won"] == (seats["team"] == seats["winner"])).all()
    jesters = seats.filter(pl.col("role") == JESTER)
    assert (jesters["won"] == (jesters["fate"] == "exiled")).all()
    assert set(jesters["fate"]) == {"alive", "killed", "exiled"}


def test_a_kill_fails_exactly_where_its_victim_was_protected(frames: Frames) -> None:
    kills = frames.nights.filter((pl.col("act") == "kill") & pl.col("game").str.contains("werewolf"))
    shields = frames.nights.filter(pl.col("act") == "protection").select("game_id", "day", "target", shield=True)
    told = kills.join(shields, on=["game_id", "day", "target"], how="left")
    assert (told["died"] == told["shield"].is_null()).all()
    assert set(told["died"]) == {True, False}


def test_two_raters_of_a_game_add_their_opinions_and_not_the_game(records: tuple[GameRecord, ...]) -> None:
    game = records[1]
    both = load_frames([game, judged(game, "one"), judged(game, "two")])
    alone = load_frames([game])
    for name in ("games", "seats", "votes", "nights", "bids"):
        assert_frame_equal(getattr(both, name), getattr(alone, name))
    assert dict(both.statements["rater"].value_counts().rows()) == dict.fromkeys(
        (PLAYERS, "one", "two"), alone.statements.height
    )
    assert set(both.ratings["rater"]) == set(both.ranks["rater"]) == {PLAYERS, "one", "two"}
    with pytest.raises(BadData, match="differ in what happened"):
        load_frames([game, replace(judged(game, "one"), seats=game.seats[::-1])])


def test_a_condition_is_named_by_what_tells_it_from_the_others(records: tuple[GameRecord, ...]) -> None:
    one, two, three = (
        replace(records[n], meta={**records[n].meta, "settings": {"rounds": rounds, "prompts": prompts, "names": "a"}})
        for n, rounds, prompts in ((1, "2", "full"), (2, "8", "full"), (3, "8", "minimal"))
    )
    assert set(load_frames([one]).games["condition"]) == {""}
    assert set(load_frames([one, two]).votes["condition"]) == {"rounds 2", "rounds 8"}
    names = {"prompts full, rounds 2", "prompts full, rounds 8", "prompts minimal, rounds 8"}
    assert set(load_frames([one, two, three]).games["condition"]) == names
    assert set(load_frames([one, two, three], pool=True).games["condition"]) == {""}


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
