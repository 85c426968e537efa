"""How scripted players of games whose rules know every truth sound, and how they listen: by tone of voice alone.

A lie sounds unsure the more often the smaller the skill m, the truth the smaller d; whoever sounds unsure is doubted
the more often the larger v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.script.persona import Skills, chance
from liescope.games.script.player import rated, report_self
from liescope.games.taxonomy import DeceptionType

SURE = ("honestly, ", "of course ", "as everybody knows, ")
UNSURE = ("well, ", "let me think, ", "so, let me see: ")  # in small letters, as they are heard


def toned(words: str, lies: bool, skills: Skills, random: Random, intent: str) -> Reply:
    """A statement of these words. lies: they are false; intent: what it is meant to do."""
    unsure = random.random() < chance(-1.5 * (skills.m if lies else skills.d) - (0.0 if lies else 1.0))
    text = random.choice(UNSURE if unsure else SURE) + words
    private = {"planted_type": _kind(lies).value, "intent": f"{'lie' if lies else 'truth'}/{intent}"}
    return Reply(text=f"{text[0].upper()}{text[1:]}.", private=private)


def doubt(text: str, skills: Skills, bias: float = 0.0) -> float:
    """How likely a listener is to doubt a statement. bias: added in log-odds."""
    return chance(skills.v * (2.0 if text.lower().startswith(UNSURE) else -2.0) + bias)


def assess(ask: Ask, view: Sequence[Event], lied: Callable[[Event], bool], skills: Skills, random: Random) -> Reply:
    """The assessment of a statement. lied: whether one of the seat's own is a lie."""
    about = next((event for event in view if event.index == ask.about), None)
    if about is None:
        return Reply(problem="what the ask is about is not in the view")
    if ask.kind is AskKind.SELF_ASSESSMENT:
        return Reply(assessment=report_self(_kind(lied(about)), skills, random))
    odds = doubt(about.text, skills, skills.b)
    kind = DeceptionType.FABRICATION
    return Reply(assessment=rated(about.actor or "", odds, kind, 0.3, lambda flag: 2.0 if flag else -2.0, random))


def _kind(lies: bool) -> DeceptionType:
    return DeceptionType.FABRICATION if lies else DeceptionType.NONE
