"""Deal: one sells a used thing whose condition only the seller knows, one or two may buy it."""

from __future__ import annotations

from liescope.games.deal.rules import RULES, Deal, DealSpec
from liescope.games.deal.script import answer
from liescope.games.playable import PlayableGame
from liescope.games.shared_rules import doubted

GAME = PlayableGame(
    Deal.name,
    "Deal",
    DealSpec(),
    Deal,
    states_claims=True,
    contests=doubted,
    rules=RULES,
    script=answer,
    card="A seller knows the condition of a used thing, buyers what a perfect one is worth to them. They talk, offer "
    "and accept; whoever has more of the surplus wins.",
)
