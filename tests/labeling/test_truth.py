"""A claim is checked against what happened, and is a lie only where its speaker could know it to be false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.data_cards.tables import ClaimRow
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.mafia import Mafia, MafiaSpec
from liescope.games.one_night import OneNightSpec, OneNightWerewolf
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.labeling.label import label_game
from liescope.labeling.truth import possible_roles

# Alice is the mafioso, Bob the detective, who learned it at night; Charlie and Diana are villagers, one of whom died.


def claims_of(game: GameRecord, speaker: str) -> list[ClaimRow]:
    return [claim for claim in label_game(game).claims if claim.speaker == speaker]


def the_living_villager(game: GameRecord) -> str:
    dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
    return "Diana" if dead == "Charlie" else "Charlie"


CASES = [
    # speaker's role, words, verdict, known
    ("mafioso", "I am a villager.", "false", True),
    ("mafioso", "I'm not the mafioso.", "false", True),
    ("mafioso", "I am the mafioso.", "true", True),
    ("mafioso", "Bob is the mafioso.", "false", True),  # a mafioso without partners knows that nobody else is one
    ("mafioso", "Bob is innocent.", "true", True),
    ("mafioso", "Bob is a villager.", "false", False),  # but not which of the town is the detective
    ("mafioso", "I investigated Bob and he is the mafioso.", "false", True),
    ("mafioso", "I investigated Bob and he is innocent.", "false", True),  # true of Bob; the investigation never was
    ("detective", "I am the detective.", "true", True),
    ("detective", "I investigated Alice and she is the mafioso.", "true", True),
    ("detective", "I investigated Alice and she is innocent.", "false", True),
    ("detective", "Alice is innocent.", "false", True),
    ("detective", "Charlie is innocent.", "true", True),  # the only mafioso is found, so the rest are town
    ("detective", "Charlie is the mafioso.", "false", True),
    ("detective", "Alice is lying about being the detective.", "true", True),
    ("villager", "Alice is the mafioso.", "true", False),
    ("villager", "Bob is the mafioso.", "false", False),  # wrong and no lie
    ("villager", "I am the detective.", "false", True),
    ("villager", "I investigated Alice and she is the mafioso.", "false", True),
    ("villager", "I am innocent.", "true", True),
]


@pytest.mark.parametrize(("role", "words", "verdict", "known"), CASES)
def test_the_log_gives_the_verdict_and_the_speakers_view_whether_it_could_know(
    play, role, words, verdict, known
) -> None:
    speakers = {"mafioso": ["Alice"], "detective": ["Bob"], "villager": ["Charlie", "Diana"]}[role]
    game = play(says=dict.fromkeys(speakers, words))
    found = [claim for name in speakers for claim in claims_of(game, name)]
    assert found
    for claim in found:
        assert (claim.verdict, claim.known, claim.claim_class == "lie") == (
            verdict,
            known,
            known and verdict == "false",
        )


def test_what_a_player_could_know_never_rules_out_the_truth(play) -> None:
    game = play()
    for seat in game.seats:
        for until in range(len(game.events) + 1):
            possible = possible_roles(seat.name, until, game)
            assert all(other.role in possible[other.name] for other in game.seats)
            assert possible[seat.name] == {seat.role}


def test_partners_know_each_other_and_a_lone_villager_knows_nobody(play) -> None:
    roles = ("mafioso", "mafioso", "detective", "villager")
    spec = MafiaSpec(2, 1, 1, roles=roles)
    rules = Mafia(spec, 3, "g")
    session = start(lambda: rules)
    drive(session, lambda ask, view: Reply(text="Hello.") if not ask.options else Reply(choice=ask.options[-1]))
    done = record(rules, session.outcome, dict.fromkeys(rules.names, ("m", Source.SCRIPTED)))
    first_night = next(event.index for event in done.events if event.kind is EventKind.NIGHT)
    seen_by_mafia = possible_roles("Alice", first_night, done)
    assert seen_by_mafia["Bob"] == {"mafioso"}
    assert "mafioso" not in seen_by_mafia["Charlie"] | seen_by_mafia["Diana"]
    seen_by_villager = possible_roles("Diana", first_night, done)
    assert all(seen_by_villager[name] == {"mafioso", "detective"} for name in ("Alice", "Bob", "Charlie"))


def test_only_what_was_seen_before_the_statement_counts(play) -> None:
    game = play()
    investigated = next(event for event in game.events if event.kind is EventKind.INVESTIGATION)
    assert possible_roles("Bob", investigated.index, game)["Alice"] > {"mafioso"}
    assert possible_roles("Bob", investigated.index + 1, game)["Alice"] == {"mafioso"}


def test_a_mafioso_who_was_warned_knows_the_detective(play) -> None:
    words = {"Alice": "Bob is a villager.", "Bob": "Alice is the mafioso."}
    warned = play(says=words, mutual_discovery=True)
    (claim,) = claims_of(warned, "Alice")
    assert (claim.verdict, claim.known, claim.claim_class) == ("false", True, "lie")
    assert [(c.known, c.claim_class) for c in claims_of(play(says=words), "Alice")] == [(False, "unsupported")]
    end = len(warned.events)
    assert possible_roles("Alice", end, warned)["Bob"] == {"detective"}
    assert possible_roles(the_living_villager(warned), end, warned)["Bob"] == {"mafioso", "detective", "villager"}


def test_an_announced_role_is_known_to_everybody(play) -> None:
    quiet, told = play(), play(reveal_dead=True)
    living = the_living_villager(told)
    dead = next(event.target for event in told.events if event.kind is EventKind.DEATH)
    assert possible_roles(living, len(quiet.events), quiet)[dead] == {"villager", "detective"}
    possible = possible_roles(living, len(told.events), told)
    assert possible[dead] == {"villager"}
    assert possible["Alice"] == possible["Bob"] == {"mafioso", "detective"}


FIVE = ("Alice", "Bob", "Charlie", "Diana", "Erin")
WOLVES = ("werewolf", "werewolf", "seer", "villager", "villager", "villager", "villager")
LONE = ("werewolf", "villager", "villager", "villager", "villager", "seer", "werewolf")


def play_one_night(roles: Sequence[str], says: dict[str, str]) -> GameRecord:
    """A game in which the seer, if there is one, looks at Bob's card."""

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        choice = "Bob" if ask.kind is AskKind.INVESTIGATE else ask.options[0] if ask.options else None
        return Reply(choice=choice, text=says.get(ask.seat, "Hello."))

    session = start(lambda: OneNightWerewolf(replace(OneNightSpec(rounds=1), roles=tuple(roles)), 1, "g"))
    drive(session, answer)
    return record(session.game, session.outcome, dict.fromkeys(FIVE, ("a model", Source.MODEL)))


