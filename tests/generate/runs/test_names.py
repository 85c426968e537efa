"""Names from a file: who sits where is drawn evenly, and what the file says of a name goes wherever its games go."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData, LiescopeError
from liescope.games.game_registry import find_game
from liescope.generate.runs.plan_games import PlanSettings, plan_games
from liescope.generate.runs.run_plan import Plan

CROWD = "name,region, dialect\n" + "".join(
    f"{name},{'hills' if place % 2 else 'coast'},{('old', 'new', '')[place % 3]}\n"
    for place, name in enumerate(("Ada", "Bo", "Cy", "Dot", "Edda", "Flo", "Gus"))
)


def planned(folder: Path, text: str = CROWD, games: int = 28, roles: str = "balanced", **options: Any) -> Plan:
    file = folder / "crowd.csv"
    file.write_text(text, encoding="utf-8")
    settings = PlanSettings(games=games, roles=roles, design="self", seed=4)
    return plan_games(find_game("mini-mafia"), settings, {"names": str(file), **options}, "full")


@pytest.mark.parametrize(("games", "roles"), [(28, "balanced"), (21, "shuffled"), (9, "fixed")])
def test_every_name_sits_equally_often_and_never_twice_in_a_game(games: int, roles: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, games=games, roles=roles)
    seats = [game.seats for game in plan.schedule()]
    assert all(len(set(names)) == 4 for names in seats)
    sat = Counter(name for names in seats for name in names)
    assert len(sat) == 7
    assert max(sat.values()) - min(sat.values()) <= (games * 4 % 7 > 0)
    held = Counter((n, r) for game in plan.schedule() for n, r in zip(game.seats, game.roles, strict=False))
    assert roles != "balanced" or {held[name, "mafioso"] for name in sat} == {4}


def test_a_plan_with_names_comes_back_as_it_was_and_draws_others_from_another_seed(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    again = Plan.parse(json.loads(json.dumps(plan.to_json(), sort_keys=True)), tmp_path)
    assert (again.hash, [*again.schedule()]) == (plan.hash, [*plan.schedule()])
    other = plan.model_copy(update={"seed": 5})
    assert [game.seats for game in other.schedule()] != [game.seats for game in plan.schedule()]
    broken = {**plan.to_json(), "names": [{"name": "Ada"}, {"called": "Bo"}]}
    with pytest.raises(BadData, match="whose names do not fill the seats"):
        Plan.parse(broken, tmp_path)


def test_attributes_go_with_games_into_corpora_ratings_and_continuations(tmp_path: Path) -> None:
    planned(tmp_path)
    run = tmp_path / "run"
    liescope.play("mini-mafia", names=str(tmp_path / "crowd.csv"), games=7, out=run)
    rated = liescope.label(run, judge="scripted:novice", out=tmp_path / "rated").folder
    forked = liescope.fork(run, "0", 0, times=1, out=tmp_path / "forked").folder
    for number, source in enumerate((run, rated, forked)):
        liescope.build(source, out=tmp_path / f"corpus{number}")
        games = liescope.read(tmp_path / f"corpus{number}", "games").collect()
        for seats, meta in games.select("seats", "meta").iter_rows():
            told = json.loads(meta)["attributes"]
            assert told.keys() == {seat["name"] for seat in seats}
            assert all(f"{name},{facts['region']},{facts['dialect']}\n" in CROWD for name, facts in told.items())
        assert games["condition"].str.contains("names=7 from a file (name, region, dialect; ", literal=True).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("who,region\nAda,hills\n", "needs a column called name.* it has who, region"),
        ("name,,region\nAda,x,hills\n", "needs a column called name, and columns of different names"),
        ("name,region\nAda,hills\nBo,coast\nCy,coast\n", "has 3 names, but a game seats 4"),
        (CROWD + "B\u043e,hills,old\n", "Bo and B.* are alike"),
        (CROWD + "Hal,hills\n", "more or fewer cells than columns"),
        (CROWD.replace("hills", "coast"), "the attribute region .* has coast for every name"),
    ],
)
def test_a_file_that_makes_no_games_is_refused_in_a_sentence(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(LiescopeError, match=words):
        planned(tmp_path, text)
    with pytest.raises(LiescopeError, match="--spared needs names that every game has"):
        planned(tmp_path, spared=("Ada",))
