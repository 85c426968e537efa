"""The rows that one finished game adds to each frame."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from liescope.benchmark.analyses.cells import PLAYERS
from liescope.benchmark.analyses.schemas import LABELS, SCHEMAS
from liescope.games.core import EventKind, Phase
from liescope.games.drawn import not_chosen
from liescope.games.record import GameRecord
from liescope.games.suspicion import START
from liescope.games.werewolf import JESTER
from liescope.labeling.conditions import SETTINGS
from liescope.labeling.label import label_game, statement_id
from liescope.labeling.rows import LabelledGame, RatingRow, StatementRow

_LEAVES = {EventKind.DEATH: "killed", EventKind.ARREST: "exiled", EventKind.EXILE: "exiled"}
_DIGITS = 9  # of a suspicion: values that are equal but for the rounding of sums tie
_TURNS = frozenset({EventKind.STATEMENT, EventKind.SILENCE})
_ACTS = {
    EventKind.PROPOSAL: "proposal",
    EventKind.KILL: "kill",
    EventKind.PROTECTION: "protection",
    EventKind.INVESTIGATION: "investigation",
}

Row = dict[str, Any]


def game_rows(record: GameRecord) -> Iterator[tuple[str, Row]]:
    outcome, meta = record.outcome, record.meta
    assert outcome is not None
    common = {
        "game_id": record.game_id,
        "game": record.game,
        "condition": "",
        "learning": bool(meta.get("learning", False)),
    }
    turn = {**common, "turn": meta.get("turn")}
    yield (
        "games",
        {
            **turn,
            "settings": json.dumps(meta.get(SETTINGS, {}), ensure_ascii=False, sort_keys=True),
            "source": "+".join(sorted({seat.source.value for seat in record.seats})),
            "seating": meta.get("seating"),
            "triadic": any(seat.role == JESTER for seat in record.seats),
            "winner": outcome.winner,
            "reason": outcome.reason,
            "days": max((event.day for event in record.events if event.kind is EventKind.VOTE), default=0),
            "seed": record.seed,
        },
    )
    out = {event.target: (_LEAVES[event.kind], event.day) for event in record.events if event.kind in _LEAVES}
    for seat in record.seats:
        fate, day = out.get(seat.name, ("alive", None))
        yield (
            "seats",
            {
                **turn,
                "name": seat.name,
                "role": seat.role,
                "team": seat.team,
                "seat_model": seat.model,
                "won": seat.name in outcome.winners,
                "survived": fate == "alive",
                "fate": fate,
                "day_out": day,
            },
        )
    for lesson in meta.get("lessons", ()):
        drawn = {name: lesson.get(name) for name in ("kind", "text", "kept", "nearest")}
        yield "lessons", {**turn, "model": _learner(record), **drawn}
    labelled = label_game(record)
    rated = {**common, "rater": meta.get("judge") or PLAYERS}
    yield from _said(record, labelled, rated)
    yield from _voted(record, labelled, rated)
    yield from _nights(record, common)
    yield from _bids(record, common)
    yield from _judged(record, rated)


def _learner(record: GameRecord) -> str:
    """The model that the lessons of a game are drawn by: its jester's."""
    return "+".join(sorted({seat.model for seat in record.by_role(JESTER)}))


def _said(record: GameRecord, labelled: LabelledGame, common: Row) -> Iterator[tuple[str, Row]]:
    """Statements and ratings, with their labels."""
    phases = {statement_id(record.game_id, event.index): event.phase.value for event in record.events}
    of_day = Counter(row.day for row in labelled.statements)
    position: Counter[int] = Counter()
    by_id: dict[str, StatementRow] = {}
    for row in labelled.statements:
        by_id[row.statement_id] = row
        position[row.day] += 1
        place = {"phase": phases[row.statement_id], "position": position[row.day], "statements_of_day": of_day[row.day]}
        yield "statements", {**common, **_taken(row, "statements"), **place}
    for rating in labelled.ratings:
        about = by_id[rating.statement_id]
        labels = {name: getattr(about, name) for name in LABELS}
        yield "ratings", {**common, **_taken(rating, "ratings"), **labels, "day": about.day}


def _taken(row: StatementRow | RatingRow, frame: str) -> Row:
    """The fields of a labelled row that are columns of a frame."""
    return {name: getattr(row, name) for name in row.__slots__ if name in SCHEMAS[frame]}


