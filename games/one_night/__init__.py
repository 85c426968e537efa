"""One-night werewolf: one night, one discussion, one vote, and face-down cards in the centre."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.one_night.rules import (
    NEEDED,
    SEER,
    TABLE,
    VILLAGER,
    VILLAGERS,
    WEREWOLF,
    WEREWOLVES,
    OneNightWerewolf,
)
from liescope.games.one_night.script import answer
from liescope.games.one_night.words import PROMPTS, WORDS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import all_with_most

GAMES = (
    PlayableGame(
        OneNightWerewolf.name,
        "One-night werewolf",
        TABLE,
        OneNightWerewolf,
        investigators=frozenset({SEER}),
        bystanders=frozenset({VILLAGER}),
        words=WORDS,
        prompts=PROMPTS,
        script=answer,
        page=Path(__file__).parent / "page.html",
        card="Werewolves, a seer and villagers, with some cards in the centre. At night the werewolves learn of each "
        "other and the seer looks at a card; then the players talk in rounds and vote once. The villagers win if a "
        "werewolf is exiled.",
        sides=Sides(
            {
                WEREWOLF: COLOURS["vermillion"],
                WEREWOLVES: COLOURS["vermillion"],
                SEER: COLOURS["sky"],
                VILLAGER: COLOURS["blue"],
                VILLAGERS: COLOURS["blue"],
            },
            tally=partial(all_with_most, needed=NEEDED),
            united=(WEREWOLF,),
        ),
    ),
)
