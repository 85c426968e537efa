"""Cheat: cards laid face down under a claim, which others may call."""

from __future__ import annotations

from liescope.games.cheat.rules import Cheat, CheatSpec
from liescope.games.cheat.script import answer
from liescope.games.playable import PlayableGame
from liescope.games.shared_rules import doubted

GAME = PlayableGame(
    Cheat.name,
    "Cheat",
    CheatSpec(),
    Cheat,
    states_claims=True,
    contests=doubted,
    script=answer,
    card="Players lay cards face down and say which they are; others may call it a lie, and then the cards are "
    "turned up. Whoever gets rid of all cards wins.",
    rules="""\
Each player has a hand of cards that nobody else sees; all hands are equally large, and cards left over are put aside.
The players take turns. In each turn a rank is due: aces first, then kings, and so on down the pack, then aces again.

The player whose turn it is lays one to four cards face down on the pile: cards of the rank that is due, of one other
rank, or of both. Everybody sees how many. Then the player says which cards they are, and should say that all are of the
rank that is due. That may be a lie.

The others then decide at the same time whether to call it. If somebody does, the cards just laid are turned up. If all
are of the rank that is due, whoever called takes the whole pile (of several callers, the next in turn); if not, the
player who laid them takes it. What was said does not count, only the cards.

Whoever has no cards left after that wins. After the last turn, whoever has the fewest cards wins.""",
)
