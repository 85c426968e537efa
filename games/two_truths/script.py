"""Scripted players of two truths and a lie: they say what they are told to, and guess by the tone of voice."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.script.persona import Persona, draws
from liescope.games.script.tone import assess, doubt, toned
from liescope.games.two_truths.rules import GUESSER, TELLER, TOPICS

_SAYS = {
    "pet": ("I keep a {}", "my pet is a {}", "there is a {} at home"),
    "city": ("I live in {}", "my home is {}", "you would find me in {}"),
    "month": ("I was born in {}", "my birthday is in {}", "I came into the world in {}"),
}


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player, the same for the same place in the game."""
    random = draws(who.name, ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about)
    match ask.kind:
        case AskKind.SPEAK:
            topic, value, lies = _told_to(view, ask.seat)
            said = random.choice([one for one in TOPICS[topic] if one != value]) if lies else value
            return toned(random.choice(_SAYS[topic]).format(said), lies, who.skills, random, topic)
        case AskKind.CHOOSE:
            told = [event.text for event in view if event.kind is EventKind.STATEMENT][-len(TOPICS) :]
            doubts = [doubt(text, who.skills) for text in told] or [1.0]
            return Reply(choice=random.choices(ask.options[: len(doubts)], doubts)[0])
        case AskKind.NAME_ROLES:
            teller = next(event.actor for event in view if event.kind is EventKind.ACT and event.actor)
            return Reply(form={name: (TELLER if name == teller else GUESSER,) for name in ask.options})
        case AskKind.SELF_ASSESSMENT | AskKind.PEER_ASSESSMENT:
            return assess(ask, view, lambda event: _told_to(view, ask.seat, event.index)[2], who.skills, random)
    return Reply(problem=f"a scripted player of two truths and a lie has no answer to {ask.kind.value}")


def _told_to(view: Sequence[Event], seat: str, before: float = inf) -> tuple[str, str, bool]:
    """What the seat was last told to say before an event: the topic, what is true, whether to lie."""
    told = (event for event in reversed(view) if event.kind is EventKind.ACT and event.audience == (seat,))
    data = dict(next(event for event in told if event.index < before).data)
    return str(data["topic"]), str(data["value"]), bool(data["lie"])
