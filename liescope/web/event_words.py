"""What happened in a game as its pages tell it: every public event in words, or the game is refused.

A game says things in words of its own by logging acts (`EventKind.ACT`), whose text every page shows. All other kinds
of events, with what they hold, are told in the words of pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from liescope.common.errors import UndeclaredGame
from liescope.games.core import Event, EventKind
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Source
from liescope.generate.runs.game_text import event_words

_MEASURED = frozenset(
    {
        EventKind.BID,
        EventKind.SELF_REPORT,
        EventKind.RATING,
        EventKind.LESSONS,
        EventKind.REFLECTION,
        EventKind.LESSON,
        EventKind.ROLES_NAMED,
        EventKind.CLAIMS_FOUND,
        EventKind.BELIEFS,
        EventKind.LESSON_TAGS,
    }
)
"""No part of the talk, but of its measurement, its order and its lessons. Never public."""
_NOTED = frozenset(
    {"drawn", "tied", "cut", "notes", "claims", "private", "gold", "judge"}
)  # beside an event of any kind
_TOLD: Mapping[EventKind, frozenset[str]] = {
    EventKind.SETUP: frozenset({"names", "composition"}),
    EventKind.ROLE: frozenset({"role"}),
    EventKind.PARTNERS: frozenset({"names", "seen"}),
    EventKind.KILL: frozenset({"proposals"}),
    EventKind.INVESTIGATION: frozenset({"role"}),
    EventKind.DEATH: frozenset({"role"}),
    EventKind.SUSPICION: frozenset({"suspicion"}),
    EventKind.EXILE: frozenset({"votes", "needed"}),
    EventKind.NO_EXILE: frozenset({"needed"}),
    EventKind.END: frozenset({"winner"}),
}
"""What the words for an event tell of its data."""


def check_told(record: GameRecord) -> None:
    """Check that pages can tell everything public in a game. Raises UndeclaredGame for a public event, or a field of
    one, that they would leave out. Fields of imported events are up to their source.
    """
    imported = any(seat.source is Source.IMPORTED for seat in record.seats)
    public = (event for event in record.events if event.audience is None)
    _check(record.game, public, None if imported else _options(record.game))


def check_told_to_players(game: str, events: Iterable[Event]) -> None:
    """As `check_told`, for the private events of a game, too: players see nothing but their page."""
    _check(game, events, _options(game))


def _options(game: str) -> frozenset[str] | None:
    """The options of a game, which its rules tell everybody; None for a game that cannot be played."""
    return frozenset(type(GAMES[game].spec).model_fields) if game in GAMES else None


def _check(game: str, events: Iterable[Event], options: frozenset[str] | None) -> None:
    for event in events:
        if lacking := _untold(event, options):
            how = "log what happens as an act (EventKind.ACT): every page shows its text"
            raise UndeclaredGame(game, f"words on pages for {lacking}", how=how)


def _untold(event: Event, options: frozenset[str] | None) -> str:
    """What no page has words for in an event. options: of the game; None accepts any fields."""
    kind = event.kind.value
    if event.kind is EventKind.ACT:
        return "" if event.text.strip() else f"an {kind} without a text"
    if event.kind in _MEASURED:
        return "" if event.audience is not None else f"a public {kind}"
    if options is None or event.kind is EventKind.DAY:
        return ""
    missing = {*event.data} - _TOLD.get(event.kind, frozenset()) - _NOTED - options
    return f"{', '.join(sorted(missing))} of {kind}" if missing else ""


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
