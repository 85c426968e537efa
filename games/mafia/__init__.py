"""Mafia, and Mini-Mafia, one configuration of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.mafia.rules import (
    DETECTIVE,
    MAFIA,
    MAFIOSO,
    MINI_MAFIA,
    TOWN,
    VILLAGER,
    Mafia,
    MafiaSpec,
    MiniMafia,
)
from liescope.games.mafia.script import answer
from liescope.games.mafia.words import PROMPTS, WORDS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import one_of_most

_MAFIA = PlayableGame(
    Mafia.name,
    "Mafia",
    MafiaSpec(),
    Mafia,
    fixed=frozenset({"spared"}),
    killers=frozenset({MAFIOSO}),
    investigators=frozenset({DETECTIVE}),
    bystanders=frozenset({VILLAGER}),
    words=WORDS,
    prompts=PROMPTS,
    script=answer,
    page=Path(__file__).parent / "page.html",
    card="One or more mafiosos, one or more detectives, and villagers, all with hidden roles. The mafiosos try to get "
    "the others voted out or killed; detectives learn roles at night, and whoever gets the most votes by day is "
    "arrested.",
    sides=Sides(
        {
            MAFIOSO: COLOURS["vermillion"],
            MAFIA: COLOURS["vermillion"],
            DETECTIVE: COLOURS["green"],
            VILLAGER: COLOURS["blue"],
            TOWN: COLOURS["blue"],
        },
        tally=one_of_most,
        united=(MAFIOSO,),
    ),
)
_MINI_MAFIA = replace(
    _MAFIA,
    name=MiniMafia.name,
    spec=MINI_MAFIA,
    make=MiniMafia,
    fixed=frozenset({"mafiosos", "detectives", "villagers", "days"}),
    card="Four players: a mafioso, a detective who knows the mafioso, and two villagers, one of whom dies before the "
    "only day. After two rounds of talk one vote decides who wins.",
)
GAMES = (_MINI_MAFIA, _MAFIA)
