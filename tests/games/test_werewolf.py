"""Werewolf's rules: who wins and when, what each night and day does, who is told what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

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
    Phase,
    Reply,
)
from liescope.games.session import Session, drive, start
from liescope.games.table_rules import mentioned, strict_majority
from liescope.games.werewolf import DYADIC_TABLE, WEREWOLF_TABLE, DyadicWerewolf, Werewolf, WerewolfSpec
from tests.golden.by_hand import (
    DAYS_RUN_OUT,
    JESTER_EXILED,
    SEVEN,
    TEN,
    VILLAGERS_SAVED,
    WEREWOLVES_AT_PARITY,
    Hand,
)


def by_hand(hand: Hand) -> Session:
    session = start(hand.make)
    drive(session, hand.answer)
    return session


def of(session: Session, *kinds: EventKind, day: int | None = None) -> list[Event]:
    return [event for event in session.events if event.kind in kinds and day in (None, event.day)]


def winner(session: Session) -> tuple[str, tuple[str, ...], int]:
    assert session.outcome is not None
    return session.outcome.winner, session.outcome.winners, session.outcome.days


def random_table(seed: int, choose: Callable[[Ask, Random], str | None] = lambda ask, random: None):
    """Everybody does something legal, or what `choose` says."""
    random = Random(seed)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind in ASSESSMENTS:
            return Reply(assessment=Assessment(random.random() < 0.5, "omission", 0.5, random.random(), "so"))
        if ask.kind is AskKind.REFLECTION:
            return Reply(form={"to_do": (f"Lesson {random.random()}",)})
        choice = (choose(ask, random) or random.choice(ask.options)) if ask.kind in CHOICES else None
        return Reply(choice=choice, text="I think so.")

    return answer


def play(spec: WerewolfSpec, seed: int, **table: Callable[[Ask, Random], str | None]) -> Session:
    session = start(lambda: Werewolf(spec, seed, f"g{seed}"))
    drive(session, random_table(seed, **table))
    return session


# Who wins


def test_the_jester_alone_wins_the_moment_it_is_exiled() -> None:
    session = by_hand(JESTER_EXILED)
    assert winner(session) == ("jester", ("Jack",), 1)
    (exile,) = of(session, EventKind.EXILE)
    assert (exile.target, dict(exile.data)) == ("Jack", {"votes": 5, "needed": 5})
    assert len(session.game.holding("werewolf")) == 2


def test_of_two_jesters_the_exiled_one_has_won() -> None:
    roles = (*["villager"] * 5, "doctor", "werewolf", "werewolf", "jester", "jester")
    spec = replace(TEN, villagers=5, jesters=2, roles=roles)

    def against(ask: Ask, random: Random) -> str | None:
        wanted = {AskKind.KILL: "Alice", AskKind.PROTECT: "Bob", AskKind.BID: "0"}.get(ask.kind, "Ivy")
        return wanted if wanted in ask.options else None

    assert winner(play(spec, 1, choose=against)) == ("jester", ("Ivy",), 1)


@pytest.mark.parametrize(
    ("hand", "won", "living"),
    [
        (WEREWOLVES_AT_PARITY, ("werewolves", ("Henry", "Ivy"), 2), {"Bob", "Charlie", "Henry", "Ivy", "Jack"}),
        (VILLAGERS_SAVED, ("villagers", ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace"), 2), {"Jack"}),
        (DAYS_RUN_OUT, ("nobody", (), 1), set()),
    ],
    ids=["werewolves at parity with all but jesters", "no werewolf lives", "days run out"],
)
def test_who_wins_whatever_becomes_of_the_jester(hand: Hand, won: tuple[str, ...], living: set[str]) -> None:
    session = by_hand(hand)
    assert winner(session) == won
    assert living <= set(session.game.alive)


@pytest.mark.parametrize("seed", range(40))
def test_every_ending_follows_from_who_is_left(seed: int) -> None:
    session = play(replace(WEREWOLF_TABLE, debate_turns=1, defence_turns=1), seed)
    game, outcome = session.game, session.outcome
    assert outcome is not None
    wolves, jesters = len(game.holding("werewolf")), len(game.holding("jester"))
    exiled = {game.roles[event.target or ""] for event in of(session, EventKind.EXILE)}
    assert (outcome.winner == "jester") == ("jester" in exiled)
    if outcome.winner == "villagers":
        assert wolves == 0
    elif outcome.winner == "werewolves":
        assert wolves >= len(game.alive) - wolves - jesters
    else:
        assert outcome.winner == "jester"


def test_without_a_jester_there_are_two_sides() -> None:
    game = DyadicWerewolf(seed=1)
    assert sorted(game.roles.values()) == ["doctor", *["villager"] * 7, *["werewolf"] * 2]
    winners = {winner(play(DYADIC_TABLE, seed))[0] for seed in range(30)}
    assert winners <= {"villagers", "werewolves"}


def test_villagers_doctor_and_seer_win_together_and_only_werewolves_and_jester_deceive() -> None:
    game = Werewolf()
    roles = ("villager", "doctor", "seer", "werewolf", "jester")
    assert [game.team(role) for role in roles] == ["villagers"] * 3 + ["werewolves", "jester"]
    assert [role for role in roles if game.deceives(role)] == ["werewolf", "jester"]


# The night


def test_werewolves_who_differ_see_the_proposals_and_propose_again() -> None:
    session = start(WEREWOLVES_AT_PARITY.make)
    asked: list[tuple[int, list[tuple[str, str | None]]]] = []

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind is AskKind.KILL and ask.day == 1:
            seen = [(event.actor or "", event.target) for event in view if event.kind is EventKind.PROPOSAL]
            asked.append((ask.round, seen))
        return WEREWOLVES_AT_PARITY.answer(ask, view)

    drive(session, answer)
    first = [("Henry", "Alice"), ("Ivy", "Grace")]
    assert asked == [(1, []), (1, []), (2, first), (2, first)]
    kills = of(session, EventKind.KILL)
    assert [(event.target, event.data["proposals"]) for event in kills] == [
        ("Grace", ["Grace", "Grace"]),
        ("Alice", ["Alice", "Alice"]),
    ]


def test_of_two_werewolves_who_never_agree_each_gets_its_way_as_often() -> None:
    def stubborn(ask: Ask, random: Random) -> str | None:
        return {"Henry": "Alice", "Ivy": "Bob"}[ask.seat] if ask.kind is AskKind.KILL and ask.day == 1 else None

    one_night = replace(TEN, debate_turns=0, defence_turns=0, days=1)
    killed = Counter(of(play(one_night, seed, choose=stubborn), EventKind.KILL)[0].target for seed in range(300))
    assert set(killed) == {"Alice", "Bob"}
    assert min(killed.values()) > 110  # fewer has a chance of about one in a million


def test_a_protected_victim_lives_also_when_the_doctor_protects_itself() -> None:
    session = by_hand(VILLAGERS_SAVED)
    assert [event.target for event in of(session, EventKind.KILL)] == ["Alice", "Grace"]
    assert [event.target for event in of(session, EventKind.PROTECTION)] == ["Alice", "Grace"]
    assert len(of(session, EventKind.QUIET)) == 2
    assert not of(session, EventKind.DEATH)


def test_a_dead_doctor_protects_nobody() -> None:
    session = by_hand(WEREWOLVES_AT_PARITY)
    first, second = ([e for e in of(session, EventKind.DEATH) if e.day == day] for day in (1, 2))
    assert [event.target for event in first + second] == ["Grace", "Alice"]
    assert [(event.day, event.target) for event in of(session, EventKind.PROTECTION)] == [(1, "Alice")]


def test_a_seer_learns_whether_a_player_is_a_werewolf_and_no_more() -> None:
    learned = set()
    for seed in range(20):
        session = play(replace(WEREWOLF_TABLE, seers=1, debate_turns=0, defence_turns=0), seed)
        for event in of(session, EventKind.INVESTIGATION):
            role = session.game.roles[event.target or ""]
            assert event.data["role"] == ("werewolf" if role == "werewolf" else "not werewolf")
            learned.add(role)
    assert {"werewolf", "jester", "villager"} <= learned


# The day


def test_the_highest_bidder_speaks_and_a_tie_goes_to_whom_the_last_turn_named() -> None:
    session = by_hand(JESTER_EXILED)
    spoken = [event.actor for event in of(session, EventKind.STATEMENT) if event.phase is Phase.DISCUSSION]
    assert spoken == ["Jack", "Bob"]  # nobody bids for a third turn, and the debate ends before its cap


def test_whoever_the_last_turn_named_goes_first_among_equal_bids_whatever_is_drawn() -> None:
    spec = replace(TEN, debate_turns=2, defence_turns=0, days=1)
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


def test_the_last_speaker_does_not_bid_and_all_others_do() -> None:
    session = start(VILLAGERS_SAVED.make)
    last: str | None = None
    while session.asks:
        if session.asks[0].kind is AskKind.BID:
            silent = [] if session.asks[0].round == 1 else [last]
            assert [ask.seat for ask in session.asks] == [n for n in session.game.alive if n not in silent]
        elif session.asks[0].kind is AskKind.SPEAK:
            last = session.asks[0].seat
        session.send(tuple(VILLAGERS_SAVED.answer(ask, ()) for ask in session.asks))


def test_equal_bids_that_the_last_turn_did_not_name_are_drawn_evenly() -> None:
    def eager(ask: Ask, random: Random) -> str | None:
        return "5" if ask.kind is AskKind.BID else None

    spec = replace(TEN, debate_turns=1, defence_turns=0, days=1)
    first = Counter(of(play(spec, seed, choose=eager), EventKind.STATEMENT)[0].actor for seed in range(400))
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


def test_every_cap_is_kept() -> None:
    session = by_hand(VILLAGERS_SAVED)
    for day in (1, 2):
        spoken = Counter(event.phase for event in of(session, EventKind.STATEMENT, day=day))
        voters = 10 if day == 1 else 9
        assert spoken == {Phase.DISCUSSION: 12, Phase.VOTING: voters, Phase.DEFENCE: 6}


def test_those_who_got_votes_defend_themselves_first_most_votes_first() -> None:
    defence = [e.actor for e in of(by_hand(VILLAGERS_SAVED), EventKind.STATEMENT) if e.phase is Phase.DEFENCE]
    assert defence[:6] == ["Henry", "Ivy", "Alice", "Bob", "Charlie", "Diana"]  # seven got votes, six turns there are
    assert defence[6] == "Ivy"  # on the second day everybody but Ivy votes for her, and she for Jack
    assert defence[7] == "Jack"


def test_the_first_vote_is_explained_aloud_and_exiles_nobody() -> None:
    session = by_hand(JESTER_EXILED)
    votes = [event for event in of(session, EventKind.VOTE) if event.phase is Phase.VOTING]
    reasons = [event for event in of(session, EventKind.STATEMENT) if event.phase is Phase.VOTING]
    assert [event.actor for event in votes] == [event.actor for event in reasons] == [*session.game.alive, "Jack"]
    assert all(reason.text == f"I do not trust {vote.target}." for vote, reason in zip(votes, reasons, strict=True))
    assert all(event.phase is Phase.REVOTE for event in of(session, EventKind.EXILE))


def test_a_tied_revote_exiles_nobody() -> None:
    session = by_hand(WEREWOLVES_AT_PARITY)
    revote = Counter(event.target for event in of(session, EventKind.VOTE) if event.phase is Phase.REVOTE)
    assert revote == {"Henry": 3, "Bob": 3}
    (nobody,) = of(session, EventKind.NO_EXILE)
    assert (nobody.day, dict(nobody.data)) == (1, {"needed": 4})


@pytest.mark.parametrize(("votes", "voters", "exiled"), [("aab", 3, "a"), ("aabb", 4, None), ("aabbc", 5, None)])
def test_exile_takes_more_than_half_of_the_living(votes: str, voters: int, exiled: str | None) -> None:
    assert strict_majority(votes, voters) == exiled


def test_votes_are_made_public_only_once_all_are_cast() -> None:
    session = start(VILLAGERS_SAVED.make)
    while session.asks:
        if session.asks[0].kind in (AskKind.VOTE, AskKind.EXPLAINED_VOTE):
            phase = session.asks[0].phase
            for ask in session.asks:
                seen = [event for event in session.game.view(ask.seat) if event.kind is EventKind.VOTE]
                assert not any(event.day == ask.day and event.phase is phase for event in seen)
        session.send(tuple(VILLAGERS_SAVED.answer(ask, ()) for ask in session.asks))


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


# Who is told what


def test_each_seat_knows_its_role_and_only_werewolves_know_each_other() -> None:
    session = play(WEREWOLF_TABLE, 3)
    game = session.game
    for name in game.names:
        view = game.view(name)
        assert [event.data["role"] for event in view if event.kind is EventKind.ROLE] == [game.roles[name]]
        partners = [event.data["names"] for event in view if event.kind is EventKind.PARTNERS]
        assert bool(partners) == (game.roles[name] == "werewolf")


def test_the_dead_and_the_exiled_take_their_role_with_them() -> None:
    for seed in range(10):
        for event in of(play(WEREWOLF_TABLE, seed), EventKind.DEATH, EventKind.EXILE, EventKind.QUIET):
            assert not {"role", "team"} & event.data.keys()


def test_suspicions_are_shown_to_voters_only_where_asked_for_and_are_their_own_ratings_smoothed() -> None:
    spec = replace(TEN, debate_turns=3, defence_turns=1, days=1, assess=True)
    assert not of(play(spec, 1), EventKind.SUSPICION)
    session = play(replace(spec, show_suspicion=True), 1)
    shown = of(session, EventKind.SUSPICION)
    assert {event.phase for event in shown} == {Phase.VOTING, Phase.REVOTE}
    for event in shown:
        running: dict[str, float] = {}
        for rating in session.events[: event.index]:
            if rating.kind is EventKind.RATING and rating.actor == event.actor:
                old = running.get(rating.target or "", 0.5)
                running[rating.target or ""] = 0.7 * rating.data["assessment"]["suspicion"] + 0.3 * old
        others = event.data["suspicion"]
        assert event.actor not in others
        assert all(others[name] == pytest.approx(running.get(name, 0.5), abs=0.005) for name in others)


# Assessments


def test_every_statement_of_debate_votes_and_defence_is_assessed_by_speaker_and_all_living_peers() -> None:
    session = play(replace(TEN, debate_turns=3, defence_turns=2, assess=True), 2)
    asked = Counter((event.about, event.kind) for event in of(session, EventKind.SELF_REPORT, EventKind.RATING))
    phases = set()
    alive = set(session.game.names)
    for event in session.events:
        if event.kind in (EventKind.DEATH, EventKind.EXILE):
            alive.discard(event.target or "")
        if event.kind is EventKind.STATEMENT:
            phases.add(event.phase)
            assert asked[event.index, EventKind.SELF_REPORT] == 1
            assert asked[event.index, EventKind.RATING] == len(alive) - 1
    assert phases == {Phase.DISCUSSION, Phase.VOTING, Phase.DEFENCE}


def public(session: Session) -> list[tuple[str, str | None, str | None, str]]:
    return [(e.kind.value, e.actor, e.target, e.text) for e in session.events if e.audience is None]


def plain(ask: Ask, view: Sequence[Event]) -> Reply:
    """Play that depends on nothing but the place in the game, whatever was asked in between."""
    random = Random(f"{ask.seat} {ask.kind} {ask.day} {ask.phase} {ask.round}")
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "so"))
    return Reply(choice=random.choice(ask.options) if ask.options else None, text="I think so.")


def test_assessing_all_or_some_statements_changes_nothing_else_in_the_game() -> None:
    games, assessed = [], []
    for table in ({}, {"assess": True}, {"assess": True, "assess_share": 0.4}):
        session = start(lambda table=table: Werewolf(replace(WEREWOLF_TABLE, debate_turns=4, **table), 6, "g"))
        drive(session, plain)
        games.append(public(session))
        assessed.append(len(of(session, EventKind.SELF_REPORT)) / len(of(session, EventKind.STATEMENT)))
    assert games[0] == games[1] == games[2]
    assert assessed[:2] == [0, 1]
    assert 0.2 < assessed[2] < 0.6


# Lessons


def test_the_jester_alone_begins_with_the_lessons_and_draws_new_ones_when_all_is_over() -> None:
    session = by_hand(JESTER_EXILED)
    (begun,), (reflection,) = of(session, EventKind.LESSONS), of(session, EventKind.REFLECTION)
    assert (begun.actor, begun.data["lessons"]) == ("Jack", [["to_avoid", "Do not plead."]])
    assert reflection.index > of(session, EventKind.END)[0].index
    drawn = [(event.data["kind"], event.text) for event in of(session, EventKind.LESSON)]
    assert drawn == [("to_do", "Be odd at once."), ("winning_tactic", "Contradict oneself.")]


def test_lessons_change_nothing_for_players_who_do_not_heed_them() -> None:
    lessons = (Lesson(LessonKind.TO_DO, "Vote late."),)
    games = []
    for table in ({}, {"learning": True, "lessons": lessons}):
        session = start(lambda table=table: Werewolf(replace(WEREWOLF_TABLE, **table), 9, "g"))
        drive(session, plain)
        games.append(public(session))
    assert games[0] == games[1]


# Tables that cannot be played


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (WerewolfSpec(werewolves=0), "at least one werewolf"),
        (WerewolfSpec(villagers=1, werewolves=2), "more villagers"),
        (WerewolfSpec(seers=-1), "negative"),
        (WerewolfSpec(debate_turns=-1), "negative"),
        (WerewolfSpec(days=0), "at least one day"),
        (WerewolfSpec(jesters=0, learning=True), "the jester's"),
        (WerewolfSpec(assess=True, assess_share=0), "share"),
        (WerewolfSpec(assess_share=0.5), "--assess"),
        (WerewolfSpec(show_suspicion=True), "--assess"),
        (WerewolfSpec(villagers=12), "16 players need 16 names, but 12"),
        (replace(SEVEN, roles=("villager",) * 7), "do not match"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused(spec: WerewolfSpec, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Werewolf(spec)


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
