"""People who judge finished games: each answer is kept at once, and every sitting goes on where it was left."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import liescope
from liescope.common.errors import PlanChanged, UsageError
from liescope.games.core import EventKind
from liescope.games.judging import OUTSIDE, ReaderSpec
from liescope.games.record import Source
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import rebuild
from liescope.generate.runs.sitting import Assignment, Sitting
from liescope.web.judge_mode import lines_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "small"
    liescope.play("mini-mafia", games=6, players=["scripted:bold"], seed=3, out=folder)
    return folder


def answer(sitting: Sitting) -> None:
    question = sitting.question()
    assert question is not None
    if question.about_players:
        sitting.suspect(dict.fromkeys(question.ask.options, 0.5), 2.0)
    else:
        sitting.say(question.number % 2 == 0, 0.75, 1.5)


def test_a_sitting_that_is_closed_after_every_answer_is_the_same_as_one_that_is_not(run: Path, tmp_path: Path) -> None:
    drawn = Assignment.draw(run, ReaderSpec(), 3)
    with Sitting(drawn, "ada", tmp_path / "whole") as whole:
        while whole.question():
            answer(whole)
    more, answered = True, 0
    while more:
        with Sitting(drawn, "ada", tmp_path / "torn") as torn:
            assert torn.answered == answered
            if more := torn.question() is not None:
                answer(torn)
                answered += 1
    assert answered == torn.total == whole.total
    with Journal.open(tmp_path / "whole") as one, Journal.open(tmp_path / "torn") as other:
        assert list(one.records()) == list(other.records())
        for game_id in one.game_ids():
            again = rebuild(one, game_id)
            for batch in one.replies(game_id):
                again.send(batch)
            assert again.game.record() == one.record(game_id)  # type: ignore[attr-defined]
            assert {call["latency_ms"] for call in one.calls(game_id)} == {1500.0, 2000.0}
            assert {call["model"] for call in one.calls(game_id)} == {"ada"}


def test_people_read_the_same_games_each_in_an_order_of_their_own(run: Path) -> None:
    drawn = Assignment.draw(run, ReaderSpec(), 5)
    orders = {tuple(drawn.of(person)) for person in ("ada", "bo", "cy", "di")}
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1
    assert drawn.games.keys() == Assignment.draw(run, ReaderSpec(), 5).games.keys()
    named = [record.game_id for record in drawn.games.values()][:2]
    only = Assignment.draw(run, ReaderSpec(), None, only=named)
    assert {record.game_id for record in only.games.values()} == {*named}
    assert drawn.games.keys() != Assignment.draw(run, ReaderSpec(seed=1), 5).games.keys()


def test_nobody_reads_a_game_that_they_played_in(run: Path) -> None:
    drawn = Assignment.draw(run, ReaderSpec(), None)
    place, record = next(iter(drawn.games.items()))
    mine = replace(record.seats[0], model="ada", source=Source.HUMAN)
    played = replace(record, seats=(mine, *record.seats[1:]))
    drawn = replace(drawn, games={**drawn.games, place: played})
    assert place not in drawn.of("ada")
    assert place in drawn.of("bo")


def test_a_folder_of_other_games_or_another_person_is_left_alone(run: Path, tmp_path: Path) -> None:
    Sitting(Assignment.draw(run, ReaderSpec(), 2), "ada", tmp_path / "run").close()
    for assignment, person in (
        (Assignment.draw(run, ReaderSpec(), 3), "ada"),
        (Assignment.draw(run, ReaderSpec("villager"), 2), "ada"),
        (Assignment.draw(run, ReaderSpec(), 2), "bo"),
    ):
        with pytest.raises(PlanChanged):
            Sitting(assignment, person, tmp_path / "run")


def test_judged_games_are_no_games_to_judge_and_impossible_wishes_are_named(run: Path, tmp_path: Path) -> None:
    Sitting(Assignment.draw(run, ReaderSpec(), 2), "ada", tmp_path / "run").close()
    with pytest.raises(UsageError, match="judged games"):
        Assignment.draw(tmp_path / "run", ReaderSpec(), 2)
    with pytest.raises(UsageError, match="share"):
        Assignment.draw(run, ReaderSpec(OUTSIDE, share=0), 2)
    with pytest.raises(UsageError, match="unknown game"):
        Assignment.draw(run, ReaderSpec(), 2, only=["pope"])
    with pytest.raises(UsageError, match="number of games"):
        Assignment.draw(run, ReaderSpec(), 0)


def test_a_reader_is_told_which_roles_deceive_and_by_no_order_who_holds_them(run: Path, tmp_path: Path) -> None:
    with Journal.open(run) as journal:
        game = next(iter(journal.records()))
    told = set()
    for turned in (False, True):
        roles = [seat.role for seat in game.seats][:: -1 if turned else 1]
        composition = {"composition": dict(Counter(roles))}  # as an importer may count them
        events = [replace(e, data={**e.data, **composition}) if e.kind is EventKind.SETUP else e for e in game.events]
        folder = tmp_path / f"turned-{turned}"
        with Journal.create(folder / "run", {"import": "elsewhere"}) as journal:
            journal.add_record(replace(game, events=tuple(events)))
        with Sitting(Assignment.draw(folder / "run", ReaderSpec(), 1), "ada", folder / "ada") as sitting:
            question = sitting.question()
            assert question is not None
            assert (question.title, question.deceivers) == ("Mafia", ("mafioso",))
            told.add(next(lines_of(question)).words)
    assert len(told) == 1
    assert "the mafioso must deceive" in told.pop()


def test_where_cards_lie_in_the_centre_no_role_is_told_to_have_a_player(tmp_path: Path) -> None:
    liescope.play("one-night-werewolf", games=4, players=["scripted:bold"], out=tmp_path / "run")
    with Sitting(Assignment.draw(tmp_path / "run", ReaderSpec(), 4), "ada", tmp_path / "ada") as sitting:
        while question := sitting.question():
            assert question.deceivers == ()
            answer(sitting)
