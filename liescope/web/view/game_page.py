"""One game as its page shows it: values for the templates, in which everything that happened says who saw it.

Values are plain dictionaries whose names the templates know (`game_body.html`, `game_parts.html`); a name that is
missing there is an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from liescope.common.leaks import all_without_addresses
from liescope.common.text import GAME, unit_of
from liescope.data_cards.tables.rows import ClaimRow, RatingRow, StatementRow
from liescope.games.core import Event, EventKind, Phase
from liescope.games.narration import shares
from liescope.games.record import GameRecord, Seat, Source, not_chosen
from liescope.generate.importers.statement_rows import UNKNOWN_MODEL
from liescope.generate.runs.game_text import event_words, proof_words, verdict_words
from liescope.labeling import ledger
from liescope.labeling.acts import FATES
from liescope.labeling.conditions import settings_of
from liescope.labeling.label import CONTEXT, NO_ROLE, NOT_ASKED, NOT_IN_SOURCE, NOT_STATED, TIE
from liescope.labeling.ledger import statement_id
from liescope.web.view.sources import ViewedGame, calls_of

Shown = dict[str, Any]
"""Something that is shown: values for a template, by name."""
LONG = 400  # statements; in a longer game, all phases but the first are folded

# What the seats tell: who sits there, and what each knew before the game.
_SEATED = frozenset({EventKind.SETUP, EventKind.ROLE})
_KNOWN = frozenset({EventKind.PARTNERS, EventKind.LESSONS})
_UNSHOWN = frozenset({EventKind.SETUP, EventKind.NIGHT, EventKind.DAY})  # shown as headings
_UNSHOWN |= {EventKind.SELF_REPORT, EventKind.RATING, EventKind.CLAIMS_FOUND}
_SECRET = frozenset(
    {EventKind.ROLES_NAMED, EventKind.BELIEFS, EventKind.LESSON, EventKind.LESSON_TAGS, EventKind.REFLECTION}
) | {EventKind.SECOND_ORDER, EventKind.SUMMARY}


def shown(game: ViewedGame) -> Shown:
    """A game as it is shown, with everything that is known of it."""
    record = game.record
    page = _Page(game)
    played = page.unit == GAME
    return {
        "game_id": record.game_id,
        "title": (record.game if played else page.unit).capitalize(),
        "unit": page.unit,
        "status": _status(record) if played else "",
        "stated": "" if played else _stated(game.labels.statements),
        "failed": bool(record.failure),
        "facts": [*(_facts(record) if played else _conversation_facts(record))],
        "settings": [(name.replace("_", " "), value) for name, value in settings_of(record).items()],
        "fork": record.meta.get("fork"),
        "judge": record.meta.get("judge", ""),
        "seats": page.seats(),
        "places": page.places,
        "sections": page.sections(),
        "long": len(page.spoken) > LONG,
        "statements": len(page.spoken),
        "fallbacks": sum(bool(event.fallback) for event in record.events),
        "calls": len(game.calls),
    }


def _status(record: GameRecord) -> str:
    if record.failure:
        return f"Failed: {record.failure}"
    if record.outcome is None:
        return "The source does not say how this game ended."
    return f"Won by {record.outcome.winner}: {record.outcome.reason}" if record.outcome.winner else "Winner not known"


def _stated(rows: Sequence[StatementRow]) -> str:
    """What the source says about a conversation or a text."""
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


def _facts(record: GameRecord) -> Iterator[tuple[str, str]]:
    composition = next((e.data.get("composition") for e in record.events if e.kind is EventKind.SETUP), None)
    if composition:
        cards = ((role, number) for role, number in sorted(composition.items()) if number)  # not in seat order
        yield "Roles", ", ".join(f"{number} × {role}" if number > 1 else role for role, number in cards)
    if record.seed is not None:
        yield "Seed", str(record.seed)
    if record.cell:
        yield "Players, role by role", all_without_addresses(record.cell)


def _played_as(seat: Seat) -> str:
    """Who plays a seat, where the source says so and the model's name does not."""
    known = seat.source is not Source.IMPORTED and not seat.model.startswith(seat.source.value)
    return seat.source.value if known else ""


