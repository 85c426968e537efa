"""`liescope fit --suggest` and `--extend`: what they print and write, and that a suggestion can be played."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

from liescope import cli
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.commands import app
from liescope.common.errors import UsageError

pytestmark = pytest.mark.slow

SKILLS = (np.array([0.6, -0.6, 0.9]), np.array([0.2, 0.9, 0.4]), np.array([1.4, 0.6, 2.0]))
SHORT = ("--model", "paper", "--draws", "400", "--tune", "400", "--chains", "2")


def run(*words: str | Path) -> None:
    get_command(app).main(["fit", *map(str, words)], standalone_mode=False)


@pytest.fixture(scope="module")
def made(simulate: Callable[..., pl.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Counts of a and b, a report of them with a suggestion for a new model, counts of the games of c."""
    folder = tmp_path_factory.mktemp("next")
    every = simulate(SKILLS, games=60, seed=1)
    old = every.filter(~pl.any_horizontal(pl.col(PLAYERS) == "c"))
    old.write_csv(folder / "old.csv")
    every.join(old, on=PLAYERS, how="anti").write_csv(folder / "new.csv")
    words = ["--suggest", "43", "--suggest-for", "scripted:bold", *SHORT]
    run(folder / "old.csv", "--out", folder / "report", *words)
    return folder / "old.csv", folder / "report", folder / "new.csv"


def test_the_suggested_games_are_on_the_page_and_in_a_file_that_play_takes(
    made: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report, _ = made
    plan = pl.read_csv(report / "suggest.csv")
    assert plan.columns == [*PLAYERS, "games"]
    assert plan["games"].sum() == 43
    assert "scripted:bold" in set(plan["mafioso"])
    for file in ("report.html", "report.md"):
        assert f"43 games in {plan.height} combinations" in (report / file).read_text(encoding="utf-8")
    names = sorted({name for column in PLAYERS for name in plan[column]} - {"scripted:bold"})
    players = [word for name in names for word in ("--player", f"{name}=scripted:novice")]
    words = ["play", "mini-mafia", "--cells", str(report / "suggest.csv"), *players, "--json", "--out"]
    assert cli.main([*words, str(tmp_path / "run")]) == 0
    assert json.loads(capsys.readouterr().out)["games"]["done"] == 43


def test_an_extended_report_keeps_the_scale_of_the_old_and_shows_both(
    made: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, report, new = made
    out = tmp_path / "both"
    run(new, "--extend", report, "--suggest", 20, "--out", out, *SHORT[2:])  # the model is that of the old report
    printed = capsys.readouterr().out
    assert "Added: c." in " ".join(printed.split())
    assert max(len(line) for line in printed.splitlines() if str(tmp_path) not in line) <= 80
    scores = pl.read_csv(out / "capability.csv")
    old = scores.filter(pl.col("model") != "c")
    assert old["m"].mean() == pytest.approx(0, abs=1e-9)
    assert old["v"].mean() == pytest.approx(1)
    assert scores["v"].mean() > 1.1
    assert scores.filter(model="c")["m_games"].item() == 9 * 60
    table = pl.read_csv(out / "extended.csv")
    assert table.columns == [
        "model",
        "parameter",
        *(f"{when}{end}" for when in ("old", "new") for end in ("", "_lo", "_hi")),
        "outside",
        "sets_scale",
    ]
    assert set(table["model"]) == {"a", "b"}
    before = pl.read_csv(report / "capability.csv").sort("model")
    assert table.filter(parameter="m").sort("model")["old"].to_list() == before["m"].to_list()
    assert json.loads((out / "capability.json").read_text(encoding="utf-8"))["variant"] == "paper"
    assert "Old scores beside the new" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suggest-for", "x"], "say how many games"),
        (["--suggest", "5", "--suggest-for", "a"], "a has played in these games"),
        (["--suggest", "1000000"], "from 1 to 100,000 games"),
        (["--extend", "."], "has no counts.csv"),
    ],
)
def test_what_makes_no_sense_is_refused_before_sampling(
    words: list[str], message: str, made: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        run(made[0], "--out", tmp_path / "report", *words)
    assert not (tmp_path / "report").exists()
