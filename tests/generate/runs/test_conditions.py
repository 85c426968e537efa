"""The condition of a game: what its run's plan says of how it was played, and nothing of how it was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import make_plan
from liescope.generate.runs.run_folder import plan_settings
from liescope.labeling.conditions import SETTINGS
from tests.benchmark.random_play import judged, mini_mafia


def plan(**options: object) -> dict[str, object]:
    return make_plan("mini-mafia", options, ["scripted:bold"], "self", [("scripted:bold",) * 3], 1, 1).to_json()


def test_what_players_see_is_a_setting_and_what_only_measures_is_none() -> None:
    plain = plan_settings(plan())
    assert plan_settings(plan(rounds=8)) != plain
    assert plan_settings(plan(assess=True)) == plain
    assert plan_settings(plan(assess=True, assess_share=0.5)) == plain
    shown = plan_settings(plan(assess=True, show_suspicion=True))
    assert shown == {**plain, "show_suspicion": "on"}
    assert plan_settings({**plan(), "prompts": "minimal"}) != plain
    assert plan_settings({**plan(), "seed": 9, "games": 4}) == plain


def test_a_game_is_read_with_the_settings_of_its_run_and_keeps_them_when_it_is_judged(tmp_path: Path) -> None:
    game = mini_mafia("m", 1)
    with Journal.create(tmp_path / "run", plan(rounds=8)) as journal:
        journal.add_record(game)
        (read,) = journal.records()
        assert read == journal.record(game.game_id)
    assert read.meta[SETTINGS]["rounds"] == "8"
    assert replace(read, meta=game.meta) == game
    with Journal.create(tmp_path / "judged", {"judged": "run", "origin": "abc", "game": "mini-mafia"}) as journal:
        journal.add_record(judged(read))
        (copy,) = journal.records()
    assert copy.meta[SETTINGS] == read.meta[SETTINGS]
