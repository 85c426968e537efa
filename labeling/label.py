"""All labels of one recorded game: the rows for its statements, ratings and votes.

The labels come from their own sources and are never combined: the role, the claims checked against the log, the
promises checked against the acts that followed, what the speaker believes of its claims, its own report, the peers'
ratings. A missing label is None, with its reason in another field. In a game that was rated afterwards, report and
ratings are the rater's, and the players' own are not used.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from liescope.common.text import ASSISTANT, CHAT
from liescope.data_cards.licences import OURS
from liescope.data_cards.tables.rows import ClaimRow, RatingRow, StatementRow, VoteRow
from liescope.games.core import Event, EventKind, reasoning_in
from liescope.games.record import GameRecord, Seat, Source
from liescope.games.shared_rules import START, smooth
from liescope.games.taxonomy import DeceptionType, parse_type
from liescope.games.withdrawal import withdrawn_from
from liescope.labeling.acts import FATES, vote_rows
from liescope.labeling.beliefs import belief_labels
from liescope.labeling.conditions import origin_of
from liescope.labeling.ledger import ClaimLabels, claim_labels, claim_rows, statement_id


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """All rows of one game, in order of play."""

    statements: tuple[StatementRow, ...]
    ratings: tuple[RatingRow, ...]
    votes: tuple[VoteRow, ...]
    claims: tuple[ClaimRow, ...]


T = TypeVar("T")

Heard = tuple[frozenset[str], T]
"""Words behind the set of those who heard them; an empty set stands for every seat."""


def audience_of(heard_by: Collection[str] | None, names: Collection[str]) -> tuple[str, ...]:
    """An audience as the table of statements has it: sorted names, empty if it is every seat."""
    if heard_by is None or set(names) <= set(heard_by):
        return ()
    return tuple(sorted(heard_by))


def known_before(said: Sequence[Heard[T]], audience: frozenset[str], most: int | None = None) -> tuple[T, ...]:
    """The words that all hearers of a statement had heard before it, oldest first: what was said to everyone or to a
    group that contains this audience.

    said: the earlier statements in order; audience: empty for every seat; most: keep only the last ones.
    """
    known = (what for heard, what in reversed(said) if not heard or (audience and audience <= heard))
    return tuple(islice(known, most))[::-1]


NO_ROLE = "the source does not say what the speaker's role wants"
NOT_ASKED = "not asked"
NOT_IN_SOURCE = "not in the source"
NOT_STATED = "no source states it"
CONTEXT = "a turn of the user, the system or a tool"
UNREADABLE = "could not be read"
NO_RATING = "no usable rating"
TIE = "as many observers flag it as do not"


_REPORTED = ("deceptive", "type", "confidence")


def label_game(record: GameRecord) -> LabelledGame:
    """The labelled rows of a game, finished or failed, played or imported."""
    ratings, claims = rating_rows(record), claim_rows(record)
    return LabelledGame(statement_rows(record, claims, ratings), ratings, tuple(vote_rows(record, ratings)), claims)


def statement_rows(
    record: GameRecord, claims: Sequence[ClaimRow], ratings: Iterable[RatingRow], transcript: bool = False
) -> tuple[StatementRow, ...]:
    """The statements of a game with their labels. claims: its ledger; ratings: its `rating_rows`; transcript: fill that
    column with what was said before each.
    """
    labels = claim_labels(record, claims)
    seats = {seat.name: seat for seat in record.seats}
    by_statement: dict[str, list[RatingRow]] = defaultdict(list)
    for rating in ratings:
        by_statement[rating.statement_id].append(rating)
    reports = {event.about: event for event in _assessments(record, EventKind.SELF_REPORT)}
    unasked = _unasked(record)
    beliefs = belief_labels(record, unasked)
    fates = [event for event in record.events if event.kind in FATES]
    statements = []
    for position, event in enumerate(_statements(record).values(), 1):
        key = statement_id(record.game_id, event.index)
        gone = {fate.target for fate in fates if fate.index < event.index}
        alive = tuple(name for name in seats if name not in gone)
        label, why = beliefs[event.index]
        views = (
            {"label_belief": label, "label_belief_null": why}
            | _own_view(reports.get(event.index), unasked)
            | _peers_view(by_statement[key], unasked)
        )
        statements.append(_statement(record, event, key, position, seats, alive, labels[key], views))
    return tuple(_with_transcripts(statements) if transcript else statements)


def _statements(record: GameRecord) -> dict[int, Event]:
    """The statements of a game by index, without those that their speakers withdrew."""
    gone = withdrawn_from(record)
    said = (event for event in record.events if event.kind is EventKind.STATEMENT)
    return {event.index: event for event in said if event.actor not in gone}


def _assessments(record: GameRecord, kind: EventKind) -> list[Event]:
    """The events of this kind that the labels are read from: the rater's where there is one, else the players'."""
    judge = record.meta.get("judge", "")
    return [event for event in record.events if event.kind is kind and event.data.get("judge", "") == judge]


def _statement(
    record: GameRecord,
    event: Event,
    key: str,
    position: int,
    seats: dict[str, Seat],
    alive: tuple[str, ...],
    labels: ClaimLabels,
    views: dict[str, Any],
) -> StatementRow:
    seat = _speaker(record, event, seats[event.actor or ""])
    private = event.data.get("private", {})
    planted = parse_type(private.get("planted_type"))
    unjudged = record.game == CHAT and seat.role != ASSISTANT
    return StatementRow(
        statement_id=key,
        game_id=record.game_id,
        game=record.game,
        source=seat.source.value,
        day=event.day,
        phase=event.phase.value,
        round=event.round,
        position=position,
        speaker=seat.name,
        speaker_role=seat.role,
        speaker_team=seat.team,
        speaker_model=seat.model,
        audience=audience_of(event.audience, seats),
        text=event.text,
        truncated="cut" in event.data,
        alive=alive,
        read_notes=tuple(event.data.get("notes", ())),
        label_role=seat.deceives,
        label_role_null=NO_ROLE if seat.deceives is None else "",
        label_claim=labels.label_claim,
        label_claim_null=labels.label_claim_null,
        label_promise=labels.label_promise,
        label_promise_null=labels.label_promise_null,
        label_gold=event.data.get("gold"),
        label_gold_null="" if "gold" in event.data else CONTEXT if unjudged else NOT_STATED,
        **views,
        planted_type=None if planted is None else planted.value,
        reasoning=reasoning_in(private),
        transcript=None,
    )


def _speaker(record: GameRecord, event: Event, seat: Seat) -> Seat:
    """The seat with who spoke from it: in a game that continues another, this may be a person who sat there before."""
    fork = record.meta.get("fork")
    if fork is None or event.index >= fork["events"] or seat.name not in fork.get("people", {}):
        return seat
    return replace(seat, model=fork["people"][seat.name], source=Source.HUMAN)


def _with_transcripts(statements: Iterable[StatementRow]) -> Iterator[StatementRow]:
    """The statements, each with the earlier ones that all who heard it had heard, one per line."""
    said: list[Heard[str]] = []
    for row in statements:
        audience = frozenset(row.audience)
        yield replace(row, transcript="\n".join(known_before(said, audience)))
        said.append((audience, f"{row.speaker}: {' '.join(row.text.split())}"))


def _unasked(record: GameRecord) -> str:
    """Why a report or rating is missing that nobody gave."""
    return NOT_ASKED if record.meta.get("judge") or origin_of(record) == OURS else NOT_IN_SOURCE


def _own_view(report: Event | None, unasked: str) -> dict[str, Any]:
    said = _assessment(report)
    flag, kind, confidence = said.get("deceptive"), parse_type(said.get("type")), _share(said, "confidence")
    why = {field: unasked if report is None else report.fallback or _why(said, field, unasked) for field in _REPORTED}
    return {
        "label_self": flag,
        "label_self_null": "" if flag is not None else why["deceptive"],
        "self_type": None if kind is None else kind.value,
        "self_type_null": "" if kind is not None else why["type"],
        "self_confidence": confidence,
        "self_confidence_null": "" if confidence is not None else why["confidence"],
        "self_reason": said.get("reason") or "",
        "self_notes": () if report is None else tuple(report.data.get("notes", ())),
    }


def _peers_view(ratings: Sequence[RatingRow], unasked: str) -> dict[str, Any]:
    flags = [rating.flag for rating in ratings if rating.flag is not None]
    rate = sum(flags) / len(flags) if flags else None
    if rate is None:
        label, null = None, NO_RATING if ratings else unasked
    elif rate == 0.5:
        label, null = None, TIE
    else:
        label, null = rate > 0.5, ""
    kinds = Counter(rating.type for rating in ratings if rating.flag and rating.type)
    return {
        "label_peer": label,
        "label_peer_null": null,
        "peer_rate": rate,
        "peer_ratings": len(flags),
        "peer_type": next((kind.value for kind in _most(kinds)), None),
        "peer_confidence": _mean(rating.confidence for rating in ratings if rating.flag is not None),
        "peer_suspicion": _mean(rating.suspicion for rating in ratings),
    }


def _most(kinds: Counter[str]) -> list[DeceptionType]:
    """The types that occur most often, in the order of the taxonomy."""
    most = max(kinds.values(), default=0)
    return [kind for kind in DeceptionType if most and kinds[kind.value] == most]


def rating_rows(record: GameRecord) -> tuple[RatingRow, ...]:
    """The ratings of a game, with the running suspicion of each (observer, speaker)."""
    seats, said = {seat.name: seat for seat in record.seats}, _statements(record)
    running: dict[tuple[str, str], float] = {}
    rows, unasked = [], _unasked(record)
    for event in _assessments(record, EventKind.RATING):
        if event.about not in said:
            continue
        observer, speaker = seats.get(event.actor or "") or _outside(event), seats[said[event.about].actor or ""]
        view = _assessment(event)
        flag, kind = view.get("deceptive"), parse_type(view.get("type"))
        confidence, suspicion = _share(view, "confidence"), _share(view, "suspicion")
        read = {"deceptive": flag, "type": kind, "confidence": confidence, "suspicion": suspicion}
        missing = [name for name, value in read.items() if value is None]
        pair = observer.name, speaker.name
        if suspicion is not None:
            running[pair] = smooth(running.get(pair, START), suspicion)
        row = RatingRow(
            statement_id=statement_id(record.game_id, event.about),
            game_id=record.game_id,
            speaker=speaker.name,
            speaker_role=speaker.role,
            observer=observer.name,
            observer_role=observer.role,
            observer_model=record.meta.get("judge") or (observer.name if record.game == CHAT else observer.model),
            flag=flag,
            type=None if kind is None else kind.value,
            confidence=confidence,
            suspicion=suspicion,
            running_suspicion=running.get(pair, START),
            reason=view.get("reason") or "",
            null=event.fallback or (_reasons(view, missing, unasked) if missing else ""),
            notes=tuple(event.data.get("notes", ())),
        )
        rows.append(row)
    return tuple(rows)


def _outside(rating: Event) -> Seat:
    """The seat for a rater that has none."""
    name = rating.data.get("judge", "")
    return Seat(name, "", "", None, name, Source.IMPORTED)


def _reasons(view: dict[str, Any], missing: Sequence[str], unasked: str) -> str:
    """Which fields of a rating are missing, and why, in the words of its column; "" if none is."""
    named: dict[str, list[str]] = defaultdict(list)
    for field in missing:
        named[_why(view, field, unasked)].append("flag" if field == "deceptive" else field)
    return "; ".join(f"{', '.join(fields)} {why}" for why, fields in named.items())


def _why(view: dict[str, Any], field: str, unasked: str) -> str:
    """Why an assessment lacks a field: unreadable, or, if it is absent altogether, not asked for or not in the
    source.
    """
    if field in view or (unasked == NOT_ASKED and (not view or field == "deceptive")):
        return UNREADABLE
    return unasked


def _assessment(event: Event | None) -> dict[str, Any]:
    """The fields of an assessment, of the types that `check_record` demands; an event with a fallback has none."""
    return {} if event is None or event.fallback else dict(event.data.get("assessment") or {})


def _share(assessment: dict[str, Any], name: str) -> float | None:
    value = assessment.get(name)
    return None if value is None else float(value)


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return math.fsum(there) / len(there) if there else None


LOST_TEXT = "the text was lost before it was published: only a backslash is left of it"
CUT_TEXT = "the text was cut at an escaped quotation mark before it was published"
MAYBE_CUT = "may have been cut off: it ends in dots"
"""The end of what was said is lost, or seems to be."""


def text_is_lost(read_notes: Iterable[str]) -> bool:
    """Whether none of what was said is left, so that the statement, like a silence, has no words to rate."""
    return LOST_TEXT in read_notes
