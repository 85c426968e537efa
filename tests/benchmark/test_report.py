"""`report`: everything on one page, whatever the games are; what cannot be computed is missing with its reason."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

import liescope
from liescope.benchmark.analyses.standings import TITLE
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.commands import app
from liescope.benchmark.reporting import CAPABILITIES, CHAPTERS, ReportResult
from liescope.common.errors import BadData, UsageError, install_command
from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import MISSING
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.benchmark.random_play import werewolf
from tests.common.without_figures import leave_out_figures

pytestmark = pytest.mark.slow

Play = Callable[..., GameRecord]
NAMES = (PEOPLE, "<b>model two</b>")
SCORES = "Scores of the models"


def keep(path: Path, *records: GameRecord) -> Path:
    with Journal.create(path, {"game": records[0].game, "seed": 1}) as journal:
        for record in records:
            journal.add_record(record)
    return path


def told(folder: Path) -> dict[str, Any]:
    """What report.json holds."""
    held: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return held


def cells(path: Path, names: tuple[str, ...] = NAMES, games: int = 60) -> Path:
    random = np.random.default_rng(1)
    rows = [
        (*three, int(random.binomial(games, 0.3 + 0.4 * (three[0] == names[0]))), games)
        for three in product(names, repeat=3)
    ]
    pl.DataFrame(rows, [*PLAYERS, "mafia_wins", "games"], orient="row").write_csv(path)
    return path


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_figures(patch)
        yield


@pytest.fixture(scope="module")
def made(play: Play, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ReportResult]:
    """Counts of a file, people among them, and games, one of which failed, on one page."""
    folder = tmp_path_factory.mktemp("report")
    games = [
        play(*NAMES, *NAMES, mafia_wins=seed % 2 == 0, seed=seed, failure="cut off" if seed == 9 else "")
        for seed in range(10)
    ]
    result = liescope.report(
        [cells(folder / "counts.csv"), keep(folder / "run", *games)],
        out=folder / "made",
        title="Two models",
        pool_conditions=True,
        independent=True,
        draws=500,
        tune=500,
    )
    return folder / "made", result


def test_every_chapter_that_has_something_stands_in_order(made: tuple[Path, ReportResult]) -> None:
    page = (made[0] / "report.html").read_text(encoding="utf-8")
    titles = [title for title in CHAPTERS if f">{title}</h2>" in page]
    places = [page.index(f">{title}</h2>") for title in [*titles, MISSING] if f">{title}</h2>" in page]
    assert places == sorted(places)
    assert titles[0] == CAPABILITIES
    assert len(titles) > 3
    assert "<h1>Two models</h1>" in page


def test_every_table_is_a_file_and_in_the_json_with_the_same_rows(made: tuple[Path, ReportResult]) -> None:
    folder, result = made
    tables = told(folder)["tables"]
    assert {path.stem for path in (folder / "tables").iterdir()} == set(tables) == set(result.tables)
    assert len(tables) > 10
    for name, table in tables.items():
        file = pl.read_csv(folder / "tables" / f"{name}.csv", infer_schema=False)
        assert (file.columns, file.height) == (table["columns"], len(table["rows"]))


def test_the_counts_of_a_report_are_those_that_were_fitted(made: tuple[Path, ReportResult]) -> None:
    folder, result = made
    written = pl.read_csv(folder / "counts.csv")
    assert written.equals(result.counts)
    assert written["games"].sum() == 8 * 60 + 9
    assert result.fit.cells.select(*PLAYERS, "mafia_wins", "games").equals(result.counts)
    assert told(folder)["counts"] == result.counts.to_dicts()


def test_people_are_marked_among_the_scores(made: tuple[Path, ReportResult]) -> None:
    page = (made[0] / "report.html").read_text(encoding="utf-8")
    assert '<tr class="people"><td class="name">people</td>' in page


def test_games_of_another_kind_are_reported_without_a_fit(tmp_path: Path) -> None:
    run = keep(tmp_path / "run", *(replace(werewolf("a", seed), game="dyadic-werewolf") for seed in range(3)))
    result = liescope.report(run, out=tmp_path / "made")
    assert result.fit is None
    assert "dyadic-werewolf has neither a mafioso" in result.missing[SCORES]
    assert result.counts.is_empty()
    assert not (tmp_path / "made" / "counts.csv").exists()
    assert "win_rates" in result.tables
    assert told(tmp_path / "made")["counts"] == []


def test_one_model_is_reported_without_a_fit_and_so_are_too_few_games(play: Play, tmp_path: Path) -> None:
    one = [play("a", "a", "a", "a", mafia_wins=seed % 2 == 0, seed=seed) for seed in range(4)]
    result = liescope.report(keep(tmp_path / "run", *one))
    assert "compares models" in result.missing[SCORES]
    assert result.findings
    assert result.report is None
    counts = liescope.report(cells(tmp_path / "one.csv", names=("a",)), out=tmp_path / "made")
    for found in (result, counts):
        assert found.findings[0].startswith("These games do not show who deceives, detects or discloses best")
    assert "The mafia won" in counts.findings[1]
    assert "counts alone" in counts.missing["What was said and done"]


def test_games_with_a_drawn_vote_are_left_out_of_every_count_or_of_none(play: Play, tmp_path: Path) -> None:
    one = [play("a", "a", "a", "a", mafia_wins=seed % 2 == 0, seed=seed) for seed in range(4)]
    events = tuple(replace(event, fallback="unreadable") if event.kind == "vote" else event for event in one[0].events)
    run = keep(tmp_path / "run", replace(one[0], events=events), *one[1:])
    assert liescope.report(run).counts["games"].sum() == 4
    left = liescope.report(run, drawn_votes="leave-out")
    assert (
        left.counts["games"].sum() == left.tables["background_rates"].filter(capability="deceive")["games"].sum() == 3
    )


def test_without_a_sampler_everything_else_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    result = liescope.report(cells(tmp_path / "counts.csv"), out=tmp_path / "made")
    assert "bayes" in result.missing[SCORES]
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "There are no capability scores" in page
    assert f"<h1>{TITLE}</h1>" in page
    assert "deceives best: " in result.findings[0]  # not who won
    assert page.index("<img") < page.index("<h2")
    assert "standings" in result.tables


def test_the_command_says_what_was_skipped_and_the_pip_line_that_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    counts = cells(tmp_path / "counts.csv")
    get_command(app).main(["report", str(counts), "--out", str(tmp_path / "made")], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "There are no capability scores: this needs the package 'numba'" in " ".join(printed.split())
    assert install_command("bayes") in printed.splitlines()
    assert "these games cannot show" not in printed


def test_a_fit_that_must_not_be_published_is_in_no_report(tmp_path: Path) -> None:
    """Of 150 draws a chain, `fit` shows the scores under a warning; a report is there to be passed on."""
    counts = cells(tmp_path / "counts.csv")
    few: dict[str, Any] = {"draws": 150, "tune": 400, "model": "paper"}
    fitted = liescope.fit(counts, **few)
    assert fitted.fits[0].posterior.faults
    assert all("has not fully converged" in sentence for sentence in fitted.findings)
    result = liescope.report(counts, **few)
    assert result.fit is None
    assert "has not fully converged" in result.missing[SCORES]
    assert any("has not fully converged" in note for note in result.notes)
    assert not any(name.startswith("capability") for name in result.tables)


def test_of_two_players_no_z_scores_stand_anywhere(made: tuple[Path, ReportResult]) -> None:
    folder, result = made
    assert "background" not in result.tables
    assert "background_rates" in result.tables
    assert "0.707" not in (folder / "report.html").read_text(encoding="utf-8")


def test_a_source_that_cannot_be_read_is_an_error_and_nothing_is_written(play: Play, tmp_path: Path) -> None:
    with pytest.raises(BadData, match="nowhere"):
        liescope.report(tmp_path / "nowhere", out=tmp_path / "made")
    with pytest.raises(UsageError, match=r"no file .*nowhere\.csv"):
        liescope.report(tmp_path / "nowhere.csv", out=tmp_path / "made")
    run = keep(tmp_path / "run", play("a", "a", "a", "a", mafia_wins=True, failure="cut off"))
    with pytest.raises(UsageError, match="no finished game"):
        liescope.report(run, out=tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_the_command_prints_what_was_found_and_the_json_as_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells(tmp_path / "one.csv", names=("a",))
    for more in ((), ("--json", "--overwrite")):
        get_command(app).main(["report", "one.csv", "--out", "made", *more], standalone_mode=False)
    printed, _, data = capsys.readouterr().out.partition("wrote made/report.html\n")
    assert max(map(len, printed.splitlines())) <= 80
    assert "things are not shown" in printed
    assert json.loads(data) == told(tmp_path / "made")


def test_a_model_that_met_nobody_is_left_out_of_the_fit_and_of_nothing_else(play: Play, tmp_path: Path) -> None:
    games = [play("loner", "loner", "loner", "loner", mafia_wins=seed < 2, seed=seed) for seed in range(4)]
    run = keep(tmp_path / "run", *games)
    table = cells(tmp_path / "counts.csv", ("a", "b"))
    result = liescope.report(
        [run, table], without=["loner"], model="paper", pool_conditions=True, independent=True, draws=400, tune=400
    )
    assert result.fit.fits[0].posterior.variant.name == "paper"
    assert set(result.counts["mafioso"]) == {"a", "b"}
    assert "loner" in set(result.tables["vote_accuracy"]["model"])
    assert result.data["settings"]["without"] == ["loner"]


def test_several_runs_are_one_board_on_which_all_their_players_stand(play: Play, tmp_path: Path) -> None:
    """Two sources that share a player: neither holds a game between the two others."""
    first, second = cells(tmp_path / "ab.csv", ("a", "b")), cells(tmp_path / "bc.csv", ("b", "c"), games=40)
    games = [play("b", "c", "b", "b", mafia_wins=seed < 2, seed=seed) for seed in range(4)]
    run = keep(tmp_path / "run", *games)
    result = liescope.report(
        [first, second, run], out=tmp_path / "made", model="paper", pool_conditions=True, draws=400, tune=400,
        independent=True,
    )  # fmt: skip
    (scores,) = (one.posterior.names for one in result.fit.fits)
    assert scores["m"] == ("a", "b", "c")
    assert result.counts["games"].sum() == 8 * 60 + 8 * 40 + 4
    assert [row["model"] for row in told(tmp_path / "made")["fits"][0]["models"]] == result.fit.scores[
        "model"
    ].to_list()
