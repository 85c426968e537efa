"""Which call brought which event: matched by seat and kind, in order of play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.games.core import AskKind, Event, EventKind
from liescope.games.record import GameRecord

_BROUGHT = {
    AskKind.KILL: "kill",
    AskKind.INVESTIGATE: "investigation",
    AskKind.PROTECT: "protection",
    AskKind.BID: "bid",
    AskKind.SPEAK: "words",
    AskKind.VOTE: "vote",
    AskKind.SELF_ASSESSMENT: "self_report",
    AskKind.PEER_ASSESSMENT: "rating",
    AskKind.REFLECTION: "reflection",
    AskKind.NAME_ROLES: "roles_named",
    AskKind.FIND_CLAIMS: "claims_found",
    AskKind.TAG_LESSON: "lesson_tags",
}
_KIND_OF = {kind.value: (name,) for kind, name in _BROUGHT.items()} | {AskKind.EXPLAINED_VOTE.value: ("vote", "words")}
_NAME_OF = {EventKind.STATEMENT: "words", EventKind.SILENCE: "words", EventKind.PROPOSAL: "kill"}


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call stands in its game. tries: the requests that it took; problem: "" or why it gave no usable reply."""

    step: int
    seat: str
    tries: int
    problem: str


def call_places(record: GameRecord, calls: Iterable[Mapping[str, Any]]) -> dict[int, CallPlace]:
    """The call behind each event, by the event's index. calls: with the columns of the table `calls`.

    Events that no call of this run brought are left out: those of a fork's shared beginning, what the rules drew, and
    all of a seat whose calls and events of a kind differ in number.
    """
    made: dict[tuple[str, str], dict[int, CallPlace]] = defaultdict(dict)
    for call in sorted(calls, key=lambda call: (call["step"], call["attempt"])):
        for name in _KIND_OF.get(call["kind"] or "", ()):
            made[call["seat"], name][call["step"]] = CallPlace(
                call["step"], call["seat"], call["attempt"], call["problem"]
            )
    events: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in _brought(record):
        events[event.actor or "", _NAME_OF.get(event.kind, event.kind.value)].append(event.index)
    return {
        index: place
        for key, indices in events.items()
        if len(indices) == len(made[key])
        for index, place in zip(indices, made[key].values(), strict=True)
    }


def _brought(record: GameRecord) -> Sequence[Event]:
    """The events that can come from this run's calls."""
    fork = record.meta.get("fork")
    first = fork["events"] if fork else 0
    judged = any("judge" in event.data for event in record.events)
    return [
        event
        for event in record.events
        if event.index >= first and not event.data.get("drawn") and (not judged or "judge" in event.data)
    ]
