"""What is told and trusted: detectives who tell, the first claim to have investigated, and how the accused answers."""

from __future__ import annotations

import pytest

from liescope.benchmark.analyses.disclosure import CLAIMS, TELLS, disclosures
from liescope.benchmark.analyses.first_claim import ANSWERS, answers, ballots
from liescope.benchmark.analyses.frames import Frames
from liescope.games.core import EventKind
from liescope.games.game_registry import SIDES
from liescope.games.one_night.rules import TABLE, OneNightWerewolf
from liescope.games.record import GameRecord
from tests.benchmark.analyses.made import column_wise, load_frames, made, table_of
from tests.benchmark.analyses.spoken import MAFIA_WINS, TOWN_WINS, spoken
from tests.benchmark.random_play import finished

disclosure_when = table_of("disclosure_when")

INVESTIGATED = "I investigated Alice last night, and she is the mafioso."
ACCUSED = "I think Alice is the mafioso."
HELLO = "What a night."


def told(first: str, second: str, **more: object) -> GameRecord:
    """A game in which the detective, who speaks second, says these words in the two rounds."""
    return spoken(HELLO, first, HELLO, HELLO, second, HELLO, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "how", "claims", "tells"),
    [
        (INVESTIGATED, HELLO, "claims the investigation", "first round", "first round"),
        (ACCUSED, INVESTIGATED, "claims the investigation", "later that day", "first round"),
        ("I am the detective.", HELLO, "claims the role only", "first round", "first round"),
        (HELLO, ACCUSED, "accuses only", "never", "later that day"),
        (HELLO, "I think Charlie is the mafioso.", "tells nothing", "never", "never"),
        ("I am a villager.", HELLO, "tells nothing", "never", "never"),
        ("", INVESTIGATED, "claims the investigation", "later that day", "later that day"),
        ("", "", "says nothing at all", "never", "never"),
    ],
)
def test_what_is_told_and_when(first: str, second: str, how: str, claims: str, tells: str) -> None:
    (row,) = disclosures(load_frames([told(first, second)])).to_dicts()
    assert (row["how"], row[CLAIMS], row[TELLS]) == (how, claims, tells)


def test_only_those_who_investigated_disclose() -> None:
    game = spoken("I am the detective.", "", INVESTIGATED)
    assert disclosures(load_frames([game]))["how"].to_list() == ["says nothing at all"]


def test_where_players_bid_for_the_floor_the_first_statement_is_the_first_chance() -> None:
    """Alice sees on night 2 that Bob is a werewolf, and first speaks on turn 5 of day 2."""
    common = {"game_id": "g", "game": "dyadic-werewolf"}
    seats = [
        {**common, "name": "Alice", "role": "seer", "team": "villagers", "deceives": False, "won": True},
        {**common, "name": "Bob", "role": "werewolf", "team": "werewolves", "deceives": True, "won": False},
    ]
    act = {**common, "act": "investigation", "actor": "Alice", "actor_role": "seer", "target": "Bob", "day": 2}
    said = column_wise(
        **common, statement_id=["g:1", "g:2", "g:3"], speaker="Alice", day=[1, 2, 2], round=[1, 5, 7], place=[1, 2, 3],
        text=["Bob is a werewolf.", "Bob is a werewolf.", "Good."],
    )  # fmt: skip
    frames = made(games=[common], seats=seats, nights=[act], statements=[*said, *said])
    (row,) = disclosures(frames).to_dicts()
    assert (row["how"], row[CLAIMS], row[TELLS]) == ("accuses only", "never", "first round")


