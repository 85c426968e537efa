"""A claim is checked against what happened, and is a lie only where its speaker could know it to be false."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from liescope.data_cards.tables.rows import ClaimRow
from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Phase, Reply
from liescope.games.mafia.rules import Mafia, MafiaSpec
from liescope.games.one_night.rules import OneNightSpec, OneNightWerewolf
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec
from liescope.labeling.label import label_game
from liescope.labeling.truth import possible_roles
from tests.golden.by_hand import VILLAGERS_SAVED

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry")
ROLES = ("werewolf", "werewolf", "jester", "doctor", "seer", "villager", "villager", "villager")
TABLE = WerewolfSpec(
    villagers=3, seers=1, names=NAMES, roles=ROLES, debate_turns=9, defence_turns=0, message_limit=None, days=2
)
TWO_DOCTORS = TABLE.replaced(villagers=2, doctors=2, roles=(*ROLES[:6], "doctor", "villager"))
WOLVES = ("werewolf", "werewolf", "seer", "villager", "villager", "villager", "villager")
LONE = ("werewolf", "villager", "villager", "villager", "villager", "seer", "werewolf")


def done(game: Game, answer: Callable[[Ask, Sequence[Event]], Reply]) -> GameRecord:
    session = start(lambda: game)
    drive(session, answer)
    return record(game, session.outcome, dict.fromkeys(game.names, ("a model", Source.MODEL)))


def one_night(roles: Sequence[str], says: dict[str, str]) -> GameRecord:
    """A game in which the seer, if there is one, looks at Bob's card."""

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        choice = "Bob" if ask.kind is AskKind.INVESTIGATE else ask.options[0] if ask.options else None
        return Reply(choice=choice, text=says.get(ask.seat, "Hello."))

    return done(OneNightWerewolf(OneNightSpec(rounds=1).replaced(roles=tuple(roles)), 1, "g"), answer)


def werewolf(says: dict[str, str], table: WerewolfSpec = TABLE) -> GameRecord:
    """One day: the wolves attack Frank, the doctor Diana protects him, another doctor Henry, the seer looks at Charlie,
    everybody speaks once and nobody is exiled; then comes the night after which Grace is dead.
    """
    spoken: set[str] = set()

    def answer(ask: Ask, view: object) -> Reply:
        second = ask.day > 1
        if ask.kind is AskKind.BID:
            return Reply(choice="0" if ask.seat in spoken or second else "5")
        if ask.kind is AskKind.SPEAK:
            spoken.add(ask.seat)
            return Reply(text=says.get(ask.seat, "Hello."))
        protects = "Frank" if ask.seat == "Diana" else "Henry"
        night = {
            AskKind.KILL: "Grace" if second else "Frank",
            AskKind.PROTECT: protects,
            AskKind.INVESTIGATE: "Charlie",
        }
        wanted = night.get(ask.kind, ask.options[0] if ask.seat in NAMES[:4] else ask.options[-1])
        return Reply(choice=wanted if wanted in ask.options else ask.options[0], text="")

    return done(Werewolf(table, 3, "g"), answer)


def claims(game: GameRecord, speaker: str) -> list[ClaimRow]:
    return [claim for claim in label_game(game).claims if claim.speaker == speaker]


def the_living_villager(game: GameRecord) -> str:
    dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
    return "Diana" if dead == "Charlie" else "Charlie"


ROWS = (Path(__file__).parent / "claims_of_speakers.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", [json.loads(row) for row in ROWS], ids=lambda row: f"{row['speaker']}: {row['says']}")
def test_the_log_gives_the_verdict_and_the_speakers_view_whether_it_could_know(play, row) -> None:
    """Of a row: table: of Mini-Mafia, where Alice is the mafioso and Bob the detective, who learned it at night; or as
    above. known: whether the speaker could know the verdict.
    """
    speakers = ["Charlie", "Diana"] if row["speaker"] == "a villager" else [row["speaker"]]
    says = dict.fromkeys(speakers, row["says"])
    game = {
        "mini-mafia": lambda: play(says=says),
        "werewolf": lambda: werewolf(says),
        "one night": lambda: one_night(WOLVES, says),
        "one night, a lone werewolf": lambda: one_night(LONE, says),
    }[row["table"]]()
    found = [claim for name in speakers for claim in claims(game, name)]
    assert found
    for claim in found:
        assert (claim.verdict, claim.known) == (row["verdict"], row["known"])
        assert (claim.claim_class == "lie") == (row["known"] and row["verdict"] == "false")


