"""What a seat may not be told before the end of its game, and where it was told nevertheless."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape

from liescope.games.core import Event, EventKind
from liescope.games.narration import deed
from liescope.games.record import GameRecord

_BLOCK = re.compile(
    r"</?(?:li|p|tr|h[1-6]|div|ol|ul|table|section|form|fieldset|legend|option|label|blockquote|dl|dt)\b[^>]*>"
)
_VERBS = {
    EventKind.KILL: "kill",
    EventKind.PROPOSAL: "propos",
    EventKind.PROTECTION: "protect",
    EventKind.INVESTIGATION: "investigat",
    EventKind.KILLER: "decide",
    EventKind.DISCOVERY: "know each other",
}


def shown(data: str) -> Iterator[str]:
    """What a page says, line by line, with the values that its tags hold."""
    data = " ".join(data.split())
    data = re.sub(r'<[^>]*?\b(?:value|aria-label|title|alt|placeholder)="([^"]*)"[^>]*>', r" \1 \g<0>", data)
    for line in re.split("\n", _BLOCK.sub("\n", data)):
        if said := " ".join(unescape(re.sub(r"<[^>]*>", " ", line)).split()):
            yield said


def leaks(received: Iterable[bytes], seat: str, record: GameRecord, strings: Iterable[str]) -> list[str]:
    """What a client in a seat was told that it may not know. strings: whatever may occur nowhere, such as others'
    secrets; the rest is told from the record of the game.
    """
    data = b"\n".join(received).decode("utf-8", "replace")
    found = [f"the string {text!r}" for text in strings if text in data]
    view = [event for event in record.events if event.seen_by(seat)]
    speech = sorted({" ".join(e.text.split()) for e in view if e.text}, key=len, reverse=True)
    knows = set(_known(view, seat))
    roles = {one.role for one in record.seats}
    hidden = [e for e in record.events if not e.seen_by(seat) and e.kind in _VERBS]
    may = {(e.actor, _VERBS[e.kind]) for e in view if e.kind in _VERBS}
    moves = [event for event in record.events if event.kind in (EventKind.ACT, EventKind.CHOICE)]
    told = {deed(event) for event in moves if event.seen_by(seat)}
    found += [f"the words {words!r}" for words in {deed(event) for event in moves} - told if words in data]
    for line in dict.fromkeys(shown(data)):
        for words in speech:
            line = line.replace(words, " ")
        found += [f"{name} as {role}: {line}" for name, role in _told(line, seat, record, roles) - knows]
        for event in hidden:
            act = _VERBS[event.kind]
            if event.actor and event.actor in line and act in line and (event.actor, act) not in may:
                found.append(f"{event.kind.value} by {event.actor}: {line}")
    pages = "\n".join(shown(data))
    told = {deed(event) for event in view if event.text}
    kept = {deed(event) for event in record.events if event.text and not event.seen_by(seat)}
    found += [f"the words {words!r}" for words in kept - told if words in pages]
    own = record.seat(seat).role
    for other in roles - {own}:
        if re.search(rf"[Yy]our role\W+(?:is )?(?:an? )?{other}\b", data):
            found.append(f"a role of another: {other}")
    return found


def _told(line: str, seat: str, record: GameRecord, roles: Iterable[str]) -> set[tuple[str, str]]:
    """The players that a line names together with a role; the line that says who plays names everybody."""
    names = [one.name for one in record.seats if one.name != seat and re.search(rf"\b{one.name}\b", line)]
    if len(names) == len(record.seats) - 1 and "Among you" in line:
        return set()
    return {(name, role) for name in names for role in roles if re.search(rf"\b{role}", line, re.IGNORECASE)}


def _known(view: Sequence[Event], seat: str) -> Iterator[tuple[str, str]]:
    """The roles of others that a seat was told in the game."""
    own = next(event.data["role"] for event in view if event.kind is EventKind.ROLE)
    for event in view:
        names = [event.actor, event.target, *event.data.get("names", ())]
        if event.kind in (
            EventKind.INVESTIGATION,
            EventKind.DISCOVERY,
            EventKind.DEATH,
            EventKind.ARREST,
            EventKind.EXILE,
        ):
            told = [str(event.data.get("role", "")).removeprefix("not "), own]
            yield from ((name, role) for name in names if name for role in told if role)
        elif event.kind in (EventKind.PARTNERS, EventKind.KILLER, EventKind.PROPOSAL, EventKind.KILL):
            yield from ((name, own) for name in (event.actor, *event.data.get("names", ())) if name)
