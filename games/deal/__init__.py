"""Deal: one sells a used thing whose condition only the seller knows, one or two may buy it."""

from __future__ import annotations

from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.deal.rules import BUYER, BUYERS, SELLER, SELLERS, Deal, DealSpec
from liescope.games.deal.script import answer
from liescope.games.deal.words import PROMPTS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import one_of_most

GAMES = (
    PlayableGame(
        Deal.name,
        "Deal",
        DealSpec(),
        Deal,
        states_claims=True,
        prompts=PROMPTS,
        script=answer,
        page=Path(__file__).parent / "page.html",
        card="A seller knows the condition of a used thing, and buyers know what a perfect one is worth to them. They "
        "talk, offer and accept; whoever has more of the surplus wins.",
        sides=Sides(
            {
                SELLER: COLOURS["vermillion"],
                SELLERS: COLOURS["vermillion"],
                BUYER: COLOURS["blue"],
                BUYERS: COLOURS["blue"],
            },
            tally=one_of_most,
        ),
    ),
)
