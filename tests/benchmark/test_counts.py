"""Counts: every game once or left out with a reason, files read or named with the wrong line, no game counted twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from liescope.benchmark.capability.count_sources import (
    load_conditions,
    read_counts,
)
from liescope.benchmark.capability.counts import SCHEMA, add
from liescope.benchmark.capability.forms import PLAYERS
from liescope.common.errors import BadData, UsageError
from liescope.games import Source
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.benchmark.conftest import count_games
from tests.benchmark.published import bundled, published_counts

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
    untold = replace(good, outcome=replace(good.outcome, winner=""))
    place = {"run": "r", "game": "0", "root": "0", "step": 3, "seat": "Alice", "group": "", "number": 0, "events": 4}
    goes_on = replace(good, meta={"fork": place})
    games = [good, failed, no_detective, mixed, mixed, untold, goes_on]
    counts = count_games(replace(game, game_id=str(number)) for number, game in enumerate(games))
    assert counts.cells["games"].sum() == 1
    assert counts.excluded == {
        "the game failed": 1,
        "they go on from a recorded game or play it again": 1,
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
    assert load_conditions([tmp_path / "run", tmp_path / "more.csv"], pool=True, independent=True)[""].cells.rows() == [
        ("a", "b", "c", 6, 14)
    ]


def test_a_run_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        load_conditions([tmp_path / "run", tmp_path / "elsewhere" / ".." / "run"], pool=True)


def test_a_run_without_a_game_to_count_says_why(play: Play, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "run", {"game": "mini-mafia"}) as journal:
        journal.add_record(play("a", "b", "c", "c", mafia_wins=True, failure="the endpoint is down"))
    with pytest.raises(UsageError, match="1 because the game failed"):
        load_conditions([tmp_path / "run"], pool=True)


HEAD = "mafioso,detective,villager,mafia_wins,games\n"


def test_columns_may_stand_in_any_order_and_equal_cells_add_up(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    text = "games,note,villager,detective,mafioso,mafia_wins\n10,x,c, b ,a,4\n\n5,,c,b,a,1\n7.0,,c,b,é,0\n"
    path.write_text(text, encoding="utf-8-sig")
    cells = read_counts(path).cells
    assert cells.rows() == [("a", "b", "c", 5, 15), ("é", "b", "c", 0, 7)]
    assert cells.schema == SCHEMA


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "no counts"),
        (HEAD, "no counts"),
        ("mafioso,detective,villager,wins,games\na,b,c,1,2\n", "'mafia_wins'.*this file has.*wins"),
        (HEAD + "a,b,c,1,2\na,b,c,3,2\n", "line 3: 3 mafia wins in 2"),
        (HEAD + "a,b,c,0,0\n", "line 2"),
        (HEAD + "a,b,c,-1,2\n", "line 2: mafia_wins is '-1'"),
        (HEAD + "a,b,c,1.5,2\n", "line 2: mafia_wins is '1.5'"),
        (HEAD + "a,b,c,1,many\n", "line 2: games is 'many'"),
        (HEAD + "a,b,c,1,\n", "line 2: games"),
        (HEAD + "a,b,c,1," + "9" * 40 + "\n", "line 2: games"),
        (HEAD + "a,,c,1,2\n", "line 2: a cell needs the names"),
        (HEAD + "a,b,c,1\n", "line 2: it has 4 cells, and the first line 5"),
        (HEAD + "a,b,c,1,2,3\n", "line 2: it has 6 cells, and the first line 5"),
        ("games," + HEAD + "1,a,b,c,1,2\n", "two columns are called games"),
    ],
)
def test_what_cannot_be_counts_is_named(text: str, names: str, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(BadData, match=names):
        read_counts(tmp_path / "counts.csv")


@pytest.mark.parametrize(("name", "sign"), [("counts.csv", ";"), ("counts.tsv", "\t")])
def test_counts_may_come_as_any_table_that_imports_read(name: str, sign: str, tmp_path: Path) -> None:
    cells = pl.DataFrame([("a", "b", "c", 1, 2), ("b", "a", "c", 0, 3)], SCHEMA, orient="row")
    cells.write_csv(tmp_path / name, separator=sign)
    cells.write_parquet(tmp_path / "counts.parquet")
    cells.write_ndjson(tmp_path / "counts.jsonl")
    for file in (name, "counts.parquet", "counts.jsonl"):
        assert read_counts(tmp_path / file).cells.equals(cells)


def test_a_file_that_is_not_there_or_not_text_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*none\.csv"):
        read_counts(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\x80\x81\n")
    with pytest.raises(BadData, match="UTF-8"):
        read_counts(tmp_path / "binary.csv")


def test_the_bundled_figures_equal_the_published_files(shared_data: Path) -> None:
    printed = pl.read_csv(shared_data / "mini_mafia" / "win_counts.csv").unpivot(index=["capability", "model"])
    compared = dict(zip(("deceive", "disclose", "detect"), PLAYERS, strict=True))
    cells = {
        tuple(model if role == compared[capability.casefold()] else background for role in PLAYERS): (
            wins if capability.casefold() == "deceive" else 100 - wins
        )
        for capability, model, background, wins in printed.iter_rows()
    }
    assert cells == {tuple(row[:3]): row[3] for row in published_counts().iter_rows()}
    reference = json.loads((shared_data / "mini_mafia" / "reference.json").read_text(encoding="utf-8"))
    for row in bundled("published").to_dicts():
        theirs = reference["capability"]["scores"][row["model"]]
        for name, capability in (("m", "Deceive"), ("d", "Disclose"), ("v", "Detect")):
            assert row[name] == pytest.approx(theirs[capability], abs=1e-6)
            assert row[f"{name}_sd"] == pytest.approx(theirs[f"{capability}_Error"], abs=1e-6)


def test_a_file_of_counts_is_not_added_to_games_that_it_may_hold_unless_it_is_said_to_hold_others(
    play: Play, tmp_path: Path
) -> None:
    with Journal.create(tmp_path / "run", {"game": "mini-mafia"}) as journal:
        journal.add_record(play("a", "b", "c", "c", mafia_wins=True))
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(HEAD + "a,b,c,1,3\n")
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(UsageError, match=r"one\.csv does not say which games .*two\.csv would count twice"):
        load_conditions(files)
    with pytest.raises(UsageError, match="--independent"):
        load_conditions([tmp_path / "run", files[0]], pool=True)
    assert len(load_conditions([tmp_path / "run", files[0]])) == 2
    (counted,) = load_conditions(files, independent=True).values()
    assert counted.cells.rows() == [("a", "b", "c", 2, 6)]
