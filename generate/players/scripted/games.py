"""How scripted players answer in each game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liescope.common.per_game import PerGame
from liescope.games.core import Ask, Event, Reply
from liescope.generate.players.scripted.mafia import answer_mafia
from liescope.generate.players.scripted.one_night.player import answer_one_night
from liescope.generate.players.scripted.skills import Skills
from liescope.generate.players.scripted.werewolf.player import answer_werewolf

Answer = Callable[[str, Skills, Ask, Sequence[Event]], Reply]
"""From a player's name and skills, an ask and the seat's view to the reply."""

ANSWERS = PerGame[Answer](
    "scripted player",
    "generate/players/scripted/games.py",
    {
        "mini-mafia": answer_mafia,
        "mafia": answer_mafia,
        "werewolf": answer_werewolf,
        "dyadic-werewolf": answer_werewolf,
        "one-night-werewolf": answer_one_night,
    },
)
