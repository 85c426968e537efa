"""What is left of a game when a player withdraws their words: who did what, but nothing that they wrote.

Roles, votes and other choices, numbers in forms, and what others said stay, even if it repeats the words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.games.core import Event, EventKind, Reply
from liescope.games.facts import EventData
from liescope.games.record import GameRecord

WITHDRAWN = "[withdrawn]"
"""Stands where a text was that its author withdrew."""

NAME = "withdrawn-"  # the beginning of the names given to people who withdrew
_SPOKEN = frozenset({EventKind.STATEMENT, EventKind.LESSON, EventKind.ACT})
# fields of event data that hold the speaker's words, or derive from them
_WORDS = frozenset({"private", "notes", "claims", "cut"})


def withdrawn_from(record: GameRecord) -> Mapping[str, int]:
    """The seats whose players withdrew their words, with the number of statements that went."""
    return record.meta.get("withdrawn", {})


def check_words(record: GameRecord) -> None:
    """Raises UsageError for a game that cannot be replayed because words are missing."""
    if gone := withdrawn_from(record):
        raise UsageError(
            f"game {plain(record.game_id)} cannot be replayed or continued: who played {plain(', '.join(gone))} "
            "withdrew their words; choose another game"
        )


def without_words(record: GameRecord, seats: Collection[str]) -> GameRecord:
    """The game without the words of these seats."""
    said = {event.index for event in record.events if event.kind is EventKind.STATEMENT and event.actor in seats}
    before = withdrawn_from(record)
    counts = {seat: sum(record.events[index].actor == seat for index in said) for seat in seats}
    events = tuple(_wordless(event, event.actor in seats, event.about in said) for event in record.events)
    return replace(record, events=events, meta={**record.meta, "withdrawn": {**counts, **before}})


def _wordless(event: Event, own: bool, about: bool) -> Event:
    data: dict[str, Any] = dict(event.data)
    if own and "judge" not in data:
        data = {name: value for name, value in data.items() if name not in _WORDS}
        if "assessment" in data:
            data["assessment"] = {**data["assessment"], "reason": ""}
    if about and "claims" in data:
        data["claims"] = []
    text = WITHDRAWN if own and event.kind in _SPOKEN and event.text else event.text
    return replace(event, text=text, data=cast(EventData, data)) if own or about else event


def wordless(reply: Reply) -> Reply:
    """The reply without words: its choice and numbers."""
    said = None if reply.assessment is None else replace(reply.assessment, reason="")
    return Reply(reply.choice, WITHDRAWN if reply.text else reply.text, said, problem=reply.problem)
