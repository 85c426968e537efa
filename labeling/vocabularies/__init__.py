"""The words of each game's roles and teams."""

from __future__ import annotations

from liescope.common.per_game import PerGame
from liescope.labeling.vocabularies import mafia, one_night, werewolf
from liescope.labeling.vocabulary import Vocabulary

VOCABULARIES = PerGame[Vocabulary](
    "words for its roles",
    "labeling/vocabularies/__init__.py",
    {
        "mini-mafia": mafia.WORDS,
        "mafia": mafia.WORDS,
        "werewolf": werewolf.WORDS,
        "dyadic-werewolf": werewolf.WORDS,
        "one-night-werewolf": one_night.WORDS,
    },
)
