"""`liescope fit`: what it prints and writes, nothing it could not stand behind, by conditions and with drawn votes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

from liescope.benchmark.benchmark_settings import DrawnVotes
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.benchmark.capability.fit_report import fit_lines, forest, predictive
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import predictions, scores
from liescope.benchmark.commands import app
from liescope.benchmark.fitting import fit
from liescope.common.errors import NotConverged, UnknownName, UsageError
from liescope.common.figures import svg
from liescope.games import Source
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.benchmark.conftest import count_games
from tests.common.svg_text import smallest_text

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_fits")]

SKILLS = (np.array([0.6, -0.6]), np.array([0.2, 0.9]), np.array([1.4, 0.6]))


def run(*words: str | Path) -> None:
    get_command(app).main(["fit", *map(str, words)], standalone_mode=False)


@pytest.fixture
def table(simulate: Callable[..., pl.DataFrame], tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    simulate(SKILLS, games=60, seed=1).write_csv(path)
    return path


@pytest.mark.long
@pytest.mark.usefixtures("drawn")
def test_it_writes_the_table_the_draws_the_pictures_and_the_account(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports" / "capability"
    run(table, "--draws", "400", "--tune", "400", "--out", out)
    printed = capsys.readouterr().out
    assert "a file that does not say who played" in printed
    assert {path.name for path in out.iterdir()} == {
        *("background_rates.csv", "capability.csv", "capability.json", "checks.csv", "counts.csv", "priors.csv"),
        *("draws.parquet", "forest.png", "predictive.png", "report.html", "report.md"),
    }
    written = pl.read_csv(out / "capability.csv")
    draws = pl.read_parquet(out / "draws.parquet")
    assert draws.height == 4 * 400 * (4 * 2 + 1 + 4)  # scores, rho, widths
    means = draws.group_by("parameter", "model").agg(pl.col("value").mean())
    for row in written.to_dicts():
        for name in ("m", "d", "v"):
            assert row[name] == pytest.approx(means.filter(parameter=name, model=row["model"])["value"].item())
    assert pl.read_csv(out / "counts.csv").columns[:5] == ["mafioso", "detective", "villager", "mafia_wins", "games"]
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "480 games in 8 combinations of 2 players" in text
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('<p class="finding') == 3
    for title in ("Scores of the models", "Goodness of fit", "What the priors did", "The sampler"):
        assert title in page
    assert all((out / name).stat().st_size > 5_000 for name in re.findall(r"\((\w+\.png)\)", text))


def test_scripted_games_are_never_presented_as_a_finding(
    play: Callable[..., GameRecord], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Journal.create(tmp_path / "run", {"game": "mini-mafia"}) as journal:
        for seed in range(80):
            i, j, k = ("ab"[seed >> bit & 1] for bit in range(3))
            journal.add_record(play(i, j, k, k, mafia_wins=seed % 3 == 0, seed=seed, source=Source.SCRIPTED))
        journal.add_record(play("a", "b", "a", "a", mafia_wins=True, seed=99, failure="down", source=Source.SCRIPTED))
    run(tmp_path / "run", "--draws", "400", "--tune", "400", "--out", tmp_path / "report")
    summarise = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    for words in (capsys.readouterr().out, summarise):
        assert "are not findings about models or people" in words
        assert "Left out: 1 games, because the game failed." in words


def test_a_fit_that_has_not_converged_prints_and_writes_nothing(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotConverged, match=r"bulk ESS is \d+ \(at least 400\).*--draws 2000"):
        run(table, "--draws", "20", "--tune", "5", "--out", tmp_path / "report")
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "report").exists()


def test_a_file_in_the_place_of_the_folder_is_refused_before_sampling(table: Path) -> None:
    with pytest.raises(UsageError, match="is a file"):
        run(table, "--out", table)


@pytest.mark.usefixtures("drawn")
def test_the_forest_has_a_panel_for_each_capability_and_a_row_for_each_model(published_fit: Posterior) -> None:
    frame = scores(published_fit).with_columns(model=pl.col("model") + " $x_1$")
    figure = forest(frame)
    for name, panel in zip(("m", "d", "v"), figure.axes, strict=True):
        assert np.allclose([line.get_xdata()[0] for line in panel.lines[1:]], frame[name])
        assert any(text.get_text().startswith(f"{name}: ") for text in panel.texts)
    assert len(figure.axes[0].get_yticklabels()) == 10
    figure.canvas.draw()


def test_the_predictive_plot_shows_every_cell_once(published_fit: Posterior) -> None:
    cells = predictions(published_fit)
    (panel,) = predictive(cells).axes
    assert sum(len(line.get_xdata()) for line in panel.lines[1:]) == 140


@pytest.mark.usefixtures("drawn")
def test_its_figures_can_be_read_on_a_phone(published_fit: Posterior) -> None:
    for figure in (forest(scores(published_fit)), predictive(predictions(published_fit))):
        assert smallest_text(svg(figure, "one")) >= 9


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
    assert (counts.drawn_games, counts.games, counts.undrawn.games, counts.undrawn.drawn_games) == (3, 8, 5, 0)
    assert counts.undrawn.cells.equals(count_games(played[3:]).cells)
    assert count_games(played).drawn_games == 0


@pytest.mark.long
def test_a_fit_says_how_many_games_have_a_drawn_vote_and_can_leave_them_out(play: Play, tmp_path: Path) -> None:
    played = games(play, 160)
    path = keep(tmp_path / "run", [with_drawn_vote(game) if n % 4 == 0 else game for n, game in enumerate(played)])
    result = fit(path, draws=400, tune=400, drawn_votes="leave-out")
    assert any("40 of 160 games (25%)" in note and "they are left out" in note for note in result.notes)
    assert result.cells["games"].sum() == 120
    assert set(result.to_json()) == {"variant", "models", "left", "priors", "diagnostics", "goodness"}
    with pytest.raises(UnknownName, match="leave-out"):
        fit(path, drawn_votes=cast(DrawnVotes, "drop"))


def test_two_conditions_are_fitted_apart(play: Play, tmp_path: Path) -> None:
    one = keep(tmp_path / "one", games(play, 160, names=("a", ESCAPE)), rounds=2)
    two = keep(tmp_path / "two", games(play, 160, 1000, names=("a", ESCAPE)), rounds=8)
    result = fit([str(one), two], draws=400, tune=400, out=tmp_path / "report")
    assert [part.condition for part in result.fits] == ["rounds 2", "rounds 8"]
    data = json.loads((tmp_path / "report" / "capability.json").read_text(encoding="utf-8"))
    assert [part["condition"] for part in data["conditions"]] == ["rounds 2", "rounds 8"]
    assert data == result.to_json()
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
        fit(two)
    with pytest.raises(UsageError, match=r"none of 2 conditions .* rounds 8: .* rounds 9: ") as refused:
        fit([two, keep(tmp_path / "three", games(play, 8, 2000, names="aa"), rounds=9)])
    assert "pool" not in str(refused.value)


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
