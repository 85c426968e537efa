"""The sides of one-night werewolf."""

from __future__ import annotations

from liescope.benchmark.analyses.sides.declared import Sides
from liescope.common.colours import COLOURS
from liescope.games.one_night import SEER, VILLAGER, VILLAGERS, WEREWOLF, WEREWOLVES

SIDES = Sides(
    {
        WEREWOLF: COLOURS["vermillion"],
        WEREWOLVES: COLOURS["vermillion"],
        SEER: COLOURS["sky"],
        VILLAGER: COLOURS["blue"],
        VILLAGERS: COLOURS["blue"],
    },
    united=(WEREWOLF,),
)
