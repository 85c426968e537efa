"""Which split a game falls in. Splits are made by game: all rows of a game are in the same split, in every config."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from liescope.common.errors import UsageError
from liescope.games.record import GameRecord
from liescope.labeling.record_rows import family_of

SHARES = {"train": 0.70, "validation": 0.15, "test": 0.15}


def split_of(game_id: str) -> str:
    """The split of a game by a hash of its id: 70% train, 15% validation, 15% test.

    It depends on nothing else, so a game keeps its split when a corpus grows or is rebuilt.
    """
    draw = int.from_bytes(sha256(game_id.encode("utf-8", "surrogatepass")).digest()[:8]) / 2**64
    if draw < SHARES["train"]:
        return "train"
    return "validation" if draw < SHARES["train"] + SHARES["validation"] else "test"


def siblings_of(game: GameRecord) -> str:
    """The game whose beginning a game shares, because it goes on from it or plays it again: its own id, if neither."""
    return family_of(game) or game.game_id


def split_game(game: GameRecord, hold_out: Collection[str], held_out_siblings: Collection[str] = ()) -> str:
    """The split of a game: the official one, if its publishers gave it one; "test" if a held-out model plays in it or
    in a game that it shares its beginning with (held_out_siblings, as `siblings_of` names them); otherwise by the game
    that it goes back to, so that games with a common beginning are never parted.

    Raises UsageError if an official train or validation game would have to be held out.
    """
    root, official = siblings_of(game), game.meta.get("split")
    held_out = root in held_out_siblings or any(seat.model in hold_out for seat in game.seats)
    if official and held_out and official != "test":
        raise UsageError(
            f"a held-out model plays in game {game.game_id!r}, which its publishers put into {official}; an official "
            "split is kept, so build without --hold-out-model, or build those games apart"
        )
    return official or ("test" if held_out else split_of(root))
