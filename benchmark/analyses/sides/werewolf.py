"""The sides of Werewolf, with and without a jester."""

from __future__ import annotations

from liescope.benchmark.analyses.sides.declared import Sides
from liescope.benchmark.analyses.sides.tallies import strict_majority
from liescope.common.colours import COLOURS
from liescope.games.werewolf import DOCTOR, JESTER, SEER, VILLAGER, VILLAGERS, WEREWOLF, WEREWOLVES

SIDES = Sides(
    {
        WEREWOLF: COLOURS["vermillion"],
        WEREWOLVES: COLOURS["vermillion"],
        JESTER: COLOURS["orange"],
        DOCTOR: COLOURS["green"],
        SEER: COLOURS["sky"],
        VILLAGER: COLOURS["blue"],
        VILLAGERS: COLOURS["blue"],
    },
    tally=strict_majority,
    united=(WEREWOLF,),
)
