"""One game as it is shown: plain data for templates, with nothing that the chosen eyes may not see. Each event carries
the call that brought it, matched by seat and kind in order of play.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from liescope.common.leaks import all_without_addresses
from liescope.common.text import GAME, unit_of
from liescope.data_cards.tables import ClaimRow, RatingRow, StatementRow
from liescope.games.core import AskKind, Event, EventKind, Phase
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Seat, Source, not_chosen
from liescope.generate.importers.jsonl.jsonl_importer import UNKNOWN_MODEL
from liescope.labeling.acts import FATES
from liescope.labeling.conditions import settings_of
from liescope.labeling.ledger import statement_id
from liescope.web.event_words import Look, check_told, known_at_the_start, who_saw, words_of
from liescope.web.view import page_parts
from liescope.web.view.drawing import Panel, Strip, arrows, panels, strips
from liescope.web.view.game_sources import ViewedGame
from liescope.web.view.page_parts import (
    CallPlace,
    Choices,
    Happened,
    PageMoment,
    PhaseOfDay,
    PickedChoice,
    Said,
    ShownGame,
    ShownSeat,
)

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
    AskKind.BELIEFS: "beliefs",
    AskKind.TAG_LESSON: "lesson_tags",
}
_KIND_OF = {kind.value: (name,) for kind, name in _BROUGHT.items()} | {AskKind.EXPLAINED_VOTE.value: ("vote", "words")}
_NAME_OF = {EventKind.STATEMENT: "words", EventKind.SILENCE: "words", EventKind.PROPOSAL: "kill"}


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


# What the seats tell: who sits there, and what each knew before the game.
_AT_TABLE = frozenset({EventKind.SETUP, EventKind.ROLE})
_KNOWN = frozenset({EventKind.PARTNERS, EventKind.LESSONS})
_SECRET = frozenset(
    {EventKind.ROLES_NAMED, EventKind.BELIEFS, EventKind.LESSON, EventKind.LESSON_TAGS, EventKind.REFLECTION}
)


def shown(game: ViewedGame, look: Look = Look()) -> ShownGame:  # noqa: B008 (frozen)
    """A game as it is shown to a reader who looks at it in this way.

    Raises UndeclaredGame for a game with a public event that the page has no words for.
    """
    record = game.record
    check_told(record)
    events = tuple(event for event in record.events if look.sees(event))
    calls = {index: call for index, call in call_places(record, game.calls).items() if _own(call, look)}
    table = _PageMaker(game, look, events, calls)
    seats = table.seats()
    ended = [event for event in events if event.kind is EventKind.END]
    unit = table.unit
    return ShownGame(
        game_id=record.game_id,
        title=(record.game if unit == GAME else unit).capitalize(),
        unit=unit,
        look=look,
        status=_status(game, look, ended) if unit == GAME else "",
        stated=_stated(game.labels.statements) if look.labels and unit != GAME else "",
        failed=bool(record.failure) and look.told,
        under_way=game.under_way,
        facts=tuple(_facts(record, look) if unit == GAME else _conversation_facts(record)),
        settings=tuple(_settings(record)) if look.told else (),
        fork=record.meta.get("fork") if look.told else None,
        judge=record.meta.get("judge", "") if look.labels else "",
        seats=seats,
        sections=table.sections(),
        suspicion=table.suspicion(),
        strips=table.strips(),
        fallbacks=sum(bool(event.fallback) for event in events),
        calls=len(calls),
        colours={seat.name: seat.colour for seat in seats},
    )


def _own(call: CallPlace, look: Look) -> bool:
    return look.all_knowing or call.seat == look.eyes


def _status(game: ViewedGame, look: Look, ended: Sequence[Event]) -> str:
    record = game.record
    if game.under_way:
        return "This game is being played."
    if not look.told:
        return f"Won by {ended[0].data['winner']}" if ended and ended[0].data.get("winner") else ""
    if record.failure:
        return f"Failed: {record.failure}"
    if record.outcome is None:
        return "The source does not say how this game ended."
    return f"Won by {record.outcome.winner}: {record.outcome.reason}" if record.outcome.winner else "Winner not known"


def _stated(rows: Sequence[StatementRow]) -> str:
    """What the source says of a conversation, or of a text."""
    given = [row.label_gold for row in rows if row.label_gold is not None]
    if len(given) > 1:
        return f"{sum(given)} of {len(given)} labelled deceptive by the source"
    return f"Labelled {'deceptive' if given[0] else 'honest'} by the source" if given else "Not labelled by the source"


def _conversation_facts(record: GameRecord) -> Iterator[tuple[str, str]]:
    if record.cell:
        yield "Task", record.cell
    models = dict.fromkeys(seat.model for seat in record.seats if seat.model != UNKNOWN_MODEL)
    if models:
        yield "Model" if len(models) == 1 else "Models", ", ".join(map(all_without_addresses, models))
    if domain := record.meta.get("domain"):
        yield "Domain", domain
    if record.meta.get("canary"):
        yield "Canary", "its publisher asks that nobody trains on it"


def _facts(record: GameRecord, look: Look) -> Iterator[tuple[str, str]]:
    composition = next((e.data.get("composition") for e in record.events if e.kind is EventKind.SETUP), None)
    if composition:
        cards = ((role, number) for role, number in sorted(composition.items()) if number)  # not as they sit
        yield "Roles", ", ".join(f"{number} × {role}" if number > 1 else role for role, number in cards)
    if look.told:
        if record.seed is not None:
            yield "Seed", str(record.seed)
        if record.cell:
            yield "Players, role by role", all_without_addresses(record.cell)


def _played_as(seat: Seat) -> str:
    """What plays a seat, where its model does not say so and the source does."""
    known = seat.source is not Source.IMPORTED and not seat.model.startswith(seat.source.value)
    return seat.source.value if known else ""


def _settings(record: GameRecord) -> Iterator[tuple[str, str]]:
    for name, value in settings_of(record).items():
        yield name.replace("_", " "), value


class _PageMaker:
    """A game while it is turned into what is shown. events: those that the eyes saw."""

    def __init__(self, game: ViewedGame, look: Look, events: tuple[Event, ...], calls: Mapping[int, CallPlace]) -> None:
        self.record, self.look, self.events, self.calls = game.record, look, events, calls
        self.under_way = game.under_way
        self.unit = unit_of([self.record.game])
        self.scores = game.scores if look.labels else {}
        self.detectors = game.detectors
        self.places = {seat.name: place for place, seat in enumerate(self.record.seats)}
        self.judged = "judge" in self.record.meta
        self.asked = page_parts.asked_for(game.labels.statements)
        self.labels: dict[str, StatementRow] = {row.statement_id: row for row in game.labels.statements}
        self.by_index = {event.index: event for event in self.record.events}
        self.ratings: dict[str, list[RatingRow]] = defaultdict(list)
        for rating in game.labels.ratings:
            if look.labels or (rating.observer == look.eyes and not self.judged):
                self.ratings[rating.statement_id].append(rating)
        self.claims: dict[str, list[ClaimRow]] = defaultdict(list)
        for row in game.labels.claims if look.labels else ():
            self.claims[row.statement_id].append(row)
        self.reports = {e.about: e.index for e in self.record.events if e.kind is EventKind.SELF_REPORT}
        self.rated = {(e.about, e.actor): e.index for e in self.record.events if e.kind is EventKind.RATING}
        self.drawn = not_chosen(self.record.events, self.record.game in GAMES)
        self.anchors = {event.index: self._anchor(event) for event in events}

    def _anchor(self, event: Event) -> str:
        if event.kind is EventKind.ROLE:
            return f"seat{self.places.get(event.actor or '', 0)}"
        return f"s{event.index}" if event.kind is EventKind.STATEMENT else f"e{event.index}"

    def seats(self) -> tuple[ShownSeat, ...]:
        outcome = self.record.outcome
        fates = {e.target: f"{FATES[e.kind]}, day {e.day}" for e in self.events if e.kind in FATES}
        tells = fates or any(e.kind is EventKind.END for e in self.events)  # some sources say nothing of who left
        stayed = "survived" if tells and not self.under_way else ""
        told = {e.actor: e.data.get("role", "") for e in self.events if e.kind is EventKind.ROLE}
        found = []
        for place, seat in enumerate(self.record.seats):
            whole = self.look.told
            role = seat.role if whole else told.get(seat.name, "")
            private = [e for e in self.events if e.audience is not None and seat.name in e.audience]
            mine = whole or seat.name == self.look.eyes
            found.append(
                ShownSeat(
                    place=place,
                    name=seat.name,
                    role=role,
                    team=seat.team if whole else "",
                    deceives=seat.deceives if whole else None,
                    model=seat.model if whole else "",
                    source=_played_as(seat) if whole else "",
                    won=whole and outcome is not None and seat.name in outcome.winners,
                    fate=fates.get(seat.name, stayed),
                    knows=tuple(known_at_the_start(private, seat.name)) if mine else (),
                    anchor=f"seat{place}",
                )
            )
        return tuple(found)

    def sections(self) -> tuple[PhaseOfDay, ...]:
        found = []
        for (day, phase), events in groupby(self.events, key=lambda event: (event.day, event.phase)):
            moments = tuple(self._moments(tuple(events)))
            if moments:
                title = phase.value.capitalize() if not day else f"Day {day}, {phase.value}"
                title = title if self.unit == GAME else "Turns"
                found.append(PhaseOfDay(title, phase is Phase.NIGHT, moments))
        return tuple(found)

    def _moments(self, events: tuple[Event, ...]) -> Iterator[PageMoment]:
        bids = {turn: list(same) for turn, same in groupby(_of(events, EventKind.BID), lambda event: event.round)}
        votes = _of(events, EventKind.VOTE)
        before: Event | None = None
        for event in events:
            if event.kind is EventKind.STATEMENT:
                reason = before is not None and before.kind is EventKind.VOTE and before.actor == event.actor
                yield self._said(event, (before.target or "") if before is not None and reason else "")
            elif event.kind is EventKind.BID:
                if same := bids.pop(event.round, None):
                    yield self._bids(same)
            elif event.kind is EventKind.VOTE:
                if event is votes[-1]:
                    yield self._ballot(votes)
            elif event.phase is Phase.SETUP and (event.kind in _AT_TABLE or (event.kind in _KNOWN and event.audience)):
                continue
            elif words := words_of(event):
                yield self._happened(event, words)
            before = event if event.kind is not EventKind.RATING else before

    def _said(self, event: Event, votes_for: str) -> Said:
        key = statement_id(self.record.game_id, event.index)
        speaker, row = event.actor or "", self.labels.get(key)
        rows = self.claims[key]
        claims = tuple(page_parts.claim(row, event.text, self.by_index, self.anchors) for row in rows)
        own = self.look.labels or (speaker == self.look.eyes and not self.judged)
        report = None
        if row is not None and own:
            call = self.calls.get(self.reports.get(event.index, -1))
            report = page_parts.report(row, call, self.places.get(speaker, 0), self.judged)
        ratings = (
            page_parts.rating(
                rating,
                self.calls.get(self.rated.get((event.index, rating.observer), -1)),
                () if self.judged else (self.places.get(rating.observer, 0),),
            )
            for rating in self.ratings[key]
        )
        return Said(
            *self._deed(event),
            round=event.round if self.unit == GAME else 0,
            to=tuple(name for name in event.audience or () if name != speaker),
            private=event.audience is not None,
            votes_for=votes_for,
            pieces=page_parts.pieces(event.text, claims, rows),
            unplaced=tuple(claim for claim in claims if not claim.placed),
            labels=page_parts.labels_of(row, self.asked, self.unit) if row is not None and self.look.labels else (),
            meant=page_parts.meant(event) if self.look.labels else (),
            report=report,
            ratings=tuple(ratings),
            scores=page_parts.scores(self.scores.get(key, {}), self.detectors, row),
        )

    def _happened(self, event: Event, words: str) -> Happened:
        secret = event.audience is not None or event.kind in _SECRET
        return Happened(*self._deed(event), words, secret, event.kind in FATES or event.kind is EventKind.END)

    def _deed(self, event: Event) -> tuple[int, str, tuple[str, ...], CallPlace | None, tuple[int, ...] | None]:
        """The fields of `Deed`."""
        call = self.calls.get(event.index)
        return event.index, event.actor or "", self._flags(event), call, who_saw(event, self.record)

    def _choices(self, events: Sequence[Event]) -> tuple[PickedChoice, ...]:
        return tuple(PickedChoice(*self._deed(event), event.target or "", event.data.get("bid")) for event in events)

    def _bids(self, bids: list[Event]) -> Choices:
        highest_first = sorted(bids, key=lambda event: -event.data.get("bid", 0))
        return Choices("bids", bids[0].index, self._choices(highest_first))

    def _ballot(self, votes: list[Event]) -> Choices:
        entries = self._choices(votes)
        nodes, drawn = arrows([(e.actor, e.target, bool(e.flags)) for e in entries], tuple(self.places))
        return Choices("ballot", votes[-1].index, entries, nodes, drawn)

    def _flags(self, event: Event) -> tuple[str, ...]:
        """What the rules did that no player chose; to a seat, without the reason."""
        flags = []
        if event.fallback:
            flags.append(f"fallback: {event.fallback}" if self.look.told else "unusable reply")
        elif event.index in self.drawn and self.look.told:
            flags.append(self.drawn[event.index])
        if tied := event.data.get("tied"):
            flags.append(f"drawn from the tied: {', '.join(tied)}")
        if "cut" in event.data:
            flags.append(f"cut from {event.data['cut']} characters")
        if self.look.told and event.data.get("notes"):
            flags.append(f"read with: {', '.join(event.data['notes'])}")
        return tuple(flags)

    def suspicion(self) -> tuple[Panel, ...]:
        if self.unit != GAME:
            return ()
        rows = (rating for ratings in self.ratings.values() for rating in ratings)
        spoken = _of(self.events, EventKind.STATEMENT)
        order = {statement_id(self.record.game_id, event.index): place for place, event in enumerate(spoken)}
        return panels(rows, order, tuple(self.places))

    def strips(self) -> tuple[Strip, ...]:
        spoken = _of(self.events, EventKind.STATEMENT)
        rows = [
            (e.index, e.actor or "", self.scores.get(statement_id(self.record.game_id, e.index), {})) for e in spoken
        ]
        return strips(rows, {one.name: one.threshold for one in self.detectors})


def _of(events: tuple[Event, ...], kind: EventKind) -> list[Event]:
    return [event for event in events if event.kind is kind]
