"""Every game that can be played has what figures and tables must know of it."""

from __future__ import annotations

import pytest

from liescope.benchmark.analyses.conditions_of_play import NOBODY, side_colour, united_roles
from liescope.common.colours import MODELS
from liescope.common.errors import UnknownName
from liescope.games.game_registry import GAMES, SIDES
from liescope.games.playable import PlayableGame


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