@pytest.mark.parametrize(
    ("roles", "speaker", "words", "verdict", "known"),
    [
        (WOLVES, "Alice", "Diana is a werewolf.", "false", True),  # both wolves know of each other
        (WOLVES, "Alice", "Bob is innocent.", "false", True),
        (WOLVES, "Charlie", "I looked at Bob's card and he is a werewolf.", "true", True),
        (WOLVES, "Charlie", "I looked at Diana's card and she is a werewolf.", "false", True),
        (WOLVES, "Charlie", "Diana is a werewolf.", "false", False),
        (WOLVES, "Charlie", "Diana is the seer.", "false", True),  # there is only one, and it is the speaker
        (WOLVES, "Diana", "I looked at Bob's card and he is a werewolf.", "false", True),  # true of Bob, never seen
        (WOLVES, "Diana", "Erin is a werewolf.", "false", False),
        (LONE, "Alice", "Diana is a werewolf.", "false", True),  # without a partner it knows that there is none
        (LONE, "Alice", "I'm the seer.", "false", True),
        (LONE, "Bob", "Charlie is the seer.", "false", False),  # the seer's card lies in the centre, unknown to Bob
        (LONE, "Bob", "Alice is a werewolf.", "true", False),
    ],
)
def test_a_lie_is_a_false_claim_that_the_speaker_could_know(
    roles: Sequence[str], speaker: str, words: str, verdict: str, known: bool
) -> None:
    rows = [row for row in label_game(play_one_night(roles, {speaker: words})).claims if row.speaker == speaker]
    claim = rows[0]
    assert (claim.verdict, claim.known, claim.claim_class == "lie") == (verdict, known, known and verdict == "false")


def test_a_werewolf_that_saw_the_only_seer_in_the_centre_knows_that_nobody_is_the_seer() -> None:
    for game in (
        play_one_night((*LONE[:5], *centre), {"Alice": "Bob is the seer."}) for centre in (LONE[5:], LONE[:4:-1])
    ):
        partners = next(event for event in game.events if event.data.get("seen"))
        claim = next(row for row in label_game(game).claims if row.speaker == "Alice")
        assert claim.known == (partners.data["seen"] == "seer")
