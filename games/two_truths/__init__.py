"""Two truths and a lie: one player tells, the others guess which of three statements is the lie."""

from __future__ import annotations

from liescope.games.playable import PlayableGame
from liescope.games.shared_rules import doubted
from liescope.games.two_truths.rules import RULES, TwoTruths, TwoTruthsSpec
from liescope.games.two_truths.script import answer

GAME = PlayableGame(
    TwoTruths.name,
    "Two truths and a lie",
    TwoTruthsSpec(),
    TwoTruths,
    states_claims=True,
    contests=doubted,
    rules=RULES,
    script=answer,
    card="In each turn one player says something about a pet, a city and a month, one of it a lie, and the others "
    "guess which. The guessers win if at least half of all guesses are right.",
)
