"""Rules that every imported record must follow, whichever importer made it, so that later stages can rely on them."""

from __future__ import annotations

import json

from liescope.games.checks import NotARecord, check_record
from liescope.games.record import GameRecord, record_to_json

LARGEST = 16 << 20  # bytes of a record in JSON
LONGEST_ID = 200
LONGEST_NAME = 100


def problem_of(game: GameRecord) -> str:
    """Why a record cannot be kept; "" if it can."""
    if not game.game_id or len(game.game_id) > LONGEST_ID or not game.game_id.isprintable():
        return f"the game's id must be 1 to {LONGEST_ID} printable characters"
    names = [seat.name for seat in game.seats]
    if len({*names}) != len(names):
        return "two players have one name"
    for words, what in [(game.game, "game"), *((name, "player") for name in names)]:
        if not words.strip() or len(words) > LONGEST_NAME or not words.isprintable():
            return f"the name of a {what} must be 1 to {LONGEST_NAME} printable characters"
    for place, event in enumerate(game.events):
        if event.index != place:
            return f"event {place} has the index {event.index}"
        if strangers := {event.actor, event.target, *(event.audience or ())} - {None, *names}:
            return f"event {place} names {', '.join(sorted(map(str, strangers)))}, who is not at the table"
        if event.about is not None and not 0 <= event.about < place:
            return f"event {place} is about event {event.about}, which did not come before it"
    try:
        check_record(game)
        size = len(json.dumps(record_to_json(game), allow_nan=False, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return "holds characters that are no text"
    except NotARecord as error:
        return str(error)
    except (ValueError, TypeError, RecursionError) as error:
        return f"cannot be kept as plain data: {error}"
    return "" if size <= LARGEST else f"takes more than {LARGEST:,} bytes"