def _voted(record: GameRecord, labelled: LabelledGame, common: Row) -> Iterator[tuple[str, Row]]:
    roles = {seat.name: seat.role for seat in record.seats}
    suspicion = _Suspicion(labelled.ratings)
    alive = [seat.name for seat in record.seats]
    cast: dict[tuple[int, Phase], int] = {}
    for event in record.events:
        if event.kind in _LEAVES and event.target in alive:
            alive.remove(event.target)
        if event.kind is not EventKind.VOTE:
            continue
        before = cast.setdefault((event.day, event.phase), event.index)
        voter, target = event.actor or "", event.target or ""
        vote = {
            **common,
            "day": event.day,
            "ballot": 2 if event.phase is Phase.REVOTE else 1,
            "voter": voter,
            "voter_role": roles[voter],
            "drawn": bool(event.fallback),
        }
        yield "votes", {**vote, "target": target, "target_role": roles[target]}
        rank = suspicion.rank(voter, target, alive, before)
        if rank is not None:
            yield "ranks", {**vote, "suspicion_rank": rank}


class _Suspicion:
    """How each observer's running suspicion of each speaker stood at any moment of a game."""

    def __init__(self, ratings: Iterable[RatingRow]) -> None:
        self._after: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
        for rating in ratings:
            index = int(rating.statement_id.rpartition(":")[2])
            self._after[rating.observer, rating.speaker].append((index, rating.running_suspicion))

    def rank(self, observer: str, target: str, alive: Iterable[str], before: int) -> float | None:
        """The target's rank among the living others, by ratings of statements before an event; None without any."""
        rated = {name: self._at(observer, name, before) for name in alive if name != observer}
        if target not in rated or all(value is None for value in rated.values()):
            return None
        values = {name: round(START if value is None else value, _DIGITS) for name, value in rated.items()}
        above = sum(value > values[target] for value in values.values())
        tied = sum(value == values[target] for value in values.values())
        return above + (tied + 1) / 2

    def _at(self, observer: str, speaker: str, before: int) -> float | None:
        return next(
            (value for index, value in reversed(self._after.get((observer, speaker), [])) if index < before), None
        )


def _nights(record: GameRecord, common: Row) -> Iterator[tuple[str, Row]]:
    roles = {seat.name: seat.role for seat in record.seats}
    ends = [event for event in record.events if event.kind in (EventKind.DEATH, EventKind.QUIET)]
    drawn = not_chosen(record.events)
    for event in record.events:
        if event.kind in _ACTS:
            died = next((end.kind is EventKind.DEATH for end in ends if end.index > event.index), None)
            yield (
                "nights",
                {
                    **common,
                    "day": event.day,
                    "act": _ACTS[event.kind],
                    "round": event.round,
                    "actor": event.actor,
                    "actor_role": roles.get(event.actor or ""),
                    "target": event.target,
                    "target_role": roles.get(event.target or ""),
                    "died": died if event.kind is EventKind.KILL else None,
                    "drawn": event.index in drawn,
                },
            )


def _bids(record: GameRecord, common: Row) -> Iterator[tuple[str, Row]]:
    roles = {seat.name: seat.role for seat in record.seats}
    floor = {(e.day, e.phase, e.round): e.actor for e in record.events if e.kind in _TURNS}
    for event in record.events:
        if event.kind is EventKind.BID:
            yield (
                "bids",
                {
                    **common,
                    "day": event.day,
                    "phase": event.phase.value,
                    "turn": event.round,
                    "bidder": event.actor,
                    "role": roles[event.actor or ""],
                    "bid": event.data["bid"],
                    "floor": floor.get((event.day, event.phase, event.round)) == event.actor,
                    "drawn": bool(event.fallback),
                },
            )


def _judged(record: GameRecord, common: Row) -> Iterator[tuple[str, Row]]:
    """What the record's judge named and tagged; nothing where it has none."""
    judge = record.meta.get("judge")
    roles = {seat.name: seat.role for seat in record.seats}
    for event in record.events:
        if not judge or event.data.get("judge") != judge or event.fallback:
            continue
        if event.kind is EventKind.ROLES_NAMED:
            for name, guess in event.data["roles"].items():
                yield (
                    "guesses",
                    {
                        **common,
                        "observer": event.actor,
                        "observer_role": roles[event.actor or ""],
                        "target": name,
                        "target_role": roles[name],
                        "guess": next(iter(guess), None),
                    },
                )
        elif event.kind is EventKind.LESSON_TAGS:
            lesson, tags = record.events[event.about or 0], event.data["tags"]
            order = next(iter(tags.get("order", ())), "")
            yield (
                "tags",
                {
                    **common,
                    "model": _learner(record),
                    "kind": lesson.data["kind"],
                    "text": lesson.text,
                    "categories": list(tags.get("categories", ())),
                    "order": int(order) if order in ("1", "2", "3") else None,
                },
            )
