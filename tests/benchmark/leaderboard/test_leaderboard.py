"""`leaderboard`: boards of many reports that never mix scales, of strangers' folders, as pages with their data."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

import liescope
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.commands import app
from liescope.benchmark.reporting.leaderboard_pages import LeaderboardResult
from liescope.common.errors import BadData, UsageError
from tests.common.driven_browser import driven

pytestmark = pytest.mark.slow

HOSTILE = '<script>alert("x")</script>'
ONE, TWO = ("strong", HOSTILE), ("strong", "people", HOSTILE)
SKILL = {"strong": 0.8, "people": 0.2, HOSTILE: -0.8}


def counts(names: tuple[str, ...], seed: int, games: int = 60) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    rows = []
    for i, j, k in product(names, repeat=3):
        chance = 1 / (1 + np.exp(-(1 + SKILL[k] / 2) * (SKILL[i] - SKILL[j])))
        rows.append((i, j, k, int(random.binomial(games, chance)), games))
    return pl.DataFrame(rows, [*PLAYERS, "mafia_wins", "games"], orient="row").to_dicts()


def scored(name: str, at: float) -> dict[str, Any]:
    number = {"mean": at, "sd": 0.1, "lo": at - 0.2, "hi": at + 0.2}
    return {"model": name, "m": number, "d": number, "v": None if name == "people" else number}


def of_games(folder: Path, names: tuple[str, ...], seed: int, **changes: Any) -> Path:
    """The folder of a report on games, as far as a leaderboard reads it."""
    data = {
        "liescope_report": 1,
        "title": f"Report of {folder.name}",
        "findings": ["One was found."],
        "notes": ["A note."],
        "sources": [HOSTILE],
        "words": ["model"],
        "versions": {"liescope": "0.1.0"},
        "games": {"finished": 0, "failed": 0, "ids": []},
        "counts": counts(names, seed),
        "fits": [{"models": [scored(name, SKILL[name]) for name in names], "diagnostics": {}}],
        "tables": {"one": {"columns": ["a", "b"], "rows": [[HOSTILE, None]]}},
        "missing": {"Another": "nothing to count"},
        **changes,
    }
    return written(folder, data)


def written(folder: Path, data: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


def of_transfer(folder: Path) -> Path:
    line = {"by": "model", "protocol": "left out", "detector": "tfidf", "train": "all the rest", "test": HOSTILE}
    line |= {"mean": 0.8, "mean_lo": 0.7, "mean_hi": 0.9, "cells": 3, "empty": 0}
    worst = [("online", 0.61), ("retrospective", 0.74)]
    headline = [
        line | {"kind": kind, "metric": metric, "worst": at, "worst_lo": at - 0.1, "worst_hi": at + 0.1}
        for kind, at in worst
        for metric in ("auroc_within", "auroc", "names_deceiver")
    ]
    empty = (
        line
        | {"kind": "online", "metric": "auroc_within", "detector": "probe", "test": None}
        | dict.fromkeys(("worst", "worst_lo", "worst_hi", "mean", "mean_lo", "mean_hi"))
    )
    return written(folder, {"targets": {"mini": "role"}, "sources": ["scripted"], "headline": [*headline, empty]})


def of_evaluation(folder: Path) -> Path:
    def row(detector: str, split: str, value: float, metric: str = "auroc_within") -> dict[str, Any]:
        numbers = {"value": value, "lo": value - 0.1, "hi": value + 0.1, "games": 9, "against": None}
        return {"detector": detector, "target": "role", "split": split, "metric": metric, **numbers}

    rows = [row("linear", "test:seen", 0.9), row("linear", "test:held-out", 0.7), row("linear", "test:speaker=a", 0.55)]
    rows += [row("linear", "test:speaker=b", 0.8), row("control: length", "test:seen", 0.99)]
    rows += [row("linear", "test:seen", 0.1, "brier"), row("linear", "test:held-out", 0.95, "auroc")]
    data = {
        "corpus": "mini",
        "sources": ["model"],
        "models": {"linear": {}},
        "rows": rows,
        "thresholds_on": "validation",
    }
    return written(folder, data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LeaderboardResult]:
    """Boards of two reports on games, a transfer, an evaluation, and a report that has no board."""
    at = tmp_path_factory.mktemp("leaderboard")
    (at / "fit").mkdir()
    (at / "fit" / "report.html").write_text("<script>evil()</script>", encoding="utf-8")
    folders = [
        of_games(at / "reports" / "one", ONE, 1),
        of_games(at / "more" / "one", TWO, 2),
        of_transfer(at / "transfer"),
        of_evaluation(at / "evaluation"),
        at / "fit",
    ]
    return at / "site", liescope.leaderboard(folders, out=at / "site", draws=500, tune=500)


def text(site: Path, name: str = "index.html") -> str:
    return (site / name).read_text(encoding="utf-8").replace("<wbr>", "")


def test_every_report_has_a_board_of_its_own_and_all_have_one_scale_together(
    site: tuple[Path, LeaderboardResult],
) -> None:
    folder, result = site
    assert result.scores.select("report", "model").rows() == [
        ("one", "strong"), ("one", HOSTILE), ("one-2", "strong"), ("one-2", "people"), ("one-2", HOSTILE),
    ]  # fmt: skip
    assert result.joint is not None
    assert result.joint.cells["games"].sum() == 60 * (8 + 27)
    assert set(result.joint.scores["model"]) == set(TWO)
    page = text(folder)
    assert page.count("do not compare with those of another table") == 2
    assert page.index("All reports together") < page.index("Report of one (one)")


def test_the_joint_board_comes_from_the_counts_beside_it(site: tuple[Path, LeaderboardResult]) -> None:
    folder, result = site
    assert result.joint is not None
    keys = [*PLAYERS, "mafia_wins", "games"]
    assert pl.read_csv(folder / "data" / "counts.csv").equals(result.joint.cells.select(keys))
    assert "liescope fit data/counts.csv --draws 500 --tune 500 --seed 1" in text(folder, "README.md")


def test_detectors_are_ranked_by_their_worst_cell_and_kinds_never_share_a_table(
    site: tuple[Path, LeaderboardResult],
) -> None:
    folder, result = site
    found = result.detectors.select("report", "detector", "kind", "worst_cell", "worst", "mean").rows()
    assert found == [
        ("transfer", "tfidf", "retrospective", f"all the rest → {HOSTILE}", 0.74, 0.8),
        ("transfer", "tfidf", "online", f"all the rest → {HOSTILE}", 0.61, 0.8),
        ("evaluation", "linear", "evaluated on one corpus", "a", 0.55, 0.7),
        ("transfer", "probe", "online", None, None, None),
    ]
    page = text(folder)
    assert page.count("By their worst cell:</a>") == 0
    assert len(re.findall(r"<h3[^>]*>By their worst cell: ", page)) == 3
    assert "Scripted players spoke in games of transfer:" in page


def test_everything_needed_to_make_the_pages_again_lies_beside_them(
    site: tuple[Path, LeaderboardResult], tmp_path: Path
) -> None:
    folder, result = site
    names = ["one", "one-2", "transfer", "evaluation"]
    again = liescope.leaderboard([folder / "data" / name for name in names], out=tmp_path / "site", joint=False)
    assert again.scores.equals(result.scores)
    assert again.detectors.equals(result.detectors)
    assert "it was not asked for" in text(tmp_path / "site")


def test_the_pages_name_only_files_that_are_there_and_run_no_strangers_script(
    site: tuple[Path, LeaderboardResult],
) -> None:
    folder, _ = site
    pages = [folder / "index.html", *(folder / "reports").iterdir()]
    assert len(pages) == 3
    for page in pages:
        html = page.read_text(encoding="utf-8")
        for address in re.findall(r'(?:href|src)="([^"]*)"', html):
            assert address.startswith(("#", "data:image/svg+xml,")) or (page.parent / address).is_file()
        assert html.count("<script") == 1
        assert "evil" not in html
    assert "&lt;script&gt;alert" in text(folder)
    assert f"{folder.parent / 'fit'}" in text(folder)


def test_people_are_marked_on_every_board(site: tuple[Path, LeaderboardResult]) -> None:
    assert text(site[0]).count('<tr class="people"><td class="name">people</td>') == 2


def test_the_pages_fit_a_phone_and_a_screen_in_light_and_dark(
    site: tuple[Path, LeaderboardResult], tmp_path: Path
) -> None:
    with driven(tmp_path) as browser:
        for page in (site[0] / "index.html", site[0] / "reports" / "one-2.html"):
            for width, dark in ((390, True), (1280, False)):
                browser.open(page, width, dark)
                assert browser.ask("document.documentElement.scrollWidth") <= width
                assert browser.errors == []
        browser.open(site[0] / "index.html")
        browser.ask("document.querySelector('td a').click()")
        assert browser.errors == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"games": {"finished": 2, "failed": 0, "ids": ["0123456789ab", "ab0123456789"]}}, "share 2 games"),
        ({"counts": counts(ONE, 1)}, "hold the same counts"),
        ({"counts": []}, "fewer than two reports"),
        ({"counts": counts(TWO, 2)[-1:]}, "undetermined"),
    ],
)
def test_without_a_joint_fit_the_boards_stay_apart_and_say_why(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    ids = {key: value for key, value in changes.items() if key == "games"}
    one = {"counts": counts(TWO, 3)[:1]} if why == "undetermined" else {}
    folders = [of_games(tmp_path / "one", ONE, 1, **ids, **one), of_games(tmp_path / "two", TWO, 2, **changes)]
    result = liescope.leaderboard(folders, out=tmp_path / "site")
    assert result.joint is None
    assert why in result.apart
    assert why in text(tmp_path / "site")
    assert result.scores.height == 5


def test_the_answer_and_a_figure_stand_on_the_first_screen_of_a_phone(tmp_path: Path) -> None:
    lead = ["strong deceives best.", "A second."]
    one, two = of_games(tmp_path / "one", ONE, 1, findings=lead), of_games(tmp_path / "two", TWO, 2, findings=lead)
    cases = {
        "one": ([one, of_evaluation(tmp_path / "evaluation")], "strong deceives best."),
        "apart": ([one, two], "each has a scale of its own. In one: strong deceives best."),
        "detectors": ([of_transfer(tmp_path / "transfer")], "tfidf is the only detector of its kind here"),
    }
    with driven(tmp_path) as browser:
        for name, (folders, answer) in cases.items():
            liescope.leaderboard(folders, out=tmp_path / "site" / name, joint=False)
            browser.open(tmp_path / "site" / name / "index.html", 390)
            assert answer in browser.ask("document.querySelector('.answer').innerText")
            figure, table = (
                browser.ask(f"document.querySelector('{what}').getBoundingClientRect().top")
                for what in ("img", "table")
            )
            assert figure < 500
            assert figure < table


def test_a_report_without_scores_says_why(tmp_path: Path) -> None:
    missing = {"Scores of the models": "a fit compares models, and these counts have 1"}
    folder = of_games(tmp_path / "one", ONE, 1, fits=[], missing=missing)
    result = liescope.leaderboard(folder, out=tmp_path / "site")
    assert result.scores.is_empty()
    assert "a fit compares models" in text(tmp_path / "site")
    assert "nobody can be called the best" in text(tmp_path / "site")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a report"),
        ('{"liescope_report": 1}', "title"),
        ('{"headline": [{"by": "model"}], "targets": {}, "sources": []}', "headline.0"),
        ('{"thresholds_on": "test", "corpus": "c", "sources": [], "models": {}, "rows": []}', "models"),
    ],
)
def test_a_file_that_is_no_report_is_refused_where_it_is_wrong(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "report.json").write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=why):
        liescope.leaderboard(tmp_path / "one", out=tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_folder_that_is_no_report_and_a_folder_that_is_no_site_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        with pytest.raises(UsageError, match="is no report"):
            liescope.leaderboard(tmp_path / folder, out=tmp_path / "site")
    report = of_games(tmp_path / "one", ONE, 1)
    with pytest.raises(UsageError, match="named twice"):
        liescope.leaderboard([report, tmp_path / "." / "one"], out=tmp_path / "site")
    with pytest.raises(UsageError, match="not empty"):
        liescope.leaderboard(report, out=tmp_path / "empty" / "..")
    with pytest.raises(UsageError, match="not a report"):
        liescope.leaderboard(report, out=tmp_path / "empty" / "..", overwrite=True)


def test_a_board_is_replaced_only_where_that_was_asked_for(tmp_path: Path) -> None:
    games, detectors = of_games(tmp_path / "one", ONE, 1), of_transfer(tmp_path / "transfer")
    liescope.leaderboard(games, out=tmp_path / "site")
    before = text(tmp_path / "site")
    with pytest.raises(UsageError, match="add --overwrite to replace a report"):
        liescope.leaderboard(detectors, out=tmp_path / "site")
    assert text(tmp_path / "site") == before
    assert liescope.leaderboard(detectors, out=tmp_path / "site", overwrite=True).scores.is_empty()
    assert text(tmp_path / "site") != before


def test_the_command_names_the_boards_and_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = of_games(tmp_path / "one", ONE, 1)
    get_command(app).main(["leaderboard", str(report), "--out", str(tmp_path / "site")], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "1 board of players" in printed
    assert f"wrote {tmp_path / 'site' / 'index.html'}" in printed
    get_command(app).main(
        ["leaderboard", str(report), "--out", str(tmp_path / "site"), "--json", "--overwrite"], standalone_mode=False
    )
    assert [row["model"] for row in json.loads(capsys.readouterr().out)["scores"]] == list(ONE)
