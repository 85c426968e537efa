"""Designs and seating: which cells there are, and how evenly roles fall on names and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.generate.runs.plan_games import PlanSettings, designed, make_plan, read_cells
from liescope.generate.runs.run_plan import Plan, seating

ROLES = ("mafioso", "detective", "villager")
MODELS = [f"model-{number}" for number in range(10)]


def test_ten_players_and_five_backgrounds_make_the_papers_140_cells_each_player_in_each_role() -> None:
    found = designed("background", ROLES, MODELS, MODELS[:5])
    assert len(found) == len(set(found)) == 140
    assert all(len(set(cell)) <= 2 for cell in found)
    assert sum(len(set(cell)) == 1 for cell in found) == 5
    for role, target, background in product(range(3), MODELS, MODELS[:5]):
        assert tuple(target if place == role else background for place in range(3)) in found


def test_an_unknown_design_names_the_designs_and_only_one_has_backgrounds() -> None:
    with pytest.raises(UnknownName, match="background, factorial, full, self"):
        PlanSettings.of({"design": "backgruond"})
    with pytest.raises(UsageError, match="--background"):
        designed("full", ROLES, MODELS, MODELS[:1])


def test_a_list_of_cells_is_read_in_any_order_of_columns_and_as_often_as_it_names_a_cell(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text("villager,mafioso,detective\nv, m ,d\nv,m,d\nx,y,z\n", encoding="utf-8")
    assert read_cells(file, ROLES) == [("m", "d", "v"), ("m", "d", "v"), ("y", "z", "x")]


def test_games_of_equal_cells_differ() -> None:
    self_play = ("scripted:bold",) * 3
    made, alone = (make_plan("mini-mafia", {}, ["scripted:bold"], "list", [self_play] * n, 8, seed=1) for n in (3, 1))
    games = [made.planned(number) for number in range(len(made))]
    assert len({game.seed for game in games}) == 24
    assert len({made.draw(made.game_id(number)) for number in range(24)}) == 24
    assert [game.seed for game in games[::3]] == [alone.planned(number).seed for number in range(8)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mafioso,detective,vilager\na,b,c\n", "villager"),
        ("mafioso,detective\na,b\n", "lacks the columns villager"),
        ("mafioso,detective,villager\na,b\n", "line 2"),
        ("mafioso,detective,villager\na,b,c\na,,c\n", "line 3"),
        ("mafioso,detective,villager\na,b,c,d\n", "line 2"),
        ("mafioso,detective,villager\n", "no cells"),
        ("", "lacks the columns"),
    ],
)
def test_a_list_that_is_no_list_of_cells_says_where(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        read_cells(file, ROLES)


def test_a_list_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_bytes(b"\xff\xfe\x00\x80")
    for name in ("none.csv", "zip.csv"):
        with pytest.raises(BadData, match=name):
            read_cells(tmp_path / name, ROLES)


@pytest.mark.parametrize("deck", [["m", "d", "v", "v"], ["m", "m", "d", "v", "v", "v", "v"], ["m", "v"]])
def test_in_a_block_every_name_and_every_place_holds_every_card_once(deck: list[str]) -> None:
    names = [f"n{number}" for number in range(len(deck))]
    for seed in range(50):
        block = list(seating(deck, names, Random(seed)))
        assert len(block) == len(deck)
        by_name = {name: sorted(roles[table.index(name)] for table, roles in block) for name in names}
        by_place = [sorted(roles[place] for _, roles in block) for place in range(len(deck))]
        assert all(cards == sorted(deck) for cards in [*by_name.values(), *by_place])


@pytest.mark.parametrize("games", range(1, 14))
def test_roles_are_as_even_over_names_as_the_number_of_games_allows(plan: Callable[..., Plan], games: int) -> None:
    """Each name's count of a role differs from any other name's by one at most, whatever the number of games."""
    made: Plan = plan(games=games)
    held = {cell: Counter[tuple[str, str]]() for cell in made.cells}
    for game in made.schedule():
        held[game.cell].update(zip(game.seats, game.roles, strict=True))
    for cell, role in product(made.cells, ROLES):
        counts = [held[cell][name, role] for name in ("Alice", "Bob", "Charlie", "Diana")]
        assert max(counts) - min(counts) <= 1


def test_over_many_blocks_every_dealing_and_every_order_of_names_comes_up(plan: Callable[..., Plan]) -> None:
    made: Plan = plan(games=400, players=("fake:a",))
    dealt = Counter(tuple(sorted(zip(game.seats, game.roles, strict=True))) for game in made.schedule())
    assert len(dealt) == 12
    assert len({game.seats for game in made.schedule()}) == 24


def test_shuffled_roles_are_dealt_by_the_game_and_fixed_ones_never_change(plan: Callable[..., Plan]) -> None:
    shuffled: Plan = plan(games=200, seating="shuffled", players=("fake:a",))
    assert {game.roles for game in shuffled.schedule()} == {()}
    assert len({tuple(shuffled.make(game).roles.values()) for game in shuffled.schedule()}) == 12
    fixed: Plan = plan(games=20, seating="fixed", players=("fake:a",))
    (roles,) = {tuple(fixed.make(game).roles.items()) for game in fixed.schedule()}
    assert dict(roles) == {"Alice": "mafioso", "Bob": "detective", "Charlie": "villager", "Diana": "villager"}
