"""How often roles deceive and how, who is suspected, and flags against reports: counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.analyses.deception import TYPES, confidence_error
from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import column_wise, made, table_of

flags_per_statement = table_of("flags_per_statement")
type_composition = table_of("type_composition")
type_yield = table_of("type_yield")

KINDS = ("none", "omission", "omission", "fabrication")


@pytest.fixture
def hand() -> Frames:
    """A jester with four statements in two games: three deceptive by its own report, two by most of its peers'."""
    own = {"game_id": ["g0", "g0", "g1", "g1"], "speaker_role": "jester", "self_type": [*KINDS]}
    lies, suspicion = [kind != "none" for kind in KINDS], [0.1, 0.8, 0.6, 0.3]
    seen = {"peer_rate": [0.0, 1.0, 0.75, 0.5], "peer_ratings": 4, "peer_suspicion": suspicion}
    flags = {"flag": [False, True, True, False], "type": ["none", "omission", "omission", "none"]}
    return made(
        statements=column_wise(**own, statement_id=[*"0123"], label_self=lies, **seen),
        ratings=column_wise(**own, **flags, suspicion=suspicion),
    )


def test_the_shares_of_all_types_add_up_to_one(hand: Frames) -> None:
    table = type_composition(hand)
    own = dict(table.filter(pl.col("by") == "self").select("type", "mean").iter_rows())
    assert own == {name: {"none": 0.25, "omission": 0.5, "fabrication": 0.25}.get(name, 0.0) for name in TYPES}
    seen = dict(table.filter(pl.col("by") == "peers").select("type", "mean").iter_rows())
    assert seen["omission"] == 1.0
    assert sum(seen.values()) == 1.0


def test_a_statement_that_more_observers_rated_counts_once() -> None:
    """Appendix F.2 takes the mean over statements of what their observers thought, not over all ratings."""
    seen = {"peer_suspicion": [1.0, 0.0], "peer_rate": [1.0, 0.0], "peer_ratings": [9, 1]}
    rows = column_wise(game_id="g", statement_id=["a", "b"], speaker_role="jester", self_type="omission", **seen)
    assert type_yield(made(statements=rows))["mean"].to_list() == [0.5, 0.5]


def test_flags_a_statement_are_counts_where_rates_are_shares(hand: Frames) -> None:
    (row,) = flags_per_statement(hand).to_dicts()
    assert (row["mean"], row["n"], row["observers"]) == (pytest.approx(2.25), 4, 4.0)


cross_perception = table_of("cross_perception")
cross_perception_change = table_of("cross_perception_change")


def rating(game: str, speaker: str, observer: str, suspicion: float | None, **more: object) -> dict[str, object]:
    """A rating by and of players named after their roles."""
    who = {"speaker": speaker, "speaker_role": speaker, "observer": observer, "observer_role": observer}
    return {"game_id": game, **who, "suspicion": suspicion, **more}


@pytest.fixture
def suspected() -> Frames:
    """The jester wins g0 and loses g1; in g1 it learns."""
    on = {"learning": True}
    return made(
        games=[{"game_id": "g0", "winner": "jester"}, {"game_id": "g1", "winner": "villagers", **on}],
        ratings=[
            rating("g0", "jester", "villager", 0.6, running_suspicion=0.57),
            rating("g0", "jester", "villager", 1.0, running_suspicion=0.9, day=2),
            rating("g0", "doctor", "villager", 0.2, running_suspicion=0.3),
            rating("g0", "doctor", "jester", None, running_suspicion=0.5),
            rating("g1", "jester", "villager", 0.4, running_suspicion=0.4, **on),
            rating("g1", "doctor", "villager", 0.2, running_suspicion=0.3, **on),
        ],
    )


def test_cross_perception_takes_the_last_running_suspicion_of_each_pair(suspected: Frames) -> None:
    rows = cross_perception(suspected).filter(learning=False).to_dicts()
    found = {(row["observer_role"], row["target_role"]): row["mean"] for row in rows}
    assert found == {("villager", "jester"): 0.9, ("villager", "doctor"): 0.3}


