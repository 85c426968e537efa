"""Who deceives, detects and discloses best by the games alone: players beside the same others."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.analyses.standings import NOBODY, QUESTIONS, answers, compared, rows_of_counts, rows_of_games
from liescope.benchmark.capability.counts import SCHEMA
from liescope.benchmark.capability.forms import PLAYERS
from tests.benchmark.analyses.made import made

EVEN = {"a": 0.0, "b": 0.0}


def cells(m: dict[str, float], games: int = 40, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Counts in which the mafia's chance is one half and what its mafioso adds; detective and villager add nothing."""
    random = np.random.default_rng(seed)
    rows = [(*three, int(random.binomial(games, 0.5 + m[three[0]])), games) for three in product(m, repeat=3)]
    return {"": pl.DataFrame(rows, SCHEMA, orient="row")}


def said(counts: dict[str, pl.DataFrame]) -> tuple[str, ...]:
    return answers(rows_of_counts(counts)).findings


def test_the_best_deceiver_is_named_and_nobody_where_players_are_equal() -> None:
    deceives, detects, discloses = said(cells({"a": -0.2, "b": 0.2, "c": -0.2}))
    assert deceives.startswith("b deceives best: ")
    assert "more wins as the mafioso than others beside the same players" in deceives
    assert detects.startswith("These games do not settle who detects best")
    assert discloses.startswith("These games do not settle who discloses best")


@pytest.mark.long
def test_of_equal_players_one_is_named_on_hardly_a_page_in_twenty() -> None:
    """Three questions, and the first of several players picked, each give chance a way to be shown."""
    even = dict.fromkeys("abcd", 0.0)
    named = sum(
        any(" best: " in one and "not settle" not in one for one in said(cells(even, 20, at))) for at in range(40)
    )
    assert named <= 4


def test_two_that_are_ahead_together_have_no_first() -> None:
    assert "do not settle who deceives" in said(cells({"a": 0.3, "b": 0.3, "c": -0.3}, seed=3))[0]


def test_a_player_that_met_easier_company_is_not_the_best() -> None:
    """a deceived credulous villagers more often than b did; before either villager both won as often."""
    rows = [
        *[("a", "x", "credulous", 72, 80), ("b", "x", "credulous", 18, 20)],
        *[("a", "x", "keen", 4, 20), ("b", "x", "keen", 16, 80)],
    ]
    table = compared(rows_of_counts({"": pl.DataFrame(rows, SCHEMA, orient="row")}))
    deceives = table.filter(question="deceives")
    assert deceives["difference"].to_list() == pytest.approx([0.0, 0.0], abs=1e-9)
    assert deceives["p"][0] > 0.5


def test_who_wins_every_game_is_certainly_the_best() -> None:
    """Where nothing but the player decides, no game differs from what the player leads one to expect."""
    rows = [(name, "x", "y", 40 * (name == "a"), 40) for name in "ab"]
    deceives, *_ = said({"": pl.DataFrame(rows, SCHEMA, orient="row")})
    assert deceives.startswith("a deceives best: 100 points (")


def test_players_that_never_held_a_role_beside_the_same_others_are_not_compared() -> None:
    alone = {"": pl.DataFrame([("a", "a", "a", 9, 20), ("b", "b", "b", 15, 20)], SCHEMA, orient="row")}
    assert said(alone) == (NOBODY,)
    part = {"": pl.DataFrame([("a", "x", "y", 9, 20), ("b", "x", "y", 15, 20)], SCHEMA, orient="row")}
    assert [sentence.startswith("Who ") for sentence in said(part)] == [False, True, True]


def games(finds: dict[str, float]) -> dict[str, list[dict[str, Any]]]:
    """Games of one wolf, one seer and two villagers, who vote for the wolf with the chance of their player."""
    random = np.random.default_rng(4)
    rows: dict[str, list[dict[str, Any]]] = {"games": [], "seats": [], "votes": [], "nights": []}
    roles = {"Wolf": "werewolf", "Sue": "seer", "Ann": "villager", "Ben": "villager"}
    for at, (player, other) in enumerate(product([*finds] * 40, finds)):
        game = {"game_id": f"g{at}", "game": "werewolf"}
        rows["games"].append({**game, "winner": "villagers"})
        rows["nights"].append({**game, "act": "investigation", "actor": "Sue", "actor_role": "seer", "target": "Ann"})
        for name, role in roles.items():
            model = {"villager": player, "werewolf": other}.get(role, "x")
            seat = {**game, "name": name, "role": role, "team": role, "fate": "alive", "won": role != "werewolf"}
            rows["seats"].append({**seat, "deceives": role == "werewolf", "seat_model": model})
            if role == "villager":
                found = random.random() < finds[player]
                vote = {"ballot": 1, "voter": name, "voter_role": role, "target": "Wolf" if found else "Sue"}
                rows["votes"].append({**game, **vote, "model": player, "drawn": False})
    return rows


def test_in_games_with_votes_the_best_detector_is_who_votes_for_those_who_deceive() -> None:
    deceives, detects, _ = answers(rows_of_games(made(**games({"keen": 0.8, "deaf": 0.3})))).findings
    assert detects.startswith("keen detects best: ")
    assert "more votes for players who deceive" in detects
    assert deceives.startswith("These games do not settle who deceives best")


def test_every_question_is_asked_of_counts_and_of_games() -> None:
    for rows in (rows_of_counts(cells(EVEN)), rows_of_games(made(**games({"a": 0.5, "b": 0.5})))):
        assert set(rows["question"]) == set(QUESTIONS)
        assert set(rows["role"]) <= {*PLAYERS, "werewolf", "seer"}
