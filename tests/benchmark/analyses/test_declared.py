"""Declared tables and figures: the order of rows, colours of roles, curves, conditions apart."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from matplotlib.figure import Figure

from liescope.benchmark.analyses.analysis import Means
from liescope.benchmark.analyses.analysis_figures import Curves
from liescope.benchmark.analyses.conditions_of_play import NOBODY, side_colour, united_roles
from liescope.common.colours import MODELS
from liescope.common.errors import UnknownName
from liescope.games.game_registry import GAMES, SIDES
from liescope.games.playable import PlayableGame
from tests.benchmark.analyses.made import made, table_of

KEYS = ("model", "kind", "turn")


@pytest.mark.parametrize("sort", [(), ("kind",), ("turn",)])
def test_rows_have_one_order_however_they_were_counted(sort: tuple[str, ...]) -> None:
    declared = Means("statements", "value", KEYS, order={"kind": ("late", "early")}, sort=sort)
    rows = list(product(("bo", "ada"), ("early", "late"), ("b", "a")))
    tables = [
        declared.in_one_order(pl.DataFrame(rows, schema=KEYS, orient="row").sample(fraction=1, shuffle=True, seed=seed))
        for seed in range(10)
    ]
    places = {"kind": ["late", "early"].index, "model": ["ada", "bo"].index, "turn": ["a", "b"].index}
    by = dict.fromkeys((*sort, *KEYS))
    expected = sorted(rows, key=lambda row: [places[key](row[KEYS.index(key)]) for key in by])
    assert all(table.rows() == expected for table in tables)


@pytest.mark.parametrize("game", [pytest.param(game, id=name) for name, game in GAMES.items()])
def test_every_role_and_team_has_a_colour_and_united_roles_are_roles(game: PlayableGame) -> None:
    for name in (*game.roles, *game.teams.values(), NOBODY):
        assert side_colour(game.name, name).startswith("#")
    assert set(SIDES[game.name].united) <= set(game.roles)


def test_nothing_is_coloured_as_if_it_were_another_game_or_role() -> None:
    assert side_colour("liar's dice", "jester") in MODELS
    with pytest.raises(UnknownName, match="jester"):
        side_colour("mafia", "jester")
    assert ("mafia", "mafioso") in united_roles().rows()


def drawn(series: int, days: int) -> Figure:
    rows = [(f"cell {n}", day, n / series) for n in range(series) for day in range(1, days + 1)]
    table = pl.DataFrame(rows, ["cell", "day", "mean"], orient="row")
    colours = dict.fromkeys(table["cell"], "#0072B2")
    return Curves("day", ("day", "share"), "cell", "", colours)(table)


def test_curves_of_one_colour_differ_in_their_strokes() -> None:
    (panel,) = drawn(3, days=4).axes
    assert len({line.get_linestyle() for line in panel.lines}) == 3


def test_days_are_whole_and_a_single_day_is_still_seen() -> None:
    for series in (2, 7):
        (panel,) = drawn(series, days=1).axes
        assert all(line.get_marker() == "o" for line in panel.lines)
        assert all(float(tick).is_integer() for tick in panel.get_xticks())
    (panel,) = drawn(2, days=3).axes
    assert all(float(tick).is_integer() for tick in panel.get_xticks())


win_rates = table_of("win_rates")


def test_win_rates_are_of_one_condition() -> None:
    played = [
        {"game_id": f"{at}{n}", "condition": at, "winner": "mafia" if n < won else "town", "lineup": "m"}
        for at, won, of in (("rounds 2", 3, 10), ("rounds 8", 7, 12))
        for n in range(of)
    ]
    frames = made(games=played, seats=[{**game, "team": team} for game in played for team in ("mafia", "town")])
    rates = win_rates(frames).filter(faction="mafia", model="m")
    assert rates.select("condition", "wins", "games").rows() == [("rounds 2", 3, 10), ("rounds 8", 7, 12)]
