"""Counts: every game is counted once, for whoever played, or left out with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from liescope.benchmark.capability.count_sources import load_counts
from liescope.benchmark.capability.counts import SCHEMA, add, count_games
from liescope.common.errors import UsageError
from liescope.games import Source
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal

Play = Callable[..., GameRecord]


def test_games_of_one_combination_are_one_row_with_its_wins(play: Play) -> None:
    games = [play("a", "b", "c", "c", mafia_wins=n < 3, seed=n) for n in range(5)]
    games += [play("b", "a", "c", "c", mafia_wins=False, seed=9)]
    counts = count_games(games)
    assert counts.cells.rows() == [("a", "b", "c", 3, 5), ("b", "a", "c", 0, 1)]
    assert counts.cells.schema == SCHEMA
    assert counts.sources == {Source.MODEL}
    assert counts.excluded == {}


def test_the_villager_of_a_cell_is_the_one_who_lived_to_vote(play: Play) -> None:
    for seed in range(8):
        game = play("a", "b", "x", "y", mafia_wins=True, seed=seed)
        dead = next(event.target for event in game.events if event.kind == "death")
        (survivor,) = (seat for seat in game.by_role("villager") if seat.name != dead)
        assert count_games([game]).cells["villager"].to_list() == [survivor.model]


def test_every_game_left_out_is_counted_with_its_reason(play: Play) -> None:
    good = play("a", "b", "c", "c", mafia_wins=True)
    failed = play("a", "b", "c", "c", mafia_wins=True, failure="the endpoint is down")
    seats = (replace(seat, role="doctor") if seat.role == "detective" else seat for seat in good.seats)
    no_detective = replace(good, game_id="no detective", seats=tuple(seats))
    mixed = replace(good, seats=(*good.seats, replace(good.seats[0], name="Erin", model="z")))
    assert good.outcome is not None
    untold = replace(good, outcome=replace(good.outcome, winner=""))
    games = [good, failed, no_detective, mixed, mixed, untold]
    counts = count_games(replace(game, game_id=str(number)) for number, game in enumerate(games))
    assert counts.cells["games"].sum() == 1
    assert counts.excluded == {
        "the game failed": 1,
        "no detective played": 1,
        "several models shared the role of mafioso": 2,
        "their winner is not known": 1,
    }


def test_people_are_one_player_whoever_sat_there(play: Play) -> None:
    some = [play("ann", "ben", "c", "c", mafia_wins=True, seed=seed, source=Source.HUMAN) for seed in range(2)]
    counts = count_games([*some, play("d", "d", "d", "d", mafia_wins=False, seed=5)])
    assert counts.cells.rows() == [("d", "d", "d", 0, 1), ("people", "people", "people", 2, 2)]


def test_adding_counts_loses_nothing(play: Play) -> None:
    one = count_games([play("a", "b", "c", "c", mafia_wins=True, source=Source.SCRIPTED)])
    two = count_games([play("a", "b", "c", "c", mafia_wins=False, failure=why) for why in ("", "down")])
    both = add([one, two, one])
    assert both.cells.rows() == [("a", "b", "c", 2, 3)]
    assert both.sources == {Source.SCRIPTED, Source.MODEL}
    assert both.excluded == {"the game failed": 1}


def test_runs_and_files_count_together(play: Play, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", {"game": "mini-mafia"}) as journal:
        for seed in range(4):
            journal.add_record(play("a", "b", "c", "c", mafia_wins=seed == 0, seed=seed))
    pl.DataFrame([("a", "b", "c", 5, 10)], SCHEMA, orient="row").write_csv(tmp_path / "more.csv")
    assert load_counts([tmp_path / "run", tmp_path / "more.csv"]).cells.rows() == [("a", "b", "c", 6, 14)]


def test_a_run_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        load_counts([tmp_path / "run", tmp_path / "elsewhere" / ".." / "run"])


def test_a_run_without_a_game_to_count_says_why(play: Play, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", {"game": "mini-mafia"}) as journal:
        journal.add_record(play("a", "b", "c", "c", mafia_wins=True, failure="the endpoint is down"))
    with pytest.raises(UsageError, match="1 because the game failed"):
        load_counts([tmp_path / "run"])
