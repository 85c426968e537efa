"""What an event and a record hold beside their fields: the keys of `Event.data` and `GameRecord.meta`, typed.

A key is there only where it applies; `EventKind` says which kinds of event have it. Both are read from JSON, and
`liescope.games.checks` holds what comes from a file against these types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class AssessmentData(TypedDict, total=False):
    """The fields of an `Assessment`; None where one could not be read."""

    deceptive: bool | None
    type: str | None
    confidence: float | None
    suspicion: float | None
    reason: str


class EventData(TypedDict, total=False):
    """The facts of an event.

    names: players, in the order of the table; composition: how many cards there are of each role; rounds,
    debate_turns, defence_turns, days, centre, reveal_dead, mutual_discovery: options of the table; role: a role, or
    "not ROLE"; seen: a card in the centre; lessons: pairs of kind and text, or how many there are; drawn: the rules
    drew it; proposals: all werewolves' victims; bid: 0 to 10; cut: characters before the cut; private: what the speaker
    keeps to itself; notes: the leniencies that reading the reply needed; suspicion: by name, 0 to 1; tied: who shared
    the most votes; votes, needed: how many; judge: the name of the judge whose view it is; assessment: in a report or
    rating; kind: of a lesson; roles: by name, the role that a judge named; tags: by field, what a judge tagged; winner:
    a team.
    """

    names: list[str]
    composition: dict[str, int]
    rounds: int
    debate_turns: int
    defence_turns: int
    days: int
    centre: int
    reveal_dead: bool
    mutual_discovery: bool
    role: str
    seen: str
    lessons: Any
    drawn: bool
    proposals: list[str]
    bid: int
    cut: int
    private: Mapping[str, Any]
    notes: list[str]
    suspicion: dict[str, float]
    tied: list[str]
    votes: int
    needed: int
    judge: str
    assessment: AssessmentData
    kind: str
    roles: dict[str, list[str]]
    tags: dict[str, list[str]]
    winner: str


class LessonMeta(TypedDict):
    """A lesson that a learner drew: its list and text, whether the lesson book kept it, and its nearest similarity."""

    kind: str
    text: str
    kept: bool
    nearest: float | None


class GameMeta(TypedDict, total=False):
    """What is known of a game beside its events.

    turn: its number in its cell; seating: how roles were dealt; learning: its learner learns; lessons: what it learned;
    judge: who judged it afterwards; settings: the condition that it was played in; prompt_version, import_notes: of
    imported games; batch, number, timestamp, players, unread: what else a log says of a game.
    """

    turn: int
    seating: str
    learning: bool
    lessons: Sequence[LessonMeta]
    judge: str
    settings: Mapping[str, Any]
    prompt_version: str
    import_notes: list[str]
    batch: str
    number: int | None
    timestamp: str | None
    players: Any
    unread: Any
