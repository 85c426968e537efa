"""Werewolf's rules, where no game that is frozen in tests/golden shows them: what is drawn, and tables of other roles.

Of the games that were played by hand there (by_hand.py) every ask, event and outcome is kept: who wins and when, what
saves a victim, who bids, speaks and defends, how long, and what is assessed and shown to whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import (
    ASSESSMENTS,
    CHOICES,
    Ask,
    AskKind,
    Assessment,
    Event,
    EventKind,
    Lesson,
    LessonKind,
    Reply,
)
from liescope.games.session import Session, drive, start
from liescope.games.shared_rules import mentioned, more_than_half
from liescope.games.werewolf.rules import DYADIC, TRIADIC, Werewolf, WerewolfSpec
from tests.golden.by_hand import SEVEN, TEN, VILLAGERS_SAVED


def of(session: Session, *kinds: EventKind) -> list[Event]:
    return [event for event in session.events if event.kind in kinds]


def play(
    spec: WerewolfSpec, seed: int, choose: Callable[[Ask, Random], str | None] = lambda ask, random: None
) -> Session:
    """Everybody does something legal, or what `choose` says."""
    random = Random(seed)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        choice = (choose(ask, random) or random.choice(ask.options)) if ask.kind in CHOICES else None
        return Reply(choice=choice, text="I think so.")

    session = start(lambda: Werewolf(spec, seed, f"g{seed}"))
    drive(session, answer)
    return session


# Who wins


def test_of_two_jesters_the_exiled_one_has_won() -> None:
    roles = (*["villager"] * 5, "doctor", "werewolf", "werewolf", "jester", "jester")
    spec = TEN.replaced(villagers=5, jesters=2, roles=roles)

    def against(ask: Ask, random: Random) -> str | None:
        wanted = {AskKind.KILL: "Alice", AskKind.PROTECT: "Bob", AskKind.BID: "0"}.get(ask.kind, "Ivy")
        return wanted if wanted in ask.options else None

    outcome = play(spec, 1, against).outcome
    assert (outcome.winner, outcome.winners, outcome.days) == ("jester", ("Ivy",), 1)


@pytest.mark.parametrize("table", [TRIADIC, DYADIC], ids=["triadic", "dyadic"])
def test_every_ending_follows_from_who_is_left(table: WerewolfSpec) -> None:
    for seed in range(30):
        session = play(table.replaced(debate_turns=1, defence_turns=1), seed)
        game, outcome = session.game, session.outcome
        wolves, jesters = len(game.holding("werewolf")), len(game.holding("jester"))
        exiled = {game.roles[event.target] for event in of(session, EventKind.EXILE)}
        if "jester" in exiled:
            assert outcome.winner == "jester"
        elif wolves == 0:
            assert outcome.winner == "villagers"
        else:
            assert outcome.winner == "werewolves"
            assert wolves >= len(game.alive) - wolves - jesters


def test_villagers_doctor_and_seer_win_together_and_only_werewolves_and_jester_deceive() -> None:
    assert DYADIC.composition() == TRIADIC.composition() | {"villager": 7, "jester": 0}
    game = Werewolf(TRIADIC)
    roles = ("villager", "doctor", "seer", "werewolf", "jester")
    assert [game.team(role) for role in roles] == ["villagers"] * 3 + ["werewolves", "jester"]
    assert [role for role in roles if game.deceives(role)] == ["werewolf", "jester"]


# The night


def test_of_two_werewolves_who_never_agree_each_gets_its_way_as_often() -> None:
    def stubborn(ask: Ask, random: Random) -> str | None:
        return {"Henry": "Alice", "Ivy": "Bob"}[ask.seat] if ask.kind is AskKind.KILL and ask.day == 1 else None

    one_night = TEN.replaced(debate_turns=0, defence_turns=0, days=1)
    killed = Counter(of(play(one_night, seed, stubborn), EventKind.KILL)[0].target for seed in range(200))
    assert set(killed) == {"Alice", "Bob"}
    assert min(killed.values()) > 65  # fewer has a chance of about one in a million


def test_a_seer_learns_whether_a_player_is_a_werewolf_and_no_more() -> None:
    learned = set()
    for seed in range(20):
        session = play(TRIADIC.replaced(seers=1, debate_turns=0, defence_turns=0), seed)
        for event in of(session, EventKind.INVESTIGATION):
            role = session.game.roles[event.target or ""]
            assert event.data["role"] == ("werewolf" if role == "werewolf" else "not werewolf")
            learned.add(role)
    assert {"werewolf", "jester", "villager"} <= learned


# The day


def test_whoever_the_last_turn_named_goes_first_among_equal_bids_whatever_is_drawn() -> None:
    spec = TEN.replaced(debate_turns=2, defence_turns=0, days=1)
    for seed in range(40):
        session = start(lambda seed=seed: Werewolf(spec, seed, "g"))
        named = ""
        while named == "" or session.asks[0].kind is AskKind.BID:
            if session.asks[0].kind is AskKind.SPEAK:
                named = next(name for name in session.game.alive[::-1] if name != session.asks[0].seat)
                session.send((Reply(text=f"What do you say, {named}?"),))
            else:
                session.send(
                    tuple(Reply(choice="5" if ask.kind is AskKind.BID else ask.options[0]) for ask in session.asks)
                )
        assert session.asks[0].seat == named


def test_equal_bids_that_the_last_turn_did_not_name_are_drawn_evenly() -> None:
    def eager(ask: Ask, random: Random) -> str | None:
        return "5" if ask.kind is AskKind.BID else None

    spec = TEN.replaced(debate_turns=1, defence_turns=0, days=1)
    first = Counter(of(play(spec, seed, eager), EventKind.STATEMENT)[0].actor for seed in range(200))
    share = first.total() / 10
    assert sum((first[name] - share) ** 2 / share for name in TEN.seats() if name != "Jack") < 60


def test_a_bid_that_cannot_be_read_counts_as_0_and_says_so() -> None:
    session = start(lambda: Werewolf(TEN, 5, "g"))
    while session.asks[0].kind is not AskKind.BID:
        session.send(tuple(VILLAGERS_SAVED.answer(ask, ()) for ask in session.asks))
    broken = [Reply(choice="11"), Reply(choice="-1"), Reply(), Reply(problem="empty message"), Reply(choice="3")]
    session.send(tuple((broken * 2)[: len(session.asks)]))
    bids = of(session, EventKind.BID)
    assert [event.data["bid"] for event in bids][:5] == [0, 0, 0, 0, 3]
    assert [bool(event.fallback) for event in bids][:5] == [True, True, True, True, False]
    assert {ask.seat for ask in session.asks} <= {bids[4].actor, bids[9].actor}


@pytest.mark.parametrize(("votes", "exiled"), [("aab", "a"), ("aabb", None), ("aabbc", None)])
def test_exile_takes_more_than_half_of_the_votes(votes: str, exiled: str | None) -> None:
    assert next(iter(more_than_half(votes)), None) == exiled


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bob, why?", {"Bob"}),
        ("I trust ANN LEE and Bob.", {"Ann Lee", "Bob"}),
        ("The ice will bob up.", set()),
        ("Bobby and Annette", set()),
        ("“Bob”—Bob's!", {"Bob"}),
        ("", set()),
    ],
)
def test_a_name_is_mentioned_where_it_stands_as_a_word(text: str, found: set[str]) -> None:
    assert mentioned(text, ("Bob", "Ann", "Ann Lee")) == found


def plain(ask: Ask, view: Sequence[Event]) -> Reply:
    """Play that depends on nothing but the place in the game, whatever was asked in between."""
    random = Random(f"{ask.seat} {ask.kind} {ask.day} {ask.phase} {ask.round}")
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "so"))
    return Reply(choice=random.choice(ask.options) if ask.options else None, text="I think so.")


def test_assessing_all_or_some_statements_or_a_jester_who_learns_changes_nothing_else_in_the_game() -> None:
    games, assessed = [], []
    lessons = {"learning": True, "lessons": (Lesson(LessonKind.TO_DO, "Vote late."),)}
    for table in ({}, lessons, {"assess": True}, {"assess": True, "assess_share": 0.4}):
        session = start(lambda table=table: Werewolf(TRIADIC.replaced(debate_turns=4, **table), 6, "g"))
        drive(session, plain)
        games.append([(e.kind, e.actor, e.target, e.text) for e in session.events if e.audience is None])
        assessed.append(len(of(session, EventKind.SELF_REPORT)) / len(of(session, EventKind.STATEMENT)))
    assert games == [games[0]] * 4
    assert assessed[:3] == [0, 0, 1]
    assert 0.2 < assessed[3] < 0.6


# Tables that cannot be played


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"werewolves": 0}, "--werewolves must be 1 or more"),
        ({"villagers": 1, "werewolves": 2}, "more villagers"),
        ({"seers": -1}, "must be 0 or more"),
        ({"days": 0}, "--days must be 1 or more"),
        ({"jesters": 0, "learning": True}, "the jester's"),
        ({"assess_share": 0.5}, "--assess"),
        ({"show_suspicion": True}, "--assess"),
        ({"villagers": 12}, "16 players need 16 names, but 12"),
        (dict(SEVEN) | {"roles": ("villager",) * 7}, "do not match"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Werewolf(WerewolfSpec.of(options))


@pytest.mark.parametrize(
    ("protected", "quiet"),
    [(("Alice", "Bob"), True), (("Bob", "Alice"), True), (("Alice", "Alice"), True), (("Bob", "Charlie"), False)],
)
def test_either_of_two_doctors_saves_the_victim(protected: tuple[str, str], quiet: bool) -> None:
    roles = ("villager", "villager", "villager", "doctor", "doctor", "werewolf")
    table = WerewolfSpec(villagers=3, doctors=2, werewolves=1, jesters=0, roles=roles)
    session = start(lambda: Werewolf(table, 1, "two doctors"))
    choices = dict(zip(("Diana", "Erin"), protected, strict=True)) | {"Frank": "Alice"}
    session.send(tuple(Reply(choice=choices[ask.seat]) for ask in session.asks))
    kinds = [event.kind for event in session.events]
    assert (EventKind.QUIET in kinds, EventKind.DEATH in kinds) == (quiet, not quiet)
    assert ("Alice" in session.game.alive) == quiet
