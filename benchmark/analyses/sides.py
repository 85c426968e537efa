"""The colours of roles and teams, and who knows each other.

A game from elsewhere that Liescope cannot play has no such facts: its roles and teams get colours by their names.
"""

from __future__ import annotations

import polars as pl

from liescope.common.colours import COLOURS, model_colours
from liescope.common.errors import UnknownName
from liescope.games.game_registry import GAMES, SIDES

NOBODY = "nobody"
"""The winner of a game that nobody won."""
UNKNOWN = "not known"
"""The winner, or a role, that the source of a game from elsewhere does not say."""


def side_colour(game: str, name: str) -> str:
    """The colour of a role or team of a game. Raises UndeclaredGame for a game that Liescope plays and that has no
    colours, UnknownName for a role or team without one.
    """
    if name in (NOBODY, UNKNOWN):
        return COLOURS["grey"]
    if game not in GAMES:
        return model_colours([name])[name]
    colours = SIDES[game].colours
    if name not in colours:
        raise UnknownName(f"role or team of {game} with a colour", name, colours)
    return colours[name]


def united_roles() -> pl.DataFrame:
    """The columns game and role: of every game, the roles whose players know each other."""
    rows = [(game, role) for game, sides in SIDES.items() for role in sides.united]
    return pl.DataFrame(rows, {"game": pl.String, "role": pl.String}, orient="row")
