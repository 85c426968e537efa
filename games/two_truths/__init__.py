"""Two truths and a lie: three players tell in turn, the others guess which of three statements is the lie."""

from __future__ import annotations

from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import one_of_most
from liescope.games.two_truths.rules import PLAYER, PLAYERS, TwoTruths, TwoTruthsSpec
from liescope.games.two_truths.script import answer
from liescope.games.two_truths.words import PROMPTS

GAMES = (
    PlayableGame(
        TwoTruths.name,
        "Two truths and a lie",
        TwoTruthsSpec(),
        TwoTruths,
        design="self",
        states_claims=True,
        prompts=PROMPTS,
        script=answer,
        page=Path(__file__).parent / "page.html",
        card="Three players, each with three facts about themselves. In turn they say something about each, one of it "
        "a lie, and the others guess which. Whoever guesses right, and whoever is not found out, gets a point.",
        sides=Sides({PLAYER: COLOURS["blue"], PLAYERS: COLOURS["blue"]}, tally=one_of_most),
    ),
)
