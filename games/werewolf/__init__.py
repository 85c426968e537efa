"""Werewolf, with a jester and without (the control of the Triadic Werewolf paper)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from liescope.common.colours import COLOURS
from liescope.games.playable import PlayableGame, Sides
from liescope.games.shared_rules import more_than_half
from liescope.games.werewolf.rules import (
    DOCTOR,
    DYADIC,
    JESTER,
    SEER,
    TRIADIC,
    VILLAGER,
    VILLAGERS,
    WEREWOLF,
    WEREWOLVES,
    DyadicWerewolf,
    Werewolf,
    exiled_jesters,
)
from liescope.games.werewolf.script import answer
from liescope.games.werewolf.words import PROMPTS, WORDS

_DEBATE = (
    "Werewolves, a doctor and villagers, whose roles are hidden, debate by bidding for the floor, vote with a reason "
    "that everybody hears, answer, and vote again; a strict majority exiles. "
)
_WEREWOLF = PlayableGame(
    Werewolf.name,
    "Werewolf",
    TRIADIC,
    Werewolf,
    "self",
    learner=JESTER,
    contests=exiled_jesters,
    killers=frozenset({WEREWOLF}),
    protector=DOCTOR,
    end_when_exiled=frozenset({JESTER}),
    investigators=frozenset({SEER}),
    bystanders=frozenset({VILLAGER}),
    words=WORDS,
    prompts=PROMPTS,
    script=answer,
    page=Path(__file__).parent / "page.html",
    card=f"{_DEBATE}A jester wins alone, and at once, by being exiled, so that looking suspicious may mean either of "
    "two things.",
    sides=Sides(
        {
            WEREWOLF: COLOURS["vermillion"],
            WEREWOLVES: COLOURS["vermillion"],
            JESTER: COLOURS["orange"],
            DOCTOR: COLOURS["green"],
            SEER: COLOURS["sky"],
            VILLAGER: COLOURS["blue"],
            VILLAGERS: COLOURS["blue"],
        },
        tally=more_than_half,
        united=(WEREWOLF,),
    ),
)
_DYADIC = replace(
    _WEREWOLF,
    name=DyadicWerewolf.name,
    spec=DYADIC,
    make=DyadicWerewolf,
    learner="",
    contests=None,
    end_when_exiled=frozenset(),
    fixed=frozenset({"jesters"}),
    card=f"{_DEBATE}There is no jester.",
)
GAMES = (_WEREWOLF, _DYADIC)
