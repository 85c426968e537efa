"""The facts of events and records are those that are declared, in every golden game and every check."""

from __future__ import annotations

import json
from pathlib import Path

from liescope.games.facts import AssessmentData, EventData
from liescope.games.record_checks import KINDS

GOLDEN = Path(__file__).parents[1] / "golden"


def test_every_fact_that_a_game_logs_is_declared() -> None:
    used, assessed = set(), set()
    for file in GOLDEN.glob("*.jsonl"):
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            data = line.get("event", {}).get("data", {})
            used |= data.keys()
            assessed |= data.get("assessment", {}).keys()
    assert used <= EventData.__annotations__.keys()
    assert assessed == AssessmentData.__annotations__.keys()


def test_every_fact_that_is_checked_is_declared() -> None:
    checked = {name for kind in KINDS.values() for name in kind.facts}
    assert checked <= EventData.__annotations__.keys()