_SAID = ("flag", "type", "confidence", "suspicion", "reason", "problem")


class _Page:
    """The work of turning one game into values for its page."""

    def __init__(self, game: ViewedGame) -> None:
        self.record, self.events, self.calls = game.record, game.record.events, calls_of(game)
        self.unit = unit_of([self.record.game])
        self.places = {seat.name: place for place, seat in enumerate(self.record.seats)}
        self.judged = "judge" in self.record.meta
        self.asked = asked_for(game.labels.statements)
        self.labels = {row.statement_id: row for row in game.labels.statements}
        self.by_index = {event.index: event for event in self.events}
        self.spoken = {statement_id(self.record.game_id, e.index): e for e in _of(self.events, EventKind.STATEMENT)}
        self.ratings: dict[str, list[RatingRow]] = defaultdict(list)
        for rating in game.labels.ratings:
            self.ratings[rating.statement_id].append(rating)
        self.claims: dict[str, list[ClaimRow]] = defaultdict(list)
        for row in game.labels.claims:
            self.claims[row.statement_id].append(row)
        self.reports = {e.about: e.index for e in self.events if e.kind is EventKind.SELF_REPORT}
        self.rated = {(e.about, e.actor): e.index for e in self.events if e.kind is EventKind.RATING}
        self.drawn = not_chosen(self.events)

    def _anchor(self, event: Event) -> str:
        if event.kind is EventKind.ROLE:
            return f"seat{self.places.get(event.actor or '', 0)}"
        return f"s{event.index}" if event.kind is EventKind.STATEMENT else f"e{event.index}"

    def seats(self) -> list[Shown]:
        outcome = self.record.outcome
        fates = {e.target: f"{FATES[e.kind]}, day {e.day}" for e in self.events if e.kind in FATES}
        tells = fates or any(e.kind is EventKind.END for e in self.events)  # some sources do not say who left
        return [
            {
                "place": place,
                "name": seat.name,
                "role": seat.role,
                "team": seat.team,
                "deceives": seat.deceives,
                "model": seat.model,
                "source": _played_as(seat),
                "won": outcome is not None and seat.name in outcome.winners,
                "fate": fates.get(seat.name, "survived" if tells else ""),
                "knows": [*known_at_the_start((e for e in self.events if seat.name in (e.audience or ())), seat.name)],
            }
            for place, seat in enumerate(self.record.seats)
        ]

    def sections(self) -> list[Shown]:
        """What happened in each phase of a day."""
        found = []
        for (day, phase), events in groupby(self.events, key=lambda event: (event.day, event.phase)):
            if moments := [*self._moments(tuple(events))]:
                title = phase.value.capitalize() if not day else f"Day {day}, {phase.value}"
                title = title if self.unit == GAME else "Turns"
                found.append({"title": title, "night": phase is Phase.NIGHT, "moments": moments})
        return found

    def _moments(self, events: tuple[Event, ...]) -> Iterator[Shown]:
        bids = {turn: list(same) for turn, same in groupby(_of(events, EventKind.BID), lambda event: event.round)}
        votes = _of(events, EventKind.VOTE)
        before: Event | None = None
        for event in events:
            if event.kind is EventKind.STATEMENT:
                reason = before is not None and before.kind is EventKind.VOTE and before.actor == event.actor
                yield self._said(event, (before.target or "") if before is not None and reason else "")
            elif event.kind is EventKind.BID:
                if same := bids.pop(event.round, None):
                    yield self._choices("bids", sorted(same, key=lambda event: -event.data.get("bid", 0)))
            elif event.kind is EventKind.VOTE:
                if event is votes[-1]:
                    yield self._choices("ballot", votes)
            elif event.phase is Phase.SETUP and (event.kind in _SEATED or (event.kind in _KNOWN and event.audience)):
                continue
            elif words := words_of(event):
                yield self._deed(event) | {
                    "kind": "happened",
                    "words": words,
                    "secret": event.audience is not None or event.kind in _SECRET,
                    "loud": event.kind in FATES or event.kind is EventKind.END,
                }
            before = event if event.kind is not EventKind.RATING else before

    def _deed(self, event: Event) -> Shown:
        """What the page shows of any event. saw: the places of the seats that saw it, None for everyone."""
        return {
            "index": event.index,
            "anchor": self._anchor(event),
            "actor": event.actor or "",
            "flags": [*self._flags(event)],
            "call": self.calls.get(event.index),
            "saw": who_saw(event, self.record),
        }

    def _said(self, event: Event, votes_for: str) -> Shown:
        key = statement_id(self.record.game_id, event.index)
        row = self.labels.get(key)
        claims = [(one, self._claim(one)) for one in self.claims[key]]
        return self._deed(event) | {
            "kind": "said",
            "round": event.round if self.unit == GAME else 0,
            "to": [name for name in event.audience or () if name != event.actor],
            "private": event.audience is not None,
            "votes_for": votes_for,
            "pieces": _pieces(event.text, claims),
            "unplaced": [claim for one, claim in claims if not _is_placed(one, event.text)],
            "labels": [] if row is None else labels_of(row, self.asked, self.unit),
            "meant": _meant(event),
            "ratings": [*self._opinions(event, row)],
        }

    def _claim(self, row: ClaimRow) -> Shown:
        """One claim. standing: its class in the ledger; evidence: events in words, with their places on the page."""
        proofs = (self.by_index[index] for index in row.evidence if index in self.by_index)
        return {
            "normal": row.normal,
            "standing": row.claim_class,
            "verdict": verdict_words(row),
            "evidence": [(proof_words(event), self._anchor(event)) for event in proofs],
            "origin": "" if row.origin == ledger.RULES else row.origin,
        }

    def _opinions(self, event: Event, row: StatementRow | None) -> Iterator[Shown]:
        """What the speaker, or the rater in its seat, reports of a statement, and what others say of it."""
        key, alone = statement_id(self.record.game_id, event.index), self.reports.get(event.index, -1)
        if row and (row.self_reason or {row.label_self, row.self_type, row.self_confidence} != {None}):
            said = (row.label_self, row.self_type, row.self_confidence, None, row.self_reason, row.label_self_null)
            yield self._opinion(alone, True, row.speaker, *said)
        for one in self.ratings[key]:
            lacks = "; ".join(part for part in one.null.split("; ") if not part.endswith(NOT_IN_SOURCE))
            given = self.rated.get((event.index, one.observer), -1)
            rated = (one.flag, one.type, one.confidence, one.suspicion, one.reason, lacks)
            yield self._opinion(given, False, one.observer, *rated)

    def _opinion(self, given: int, own: bool, observer: str, *said: Any) -> Shown:
        """One opinion. given: the event that holds it; own: whether it is the speaker's; said: what `_SAID` names."""
        saw = () if self.judged else (self.places.get(observer, 0),)
        call = self.calls.get(given)
        return {"observer": observer, "own": own, "call": call, "saw": saw, **dict(zip(_SAID, said, strict=True))}

    def _choices(self, kind: str, events: Sequence[Event]) -> Shown:
        """The bids for one turn, or the votes of one ballot."""
        entries = [self._deed(event) | {"target": event.target or "", "bid": event.data.get("bid")} for event in events]
        saw = [entry["saw"] for entry in entries]
        index = events[0].index if kind == "bids" else events[-1].index
        return {
            "kind": kind,
            "index": index,
            "anchor": f"b{index}",
            "entries": entries,
            "saw": None if None in saw else sorted({place for seen in saw for place in seen}),
        }

    def _flags(self, event: Event) -> Iterator[str]:
        """What the rules did without a player's choice."""
        if event.fallback:
            yield f"fallback: {event.fallback}"
        elif event.index in self.drawn:
            yield self.drawn[event.index]
        if tied := event.data.get("tied"):
            yield f"drawn from the tied: {', '.join(tied)}"
        if "cut" in event.data:
            yield f"cut from {event.data['cut']} characters"
        if event.data.get("notes"):
            yield f"read with: {', '.join(event.data['notes'])}"


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


