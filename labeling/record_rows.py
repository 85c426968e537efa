"""A record as the rows of every table, for corpora and analyses alike, and the record rebuilt from its rows of
events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from liescope.common.leaks import all_without_addresses, without_addresses
from liescope.data_cards.tables.rows import EventRow, GameRow, SeatRow
from liescope.games.core import Event, EventKind, Outcome, Phase, reasoning_in
from liescope.games.record import GameRecord, Source, Status, seat_from_json
from liescope.games.record_checks import NotARecord, check_record
from liescope.games.withdrawal import withdrawn_from
from liescope.labeling.acts import (
    FATES,
    TURNS,
    bid_rows,
    lesson_rows,
    lesson_tag_rows,
    night_act_rows,
    role_guess_rows,
    vote_rows,
)
from liescope.labeling.conditions import condition_of, origin_of, prompt_version_of, settings_of
from liescope.labeling.label import rating_rows, statement_rows
from liescope.labeling.ledger import claim_rows


def game_row(record: GameRecord, run: str) -> GameRow:
    """The row of one game, finished or failed."""
    outcome, meta = record.outcome, record.meta
    fork = meta.get("fork")
    kinds = [event.kind for event in record.events]
    turns = [event.actor for event in record.events if event.kind in TURNS]
    return GameRow(
        game_id=record.game_id,
        run=run,
        origin=origin_of(record),
        game=record.game,
        cell=without_addresses(record.cell),
        model=model_of(record),
        condition=condition_of(record),
        settings=json.dumps(settings_of(record), ensure_ascii=False, sort_keys=True),
        prompt_version=prompt_version_of(record),
        learning=bool(meta.get("learning", False)),
        turn=meta.get("turn"),
        seating=meta.get("seating"),
        siblings=family_of(record),
        fork_step=fork["step"] if fork else None,
        fork_group=without_addresses(fork["group"]) if fork else None,
        fork_seat=fork["seat"] if fork else None,
        fork_event=fork["events"] if fork else None,
        seed=record.seed,
        source="+".join(sorted(_sources(record))),
        status=record.status.value,
        failure=without_addresses(record.failure),
        winner=(outcome.winner or None) if outcome else None,
        reason=outcome.reason if outcome else None,
        days=outcome.days if outcome else max((event.day for event in record.events), default=0),
        seats=tuple(_seat_rows(record)),
        judge=meta.get("judge"),
        killed=_targets(record, "killed"),
        voted_out=_targets(record, "exiled"),
        last_speaker=turns[-1] if turns else None,
        statements=kinds.count(EventKind.STATEMENT) - sum(withdrawn_from(record).values()),
        silences=kinds.count(EventKind.SILENCE),
        fallbacks=sum(1 for event in record.events if event.fallback),
        winners=outcome.winners if outcome else (),
        meta=_text(all_without_addresses(dict(meta))) if meta else "{}",
    )


def event_rows(record: GameRecord) -> Iterator[EventRow]:
    """The events of a game, finished or failed."""
    for event in record.events:
        yield EventRow(
            game_id=record.game_id,
            index=event.index,
            kind=event.kind.value,
            day=event.day,
            phase=event.phase.value,
            round=event.round,
            actor=event.actor,
            target=event.target,
            text=event.text,
            about=event.about,
            audience=event.audience,
            drawn=bool(event.data.get("drawn")),
            fallback=without_addresses(event.fallback),
            reasoning=reasoning_in(event.data.get("private", {})),
            payload=_text(_without_reasoning(event.data)) if event.data else "{}",
        )


def record_of(game: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> GameRecord:
    """The record that rows were made of: the inverse of `game_row` and `event_rows`, except for endpoints' addresses,
    which no table holds, and lone surrogates, which no file can hold.

    Parameters
    ----------
    game
        The game's row in `games`, by column.
    events
        Its rows in `events`, in order.

    Raises
    ------
    NotARecord
        If the rows make no game.
    """
    try:
        outcome = Outcome(game["winner"] or "", tuple(game["winners"]), game["reason"], game["days"])
        record = GameRecord(
            game["game_id"],
            game["game"],
            game["seed"],
            game["cell"],
            tuple(seat_from_json(seat) for seat in game["seats"]),
            tuple(map(_event, events)),
            Status(game["status"]),
            None if game["reason"] is None else outcome,
            game["failure"],
            json.loads(game["meta"]),
        )
    except (ValueError, RecursionError) as error:
        raise NotARecord(f"a value cannot be read: {error}") from error
    check_record(record)
    return record


def _event(row: Mapping[str, Any]) -> Event:
    return Event(
        row["index"],
        EventKind(row["kind"]),
        row["day"],
        Phase(row["phase"]),
        row["round"],
        row["actor"],
        row["target"],
        row["text"],
        row["about"],
        None if row["audience"] is None else tuple(row["audience"]),
        row["fallback"],
        _with_reasoning(json.loads(row["payload"]), row["reasoning"]),
    )


def _without_reasoning(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Facts of an event without what a model thought, which has a column of its own; its place is kept."""
    private = data.get("private", {})
    if reasoning_in(private) is None:
        return data
    return {**data, "private": {**private, "reasoning": None}}


