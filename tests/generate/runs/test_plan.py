"""A plan is a value: the same one means the same games, and any other one is told apart with its differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import PlanChanged, UsageError
from liescope.generate.players.prompts.render import read_templates
from liescope.generate.runs.plan_games import make_plan
from liescope.generate.runs.run_folder import check_unchanged
from liescope.generate.runs.run_plan import Plan


def test_every_game_has_an_id_and_a_seed_of_its_own_also_across_plans(plan: Callable[..., Plan]) -> None:
    games = [game for seed in range(20) for game in plan(seed=seed, games=10).schedule()]
    assert len({game.game_id for game in games}) == len(games) == 20 * 8 * 10
    assert len({game.seed for game in games}) == len(games)


def test_a_plan_cut_short_has_played_some_of_every_cell(plan: Callable[..., Plan]) -> None:
    made: Plan = plan(games=5)
    assert {made.planned(number).cell for number in range(len(made.cells))} == set(made.cells)


def test_a_plan_comes_back_from_a_run_folder_as_it_was(plan: Callable[..., Plan]) -> None:
    made: Plan = plan(rounds=8, assess=True, message_limit=None, names=("Ann", "Ben", "Cem", "Dee"))
    again = Plan.parse(made.to_json(), Path("runs/x"))
    assert again == made
    assert again.hash == made.hash
    assert again.make(again.planned(3)).names == made.make(made.planned(3)).names
    check_unchanged(made.to_json(), again.to_json(), Path("runs/x"))


def refusal_of(old: dict[str, Any], new: dict[str, Any]) -> str:
    with pytest.raises(PlanChanged) as refusal:
        check_unchanged(old, new, Path("runs/x"))
    return str(refusal.value).partition(": ")[2].partition(". Give")[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 2}, "seed 1 -> 2"),
        ({"players": ("fake:a", "fake:c")}, 'players ["fake:a", "fake:b"] -> ["fake:a", "fake:c"]'),
        ({"design": "full"}, 'design "background" -> "full"'),
        ({"rounds": 5}, "options.rounds 2 -> 5"),
    ],
)
def test_one_changed_option_is_one_difference(change: dict[str, Any], words: str, plan: Callable[..., Plan]) -> None:
    """Cells follow from players and design; they are not named beside them."""
    assert refusal_of(plan().to_json(), plan(**change).to_json()) == words


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    path = "openai:a-model@https://a-very-long-host-name.example.org/some/long/path/v1?temperature="
    one, other = [f"{path}{number / 10}" for number in range(9)], [f"{path}{number / 10}" for number in range(1, 10)]
    assert (
        refusal_of({"x": f"{path}0.5"}, {"x": f"{path}0.7"}) == 'x …th/v1?temperature=0.5" -> …th/v1?temperature=0.7"'
    )
    words = refusal_of({"players": one}, {"players": other})
    assert words.startswith('players …th/v1?temperature=0.0"')
    assert len(words) < 200
    assert "\x1b" not in refusal_of({"x": 1}, {"x": "\x1b[2J"})


def test_general_mafia_is_balanced_and_its_roles_are_those_that_somebody_plays(plan: Callable[..., Plan]) -> None:
    made: Plan = plan(game="mafia", mafiosos=2, detectives=0, villagers=5, games=7)
    assert made.roles == ("mafioso", "villager")
    assert len(made.cells) == 4
    assert all(made.make(game).roles == dict(zip(game.seats, game.roles, strict=True)) for game in made.schedule())


def test_a_changed_template_changes_the_plan_and_a_moved_folder_does_not(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "vote.jinja").write_text("Vote.", encoding="utf-8")
    cell = [("fake:a",) * 3]
    plans = [make_plan("mini-mafia", {}, ["fake:a"], "self", cell, 1, 0, prompts=str(folder)) for folder in folders]
    assert plans[0].hash == plans[1].hash
    (folders[1] / "vote.jinja").write_text("Vote now.", encoding="utf-8")
    assert read_templates(str(folders[0]), "mafia") != read_templates(str(folders[1]), "mafia")
    with pytest.raises(UsageError, match="minimal"):
        read_templates(str(tmp_path / "none"), "mafia")


def test_an_option_that_older_plans_have_not_is_part_of_a_plan_only_where_it_is_chosen(
    plan: Callable[..., Plan],
) -> None:
    later = {"reveal_dead", "mutual_discovery", "assess_share", "show_suspicion"}
    assert later.isdisjoint(plan().options)
    assert later.isdisjoint(plan(game="werewolf", players=("fake:a",), design="self").options)
    chosen = plan(reveal_dead=True, mutual_discovery=True)
    assert (chosen.options["reveal_dead"], chosen.options["mutual_discovery"]) == (True, True)
    assert chosen.spec.reveal_dead
