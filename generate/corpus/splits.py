"""Which split a game falls in. Splits are made by game: all rows of a game are in the same split, in every config."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from liescope.games.record import GameRecord

SHARES = {"train": 0.70, "validation": 0.15, "test": 0.15}


def split_of(game_id: str) -> str:
    """The split of a game by a hash of its id: 70% train, 15% validation, 15% test.

    It depends on nothing else, so a game keeps its split when a corpus grows or is rebuilt.
    """
    draw = int.from_bytes(sha256(game_id.encode("utf-8", "surrogatepass")).digest()[:8]) / 2**64
    if draw < SHARES["train"]:
        return "train"
    return "validation" if draw < SHARES["train"] + SHARES["validation"] else "test"


def split_game(game: GameRecord, hold_out: Collection[str]) -> str:
    """The split of a game when some models are held out: a game in which one of them plays is a test game."""
    if any(seat.model in hold_out for seat in game.seats):
        return "test"
    return split_of(game.game_id)
