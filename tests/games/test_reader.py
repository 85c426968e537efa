"""A reader of a finished game sees one view of it, up to a moment, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.judging import ANY_SEAT, OUTSIDE, Reader, ReaderSpec
from liescope.games.record import GameRecord, event_from_json, event_to_json
from liescope.games.record_checks import check_record
from liescope.games.session import drive, start
from liescope.labeling.label import label_game
from tests.games.test_judging import frozen
from tests.golden.by_hand import VILLAGERS_SAVED

LOG = frozen(VILLAGERS_SAVED, assess=True)
ROLES = sorted({seat.role for seat in LOG.seats})


def read(spec: ReaderSpec) -> tuple[Reader, GameRecord, list[tuple[Ask, Sequence[Event]]]]:
    asked: list[tuple[Ask, Sequence[Event]]] = []

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        asked.append((ask, view))
        if ask.kind is AskKind.SUSPECT:
            return Reply(form=dict.fromkeys(ask.options, ("0.25",)))
        return Reply(assessment=Assessment(True, confidence=0.75))

    session = start(lambda: Reader(LOG, spec, "ada"))
    drive(session, answer)
    assert isinstance(session.game, Reader)
    return session.game, session.game.record(), asked


@pytest.mark.parametrize("days", [0, 1])
@pytest.mark.parametrize("view", [OUTSIDE, ANY_SEAT, *ROLES, LOG.seats[0].name])
def test_a_reader_is_shown_what_its_view_holds_up_to_the_statement_and_never_the_end(view: str, days: int) -> None:
    reader, _, asked = read(ReaderSpec(view, days=days))
    assert len(asked) == reader.questions() > 1
    for ask, seen in asked:
        assert ask.seat == reader.seat
        assert all(reader.seat in (event.audience or ()) or event.audience is None for event in seen)
        assert all(event.kind is not EventKind.END and (not days or event.day <= days) for event in seen)
        assert all("private" not in event.data and "claims" not in event.data for event in seen)
        if ask.about is not None:
            assert seen[-1].index == ask.about
            assert seen[-1].actor != reader.seat
    assert [ask.kind for ask, _ in asked][-1] is AskKind.SUSPECT
    assert reader.seat not in asked[-1][0].options


@pytest.mark.parametrize("view", [OUTSIDE, ANY_SEAT])
def test_answers_stand_behind_the_log_as_ratings_of_the_reader_alone(view: str) -> None:
    reader, done, asked = read(ReaderSpec(view))
    assert done.events[: len(LOG.events)] == LOG.events
    assert tuple(event_from_json(event_to_json(event)) for event in done.events) == done.events
    check_record(done)
    ratings = label_game(done).ratings
    assert len(ratings) == len(asked) - 1
    assert {(row.observer_model, row.flag, row.confidence) for row in ratings} == {("ada", True, 0.75)}
    assert {row.observer for row in ratings} == {reader.seat or "ada"}
    assert {row.null for row in ratings} == {"type, suspicion not asked"}
    assert done.events[-1].data["suspicion"] == dict.fromkeys(asked[-1][0].options, 0.25)


def test_a_share_asks_every_reader_about_the_same_statements_and_fewer() -> None:
    shares = [
        {ask.about for ask, _ in read(ReaderSpec(share=share, seed=seed))[2]} for share in (1, 0.5) for seed in (1, 2)
    ]
    assert shares[0] == shares[1] > shares[2] == shares[3]


def test_a_view_that_a_game_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="no role or seat 'pope'"):
        Reader(LOG, ReaderSpec("pope"), "ada")


def test_who_deceives_is_not_asked_where_no_role_says_so() -> None:
    log = replace(LOG, seats=tuple(replace(seat, role="", deceives=None) for seat in LOG.seats))
    reader = Reader(log, ReaderSpec(), "ada")
    session = start(lambda: reader)
    drive(session, lambda ask, _: Reply(assessment=Assessment(ask.kind is AskKind.PEER_ASSESSMENT, confidence=1)))
    assert reader.questions() == reader.statements() == len(label_game(reader.record()).ratings) > 0
    assert {row.flag for row in label_game(reader.record()).ratings} == {True}
