"""Trusting whoever first claims to have investigated, in games of Alice (mafioso), Bob (detective) and Charlie."""

from __future__ import annotations

import pytest

from liescope.benchmark.analyses.conditions_of_play import POOLED
from liescope.benchmark.analyses.first_claim import ballots, first_claim
from liescope.benchmark.analyses.frames import load_frames
from liescope.games.core import EventKind
from liescope.games.game_registry import SIDES
from liescope.games.one_night import OneNightWerewolf
from liescope.games.record import GameRecord
from tests.benchmark.analyses.spoken import MAFIA_WINS, TOWN_WINS, spoken
from tests.benchmark.random_play import finished

BOB_CLAIMS = "I investigated Alice last night, and she is the mafioso."


@pytest.mark.parametrize(
    ("turns", "rule", "true_claimer"),
    [
        (("", BOB_CLAIMS, "I investigated Bob, and he is the mafioso."), "Alice", 1),
        (("", "", "I investigated Bob, and he is the mafioso.", "", BOB_CLAIMS), "Bob", 0),
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
    assert outs(spoken("", BOB_CLAIMS, votes=MAFIA_WINS)) == (0, 1, 1)
    assert outs(spoken("", BOB_CLAIMS, votes=TOWN_WINS)) == (1, 1, 0)
    assert outs(spoken("", "", wrong, votes=TOWN_WINS)) == (1, 0, -1)
    assert outs(spoken("", "", "", votes=TOWN_WINS)) == (1, 1, 0)
    tie = {"Alice": "Charlie", "Bob": "Alice", "Charlie": "Bob"}
    out, by_rule, gain = outs(spoken("", BOB_CLAIMS, votes=tie))
    assert (out, by_rule, gain) == pytest.approx((1 / 3, 1, 2 / 3))


def test_the_table_is_by_the_voters_model_and_over_all() -> None:
    games = [
        spoken("", BOB_CLAIMS, votes=MAFIA_WINS, game_id="one", models={"Charlie": "a"}),
        spoken("", "", votes=TOWN_WINS, game_id="two", models={"Charlie": "a"}),
        spoken("", BOB_CLAIMS, votes=TOWN_WINS, game_id="three", models={"Charlie": "b"}),
    ]
    table = first_claim(load_frames(games))
    found = {(row["model"], row["metric"]): (row["mean"], row["n"]) for row in table.to_dicts()}
    assert found["a", "claimed"] == (0.5, 2)
    assert found["a", "named_right"] == (1, 1)
    assert found["a", "voted_right"] == (0.5, 2)
    assert found["a", "gain"] == (0.5, 2)
    assert found["b", "gain"] == (0, 1)
    assert found[POOLED, "out_by_rule"] == (1, 3)
    assert table["model"].to_list()[-1] == POOLED


def test_every_ballot_of_every_game_ends_as_its_tally_says(records: tuple[GameRecord, ...]) -> None:
    last = {"mini-mafia": "voting", "werewolf": "revote", "dyadic-werewolf": "revote", "one-night-werewolf": "voting"}
    nights = [finished(lambda n=n: OneNightWerewolf(seed=n, game_id=f"night {n}"), "a", n) for n in range(12)]
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
