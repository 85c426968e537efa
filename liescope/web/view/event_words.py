"""Events in words, for the page of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from liescope.games.core import Event, EventKind
from liescope.generate.runs.transcript import event_words

_UNSHOWN = frozenset(
    {EventKind.SELF_REPORT, EventKind.RATING, EventKind.CLAIMS_FOUND, EventKind.NIGHT, EventKind.DAY, EventKind.SETUP}
)


def words_of(event: Event) -> str:
    """What happened, as a sentence; "" for what the page shows otherwise: as headings, beside statements."""
    if event.kind in _UNSHOWN:
        return ""
    who, data = event.actor or "", event.data
    own = {
        EventKind.ROLE: f"{who} is {data.get('role', '?')}",
        EventKind.PARTNERS: _partners(data.get("names", ()), data.get("seen", "")),
        EventKind.SUSPICION: f"{who} is reminded of its suspicions: {_values(data.get('suspicion', {}))}",
        EventKind.REFLECTION: f"{who} looks back and learns {data.get('lessons', 0)} lessons",
        EventKind.END: f"The game ends: won by {data.get('winner')}" if data.get("winner") else "The game ends",
    }
    if event.kind in own:
        return own[event.kind]
    found = event_words(event)
    return found[0].strip() if found else event.kind.value.replace("_", " ")


def known_at_the_start(events: Iterable[Event], seat: str) -> Iterator[str]:
    """What the private events of a seat told it before the first night, besides its role."""
    for event in events:
        if event.kind is EventKind.PARTNERS:
            others = [name for name in event.data.get("names", ()) if name != seat]
            yield _partners(others, event.data.get("seen", ""), with_whom=True)
        elif event.kind is EventKind.LESSONS:
            yield from (f"lesson ({kind}): {text}" for kind, text in event.data.get("lessons", ()))


def _partners(names: Sequence[str], seen: str, with_whom: bool = False) -> str:
    card = f"; a card in the centre is {seen}" if seen else ""
    if with_whom:
        return f"{'partners: ' if names else 'no partners'}{', '.join(names)}{card}"
    return f"{' and '.join(names)} {'know each other' if len(names) > 1 else 'has no partner'}{card}"


def _values(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())
