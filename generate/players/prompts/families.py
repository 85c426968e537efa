"""The prompts of each game."""

from __future__ import annotations

from liescope.common.per_game import PerGame
from liescope.generate.players.prompts import mafia, one_night, werewolf
from liescope.generate.players.prompts.family import Family

FAMILIES = PerGame[Family](
    "prompts",
    "generate/players/prompts/families.py",
    {
        "mini-mafia": mafia.FAMILY,
        "mafia": mafia.FAMILY,
        "werewolf": werewolf.FAMILY,
        "dyadic-werewolf": werewolf.FAMILY,
        "one-night-werewolf": one_night.FAMILY,
    },
)
