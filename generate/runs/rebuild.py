"""A recorded game as a live game object: rebuilt from the run's plan and replayed up to any ask, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.common.text import plain
from liescope.games.core import Ask, Event, EventKind, Game, Reply
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.lessons import Lesson, LessonKind
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.judging import KEY
from liescope.generate.runs.plan import Plan, PlannedGame, read_plan


def can_rebuild(journal: Journal) -> bool:
    """Whether the games of a run were played or judged here, so that its plan and replies make them again."""
    return KEY in journal.plan or "cells" in journal.plan


def rebuild(journal: Journal, game_id: str) -> Game:
    """The game as the run made it, not yet begun.

    Raises BadData for imported games, which have no replies, and for a plan that does not make this game; UsageError
    for a game under way that cannot be rebuilt before it ends.
    """
    if KEY in journal.plan:
        return _judging(journal, _ended(journal, game_id))
    if not can_rebuild(journal):
        raise BadData(f"{journal.path} holds games that were not played here; nobody was asked anything")
    plan = read_plan(journal.plan, journal.path)
    planned = _planned(plan, game_id)
    if planned is None:
        raise BadData(f"the plan of {journal.path} makes no game {plain(game_id)}; restore the folder from a copy")
    return plan.make(planned, _lessons(_ended(journal, game_id)) if planned.learning else ())


def ask_at(journal: Journal, game_id: str, step: int, seat: str) -> tuple[Ask, Sequence[Event], Game]:
    """The ask to a seat at a step, the events the seat had seen, and the game at that moment.

    Raises UsageError if no seat of that name is asked at that step, or if the replies end before it.
    """
    session = Session(rebuild(journal, game_id))
    answers = journal.answers(game_id)
    while session.asks and session.asks[0].step < step:
        session.send(_batch(session, answers, game_id))
    asked = {ask.seat: ask for ask in session.asks if ask.step == step}
    if seat not in asked:
        who = f"at step {step}, those asked are {', '.join(asked)}" if asked else f"it has no step {step}"
        raise UsageError(f"game {plain(game_id)} asks {plain(seat)} nothing: {plain(who)}; --calls lists the calls")
    return asked[seat], session.game.view(seat), session.game


def _batch(session: Session, answers: dict[tuple[int, str], Reply], game_id: str) -> tuple[Reply, ...]:
    try:
        return tuple(answers[ask.step, ask.seat] for ask in session.asks)
    except KeyError:
        step = session.asks[0].step
        raise UsageError(f"the replies of game {plain(game_id)} end at step {step}; choose an earlier one") from None


def _planned(plan: Plan, game_id: str) -> PlannedGame | None:
    number = game_id.rpartition("-")[2]
    if not (number.isascii() and number.isdigit()) or int(number) >= len(plan):
        return None
    planned = plan.planned(int(number))
    return planned if planned.game_id == game_id else None


def _ended(journal: Journal, game_id: str) -> GameRecord:
    if game_id not in journal.game_ids():
        raise UsageError(f"game {plain(game_id)} has not ended; what it began with is known once it has")
    return journal.record(game_id)


def _lessons(game: GameRecord) -> tuple[Lesson, ...]:
    for event in game.events:
        if event.kind is EventKind.LESSONS:
            return tuple(Lesson(LessonKind(kind), text) for kind, text in event.data["lessons"])
    return ()


def _judging(journal: Journal, judged: GameRecord) -> Game:
    try:
        spec = TypeAdapter(JudgeSpec).validate_python(journal.plan.get("asked", {}))
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, ("asked", *wrong["loc"])))
        raise BadData(f"the plan of {journal.path} cannot be read at {plain(place)}: {wrong['msg']}") from None
    played = tuple(event for event in judged.events if "judge" not in event.data)
    return Judging(replace(judged, events=played), spec, str(judged.meta.get("judge", "")))
