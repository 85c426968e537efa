"""The sides of Mafia and Mini-Mafia."""

from __future__ import annotations

from liescope.benchmark.analyses.sides.declared import Sides
from liescope.benchmark.analyses.sides.tallies import plurality
from liescope.common.colours import COLOURS
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER

SIDES = Sides(
    {
        MAFIOSO: COLOURS["vermillion"],
        MAFIA: COLOURS["vermillion"],
        DETECTIVE: COLOURS["green"],
        VILLAGER: COLOURS["blue"],
        TOWN: COLOURS["blue"],
    },
    tally=plurality,
    united=(MAFIOSO,),
)
