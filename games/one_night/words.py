"""The words of one-night werewolf: Werewolf's for the roles they share, and words for looking at cards."""

from __future__ import annotations

from dataclasses import replace

from liescope.games.one_night.rules import SEER, VILLAGER, VILLAGERS, WEREWOLF
from liescope.games.vocabulary import I_HAVE, NAME
from liescope.games.werewolf import words as werewolf

_VERBS = "looked at|peeked at|took a (?:look|peek) at|viewed|saw|flipped|turned over|checked|inspected"
_OF_A_CARD = rf"(?P<target>{NAME})(?:'s? (?:card|role|identity)|(?=[,.;:]| and | last night| in the night))"

WORDS = replace(
    werewolf.WORDS,
    evil=WEREWOLF,
    guilt=frozenset({WEREWOLF}),
    innocence=frozenset({VILLAGERS, VILLAGER}),
    denials={WEREWOLF: VILLAGERS, VILLAGERS: WEREWOLF},
    protects=False,
    seer=SEER,
    looked=rf"{I_HAVE} (?:{_VERBS}) {_OF_A_CARD}",
    trigger=f"{werewolf.WORDS.trigger}|look|peek|card|saw",
)
