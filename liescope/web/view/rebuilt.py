"""A game's record put together from the tables of a corpus, as far as they tell.

The tables say when everything was said (a statement's id ends with the index of its event) and in which order votes,
acts of the night, bids and ratings were made. Events that no table holds (what was not said, what an imported game
calls its own) are missing, so that indices have gaps.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from liescope.data_cards.licences import OURS
from liescope.data_cards.tables import BidRow, GameRow, LessonRow, NightActRow, RoleGuessRow
from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.drawn import DRAWN
from liescope.games.facts import EventData, GameMeta
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.games.registry import GAMES
from liescope.games.werewolf import WEREWOLF, DyadicWerewolf, Werewolf
from liescope.labeling.label import NOT_ASKED, NOT_IN_SOURCE
from liescope.labeling.rows import LabelledGame, RatingRow
from liescope.web.view.placing import Fact, Key, placed

_LAST = float("inf")
_NIGHT, _TALK, _BALLOT, _DEFENCE, _REVOTE, _OUT = range(6)
_PARTS = {
    Phase.NIGHT: _NIGHT,
    Phase.DISCUSSION: _TALK,
    Phase.VOTING: _BALLOT,
    Phase.DEFENCE: _DEFENCE,
    Phase.REVOTE: _REVOTE,
}
_ACTS = {
    "proposal": EventKind.PROPOSAL,
    "kill": EventKind.KILL,
    "protection": EventKind.PROTECTION,
    "investigation": EventKind.INVESTIGATION,
}
_OWN = frozenset({"protection", "investigation"})  # acts that only the actor sees


@dataclass(frozen=True, slots=True)
class GameRows:
    """The rows of one game in the tables that a record can be put together from, each in the order of its table."""

    game: GameRow
    labels: LabelledGame
    night_acts: tuple[NightActRow, ...] = ()
    bids: tuple[BidRow, ...] = ()
    lessons: tuple[LessonRow, ...] = ()
    role_guesses: tuple[RoleGuessRow, ...] = ()


def rebuilt(rows: GameRows) -> tuple[GameRecord, frozenset[int]]:
    """The record, and the indices at which it certainly has the event that the game had there."""
    statements = _statements(rows)
    events, certain = placed(
        sorted(_facts(rows, statements), key=lambda fact: fact.key),
        statements,
        rows.game.silences if rows.game.game in GAMES else None,
    )
    game = rows.game
    won = tuple(seat.name for seat in game.seats if seat.won)
    record = GameRecord(
        game.game_id,
        game.game,
        game.seed,
        game.cell,
        tuple(Seat(s.name, s.role, s.team, s.deceives, s.model, Source(s.source)) for s in game.seats),
        tuple(events),
        Status(game.status),
        Outcome(game.winner or "", won, game.reason, game.days) if game.reason is not None else None,
        game.failure,
        _meta(rows),
    )
    return record, certain


def _statements(rows: GameRows) -> list[tuple[Key, Event]]:
    """The statements with their keys, which grow."""
    found: list[tuple[Key, Event]] = []
    key: Key = ()
    for row in rows.labels.statements:
        phase = Phase(row.phase)
        key = max(key, (row.day, _PARTS.get(phase, _OUT), row.round, row.position))
        data = EventData(notes=list(row.read_notes)) if row.read_notes else EventData()
        if row.planted_type or row.reasoning:
            meant = {"planted_type": row.planted_type, "reasoning": row.reasoning}
            data["private"] = {name: said for name, said in meant.items() if said}
        said = Event(
            int(row.statement_id.rpartition(":")[2]),
            EventKind.STATEMENT,
            row.day,
            phase,
            row.round,
            row.speaker,
            text=row.text,
            audience=row.audience or None,
            data=data,
        )
        found.append((key, said))
    return found


def _facts(rows: GameRows, statements: Sequence[tuple[Key, Event]]) -> Iterator[Fact]:
    yield from _setup(rows.game)
    yield from _nights(rows)
    yield from _bids(rows.bids)
    yield from _votes(rows, statements)
    yield from _assessments(rows, statements)
    yield from _ends(rows)


def _setup(game: GameRow) -> Iterator[Fact]:
    start, first = (-1.0,), Phase.SETUP
    roles = Counter(seat.role for seat in game.seats if seat.role)
    data = {"names": [seat.name for seat in game.seats], "composition": dict(roles)}
    yield Fact(start, EventKind.SETUP, 0, first, False, {"data": data})
    for seat in game.seats:
        if seat.role:
            fields = {"actor": seat.name, "audience": (seat.name,), "data": {"role": seat.role}}
            yield Fact(start, EventKind.ROLE, 0, first, False, fields)
    allies = _killers(game, None)
    if game.origin == OURS and len(allies) > 1 and not game.game.startswith("one-night"):  # they meet at night
        yield Fact(start, EventKind.PARTNERS, 0, first, False, {"audience": allies, "data": {"names": list(allies)}})


def _nights(rows: GameRows) -> Iterator[Fact]:
    key: Key = ()
    deaths = {seat.name: seat.day_out for seat in rows.game.seats if seat.fate == "killed"}
    for day in sorted({act.day for act in rows.night_acts}):
        yield Fact((day, _NIGHT, -1), EventKind.NIGHT, day, Phase.NIGHT, False)
    for act in rows.night_acts:
        key = max(key, (act.day, _NIGHT, act.round, _LAST))
        drawn = {"drawn": True} if act.fallback == DRAWN else {}
        fields = {
            "round": act.round,
            "actor": act.actor,
            "target": act.target,
            "audience": (act.actor,) if act.act in _OWN and act.actor else _killers(rows.game, act.actor_role),
            "fallback": "" if drawn else act.fallback,
            "data": (_found(rows.game, act.target_role) if act.act == "investigation" else {}) | drawn,
        }
        yield Fact(key, _ACTS.get(act.act, EventKind.ACT), act.day, Phase.NIGHT, True, fields)
        if act.died and act.target and deaths.pop(act.target, None) is not None:
            yield Fact(key, EventKind.DEATH, act.day, Phase.NIGHT, True, {"target": act.target})
    for name, out in deaths.items():
        yield Fact((out or 0, _NIGHT, _LAST), EventKind.DEATH, out or 0, Phase.NIGHT, True, {"target": name})
    killed = {act.day: False for act in rows.night_acts if act.act == "kill"}
    killed |= {act.day: True for act in rows.night_acts if act.died}
    for day in (day for day, died in killed.items() if not died):
        yield Fact((day, _NIGHT, _LAST), EventKind.QUIET, day, Phase.NIGHT, False)
    labels = rows.labels
    spoken = {row.day for row in labels.statements} | {vote.day for vote in labels.votes}
    for day in sorted(spoken | {bid.day for bid in rows.bids}):
        yield Fact((day, _TALK, -1), EventKind.DAY, day, Phase.DISCUSSION, False)


def _found(game: GameRow, role: str | None) -> EventData:
    """What an investigation told: the role, but in Werewolf only whether it is a werewolf."""
    if role and game.game in (Werewolf.name, DyadicWerewolf.name):
        role = role if role == WEREWOLF else f"not {WEREWOLF}"
    return EventData(role=role) if role else EventData()


def _killers(game: GameRow, role: str | None) -> tuple[str, ...]:
    """Who sees a kill or a proposal: those whose role kills by the rules; in a game whose rules are not known, those
    with the actor's role, or all who deceive.
    """
    if known := GAMES.get(game.game):
        return tuple(seat.name for seat in game.seats if seat.role in known.killers)
    return tuple(seat.name for seat in game.seats if (seat.role == role if role else seat.deceives))


def _bids(bids: Sequence[BidRow]) -> Iterator[Fact]:
    for bid in bids:
        phase = Phase(bid.phase)
        fields = {
            "round": bid.turn,
            "actor": bid.bidder,
            "audience": (bid.bidder,),
            "fallback": bid.fallback,
            "data": {"bid": bid.bid},
        }
        yield Fact((bid.day, _PARTS.get(phase, _TALK), bid.turn, 0), EventKind.BID, bid.day, phase, True, fields)


def _votes(rows: GameRows, statements: Sequence[tuple[Key, Event]]) -> Iterator[Fact]:
    """A vote whose reason was spoken stands before it; the others stand at the end of their ballot."""
    reasons = {(event.day, event.actor): key for key, event in statements if event.phase is Phase.VOTING}
    for vote in rows.labels.votes:
        phase, part = (Phase.VOTING, _BALLOT) if vote.ballot == 1 else (Phase.REVOTE, _REVOTE)
        reason = reasons.get((vote.day, vote.voter)) if vote.ballot == 1 else None
        key = (vote.day, part, _LAST) if reason is None else (*reason[:-1], reason[-1] - 0.5)
        fields = {"actor": vote.voter, "target": vote.target, "fallback": vote.fallback}
        yield Fact(key, EventKind.VOTE, vote.day, phase, True, fields)
    out = EventKind.ARREST if "mafia" in rows.game.game else EventKind.EXILE
    counted = Counter((vote.day, vote.ballot, vote.target) for vote in rows.labels.votes)
    last = {day: Phase.REVOTE if ballot == 2 else Phase.VOTING for day, ballot, _ in sorted(counted)}
    for seat in rows.game.seats:
        if seat.fate == "exiled" and seat.day_out is not None:
            votes = counted[seat.day_out, 2, seat.name] or counted[seat.day_out, 1, seat.name]
            data = {"votes": votes} if votes and out is EventKind.EXILE else {}
            gone: dict[str, Any] = {"target": seat.name, "data": data}
            phase = last.get(seat.day_out, Phase.VOTING)
            yield Fact((seat.day_out, _OUT), out, seat.day_out, phase, True, gone)
    if out is EventKind.EXILE:
        settled = {seat.day_out for seat in rows.game.seats if seat.fate == "exiled"}
        for day in sorted(last.keys() - settled):
            yield Fact((day, _OUT), EventKind.NO_EXILE, day, last[day], False)


def _assessments(rows: GameRows, statements: Sequence[tuple[Key, Event]]) -> Iterator[Fact]:
    """Reports and ratings, right after the statement, or at the end if a judge gave them."""
    judge = rows.game.judge
    judged: EventData = {"judge": judge} if judge else {}
    ratings: dict[str, list[RatingRow]] = defaultdict(list)
    for rating in rows.labels.ratings:
        ratings[rating.statement_id].append(rating)
    seats = {seat.name for seat in rows.game.seats}
    for row, (key, said) in zip(rows.labels.statements, statements, strict=True):
        at = (_LAST, 1.0) if judge else (*key, 1)
        about = {"round": said.round, "target": said.actor, "about": said.index}
        if row.label_self is not None or row.label_self_null not in (NOT_ASKED, NOT_IN_SOURCE):
            told = _given(row.label_self, row.self_type, row.self_confidence, row.self_reason)
            fields = about | _view(row.speaker, told, row.label_self_null, row.self_notes, judged)
            yield Fact(at, EventKind.SELF_REPORT, said.day, said.phase, True, fields)
        for rating in ratings[row.statement_id]:
            told = _given(rating.flag, rating.type, rating.confidence, rating.reason, rating.suspicion)
            observer = rating.observer if rating.observer in seats else None
            fields = about | _view(observer, told, rating.null, rating.notes, judged)
            yield Fact(at, EventKind.RATING, said.day, said.phase, True, fields)


def _given(flag: bool | None, kind: str | None, sure: float | None, reason: str, suspicion: float | None = None) -> Any:
    """The fields of an assessment that were read."""
    told = {"deceptive": flag, "type": kind, "confidence": sure, "suspicion": suspicion, "reason": reason or None}
    return {name: value for name, value in told.items() if value is not None}


def _view(seat: str | None, told: Any, null: str, notes: Sequence[str], judged: EventData) -> dict[str, Any]:
    noted = {"notes": list(notes)} if notes else {}
    data = {**({"assessment": told} if told else {}), **noted, **judged}
    audience = () if seat is None else (seat,)
    return {"actor": seat, "audience": audience, "fallback": "" if told else null, "data": data}


def _ends(rows: GameRows) -> Iterator[Fact]:
    game = rows.game
    if game.winner:
        yield Fact((_LAST, 0), EventKind.END, game.days, Phase.END, True, {"data": {"winner": game.winner}})
    for lesson in rows.lessons:
        authors = [seat.name for seat in game.seats if seat.model == lesson.author_model]
        actor = authors[0] if len(authors) == 1 else None
        fields = {"actor": actor, "audience": tuple(authors), "text": lesson.text, "data": {"kind": lesson.kind}}
        yield Fact((_LAST, 0.5), EventKind.LESSON, game.days, Phase.END, True, fields)
    for (judge, observer), guesses in groupby(rows.role_guesses, lambda guess: (guess.judge, guess.observer)):
        named = {guess.target: [guess.guess] if guess.guess else [] for guess in guesses}
        data = {"judge": judge, "roles": named}
        fields = {"actor": observer, "audience": (observer,), "data": data}
        yield Fact((_LAST, 2), EventKind.ROLES_NAMED, game.days, Phase.END, True, fields)


def _meta(rows: GameRows) -> GameMeta:
    game = rows.game
    known: dict[str, Any] = {
        "turn": game.turn,
        "seating": game.seating,
        "learning": game.learning or None,
        "prompt_version": game.prompt_version,
        "judge": game.judge,
        "replayed": game.siblings if game.fork_step is None else None,
        "lessons": [
            {"kind": lesson.kind, "text": lesson.text, "kept": lesson.kept, "nearest": lesson.nearest}
            for lesson in rows.lessons
        ]
        or None,
    }
    with suppress(ValueError):
        known["settings"] = json.loads(game.settings) or None
    if game.fork_step is not None:
        known["fork"] = {
            "run": game.run,
            "game": game.siblings or "",
            "step": game.fork_step,
            "root": game.siblings or "",
            "seat": game.fork_seat or "",
            "group": game.fork_group or "",
            "number": game.turn or 0,
            "events": game.fork_event or 0,
        }
    return cast(GameMeta, {name: value for name, value in known.items() if value is not None})
