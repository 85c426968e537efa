"""A scripted player's random draws: a fresh generator for each point of a game, the same in every process; and choices
drawn by belief, a number for each name on the scale of log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random

SURE = 9.0  # the belief in what the seat knows from the rules or from its night


def draws(model: str, *place: object) -> Random:
    """The draws of the player with this name at a place: the game's id, the step or turn, the seat, what is drawn."""
    key = "\0".join(map(str, (*place, model)))
    return Random(int.from_bytes(blake2b(key.encode(), digest_size=8).digest()))


def chance(score: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


def weights(scores: Mapping[str, float], options: Sequence[str], sensitivity: float) -> list[float]:
    """Probabilities of the options, proportional to exp(sensitivity · score)."""
    values = [sensitivity * scores.get(name, 0.0) for name in options]
    top = max(values)
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


def pick(scores: Mapping[str, float], options: Sequence[str], sensitivity: float, random: Random) -> str:
    """An option drawn with these weights."""
    return random.choices(options, weights(scores, options, sensitivity))[0]


def templates(text: str) -> dict[str, tuple[str, ...]]:
    """Templates by name, from lines "name: template | template"; lines that begin with spaces go on."""
    entries = text.strip().replace("\n  ", " ").splitlines()
    named = (entry.partition(":") for entry in entries)
    return {name: tuple(each.strip() for each in rest.split("|")) for name, _, rest in named}
