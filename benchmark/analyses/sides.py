"""What figures and tables must know of each game: the colours of its roles and teams, and who knows each other.

A new game adds one entry to `SIDES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from liescope.benchmark.analyses.palette import COLOURS
from liescope.common.errors import UnknownName
from liescope.common.per_game import PerGame
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN
from liescope.games.mafia import VILLAGER as TOWNSPERSON
from liescope.games.werewolf import DOCTOR, JESTER, SEER, VILLAGER, VILLAGERS, WEREWOLF, WEREWOLVES

NOBODY = "nobody"
"""The winner of a game that nobody won."""


@dataclass(frozen=True, slots=True)
class Sides:
    """One game. colours: of each of its roles and teams. united: roles whose players know each other and attack
    together.
    """

    colours: Mapping[str, str]
    united: tuple[str, ...] = ()


_MAFIA = Sides(
    {
        MAFIOSO: COLOURS["vermillion"],
        MAFIA: COLOURS["vermillion"],
        DETECTIVE: COLOURS["green"],
        TOWNSPERSON: COLOURS["blue"],
        TOWN: COLOURS["blue"],
    },
    united=(MAFIOSO,),
)
_WEREWOLF = Sides(
    {
        WEREWOLF: COLOURS["vermillion"],
        WEREWOLVES: COLOURS["vermillion"],
        JESTER: COLOURS["orange"],
        DOCTOR: COLOURS["green"],
        SEER: COLOURS["sky"],
        VILLAGER: COLOURS["blue"],
        VILLAGERS: COLOURS["blue"],
    },
    united=(WEREWOLF,),
)
SIDES: PerGame[Sides] = PerGame(
    "the colours of its roles and teams",
    "liescope/benchmark/analyses/sides.py",
    {
        "mafia": _MAFIA,
        "mini-mafia": _MAFIA,
        "werewolf": _WEREWOLF,
        "dyadic-werewolf": _WEREWOLF,
        "one-night-werewolf": _WEREWOLF,
    },
)


def side_colour(game: str, name: str) -> str:
    """The colour of a role or team of a game. Raises UndeclaredGame for a game without colours, UnknownName for a role
    or team without one.
    """
    colours = {**SIDES[game].colours, NOBODY: COLOURS["grey"]}
    if name not in colours:
        raise UnknownName(f"role or team of {game} with a colour", name, colours)
    return colours[name]


def united_roles() -> pl.DataFrame:
    """The columns game and role: of every game, the roles whose players know each other."""
    rows = [(game, role) for game, sides in SIDES.items() for role in sides.united]
    return pl.DataFrame(rows, {"game": pl.String, "role": pl.String}, orient="row")
