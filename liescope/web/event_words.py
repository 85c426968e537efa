"""What happened in a game as its pages tell it: every event in words.

A game says things in words of its own by logging acts (`EventKind.ACT`), whose text every page shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.game_text import event_words

_UNSHOWN = frozenset({EventKind.SETUP, EventKind.NIGHT, EventKind.DAY})  # shown as headings
_UNSHOWN |= {EventKind.SELF_REPORT, EventKind.RATING, EventKind.CLAIMS_FOUND}


def words_of(event: Event) -> str:
    """What happened, as a sentence; "" for what a game's page shows otherwise: as headings, beside statements."""
    who, data = event.actor or "", event.data
    match event.kind:
        case kind if kind in _UNSHOWN:
            return ""
        case EventKind.ROLE:
            return f"{who} is {data.get('role', '?')}"
        case EventKind.PARTNERS:
            names = data.get("names", ())
            known = f"{' and '.join(names)} {'know each other' if len(names) > 1 else 'has no partner'}"
            return known + _card(data.get("seen", ""))
        case EventKind.SUSPICION:
            return f"{who} is reminded of its suspicions: {shares(data.get('suspicion', {}))}"
        case EventKind.REFLECTION:
            return f"{who} looks back and learns {data.get('lessons', 0)} lessons"
        case EventKind.END:
            return f"The game ends: won by {data.get('winner')}" if data.get("winner") else "The game ends"
        case kind:
            found = event_words(event)
            return found[0].strip() if found else kind.value.replace("_", " ")


def known_at_the_start(events: Iterable[Event], seat: str) -> Iterator[str]:
    """What the private events of a seat told it before the first night, besides its role."""
    for event in events:
        if event.kind is EventKind.PARTNERS:
            others = [name for name in event.data.get("names", ()) if name != seat]
            yield f"{'partners: ' if others else 'no partners'}{', '.join(others)}{_card(event.data.get('seen', ''))}"
        elif event.kind is EventKind.LESSONS:
            yield from (f"lesson ({kind}): {text}" for kind, text in event.data.get("lessons", ()))


def _card(seen: str) -> str:
    return f"; a card in the centre is {seen}" if seen else ""


def shares(values: Mapping[str, float]) -> str:
    """Suspicions by name: "Ann 0.20, Ben 0.65"."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def who_saw(event: Event, record: GameRecord) -> tuple[int, ...] | None:
    """The places of the seats that saw an event, None for everyone; nobody saw what a rater said afterwards."""
    if "judge" in event.data:
        return ()
    if event.audience is None:
        return None
    return tuple(place for place, seat in enumerate(record.seats) if seat.name in event.audience)