@pytest.mark.long
def test_published_detectors_of_grok_tell_at_once_and_those_of_llama_hardly_ever(published: Frames) -> None:
    """The paper: Grok 3 Mini tells in the first round in 93.8% of its games, Llama 3.1 8B never does in 69.9%."""
    table = disclosure_when(published).filter(told=TELLS)
    found = {(model, when): rate for model, when, rate in table.select("model", "when", "rate").iter_rows()}
    assert found["grok-3-mini", "first round"] > 0.8
    assert found["Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "never"] > 0.5


@pytest.mark.parametrize(
    ("turns", "rule", "true_claimer"),
    [
        (("", INVESTIGATED, "I investigated Bob, and he is the mafioso."), "Alice", 1),
        (("", "", "I investigated Bob, and he is the mafioso.", "", INVESTIGATED), "Bob", 0),
        (("", "", "I investigated Charlie, and he is the mafioso."), "Alice", 0),  # Charlie knows better
        (("", "I am the detective."), "Alice", 1),  # nobody else is left
        (("", "", "I investigated Charlie last night. He is innocent."), "Bob", 0),
        (("", "", "I investigated Bob last night. He is innocent."), None, 0),
        (("", "I think Alice is the mafioso."), None, None),
        (("I am the detective.", ""), None, None),  # nobody trusts itself
    ],
)
def test_whom_the_rule_names(turns: tuple[str, ...], rule: str | None, true_claimer: int | None) -> None:
    (row,) = ballots(load_frames([spoken(*turns)])).to_dicts()
    assert (row["voter"], row["rule"], row["true_claimer"]) == ("Charlie", rule, true_claimer)
    assert row["claimed"] == (true_claimer is not None)


def test_the_ballot_is_counted_again_with_one_vote_changed() -> None:
    def outs(game: GameRecord) -> tuple[float, float, float]:
        (row,) = ballots(load_frames([game])).to_dicts()
        return row["out"], row["out_by_rule"], row["gain"]

    wrong = "I investigated Bob, and he is the mafioso."
    assert outs(spoken("", INVESTIGATED, votes=MAFIA_WINS)) == (0, 1, 1)
    assert outs(spoken("", INVESTIGATED, votes=TOWN_WINS)) == (1, 1, 0)
    assert outs(spoken("", "", wrong, votes=TOWN_WINS)) == (1, 0, -1)
    assert outs(spoken("", "", "", votes=TOWN_WINS)) == (1, 1, 0)
    tie = {"Alice": "Charlie", "Bob": "Alice", "Charlie": "Bob"}
    out, by_rule, gain = outs(spoken("", INVESTIGATED, votes=tie))
    assert (out, by_rule, gain) == pytest.approx((1 / 3, 1, 2 / 3))


def test_every_ballot_of_every_game_ends_as_its_tally_says(records: tuple[GameRecord, ...]) -> None:
    last = {"mini-mafia": "voting", "werewolf": "revote", "dyadic-werewolf": "revote", "one-night-werewolf": "voting"}
    nights = [finished(lambda n=n: OneNightWerewolf(TABLE, n, f"night {n}"), "a", n) for n in range(12)]
    seen = set()
    for game in (*records, *nights):
        days = {event.day for event in game.events if event.kind is EventKind.VOTE}
        for day in days:
            today = [event for event in game.events if event.day == day]
            votes = [
                event.target or ""
                for event in today
                if event.kind is EventKind.VOTE and event.phase.value == last[game.game]
            ]
            out = {event.target for event in today if event.kind in (EventKind.ARREST, EventKind.EXILE)}
            shares = SIDES[game.game].tally(votes)
            assert out <= set(shares)
            assert sum(shares.values()) == pytest.approx(len(out))
            seen.add((game.game, len(out)))
    assert {game for game, _ in seen} == set(last)
    assert {("werewolf", 0), ("one-night-werewolf", 2)} <= seen


def answered(reply: str, accusation: str = INVESTIGATED, **more: object) -> GameRecord:
    return spoken(HELLO, accusation, reply, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "done"),
    [
        ("Bob is lying.", {"counter", "accuser"}),
        ("I think Charlie is the mafioso.", {"counter"}),
        ("I am the detective, and I investigated Bob. He is the mafioso.", {"counter", "accuser"}),
        (HELLO, set()),
    ],
)
def test_what_the_accused_does(reply: str, done: set[str]) -> None:
    (row,) = answers(load_frames([answered(reply, votes={**MAFIA_WINS, "Alice": "Charlie"})])).to_dicts()
    assert {answer for answer in ANSWERS if row[answer]} == done
    assert row["won"]


def test_the_vote_is_an_answer_and_silence_and_what_was_said_before_are_none() -> None:
    (row,) = answers(load_frames([answered("", votes=TOWN_WINS)])).to_dicts()
    assert [row[answer] for answer in ANSWERS] == [None, None, True]
    game = spoken("Bob is suspicious.", INVESTIGATED, "", HELLO, order=("Alice", "Bob", "Charlie"))
    assert answers(load_frames([game]))["counter"].to_list() == [False]


def test_only_those_who_investigated_confront_and_a_disclosure_without_a_name_does_too() -> None:
    villager = spoken("I think Alice is the mafioso.", HELLO, "Charlie is lying.")
    assert answers(load_frames([villager])).is_empty()
    disclosed = answered("Bob is lying.", "I am the detective.")
    assert answers(load_frames([disclosed]))["accuser"].to_list() == [True]
    assert answers(load_frames([answered("Bob is lying.", HELLO)])).is_empty()
