"""A scripted player's random draws: a fresh generator for each point of a game, the same in every process."""

from __future__ import annotations

from hashlib import blake2b
from random import Random


def draws(model: str, *place: object) -> Random:
    """The draws of the player with this name at a place: the game's id, the step or turn, the seat, what is drawn."""
    key = "\0".join(map(str, (*place, model)))
    return Random(int.from_bytes(blake2b(key.encode(), digest_size=8).digest()))
