"""Rule-based players with planted skills and no network access: `scripted:novice`, `scripted:bold?m=1.5`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.game_registry import SCRIPTS
from liescope.games.record import Source
from liescope.games.script.persona import Persona, Skills, draws, parse_spec
from liescope.games.vocabulary import FoundClaim
from liescope.generate.players.player_protocol import AtOnce, PlayerContext
from liescope.labeling.beliefs import believed
from liescope.labeling.claims import find_claims
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS, tag

_SLIP = 0.12  # how often a rater misses or adds a tag, or mistakes the order
_NOTHING = Reply(problem="what the ask is about is not in the view")


class ScriptedPlayer(AtOnce):
    """Answers every ask from nothing but the seat's view and the planted skills, and keeps no state: its random draws
    depend on the game's id, the place in the game, the seat, the kind of ask and the spec.

    game: the name of the game that it plays. Raises UndeclaredGame for a game without scripted players.
    """

    source = Source.SCRIPTED

    def __init__(self, model: str, skills: Skills, game: str) -> None:
        self.model = model
        self.skills = skills
        self._who = Persona(model, skills, find_claims)
        self._game = game
        self._script = SCRIPTS[game]

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Never suspends. A statement's `private` holds planted_type, a name of the taxonomy, and intent, its moves."""
        return self.say(ask, view)

    def say(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """The reply of `answer`, without an event loop."""
        if ask.kind is AskKind.BELIEFS:
            every = {claim: believed(FoundClaim.of(claim), ask.seat, self._game, view) for claim in ask.options}
            return Reply(form={claim: (verdict,) for claim, verdict in every.items()})
        if ask.kind is AskKind.SECOND_ORDER:
            return Reply(form=suspects(ask, view))
        if ask.kind is AskKind.SUMMARY:
            votes = [f"{event.actor} voted for {event.target}." for event in view if event.kind is EventKind.VOTE]
            return Reply(text=" ".join([f"I am {ask.seat}.", *votes]))
        if ask.kind is not AskKind.TAG_LESSON:
            return self._script(self._who, ask, view)
        lesson = next((event.text for event in reversed(view) if event.index == ask.about), None)
        if lesson is None:
            return _NOTHING
        place = ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, lesson
        return Reply(form=tag_lesson(lesson, draws(self.model, *place)))


def open_scripted(argument: str, context: PlayerContext) -> ScriptedPlayer:
    """The player of `scripted:ARGUMENT`. Raises UnknownName or UsageError for a spec that cannot be read."""
    return ScriptedPlayer(*parse_spec(argument), context.game)


def suspects(ask: Ask, view: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """For each other player, whom it last voted for or, since then, named first; else the one that was named most."""
    table = (*ask.options, ask.seat)
    last: dict[str, str] = {}
    named: Counter[str] = Counter()
    for event in view:
        if event.kind is EventKind.STATEMENT:
            of = [name for name in table if name != event.actor and re.search(rf"\b{re.escape(name)}\b", event.text)]
            heard = sorted(of, key=event.text.find)[:1]
        else:
            heard = [event.target or ""] if event.kind is EventKind.VOTE else []
        named.update(heard)
        if heard and heard[0] in table:
            last[event.actor or ""] = heard[0]
    said = {name: max((one for one in table if one != name), key=lambda one: named[one]) for name in ask.options}
    return {name: (last.get(name, whom),) for name, whom in said.items()}


def tag_lesson(text: str, random: Random) -> dict[str, tuple[str, ...]]:
    """The rules' tags with some errors, like an independent rater that mostly agrees."""
    tags = tag(text)
    categories = [name for name in tags.categories if random.random() >= _SLIP]
    if random.random() < _SLIP:
        categories.append(random.choice([name for name in CATEGORIES if name not in categories]))
    order = tags.order if random.random() >= _SLIP else random.choice(list(ORDERS))
    return {"categories": tuple(name for name in CATEGORIES if name in categories), "order": (str(order),)}
