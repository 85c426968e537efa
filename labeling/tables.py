"""Derives the rows of every table from a recorded game, for both corpora and analyses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

from liescope.games.record import GameRecord, Status
from liescope.labeling.acts import bid_rows, lesson_rows, lesson_tag_rows, night_act_rows, role_guess_rows, vote_rows
from liescope.labeling.label import rating_rows, statement_rows
from liescope.labeling.ledger import claim_rows
from liescope.labeling.record_rows import event_rows, game_row


def game_tables(
    record: GameRecord, run: str = "", transcript: bool = False, only: Collection[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """The (table, row) pairs of one game: its games row, its events and, for a finished game, the rows of every other
    table but calls, which only a journal has. A failed game is incomplete, so its statements have no labels.

    run: the name of the game's run; transcript: fill the statements' column of that name; only: the tables
    wanted, None for all.
    """
    if only is None or "games" in only:
        yield "games", game_row(record, run)
    if only is None or "events" in only:
        for event in event_rows(record):
            yield "events", event
    if record.status is not Status.DONE or record.outcome is None:
        return
    ledger, ratings = cache(lambda: claim_rows(record)), cache(lambda: rating_rows(record))
    makers: dict[str, Callable[[], Iterable[Any]]] = {
        "statements": lambda: statement_rows(record, ledger(), ratings(), transcript),
        "claims": ledger,
        "ratings": ratings,
        "votes": lambda: vote_rows(record, ratings()),
        "night_acts": lambda: night_act_rows(record),
        "bids": lambda: bid_rows(record),
        "lessons": lambda: lesson_rows(record),
        "lesson_tags": lambda: lesson_tag_rows(record),
        "role_guesses": lambda: role_guess_rows(record),
    }
    for table, make in makers.items():
        if only is None or table in only:
            for row in make():
                yield table, row
