"""What the lines of QUACK's two files hold, as far as they are read.

Claims: a model read them from the utterances (silver, not gold), and the authors' program checked them against the log.
Whether the speaker could know the verdict:

- A claim about others is not known, except by the duck: it is the only duck, so it knows that each accusation it makes
  is false. A weak accusation voices a doubt, which cannot be false: whether it was meant is not known.
- What speakers say of themselves (where they were, what they did, whom they saw) they know. But only the verdict "true"
  can be relied on. Of the geese's 689 own claims, 95 (14%) got "false"; of those about whom they saw, 85 of 327 (26%;
  of the duck's, 69 of 117). Geese have no reason to lie there, and most are right: replaying the rooms shows that in 67
  of the 85 the goose saw that player in that room before the meeting, and in 14 more before an earlier one (the duck in
  66 and 3 of its 69). The authors' window ends a tick too early and leaves out who is just coming or leaving, or dead.
  So what a "false" of this kind says about the speaker is not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData
from liescope.common.reading import fault
from liescope.games.facts import ClaimData

Tick = Annotated[int, Field(ge=0, le=10**6)]
Text = Annotated[str, Field(max_length=100_000)]
_Model = TypeVar("_Model", bound=BaseModel)


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class QuackPlayer(_Read):
    name: str
    role: str
    team: str
    room: str


class Started(_Read):
    initial_state: Annotated[dict[str, QuackPlayer], Field(min_length=2, max_length=100)]


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


class QuackVote(_Read):
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
    "vote_cast": QuackVote,
    "vote_skipped": Nothing,
    "player_ejected": Ejected,
    "players_respawned": Respawned,
    "game_over": Over,
}


class LogEntry(_Read):
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


class QuackClaim(_Read):
    """One claim of an utterance, as QUACK's authors extracted and verified it."""

    meeting: _Place
    temporal_window: _Window
    speaker: _Speaker
    utterance: _Utterance
    structured_claim: _Claimed
    verification: _Verified


def read_event(line: Mapping[str, Any]) -> tuple[LogEntry, _Read]:
    """An event of a log and its data. Raises BadData for one that QUACK does not have, or that lacks something."""
    entry = _validated(LogEntry, line)
    if entry.event_type not in EVENTS:
        raise BadData(f"QUACK has no event {entry.event_type[:60]!r}")
    return entry, _validated(EVENTS[entry.event_type], entry.data)


def read_claim(line: Mapping[str, Any]) -> QuackClaim:
    """A claim. Raises BadData if something is missing."""
    return _validated(QuackClaim, line)


def _validated(kind: type[_Model], data: Any) -> _Model:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise BadData(fault(error)) from error


DUCK = "duck"
VERDICTS = {"true": "true", "false": "false", "wrong_room": "false"}
"""QUACK's verdicts that decide a claim. The others, near_miss and unverifiable, leave it open."""
_ACCUSATION, _ACTIVITY, _SIGHTING = "accusation", "activity", "sighting"
_WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Act:
    """An event that can decide a claim: who did it, or to whom it was done, and when. task: part of a task."""

    index: int
    player: str
    tick: int
    task: bool = False


def claim_data(
    claim: QuackClaim, text: str, speaker: str, role: str, roles: Mapping[str, int], acts: Sequence[Act]
) -> ClaimData:
    """A claim in Liescope's form. text: the statement; role: the speaker's; roles: the events that gave the roles, by
    player; acts: what happened before.
    """
    said, verified = claim.structured_claim, claim.verification
    accuses = said.claim_type == _ACCUSATION
    subject = (said.target if accuses else said.subject) or ""
    verdict = VERDICTS.get(verified.verdict, "unverifiable")
    data = ClaimData(
        kind=said.claim_type,
        subject=subject or None,
        object=_object(claim) or None,
        polarity="affirmed",
        verdict=verdict,
        evidence=[roles[subject]] if accuses and subject in roles else _decisive(claim, acts),
        known=_known(claim, verdict, speaker, role),
    )
    span = _span(verified.evidence.claimed_route, text)
    return data | ClaimData(start=span[0], end=span[1]) if span else data


def _object(claim: QuackClaim) -> str:
    """What is claimed of the subject, such as "Eve in weapons (at tick 3)"."""
    said = claim.structured_claim
    if said.claim_type == _ACCUSATION:
        return f"{DUCK} ({_WEAK})" if said.confidence == _WEAK else DUCK
    room = " > ".join(claim.verification.evidence.claimed_route) or said.room or ""
    what = (said.target if said.claim_type == _SIGHTING else said.activity) or ""
    words = f"{what} in {room}" if what and room else what or room
    return f"{words} ({said.temporal_ref})" if words and said.temporal_ref else words


def _known(claim: QuackClaim, verdict: str, speaker: str, role: str) -> bool | None:
    said = claim.structured_claim
    if said.claim_type == _ACCUSATION:
        return False if role != DUCK else None if said.confidence == _WEAK else True
    if not said.subject or (said.subject == speaker and verdict != "true"):
        return None
    return said.subject == speaker


def _decisive(claim: QuackClaim, acts: Sequence[Act]) -> list[int]:
    """The acts of those that the claim is about, in the ticks that it was checked for."""
    said, window = claim.structured_claim, claim.temporal_window
    about = {said.subject, said.target}
    tasks = said.claim_type == _ACTIVITY and said.activity == "task"
    found = (
        act.index
        for act in acts
        if act.player in about and act.task == tasks and window.start_tick <= act.tick <= window.end_tick
    )
    return list(dict.fromkeys(found))


def _span(route: Sequence[str], text: str) -> tuple[int, int] | None:
    """Where a route stands in the text, room after room; None if that is not in exactly one place."""
    rooms = [re.escape(room).replace("_", "[ _-]?") for room in route]
    if len(rooms) < 2:
        return None
    words = r"\W{1,5}".join(rooms)
    found = [match.span() for match in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None
