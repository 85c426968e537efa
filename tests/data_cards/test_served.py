"""What a card says of how people came to play."""

from __future__ import annotations

from typing import Any

from liescope.data_cards.cards import served_facts


def test_only_runs_that_may_hold_people_are_named_for_saying_nothing_of_them() -> None:
    served = {"consent": ["We record it."], "words": 60.0, "choices": 60.0, "away": 5.0}
    plans: dict[str, dict[str, Any]] = {
        "table": {"players": ["human:Ada"], "held": {"Bob": "human:Ada"}, "served": served},
        "scripts": {"players": ["scripted:bold"]},
        "imported": {"import": "quack"},
        "old-table": {"players": ["human:Bo", "scripted:bold"]},
        "fork": {"fork": {}, "players": ["scripted:bold"], "people": {"Bob": "Ada"}},
        "judged": {"judged": "table"},
    }
    runs = [{"name": name, "plan": plan} for name, plan in plans.items()]
    facts = served_facts({"runs": runs, "seat_sources": {"human": 2, "scripted": 9}})
    assert facts["unsaid"] == ["old-table", "fork", "judged"]
    assert [(text["text"], text["runs"]) for text in facts["consents"]] == [(("We record it.",), ["table"])]
    assert served_facts({"runs": runs, "seat_sources": {"scripted": 9}})["unsaid"] == []
