"""`liescope fit`: what it prints, what it writes, and that it writes nothing it could not stand behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

from liescope.benchmark.capability.counts import Counts
from liescope.benchmark.capability.fit_report import forest, predictive
from liescope.benchmark.capability.goodness import goodness
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import predictions, scores, tidy_draws
from liescope.benchmark.capability.sentences import findings
from liescope.benchmark.commands import app
from liescope.benchmark.fitting import ConditionFit
from liescope.common.errors import NotConverged, UsageError
from liescope.common.figures import svg
from liescope.games import Source
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
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


@pytest.mark.usefixtures("drawn")
def test_it_writes_the_table_the_draws_the_pictures_and_the_account(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports" / "capability"
    run(table, "--draws", "400", "--tune", "400", "--out", out)
    printed = capsys.readouterr().out
    assert "a file that does not say who played" in printed
    assert {path.name for path in out.iterdir()} == {
        *("background.csv", "background_rates.csv", "capability.csv", "capability.json", "counts.csv"),
        *("draws.parquet", "forest.png", "predictive.png", "report.html", "report.md"),
    }
    written = pl.read_csv(out / "capability.csv")
    draws = pl.read_parquet(out / "draws.parquet")
    assert draws.height == 4 * 400 * (4 * 2 + 1)
    means = draws.group_by("parameter", "model").agg(pl.col("value").mean())
    for row in written.to_dicts():
        for name in ("m", "d", "v"):
            assert row[name] == pytest.approx(means.filter(parameter=name, model=row["model"])["value"].item())
    assert pl.read_csv(out / "counts.csv").columns[:5] == ["mafioso", "detective", "villager", "mafia_wins", "games"]
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "480 games in 8 combinations of 2 players" in text
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('<p class="finding') == 3
    for title in ("Scores of the models", "Goodness of fit", "The sampler"):
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
    with pytest.raises(NotConverged):
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


def test_the_tidy_draws_are_the_draws(published_fit: Posterior) -> None:
    frame = tidy_draws(published_fit)
    place = published_fit.names["v"].index("Grok 3 Mini")
    one = frame.filter(chain=2, draw=17, parameter="v", model="Grok 3 Mini")["value"].item()
    assert one == published_fit.draws["v"][2, 17, place]


def test_the_findings_name_who_leads_where_that_is_settled_and_else_who_is_in_the_running(
    published_fit: Posterior,
) -> None:
    table = scores(published_fit)
    sentences = findings(
        [ConditionFit("", Counts(published_fit.cells, published_fit.cells), published_fit, goodness(published_fit))]
    )
    for name, sentence in zip(("m", "d", "v"), sentences, strict=True):
        best = table.sort(name, descending=True).row(0, named=True)
        draws = published_fit.flat()[name]
        chance = (draws.argmax(axis=1) == published_fit.names[name].index(best["model"])).mean()
        if chance >= 0.95:
            assert sentence.startswith(best["model"])
            assert f"{name} {best[name]:.2f} ({best[f'{name}_lo']:.2f} to {best[f'{name}_hi']:.2f})" in sentence
            assert re.search(r"in (more than )?\d+% of the draws", sentence)
        else:
            assert sentence.startswith("These games do not settle who")
            assert f"{best['model']} {chance:.0%}" in sentence


def test_two_equal_players_are_told_apart_by_no_line_of_the_terminal_or_the_report(
    simulate: Callable[..., pl.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    equal = (np.zeros(2), np.zeros(2), np.ones(2))
    simulate(equal, games=10, seed=2).write_csv(tmp_path / "tie.csv")
    run(tmp_path / "tie.csv", "--draws", "400", "--tune", "400", "--out", tmp_path / "report")
    printed = " ".join(capsys.readouterr().out.split())
    for words in (printed, (tmp_path / "report" / "report.md").read_text(encoding="utf-8")):
        assert words.count("These games do not settle who") == 3
        assert "seems" not in words
        assert "THESE GAMES TELL LITTLE" in words


@pytest.mark.usefixtures("drawn")
def test_its_figures_can_be_read_on_a_phone(published_fit: Posterior) -> None:
    for figure in (forest(scores(published_fit)), predictive(predictions(published_fit))):
        assert smallest_text(svg(figure, "one")) >= 9
