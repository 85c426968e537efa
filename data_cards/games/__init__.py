"""What the card says about each game."""

from __future__ import annotations

from liescope.common.per_game import PerGame
from liescope.data_cards.games import mafia, one_night, werewolf

GAME_TEXTS = PerGame[str](
    "text for the dataset card",
    "data_cards/games/__init__.py",
    {
        "mini-mafia": mafia.MINI_MAFIA,
        "mafia": mafia.MAFIA,
        "werewolf": werewolf.WEREWOLF,
        "dyadic-werewolf": werewolf.DYADIC_WEREWOLF,
        "one-night-werewolf": one_night.ONE_NIGHT,
    },
)
