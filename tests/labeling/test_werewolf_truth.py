"""What a seat at Werewolf could know decides whether its false claim is a lie."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from liescope.data_cards.tables import ClaimRow
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, EventKind, Game, Phase, Reply
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.games.werewolf import Werewolf, WerewolfSpec
from liescope.labeling.label import label_game
from liescope.labeling.truth import possible_roles
from tests.golden.by_hand import VILLAGERS_SAVED

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry")
ROLES = ("werewolf", "werewolf", "jester", "doctor", "seer", "villager", "villager", "villager")
TABLE = WerewolfSpec(
    villagers=3, seers=1, names=NAMES, roles=ROLES, debate_turns=9, defence_turns=0, message_limit=None
)


def play(
    says: dict[str, str],
    assess: bool = False,
    seen: str = "Charlie",
    saved: str = "Frank",
    table: WerewolfSpec = TABLE,
    also_saved: str = "",
) -> GameRecord:
    """One day: the wolves attack Frank, the doctor Diana protects `saved`, another doctor `also_saved`, the seer looks
    at `seen`, everybody speaks once and nobody is exiled; then comes the night after which Grace is dead.
    """
    spoken: set[str] = set()

    def answer(ask: Ask, view: object) -> Reply:
        second = ask.day > 1
        if ask.kind in ASSESSMENTS:
            return Reply(assessment=Assessment(False, "none", 0.5, 0.5))
        if ask.kind is AskKind.BID:
            return Reply(choice="0" if ask.seat in spoken or second else "5")
        if ask.kind is AskKind.SPEAK:
            spoken.add(ask.seat)
            return Reply(text=says.get(ask.seat, "Hello."))
        night = {AskKind.KILL: "Grace" if second else "Frank", AskKind.PROTECT: saved, AskKind.INVESTIGATE: seen}
        if also_saved and ask.seat != "Diana":
            night[AskKind.PROTECT] = also_saved
        wanted = night.get(ask.kind, ask.options[0] if ask.seat in NAMES[:4] else ask.options[-1])
        return Reply(choice=wanted if wanted in ask.options else ask.options[0], text=says.get("all votes", ""))

    game: Game = Werewolf(replace(table, assess=assess, days=2), 3, "g")
    session = start(lambda: game)
    drive(session, answer)
    return record(game, session.outcome, dict.fromkeys(NAMES, ("a model", Source.MODEL)))


def claims(game: GameRecord, speaker: str) -> list[ClaimRow]:
    return [claim for claim in label_game(game).claims if claim.speaker == speaker]


CASES = [
    # speaker, words, verdict, known
    ("Alice", "I'm a villager.", "false", True),
    ("Alice", "Bob is innocent.", "false", True),  # a partner
    ("Alice", "Diana is a werewolf.", "false", True),  # the wolves know all wolves
    ("Alice", "Diana is not a werewolf.", "true", True),
    ("Alice", "Diana is innocent.", "true", False),  # she may be the jester
    ("Alice", "Charlie is the jester.", "true", False),
    ("Charlie", "I'm innocent.", "false", True),
    ("Charlie", "I am not a werewolf.", "true", True),
    ("Charlie", "Bob is the jester.", "false", True),  # the only jester knows it
    ("Diana", "I protected Frank last night.", "true", True),
    ("Diana", "I protected Grace last night.", "false", True),
    ("Diana", "I protected myself.", "false", True),
    ("Diana", "Frank is a werewolf.", "false", True),  # whom the only doctor saved was attacked
    ("Diana", "Grace is a werewolf.", "false", False),
    ("Grace", "I protected Frank.", "false", True),
    ("Grace", "Frank is a werewolf.", "false", False),  # the others do not know whom the doctor saved
    ("Grace", "Alice is a werewolf.", "true", False),
    ("Erin", "I investigated Charlie and he is not a werewolf.", "true", True),
    ("Erin", "I investigated Charlie and he is innocent.", "false", False),  # the seer cannot tell a jester
    ("Erin", "I investigated Charlie and he is a werewolf.", "false", True),
    ("Erin", "I investigated Alice and she is a werewolf.", "false", True),  # true of Alice; it never took place
    ("Erin", "Charlie is a werewolf.", "false", True),
    ("Erin", "I investigated Bob: he is innocent.", "false", True),
    ("Bob", "I'm the seer. I investigated Frank and he is a werewolf.", "false", True),
]


@pytest.mark.parametrize(("speaker", "words", "verdict", "known"), CASES)
def test_the_log_gives_the_verdict_and_the_speakers_view_whether_it_could_know(
    speaker: str, words: str, verdict: str, known: bool
) -> None:
    found = claims(play({speaker: words}), speaker)
    assert found
    for claim in found:
        assert (claim.verdict, claim.known) == (verdict, known)
        assert (claim.claim_class == "lie") == (known and verdict == "false")


def random_play(seed: int) -> GameRecord:
    draw = Random(seed)

    def answer(ask: Ask, view: object) -> Reply:
        if ask.kind is AskKind.SPEAK:
            return Reply(text="Hm.")
        choice = draw.choice(ask.options)
        return Reply(choice=choice, text=f"I vote for {choice}.")

    game = Werewolf(replace(TABLE, roles=(), debate_turns=1, defence_turns=1), seed, f"g{seed}")
    session = start(lambda: game)
    drive(session, answer)
    return record(game, session.outcome, dict.fromkeys(NAMES, ("a model", Source.MODEL)))


def test_what_a_player_could_know_never_rules_out_the_truth_and_only_grows() -> None:
    went_on = 0
    for seed in range(60):
        game = random_play(seed)
        exiled = [event.target for event in game.events if event.kind is EventKind.EXILE]
        for seat in game.seats:
            before = possible_roles(seat.name, 0, game)
            for until in range(0, len(game.events) + 1, 7):
                possible = possible_roles(seat.name, until, game)
                assert all(other.role in possible[other.name] for other in game.seats)
                assert all(possible[name] <= before[name] for name in possible)
                before = possible
            last = possible_roles(seat.name, len(game.events), game)
            for name in exiled[:-1]:
                went_on += 1
                assert "jester" not in last[name] or name == seat.name
            assert all("werewolf" not in last[e.target] for e in game.events if e.kind is EventKind.DEATH)
    assert went_on


def test_knowledge_comes_from_what_the_seat_saw_and_nothing_else() -> None:
    for seed in range(20):
        game = random_play(seed)
        for seat in game.seats:
            seen = tuple(event for event in game.events if event.seen_by(seat.name))
            cut = replace(game, events=seen)
            assert possible_roles(seat.name, len(seen), cut) == possible_roles(seat.name, len(game.events), game)


def test_reasons_are_statements_of_the_vote_and_the_revote_is_the_second_ballot() -> None:
    game = play({"all votes": "I am the doctor."})
    labelled = label_game(game)
    reasons = [row for row in labelled.statements if row.phase == "voting"]
    assert {row.text for row in reasons} == {"I am the doctor."}
    assert {row.speaker for row in reasons if row.label_claim is False} == {"Diana"}
    kinds = [(event.day, event.phase) for event in game.events if event.kind is EventKind.VOTE]
    assert [(row.day, row.ballot) for row in labelled.votes] == [
        (day, 2 if phase is Phase.REVOTE else 1) for day, phase in kinds
    ]
    assert {row.ballot for row in labelled.votes} == {1, 2}


def test_the_exiled_are_not_alive_in_later_statements() -> None:
    later = 0
    for seed in range(30):
        game = random_play(seed)
        out = {event.target: event.index for event in game.events if event.kind is EventKind.EXILE}
        for row in label_game(game).statements:
            gone = {name for name, index in out.items() if index < int(row.statement_id.split(":")[1])}
            later += len(gone)
            assert not gone & set(row.alive)
            assert row.speaker in row.alive
    assert later


def test_with_two_doctors_a_quiet_night_tells_neither_whose_protection_it_was() -> None:
    roles = ("werewolf", "werewolf", "jester", "doctor", "seer", "villager", "doctor", "villager")
    table = replace(TABLE, villagers=2, doctors=2, roles=roles)
    says = {"Diana": "Frank is a werewolf.", "Grace": "Henry is a werewolf."}
    game = play(says, table=table, also_saved="Henry")
    assert any(event.kind is EventKind.QUIET for event in game.events)
    for doctor in ("Diana", "Grace"):
        ((kind, verdict, known),) = {(claim.kind, claim.verdict, claim.known) for claim in claims(game, doctor)}
        assert (kind, verdict, known) == ("guilt", "false", False)
    alone = play({"Diana": "Frank is a werewolf."})
    assert [claim.known for claim in claims(alone, "Diana")] == [True]


@pytest.mark.parametrize(
    ("phase", "words", "kept"),
    [
        (Phase.DISCUSSION, "I will vote for Bob.", True),
        (Phase.DISCUSSION, "I will vote for Henry.", False),
        (Phase.VOTING, "I'm voting for Bob.", True),  # her reason, which stands after her vote
        (Phase.VOTING, "I'm voting for Henry.", False),
        (Phase.DEFENCE, "I will vote for Henry.", True),
        (Phase.DEFENCE, "I will vote for Bob.", False),
    ],
)
def test_a_promise_is_of_the_next_vote_and_a_reason_s_of_the_vote_that_it_explains(
    phase: Phase, words: str, kept: bool
) -> None:
    """On the first day Alice votes for Bob and, after the defences, for Henry."""
    hand = VILLAGERS_SAVED
    game = hand.make()
    session = start(lambda: game)
    drive(session, hand.answer)
    whole = record(game, session.outcome, dict.fromkeys(game.names, ("a model", Source.MODEL)))
    said = next(
        event
        for event in whole.events
        if (event.kind, event.actor, event.phase, event.day) == (EventKind.STATEMENT, "Alice", phase, 1)
    )
    events = [replace(event, text=words if event is said else "Hm.") if event.text else event for event in whole.events]
    (promise,) = claims(replace(whole, events=tuple(events)), "Alice")
    assert promise.kept is kept
    (vote,) = [whole.events[index] for index in promise.evidence]
    assert (vote.phase, vote.target) == ((Phase.REVOTE, "Henry") if phase is Phase.DEFENCE else (Phase.VOTING, "Bob"))
