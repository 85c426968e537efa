"""What the lines of QUACK's two files hold, as far as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData

Tick = Annotated[int, Field(ge=0, le=10**6)]
Text = Annotated[str, Field(max_length=100_000)]
_Model = TypeVar("_Model", bound=BaseModel)


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Player(_Read):
    name: str
    role: str
    team: str
    room: str


class Started(_Read):
    initial_state: Annotated[dict[str, Player], Field(min_length=2, max_length=100)]


class Nothing(_Read):
    """An event whose data is not read."""


class Moved(_Read):
    player_id: str
    to: str
    left: Annotated[str, Field(alias="from")]
    ticks_remaining: Tick | None = None


class Task(_Read):
    player_id: str
    task_name: str
    room: str
    progress: str = ""


class Chat(_Read):
    player_id: str
    room: str
    message: Text


class Killed(_Read):
    killer_id: str
    target_id: str
    room: str


class Body(_Read):
    victim_name: str


class Meeting(_Read):
    caller: str
    bodies: list[Body]


class Message(_Read):
    player_id: str
    message: Text


class Vote(_Read):
    voter: str
    target: str | None


class Ejected(_Read):
    player_id: str


class Respawned(_Read):
    rooms: dict[str, str]


class Over(_Read):
    winner: str | None
    reason: str


EVENTS: Mapping[str, type[_Read]] = {
    "game_started": Started,
    "tick_start": Nothing,
    "tick_end": Nothing,
    "phase_changed": Nothing,
    "player_moved": Moved,
    "task_progress": Task,
    "task_completed": Task,
    "free_roam_chat": Chat,
    "player_killed": Killed,
    "body_reported": Meeting,
    "meeting_called": Meeting,
    "discussion_message": Message,
    "vote_cast": Vote,
    "vote_skipped": Nothing,
    "player_ejected": Ejected,
    "players_respawned": Respawned,
    "game_over": Over,
}


class Entry(_Read):
    """One event of a log."""

    event_type: str
    tick: Tick
    data: Any


class _Place(_Read):
    meeting_idx: Tick


class _Window(_Read):
    start_tick: Tick
    end_tick: Tick


class _Speaker(_Read):
    speaker_id: str


class _Utterance(_Read):
    raw: Text


class _Claimed(_Read):
    claim_type: str
    subject: str | None
    target: str | None
    room: str | None
    activity: str | None
    temporal_ref: str | None
    confidence: str | None


class _Evidence(_Read):
    claimed_route: list[str] = []
    target_kill_tick: Tick | None = None


class _Verified(_Read):
    verdict: str
    evidence: _Evidence


class Claim(_Read):
    """One claim of an utterance, as QUACK's authors extracted and verified it."""

    meeting: _Place
    temporal_window: _Window
    speaker: _Speaker
    utterance: _Utterance
    structured_claim: _Claimed
    verification: _Verified


def read_event(line: Mapping[str, Any]) -> tuple[Entry, _Read]:
    """An event of a log and its data. Raises BadData for one that QUACK does not have, or that lacks something."""
    entry = _validated(Entry, line)
    if entry.event_type not in EVENTS:
        raise BadData(f"QUACK has no event {entry.event_type[:60]!r}")
    return entry, _validated(EVENTS[entry.event_type], entry.data)


def read_claim(line: Mapping[str, Any]) -> Claim:
    """A claim. Raises BadData if something is missing."""
    return _validated(Claim, line)


def _validated(kind: type[_Model], data: Any) -> _Model:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadData(f"{where or 'the data'}: {first['msg'].lower()}") from error