def who_saw(event: Event, record: GameRecord) -> tuple[int, ...] | None:
    """The places of the seats that saw an event, None for everyone; nobody saw what a rater said afterwards."""
    if "judge" in event.data:
        return ()
    if event.audience is None:
        return None
    return tuple(place for place, seat in enumerate(record.seats) if seat.name in event.audience)


def _of(events: tuple[Event, ...], kind: EventKind) -> list[Event]:
    return [event for event in events if event.kind is kind]


_GRAVEST = (ledger.LIE, ledger.MISTAKE, ledger.UNSUPPORTED, ledger.UNDECIDABLE, ledger.TRUTHFUL)


def _is_placed(row: ClaimRow, text: str) -> bool:
    """Whether the words of a claim can be marked."""
    return row.start is not None and row.end is not None and 0 <= row.start < row.end <= len(text)


def _pieces(text: str, claims: Sequence[tuple[ClaimRow, Shown]]) -> list[Shown]:
    """A statement's words, cut where claims begin and end, each with its claims and the gravest class of them."""
    spans = [(row.start or 0, row.end or 0, claim) for row, claim in claims if _is_placed(row, text)]
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    found = []
    for start, end in pairwise(edges):
        mine = [claim for first, last, claim in spans if first <= start and end <= last]
        standing = min((claim["standing"] for claim in mine), key=_GRAVEST.index, default="")
        found.append({"text": text[start:end], "claims": mine, "standing": standing})
    return found


