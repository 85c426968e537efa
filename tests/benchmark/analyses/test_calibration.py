"""Flags against reports: counted by hand, and a bias that was planted is found again."""

from __future__ import annotations

import numpy as np
import pytest

from liescope.benchmark.analyses.deception import confidence_error
from tests.benchmark.analyses.made import made, table_of

calibration_gap = table_of("calibration_gap")
confidence_calibration = table_of("confidence_calibration")
detection_by_observer = table_of("detection_by_observer")
detection_by_speaker = table_of("detection_by_speaker")


def test_the_gap_is_what_observers_flag_less_what_speakers_confess() -> None:
    rows = [("g0", True, 0.5), ("g0", False, 0.25), ("g1", False, 0.75), ("g1", None, 1.0), ("g1", True, None)]
    statements = [
        {"game_id": game, "speaker_role": "doctor", "label_self": own, "peer_rate": rate} for game, own, rate in rows
    ]
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


def flag(
    game: str, confidence: float | None, own: bool | None, raised: bool = True, **more: object
) -> dict[str, object]:
    return {"game_id": game, "flag": raised, "confidence": confidence, "label_self": own, **more}


def test_hits_are_counted_by_the_confidence_of_the_flag() -> None:
    ratings = [
        flag("g0", 0.6, False),
        flag("g0", 0.65, True),
        flag("g1", 0.95, True),
        flag("g1", 1.0, True),
        flag("g1", 0.97, None),
        flag("g1", None, True),
        flag("g1", 0.99, True, raised=False),
    ]
    frames = made(ratings=ratings)
    table = {row["confidence_bin"]: row for row in confidence_calibration(frames).to_dicts()}
    assert {name: (row["mean"], row["n"]) for name, row in table.items()} == {"0.5–0.7": (0.5, 2), "0.95–1": (1.0, 2)}
    assert table["0.5–0.7"]["mean_confidence"] == pytest.approx(0.625)
    (row,) = confidence_error(frames).to_dicts()
    assert row["error"] == pytest.approx((0.125 * 2 + 0.025 * 2) / 4)


def test_accuracy_and_f1_hold_flags_against_report_role_and_claims() -> None:
    """Speaker's reports: 3 right of 4, TP 1, FP 1, FN 0; by role: TP 1, FP 1, FN 2."""
    raised = (True, True, False, False)
    own = (True, False, False, False)
    roles = (True, False, True, True)
    ratings = [
        {
            "game_id": f"g{number % 2}",
            "speaker_role": "jester",
            "observer_role": "villager",
            "flag": flagged,
            "label_self": report,
            "label_role": role,
        }
        for number, (flagged, report, role) in enumerate(zip(raised, own, roles, strict=True))
    ]
    for analysis in (detection_by_speaker, detection_by_observer):
        found = {(row["truth"], row["metric"]): row["mean"] for row in analysis(made(ratings=ratings)).to_dicts()}
        assert found == {
            ("self", "accuracy"): 0.75,
            ("self", "f1"): pytest.approx(2 / 3),
            ("role", "accuracy"): 0.25,
            ("role", "f1"): pytest.approx(2 / 5),
        }