def test_the_change_is_on_minus_off(suspected: Frames) -> None:
    found = {row["target_role"]: row["difference"] for row in cross_perception_change(suspected).to_dicts()}
    assert found == {"jester": pytest.approx(-0.5), "doctor": pytest.approx(0.0)}


calibration_gap = table_of("calibration_gap")
confidence_calibration = table_of("confidence_calibration")
detection_by_observer = table_of("detection_by_observer")
detection_by_speaker = table_of("detection_by_speaker")


def test_the_gap_is_what_observers_flag_less_what_speakers_confess() -> None:
    flagged = {"label_self": [True, False, False, None, True], "peer_rate": [0.5, 0.25, 0.75, 1.0, None]}
    statements = column_wise(game_id=["g0", "g0", "g1", "g1", "g1"], speaker_role="doctor", **flagged)
    (row,) = calibration_gap(made(statements=statements)).to_dicts()
    assert row["self_rate"] == pytest.approx(1 / 3)
    assert row["obs_rate"] == pytest.approx(0.5)
    assert row["gap"] == pytest.approx(1 / 6)
    assert (row["n"], row["games"]) == (3, 2)


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_bias_of_the_observers_lies_in_the_interval_of_the_gap(seed: int) -> None:
    """Observers flag a statement as often as its speaker lies, and by so much more or less for each role."""
    rng = np.random.default_rng(seed)
    planted = {"villager": 0.15, "doctor": 0.05, "werewolf": -0.12, "jester": 0.0}
    lies = {"villager": 0.1, "doctor": 0.4, "werewolf": 0.9, "jester": 0.8}
    statements = [
        {
            "game_id": f"g{game}",
            "speaker_role": role,
            "label_self": bool(rng.random() < lies[role]),
            "peer_rate": rng.binomial(8, np.clip(lies[role] + bias, 0, 1)) / 8,
        }
        for game in range(60)
        for role, bias in planted.items()
        for _ in range(12)
    ]
    table = calibration_gap(made(statements=statements)).to_dicts()
    inside = [row["lo"] <= planted[row["speaker_role"]] <= row["hi"] for row in table]
    assert len(inside) == 4
    assert sum(inside) >= 3  # each of the four holds with a chance of 95%
    assert {row["speaker_role"] for row in table if row["gap"] > 0.1} == {"villager"}
    assert {row["speaker_role"] for row in table if row["gap"] < -0.06} == {"werewolf"}


def test_hits_are_counted_by_the_confidence_of_the_flag() -> None:
    ratings = column_wise(
        game_id=["g0", "g0", "g1", "g1", "g1", "g1", "g1"],
        confidence=[0.6, 0.65, 0.95, 1.0, 0.97, None, 0.99],
        label_self=[False, True, True, True, None, True, True],
        flag=[True] * 6 + [False],
    )
    frames = made(ratings=ratings)
    table = {row["confidence_bin"]: row for row in confidence_calibration(frames).to_dicts()}
    assert {name: (row["mean"], row["n"]) for name, row in table.items()} == {"0.5–0.7": (0.5, 2), "0.95–1": (1.0, 2)}
    assert table["0.5–0.7"]["mean_confidence"] == pytest.approx(0.625)
    (row,) = confidence_error(frames).to_dicts()
    assert row["error"] == pytest.approx((0.125 * 2 + 0.025 * 2) / 4)


def test_accuracy_and_f1_hold_flags_against_report_role_and_claims() -> None:
    """Speaker's reports: 3 right of 4, TP 1, FP 1, FN 0; by role: TP 1, FP 1, FN 2."""
    own, roles = [True, False, False, False], [True, False, True, True]
    ratings = column_wise(
        **{"game_id": ["g0", "g1", "g0", "g1"], "speaker_role": "jester", "observer_role": "villager"},
        **{"flag": [True, True, False, False], "label_self": own, "label_role": roles},
    )
    for analysis in (detection_by_speaker, detection_by_observer):
        found = {(row["truth"], row["metric"]): row["mean"] for row in analysis(made(ratings=ratings)).to_dicts()}
        assert found == {
            ("self", "accuracy"): 0.75,
            ("self", "f1"): pytest.approx(2 / 3),
            ("role", "accuracy"): 0.25,
            ("role", "f1"): pytest.approx(2 / 5),
        }
