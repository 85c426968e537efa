"""Rating a frozen log: the rater sees each seat's own view of that moment, and the log stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import Werewolf
from tests.golden.by_hand import JESTER_EXILED, VILLAGERS_SAVED, Hand


def frozen(hand: Hand, assess: bool = False) -> GameRecord:
    made = hand.make()
    session = start(lambda: Werewolf(made.options.replaced(assess=assess), made.seed, "g"))
    drive(session, hand.answer)
    return record(
        session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)), "cell", meta={"turn": 3}
    )


def answer(ask: Ask, view: Sequence[Event]) -> Reply:
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "so"))
    return Reply(form=dict.fromkeys(ask.options, ("villager",)))


def judge(log: GameRecord, spec: RatingSpec) -> tuple[GameRecord, list[tuple[Ask, Sequence[Event]]]]:
    asked: list[tuple[Ask, Sequence[Event]]] = []

    def noted(ask: Ask, view: Sequence[Event]) -> Reply:
        asked.append((ask, view))
        return answer(ask, view)

    session = start(lambda: RatedGame(log, spec, "a judge"))
    drive(session, noted)
    return session.game.record(), asked


def test_judging_asks_for_what_playing_with_assessments_asks_for_of_the_same_seats_with_the_same_views() -> None:
    """So that labels after the game mean the same as labels in play."""
    made, live = VILLAGERS_SAVED.make(), []

    def noted(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind in ASSESSMENTS:
            live.append((ask.seat, ask.kind, ask.day, ask.phase, ask.round, [e for e in view if e.kind not in OWN]))
        return VILLAGERS_SAVED.answer(ask, view)

    drive(start(lambda: Werewolf(made.options.replaced(assess=True), made.seed, "g")), noted)
    _, asked = judge(frozen(VILLAGERS_SAVED, assess=True), RatingSpec())
    late = [(a.seat, a.kind, a.day, a.phase, a.round, [e for e in view if e.kind not in OWN]) for a, view in asked]
    assert late == live


OWN = (EventKind.SELF_REPORT, EventKind.RATING)


def test_no_view_holds_what_comes_after_the_statement_in_question_or_the_end() -> None:
    _, asked = judge(frozen(JESTER_EXILED), RatingSpec(roles=True))
    assert {ask.kind for ask, _ in asked} == {*ASSESSMENTS, AskKind.NAME_ROLES}
    for ask, view in asked:
        assert ask.kind is AskKind.NAME_ROLES or view[-1].index == ask.about
        assert all(event.seen_by(ask.seat) and event.kind is not EventKind.END for event in view)


def test_a_share_of_the_statements_is_judged_from_every_seat_or_not_at_all() -> None:
    log = frozen(VILLAGERS_SAVED)
    statements = sum(event.kind is EventKind.STATEMENT for event in log.events)
    _, asked = judge(log, RatingSpec(share=0.4))
    about = Counter(ask.about for ask, _ in asked)
    assert 0.2 < len(about) / statements < 0.6
    assert set(about.values()) <= {9, 10}
    assert judge(log, RatingSpec(share=0))[1] == []


def test_a_judged_game_can_be_judged_again_by_another_and_what_was_there_stays() -> None:
    log = frozen(JESTER_EXILED)
    once, _ = judge(log, RatingSpec())
    session = start(lambda: RatedGame(once, RatingSpec(share=0, roles=True), "another"))
    drive(session, answer)
    twice = session.game.record()
    judges = Counter(event.data.get("judge") for event in twice.events if "judge" in event.data)
    assert judges == {"a judge": len(twice.events) - len(log.events) - 8, "another": 8}
    assert twice.meta == {"turn": 3, "judge": "another"}
    assert twice.events[: len(log.events)] == log.events
    assert (twice.game_id, twice.seats, twice.outcome, twice.cell) == (log.game_id, log.seats, log.outcome, log.cell)
