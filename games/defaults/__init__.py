"""What a game has that brings no more than rules and words: prompts, a page for people, colours, a scripted player.

All of it is made of the game's manifest and of the events that a seat sees; nothing comes from another game.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any

from liescope.common.colours import COLOURS
from liescope.games.core import CHOICES, AskKind, Event
from liescope.games.narration import ASSESSED, CHOICE, RULES, SPEECH, PromptFamily, counted, seated, story
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import one_of_most

_FOLDER = Path(__file__).parent
PAGE = _FOLDER / "page.html"
_ASKED = {kind: CHOICE | {"question", "limit"} for kind in CHOICES} | {AskKind.SPEAK: SPEECH} | ASSESSED
_SIDES = ("vermillion", "blue", "green", "purple", "orange", "sky")


@lru_cache
def prompts(game: PlayableGame) -> PromptFamily:
    """Prompts with the rules of the manifest, for whatever the game asks."""

    def facts(setup: Event, seat: str) -> dict[str, Any]:
        options = game.told({**setup.data})
        return {**seated(setup, seat), "title": game.title, "rules": rules(game), "options": options}

    variables = {RULES: frozenset({"name", "others", "composition", "title", "rules", "options"}), **_ASKED}
    rating = frozenset({AskKind.NAME_ROLES})
    return PromptFamily(_FOLDER / "prompts", ("full",), variables, rating, facts, story, frozenset(_ASKED) - rating)


def rules(game: PlayableGame) -> str:
    """The rules in plain sentences, as far as the manifest tells them."""
    return game.rules or card(game)


def card(game: PlayableGame) -> str:
    """A sentence for the dataset card."""
    cards = counted(game.spec.composition().items())
    return game.card or f"{game.title}, a game for {len(game.spec.seats())} players: {cards}."


@lru_cache
def sides(game: PlayableGame) -> Sides:
    """A colour for each team and its roles, those who deceive first; whoever gets most votes goes."""
    roles = sorted(game.roles, key=lambda role: role not in game.deceivers)
    teams = dict(zip(dict.fromkeys(game.teams[role] for role in roles), cycle(_SIDES), strict=False))
    named = {**teams, **{role: teams[game.teams[role]] for role in roles}}
    return Sides({name: COLOURS[colour] for name, colour in named.items()}, tally=one_of_most)
