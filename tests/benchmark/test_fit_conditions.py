"""`fit` of several conditions, and of games with votes that the rules drew."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from liescope.benchmark import fit
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.benchmark.capability.counts import count_games
from liescope.benchmark.capability.fit_report import fit_lines
from liescope.benchmark.capability.goodness import against_each_other, win_rate_differences
from liescope.benchmark.fitting import DrawnVotes
from liescope.common.errors import UnknownName, UsageError
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_fits")]

Play = Callable[..., GameRecord]
ESCAPE = "b\x1b[31m" + "b" * 30


def games(play: Play, count: int, offset: int = 0, names: str | tuple[str, str] = "ab") -> list[GameRecord]:
    found = []
    for seed in range(count):
        i, j, k = (names[seed >> bit & 1] for bit in range(3))
        found.append(play(i, j, k, k, mafia_wins=seed % 3 == 0, seed=seed + offset))
    return found


def with_drawn_vote(game: GameRecord) -> GameRecord:
    vote = next(event.index for event in game.events if event.kind is EventKind.VOTE)
    events = [replace(event, fallback="unreadable") if event.index == vote else event for event in game.events]
    return replace(game, events=tuple(events))


def keep(path: Path, records: list[GameRecord], **options: object) -> Path:
    plan = {"game": "mini-mafia", "options": options, "prompts": "full"}
    with Journal.create(path, plan if options else {"game": "mini-mafia"}) as journal:
        for record in records:
            journal.add_record(record)
    return path


def test_games_of_different_settings_are_counted_apart_unless_pooling_is_asked_for(play: Play, tmp_path: Path) -> None:
    one = keep(tmp_path / "one", games(play, 8), rounds=2)
    two = keep(tmp_path / "two", games(play, 8, 100), rounds=8)
    more = keep(tmp_path / "more", games(play, 8, 200), rounds=8)
    parts = load_conditions([one, two, more])
    assert {name: int(counts.cells["games"].sum()) for name, counts in parts.items()} == {"rounds 2": 8, "rounds 8": 16}
    pooled = load_conditions([one, two, more], pool=True)
    assert [int(counts.cells["games"].sum()) for counts in pooled.values()] == [24]
    assert set(load_conditions([two, more])) == {""}
    table = tmp_path / "counts.csv"
    table.write_text("mafioso,detective,villager,mafia_wins,games\na,a,b,1,2\n")
    assert "" in load_conditions([one, table])
    assert len(load_conditions([one, table])) == 2


def test_games_with_a_drawn_vote_are_counted_and_can_be_left_out(play: Play) -> None:
    played = games(play, 8)
    counts = count_games([*(with_drawn_vote(game) for game in played[:3]), *played[3:]])
    assert (counts.drawn_games, int(counts.cells["games"].sum()), int(counts.undrawn["games"].sum())) == (3, 8, 5)
    assert count_games(played).drawn_games == 0


def test_a_fit_shows_scores_with_and_without_drawn_votes(play: Play, tmp_path: Path) -> None:
    played = games(play, 160)
    path = keep(tmp_path / "run", [with_drawn_vote(game) if n % 4 == 0 else game for n, game in enumerate(played)])
    result = fit(path, draws=400, tune=400, drawn_votes="leave-out", out=tmp_path / "report")
    assert any("40 of 160 games (25%)" in note and "they are left out" in note for note in result.notes)
    assert result.cells["games"].sum() == 120
    assert result.drawn.select("model", "parameter").n_unique() == result.drawn.height == 6
    assert (result.drawn["kept"] != result.drawn["left_out"]).all()
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "games kept | games left out" in text
    shown = result.drawn.filter(model="a", parameter="m")["left_out"].item()
    assert result.scores.filter(model="a")["m"].item() == shown
    assert set(result.to_json()) == {"variant", "models", "left", "diagnostics", "goodness"}
    with pytest.raises(UnknownName, match="leave-out"):
        fit(path, drawn_votes=cast(DrawnVotes, "drop"))


def test_two_conditions_are_fitted_apart_and_compared(play: Play, tmp_path: Path) -> None:
    one = keep(tmp_path / "one", games(play, 160, names=("a", ESCAPE)), rounds=2)
    two = keep(tmp_path / "two", games(play, 160, 1000, names=("a", ESCAPE)), rounds=8)
    result = fit([str(one), two], draws=400, tune=400, out=tmp_path / "report")
    assert [part.condition for part in result.fits] == ["rounds 2", "rounds 8"]
    data = json.loads((tmp_path / "report" / "capability.json").read_text(encoding="utf-8"))
    assert [part["condition"] for part in data["conditions"]] == ["rounds 2", "rounds 8"]
    assert data == result.to_json()
    assert result.win_rates["difference"].to_list() == [0.0] * 8
    assert set(result.differences["parameter"]) == {"m", "d", "v"}
    assert result.differences.select((pl.col("lo") < 0) & (pl.col("hi") > 0)).to_series().all()
    lines = list(fit_lines(result))
    assert lines[-1].startswith("wrote ")
    assert max(len(line) for text in lines[:-1] for line in text.splitlines()) <= 80
    assert not any("\x1b" in line for line in lines)
    assert "\x1b" not in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert len(repr(result)) < 80


def test_a_condition_that_cannot_be_fitted_is_left_out_with_its_reason_and_the_others_are_fitted(
    play: Play, tmp_path: Path
) -> None:
    one = keep(tmp_path / "one", games(play, 160), rounds=2)
    two = keep(tmp_path / "two", games(play, 16, 1000, names="aa"), rounds=8)
    result = fit([one, two], draws=400, tune=400, out=tmp_path / "report")
    assert [part.condition for part in result.fits] == ["rounds 2"]
    assert set(result.unfit) == {"rounds 8"}
    assert result.cells["games"].sum() == 160
    data = json.loads((tmp_path / "report" / "capability.json").read_text(encoding="utf-8"))
    assert data["unfit"] == dict(result.unfit)
    said = " ".join(" ".join(fit_lines(result)).split())
    shown = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    for words in (said, shown):
        assert "NOT FITTED: the games with rounds 8, because a fit compares models" in words
        assert "pool" not in words
    with pytest.raises(UsageError, match="compares models"):
        fit([one, two], condition=["rounds 8"])
    with pytest.raises(UsageError, match=r"none of 2 conditions .* rounds 8: .* rounds 9: ") as refused:
        fit([two, keep(tmp_path / "three", games(play, 8, 2000, names="aa"), rounds=9)])
    assert "pool" not in str(refused.value)


def test_conditions_are_chosen_by_their_settings(play: Play, tmp_path: Path) -> None:
    runs = [
        keep(tmp_path / "a", games(play, 8), rounds=2),
        keep(tmp_path / "b", games(play, 8, 100), rounds=20),
        keep(tmp_path / "c", games(play, 8, 200), rounds=2, names="long"),
    ]
    every = set(load_conditions(runs))
    assert len(every) == 3
    assert set(load_conditions(runs, only=["rounds 2"])) == {name for name in every if "rounds 2," in f"{name},"}
    table = tmp_path / "counts.csv"
    table.write_text("mafioso,detective,villager,mafia_wins,games\na,a,b,1,2\n")
    assert set(load_conditions([runs[0], table], only=["settings not stated"])) == {""}
    with pytest.raises(UnknownName, match="rounds 2"):
        load_conditions(runs, only=["rounds 3"])


def test_conditions_that_are_added_up_are_named_and_so_are_prompts_that_differ(play: Play, tmp_path: Path) -> None:
    one = keep(tmp_path / "one", games(play, 8), rounds=2)
    two = keep(tmp_path / "two", games(play, 8, 100), rounds=8)
    old = tmp_path / "old"
    with Journal.create(old, {"game": "mini-mafia", "options": {"rounds": 2}, "prompts": "older"}) as journal:
        for record in games(play, 8, 200):
            journal.add_record(record)
    (pooled,) = load_conditions([one, two], pool=True).values()
    (said,) = pooled.notes
    assert "2 conditions were added up" in said
    assert "rounds 2 (8 games)" in said
    assert "prompts" not in said
    (mixed,) = load_conditions([one, old], pool=True).values()
    assert "Their prompts differ" in mixed.notes[0]
    (alone,) = load_conditions([one], pool=True).values()
    assert alone.notes == ()


def test_comparisons_of_nothing_have_no_rows() -> None:
    assert against_each_other({}).is_empty()
    assert win_rate_differences({}).is_empty()
