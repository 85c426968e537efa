"""Runs in parts: whoever plays which share, together they are the one run."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.common.errors import BadData, PlanChanged, UsageError
from liescope.data_cards.tables import TABLES
from liescope.games.game_registry import find_game
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import PlanSettings, plan_games
from liescope.generate.runs.run_plan import Plan

WORDS: dict[str, Any] = {"players": ["scripted:bold", "scripted:novice"], "games": 2, "assess": True}


def play(out: Path, part: str | None = None, **more: Any) -> Path:
    return liescope.play("mini-mafia", out=out, part=part, **{**WORDS, **more}).folder


def tables(*runs: Path, out: Path, **how: Any) -> dict[str, Any]:
    """All tables of the corpus of some runs; a request's time is nobody's but its own."""
    corpus = liescope.build(runs, out=out, **how).folder
    return {name: liescope.read(corpus, name).drop("latency_ms", strict=False).collect() for name in TABLES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("whole") / "big")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three parts of it, one of them by the command."""
    folder = tmp_path_factory.mktemp("parts")
    runs = [folder / f"big-{number}" for number in (1, 2, 3)]
    words = ["--player", "scripted:bold", "--player", "scripted:novice", "--games", "2", "--assess", "--part", "1/3"]
    assert cli.main(["play", "mini-mafia", *words, "--out", str(runs[0])]) == 0
    for number in (2, 3):
        play(runs[number - 1], f"{number}/3")
    return runs


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(table.equals(other[name]) for name, table in one.items())


def test_parts_in_any_order_and_judged_in_either_way_are_the_one_run(
    whole: Path, parts: list[Path], tmp_path: Path
) -> None:
    assert same(tables(whole, out=tmp_path / "one"), tables(*parts[::-1], out=tmp_path / "three"))
    judged = liescope.label(whole, "scripted:steady", roles=True, out=tmp_path / "by").folder
    shares = [
        liescope.label(whole, "scripted:steady", roles=True, part=f"{number}/2", out=tmp_path / f"by-{number}").folder
        for number in (1, 2)
    ]
    each = [
        liescope.label(part, "scripted:steady", roles=True, out=tmp_path / "each" / f"by-{number}").folder
        for number, part in enumerate(parts, 1)
    ]
    wanted = tables(judged, out=tmp_path / "judged")
    assert same(wanted, tables(*shares, out=tmp_path / "shares"))
    assert same(wanted, tables(*each, out=tmp_path / "eaches"))


def plan(part: str | None, **more: Any) -> Plan:
    game = find_game("werewolf" if "learning" in more else "mini-mafia")
    settings = PlanSettings.of({"players": WORDS["players"], "games": 3, "part": part, **more})
    return plan_games(game, settings, {}, "full")


@pytest.mark.parametrize("of", [1, 2, 3, 7, 16])
def test_every_game_is_in_one_part_as_it_is_in_the_whole(of: int) -> None:
    shares = [list(plan(f"{number}/{of}").schedule()) for number in range(1, of + 1)]
    assert [game for share in shares for game in share] == list(plan(None).schedule())
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("of", [2, 3, 4])
def test_where_somebody_learns_a_part_has_whole_cells(of: int) -> None:
    learning: dict[str, Any] = {"design": "factorial", "learning": "off,on"}
    shares = [list(plan(f"{number}/{of}", **learning).schedule()) for number in range(1, of + 1)]
    games = sorted((game for share in shares for game in share), key=lambda game: game.number)
    assert games == list(plan(None, **learning).schedule())
    assert all(count == 3 for share in shares for count in Counter(game.number % 4 for game in share).values())


def test_parts_that_do_not_make_one_run_are_refused(parts: list[Path], tmp_path: Path) -> None:
    one, two, three = parts
    other, half = play(tmp_path / "other-2", "2/2", seed=4), play(tmp_path / "half-1", "1/2")
    for given, words, partial in (
        ([one, two, three, one], "is part 1/3 of a run, and .* is part 1/3", True),
        ([one, half], "1/3 .* 1/2 .*one division", True),
        ([one, two, other], r"different plans \(seed 0 -> 4\)", True),
        ([three, one], "2/3 are not here.*--partial", False),
    ):
        with pytest.raises(UsageError, match=words):
            liescope.build(given, out=tmp_path / "corpus", partial=partial)
    some = liescope.build([three, one], out=tmp_path / "corpus", partial=True)
    assert some.facts.games == sum(liescope.status(part).done for part in (one, three))
    assert set(some.games["run"]) == {"big"}


def test_a_part_is_its_own_run_and_says_which(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(PlanChanged, match='part "2/3" -> "1/3"'):
        play(parts[1], "1/3")
    with pytest.raises(UsageError, match=r"K/N.*'4/3'"):
        play(tmp_path / "none", "4/3")
    with pytest.raises(UsageError, match="no game of this plan"):
        play(tmp_path / "none", "17/400")
    with pytest.raises(UsageError, match=r"part 2/3 of a run.*without --part"):
        liescope.label(parts[1], "scripted:steady", part="1/2")
    spoilt = tmp_path / "spoilt"
    shutil.copytree(parts[0], spoilt)
    (spoilt / "run.json").write_text((spoilt / "run.json").read_text().replace("1/3", "(("))
    with pytest.raises(BadData, match="damaged at part"):
        Journal.open(spoilt)


def test_a_forecast_is_of_the_part(parts: list[Path], whole: Path) -> None:
    forecasts = [
        liescope.forecast("mini-mafia", part=part, **WORDS).to_json()["games"] for part in (None, "1/3", "2/3")
    ]
    assert [games["planned"] for games in forecasts] == [liescope.status(run).done for run in (whole, *parts[:2])]
