"""Who a scripted player is: its name, its planted skills, the spec strings that name them; and its random draws.

A draw has a fresh generator for each point of a game, the same in every process. Choices are drawn by belief, a number
for each name on the scale of log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import ClassVar

from pydantic import Field

from liescope.common.errors import UnknownName
from liescope.common.settings import OptionsModel, read_query
from liescope.games.core import Ask, Event, Reply
from liescope.games.vocabulary import FoundClaim

MOST = 100  # largest size of a skill


class Skills(OptionsModel):
    """They are the parameters of logit p(mafia wins) = v (m − d) of the Mini-Mafia paper (its deceive, disclose and
    detect scores), so useful values of m and d lie within about ±2, of v between 0 and 3, of j from 0 (like anyone
    else) to about 3.
    """

    dashed: ClassVar[bool] = False

    m: float = Field(ge=-MOST, le=MOST, description="How convincing a lie is.")
    d: float = Field(ge=-MOST, le=MOST, description="How convincing the truth is, and how early it is told.")
    v: float = Field(ge=-MOST, le=MOST, description="How strongly what is heard decides the vote.")
    j: float = Field(ge=-MOST, le=MOST, description="Werewolf only: how suspiciously the jester behaves.")
    b: float = Field(
        default=0.0,
        ge=-MOST,
        le=MOST,
        description="A planted bias of the player's ratings, in log-odds of flagging another's statement as deceptive, "
        "whoever made it.",
    )


ClaimFinder = Callable[[str, str, Sequence[str], str], tuple[FoundClaim, ...]]
"""From a text, its speaker, the players' names and the name of the rules to the claims in it."""


@dataclass(frozen=True, slots=True)
class Persona:
    """A scripted player. name: as in tables; find_claims: how it reads claims, the same way as labels are made."""

    name: str
    skills: Skills
    find_claims: ClaimFinder


Script = Callable[[Persona, Ask, Sequence[Event]], Reply]
"""How scripted players of a game answer: from the player, an ask and its seat's view to the reply, without I/O. Draws
come from `liescope.games.script.persona`, so that the same place in a game always gives the same answer.
"""

PROFILES = {
    "novice": Skills(m=-1.0, d=-0.7, v=0.4, j=0.3),
    "steady": Skills(m=-0.2, d=1.0, v=1.7, j=0.6),
    "bold": Skills(m=1.2, d=0.2, v=0.9, j=1.0),
}


def parse_spec(argument: str) -> tuple[str, Skills]:
    """The name and skills of `PROFILE[?m=…&d=…&v=…&j=…&b=…]`; the name lists the skills that differ from the
    profile's, in a fixed order, so that equal players have equal names.

    Raises UnknownName for an unknown profile or skill, UsageError for a value that is not a usable number.
    """
    profile, _, query = argument.partition("?")
    if profile not in PROFILES:
        raise UnknownName("scripted player", profile, PROFILES)
    planted = PROFILES[profile]
    skills = Skills.of({**dict(planted), **read_query(query)}, f"scripted:{profile}")
    changed = [f"{skill}={_plain(value)}" for skill, value in skills if value != getattr(planted, skill)]
    return f"scripted:{profile}" + (f"?{'&'.join(changed)}" if changed else ""), skills


def _plain(value: float) -> str:
    """The shortest digits that reproduce the number, without a trailing .0."""
    return repr(value).removesuffix(".0")


SURE = 9.0  # the belief in what the seat knows from the rules or from its night


def draws(model: str, *place: object) -> Random:
    """A random generator for the player with this name at a place: the game's id, the step or turn, the seat, what is
    drawn.
    """
    key = "\0".join(map(str, (*place, model)))
    return Random(int.from_bytes(blake2b(key.encode(), digest_size=8).digest()))


def chance(score: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


def weights(scores: Mapping[str, float], options: Sequence[str], sensitivity: float) -> list[float]:
    """Probabilities of the options, proportional to exp(sensitivity · score)."""
    values = [sensitivity * scores.get(name, 0.0) for name in options]
    top = max(values)  # subtracted first, because the exponential would overflow
    grown = [math.exp(value - top) for value in values]
    total = math.fsum(grown)
    return [value / total for value in grown]


@lru_cache(maxsize=256)
def lean(names: tuple[str, ...], model: str, *place: object) -> Mapping[str, float]:
    """A Gumbel draw for each name: choosing the option with the largest sensitivity · score + draw is the same as
    drawing from a softmax of the scores. A seat that keeps its draws all day names the suspects it will vote for.
    model, place: as `draws` takes them.
    """
    key = draws(model, *place, "lean")
    return {name: -math.log(-math.log(key.random() or 0.5)) for name in names}


def favourite(
    scores: Mapping[str, float], options: Sequence[str], sensitivity: float, leaning: Mapping[str, float]
) -> str:
    """The option with the largest sensitivity · score + leaning."""
    return max(options, key=lambda name: sensitivity * scores.get(name, 0.0) + leaning.get(name, 0.0))


Weights = dict[str, float]


def draw(options: Mapping[str, float], random: Random) -> str:
    """An option drawn by its weight."""
    return random.choices(list(options), list(options.values()))[0]


def pick(scores: Mapping[str, float], options: Sequence[str], sensitivity: float, random: Random) -> str:
    """An option drawn with these weights."""
    return random.choices(options, weights(scores, options, sensitivity))[0]


def templates(text: str) -> dict[str, tuple[str, ...]]:
    """Templates by name, from lines "name: template | template"; indented lines continue the one before."""
    entries = text.strip().replace("\n  ", " ").splitlines()
    named = (entry.partition(":") for entry in entries)
    return {name: tuple(each.strip() for each in rest.split("|")) for name, _, rest in named}
