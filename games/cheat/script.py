"""Scripted players of cheat. With a card of the rank that is due, a player lays another one as well, or instead, with
the chance that is the logistic function of the skill m; without one it has to. What it says is always that all are of
that rank. It calls by how a claim sounds, the more so the larger v, and whenever its own cards show a lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from liescope.games.cheat.rules import CALL, PASS, PLAYER
from liescope.games.cheat.words import cards, read_cards
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.script.persona import Persona, chance, draws
from liescope.games.script.tone import assess, doubt, toned

_SAYS = ("{}", "I lay {}", "these are {}", "here are {}", "{} from me", "that makes {}")
_WORDS = {"1": "one", "2": "two", "3": "three", "4": "four"}
CAUTION = -1.0  # added to the log-odds of a call, which may cost a pile


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player, the same for the same place in the game."""
    random = draws(who.name, ask.game, ask.seat, ask.day, ask.phase.value, ask.kind.value, ask.about)
    facts = _facts([event for event in view if ask.about is None or event.index < ask.about])
    laid = read_cards(facts.get("choice", ""))
    lies = laid.keys() != {facts.get("due")}
    match ask.kind:
        case AskKind.CHOOSE if CALL in ask.options:
            return Reply(choice=CALL if random.random() < _doubts(who, facts, view[-1]) else PASS)
        case AskKind.CHOOSE:
            honest = [lay for lay in ask.options if read_cards(lay).keys() == {facts["due"]}]
            if honest and random.random() >= chance(who.skills.m):
                return Reply(choice=honest[-1])
            return Reply(choice=random.choice([lay for lay in ask.options if lay not in honest] or honest))
        case AskKind.SPEAK:
            words = cards({facts["due"]: laid.total()})
            words = words if random.random() < 0.5 else f"{_WORDS[words[0]]}{words[1:]}"
            return toned(random.choice(_SAYS).format(words), lies, who.skills, random, "laid")
        case AskKind.NAME_ROLES:
            return Reply(form=dict.fromkeys(ask.options, (PLAYER,)))
        case AskKind.SELF_ASSESSMENT | AskKind.PEER_ASSESSMENT:
            return assess(ask, view, lambda _: lies, who.skills, random)
    return Reply(problem=f"a scripted player of cheat has no answer to {ask.kind.value}")


def _facts(view: Sequence[Event]) -> Mapping[str, Any]:
    """What the seat was last told: the rank that is due, how many cards were laid as such, its hand and choice."""
    facts: dict[str, Any] = {}
    for event in view:
        if event.kind in (EventKind.SETUP, EventKind.ACT):
            facts |= event.data
        elif event.kind is EventKind.CHOICE and event.audience:
            facts |= event.data
            facts["hand"] = Counter(facts["hand"]) - read_cards(facts["choice"])
    return facts


def _doubts(who: Persona, facts: Mapping[str, Any], said: Event) -> float:
    """How likely the player is to call what was just said."""
    if facts["hand"].get(facts["due"], 0) + facts["laid"] > facts["suits"]:
        return 1.0
    return doubt(said.text, who.skills, CAUTION) if said.kind is EventKind.STATEMENT else chance(CAUTION)
