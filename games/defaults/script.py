"""A scripted player for any game: it claims roles, accuses and promises votes in plain sentences, as firmly as its
skills let it, votes for whom it suspects by what it heard and knows, and makes any other legal choice at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from liescope.games.core import CHOICES, Ask, Assessment, Event, EventKind, Reply
from liescope.games.playable import PlayableGame
from liescope.games.script.grammar import SPREAD, Intent, Phrasebook
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Persona, Script, Skills, chance, draw, favourite
from liescope.games.script.player import Dealing, Leaning, Mind, rated, suspected_kind
from liescope.games.taxonomy import DeceptionType as Kind

_MOVES = {
    "doubt": ("I don't trust {x}", "I doubt {x}", "{x} is hiding something"),
    "vote": ("I vote for {x}", "I'm voting for {x}", "my vote goes to {x}"),
    "talk": ("let us talk", "let us hear everyone", "what do you all think?", "who has something to tell?"),
}
_PLANTED = {"claim": Kind.FABRICATION, "talk": Kind.OMISSION}  # by those who deceive; any other move misdirects


@lru_cache
def script(game: PlayableGame) -> Script:
    """How scripted players of a game answer."""
    minds = {role: _Role(game, role).mind() for role in game.roles}

    def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
        own = (event.data["role"] for event in view if event.kind is EventKind.ROLE and event.actor == ask.seat)
        return minds[next(own, game.roles[0])].answer(who, ask, view)

    return answer


class _Role:
    """How players with one role of a game think."""

    def __init__(self, game: PlayableGame, role: str) -> None:
        self._deceivers = [one for one in game.roles if one in game.deceivers]
        self._harmless = [one for one in game.roles if one not in game.deceivers] or [role]
        self._role, self._evil = role, role in game.deceivers

    def mind(self) -> Mind:
        claims = {f"claim/{role}": (f"I'm the {role}",) for role in (*self._harmless, self._role)}
        accusing = {f"accuse/{role}": (f"{{x}} is the {role}",) for role in self._deceivers}
        about = frozenset({"doubt", "vote", *accusing})
        return Mind(
            Follower(self._role if self._evil else ""),
            Phrasebook({**claims, **accusing, **_MOVES}, {}, about, about),
            place=lambda ask, _: (
                *(ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about),
                ask.step if ask.kind in CHOICES else "",
            ),
            leaning=lambda ask: (ask.game, ask.seat, ask.day),
            intend=self._intend,
            vote=self._vote,
            rate=self._rate,
            name_roles=self._name_roles,
            acts={kind: lambda _seen, _skills, ask, random: random.choice(ask.options) for kind in CHOICES},
            explain=lambda _, skills, choice, random: self._say("vote", choice, skills, random),
        )

    def _beliefs(self, seen: Knowledge) -> dict[str, float]:
        """How suspect each other player is, on the scale of log-odds: SURE for what the seat knows."""
        scores = dict.fromkeys(seen.public.names, 0.0)
        for said in seen.public.said:
            scores[said.actor] -= 0.5 * said.reading.strength
            for name, weight in said.reading.accused:
                scores[name] += weight * (0.3 + 0.5 * said.reading.strength)
        scores |= {name: SURE if role in self._deceivers else -SURE for name, role in seen.results.items()}
        scores |= dict.fromkeys(seen.partners, SURE if self._evil else -SURE)
        return {name: score for name, score in scores.items() if name != seen.me}

    def _suspect(self, seen: Knowledge, skills: Skills, leaning: Leaning) -> str:
        return favourite(self._beliefs(seen), seen.prey(), skills.v, leaning)

    def _intend(self, seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Leaning) -> Intent:
        """One move. Those who deceive claim a harmless role."""
        last, accusing = ask.round >= ask.rounds, 1.0 if self._deceivers else 0.0
        move = draw({"claim": 2.0, "accuse": accusing, "doubt": 1.0, "vote": 2.0 if last else 0.5, "talk": 0.7}, random)
        roles = {"claim": self._harmless if self._evil else [self._role], "accuse": self._deceivers}.get(move)
        return self._say(move, self._suspect(seen, skills, leaning), skills, random, roles)

    def _say(self, move: str, name: str, skills: Skills, random: Random, roles: Sequence[str] | None = None) -> Intent:
        role = random.choice(roles) if roles else ""
        lies = self._evil and role != self._role
        planted = _PLANTED.get(move, Kind.MISDIRECTION) if lies else Kind.NONE
        strength = random.gauss(skills.m if self._evil else skills.d, SPREAD)
        return Intent((f"{move}/{role}" if role else move,), ({"x": name, "dead": "everyone"},), planted, strength)

    def _vote(self, seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Leaning) -> str:
        choice = self._suspect(seen, skills, leaning)
        return choice if choice in ask.options else random.choice(ask.options)

    def _rate(self, seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
        belief = max(-3.0, min(3.0, self._beliefs(seen)[said.actor]))
        odds = -0.9 + max(skills.v, 0.0) * belief + skills.b
        return rated(said.actor, chance(odds), suspected_kind(said.reading), 0.3, lambda _: belief, random)

    def _name_roles(
        self, seen: Knowledge, options: tuple[str, ...], _: Skills, __: Random
    ) -> dict[str, tuple[str, ...]]:
        deal, beliefs = Dealing(seen, options), self._beliefs(seen)
        for role in self._deceivers:
            deal.give(role, sorted(beliefs, key=lambda name: -beliefs[name]))
        return deal.form(max(self._harmless, key=lambda role: seen.public.counts.get(role, 0)))