YES, NO, NONE = "yes", "no", "none"  # for deception, for its absence, for a missing label
_ABSENT = frozenset({NO_ROLE, ledger.NO_CLAIMS_READ, NOT_IN_SOURCE, NOT_STATED, CONTEXT})
"""Why nobody could have labelled a statement so."""
_LABELS = {
    "gold": ("Source", "deceptive", "honest"),
    "role": ("Role", "deceives", "honest"),
    "claim": ("Claims", "lie", "true"),
    "promise": ("Promise", "broken", "kept"),
    "self": ("Self-report", "deceptive", "honest"),
    "peer": ("Peers", "deceptive", "honest"),
}


def asked_for(rows: Iterable[StatementRow]) -> frozenset[str]:
    """The labels that a game's statements have or were asked for; no others are shown."""
    return frozenset(
        label for row in rows for label in _LABELS if getattr(row, f"label_{label}_null") not in (NOT_ASKED, *_ABSENT)
    )


def labels_of(row: StatementRow, asked: Collection[str], unit: str) -> list[tuple[str, str, str, str]]:
    """The labels of a statement, in a fixed order, and what a script meant: name, value or why it is missing, tone, and
    details. A missing label that nobody could have given is left out. asked: as `asked_for`; unit: "game", or the
    source's word for it.
    """
    found = [
        _label(row, label, "Judges" if label == "peer" and unit != GAME else name, yes, no)
        for label, (name, yes, no) in _LABELS.items()
        if label in asked and getattr(row, f"label_{label}_null") not in _ABSENT
    ]
    if row.planted_type is not None:
        honest = row.planted_type == "none"
        meant = "honest" if honest else row.planted_type.replace("_", " ")
        found.append(("Scripted", meant, NO if honest else YES, ""))
    return found


def _label(row: StatementRow, label: str, name: str, yes: str, no: str) -> tuple[str, str, str, str]:
    value, why = getattr(row, f"label_{label}"), getattr(row, f"label_{label}_null")
    tone = NONE if value is None else YES if value else NO
    if label == "peer" and row.peer_rate is not None:
        flags = f"{round(row.peer_rate * row.peer_ratings)} of {row.peer_ratings} say deceptive"
        return name, f"{flags}, a tie" if why == TIE else flags, tone, why
    if value is None:
        return "" if name.casefold().rstrip("s") in why else name, why, tone, ""  # "no promise" says it all
    return name, yes if value else no, tone, ""


def _meant(event: Event) -> list[tuple[str, str]]:
    """What the speaker kept private, by name."""
    private = event.data.get("private", {})
    return [(str(name).replace("_", " "), str(value)) for name, value in private.items() if name != "planted_type"]