def _with_reasoning(data: Any, reasoning: str | None) -> Any:
    """The inverse of `_without_reasoning`. Raises ValueError where the facts have no place for it."""
    if reasoning is not None:
        private = data.get("private") if isinstance(data, dict) else None
        if not isinstance(private, dict) or "reasoning" not in private:
            raise ValueError("its payload has no place for reasoning")
        private["reasoning"] = reasoning
    return data


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def _sources(record: GameRecord) -> set[str]:
    """The sources of a game's words: its seats, and people who held them before it was continued."""
    before = record.meta.get("fork", {}).get("people")
    return {seat.source.value for seat in record.seats} | ({Source.HUMAN.value} if before else set())


def family_of(record: GameRecord) -> str | None:
    """The recorded game that a game ultimately continues; the group of a text, or a hash of the words of a text or
    conversation; None for an independent game.
    """
    fork = record.meta.get("fork")
    return fork["root"] if fork else record.meta.get("family")


def model_of(record: GameRecord) -> str:
    """The players of a game in one name: the model in every seat if there is only one, else the model of each role, in
    alphabetical order of roles, as in "A | B | A"; several models in one role, or where no role is known, are joined by
    +.
    """
    models = {seat.model for seat in record.seats}
    if len(models) == 1:
        return models.pop()
    roles = sorted({seat.role for seat in record.seats})
    return " | ".join("+".join(sorted({seat.model for seat in record.by_role(role)})) for role in roles)


def _seat_rows(record: GameRecord) -> Iterator[SeatRow]:
    out = {event.target: (FATES[event.kind], event.day) for event in record.events if event.kind in FATES}
    for seat in record.seats:
        fate, day = out.get(seat.name, ("alive", None))
        yield SeatRow(
            name=seat.name,
            role=seat.role,
            team=seat.team,
            deceives=seat.deceives,
            model=seat.model,
            source=seat.source.value,
            won=seat.name in record.outcome.winners if record.outcome and record.outcome.winner else None,
            fate=fate,
            day_out=day,
        )


def _targets(record: GameRecord, fate: str) -> tuple[str, ...]:
    return tuple(event.target for event in record.events if event.target and FATES.get(event.kind) == fate)


def game_tables(
    record: GameRecord, run: str = "", transcript: bool = False, only: Collection[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """The (table, row) pairs of one game: its games row, its events and, for a finished game, the rows of every other
    table but calls, which only a journal has. A failed game is incomplete, so its statements have no labels.

    run: the name of the game's run; transcript: fill the statements' column of that name; only: the tables
    wanted, None for all.
    """
    if only is None or "games" in only:
        yield "games", game_row(record, run)
    if only is None or "events" in only:
        for event in event_rows(record):
            yield "events", event
    if record.status is not Status.DONE or record.outcome is None:
        return
    # Several tables derive from these two; some callers need neither.
    ledger, ratings = cache(lambda: claim_rows(record)), cache(lambda: rating_rows(record))
    makers: dict[str, Callable[[], Iterable[Any]]] = {
        "statements": lambda: statement_rows(record, ledger(), ratings(), transcript),
        "claims": ledger,
        "ratings": ratings,
        "votes": lambda: vote_rows(record, ratings()),
        "night_acts": lambda: night_act_rows(record),
        "bids": lambda: bid_rows(record),
        "lessons": lambda: lesson_rows(record),
        "lesson_tags": lambda: lesson_tag_rows(record),
        "role_guesses": lambda: role_guess_rows(record),
    }
    for table, make in makers.items():
        if only is None or table in only:
            for row in make():
                yield table, row
