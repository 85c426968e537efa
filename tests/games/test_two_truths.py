"""Two truths and a lie: every statement has its verdict, a guess judges the lie, and right guesses and misses score."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.record import Source, record
from liescope.games.script.persona import PROFILES, Persona, Skills, chance
from liescope.games.script.tone import UNSURE
from liescope.games.session import Session, drive, start
from liescope.games.shared_rules import doubted
from liescope.games.two_truths.rules import TOPICS, TwoTruths, TwoTruthsSpec, claims
from liescope.games.two_truths.script import answer
from liescope.labeling.claims import find_claims
from liescope.labeling.label import label_game


def play(seed: int, skills: Skills) -> Session:
    who = Persona("planted", skills, find_claims)
    session = start(lambda: TwoTruths(TwoTruthsSpec(), seed, f"truths-{seed}"))
    drive(session, lambda ask, view: answer(who, ask, view))
    return session


def test_every_statement_is_labelled_and_one_in_three_is_a_lie() -> None:
    for seed in range(5):
        session = play(seed, PROFILES["bold"])
        seats = dict.fromkeys(session.game.names, ("planted", Source.SCRIPTED))
        rows = label_game(record(session.game, session.outcome, seats)).statements
        assert len(rows) == 3 * 3
        assert sum(row.label_claim is True for row in rows) == 3
        assert all(row.label_claim == (row.planted_type != "none") for row in rows)


def test_a_guess_judges_the_lie_and_the_guesses_decide() -> None:
    winners = set()
    for seed in range(6):
        session, right, told = play(seed, PROFILES["steady"]), list[bool](), list[Event]()
        for event in session.events:
            if event.kind is EventKind.STATEMENT:
                told.append(event)
            if event.kind is EventKind.CHOICE:
                lie = next(said for said in told[-3:] if said.data["claims"][0]["verdict"] == "false")
                assert event.about == lie.index
                right.append(event.data["choice"] == lie.data["claims"][0]["kind"])
                assert event.data["doubts"] == right[-1]
        seats = dict.fromkeys(session.game.names, ("planted", Source.SCRIPTED))
        contests = list(doubted(record(session.game, session.outcome, seats)))
        assert [not contest.fooled for contest in contests] == right
        assert {contest.deceiver for contest in contests} == {told[0].actor}
        assert session.outcome is not None
        assert session.outcome.winner == ("guessers" if sum(right) >= len(right) / 2 else "teller")
        winners.add(session.outcome.winner)
    assert len(winners) == 2


def test_who_says_nothing_to_the_point_can_be_guessed_and_is_not_judged() -> None:
    def silent(ask: Ask, _view: Sequence[Event]) -> Reply:
        return Reply(text="") if ask.kind is AskKind.SPEAK else Reply(choice="pet")

    session = start(lambda: TwoTruths(TwoTruthsSpec(), 1, "truths"))
    drive(session, silent)
    made = [event for event in session.events if event.kind is EventKind.CHOICE]
    assert len(made) == 6
    assert all(event.about is None and "doubts" not in event.data for event in made)


@pytest.mark.parametrize(
    ("text", "verdict"), [("I keep a CAT.", "true"), ("My dog, not a cat.", "false"), ("A category of its own.", "")]
)
def test_the_first_thing_that_is_named_is_the_claim(text: str, verdict: str) -> None:
    assert [claim["verdict"] for claim in claims(text, "Ann", "pet", TOPICS["pet"][0])] == (
        [verdict] if verdict else []
    )


def test_a_lie_sounds_unsure_at_the_planted_rate() -> None:
    skills = Skills(m=1.2, d=0.2, v=1.0, j=0.0)
    said = [event for seed in range(120) for event in play(seed, skills).events if event.kind is EventKind.STATEMENT]
    for lies, planted in ((True, chance(-1.5 * skills.m)), (False, chance(-1.5 * skills.d - 1.0))):
        of = [event for event in said if (event.data["claims"][0]["verdict"] == "false") == lies]
        share = sum(event.text.lower().startswith(UNSURE) for event in of) / len(of)
        assert abs(share - planted) < 3.5 * (planted * (1 - planted) / len(of)) ** 0.5
