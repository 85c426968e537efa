"""Two truths and a lie: one tells, the others guess which of three statements is the lie."""

from __future__ import annotations

from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import one_of_most
from liescope.games.two_truths.rules import GUESSER, GUESSERS, TELLER, TwoTruths, TwoTruthsSpec
from liescope.games.two_truths.script import answer
from liescope.games.two_truths.words import PROMPTS

GAMES = (
    PlayableGame(
        TwoTruths.name,
        "Two truths and a lie",
        TwoTruthsSpec(),
        TwoTruths,
        states_claims=True,
        prompts=PROMPTS,
        script=answer,
        page=Path(__file__).parent / "page.html",
        card="In each turn the teller says something about a pet, a city and a month, one of it a lie, and the others "
        "guess which. The guessers win if at least half of all guesses are right.",
        sides=Sides(
            {TELLER: COLOURS["vermillion"], GUESSER: COLOURS["blue"], GUESSERS: COLOURS["blue"]}, tally=one_of_most
        ),
    ),
)
