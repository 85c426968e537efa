"""What came after a recorded game, as rows: lessons drawn from it, and what its judge said about roles and lessons."""

from __future__ import annotations

from collections.abc import Iterator

from liescope.data_cards.tables import LessonRow, LessonTagRow, RoleGuessRow
from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord
from liescope.labeling.lesson_tags import tag


def lesson_rows(record: GameRecord) -> Iterator[LessonRow]:
    """One row per lesson drawn from the game, with the tags that the rules give it."""
    drawn_by = {event.actor for event in record.events if event.kind is EventKind.LESSON}
    models = {seat.model for seat in record.seats if seat.name in drawn_by}
    for lesson in record.meta.get("lessons", ()):
        tags = tag(lesson["text"])
        yield LessonRow(
            game_id=record.game_id,
            cell=record.cell,
            author_model=next(iter(models)) if len(models) == 1 else None,
            turn=record.meta.get("turn"),
            kind=lesson["kind"],
            text=lesson["text"],
            kept=lesson["kept"],
            nearest=lesson["nearest"],
            categories=tags.categories,
            order=tags.order,
        )


def role_guess_rows(record: GameRecord) -> Iterator[RoleGuessRow]:
    """One row per role that the record's judge named; none if it has no judge."""
    roles = {seat.name: seat.role for seat in record.seats}
    for judge, event in _judgements(record, EventKind.ROLES_NAMED):
        for name, guess in event.data["roles"].items():
            yield RoleGuessRow(
                game_id=record.game_id,
                judge=judge,
                observer=event.actor or "",
                observer_role=roles[event.actor or ""],
                target=name,
                target_role=roles[name],
                guess=next(iter(guess), None),
            )


def lesson_tag_rows(record: GameRecord) -> Iterator[LessonTagRow]:
    """One row per lesson that the record's judge tagged; none if it has no judge."""
    for judge, event in _judgements(record, EventKind.LESSON_TAGS):
        lesson, tags = record.events[event.about or 0], event.data["tags"]
        order = next(iter(tags.get("order", ())), "")
        yield LessonTagRow(
            game_id=record.game_id,
            kind=lesson.data["kind"],
            text=lesson.text,
            judge=judge,
            categories=tuple(tags.get("categories", ())),
            order=int(order) if order in ("1", "2", "3") else None,
        )


def _judgements(record: GameRecord, kind: EventKind) -> Iterator[tuple[str, Event]]:
    """The judge's assessments in the record that could be read."""
    judge = record.meta.get("judge")
    for event in record.events:
        if judge and event.kind is kind and event.data.get("judge") == judge and not event.fallback:
            yield judge, event