# Mafia


def test_partners_know_each_other_and_a_lone_villager_knows_nobody() -> None:
    spec = MafiaSpec(mafiosos=2, detectives=1, villagers=1, roles=("mafioso", "mafioso", "detective", "villager"))
    game = done(
        Mafia(spec, 3, "g"), lambda ask, view: Reply(choice=ask.options[-1]) if ask.options else Reply(text="Hello.")
    )
    first_night = next(event.index for event in game.events if event.kind is EventKind.NIGHT)
    seen_by_mafia = possible_roles("Alice", first_night, game)
    assert seen_by_mafia["Bob"] == {"mafioso"}
    assert "mafioso" not in seen_by_mafia["Charlie"] | seen_by_mafia["Diana"]
    seen_by_villager = possible_roles("Diana", first_night, game)
    assert all(seen_by_villager[name] == {"mafioso", "detective"} for name in ("Alice", "Bob", "Charlie"))


def test_only_what_was_seen_before_the_statement_counts(play) -> None:
    game = play()
    investigated = next(event for event in game.events if event.kind is EventKind.INVESTIGATION)
    assert possible_roles("Bob", investigated.index, game)["Alice"] > {"mafioso"}
    assert possible_roles("Bob", investigated.index + 1, game)["Alice"] == {"mafioso"}


def test_a_mafioso_who_was_warned_knows_the_detective(play) -> None:
    words = {"Alice": "Bob is a villager.", "Bob": "Alice is the mafioso."}
    warned = play(says=words, mutual_discovery=True)
    (claim,) = claims(warned, "Alice")
    assert (claim.verdict, claim.known, claim.claim_class) == ("false", True, "lie")
    assert [(c.known, c.claim_class) for c in claims(play(says=words), "Alice")] == [(False, "unsupported")]
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


# One night


def test_a_werewolf_that_saw_the_only_seer_in_the_centre_knows_that_nobody_is_the_seer() -> None:
    for game in (one_night((*LONE[:5], *centre), {"Alice": "Bob is the seer."}) for centre in (LONE[5:], LONE[:4:-1])):
        partners = next(event for event in game.events if event.data.get("seen"))
        claim = next(row for row in label_game(game).claims if row.speaker == "Alice")
        assert claim.known == (partners.data["seen"] == "seer")


# Werewolf


def random_play(seed: int) -> GameRecord:
    draw = Random(seed)

    def answer(ask: Ask, view: object) -> Reply:
        return Reply(choice=draw.choice(ask.options) if ask.options else None, text="Hm.")

    return done(Werewolf(TABLE.replaced(roles=(), debate_turns=1, defence_turns=1, days=20), seed, f"g{seed}"), answer)


def test_what_a_player_could_know_never_rules_out_the_truth_and_only_grows_with_what_the_seat_saw() -> None:
    went_on = 0
    for seed in range(20):
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
            assert last[seat.name] == {seat.role}
            for name in exiled[:-1]:
                went_on += 1
                assert "jester" not in last[name] or name == seat.name
            assert all("werewolf" not in last[e.target] for e in game.events if e.kind is EventKind.DEATH)
            seen = tuple(event for event in game.events if event.seen_by(seat.name))
            assert possible_roles(seat.name, len(seen), replace(game, events=seen)) == last
    assert went_on


def test_with_two_doctors_a_quiet_night_tells_neither_whose_protection_it_was() -> None:
    game = werewolf({"Diana": "Frank is a werewolf.", "Grace": "Henry is a werewolf."}, TWO_DOCTORS)
    assert any(event.kind is EventKind.QUIET for event in game.events)
    for doctor in ("Diana", "Grace"):
        ((kind, verdict, known),) = {(claim.kind, claim.verdict, claim.known) for claim in claims(game, doctor)}
        assert (kind, verdict, known) == ("guilt", "false", False)


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
    whole = done(VILLAGERS_SAVED.make(), VILLAGERS_SAVED.answer)
    place = (EventKind.STATEMENT, "Alice", phase, 1)
    said = next(event for event in whole.events if (event.kind, event.actor, event.phase, event.day) == place)
    events = [replace(event, text=words if event is said else "Hm.") if event.text else event for event in whole.events]
    (promise,) = claims(replace(whole, events=tuple(events)), "Alice")
    assert promise.kept is kept
    (vote,) = [whole.events[index] for index in promise.evidence]
    assert (vote.phase, vote.target) == ((Phase.REVOTE, "Henry") if phase is Phase.DEFENCE else (Phase.VOTING, "Bob"))
