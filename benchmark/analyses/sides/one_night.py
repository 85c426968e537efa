"""The sides of one-night werewolf."""

from __future__ import annotations

from liescope.benchmark.analyses.sides.declared import Sides
from liescope.benchmark.analyses.sides.tallies import all_with_most
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
    tally=all_with_most,
    united=(WEREWOLF,),
)
